/* known_table.c -- a table of texts by key that is read and written without waiting. */
#include "core/crash/known_table.h"

/* How often one that others change meanwhile is tried. */
#define TRIES 8

static _Atomic uint32_t orders;

size_t trail_known_clip(const char *text, size_t size, size_t limit)
{
    if (size <= limit)
        return size;
    for (size_t back = 0; back < 4 && back <= limit; back++)
        if (((uint8_t)text[limit - back] & 0xc0) != 0x80)
            return limit - back;
    return limit;
}

/* ---- records ------------------------------------------------------------ */

static uint32_t slot_of(uint32_t index, uint32_t version)
{
    return version << 16 | (index + 1);
}

static struct trail_known_record *record_of(const struct trail_known_pool *pool,
                                            uint32_t slot)
{
    uint32_t index = (slot & 0xffff) - 1;
    return index < pool->count ? &pool->records[index] : NULL;
}

static bool is_shown(const struct trail_known_record *record, uint32_t slot)
{
    return (atomic_load(&record->version) & 0xffff) == slot >> 16;
}

/* Take a record out of the pool. 0: none is left; else what a slot will show it by. */
static uint32_t take(struct trail_known_pool *pool)
{
    uint32_t at = atomic_fetch_add(&pool->hint, 1);
    for (uint32_t i = 0; i < pool->count; i++) {
        uint32_t index = (at + i) % pool->count;
        struct trail_known_record *record = &pool->records[index];
        uint32_t version = atomic_load(&record->version);
        if (version % 2 == 0 &&
            atomic_compare_exchange_strong(&record->version, &version, version + 1))
            return slot_of(index, version + 1);
    }
    return 0;
}

static void give_back(struct trail_known_pool *pool, uint32_t slot)
{
    struct trail_known_record *record = record_of(pool, slot);
    atomic_fetch_add(&record->version, 1);
    atomic_store(&pool->hint, (slot & 0xffff) - 1);
}

static void put(_Atomic uint8_t *to, const char *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        atomic_store_explicit(&to[i], (uint8_t)from[i], memory_order_relaxed);
}

static void get(char *to, const _Atomic uint8_t *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (char)atomic_load_explicit(&from[i], memory_order_relaxed);
}

static bool has_key(const struct trail_known_record *record, struct trail_text key)
{
    if (atomic_load(&record->key_size) != key.size)
        return false;
    for (size_t i = 0; i < key.size; i++)
        if (atomic_load_explicit(&record->key[i], memory_order_relaxed) !=
            (uint8_t)key.data[i])
            return false;
    return true;
}

/* ---- slots -------------------------------------------------------------- */

/* Where the slots for such a key begin and end. */
static uint32_t first_slot(struct trail_text key)
{
    return key.size ? 1 : 0;
}

static uint32_t last_slot(struct trail_text key)
{
    return key.size ? TRAIL_KNOWN_SLOTS : 1;
}

/* The slot that shows `key`, from `index` on; TRAIL_KNOWN_SLOTS: none. */
static uint32_t find(const struct trail_known_pool *pool,
                     const struct trail_known_table *table, struct trail_text key,
                     uint32_t index, uint32_t *slot_ret)
{
    for (; index < last_slot(key); index++) {
        uint32_t slot = atomic_load(&table->slots[index]);
        const struct trail_known_record *record = record_of(pool, slot);
        if (record && has_key(record, key) && is_shown(record, slot)) {
            *slot_ret = slot;
            return index;
        }
    }
    return TRAIL_KNOWN_SLOTS;
}

/* Have slot `index` show `next` in place of `before`. */
static bool replace(struct trail_known_pool *pool, struct trail_known_table *table,
                    uint32_t index, uint32_t before, uint32_t next)
{
    if (!atomic_compare_exchange_strong(&table->slots[index], &before, next))
        return false;
    if (before)
        give_back(pool, before);
    return true;
}

/* Show a record in the slot of its key, or in an empty one. */
static bool show(struct trail_known_pool *pool, struct trail_known_table *table,
                 struct trail_text key, uint32_t next)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        uint32_t before = 0, index = find(pool, table, key, first_slot(key), &before);
        if (index < TRAIL_KNOWN_SLOTS && replace(pool, table, index, before, next))
            return true;
        if (index < TRAIL_KNOWN_SLOTS)
            continue;
        for (index = first_slot(key); index < last_slot(key); index++)
            if (replace(pool, table, index, 0, next))
                return true;
    }
    return false;
}

