/* map.c -- opens an origin map, and finds addresses and names in it. */
#include "origin/map.h"

#include "origin/tables.h"

/* ---- opening ------------------------------------------------------------- */

static enum trail_status damaged(struct trail_error *err, const char *what)
{
    return trail_fail(err, TRAIL_BAD_INPUT,
                      "the origin map is damaged: %s; make it again", what);
}

static uint64_t sum_of_header(const uint8_t *bytes, size_t size)
{
    uint8_t fixed[ORIGIN_AT_NAME];
    struct origin_sum sum = origin_sum_start();
    memcpy(fixed, bytes, sizeof(fixed));
    memset(fixed + ORIGIN_AT_CHECKSUM, 0, 8);
    origin_sum_add(&sum, fixed, sizeof(fixed));
    origin_sum_add(&sum, bytes + sizeof(fixed), size - sizeof(fixed));
    return origin_sum_end(&sum);
}

/* The bytes are a whole header, and as it was written. */
static enum trail_status check_header(const uint8_t *bytes, size_t size,
                                      struct trail_error *err)
{
    if (size < sizeof(ORIGIN_MAGIC) - 1 ||
        memcmp(bytes, ORIGIN_MAGIC, sizeof(ORIGIN_MAGIC) - 1) != 0)
        return trail_fail(err, TRAIL_NOT_FOUND, "not an origin map");
    if (size < ORIGIN_AT_NAME)
        return damaged(err, "it was cut");
    uint32_t version = origin_get32(bytes + ORIGIN_AT_VERSION);
    if (version != ORIGIN_VERSION)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "an origin map of version %u; %u is known; make it again",
                          (unsigned)version, ORIGIN_VERSION);
    uint32_t header_size = origin_get32(bytes + ORIGIN_AT_HEADER_SIZE);
    if (header_size < ORIGIN_AT_NAME || header_size > ORIGIN_AT_NAME + ORIGIN_NAME_MAX)
        return damaged(err, "the size of its header");
    if (header_size > size || origin_get64(bytes + ORIGIN_AT_FILE_SIZE) != size)
        return damaged(err, "it is not as long as it should be");
    if (sum_of_header(bytes, header_size) != origin_get64(bytes + ORIGIN_AT_CHECKSUM))
        return damaged(err, "the checksum of its header");
    return TRAIL_OK;
}

static bool take_info(struct origin_map *map)
{
    const uint8_t *bytes = map->bytes;
    struct origin_info *info = &map->info;
    uint32_t header_size = origin_get32(bytes + ORIGIN_AT_HEADER_SIZE);

    info->format = origin_get32(bytes + ORIGIN_AT_FORMAT);
    info->arch = origin_get32(bytes + ORIGIN_AT_ARCH);
    info->id_kind = origin_get32(bytes + ORIGIN_AT_ID_KIND);
    info->has = origin_get32(bytes + ORIGIN_AT_HAS);
    info->route = origin_get32(bytes + ORIGIN_AT_ROUTE);
    info->shape = origin_get32(bytes + ORIGIN_AT_SHAPE);
    info->source_size = origin_get64(bytes + ORIGIN_AT_SOURCE_SIZE);
    info->source_modified_ns = origin_get64(bytes + ORIGIN_AT_SOURCE_MODIFIED);
    info->id_size = origin_get32(bytes + ORIGIN_AT_ID_SIZE);
    memcpy(info->id, bytes + ORIGIN_AT_ID, sizeof(info->id));
    memcpy(info->plugin, bytes + ORIGIN_AT_PLUGIN, sizeof(info->plugin));
    memcpy(info->release, bytes + ORIGIN_AT_RELEASE, sizeof(info->release));
    info->source.data = (const char *)bytes + ORIGIN_AT_NAME;
    info->source.size = origin_get32(bytes + ORIGIN_AT_NAME_SIZE);
    return info->id_size <= ORIGIN_ID_MAX &&
           info->source.size <= header_size - ORIGIN_AT_NAME &&
           !info->plugin[sizeof(info->plugin) - 1] &&
           !info->release[sizeof(info->release) - 1];
}

