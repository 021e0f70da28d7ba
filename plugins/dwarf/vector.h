/* vector.h -- arrays that grow.
 *
 * A vector is a struct of {T *at; uint32_t count, capacity;}, all zero to start. Room
 * is asked for before elements are written, so that the loop that writes them has no
 * error path of its own:
 *
 *     if (!vector_room(&rows, 1))
 *         return false;
 *     rows.at[rows.count++] = row;
 *
 * A big block grows by moving pages, without a copy, wherever realloc() can.
 */
#ifndef DWARF_VECTOR_H
#define DWARF_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VECTOR(type)                                                                   \
    struct {                                                                           \
        type *at;                                                                      \
        uint32_t count, capacity;                                                      \
    }

/* Room for `more` elements; false: out of memory, or over 2^31 elements. */
#define vector_room(vector, more)                                                      \
    ((vector)->capacity - (vector)->count >= (uint32_t)(more) ||                       \
     vector_grow((vector), sizeof(*(vector)->at), (uint32_t)(more)))

bool vector_grow(void *vector, size_t element_size, uint32_t more);
void vector_free(void *vector); /* leaves it empty */

#endif
