/* daemon.c -- the agent as a whole. */
#define _GNU_SOURCE

#include "agent/daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/daemon/control.h"
#include "agent/daemon/notify.h"
#include "agent/daemon/say.h"
#include "agent/options.h"

#define TICK_MS    1000
#define SECOND_NS  ((uint64_t)1000000000u)
#define APP_BURSTS 2u /* seconds' worth of its rate that an app may bring at once */

/* ---- signals ------------------------------------------------------------ */

/* A handler can reach nothing else. */
static volatile sig_atomic_t ends, reloads;
static struct local_wake signalled = { .read_fd = -1, .write_fd = -1 };

static void note(int number)
{
    if (number == SIGHUP)
        reloads = 1;
    else if (ends++)
        _exit(
            EXIT_FAILED); /* the second one: what is durable is, the rest comes again */
    local_wake_send(&signalled);
}

static void watch_signals(const struct local_wake *wake)
{
    static const int watched[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_handler = note, .sa_flags = SA_RESTART };
    signalled = *wake;
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaction(watched[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
        sigaddset(&action.sa_mask, watched[i]);
    sigprocmask(SIG_UNBLOCK, &action.sa_mask, NULL);
}

/* ---- generations -------------------------------------------------------- */

struct generation *daemon_hold(struct daemon *daemon)
{
    trail_os_mutex_lock(&daemon->lock);
    struct generation *generation = daemon->now;
    generation->users++;
    trail_os_mutex_unlock(&daemon->lock);
    return generation;
}

void daemon_let_go(struct daemon *daemon, struct generation *generation)
{
    trail_os_mutex_lock(&daemon->lock);
    generation->users--;
    trail_os_cond_wake(&daemon->changed);
    trail_os_mutex_unlock(&daemon->lock);
}

static struct trail_pipeline *hold_pipeline(void *arg, void **token_ret)
{
    struct generation *generation = daemon_hold(arg);
    *token_ret = generation;
    return generation->pipeline;
}

static void let_go_pipeline(void *arg, void *token)
{
    daemon_let_go(arg, token);
}

/* Nobody holds it any more once this returns. */
static void wait_unused(struct daemon *daemon, struct generation *generation)
{
    trail_os_mutex_lock(&daemon->lock);
    while (generation->users)
        trail_os_cond_wait(&daemon->changed, &daemon->lock, UINT64_MAX);
    trail_os_mutex_unlock(&daemon->lock);
}

/* ---- the record --------------------------------------------------------- */

static struct trail_journal_limits limits_of(const struct trail_config_agent *agent)
{
    uint64_t rate = agent->quota_rate < UINT32_MAX / APP_BURSTS
                        ? agent->quota_rate
                        : UINT32_MAX / APP_BURSTS;
    return (struct trail_journal_limits){
        .bytes = agent->record_size,
        .count = agent->record_count,
        .age_ns = agent->record_age_ns,
        .kind_full =
            agent->kinds_full < UINT32_MAX ? (uint32_t)agent->kinds_full : UINT32_MAX,
        .app_rate = (uint32_t)rate,
        .app_burst = (uint32_t)rate * APP_BURSTS,
    };
}

static void tell_record(void *arg, const char *line)
{
    (void)arg;
    say(SAY_WARNING, "record: %s", line);
}

/* ---- start -------------------------------------------------------------- */

static struct inputs_options input_options(struct daemon *daemon,
                                           const struct places *places,
                                           struct generation *generation)
{
    return (struct inputs_options){
        .places = places,
        .config = generation->config,
        .store = trail_pipeline_routes(generation->pipeline).store,
        .intake = daemon->intake,
    };
}

static enum trail_status open_record(struct daemon *daemon, struct trail_error *err)
{
    const struct trail_config_agent *agent = &daemon->now->config->agent;
    const struct trail_journal_limits limits = limits_of(agent);
    enum trail_status status =
        trail_journal_open(daemon->places.record, &limits, tell_record, NULL,
                           &daemon->journal, err);
    const struct intake_options intake = { .journal = daemon->journal,
                                           .rejected = daemon->places.rejected,
                                           .by_kind = agent->kinds_full > 0 };
    return status ? status : intake_create(&intake, &daemon->intake, err);
}

static enum trail_status start_naming(struct daemon *daemon, struct trail_error *err)
{
    const struct naming_options naming = { .journal = daemon->journal,
                                           .resolving = daemon->places.resolving,
                                           .hold = hold_pipeline,
                                           .let_go = let_go_pipeline,
                                           .arg = daemon,
                                           .counts = &daemon->named };
    if (daemon->naming || !daemon->now->config->agent.resolve)
        return TRAIL_OK;
    return naming_start(&naming, &daemon->naming, err);
}

static enum trail_status start(struct daemon *daemon, struct trail_error *err)
{
    enum trail_status status =
        generation_load(daemon->config_path, daemon->plugin_path, &daemon->now, err);
    if (!status)
        status = places_of(daemon->now->config, &daemon->places, err);
    if (!status)
        status = places_prepare(&daemon->places, err);
    if (!status)
        status = places_lock(&daemon->places, &daemon->lock_fd, err);
    if (!status)
        status = open_record(daemon, err);
    if (!status)
        status = generation_start(daemon->now, daemon->journal, err);
    if (!status)
        status = start_naming(daemon, err);
    if (!status)
        status = control_start(daemon, &daemon->control, err);
    if (status)
        return status;
    const struct inputs_options inputs =
        input_options(daemon, &daemon->places, daemon->now);
    return inputs_start(&inputs, NULL, &daemon->inputs, err);
}

/* ---- reload ------------------------------------------------------------- */

/* Put `next` in the place of what is. On failure nothing has changed. */
static enum trail_status replace(struct daemon *daemon, struct generation *next,
                                 struct trail_error *err)
{
    struct places places = { .state = "" };
    enum trail_status status = places_of(next->config, &places, err);
    if (!status && strcmp(places.state, daemon->places.state) != 0)
        status = trail_fail(err, TRAIL_REFUSED,
                            "state: %s cannot become %s while the agent runs; restart "
                            "it",
                            daemon->places.state, places.state);
    if (!status)
        status = places_prepare(&places, err);
    const struct inputs_options options = input_options(daemon, &places, next);
    if (!status)
        status = inputs_start(&options, daemon->inputs, &daemon->inputs, err);
    if (status)
        return status;
    const struct trail_config_agent *agent = &next->config->agent;
    const struct trail_journal_limits limits = limits_of(agent);
    trail_os_mutex_lock(&daemon->lock);
    daemon->places = places;
    trail_os_mutex_unlock(&daemon->lock);
    trail_journal_limit(daemon->journal, &limits);
    intake_set_by_kind(daemon->intake, agent->kinds_full > 0);
    return TRAIL_OK;
}

/* The old couriers end before the new ones begin: a sink has one at a time. */
static enum trail_status reload(struct daemon *daemon, struct trail_error *err)
{
    struct generation *next = NULL, *old = daemon->now;
    enum trail_status status =
        generation_load(daemon->config_path, daemon->plugin_path, &next, err);
    if (!status)
        status = replace(daemon, next, err);
    if (status) {
        generation_destroy(next);
        return status;
    }
    generation_stop(old, 0);
    trail_os_mutex_lock(&daemon->lock);
    daemon->now = next;
    trail_os_mutex_unlock(&daemon->lock);
    wait_unused(daemon, old);
    generation_destroy(old);
    status = generation_start(next, daemon->journal, err);
    if (!status && next->config->agent.resolve) {
        status = start_naming(daemon, err);
    } else if (!status) {
        naming_stop(daemon->naming, 0);
        daemon->naming = NULL;
    }
    return status;
}

static void reload_if_asked(struct daemon *daemon)
{
    struct trail_error err = { "" };
    trail_os_mutex_lock(&daemon->lock);
    if (reloads)
        daemon->reload_asked++;
    reloads = 0;
    uint64_t asked = daemon->reload_asked;
    bool any = asked != daemon->reload_done;
    trail_os_mutex_unlock(&daemon->lock);
    if (!any)
        return;
    notify_send("RELOADING=1\nMONOTONIC_USEC=%llu",
                (unsigned long long)(trail_os_mono_ns() / 1000));
    enum trail_status status = reload(daemon, &err);
    if (status)
        say(SAY_ERROR, "reload: %s; all stays as it was", err.text);
    else
        say(SAY_NOTICE, "reload: done");
    trail_os_mutex_lock(&daemon->lock);
    daemon->reload_done = asked;
    daemon->reload_status = status;
    daemon->reload_error = err;
    daemon->reloads += !status;
    daemon->reloads_failed += status != TRAIL_OK;
    daemon->reloaded_ns = trail_os_time_ns();
    trail_os_cond_wake(&daemon->changed);
    trail_os_mutex_unlock(&daemon->lock);
    notify_send("READY=1");
}

enum trail_status daemon_reload(struct daemon *daemon, struct trail_error *err)
{
    trail_os_mutex_lock(&daemon->lock);
    uint64_t ticket = ++daemon->reload_asked;
    local_wake_send(&daemon->wake);
    while (daemon->reload_done < ticket && !ends)
        trail_os_cond_wait(&daemon->changed, &daemon->lock,
                           trail_os_mono_ns() + SECOND_NS);
    enum trail_status status =
        daemon->reload_done < ticket
            ? trail_fail(err, TRAIL_RETRY, "the agent is about to end")
            : daemon->reload_status;
    if (status && daemon->reload_done >= ticket && err)
        *err = daemon->reload_error;
    trail_os_mutex_unlock(&daemon->lock);
    return status;
}

struct places daemon_places(struct daemon *daemon)
{
    trail_os_mutex_lock(&daemon->lock);
    struct places places = daemon->places;
    trail_os_mutex_unlock(&daemon->lock);
    return places;
}

/* ---- rates -------------------------------------------------------------- */

static void note_rate(struct daemon *daemon)
{
    struct intake_counts *counts = intake_counts(daemon->intake);
    uint64_t taken = 0;
    for (size_t i = 0; i < INTAKE_SOURCES; i++)
        taken += atomic_load(&counts->items[i][INTAKE_TAKEN]);
    trail_os_mutex_lock(&daemon->lock);
    daemon->taken[daemon->taken_count++ % (DAEMON_RATE_SECONDS + 1)] = taken;
    trail_os_mutex_unlock(&daemon->lock);
}

double daemon_rate(struct daemon *daemon)
{
    double rate = 0;
    trail_os_mutex_lock(&daemon->lock);
    size_t count = daemon->taken_count, ring = DAEMON_RATE_SECONDS + 1;
    size_t seconds = count < ring ? count : ring;
    if (seconds > 1)
        rate = (double)(daemon->taken[(count - 1) % ring] -
                        daemon->taken[(count - seconds) % ring]) /
               (double)(seconds - 1);
    trail_os_mutex_unlock(&daemon->lock);
    return rate;
}

/* ---- run and end -------------------------------------------------------- */

static void run(struct daemon *daemon)
{
    uint64_t ticked = 0;
    while (!ends) {
        struct pollfd on = { .fd = daemon->wake.read_fd, .events = POLLIN };
        poll(&on, 1, TICK_MS);
        local_wake_clear(&daemon->wake);
        if (ends)
            break;
        reload_if_asked(daemon);
        if (trail_os_mono_ns() - ticked < SECOND_NS / 2)
            continue;
        ticked = trail_os_mono_ns();
        trail_journal_tick(daemon->journal);
        note_rate(daemon);
        if (trail_os_environment("WATCHDOG_USEC"))
            notify_send("WATCHDOG=1");
    }
}

/* In the order in which data flows, each part having the time that is left. */
static void drain(struct daemon *daemon)
{
    uint64_t time = daemon->now ? daemon->now->config->agent.drain_ns : 0;
    uint64_t until = trail_os_mono_ns() + time;
    inputs_stop(daemon->inputs);
    naming_stop(daemon->naming, until);
    if (daemon->journal)
        trail_journal_tell_totals(daemon->journal);
    if (daemon->now && daemon->journal)
        generation_stop(daemon->now, until);
    control_stop(daemon->control);
    intake_destroy(daemon->intake);
    trail_journal_close(daemon->journal);
    generation_destroy(daemon->now);
    local_wake_close(&daemon->wake);
    if (daemon->lock_fd >= 0)
        close(daemon->lock_fd);
}

int daemon_run(const char *config_path, const char *plugin_path)
{
    struct daemon daemon = { .config_path = config_path,
                             .plugin_path = plugin_path,
                             .lock_fd = -1,
                             .wake = { .read_fd = -1, .write_fd = -1 },
                             .started_ns = trail_os_time_ns(),
                             .started_mono_ns = trail_os_mono_ns() };
    struct trail_error err = { "" };
    trail_os_mutex_init(&daemon.lock);
    trail_os_cond_init(&daemon.changed);
    enum trail_status status = local_wake_open(&daemon.wake, &err);
    if (!status) {
        watch_signals(&daemon.wake);
        status = start(&daemon, &err);
    }
    if (status) {
        drain(&daemon);
        return failure("%s", err.text);
    }
    say(SAY_NOTICE, "agent: ready; state in %s", daemon.places.state);
    notify_send("READY=1\nSTATUS=inbox %.400s", daemon.places.inbox);
    run(&daemon);
    notify_send("STOPPING=1");
    say(SAY_NOTICE, "agent: ends; delivers what waits for %llu s at most",
        (unsigned long long)(daemon.now->config->agent.drain_ns / SECOND_NS));
    drain(&daemon);
    return EXIT_DONE;
}
