/* judge.h -- what an answer means for the batch, and the words for it. */
#ifndef HTTP_JUDGE_H
#define HTTP_JUDGE_H

#include "request.h"

/* TRAIL_OK for any 2xx. TRAIL_RETRY where the server, or a person, can make the same
 * request work; TRAIL_BAD_INPUT where these records will never be taken, or not in one
 * request. `count` is how many records were sent. `answer_ret` (enum trail_sink_answer)
 * tells them apart. No secret of `options` is in `err`, even if the answer repeats one.
 */
enum trail_status http_judge(const struct http_options *options,
                             const struct http_answer *answer, size_t count,
                             uint32_t *answer_ret, struct trail_error *err);

#endif
