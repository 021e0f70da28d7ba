/* rows.c -- growing, sorting and searching an array of line table rows. */
#include "rows.h"

#include <stdlib.h>

bool rows_add(struct rows *rows, const struct row *row)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 128;
        struct row *grown = NULL;
        if (capacity <= ROWS_MAX)
            grown = realloc(rows->at, capacity * sizeof(*grown));
        if (!grown)
            return false;
        rows->at = grown;
        rows->capacity = capacity;
    }
    rows->at[rows->count] = *row;
    rows->at[rows->count].order = (uint32_t)rows->count;
    rows->count++;
    return true;
}

static int by_address(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->ends != b->ends)
        return a->ends ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void rows_sort(struct rows *rows)
{
    if (rows->count)
        qsort(rows->at, rows->count, sizeof(*rows->at), by_address);
}

const struct row *rows_find(const struct rows *rows, uint64_t address)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || rows->at[low - 1].ends)
        return NULL;
    return &rows->at[low - 1];
}

void rows_deinit(struct rows *rows)
{
    free(rows->at);
    *rows = (struct rows){ 0 };
}
