/* image.c -- see image.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "image.h"

#define ID_SIZE 16 /* bytes of a debug id */

uint64_t address_of(const json_t *text)
{
    const char *digits = json_string_value(text);

    return digits && strncmp(digits, "0x", 2) == 0 ? strtoull(digits, NULL, 16) : 0;
}

/* The extent of all ranges. False: there are none. */
static bool extent(const json_t *module, uint64_t *start_ret, uint64_t *end_ret)
{
    const json_t *ranges = json_object_get(module, "ranges");
    uint64_t start = UINT64_MAX, end = 0;

    for (size_t i = 0; i < json_array_size(ranges); i++) {
        const json_t *range = json_array_get(ranges, i);
        uint64_t from = address_of(json_array_get(range, 0));
        uint64_t to = address_of(json_array_get(range, 1));
        start = from < start ? from : start;
        end = to > end ? to : end;
    }
    if (start >= end)
        return false;
    *start_ret = start;
    *end_ret = end;
    return true;
}

/* Ranges may be of code alone, but what is linked at 0 begins at its bias. */
uint64_t image_address(const json_t *module)
{
    uint64_t bias = address_of(json_object_get(module, "bias"));
    uint64_t start = 0, end = 0;

    if (!extent(module, &start, &end))
        return bias;
    return bias && bias <= start ? bias : start;
}

static const char *type_of(const char *format)
{
    if (strcmp(format, "macho") == 0)
        return "macho";
    return strcmp(format, "pe") == 0 ? "pe" : "elf";
}

/* The first 16 bytes of an id, which has two digits a byte; what is missing is 0.
 * False: it is none. */
static bool read_id(const char *digits, uint8_t bytes_ret[ID_SIZE])
{
    static const char values[] = "0123456789abcdef";
    size_t count = strlen(digits);

    if (count < 2 || strspn(digits, values) != count)
        return false;
    memset(bytes_ret, 0, ID_SIZE);
    for (size_t i = 0; i + 1 < count && i / 2 < ID_SIZE; i += 2) {
        size_t high = (size_t)(strchr(values, digits[i]) - values);
        size_t low = (size_t)(strchr(values, digits[i + 1]) - values);
        bytes_ret[i / 2] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* A build id read as a GUID, whose first three fields are little-endian; a UUID as it
 * stands. */
static bool write_debug_id(const char *digits, bool is_uuid, char text_ret[40])
{
    static const uint8_t guid[ID_SIZE] = { 3, 2, 1,  0,  5,  4,  7,  6,
                                           8, 9, 10, 11, 12, 13, 14, 15 };
    uint8_t bytes[ID_SIZE];
    size_t size = 0;

    if (!read_id(digits, bytes))
        return false;
    for (size_t i = 0; i < ID_SIZE; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        size += (size_t)snprintf(text_ret + size, 40 - size, "%s%02x", dash ? "-" : "",
                                 bytes[is_uuid ? i : guid[i]]);
    }
    return true;
}

static void set_ids(struct made *image, const json_t *module)
{
    const char *id = json_text(module, "id");
    bool is_uuid = strcmp(json_text(module, "id_kind"), "uuid") == 0;
    char debug_id[40];

    if (!write_debug_id(id, is_uuid, debug_id))
        return;
    made_set(image, "debug_id", json_string(debug_id));
    made_set(image, "code_id", json_string(id));
}

static json_t *make_image(const json_t *module)
{
    uint64_t start = 0, end = 0, base = image_address(module);
    char address[24];
    struct made image = { .json = json_object() };

    made_set(&image, "type", json_string(type_of(json_text(module, "format"))));
    snprintf(address, sizeof(address), "0x%" PRIx64, base);
    made_set(&image, "image_addr", json_string(address));
    if (extent(module, &start, &end) && end > base)
        made_set(&image, "image_size", json_integer((json_int_t)(end - base)));
    snprintf(address, sizeof(address), "0x%" PRIx64,
             base - address_of(json_object_get(module, "bias")));
    made_set(&image, "image_vmaddr", json_string(address));
    made_set_text(&image, "code_file", json_text(module, "path"));
    made_set_text(&image, "arch", json_text(module, "arch"));
    set_ids(&image, module);
    return made_whole(&image);
}

json_t *image_list(const json_t *trace)
{
    const json_t *modules = json_object_get(trace, "modules");
    struct made images = { .json = json_array() };

    for (size_t i = 0; i < json_array_size(modules); i++)
        made_append(&images, make_image(json_array_get(modules, i)));
    return made_whole(&images);
}
