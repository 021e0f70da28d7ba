/* sentry.h -- a record as an envelope of Sentry's protocol, with one event. */
#ifndef HTTP_SENTRY_H
#define HTTP_SENTRY_H

#include "payload.h"

/* Append an envelope for each record; a request has one. Frames carry their raw
 * addresses, and the images say where to find symbols, so that the server can name what
 * we could not. A record that is no JSON object is marked TRAIL_BAD_INPUT in `verdicts`
 * and left out; `*sent_ret` counts the others. */
void sentry_append(struct payload *payload, const struct trail_record *records,
                   size_t count, struct trail_verdict *verdicts, size_t *sent_ret,
                   struct trail_error *err);

#endif
