/* map_write.h -- writes an origin map: section after section, the header last.
 *
 *     origin_map_write_start(&writer, write, arg, &info);
 *     origin_map_write_section(&writer, ORIGIN_REGIONS);
 *     origin_map_write_put(&writer, bytes, size);     as often as needed
 *     ...
 *     status = origin_map_write_finish(&writer, &head);
 *
 * Errors stay until origin_map_write_finish tells of them.
 */
#ifndef ORIGIN_MAP_WRITE_H
#define ORIGIN_MAP_WRITE_H

#include "origin/map.h"

/* Writes bytes at an offset of the file. Offsets ascend, but for the header's, 0. */
typedef enum trail_status origin_write_fn(void *arg, uint64_t offset, const void *bytes,
                                          size_t size);

/* What the header says besides where things are. */
struct origin_head {
    struct origin_info info;
    struct origin_layout layout;
    struct origin_widths widths;
    uint64_t base;
};

struct origin_map_writer {
    origin_write_fn *write;
    void *arg;
    enum trail_status status;
    uint64_t first, offset; /* where sections start; where the file is at */
    uint32_t section;
    uint64_t offsets[ORIGIN_SECTIONS], sizes[ORIGIN_SECTIONS];
    uint8_t *pending; /* not written yet: less than one checksum is of */
    size_t pending_size;
    uint64_t *checks;
    size_t check_count, check_capacity;
};

void origin_map_write_start(struct origin_map_writer *writer, origin_write_fn *write,
                            void *arg, const struct origin_info *info);

/* What is put from here on belongs to `section`; each comes once, ORIGIN_CHECKS never.
 * */
void origin_map_write_section(struct origin_map_writer *writer,
                              enum origin_section section);
void origin_map_write_put(struct origin_map_writer *writer, const void *bytes,
                          size_t size);

/* Write what is left, and the header; whatever happens, release the writer's memory.
 *
 * Errors: TRAIL_NO_MEMORY, and whatever `write` returned.
 */
enum trail_status origin_map_write_finish(struct origin_map_writer *writer,
                                          const struct origin_head *head);

#endif
