/* fuzz_outside.c -- a core file from anywhere, made a raw trace of: as a file, and as
 * it comes through a pipe. What comes out can be read. */
#define _GNU_SOURCE

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/outside/core_facts.h"
#include "agent/outside/core_file.h"
#include "agent/outside/core_stream.h"
#include "core/trace/trace_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(char *text, size_t size)
{
    struct trail_trace *trace = NULL;
    if (trail_trace_read(text, size, &trace, NULL))
        abort();
    trail_trace_destroy(trace);
    free(text);
}

static void take_stream(const uint8_t *bytes, size_t size)
{
    struct outside_stream stream = { .head = NULL };
    struct outside_core core = { .threads = NULL };
    char *text = NULL;
    size_t text_size = 0;
    FILE *from = size ? fmemopen((void *)(uintptr_t)bytes, size, "rb") : NULL;
    if (!from)
        return;
    if (!outside_stream_read(from, "core", &stream, NULL) &&
        !outside_core_fill(stream.target, &stream.elf, "core", &core, NULL) &&
        !outside_trace_text(stream.target, &core.facts, &text, &text_size, NULL))
        check(text, text_size);
    outside_core_deinit(&core);
    outside_stream_close(&stream);
    fclose(from);
}

/* The bytes are its program, too: what is damaged there is met as well. */
static void take_file(const uint8_t *bytes, size_t size)
{
    char path[64], *text = NULL;
    size_t text_size = 0;
    int fd = memfd_create("core", MFD_CLOEXEC);
    if (fd < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const struct outside_places places = { path, "/nowhere" };
    if (write(fd, bytes, size) == (ssize_t)size &&
        !outside_core_text(path, &places, &text, &text_size, NULL))
        check(text, text_size);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    take_stream(bytes, size);
    take_file(bytes, size);
    return 0;
}