static bool take_widths(struct origin_map *map)
{
    const uint8_t *bytes = map->bytes;
    struct origin_layout layout = {
        .location_size = bytes[ORIGIN_AT_LOCATION_SIZE],
        .function_size = bytes[ORIGIN_AT_FUNCTION_SIZE],
        .line_bits = bytes[ORIGIN_AT_LINE_BITS],
        .column_bits = bytes[ORIGIN_AT_COLUMN_BITS],
    };
    map->base = origin_get64(bytes + ORIGIN_AT_BASE);
    map->widths = (struct origin_widths){ bytes[ORIGIN_AT_TEXT_SIZE],
                                          bytes[ORIGIN_AT_ADDRESS_SIZE],
                                          bytes[ORIGIN_AT_TARGET_SIZE] };
    return origin_regions_set_layout(&map->regions, layout) && map->widths.text >= 1 &&
           map->widths.text <= 4 &&
           (map->widths.address == 4 || map->widths.address == 8) &&
           map->widths.target >= 1 && map->widths.target <= 4;
}

/* Sections lie behind the header, and have whole elements. */
static bool take_sections(struct origin_map *map)
{
    uint64_t first = origin_get32(map->bytes + ORIGIN_AT_HEADER_SIZE);
    for (uint32_t i = 0; i < ORIGIN_SECTIONS; i++) {
        const uint8_t *entry =
            map->bytes + ORIGIN_AT_SECTIONS + i * ORIGIN_SECTION_SIZE;
        uint64_t offset = origin_get64(entry), size = origin_get64(entry + 8);
        uint32_t element = origin_element_size((enum origin_section)i, map->widths);
        if (offset < first || offset > map->bytes_size ||
            size > map->bytes_size - offset || (element && size % element))
            return false;
        map->parts[i] = (struct origin_part){ map->bytes + offset, size,
                                              element ? size / element : 0 };
    }
    return true;
}

/* Pieces of text ascend, and follow each other in the regions. */
static bool take_pieces(struct origin_map *map)
{
    const struct origin_part *pieces = &map->parts[ORIGIN_PIECES];
    uint64_t free_from = 0, offset = 0, most = map->regions.count * ORIGIN_REGION;
    if (pieces->count > ORIGIN_PIECES_MAX)
        return false;
    for (uint64_t i = 0; i < pieces->count; i++) {
        const uint8_t *piece = pieces->at + i * ORIGIN_PIECE_SIZE;
        uint64_t start = origin_get64(piece), size = origin_get64(piece + 8);
        if (start < free_from || start % ORIGIN_REGION || !size ||
            size > most - offset || size > UINT64_MAX - start ||
            origin_get64(piece + 16) != offset)
            return false;
        free_from = start + size;
        offset += (size + ORIGIN_REGION - 1) / ORIGIN_REGION * ORIGIN_REGION;
    }
    if (pieces->count) {
        map->start = origin_get64(pieces->at);
        map->size = origin_get64(pieces->at + 8);
    }
    return true;
}

/* What the quick ways through the map rely on. */
static bool take_regions(struct origin_map *map)
{
    const struct origin_part *parts = map->parts;
    const struct origin_part *regions = &parts[ORIGIN_REGIONS];
    const struct origin_part *texts = &parts[ORIGIN_TEXTS];
    uint64_t behind = map->bytes_size - (uint64_t)(regions->at - map->bytes);

    map->regions.bytes = regions->at;
    map->regions.end = regions->size;
    map->regions.index = parts[ORIGIN_INDEX].at;
    map->regions.count = parts[ORIGIN_INDEX].count;
    return behind - regions->size >= ORIGIN_SLACK && texts->size && !texts->at[0] &&
           !texts->at[texts->size - 1] && take_pieces(map) &&
           parts[ORIGIN_PLACES].count <= parts[ORIGIN_FUNCTIONS].count &&
           parts[ORIGIN_SYMBOL_STARTS].count == parts[ORIGIN_SYMBOLS].count &&
           parts[ORIGIN_CALL_OFFSETS].count == parts[ORIGIN_CALL_TARGETS].count;
}

