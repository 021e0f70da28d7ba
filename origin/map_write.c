/* map_write.c -- puts the sections of an origin map into a file, with their checksums.
 * */
#include "origin/map_write.h"

#include <stdlib.h>

static size_t name_size_of(const struct origin_info *info)
{
    return info->source.size < ORIGIN_NAME_MAX ? info->source.size : ORIGIN_NAME_MAX;
}

/* Sections start at a multiple of eight. */
static uint32_t header_size_of(const struct origin_info *info)
{
    return (uint32_t)(ORIGIN_AT_NAME + (name_size_of(info) + 7) / 8 * 8);
}

void origin_map_write_start(struct origin_map_writer *writer, origin_write_fn *write,
                            void *arg, const struct origin_info *info)
{
    *writer = (struct origin_map_writer){ .write = write, .arg = arg };
    writer->first = writer->offset = header_size_of(info);
    writer->section = ORIGIN_SECTIONS;
    writer->pending = malloc(ORIGIN_CHECKED);
    if (!writer->pending)
        writer->status = TRAIL_NO_MEMORY;
}

/* Take note of the checksum of the next bytes, and write them. */
static void write_checked(struct origin_map_writer *writer, const uint8_t *bytes,
                          size_t size)
{
    if (writer->check_count == writer->check_capacity) {
        size_t capacity = writer->check_capacity * 2 + 64;
        uint64_t *grown = realloc(writer->checks, capacity * sizeof(*grown));
        if (!grown) {
            writer->status = TRAIL_NO_MEMORY;
            return;
        }
        writer->checks = grown;
        writer->check_capacity = capacity;
    }
    writer->checks[writer->check_count++] = origin_sum_of(bytes, size);
    writer->status = writer->write(writer->arg, writer->offset, bytes, size);
    writer->offset += size;
}

static void put(struct origin_map_writer *writer, const uint8_t *bytes, size_t size)
{
    while (size && !writer->status) {
        size_t part = ORIGIN_CHECKED - writer->pending_size;
        if (part == ORIGIN_CHECKED && size >= part) {
            write_checked(writer, bytes, part);
        } else {
            part = size < part ? size : part;
            memcpy(writer->pending + writer->pending_size, bytes, part);
            writer->pending_size += part;
            if (writer->pending_size == ORIGIN_CHECKED) {
                write_checked(writer, writer->pending, ORIGIN_CHECKED);
                writer->pending_size = 0;
            }
        }
        bytes += part;
        size -= part;
    }
}

void origin_map_write_section(struct origin_map_writer *writer,
                              enum origin_section section)
{
    static const uint8_t zeros[8];
    uint64_t at = writer->offset + writer->pending_size;
    writer->section = section;
    put(writer, zeros, (size_t)(7 - (at + 7) % 8));
    writer->offsets[section] = (at + 7) / 8 * 8;
}

void origin_map_write_put(struct origin_map_writer *writer, const void *bytes,
                          size_t size)
{
    writer->sizes[writer->section] += size;
    put(writer, bytes, size);
}

/* The checksums themselves, and what must be readable behind the regions. Returns the
 * checksum of the checksums. */
static uint64_t put_checks(struct origin_map_writer *writer)
{
    uint64_t sum = 0, regions_end = writer->offsets[ORIGIN_REGIONS] +
                                    writer->sizes[ORIGIN_REGIONS];
    origin_map_write_section(writer, ORIGIN_CHECKS);
    if (writer->pending_size && !writer->status)
        write_checked(writer, writer->pending, writer->pending_size);
    if (writer->status)
        return 0;
    size_t size = writer->check_count * 8;
    for (size_t i = 0; i < writer->check_count; i++) /* as they lie in the file */
        origin_put64((uint8_t *)&writer->checks[i], writer->checks[i]);
    writer->sizes[ORIGIN_CHECKS] = size;
    sum = origin_sum_of((const uint8_t *)writer->checks, size);
    writer->status = writer->write(writer->arg, writer->offset, writer->checks, size);
    writer->offset += size;
    if (!writer->status && writer->offset < regions_end + ORIGIN_SLACK) {
        /* The last byte: what is skipped reads as zeros. */
        writer->offset = regions_end + ORIGIN_SLACK;
        writer->status = writer->write(writer->arg, writer->offset - 1, "", 1);
    }
    return sum;
}

