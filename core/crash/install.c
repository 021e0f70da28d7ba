/* install.c -- crashes are recorded from here on: options, and what is reserved. */
#include "backtrail/crash.h"

#include <stdlib.h>

#include "core/crash/handler.h"
#include "core/crash/known.h"
#include "core/crash/message.h"
#include "core/crash/others.h"
#include "core/crash/state.h"
#include "core/trace/trace_write.h"

#define STACK_SIZE  ((size_t)256 << 10) /* that a crash is handled on */
#define DEADLINE_MS 1500
#define THREAD_MS   200
#define MOST_MS     60000

static struct trail_os_mutex installing;

/* ---- options ------------------------------------------------------------- */

static void set_text(char *to, size_t size, const char *text, const char *variable)
{
    if (!text)
        text = trail_os_environment(variable);
    size_t length = text ? strlen(text) : 0;
    if (length >= size)
        length = size - 1;
    memcpy(to, text ? text : "", length);
    to[length] = 0;
}

/* The flags that $BACKTRAIL_CRASH names, separated by commas. */
static enum trail_status read_words(const char *words, uint32_t *flags_ret,
                                    struct trail_error *err)
{
    static const struct {
        const char *word;
        uint32_t flag;
    } known[] = { { "durable", TRAIL_CRASH_DURABLE },
                  { "raw", TRAIL_CRASH_PRINT_RAW },
                  { "markup", TRAIL_CRASH_PRINT_MARKUP },
                  { "this-thread", TRAIL_CRASH_THIS_THREAD },
                  { "no-file", TRAIL_CRASH_NO_FILE },
                  { "quiet", TRAIL_CRASH_QUIET },
                  { "1", 0 } };
    for (size_t size; words && *words; words += size + (words[size] == ',')) {
        bool found = false;
        size = strcspn(words, ",");
        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !found; i++) {
            found = strlen(known[i].word) == size &&
                    strncmp(known[i].word, words, size) == 0;
            if (found)
                *flags_ret |= known[i].flag;
        }
        if (!found)
            return trail_fail(
                err, TRAIL_BAD_INPUT,
                "BACKTRAIL_CRASH: unknown word '%.*s'; it may be durable, "
                "raw, markup, this-thread, no-file, quiet, or 0",
                (int)size, words);
    }
    return TRAIL_OK;
}

static enum trail_status read_ms(const char *variable, uint32_t *ms_ret,
                                 struct trail_error *err)
{
    const char *text = trail_os_environment(variable);
    char *end;
    if (!text || !text[0])
        return TRAIL_OK;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value == 0 || value > MOST_MS)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: '%s': wants milliseconds, 1 to %d",
                          variable, text, MOST_MS);
    *ms_ret = (uint32_t)value;
    return TRAIL_OK;
}

static enum trail_status read_environment(struct trail_crash_options *options,
                                          struct trail_error *err)
{
    const char *words = trail_os_environment("BACKTRAIL_CRASH");
    if (words && strcmp(words, "0") == 0)
        return trail_fail(err, TRAIL_REFUSED, "BACKTRAIL_CRASH is 0");
    enum trail_status status = read_words(words, &options->flags, err);
    if (!status)
        status = read_ms("BACKTRAIL_CRASH_DEADLINE_MS", &options->deadline_ms, err);
    if (!status)
        status = read_ms("BACKTRAIL_CRASH_THREAD_MS", &options->thread_ms, err);
    return status;
}

/* ---- installing ---------------------------------------------------------- */

static uint32_t ms_or(uint32_t ms, uint32_t otherwise)
{
    if (ms > MOST_MS)
        return MOST_MS;
    return ms ? ms : otherwise;
}

static void set_options(const struct trail_crash_options *options)
{
    struct trail_crash_state *crash = &trail_crash;
    const uint64_t limit = options->limit_size;
    crash->flags = options->flags;
    crash->deadline_ms = ms_or(options->deadline_ms, DEADLINE_MS);
    crash->thread_ms = ms_or(options->thread_ms, THREAD_MS);
    crash->limit_size =
        limit && limit < TRAIL_TRACE_SIZE_LIMIT ? limit : TRAIL_TRACE_SIZE_LIMIT;
    set_text(crash->app_name, sizeof(crash->app_name), options->app_name,
             "BACKTRAIL_APP_NAME");
    set_text(crash->app_version, sizeof(crash->app_version), options->app_version,
             "BACKTRAIL_APP_VERSION");
}

static enum trail_status install(const struct trail_crash_options *options,
                                 struct trail_error *err)
{
    struct trail_crash_state *crash = &trail_crash;
    enum trail_status inbox_status = TRAIL_OK;
    const bool keeps_file = !(options->flags & TRAIL_CRASH_NO_FILE);

    trail_os_process_self(&crash->process);
    if (!crash->stack_top) {
        char *stack = trail_os_guarded(STACK_SIZE);
        crash->stack_top = stack ? stack + STACK_SIZE : NULL;
    }
    if (!trail_others_init() || !crash->stack_top)
        return trail_fail(err, TRAIL_NO_MEMORY, "crashes: out of memory");
    set_options(options);
    trail_inbox_close(&crash->inbox);
    if (keeps_file)
        inbox_status =
            trail_inbox_open(options->inbox, options->free_size, &crash->inbox, err);
    trail_crash_message_init();
    enum trail_status status = trail_os_fatal_install(trail_crash_handle, err);
    if (!status)
        status = trail_thread_init(err);
    if (!status && inbox_status) {
        status = TRAIL_IO;
    }
    return status;
}

/* What an older caller's struct does not have is 0. */
enum trail_status trail_crash_install(const struct trail_crash_options *options,
                                      struct trail_error *err)
{
    struct trail_crash_options all = { .size = sizeof(all) };
    enum trail_status status = TRAIL_OK;
    if (options)
        memcpy(&all, options,
               options->size < sizeof(all) ? options->size : sizeof(all));
    else
        status = read_environment(&all, err);
    if (status)
        return status;
    trail_os_mutex_lock(&installing);
    status = install(&all, err);
    trail_os_mutex_unlock(&installing);
    return status;
}

void trail_crash_uninstall(void)
{
    trail_os_mutex_lock(&installing);
    trail_os_fatal_uninstall();
    trail_crash_message_deinit();
    trail_inbox_close(&trail_crash.inbox);
    trail_os_mutex_unlock(&installing);
}

/* ---- threads ------------------------------------------------------------- */

enum trail_status trail_thread_init(struct trail_error *err)
{
    return trail_os_alternate_set(err);
}

void trail_thread_deinit(void)
{
    trail_os_alternate_unset();
    trail_known_thread_end();
}
