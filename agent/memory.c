/* memory.c -- no wrong output when memory runs out inside jansson. */
#include "agent/memory.h"

#include <stdlib.h>

#include <jansson.h>

#include "agent/options.h"

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        exit(failure("out of memory"));
    return memory;
}

void memory_guard_json(void)
{
    json_set_alloc_funcs(allocate, free);
}
