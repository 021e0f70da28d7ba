/* judge.h -- what an answer means for the batch, and the words for it. */
#ifndef HTTP_JUDGE_H
#define HTTP_JUDGE_H

#include "request.h"

/* TRAIL_OK for any 2xx. TRAIL_RETRY where the server, or a person, can make the same
 * request work; TRAIL_BAD_INPUT where these records will never be taken. `count` is how
 * many records were sent. No secret of `options` is in `err`, even if the answer
 * repeats one. */
enum trail_status http_judge(const struct http_options *options,
                             const struct http_answer *answer, size_t count,
                             struct trail_error *err);

#endif
