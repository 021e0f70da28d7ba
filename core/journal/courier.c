/* courier.c -- a sink's batches, from the record to the sink. */
#include "core/journal/courier.h"

#include <stdlib.h>

#include "core/deliver/deliver.h"
#include "core/os/os.h"

#define SECOND     ((uint64_t)1000000000u)
#define AFTER_MOST (24 * 3600 * SECOND) /* that another side may have us wait */
#define SLEEP_MOST (3600 * SECOND)      /* then the wall clock is looked at again */

struct trail_courier {
    struct trail_courier_options options;
    char name[64];
    struct trail_journal *journal;
    struct trail_os_thread thread;
    struct trail_os_mutex lock; /* over what follows */
    struct trail_os_cond changed;
    struct trail_courier_stat stat;
    bool stopping, kicked;
    uint64_t until_ns;
    /* The thread's own: */
    void *state;
    bool is_open;
    struct trail_record *records;
    struct trail_verdict *verdicts;
    char **bodies;
    size_t room;
    uint64_t turn;
    char said[256];
};

const char *trail_courier_state_name(enum trail_courier_state state)
{
    static const char *const names[] = { "",        "idle", "sending",
                                         "waiting", "held", "stopped" };
    return (size_t)state < sizeof(names) / sizeof(*names) ? names[state] : "";
}

static void say(struct trail_courier *courier, int level, const char *line)
{
    if (!courier->options.told || strcmp(line, courier->said) == 0)
        return;
    snprintf(courier->said, sizeof(courier->said), "%s", line);
    courier->options.told(courier->options.arg, level, line);
}

static void become(struct trail_courier *courier, enum trail_courier_state state,
                   uint64_t next_ns)
{
    trail_os_mutex_lock(&courier->lock);
    if (courier->stat.state != state)
        courier->stat.since_ns = trail_os_time_ns();
    courier->stat.state = state;
    courier->stat.next_ns = next_ns;
    trail_os_mutex_unlock(&courier->lock);
}

/* True: it is to stop, and `*until_ret` is when. */
static bool stopping(struct trail_courier *courier, uint64_t *until_ret)
{
    trail_os_mutex_lock(&courier->lock);
    bool stop = courier->stopping;
    *until_ret = courier->until_ns;
    trail_os_mutex_unlock(&courier->lock);
    return stop;
}

static bool time_is_up(struct trail_courier *courier)
{
    uint64_t until;
    return stopping(courier, &until) && trail_os_mono_ns() >= until;
}

/* Sleep until then, or until kicked or told to stop. True: kicked. */
static bool rest(struct trail_courier *courier, uint64_t until_ns)
{
    trail_os_mutex_lock(&courier->lock);
    while (!courier->kicked && !courier->stopping && trail_os_mono_ns() < until_ns)
        trail_os_cond_wait(&courier->changed, &courier->lock, until_ns);
    bool kicked = courier->kicked;
    courier->kicked = false;
    trail_os_mutex_unlock(&courier->lock);
    return kicked;
}

/* ---- one try -------------------------------------------------------------- */

static void state_close(struct trail_courier *courier)
{
    if (courier->is_open)
        courier->options.sink->destroy(courier->state);
    courier->state = NULL;
    courier->is_open = false;
}

static bool room_for(struct trail_courier *courier, size_t count)
{
    if (count <= courier->room)
        return true;
    struct trail_record *records = realloc(courier->records, count * sizeof(*records));
    if (records)
        courier->records = records;
    struct trail_verdict *verdicts =
        realloc(courier->verdicts, count * sizeof(*verdicts));
    if (verdicts)
        courier->verdicts = verdicts;
    char **bodies = realloc(courier->bodies, count * sizeof(*bodies));
    if (bodies)
        courier->bodies = bodies;
    if (!records || !verdicts || !bodies)
        return false;
    courier->room = count;
    return true;
}

static void bodies_free(struct trail_courier *courier, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(courier->bodies[i]);
}

/* Records as the sink wants them. One that cannot be rendered is left to the sink as it
 * is: JSON, which says more than nothing. */
