/* origin_rows.h -- what a map is made of while it is made: tables that grow without
 * being copied, and tables that hold each row once.
 */
#ifndef TRAIL_ORIGIN_ROWS_H
#define TRAIL_ORIGIN_ROWS_H

#include <stdbool.h>
#include "backtrail/base.h"

#define TRAIL_ROWS_BLOCK 4096u /* rows that are allocated together */
#define TRAIL_ROWS_MAX   0x3fffffffu

/* Rows of `width` bytes. Zero it but for the width to start. */
struct trail_rows {
    uint32_t width, count, block_capacity;
    char **blocks;
};

/* Room for one more row, which the caller fills in whole; NULL: out of memory. */
void *trail_rows_add(struct trail_rows *rows);
void trail_rows_deinit(struct trail_rows *rows);

static inline void *trail_rows_at(const struct trail_rows *rows, uint32_t index)
{
    return rows->blocks[index / TRAIL_ROWS_BLOCK] +
           (size_t)(index % TRAIL_ROWS_BLOCK) * rows->width;
}

struct trail_slot {
    uint32_t hash, number; /* number 0: free */
};

/* Rows that are all different, numbered from 1. Rows have no padding that is not
 * zeroed. Zero it but for the width of the rows to start. */
struct trail_row_set {
    struct trail_rows rows;
    struct trail_slot *slots;
    uint32_t slot_count;
};

/* The number of the row equal to `row`, which is added if it is not there; 0: out of
 * memory. */
uint32_t trail_row_set_number(struct trail_row_set *set, const void *row);
/* The same for a row of which is known that it is not there. Rows that were added so
 * are not found. */
uint32_t trail_row_set_append(struct trail_row_set *set, const void *row);
void trail_row_set_deinit(struct trail_row_set *set);

static inline void *trail_row_set_at(const struct trail_row_set *set, uint32_t number)
{
    return trail_rows_at(&set->rows, number - 1);
}

/* Texts that are all different, numbered from 1; 0 is the empty one. Zero it to start.
 * */
struct trail_text_set {
    struct trail_rows rows; /* of struct trail_text_row; its width is set when needed */
    struct trail_slot *slots;
    uint32_t slot_count;
    char **blocks; /* of bytes */
    uint32_t block_count, block_capacity;
    size_t block_used;
    uint64_t bytes; /* of all texts, each with its terminator */
};

struct trail_text_row {
    const char *data; /* terminated */
    uint32_t size, hash;
};

#define TRAIL_TEXT_FAILED UINT32_MAX

/* The number of a text, which is copied if it is not there. It ends at its first zero
 * byte, and is cut after 65,535. TRAIL_TEXT_FAILED: out of memory. */
uint32_t trail_text_set_number(struct trail_text_set *set, struct trail_text text);
/* The same for a text of another set, which keeps its bytes. */
uint32_t trail_text_set_borrow(struct trail_text_set *set,
                               const struct trail_text_row *row);
uint32_t trail_text_set_append(struct trail_text_set *set,
                               const struct trail_text_row *row);
void trail_text_set_deinit(struct trail_text_set *set);

static inline struct trail_text_row *trail_text_set_at(const struct trail_text_set *set,
                                                       uint32_t number)
{
    return trail_rows_at(&set->rows, number - 1);
}

#endif
