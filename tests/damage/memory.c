/* memory.c -- how much memory a process took at its height, less pages of files. */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t kib_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

void damage_watch_memory(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file)
        return;
    fputs("5\n", file); /* the height begins anew */
    fclose(file);
}

uint64_t damage_peak_bytes(void)
{
    char text[4096];
    FILE *file = fopen("/proc/self/status", "r");
    size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = 0;
    uint64_t height = kib_of(text, "VmHWM:"), files = kib_of(text, "RssFile:");
    return height > files ? (height - files) << 10 : 0;
}