static enum trail_status records_fill(struct trail_courier *courier,
                                      const struct trail_journal_batch *batch,
                                      struct trail_error *err)
{
    const struct trail_courier_options *options = &courier->options;
    if (!room_for(courier, batch->count))
        return trail_fail(err, TRAIL_NO_MEMORY, "sink %s: out of memory",
                          courier->name);
    for (size_t i = 0; i < batch->count; i++) {
        const struct trail_journal_entry *entry = &batch->entries[i];
        struct trail_record *record = &courier->records[i];
        size_t size;
        courier->bodies[i] = NULL;
        *record = (struct trail_record){ .size = sizeof(*record),
                                         .style = TRAIL_STYLE_JSON,
                                         .class_ = entry->class_,
                                         .id = trail_text_of(entry->id),
                                         .channel = trail_text_of(entry->channel),
                                         .body = entry->text };
        courier->verdicts[i] =
            (struct trail_verdict){ .size = sizeof(struct trail_verdict),
                                    .status = TRAIL_OK };
        if (options->render &&
            options->render(options->arg, entry, options->style, &courier->bodies[i],
                            &size, NULL) == TRAIL_OK) {
            record->style = options->style;
            record->body = (struct trail_text){ courier->bodies[i], size };
        }
    }
    return TRAIL_OK;
}

static int call_stop(void *host)
{
    return time_is_up(host);
}

static void call_log(void *host, int level, struct trail_text text)
{
    struct trail_courier *courier = host;
    char line[256];
    snprintf(line, sizeof(line), "sink %s: %.*s", courier->name, (int)text.size,
             text.data ? text.data : "");
    say(courier, level, line);
}

static enum trail_status write_batch(struct trail_courier *courier,
                                     const struct trail_journal_batch *batch,
                                     struct trail_sink_call *call,
                                     struct trail_error *err)
{
    const struct trail_courier_options *options = &courier->options;
    enum trail_status status = TRAIL_OK;
    if (!courier->is_open) {
        status = options->open(options->arg, &courier->state, err);
        if (status) { /* a secret that cannot be read is for a person to mend */
            call->answer = TRAIL_SINK_HOLD;
            return TRAIL_RETRY;
        }
        courier->is_open = true;
    }
    status = records_fill(courier, batch, err);
    if (status)
        return TRAIL_RETRY;
    uint64_t until;
    call->deadline_ns = trail_os_mono_ns() + options->write_ns;
    if (stopping(courier, &until) && until < call->deadline_ns)
        call->deadline_ns = until;
    status = options->sink->write(courier->state, call, courier->records, batch->count,
                                  courier->verdicts, err);
    bodies_free(courier, batch->count);
    return status;
}

/* ---- what comes of it --------------------------------------------------------- */

/* True: it is never worth to send the same batch again. */
static bool is_refused(enum trail_status status, uint32_t answer)
{
    if (answer == TRAIL_SINK_TOO_LARGE || answer == TRAIL_SINK_MALFORMED)
        return status != TRAIL_OK;
    return status != TRAIL_OK && status != TRAIL_RETRY && answer != TRAIL_SINK_HOLD &&
           answer != TRAIL_SINK_BUSY && status != TRAIL_CANCELLED &&
           status != TRAIL_NO_MEMORY;
}

static uint64_t pause_ns(const struct trail_courier *courier, uint32_t failures,
                         const struct trail_sink_call *call)
{
    uint32_t random;
    uint64_t after =
        call->retry_after_ns < AFTER_MOST ? call->retry_after_ns : AFTER_MOST;
    if (call->answer == TRAIL_SINK_HOLD)
        return after > courier->options.hold_ns ? after : courier->options.hold_ns;
    trail_os_random(&random, sizeof(random));
    return trail_backoff_ns(failures, after, random);
}

static void note_answer(struct trail_courier *courier,
                        const struct trail_sink_call *call, enum trail_status status,
                        const struct trail_error *err)
{
    trail_os_mutex_lock(&courier->lock);
    struct trail_courier_stat *stat = &courier->stat;
    stat->answer = call->answer;
    stat->code = call->code;
    if (status == TRAIL_OK) {
        stat->failures = 0;
        stat->last_ok_ns = trail_os_time_ns();
        stat->error[0] = 0;
    } else {
        stat->failures += stat->failures < UINT32_MAX;
        snprintf(stat->error, sizeof(stat->error), "%s", err->text);
    }
    trail_os_mutex_unlock(&courier->lock);
}

static void tell_failure(struct trail_courier *courier,
                         const struct trail_sink_call *call,
                         const struct trail_error *err)
{
    char line[sizeof(err->text) + 128];
    bool held = call->answer == TRAIL_SINK_HOLD;
    snprintf(line, sizeof(line), "sink %s: %s%s", courier->name,
             err->text[0] ? err->text : "it did not take a batch",
             held ? " (held: nothing is lost; it is tried again when that is mended)"
                  : "");
    say(courier, held ? 0 : 1, line);
}

