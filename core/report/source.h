/* source.h -- lines of source around a frame, or why there are none.
 *
 * The path is what the debug information says: as named, or joined with the compilation
 * directory, and mapped by the style's roots. Files are untrusted: only regular ones,
 * of a bounded size, and what they hold is cleaned for a terminal.
 */
#ifndef TRAIL_SOURCE_H
#define TRAIL_SOURCE_H

#include "core/report/report.h"
#include "core/report/text_buffer.h"

#define TRAIL_SOURCE_TOLD 64

/* The file that was read last, and what has been told. Zero-initialised is fresh. */
struct trail_source_reader {
    char *path; /* NULL: none */
    char *bytes;
    size_t size;
    char *told[TRAIL_SOURCE_TOLD]; /* notes that are not repeated */
    size_t told_count;
    size_t shown_count; /* frames with source */
};

/* Add the lines around `frame`, its own marked, or a note why there are none. A note
 * comes once. */
void trail_source_add(struct trail_source_reader *source, struct trail_text_buffer *out,
                      const struct trail_text_style *style,
                      const struct trail_frame *frame);
void trail_source_deinit(struct trail_source_reader *source);

#endif
