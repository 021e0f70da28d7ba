/* vector.c -- arrays that grow. */
#include "vector.h"

#include <stdlib.h>
#include <string.h>

/* What every vector begins with; copied in and out, since the pointers differ in
 * type. */
struct vector {
    void *at;
    uint32_t count, capacity;
};

bool vector_grow(void *vector, size_t element_size, uint32_t more)
{
    struct vector held;
    memcpy(&held, vector, sizeof(held));
    uint64_t needed = (uint64_t)held.count + more;
    uint64_t capacity = (uint64_t)held.capacity + held.capacity / 2;
    if (capacity < needed)
        capacity = needed;
    if (capacity < 64)
        capacity = 64;
    if (capacity > INT32_MAX || capacity > SIZE_MAX / element_size)
        return false;
    void *grown = realloc(held.at, (size_t)capacity * element_size);
    if (!grown)
        return false;
    held.at = grown;
    held.capacity = (uint32_t)capacity;
    memcpy(vector, &held, sizeof(held));
    return true;
}

void vector_free(void *vector)
{
    struct vector held;
    memcpy(&held, vector, sizeof(held));
    free(held.at);
    memset(vector, 0, sizeof(held));
}
