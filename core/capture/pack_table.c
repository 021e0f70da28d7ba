/* pack_table.c -- the table of modules on its way to a reader on another machine. */
#include <stdlib.h>

#include "core/capture/pack_format.h"
#include "core/capture/pack_modules.h"

/* The fields of an entry, in the order in which they are written. */
enum {
    FIELD_NUMBER,
    FIELD_START,
    FIELD_SIZE,
    FIELD_FLAT,
    FIELD_BIAS,
    FIELD_ID, /* twice the id's size, plus one if it is a hash */
    FIELD_PATH,
    FIELDS
};

/* Bytes of one entry at most. */
#define ENTRY_MOST                                                                     \
    (FIELDS * TRAIL_LEB_MOST + sizeof(((struct trail_pack_identity *)NULL)->id) +      \
     sizeof(((struct trail_pack_identity *)NULL)->path))

static size_t write_entry(uint8_t bytes_ret[ENTRY_MOST], uint32_t number,
                          const struct trail_pack_segment *segment,
                          const struct trail_pack_identity *identity)
{
    size_t size = 0, path_size = strlen(identity->path);
    const uint64_t fields[FIELDS] = {
        [FIELD_NUMBER] = number,
        [FIELD_START] = segment->start,
        [FIELD_SIZE] = segment->end - segment->start,
        [FIELD_FLAT] = segment->flat,
        [FIELD_BIAS] = segment->bias,
        [FIELD_ID] = identity->id_size * 2u + identity->id_is_hash,
        [FIELD_PATH] = path_size,
    };
    for (unsigned i = 0; i < FIELDS; i++)
        size += trail_leb_put(bytes_ret + size, fields[i]);
    memcpy(bytes_ret + size, identity->id, identity->id_size);
    memcpy(bytes_ret + size + identity->id_size, identity->path, path_size);
    return size + identity->id_size + path_size;
}

size_t trail_pack_table_write(void *bytes, size_t size, uint32_t first,
                              uint32_t *next_ret)
{
    const struct trail_pack_table *table = &trail_pack_own_table;
    uint32_t count = trail_pack_table_count(table), next = first;
    uint8_t *at = bytes;
    size_t used = 1; /* the version */
    bool whole = size > 0;

    for (uint32_t number = first; whole && number < count; number++) {
        uint8_t entry[ENTRY_MOST];
        const struct trail_pack_segment *segment =
            trail_pack_table_segment(table, number);
        if (!segment)
            continue; /* somebody is at it: it is told another time */
        size_t entry_size =
            write_entry(entry, number, segment, &table->identities[number]);
        whole = entry_size <= size - used;
        if (whole) {
            memcpy(at + used, entry, entry_size);
            used += entry_size;
            next = next == number ? number + 1 : next;
        }
    }
    *next_ret = next;
    if (used == 1)
        return 0;
    at[0] = TRAIL_PACK_VERSION;
    return used;
}

/* ---- reading ------------------------------------------------------------- */

struct trail_pack_table *trail_pack_table_create(void)
{
    return calloc(1, sizeof(struct trail_pack_table));
}

void trail_pack_table_destroy(struct trail_pack_table *table)
{
    free(table);
}

/* Take `size` bytes off the reader. */
static bool take(struct trail_pack_reader *reader, void *to, uint64_t size, size_t room)
{
    if (size > room || size > (size_t)(reader->end - reader->at))
        return false;
    memcpy(to, reader->at, (size_t)size);
    reader->at += size;
    return true;
}

