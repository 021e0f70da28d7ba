/* options.h -- what the configuration says about one server, checked and copied. */
#ifndef HTTP_OPTIONS_H
#define HTTP_OPTIONS_H

#include <stdbool.h>
#include <curl/curl.h>

#include "backtrail/sink.h"

#define HTTP_RELEASE "0.1.0"

enum http_format {
    HTTP_FORMAT_BACKTRAIL, /* one object a line */
    HTTP_FORMAT_OTLP,      /* an OTLP ExportLogsServiceRequest */
    HTTP_FORMAT_SENTRY,    /* an envelope, of one record */
};

enum http_threads {
    HTTP_THREADS_ALL,
    HTTP_THREADS_IN_APP, /* with a frame of the program's own */
    HTTP_THREADS_CRASHED,
};

enum http_compression {
    HTTP_COMPRESSION_GZIP,
    HTTP_COMPRESSION_ZSTD,
    HTTP_COMPRESSION_NONE,
};

/* What a status is taken for. */
enum http_meaning {
    HTTP_MEANING_OK,
    HTTP_MEANING_RETRY,
    HTTP_MEANING_HOLD,  /* until a person has mended something */
    HTTP_MEANING_SPLIT, /* the same in smaller requests */
    HTTP_MEANING_REJECT,
};

#define HTTP_ANSWER_COUNT 32

/* Text is terminated, and NULL if it was not configured. */
struct http_options {
    char *url;
    char *shown_url; /* the same without user, password, query: for messages */
    char *ca_file, *client_cert, *client_key, *proxy;
    char *secrets; /* what messages must not repeat, each terminated; ends with "" */
    struct curl_slist *headers; /* "Name: value" */
    enum http_format format;
    enum http_threads threads;
    enum http_compression compression;
    size_t record_limit; /* bytes */
    struct {
        long status;
        enum http_meaning meaning;
    } answers[HTTP_ANSWER_COUNT]; /* where the usual table does not hold */
    size_t answer_count;
    uint64_t timeout_ns, connect_timeout_ns;
};

#define HTTP_OPTION_COUNT 14
extern const struct trail_option_spec http_option_table[HTTP_OPTION_COUNT];

/* Errors: TRAIL_BAD_INPUT names the option, and never shows a header's value. On
 * failure `*options_ret` is empty. */
enum trail_status http_options_init(const struct trail_options *given,
                                    struct http_options *options_ret,
                                    struct trail_error *err);
void http_options_deinit(struct http_options *options); /* empty is fine */

#endif
