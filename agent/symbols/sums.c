/* sums.c -- the checksums of a folder of files. */
#include "agent/symbols/sums.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/progress.h"
#include "agent/symbols/interrupt.h"
#include "core/resolve/files.h"

#define PART_SIZE       ((size_t)1 << 20)
#define LIST_SIZE_LIMIT ((size_t)16 << 20)
#define PATH_SIZE       4096
#define HEX_DIGITS      (SUMS_HEX_SIZE - 1)

/* ---- hashing ------------------------------------------------------------ */

void sums_hash_bytes(const uint8_t *bytes, size_t size, char hex_ret[SUMS_HEX_SIZE])
{
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, bytes, size);
    SHA256End(&context, hex_ret);
}

enum trail_status sums_hash_file(const char *path, char hex_ret[SUMS_HEX_SIZE],
                                 struct trail_error *err)
{
    struct trail_os_file file;
    SHA2_CTX context;
    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &file, err);
    if (status)
        return status;
    SHA256Init(&context);
    for (size_t done = 0; done < file.size && !interrupt_came();) {
        size_t part = file.size - done < PART_SIZE ? file.size - done : PART_SIZE;
        SHA256Update(&context, file.bytes + done, part);
        done += part;
        progress_add(part);
    }
    SHA256End(&context, hex_ret);
    trail_os_file_close(&file);
    return interrupt_came() ? trail_fail(err, TRAIL_CANCELLED, "%s: interrupted", path)
                            : TRAIL_OK;
}

/* ---- the list ----------------------------------------------------------- */

/* Where `name` is, or would be. */
static size_t position(const struct sums *sums, const char *name)
{
    size_t low = 0, high = sums->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(sums->at[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct sum *sums_find(const struct sums *sums, const char *name)
{
    size_t at = position(sums, name);
    bool found = at < sums->count && strcmp(sums->at[at].name, name) == 0;
    return found ? &sums->at[at] : NULL;
}

/* Put a file last, whatever its name. */
static enum trail_status append(struct sums *sums, const char *name,
                                struct trail_error *err)
{
    size_t size = strlen(name) + 1;
    char *copy = malloc(size);
    if (copy && sums->count == sums->room) {
        size_t room = sums->room ? 2 * sums->room : 64;
        struct sum *grown = realloc(sums->at, room * sizeof(*grown));
        if (grown) {
            sums->at = grown;
            sums->room = room;
        }
    }
    if (!copy || sums->count == sums->room) {
        free(copy);
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", SUMS_NAME);
    }
    memcpy(copy, name, size);
    sums->at[sums->count++] = (struct sum){ .name = copy };
    return TRAIL_OK;
}

static enum trail_status insert(struct sums *sums, size_t at, const char *name,
                                struct trail_error *err)
{
    enum trail_status status = append(sums, name, err);
    if (status)
        return status;
    struct sum last = sums->at[sums->count - 1];
    memmove(&sums->at[at + 1], &sums->at[at],
            (sums->count - 1 - at) * sizeof(*sums->at));
    sums->at[at] = last;
    return TRAIL_OK;
}

enum trail_status sums_set(struct sums *sums, const char *name, const char *hex,
                           struct trail_error *err)
{
    size_t at = position(sums, name);
    enum trail_status status = TRAIL_OK;
    if (at == sums->count || strcmp(sums->at[at].name, name) != 0)
        status = insert(sums, at, name, err);
    if (!status)
        snprintf(sums->at[at].hex, sizeof(sums->at[at].hex), "%s", hex);
    return status;
}

void sums_deinit(struct sums *sums)
{
    for (size_t i = 0; i < sums->count; i++)
        free(sums->at[i].name);
    free(sums->at);
    *sums = (struct sums){ .count = 0 };
}

/* ---- the file ----------------------------------------------------------- */

/* 64 hex digits, a blank, a blank or a star, the name: of this folder, not another. */
static bool take_line(char *line, const char **hex_ret, const char **name_ret)
{
    size_t size = strlen(line);
    if (size <= HEX_DIGITS + 2 || strspn(line, "0123456789abcdef") != HEX_DIGITS ||
        line[HEX_DIGITS] != ' ' || !strchr(" *", line[HEX_DIGITS + 1]))
        return false;
    const char *name = line + HEX_DIGITS + 2;
    line[HEX_DIGITS] = 0;
    *hex_ret = line;
    *name_ret = name;
    return !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static enum trail_status read_lines(char *text, const char *path, struct sums *sums,
                                    struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    size_t number = 0;
    for (char *line = text; !status && line && *line;) {
        const char *hex, *name;
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        number++;
        if (!take_line(line, &hex, &name))
            return trail_fail(err, TRAIL_BAD_INPUT, "%s:%zu: is no checksum of a file",
                              path, number);
        status = append(sums, name, err);
        if (!status)
            memcpy(sums->at[sums->count - 1].hex, hex, SUMS_HEX_SIZE);
        line = end ? end + 1 : NULL;
    }
    return status;
}

static int by_name(const void *a, const void *b)
{
    const struct sum *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static enum trail_status sort(struct sums *sums, const char *path,
                              struct trail_error *err)
{
    if (sums->count)
        qsort(sums->at, sums->count, sizeof(*sums->at), by_name);
    for (size_t i = 1; i < sums->count; i++)
        if (strcmp(sums->at[i - 1].name, sums->at[i].name) == 0)
            return trail_fail(err, TRAIL_BAD_INPUT, "%s: has %s twice", path,
                              sums->at[i].name);
    return TRAIL_OK;
}

enum trail_status sums_read(const char *directory, struct sums *sums_ret,
                            struct trail_error *err)
{
    char path[PATH_SIZE], *text = NULL;
    size_t size;
    *sums_ret = (struct sums){ .count = 0 };
    snprintf(path, sizeof(path), "%s/%s", directory, SUMS_NAME);
    enum trail_status status =
        trail_os_file_read(path, LIST_SIZE_LIMIT, &text, &size, err);
    if (status)
        return status;
    status = strlen(text) == size
                 ? read_lines(text, path, sums_ret, err)
                 : trail_fail(err, TRAIL_BAD_INPUT, "%s: is no text", path);
    if (!status)
        status = sort(sums_ret, path, err);
    free(text);
    if (status)
        sums_deinit(sums_ret);
    return status;
}

enum trail_status sums_write(const char *directory, const struct sums *sums,
                             struct trail_error *err)
{
    char path[PATH_SIZE];
    size_t size = 0, used = 0;
    for (size_t i = 0; i < sums->count; i++)
        size += HEX_DIGITS + 3 + strlen(sums->at[i].name);
    char *text = malloc(size + 1);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", SUMS_NAME);
    for (size_t i = 0; i < sums->count; i++)
        used += (size_t)snprintf(text + used, size + 1 - used, "%s  %s\n",
                                 sums->at[i].hex, sums->at[i].name);
    snprintf(path, sizeof(path), "%s/%s", directory, SUMS_NAME);
    enum trail_status status = trail_os_file_write(path, text, size, 0644, err);
    free(text);
    return status;
}
