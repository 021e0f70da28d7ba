/* fuzz_pack.c -- any bytes as packed stacks of a stream, as a table of modules, and as
 * addresses to be packed.
 *
 * The first byte chooses; behind it come pieces, each after a byte that says its size.
 */
#include <stdlib.h>

#include "backtrail/pack.h"

enum { ENTRIES = 600 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next piece, in memory that ends where it does. NULL: there is no more. */
static uint8_t *piece_next(const uint8_t **at, const uint8_t *end, size_t *size_ret)
{
    if (*at == end)
        return NULL;
    size_t size = *(*at)++;
    if (size > (size_t)(end - *at))
        size = (size_t)(end - *at);
    uint8_t *piece = malloc(size ? size : 1);
    if (piece && size)
        memcpy(piece, *at, size);
    *at += size;
    *size_ret = size;
    return piece;
}

/* What was unpacked packs to something that unpacks to the same. */
static void comes_back(const struct trail_unpacked *first)
{
    static uintptr_t addresses[ENTRIES];
    static uint64_t back[ENTRIES];
    static uint8_t bytes[16 * ENTRIES], kinds[ENTRIES];
    struct trail_info info = { .size = sizeof(info), .kinds = first->kinds };
    struct trail_unpacked second = {
        .size = sizeof(second), .capacity = ENTRIES, .addresses = back, .kinds = kinds
    };
    for (uint32_t i = 0; i < first->count; i++)
        addresses[i] = (uintptr_t)first->addresses[i];
    for (int scheme = TRAIL_PACK_ABS; scheme <= TRAIL_PACK_DELTA; scheme++) {
        size_t size = trail_pack(bytes, sizeof(bytes), (enum trail_pack_scheme)scheme,
                                 NULL, addresses, first->count, &info);
        if (trail_unpack(bytes, size, NULL, NULL, &second, NULL) ||
            second.count != first->count ||
            memcmp(back, first->addresses, first->count * sizeof(back[0])) != 0 ||
            memcmp(kinds, first->kinds, first->count) != 0)
            abort();
    }
}

static void unpack_stream(const uint8_t *at, const uint8_t *end,
                          const struct trail_pack_table *table)
{
    static uint64_t addresses[ENTRIES];
    static uint8_t kinds[ENTRIES];
    static uint32_t modules[ENTRIES];
    struct trail_pack_stream stream = { { 0 } };
    uint8_t *piece;
    size_t size;
    while ((piece = piece_next(&at, end, &size)) != NULL) {
        struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                           .capacity = ENTRIES,
                                           .addresses = addresses,
                                           .kinds = kinds,
                                           .modules = modules };
        struct trail_error err = { "" };
        if (trail_unpack(piece, size, table, &stream, &unpacked, &err) && !err.text[0])
            abort(); /* a refusal says why */
        if (unpacked.count > unpacked.packed_count)
            abort();
        comes_back(&unpacked);
        free(piece);
    }
}

static void read_table(const uint8_t *at, const uint8_t *end)
{
    struct trail_pack_table *table = trail_pack_table_create();
    struct trail_error err = { "" };
    uint8_t *piece;
    size_t size;
    while (table && (piece = piece_next(&at, end, &size)) != NULL) {
        if (trail_pack_table_read(table, piece, size, &err) && !err.text[0])
            abort();
        free(piece);
        unpack_stream(at, end, table);
    }
    for (uint32_t i = 0; table && i < 600; i++) {
        struct trail_pack_module module = { .size = sizeof(module) };
        if (trail_pack_table_at(table, i, &module) &&
            (module.end < module.start || strlen(module.path) >= sizeof(module.path)))
            abort();
    }
    trail_pack_table_destroy(table);
}

/* Each piece is a stack: the room for its bytes, then entries of two bytes. */
static void pack_stream(const uint8_t *at, const uint8_t *end)
{
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    uint8_t *piece, bytes[256];
    size_t size;
    while ((piece = piece_next(&at, end, &size)) != NULL) {
        uintptr_t addresses[128];
        uint64_t back[128];
        uint8_t kinds[128];
        unsigned count = 0;
        struct trail_info info = { .size = sizeof(info), .kinds = kinds };
        struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                           .capacity = 128,
                                           .addresses = back };
        for (size_t i = 1; i + 1 < size; i += 2) {
            uintptr_t base = piece[i] & 1   ? (uintptr_t)pack_stream
                             : piece[i] & 2 ? (uintptr_t)qsort
                                            : 0;
            kinds[count] = (uint8_t) "rrrrritc"[piece[i] >> 5];
            addresses[count++] =
                base + ((uintptr_t)piece[i + 1] << (piece[i] >> 2 & 7));
        }
        size_t used = trail_pack(bytes, size ? piece[0] : 0, TRAIL_PACK_DELTA, &writer,
                                 addresses, count, &info);
        if (used && (trail_unpack(bytes, used, NULL, &reader, &unpacked, NULL) ||
                     memcmp(back, addresses, unpacked.count * sizeof(back[0])) != 0))
            abort();
        free(piece);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t some[] = { 1, 255, 3, 4, 1, 6, 2, 8 };
    if (size == 0)
        return 0;
    /* So that the table has modules, whatever came before. */
    pack_stream(some, some + sizeof(some));
    switch (data[0] % 3) {
    case 0:
        unpack_stream(data + 1, data + size, NULL);
        break;
    case 1:
        read_table(data + 1, data + size);
        break;
    default:
        pack_stream(data + 1, data + size);
    }
    return 0;
}
