/* otlp.h -- reports as OpenTelemetry log records, in OTLP's JSON form. */
#ifndef HTTP_OTLP_H
#define HTTP_OTLP_H

#include "payload.h"

/* Append one ExportLogsServiceRequest with the records. One whose body is no JSON
 * object is left out and marked TRAIL_BAD_INPUT in `verdicts`, with the reason in
 * `err`;
 * `*sent_ret` counts the others. If it is 0, nothing was appended. */
void otlp_append(struct payload *payload, const struct trail_record *records,
                 size_t count, struct trail_verdict *verdicts, size_t *sent_ret,
                 struct trail_error *err);

/* How many log records the answer to a request says were refused; 0 if it says nothing.
 */
uint64_t otlp_refused(struct trail_text answer);

#endif
