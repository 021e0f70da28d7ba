/* curl_load.c -- libcurl, loaded when files are pushed. */
#include "agent/symbols/curl_load.h"

#include "core/os/os.h"

static struct curl functions;
static struct trail_os_library *library;

static const struct {
    const char *name;
    void *to;
} rows[] = {
    { "curl_global_init", &functions.global_init },
    { "curl_easy_init", &functions.easy_init },
    { "curl_easy_setopt", &functions.easy_setopt },
    { "curl_easy_perform", &functions.easy_perform },
    { "curl_easy_getinfo", &functions.easy_getinfo },
    { "curl_easy_cleanup", &functions.easy_cleanup },
    { "curl_easy_strerror", &functions.easy_strerror },
    { "curl_slist_append", &functions.slist_append },
    { "curl_slist_free_all", &functions.slist_free_all },
};

enum trail_status curl_load(const struct curl **functions_ret, struct trail_error *err)
{
    struct trail_error why = { "" };
    if (!library && trail_os_library_open(BACKTRAIL_CURL, &library, &why))
        return trail_fail(err, TRAIL_NOT_FOUND, "push: %s; install libcurl", why.text);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *found = trail_os_library_symbol(library, rows[i].name);
        if (!found)
            return trail_fail(err, TRAIL_UNSUPPORTED,
                              "push: %s has no %s; install a newer one", BACKTRAIL_CURL,
                              rows[i].name);
        memcpy(rows[i].to, &found, sizeof(found));
    }
    if (functions.global_init(CURL_GLOBAL_DEFAULT))
        return trail_fail(err, TRAIL_IO, "push: libcurl does not start");
    *functions_ret = &functions;
    return TRAIL_OK;
}