static bool is_retry(enum trail_status status, uint32_t answer)
{
    return status != TRAIL_OK && !is_refused(status, answer);
}

/* One try of a batch, noted. The time until which nothing is to be tried again; 0: go
 * on. Ends the batch. */
static uint64_t try_batch(struct trail_courier *courier,
                          struct trail_journal_batch *batch)
{
    struct trail_error err = { "" }, note_err = { "" };
    struct trail_sink_call call = {
        .size = sizeof(call),
        .attempt = batch->tries,
        .key = trail_text_of(batch->key),
        .host = courier,
        .stop = call_stop,
        .log = call_log,
    };
    become(courier, TRAIL_COURIER_SENDING, 0);
    enum trail_status status = write_batch(courier, batch, &call, &err);
    note_answer(courier, &call, status, &err);
    bool refused = is_refused(status, call.answer),
         again = is_retry(status, call.answer);
    struct trail_journal_try how = {
        .status = again ? TRAIL_RETRY : status,
        .answer = call.answer,
        .code = call.code,
        .text = err.text,
    };
    uint64_t pause = 0;
    if (again) {
        pause = pause_ns(courier, courier->stat.failures, &call);
        how.due_ns = trail_os_time_ns() + pause;
    }
    if (status)
        tell_failure(courier, &call, &err);
    else
        courier->said[0] = 0;
    if (again && call.answer == TRAIL_SINK_HOLD)
        state_close(courier);
    bool some = false;
    for (size_t i = 0; i < batch->count && !status; i++)
        some |= courier->verdicts[i].status == TRAIL_RETRY;
    if (some)
        pause = pause_ns(courier, 1, &call);
    enum trail_status noted =
        refused ? trail_journal_batch_split(courier->journal, courier->name, batch,
                                            &how, &note_err)
                : trail_journal_batch_end(courier->journal, courier->name, batch, &how,
                                          courier->verdicts, &note_err);
    if (noted && !pause)
        pause = SECOND; /* the record cannot be written to: it comes again */
    if (pause)
        become(courier,
               call.answer == TRAIL_SINK_HOLD ? TRAIL_COURIER_HELD
                                              : TRAIL_COURIER_WAITING,
               trail_os_time_ns() + pause);
    return pause ? trail_os_mono_ns() + pause : 0;
}

/* ---- the thread ------------------------------------------------------------------ */

/* Give a batch that is small the time to fill, before it is fixed. */
static void linger(struct trail_courier *courier)
{
    uint64_t until;
    if (!stopping(courier, &until))
        rest(courier, trail_os_mono_ns() + courier->options.linger_ns);
}

/* How long a batch is still to wait, as was stored: by the wall clock, which may have
 * been set since; then a day is the most. */
static uint64_t due_in(const struct trail_journal_batch *batch)
{
    uint64_t now = trail_os_time_ns();
    uint64_t wait = batch->due_ns > now ? batch->due_ns - now : 0;
    return wait < AFTER_MOST ? wait : AFTER_MOST;
}

/* Wait until something is there to be sent. False: the end. */
static bool wait_for_work(struct trail_courier *courier)
{
    uint64_t until;
    if (stopping(courier, &until))
        return false; /* all is sent */
    become(courier, TRAIL_COURIER_IDLE, 0);
    if (trail_journal_wait(courier->journal, &courier->turn,
                           trail_os_mono_ns() + SLEEP_MOST))
        linger(courier);
    return true;
}

static bool pause_until(struct trail_courier *courier, uint64_t until_ns)
{
    uint64_t stop_until;
    while (trail_os_mono_ns() < until_ns) {
        if (stopping(courier, &stop_until))
            return false; /* one that failed is not tried again before the end */
        uint64_t now = trail_os_mono_ns();
        if (rest(courier, until_ns - now > SLEEP_MOST ? now + SLEEP_MOST : until_ns))
            break;
    }
    return true;
}