enum trail_status origin_map_open(const uint8_t *bytes, size_t size,
                                  struct origin_map *map_ret, struct trail_error *err)
{
    struct origin_map map = { .bytes = bytes, .bytes_size = size };
    enum trail_status status = check_header(bytes, size, err);
    if (status)
        return status;
    if (!take_info(&map))
        return damaged(err, "the texts in its header");
    if (!take_widths(&map))
        return damaged(err, "the widths in its header");
    if (!take_sections(&map) || !take_regions(&map))
        return damaged(err, "its table of sections");
    *map_ret = map;
    return TRAIL_OK;
}

/* ---- addresses ----------------------------------------------------------- */

uint64_t origin_map_offset_far(const struct origin_map *map, uint64_t address)
{
    const struct origin_part *pieces = &map->parts[ORIGIN_PIECES];
    uint64_t low = 0, high = pieces->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (origin_get64(pieces->at + middle * ORIGIN_PIECE_SIZE) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return UINT64_MAX;
    const uint8_t *piece = pieces->at + (low - 1) * ORIGIN_PIECE_SIZE;
    uint64_t offset = address - origin_get64(piece);
    return offset < origin_get64(piece + 8) ? origin_get64(piece + 16) + offset
                                            : UINT64_MAX;
}

struct many {
    origin_chain_fn *each;
    void *arg;
    size_t first;
};

static void each_of_many(void *arg, size_t index, const struct origin_frame *frames,
                         uint32_t count)
{
    const struct many *many = arg;
    many->each(many->arg, many->first + index, frames, count);
}

void origin_map_lookup_many(const struct origin_map *map, const uint64_t *addresses,
                            size_t count, origin_chain_fn *each, void *arg)
{
    struct many many = { each, arg, 0 };
    uint64_t offsets[64];
    for (; many.first < count; many.first += 64) {
        size_t group = count - many.first < 64 ? count - many.first : 64;
        for (size_t i = 0; i < group; i++)
            offsets[i] = origin_map_offset(map, addresses[many.first + i]);
        origin_regions_lookup_many(&map->regions, offsets, group, each_of_many, &many);
    }
}

/* ---- names --------------------------------------------------------------- */

struct trail_text origin_text_at(const struct origin_map *map, uint64_t offset)
{
    const struct origin_part *texts = &map->parts[ORIGIN_TEXTS];
    struct trail_text text = { NULL, 0 };
    if (!offset || offset >= texts->size)
        return text;
    uint64_t left = texts->size - offset;
    size_t most = left < ORIGIN_TEXT_CUT ? (size_t)left : ORIGIN_TEXT_CUT;
    const uint8_t *end = memchr(texts->at + offset, 0, most);
    text.data = (const char *)texts->at + offset;
    text.size = end ? (size_t)(end - (texts->at + offset)) : most;
    return text;
}

uint64_t origin_map_function_count(const struct origin_map *map)
{
    return map->parts[ORIGIN_FUNCTIONS].count;
}

uint64_t origin_map_file_count(const struct origin_map *map)
{
    return map->parts[ORIGIN_FILES].count;
}

bool origin_map_function(const struct origin_map *map, uint32_t number,
                         struct origin_function *function_ret)
{
    const struct origin_part *places = &map->parts[ORIGIN_PLACES];
    struct origin_function function = { .start = 0 };
    unsigned text = map->widths.text, address = map->widths.address;
    if (!number || number > origin_map_function_count(map))
        return false;
    uint64_t index = number - 1;
    const uint8_t *at = map->parts[ORIGIN_FUNCTIONS].at + index * 2 * text;
    function.name = origin_text_at(map, origin_get_sized(at, text));
    function.linkage = origin_text_at(map, origin_get_sized(at + text, text));
    if (!function.name.size)
        function.name = function.linkage;
    if (index < places->count) {
        const uint8_t *place = places->at + index * 2 * address;
        function.start = map->base + origin_get_sized(place, address);
        function.size = origin_get_sized(place + address, address);
    }
    *function_ret = function;
    return true;
}

bool origin_map_file(const struct origin_map *map, uint32_t number,
                     struct origin_file *file_ret)
{
    unsigned text = map->widths.text;
    if (!number || number > origin_map_file_count(map))
        return false;
    const uint8_t *at = map->parts[ORIGIN_FILES].at + (number - 1) * 2ull * text;
    file_ret->path = origin_text_at(map, origin_get_sized(at, text));
    file_ret->directory = origin_text_at(map, origin_get_sized(at + text, text));
    return true;
}

/* Elements of `stride` bytes that begin with an ascending address: how many of them are
 * at most `address`. */
static uint64_t rank_of(const struct origin_map *map, const struct origin_part *part,
                        uint32_t stride, uint64_t address)
{
    uint64_t low = 0, high = part->count, key = address - map->base;
    if (address < map->base)
        return 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (origin_get_sized(part->at + middle * stride, map->widths.address) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t origin_map_function_at(const struct origin_map *map, uint64_t address)
{
    uint32_t stride = 2u * map->widths.address;
    uint64_t before =
        address ? rank_of(map, &map->parts[ORIGIN_PLACES], stride, address - 1) : 0;
    struct origin_function function;
    if (before >= UINT32_MAX || before >= map->parts[ORIGIN_PLACES].count ||
        !origin_map_function(map, (uint32_t)before + 1, &function))
        return 0;
    return function.start == address ? (uint32_t)before + 1 : 0;
}

/* ---- symbols ------------------------------------------------------------- */

uint64_t origin_map_symbol_count(const struct origin_map *map)
{
    return map->parts[ORIGIN_SYMBOLS].count;
}

/* Where the symbol of stretch `index` starts and ends, if that is another place. */
static void set_extent(const struct origin_map *map, uint64_t index,
                       struct origin_symbol *symbol)
{
    const struct origin_part *extents = &map->parts[ORIGIN_EXTENTS];
    unsigned address = map->widths.address;
    uint64_t low = 0, high = extents->count, stride = 4 + 2 * address;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (origin_get32(extents->at + middle * stride) < index)
            low = middle + 1;
        else
            high = middle;
    }
    const uint8_t *at = extents->at + low * stride;
    if (low == extents->count || origin_get32(at) != index)
        return;
    symbol->start = map->base + origin_get_sized(at + 4, address);
    symbol->size = origin_get_sized(at + 4 + address, address);
}

bool origin_map_symbol(const struct origin_map *map, uint64_t index,
                       struct origin_symbol *symbol_ret)
{
    unsigned address = map->widths.address, text = map->widths.text;
    struct origin_symbol symbol;
    if (index >= origin_map_symbol_count(map))
        return false;
    const uint8_t *start = map->parts[ORIGIN_SYMBOL_STARTS].at + index * address;
    const uint8_t *at =
        map->parts[ORIGIN_SYMBOLS].at + index * (address + 2 * text + 1);
    symbol.from = symbol.start = map->base + origin_get_sized(start, address);
    symbol.size = origin_get_sized(at, address);
    symbol.to = symbol.from + symbol.size;
    symbol.name = origin_text_at(map, origin_get_sized(at + address, text));
    symbol.aka = origin_text_at(map, origin_get_sized(at + address + text, text));
    symbol.flags = at[address + 2 * text];
    if (symbol.flags & ORIGIN_SYMBOL_EXTENT)
        set_extent(map, index, &symbol);
    if (symbol.flags & ORIGIN_SYMBOL_UNSIZED)
        symbol.size = 0;
    symbol.flags &= ~ORIGIN_SYMBOL_EXTENT;
    *symbol_ret = symbol;
    return true;
}

bool origin_map_symbol_at(const struct origin_map *map, uint64_t address,
                          struct origin_symbol *symbol_ret)
{
    struct origin_symbol symbol;
    uint64_t rank =
        rank_of(map, &map->parts[ORIGIN_SYMBOL_STARTS], map->widths.address, address);
    if (!rank || !origin_map_symbol(map, rank - 1, &symbol) ||
        address - symbol.from >= symbol.to - symbol.from)
        return false;
    *symbol_ret = symbol;
    return true;
}
