/* text_hash.c -- what tells a module that has no id from another. */
#include "core/trace/text_hash.h"

struct trail_text_hash trail_text_hash_start(void)
{
    return (struct trail_text_hash){ 0xcbf29ce484222325u };
}

static void add_byte(struct trail_text_hash *hash, uint8_t byte)
{
    hash->value = (hash->value ^ byte) * 0x100000001b3u;
}

static void add_number(struct trail_text_hash *hash, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        add_byte(hash, (uint8_t)(number >> (8 * i)));
}

void trail_text_hash_segment(struct trail_text_hash *hash, uint64_t address,
                             uint64_t size, uint32_t flags)
{
    add_number(hash, address, 8);
    add_number(hash, size, 8);
    add_number(hash, flags & 7, 4);
}

void trail_text_hash_code(struct trail_text_hash *hash, const uint8_t *bytes,
                          size_t size)
{
    for (size_t i = 0; i < size && i < TRAIL_TEXT_HASH_TEXT; i++)
        add_byte(hash, bytes[i]);
}

void trail_text_hash_id(const struct trail_text_hash *hash,
                        uint8_t id_ret[TRAIL_TEXT_HASH_SIZE])
{
    for (size_t i = 0; i < TRAIL_TEXT_HASH_SIZE; i++)
        id_ret[i] = (uint8_t)(hash->value >> (56 - 8 * i));
}
