/* stream.h -- JSON that goes into a file of the inbox as it is made, element by
 * element, so that a crash in the middle of one costs no other.
 *
 * Async-signal-safe. One a process.
 */
#ifndef TRAIL_CRASH_STREAM_H
#define TRAIL_CRASH_STREAM_H

#include "core/trace/json_write.h"

/* Where the next element is written. */
struct trail_json *trail_stream_json(void);
void trail_stream_begin(void);
/* Open an array of the trace; it is open until this is called again, with NULL or with
 * another. */
void trail_stream_array(const char *key);
/* The element is whole: it stays. What was begun after that is dropped by _rewind. */
void trail_stream_whole(void);
void trail_stream_rewind(void);
/* Bytes that have been written, or will be. */
uint64_t trail_stream_size(void);
/* Write out what is whole. */
void trail_stream_flush(void);

#endif
