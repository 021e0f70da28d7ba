/* paint.h -- colors of a report for people, where they are wanted. */
#ifndef TRAIL_PAINT_H
#define TRAIL_PAINT_H

#include "core/report/report.h"
#include "core/report/text_buffer.h"

/* Parameters of the terminal's SGR sequence (ECMA-48). */
#define TRAIL_PAINT_BAD   "1;31" /* what went wrong */
#define TRAIL_PAINT_WARN  "33"   /* what is missing */
#define TRAIL_PAINT_TITLE "1"
#define TRAIL_PAINT_OWN   "1"  /* functions of the program's own */
#define TRAIL_PAINT_PLACE "36" /* file and line */
#define TRAIL_PAINT_FAINT "2"

static inline void trail_paint_begin(struct trail_text_buffer *out,
                                     const struct trail_text_style *style,
                                     const char *paint)
{
    if (style->color)
        trail_text_buffer_format(out, "\x1b[%sm", paint);
}

static inline void trail_paint_end(struct trail_text_buffer *out,
                                   const struct trail_text_style *style)
{
    if (style->color)
        trail_text_buffer_add(out, "\x1b[0m", 4);
}

#endif
