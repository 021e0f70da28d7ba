/* frames_text.h -- the frames of a thread for people, a line each. */
#ifndef TRAIL_FRAMES_TEXT_H
#define TRAIL_FRAMES_TEXT_H

#include "core/report/source.h"

/* `source` remembers files from one thread to the next. */
void trail_frames_add(struct trail_text_buffer *out,
                      const struct trail_resolved_thread *thread,
                      const struct trail_text_style *style,
                      struct trail_source_reader *source);

#endif
