/* curl_load.h -- libcurl, loaded when files are pushed and not before: it brings much
 * along, and every verb of the program would start several times as slowly.
 */
#ifndef TRAIL_AGENT_CURL_LOAD_H
#define TRAIL_AGENT_CURL_LOAD_H

#include <curl/curl.h>

#include "backtrail/base.h"

/* Its functions that are used, under their names without curl_. */
struct curl {
    CURLcode (*global_init)(long flags);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *handle);
    CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
    void (*easy_cleanup)(CURL *handle);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
};

/* Once loaded it stays. Only for one thread at a time. */
enum trail_status curl_load(const struct curl **functions_ret, struct trail_error *err);

#endif