/* One step: false: the end. */
static bool step(struct trail_courier *courier, bool first)
{
    struct trail_courier_options *options = &courier->options;
    struct trail_journal_batch_limits limits = { options->batch_count,
                                                 options->batch_bytes };
    struct trail_journal_batch *batch;
    if (time_is_up(courier))
        return false;
    enum trail_status status = trail_journal_batch_next(courier->journal, courier->name,
                                                        &limits, &batch, NULL);
    if (status == TRAIL_NOT_FOUND)
        return wait_for_work(courier);
    if (status) {
        become(courier, TRAIL_COURIER_WAITING, trail_os_time_ns() + SECOND);
        return pause_until(courier, trail_os_mono_ns() + SECOND);
    }
    uint64_t wait = first ? due_in(batch) : 0;
    if (wait) {
        trail_journal_batch_free(batch);
        become(courier, TRAIL_COURIER_WAITING, trail_os_time_ns() + wait);
        return pause_until(courier, trail_os_mono_ns() + wait);
    }
    uint64_t until = try_batch(courier, batch);
    return until == 0 || pause_until(courier, until);
}

static void courier_main(void *arg)
{
    struct trail_courier *courier = arg;
    bool first = true;
    uint32_t random;
    trail_os_random(&random, sizeof(random));
    rest(courier, trail_os_mono_ns() + random % courier->options.jitter_ns);
    while (step(courier, first))
        first = false;
    state_close(courier);
    become(courier, TRAIL_COURIER_STOPPED, 0);
}

static void options_fill(struct trail_courier_options *options)
{
    uint32_t limit = options->sink->batch_limit;
    if (options->batch_count == 0)
        options->batch_count = 256;
    if (limit && options->batch_count > limit)
        options->batch_count = limit;
    if (options->batch_bytes == 0)
        options->batch_bytes = (size_t)1 << 20;
    if (options->linger_ns == 0)
        options->linger_ns = SECOND / 10;
    if (options->write_ns == 0)
        options->write_ns = 30 * SECOND;
    if (options->hold_ns == 0)
        options->hold_ns = 300 * SECOND;
    if (options->jitter_ns == 0)
        options->jitter_ns = SECOND;
    if (options->style == 0)
        options->style = TRAIL_STYLE_JSON;
}

static void courier_free(struct trail_courier *courier)
{
    free(courier->records);
    free(courier->verdicts);
    free(courier->bodies);
    trail_os_cond_deinit(&courier->changed);
    trail_os_mutex_deinit(&courier->lock);
    free(courier);
}

enum trail_status trail_courier_start(struct trail_journal *journal,
                                      const struct trail_courier_options *options,
                                      struct trail_courier **courier_ret,
                                      struct trail_error *err)
{
    struct trail_courier *courier = calloc(1, sizeof(*courier));
    if (!courier)
        return trail_fail(err, TRAIL_NO_MEMORY, "sink %s: out of memory",
                          options->name);
    trail_os_mutex_init(&courier->lock);
    trail_os_cond_init(&courier->changed);
    courier->journal = journal;
    courier->options = *options;
    options_fill(&courier->options);
    snprintf(courier->name, sizeof(courier->name), "%s", options->name);
    courier->options.name = courier->name;
    courier->until_ns = UINT64_MAX;
    courier->stat.state = TRAIL_COURIER_IDLE;
    courier->stat.since_ns = trail_os_time_ns();
    enum trail_status status =
        trail_os_thread_start(courier_main, courier, "backtrail-sink", &courier->thread,
                              err);
    if (status)
        courier_free(courier);
    else
        *courier_ret = courier;
    return status;
}

void trail_courier_kick(struct trail_courier *courier)
{
    trail_os_mutex_lock(&courier->lock);
    courier->kicked = true;
    trail_os_cond_wake(&courier->changed);
    trail_os_mutex_unlock(&courier->lock);
}

void trail_courier_stat(struct trail_courier *courier,
                        struct trail_courier_stat *stat_ret)
{
    trail_os_mutex_lock(&courier->lock);
    *stat_ret = courier->stat;
    trail_os_mutex_unlock(&courier->lock);
}

void trail_courier_stop(struct trail_courier *courier, uint64_t until_ns)
{
    trail_os_mutex_lock(&courier->lock);
    courier->stopping = true;
    if (until_ns < courier->until_ns)
        courier->until_ns = until_ns;
    trail_os_cond_wake(&courier->changed);
    trail_os_mutex_unlock(&courier->lock);
    trail_journal_wake(courier->journal);
}

void trail_courier_join(struct trail_courier *courier)
{
    if (!courier)
        return;
    trail_os_thread_join(courier->thread);
    courier_free(courier);
}
