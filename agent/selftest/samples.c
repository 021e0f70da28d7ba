/* samples.c -- the list of the samples, read. */
#include "agent/selftest/samples.h"

#include <stdlib.h>

#include "agent/resolve/addresses.h"
#include "core/os/os.h"

#define LIST_SIZE_LIMIT ((size_t)1 << 20)
#define CELLS_BEFORE    4 /* kind, file, what else it needs, what is to be found */

static size_t split(char *line, char *cells[], size_t limit)
{
    size_t count = 0;
    while (line && count < limit) {
        char *tab = strchr(line, '\t');
        if (tab)
            *tab = 0;
        cells[count++] = line;
        line = tab ? tab + 1 : NULL;
    }
    return line ? 0 : count; /* too many are as wrong as none */
}

static bool take_line(char *line, struct sample *sample_ret)
{
    char *cells[CELLS_BEFORE + 2 * SAMPLE_ADDRESSES];
    size_t count = split(line, cells, sizeof(cells) / sizeof(cells[0]));
    struct sample sample = { .asked_count = 0 };
    if (count < CELLS_BEFORE + 2 || count % 2)
        return false;
    sample.kind = cells[0];
    sample.file = cells[1];
    sample.what = cells[3];
    for (size_t i = CELLS_BEFORE; i < count; i += 2) {
        size_t at = sample.asked_count++;
        if (!address_parse(cells[i], &sample.asked[at].address))
            return false;
        sample.asked[at].chain = cells[i + 1];
    }
    *sample_ret = sample;
    return true;
}

enum trail_status samples_read(const char *directory, struct samples *samples_ret,
                               struct trail_error *err)
{
    char path[4096];
    size_t size, number = 0;
    snprintf(path, sizeof(path), "%s/%s", directory, SAMPLES_LIST);
    samples_ret->count = 0;
    samples_ret->list = NULL;
    enum trail_status status =
        trail_os_file_read(path, LIST_SIZE_LIMIT, &samples_ret->list, &size, err);
    if (status)
        return status;
    for (char *line = samples_ret->list; line && *line;) {
        char *end = strchr(line, '\n');
        number++;
        if (end)
            *end = 0;
        bool used = line[0] && line[0] != '#';
        if (used && (samples_ret->count == SAMPLE_LIMIT ||
                     !take_line(line, &samples_ret->at[samples_ret->count]))) {
            samples_deinit(samples_ret);
            return trail_fail(err, TRAIL_BAD_INPUT, "%s:%zu: is no sample", path,
                              number);
        }
        samples_ret->count += used;
        line = end ? end + 1 : NULL;
    }
    return TRAIL_OK;
}

void samples_deinit(struct samples *samples)
{
    free(samples->list);
    samples->list = NULL;
    samples->count = 0;
}