/* Two that set a key for the first time at once found a slot each: the later stays. */
static void remove_older(struct trail_known_pool *pool, struct trail_known_table *table,
                         struct trail_text key)
{
    uint32_t newest = 0, order = 0, slot = 0, index = first_slot(key);
    for (; (index = find(pool, table, key, index, &slot)) < TRAIL_KNOWN_SLOTS;
         index++) {
        uint32_t its = atomic_load(&record_of(pool, slot)->order);
        if (!newest || (int32_t)(its - order) > 0)
            newest = slot, order = its;
    }
    for (index = first_slot(key);
         (index = find(pool, table, key, index, &slot)) < TRAIL_KNOWN_SLOTS; index++)
        if (slot != newest)
            replace(pool, table, index, slot, 0);
}

static void remove_all(struct trail_known_pool *pool, struct trail_known_table *table,
                       struct trail_text key)
{
    uint32_t slot = 0;
    for (uint32_t index = first_slot(key);
         (index = find(pool, table, key, index, &slot)) < TRAIL_KNOWN_SLOTS; index++)
        replace(pool, table, index, slot, 0);
}

/* Take a record and fill it in; 0: none is left. */
static uint32_t fill(struct trail_known_pool *pool, uint32_t order,
                     struct trail_text key, struct trail_text value)
{
    uint32_t slot = take(pool);
    if (!slot)
        return 0;
    struct trail_known_record *record = record_of(pool, slot);
    put(record->key, key.data, key.size);
    put(record->value, value.data, value.size);
    atomic_store(&record->key_size, (uint16_t)key.size);
    atomic_store(&record->value_size, (uint16_t)value.size);
    atomic_store(&record->order, order);
    return slot;
}

enum trail_known_outcome trail_known_set(struct trail_known_pool *pool,
                                         struct trail_known_table *table,
                                         struct trail_text key, const char *value)
{
    if (key.size > TRAIL_KNOWN_KEY_SIZE)
        return TRAIL_KNOWN_REFUSED;
    if (!value) {
        remove_all(pool, table, key);
        return TRAIL_KNOWN_SET;
    }
    size_t whole = strlen(value),
           size = trail_known_clip(value, whole, TRAIL_KNOWN_VALUE_SIZE);
    uint32_t slot = fill(pool, atomic_fetch_add(&orders, 1), key,
                         (struct trail_text){ value, size });
    if (!slot)
        return TRAIL_KNOWN_REFUSED;
    if (!show(pool, table, key, slot)) {
        give_back(pool, slot);
        return TRAIL_KNOWN_REFUSED;
    }
    remove_older(pool, table, key);
    return size < whole ? TRAIL_KNOWN_CUT : TRAIL_KNOWN_SET;
}

bool trail_known_show(struct trail_known_pool *pool, _Atomic uint32_t *slot,
                      uint32_t order, struct trail_text key, struct trail_text value)
{
    uint32_t next = fill(pool, order, key, value);
    uint32_t before = next ? atomic_exchange(slot, next) : 0;
    if (before)
        give_back(pool, before);
    return next != 0;
}

bool trail_known_get(const struct trail_known_pool *pool, const _Atomic uint32_t *at,
                     struct trail_known_copy *copy_ret)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        uint32_t slot = atomic_load(at);
        const struct trail_known_record *record = record_of(pool, slot);
        if (!record)
            return false;
        uint16_t key_size = atomic_load(&record->key_size);
        uint16_t value_size = atomic_load(&record->value_size);
        if (key_size > TRAIL_KNOWN_KEY_SIZE || value_size > TRAIL_KNOWN_VALUE_SIZE)
            continue;
        copy_ret->order = atomic_load(&record->order);
        copy_ret->key_size = key_size;
        copy_ret->value_size = value_size;
        get(copy_ret->key, record->key, key_size);
        get(copy_ret->value, record->value, value_size);
        atomic_thread_fence(memory_order_acquire);
        if (is_shown(record, slot))
            return true;
    }
    return false;
}

void trail_known_clear(struct trail_known_pool *pool, struct trail_known_table *table)
{
    for (uint32_t index = 0; index < TRAIL_KNOWN_SLOTS; index++) {
        uint32_t slot = atomic_exchange(&table->slots[index], 0);
        if (slot)
            give_back(pool, slot);
    }
}
