/* options.h -- what the configuration says about one server, checked and copied. */
#ifndef HTTP_OPTIONS_H
#define HTTP_OPTIONS_H

#include <stdbool.h>
#include <curl/curl.h>

#include "backtrail/sink.h"

#define HTTP_RELEASE "0.1.0"

enum http_format {
    HTTP_FORMAT_JSON = 1, /* one object a line */
    HTTP_FORMAT_OTLP,     /* an OTLP ExportLogsServiceRequest */
};

/* Text is terminated, and NULL if it was not configured. */
struct http_options {
    char *url;
    char *shown_url; /* the same without user, password, query: for messages */
    char *ca_file, *client_cert, *client_key, *proxy;
    char *secrets; /* what messages must not repeat, each terminated; ends with "" */
    struct curl_slist *headers; /* "Name: value" */
    enum http_format format;
    bool gzip;
    uint64_t timeout_ns, connect_timeout_ns;
};

#define HTTP_OPTION_COUNT 10
extern const struct trail_option_spec http_option_table[HTTP_OPTION_COUNT];

/* Errors: TRAIL_BAD_INPUT names the option, and never shows a header's value. On
 * failure `*options_ret` is empty. */
enum trail_status http_options_init(const struct trail_options *given,
                                    struct http_options *options_ret,
                                    struct trail_error *err);
void http_options_deinit(struct http_options *options); /* empty is fine */

/* `url` as it may be shown: without user, password, query and fragment. NULL if it is
 * no URL or there is no memory. Owns: the caller frees it. */
char *http_url_shown(const char *url);

#endif
