/* target.h -- where requests go: the URL as it stands, or as a Sentry DSN means it. */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include "options.h"

/* Check options->url, and fill in shown_url. For format sentry a DSN,
 * https://KEY@HOST/PROJECT, becomes the URL of the project's envelopes and a header
 * with the key. The headers are there already. */
enum trail_status http_target_set(struct http_options *options,
                                  struct trail_error *err);

/* `url` as it may be shown: without user, password, query and fragment. NULL if it is
 * no URL or there is no memory. Owns: the caller frees it. */
char *http_url_shown(const char *url);

#endif
