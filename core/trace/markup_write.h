/* markup_write.h -- a stack as symbolizer markup: what was mapped where, by build-id,
 * and the addresses, so that whoever reads the text can name them. The format is LLVM's
 * (llvm.org/docs/SymbolizerMarkupFormat.html).
 *
 * Everything here is async-signal-safe.
 */
#ifndef TRAIL_MARKUP_WRITE_H
#define TRAIL_MARKUP_WRITE_H

#include "backtrail/backtrail.h"
#include "core/trace/line_write.h"
#include "core/trace/module_map.h"

/* Write the context, then `title` if it is not NULL, then a line a frame. Frames of the
 * capture itself are left out, unless `flags` has TRAIL_FULL. */
void trail_markup_write(struct trail_lines *lines,
                        const struct trail_backtrace *backtrace, unsigned flags,
                        const char *title);

/* To standard error, with the title "backtrace:". */
void trail_markup_print(const struct trail_backtrace *backtrace, unsigned flags);

/* The parts of it. Of an image those ranges are told that hold code or an address of
 * the backtrace. */
void trail_markup_module(struct trail_lines *lines, unsigned number,
                         const struct trail_mapped *image,
                         const struct trail_backtrace *backtrace);
/* The frames from `first` on; the numbers begin with 0. */
void trail_markup_frames(struct trail_lines *lines,
                         const struct trail_backtrace *backtrace, uint32_t first);

#endif