static void put_info(uint8_t *header, const struct origin_info *info)
{
    origin_put64(header + ORIGIN_AT_SOURCE_SIZE, info->source_size);
    origin_put64(header + ORIGIN_AT_SOURCE_MODIFIED, info->source_modified_ns);
    origin_put32(header + ORIGIN_AT_FORMAT, info->format);
    origin_put32(header + ORIGIN_AT_ARCH, info->arch);
    origin_put32(header + ORIGIN_AT_ID_KIND, info->id_kind);
    origin_put32(header + ORIGIN_AT_HAS, info->has);
    origin_put32(header + ORIGIN_AT_ROUTE, info->route);
    origin_put32(header + ORIGIN_AT_SHAPE, info->shape);
    origin_put32(header + ORIGIN_AT_ID_SIZE, info->id_size);
    origin_put32(header + ORIGIN_AT_NAME_SIZE, (uint32_t)name_size_of(info));
    memcpy(header + ORIGIN_AT_PLUGIN, info->plugin, sizeof(info->plugin) - 1);
    memcpy(header + ORIGIN_AT_RELEASE, info->release, sizeof(info->release) - 1);
    memcpy(header + ORIGIN_AT_ID, info->id, sizeof(info->id));
    if (info->source.size)
        memcpy(header + ORIGIN_AT_NAME, info->source.data, name_size_of(info));
}

static void put_header(struct origin_map_writer *writer, const struct origin_head *head,
                       uint64_t checks_sum)
{
    uint8_t header[ORIGIN_AT_NAME + ORIGIN_NAME_MAX] = { 0 };
    uint32_t size = header_size_of(&head->info);

    memcpy(header, ORIGIN_MAGIC, sizeof(ORIGIN_MAGIC) - 1);
    origin_put32(header + ORIGIN_AT_VERSION, ORIGIN_VERSION);
    origin_put32(header + ORIGIN_AT_HEADER_SIZE, size);
    origin_put64(header + ORIGIN_AT_FILE_SIZE, writer->offset);
    origin_put64(header + ORIGIN_AT_CHECKS_CHECKSUM, checks_sum);
    origin_put64(header + ORIGIN_AT_BASE, head->base);
    header[ORIGIN_AT_LOCATION_SIZE] = head->layout.location_size;
    header[ORIGIN_AT_FUNCTION_SIZE] = head->layout.function_size;
    header[ORIGIN_AT_LINE_BITS] = head->layout.line_bits;
    header[ORIGIN_AT_COLUMN_BITS] = head->layout.column_bits;
    header[ORIGIN_AT_TEXT_SIZE] = head->widths.text;
    header[ORIGIN_AT_ADDRESS_SIZE] = head->widths.address;
    header[ORIGIN_AT_TARGET_SIZE] = head->widths.target;
    put_info(header, &head->info);
    for (uint32_t i = 0; i < ORIGIN_SECTIONS; i++) {
        uint8_t *entry = header + ORIGIN_AT_SECTIONS + i * ORIGIN_SECTION_SIZE;
        uint64_t offset = writer->offsets[i] ? writer->offsets[i] : writer->first;
        origin_put64(entry, offset);
        origin_put64(entry + 8, writer->sizes[i]);
    }
    origin_put64(header + ORIGIN_AT_CHECKSUM, origin_sum_of(header, size));
    writer->status = writer->write(writer->arg, 0, header, size);
}

enum trail_status origin_map_write_finish(struct origin_map_writer *writer,
                                          const struct origin_head *head)
{
    uint64_t checks_sum = put_checks(writer);
    if (!writer->status)
        put_header(writer, head, checks_sum);
    free(writer->pending);
    free(writer->checks);
    writer->pending = NULL;
    writer->checks = NULL;
    return writer->status;
}
