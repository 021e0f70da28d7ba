/* symbol_host.h -- the host that a symbolizer sees in a test: it finds companion files
 * by build-id where Debian keeps them, and beside the module.
 */
#ifndef TRAIL_TEST_SYMBOL_HOST_H
#define TRAIL_TEST_SYMBOL_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backtrail/symbolizer.h"

/* A companion that was lent. */
struct symbol_lent {
    struct symbol_lent *next;
    uint8_t *bytes; /* NULL: it was given back */
};

struct symbol_host {
    char folder[4096]; /* where companions lie; "": nowhere */
    _Atomic(struct symbol_lent *) lent;
};

struct symbol_bytes {
    uint8_t *at;
    size_t size;
};

/* False: it cannot be read. An exact allocation, so that a sanitizer sees a read past
 * the end. */
static inline bool symbol_host_read(const char *path, struct symbol_bytes *bytes_ret)
{
    struct symbol_bytes bytes = { NULL, 0 };
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes.at = malloc(size ? (size_t)size : 1);
    bool good = bytes.at && fread(bytes.at, 1, (size_t)size, file) == (size_t)size;
    if (file)
        fclose(file);
    if (!good) {
        free(bytes.at);
        return false;
    }
    bytes.size = (size_t)size;
    *bytes_ret = bytes;
    return true;
}

/* The folder of `path`. */
static inline void symbol_host_init(struct symbol_host *host_ret, const char *path)
{
    const char *slash = strrchr(path, '/');
    snprintf(host_ret->folder, sizeof(host_ret->folder), "%.*s",
             slash ? (int)(slash - path) : 1, slash ? path : ".");
    atomic_init(&host_ret->lent, NULL);
}

/* Take back what is still lent: closing an image gives back all that it was lent. */
static inline void symbol_host_deinit(struct symbol_host *host)
{
    struct symbol_lent *lent = atomic_load(&host->lent);
    while (lent) {
        struct symbol_lent *next = lent->next;
        free(lent->bytes);
        free(lent);
        lent = next;
    }
    atomic_store(&host->lent, NULL);
}

static inline bool symbol_host_read_by_id(struct trail_text id,
                                          struct symbol_bytes *bytes_ret)
{
    char path[512] = "/usr/lib/debug/.build-id/";
    size_t at = strlen(path);
    if (id.size < 2 || id.size > 64)
        return false;
    for (size_t i = 0; i < id.size; i++)
        at += (size_t)snprintf(path + at, sizeof(path) - at, i ? "%02x" : "%02x/",
                               (uint8_t)id.data[i]);
    snprintf(path + at, sizeof(path) - at, ".debug");
    return symbol_host_read(path, bytes_ret);
}

/* By the last part of its name: nothing climbs out of the folder. */
static inline bool symbol_host_read_beside(const struct symbol_host *host,
                                           struct trail_text name,
                                           struct symbol_bytes *bytes_ret)
{
    char path[8192];
    size_t start = 0;
    for (size_t i = 0; i < name.size; i++)
        start = name.data[i] == '/' ? i + 1 : start;
    int size = (int)(name.size - start);
    if (!host->folder[0] || size <= 0 || size > 256 ||
        memchr(name.data + start, 0, (size_t)size))
        return false;
    snprintf(path, sizeof(path), "%s/%.*s", host->folder, size, name.data + start);
    return symbol_host_read(path, bytes_ret);
}

static enum trail_status symbol_host_find(void *arg, const struct trail_want *want,
                                          struct trail_source *source_ret)
{
    struct symbol_host *host = arg;
    struct symbol_bytes bytes = { NULL, 0 };
    struct symbol_lent *lent = calloc(1, sizeof(*lent));
    if (!lent || (!symbol_host_read_by_id(want->id, &bytes) &&
                  !symbol_host_read_beside(host, want->name, &bytes))) {
        free(lent);
        return TRAIL_NOT_FOUND;
    }
    lent->bytes = bytes.at;
    lent->next = atomic_load(&host->lent);
    while (!atomic_compare_exchange_weak(&host->lent, &lent->next, lent))
        continue;
    *source_ret = (struct trail_source){ .size = sizeof(*source_ret),
                                         .role = want->role,
                                         .route = TRAIL_ROUTE_BUILD_ID_DIR,
                                         .fd = -1,
                                         .bytes = bytes.at,
                                         .bytes_size = bytes.size,
                                         .name = trail_text_of("companion"),
                                         .handle = lent };
    return TRAIL_OK;
}

static void symbol_host_release(void *arg, struct trail_source *source)
{
    struct symbol_lent *lent = source->handle;
    (void)arg;
    free(lent->bytes);
    lent->bytes = NULL;
}

static int symbol_host_stop(void *arg)
{
    (void)arg;
    return 0;
}

static void symbol_host_log(void *arg, int level, struct trail_text text)
{
    (void)arg, (void)level, (void)text;
}

static inline struct trail_call symbol_host_call(struct symbol_host *host)
{
    return (struct trail_call){ .size = sizeof(struct trail_call),
                                .threads = 1,
                                .host = host,
                                .stop = symbol_host_stop,
                                .log = symbol_host_log,
                                .find = symbol_host_find,
                                .release = symbol_host_release };
}

static inline struct trail_source symbol_host_source(struct symbol_bytes bytes)
{
    return (struct trail_source){ .size = sizeof(struct trail_source),
                                  .role = TRAIL_ROLE_IMAGE,
                                  .route = TRAIL_ROUTE_EMBEDDED,
                                  .fd = -1,
                                  .bytes = bytes.at,
                                  .bytes_size = bytes.size,
                                  .name = trail_text_of("module") };
}

#endif
