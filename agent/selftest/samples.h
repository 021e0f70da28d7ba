/* samples.h -- the samples of `selftest symbols`: small files of every kind that
 * symbols come in, and what is to be found in them.
 */
#ifndef TRAIL_AGENT_SAMPLES_H
#define TRAIL_AGENT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "backtrail/base.h"

/* The list, in the folder of the samples. */
#define SAMPLES_LIST "samples.tsv"

#define SAMPLE_ADDRESSES 4
#define SAMPLE_LIMIT     256

/* One kind of file. Texts lie in the list. */
struct sample {
    const char *kind; /* "DWARF 5" */
    const char *file; /* below the folder */
    const char *what; /* is to be found: "lines", "names" or "nothing" */
    struct {
        uint64_t address;
        const char *chain; /* "function@file:line:column", innermost first, a blank
                              between; "-": no name */
    } asked[SAMPLE_ADDRESSES];
    size_t asked_count;
};

struct samples {
    char *list;
    struct sample at[SAMPLE_LIMIT];
    size_t count;
};

/* Read the list of a folder. TRAIL_BAD_INPUT names the line at fault. */
enum trail_status samples_read(const char *directory, struct samples *samples_ret,
                               struct trail_error *err);
void samples_deinit(struct samples *samples); /* zeroed is fine */

#endif
