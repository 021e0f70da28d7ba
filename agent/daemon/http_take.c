/* http_take.c -- what came by HTTP, put where it belongs. */
#include "agent/daemon/http_take.h"

#include <stdlib.h>

#include <jansson.h>

#include "agent/daemon/lines_cut.h"
#include "core/resolve/store.h"

#define ITEM_LIMIT  256
#define SHOWN_LIMIT 10 /* lines of which it is said what was wrong */

struct tally {
    size_t fates[INTAKE_FATES], count;
    json_t *wrong;
};

static void tally_add(struct tally *tally, const struct intake_item *items,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tally->fates[items[i].fate]++;
        tally->count++;
        if (items[i].fate != INTAKE_REJECTED ||
            json_array_size(tally->wrong) == SHOWN_LIMIT)
            continue;
        json_t *wrong = json_object(), *why = json_string(items[i].why.text);
        json_object_set_new(wrong, "line", json_integer((json_int_t)tally->count));
        json_object_set_new(wrong, "why", why ? why : json_string("is no JSON"));
        json_array_append_new(tally->wrong, wrong);
    }
}

/* A client that sends many at once has its share of success told, as OTLP's partial
 * success: what is wrong is kept here, in rejected/. */
static unsigned tally_code(const struct tally *tally)
{
    if (tally->fates[INTAKE_LATER])
        return 503;
    bool all_wrong = tally->count && tally->fates[INTAKE_REJECTED] == tally->count;
    return all_wrong ? 422 : 200;
}

unsigned http_take_traces(struct http *http, const char *bytes, size_t size,
                          char **text_ret)
{
    struct tally tally = { .wrong = json_array() };
    struct intake_item *items = calloc(ITEM_LIMIT, sizeof(*items));
    json_t *answer = json_object();
    for (size_t at = 0, used = 0; items && at < size; at += used) {
        size_t count =
            lines_cut(bytes + at, size - at, UINT32_MAX, items, ITEM_LIMIT, &used);
        if (count)
            intake_take(http->intake, INTAKE_HTTP, items, count);
        tally_add(&tally, items, count);
    }
    bool no_memory = !items;
    free(items);
    for (size_t i = 0; i < INTAKE_FATES; i++)
        json_object_set_new(answer, intake_fate_names[i],
                            json_integer((json_int_t)tally.fates[i]));
    json_object_set_new(answer, "wrong", tally.wrong);
    *text_ret = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    return no_memory ? 503 : tally_code(&tally);
}

/* ---- symbol files ------------------------------------------------------- */

bool http_take_path(struct http *http, char *path_ret, size_t size)
{
    uint8_t bytes[8];
    uint64_t number = 0;
    if (trail_os_directory_make(http->store, 0755, NULL))
        return false;
    trail_os_random(bytes, sizeof(bytes));
    memcpy(&number, bytes, sizeof(number));
    int length = snprintf(path_ret, size, "%s/.push-%016llx", http->store,
                          (unsigned long long)number);
    return length > 0 && (size_t)length < size;
}

unsigned http_take_symbols(struct http *http, const char *path, char **text_ret)
{
    struct trail_store_entry entry;
    struct trail_error err = { "" };
    bool added = false;
    enum trail_status status = trail_store_add(http->store, path, &entry, &added, &err);
    json_t *answer = json_object();
    if (status) {
        const char *why = trail_os_reason(err.text, path);
        json_t *text = json_string(why ? why : err.text);
        json_object_set_new(answer, "why", text ? text : json_string("cannot be used"));
    } else {
        json_object_set_new(answer, "id", json_string(entry.id));
        json_object_set_new(answer, "kind",
                            json_string(trail_store_ending(entry.kind)));
        json_object_set_new(answer, "added", json_boolean(added));
    }
    *text_ret = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    return !status ? 200 : status == TRAIL_BAD_INPUT ? 422 : 503;
}
