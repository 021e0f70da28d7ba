/* results.c -- numbers for functions and source files. */
#include "results.h"

#include <stdlib.h>

#define PATH_MAX_SIZE 4096 /* of a directory and a name together */

static uint32_t hash_of(const uint32_t *words, unsigned count)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < count; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

/* Entry `number` of an array of entries of `words` 32-bit words each. */
static const uint32_t *entry_at(const void *entries, uint32_t number, unsigned words)
{
    return (const uint32_t *)entries + (size_t)number * words;
}

static bool grow(struct number_set *set, const void *entries, unsigned words)
{
    uint32_t size = set->size ? set->size * 2 : 1024;
    uint32_t *slots = calloc(size, sizeof(*slots));
    if (!slots)
        return false;
    for (uint32_t i = 0; i < set->size; i++) {
        if (!set->slots[i])
            continue;
        uint32_t slot = hash_of(entry_at(entries, set->slots[i], words), words);
        while (slots[slot & (size - 1)])
            slot++;
        slots[slot & (size - 1)] = set->slots[i];
    }
    free(set->slots);
    set->slots = slots;
    set->size = size;
    return true;
}

/* The slot of an entry, or the free one where it would be; NULL: out of memory. */
static uint32_t *find_slot(struct number_set *set, const void *entries, unsigned words,
                           const uint32_t *entry)
{
    if (set->count >= set->size / 2 && !grow(set, entries, words))
        return NULL;
    uint32_t slot = hash_of(entry, words), mask = set->size - 1;
    while (set->slots[slot & mask] &&
           memcmp(entry_at(entries, set->slots[slot & mask], words), entry,
                  words * sizeof(*entry)) != 0)
        slot++;
    return &set->slots[slot & mask];
}

uint32_t results_add_function(struct worker *worker, const struct function_entry *entry)
{
    const uint32_t words[] = { entry->name, entry->linkage, entry->start, entry->size,
                               entry->scope_size };
    uint32_t *slot =
        vector_room(&worker->functions, 1)
            ? find_slot(&worker->function_set, worker->functions.at, 5, words)
            : NULL;
    if (!slot) {
        worker_no_memory(worker);
        return 0;
    }
    if (!*slot) {
        *slot = worker->functions.count;
        worker->functions.at[worker->functions.count++] = *entry;
        worker->function_set.count++;
    }
    return *slot;
}

uint32_t results_add_file(struct worker *worker, const struct file_entry *entry)
{
    const uint32_t words[] = { entry->compilation, entry->directory, entry->name };
    if (worker->files.count > ORIGIN_FILE_MAX)
        return 0;
    uint32_t *slot = vector_room(&worker->files, 1)
                         ? find_slot(&worker->file_set, worker->files.at, 3, words)
                         : NULL;
    if (!slot) {
        worker_no_memory(worker);
        return 0;
    }
    if (!*slot) {
        *slot = worker->files.count;
        worker->files.at[worker->files.count++] = *entry;
        worker->file_set.count++;
    }
    return *slot;
}

uint32_t results_path(struct worker *worker, const struct file_entry *entry)
{
    if (!entry->directory)
        return entry->name;
    const char *directory = texts_get(&worker->texts, entry->directory);
    const char *name = texts_get(&worker->texts, entry->name);
    char path[PATH_MAX_SIZE];
    size_t directory_size = strlen(directory), name_size = strlen(name);
    if (directory_size + 1 + name_size >= sizeof(path))
        return entry->name;
    memcpy(path, directory, directory_size);
    if (directory_size && directory[directory_size - 1] != '/')
        path[directory_size++] = '/';
    memcpy(path + directory_size, name, name_size);
    return texts_make(&worker->texts, path, directory_size + name_size);
}