static bool read_entry(struct trail_pack_reader *reader, uint32_t *number_ret,
                       struct trail_pack_segment *segment_ret,
                       struct trail_pack_identity *identity_ret)
{
    uint64_t fields[FIELDS];
    for (unsigned i = 0; i < FIELDS; i++)
        if (!trail_leb_get(reader, &fields[i]))
            return false;
    if (fields[FIELD_NUMBER] >= TRAIL_PACK_MODULES ||
        fields[FIELD_FLAT] > TRAIL_FLAT_LIMIT ||
        fields[FIELD_SIZE] > TRAIL_FLAT_LIMIT - fields[FIELD_FLAT] ||
        fields[FIELD_SIZE] > UINT64_MAX - fields[FIELD_START])
        return false;
    *number_ret = (uint32_t)fields[FIELD_NUMBER];
    *segment_ret =
        (struct trail_pack_segment){ .start = fields[FIELD_START],
                                     .end = fields[FIELD_START] + fields[FIELD_SIZE],
                                     .flat = fields[FIELD_FLAT],
                                     .bias = fields[FIELD_BIAS] };
    *identity_ret = (struct trail_pack_identity){ .id_is_hash = fields[FIELD_ID] & 1 };
    if (!take(reader, identity_ret->id, fields[FIELD_ID] / 2, sizeof(identity_ret->id)))
        return false;
    identity_ret->id_size = (uint8_t)(fields[FIELD_ID] / 2);
    return take(reader, identity_ret->path, fields[FIELD_PATH],
                sizeof(identity_ret->path) - 1);
}

static bool equal(const struct trail_pack_segment *a,
                  const struct trail_pack_segment *b)
{
    return a->start == b->start && a->end == b->end && a->flat == b->flat &&
           a->bias == b->bias;
}

/* Two entries of one number are the same, and two numbers share no offset. */
static bool fits(const struct trail_pack_table *table, uint32_t number,
                 const struct trail_pack_segment *segment)
{
    uint32_t count = trail_pack_table_count(table);
    for (uint32_t i = 0; i < count; i++) {
        const struct trail_pack_segment *other = trail_pack_table_segment(table, i);
        if (!other)
            continue;
        if (i == number)
            return equal(other, segment);
        if (segment->flat <= other->flat + (other->end - other->start) &&
            other->flat <= segment->flat + (segment->end - segment->start))
            return false;
    }
    return true;
}

enum trail_status trail_pack_table_read(struct trail_pack_table *table,
                                        const void *bytes, size_t size,
                                        struct trail_error *err)
{
    struct trail_pack_reader reader = { bytes, (const uint8_t *)bytes + size };
    uint8_t version = 0;
    if (!trail_byte_get(&reader, &version))
        return TRAIL_OK; /* nothing new */
    if (version != TRAIL_PACK_VERSION)
        return trail_fail(err, version ? TRAIL_UNSUPPORTED : TRAIL_BAD_INPUT,
                          "table of modules: version %d; this reads version %d",
                          version, TRAIL_PACK_VERSION);
    while (reader.at < reader.end) {
        struct trail_pack_segment segment;
        struct trail_pack_identity identity;
        uint32_t number;
        if (!read_entry(&reader, &number, &segment, &identity))
            return trail_fail(err, TRAIL_BAD_INPUT, "table of modules: a broken entry");
        if (!fits(table, number, &segment))
            return trail_fail(err, TRAIL_REFUSED,
                              "table of modules: entry %u is of another process",
                              number);
        if (trail_pack_table_segment(table, number))
            continue;
        trail_pack_table_put(table, number, &segment, &identity);
        if (trail_pack_table_count(table) <= number)
            atomic_store_explicit(&table->claimed, number + 1u, memory_order_release);
    }
    return TRAIL_OK;
}

bool trail_pack_table_at(const struct trail_pack_table *table, uint32_t number,
                         struct trail_pack_module *module_ret)
{
    const struct trail_pack_table *from = table ? table : &trail_pack_own_table;
    const struct trail_pack_segment *segment = trail_pack_table_segment(from, number);
    if (!segment)
        return false;
    const struct trail_pack_identity *identity = &from->identities[number];
    struct trail_pack_module module = { .size = module_ret->size,
                                        .number = number,
                                        .start = segment->start,
                                        .end = segment->end,
                                        .bias = segment->bias,
                                        .id_size = identity->id_size,
                                        .id_is_hash = identity->id_is_hash };
    memcpy(module.id, identity->id, sizeof(module.id));
    memcpy(module.path, identity->path, sizeof(module.path));
    size_t size = module.size < sizeof(module) ? module.size : sizeof(module);
    memcpy(module_ret, &module, size);
    return true;
}
