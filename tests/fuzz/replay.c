/* replay.c -- runs a fuzz target over each file of a directory, so that what once broke
 * it is tried again by every build. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path, size_t size)
{
    /* An exact allocation: a sanitizer sees a read past the end. */
    uint8_t *bytes = malloc(size);
    FILE *file = fopen(path, "rb");
    int good = (bytes || size == 0) && file && fread(bytes, 1, size, file) == size;

    if (good)
        LLVMFuzzerTestOneInput(bytes, size);
    else
        perror(path);
    if (file)
        fclose(file);
    free(bytes);
    return good;
}

/* How many files were run; -1: one could not be read. */
static int run_directory(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    int count = 0;

    while (directory && count >= 0 && (entry = readdir(directory))) {
        char name[4096];
        struct stat stat_ret;
        int length = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof(name) || stat(name, &stat_ret) ||
            !S_ISREG(stat_ret.st_mode))
            continue;
        /* Named first: what crashes is the last one in the log. */
        printf("%s\n", entry->d_name);
        fflush(stdout);
        count = run_file(name, (size_t)stat_ret.st_size) ? count + 1 : -1;
    }
    if (directory)
        closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int count = argc == 2 ? run_directory(argv[1]) : -1;
    if (count <= 0) {
        fprintf(stderr, "usage: %s DIRECTORY, with inputs in it\n", argv[0]);
        return 1;
    }
    printf("%d inputs\n", count);
    return 0;
}
