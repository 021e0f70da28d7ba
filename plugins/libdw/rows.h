/* rows.h -- the rows of a unit's line table, as an array that can be searched. */
#ifndef LIBDW_ROWS_H
#define LIBDW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row {
    uint64_t address;
    uint32_t file, line, column, discriminator;
    uint32_t order; /* of the program, to keep rows at one address in order */
    bool ends;      /* the address is the first one behind a sequence */
};

/* Zero it to start. */
struct rows {
    struct row *at;
    size_t count, capacity;
};

/* False: out of memory, or more than ROWS_MAX. Sets `order`. */
#define ROWS_MAX ((size_t)1 << 24)
bool rows_add(struct rows *rows, const struct row *row);

/* By address. At one address a sequence ends before another begins. */
void rows_sort(struct rows *rows);

/* The last row at or below `address`, unless it ends a sequence. NULL: none. */
const struct row *rows_find(const struct rows *rows, uint64_t address);

void rows_deinit(struct rows *rows);

#endif
