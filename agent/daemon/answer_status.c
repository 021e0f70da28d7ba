/* answer_status.c -- how the agent is: for any user, and all of it. */
#define _POSIX_C_SOURCE 200809L

#include "agent/daemon/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/daemon/daemon.h"
#include "core/trace/stamp.h"

#define SECOND_NS ((uint64_t)1000000000u)

static void set_count(json_t *json, const char *key, uint64_t value)
{
    json_int_t most = (json_int_t)INT64_MAX;
    json_object_set_new(json, key,
                        json_integer(value < INT64_MAX ? (json_int_t)value : most));
}

static void set_time(json_t *json, const char *key, uint64_t time_ns)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)time_ns);
    if (time_ns)
        json_object_set_new(json, key, json_string(text));
}

static void set_text(json_t *json, const char *key, const char *text)
{
    json_t *value = json_string(text);
    if (text[0] && value)
        json_object_set_new(json, key, value);
    else
        json_decref(value);
}

/* ---- for any user ------------------------------------------------------- */

static bool take_build_id(void *arg, const struct trail_os_module *module)
{
    char *hex = arg;
    struct trail_text id;
    if (!module->main_program)
        return true;
    if (trail_stamp_build_id(module, &id))
        for (size_t i = 0; i < id.size && i < 32; i++)
            snprintf(hex + 2 * i, 3, "%02x", (unsigned char)id.data[i]);
    return false;
}

static uint64_t taken_in_all(const struct daemon *daemon)
{
    struct intake_counts *counts = intake_counts(daemon->intake);
    uint64_t taken = 0;
    for (size_t i = 0; i < INTAKE_SOURCES; i++)
        taken += atomic_load(&counts->items[i][INTAKE_TAKEN]);
    return taken;
}

static json_t *make_info(struct daemon *daemon)
{
    char build_id[65] = "";
    const struct places places = daemon_places(daemon);
    json_t *json = json_object();
    trail_os_modules(take_build_id, build_id);
    set_text(json, "version", TRAIL_VERSION);
    set_text(json, "build_id", build_id);
    set_count(json, "pid", (uint64_t)trail_os_pid());
    set_count(json, "uid", trail_os_user());
    set_time(json, "started_ns", daemon->started_ns);
    set_count(json, "uptime_s",
              (trail_os_mono_ns() - daemon->started_mono_ns) / SECOND_NS);
    set_count(json, "taken", taken_in_all(daemon));
    set_text(json, "inbox", places.inbox);
    set_text(json, "socket", places.socket);
    return json;
}

enum trail_status answer_info(const struct answering *answering, const json_t *request,
                              struct trail_error *err)
{
    (void)request, (void)err;
    return answer_line(answering, make_info(answering->daemon));
}

/* ---- all of it ---------------------------------------------------------- */

static json_t *inputs_json(struct daemon *daemon)
{
    struct intake_counts *counts = intake_counts(daemon->intake);
    json_t *json = json_object();
    for (size_t i = 0; i < INTAKE_SOURCES; i++) {
        json_t *source = json_object();
        for (size_t k = 0; k < INTAKE_FATES; k++)
            set_count(source, intake_fate_names[k], atomic_load(&counts->items[i][k]));
        set_count(source, "bytes", atomic_load(&counts->bytes[i]));
        json_object_set_new(json, intake_source_names[i], source);
    }
    return json;
}

static json_t *record_json(const struct daemon *daemon)
{
    struct trail_journal_stat stat;
    json_t *json = json_object(), *dropped = json_object();
    trail_journal_stat(daemon->journal, &stat);
    set_count(json, "files", stat.files);
    set_count(json, "bytes", stat.bytes);
    set_count(json, "entries", stat.entries);
    set_count(json, "crashes", stat.crashes);
    set_count(json, "events", stat.events);
    set_time(json, "first_ns", stat.first_ns);
    set_time(json, "last_ns", stat.last_ns);
    set_count(json, "appended", stat.appended);
    set_count(json, "repeats", stat.repeats);
    set_count(json, "counted", stat.counted);
    set_count(json, "expired", stat.expired);
    set_count(json, "damaged", stat.damaged);
    set_count(json, "damaged_files", stat.damaged_files);
    set_count(dropped, "bytes", stat.dropped_bytes);
    set_count(dropped, "count", stat.dropped_count);
    set_count(dropped, "age", stat.dropped_age);
    set_count(dropped, "full", stat.dropped_full);
    set_count(dropped, "hand", stat.dropped_hand);
    json_object_set_new(json, "dropped", dropped);
    json_object_set_new(json, "full", json_boolean(stat.full));
    return json;
}

static json_t *queue_json(const struct trail_journal_sink_stat *stat)
{
    json_t *json = json_object();
    set_text(json, "name", stat->name);
    set_count(json, "queued", stat->queued);
    set_count(json, "queued_bytes", stat->queued_bytes);
    set_time(json, "oldest_ns", stat->oldest_ns);
    set_count(json, "dead", stat->dead);
    set_count(json, "delivered", stat->delivered);
    set_count(json, "rejected", stat->rejected);
    set_count(json, "dropped", stat->dropped);
    set_count(json, "silenced", stat->silenced);
    set_count(json, "tries", stat->tries);
    set_count(json, "retries", stat->retries);
    return json;
}

static void add_courier(json_t *json, struct generation_sink *sink)
{
    struct trail_courier_stat stat;
    set_text(json, "use", sink->entry->use);
    if (!generation_stat(sink, &stat))
        return;
    set_text(json, "state", trail_courier_state_name(stat.state));
    set_time(json, "since_ns", stat.since_ns);
    set_time(json, "next_ns", stat.next_ns);
    set_time(json, "last_ok_ns", stat.last_ok_ns);
    set_count(json, "failures", stat.failures);
    set_count(json, "code", stat.code);
    set_text(json, "error", stat.error);
}

static json_t *sinks_json(const struct daemon *daemon, struct generation *now,
                          json_t *resolver)
{
    struct trail_journal_sink_stat stat;
    json_t *sinks = json_array();
    for (size_t i = 0; trail_journal_sink_stat(daemon->journal, i, &stat); i++) {
        if (strcmp(stat.name, NAMING_SINK) == 0) {
            set_count(resolver, "waiting", stat.queued);
            continue;
        }
        json_t *json = queue_json(&stat);
        struct generation_sink *sink = generation_sink_named(now, stat.name);
        if (sink)
            add_courier(json, sink);
        json_array_append_new(sinks, json);
    }
    return sinks;
}

static json_t *plugins_json(struct generation *now)
{
    struct trail_registry *registry = trail_pipeline_registry(now->pipeline);
    json_t *plugins = json_array();
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        json_t *json = json_object();
        set_text(json, "kind", trail_kind_name(plugin->kind));
        set_text(json, "name", plugin->name);
        set_text(json, "release", plugin->release);
        set_text(json, "state", trail_plugin_state_name(plugin->state));
        json_array_append_new(plugins, json);
    }
    return plugins;
}

static json_t *reload_json(struct daemon *daemon)
{
    json_t *json = json_object();
    trail_os_mutex_lock(&daemon->lock);
    set_count(json, "done", daemon->reloads);
    set_count(json, "failed", daemon->reloads_failed);
    set_time(json, "last_ns", daemon->reloaded_ns);
    set_text(json, "error", daemon->reload_status ? daemon->reload_error.text : "");
    trail_os_mutex_unlock(&daemon->lock);
    return json;
}

/* Bytes of memory that this process has now; 0: not known. */
static uint64_t resident_size(void)
{
    unsigned long long all = 0, resident = 0;
    char text[128] = "", *end = text;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fgets(text, sizeof(text), file)) {
        all = strtoull(text, &end, 10);
        resident = strtoull(end, NULL, 10);
    }
    if (file)
        fclose(file);
    return resident <= all ? resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

enum trail_status answer_status(const struct answering *answering,
                                const json_t *request, struct trail_error *err)
{
    (void)request, (void)err;
    struct daemon *daemon = answering->daemon;
    struct generation *now = daemon_hold(daemon);
    struct intake_counts *counts = intake_counts(daemon->intake);
    json_t *json = make_info(daemon), *resolver = json_object();
    const struct places places = daemon_places(daemon);
    set_text(json, "state", places.state);
    set_text(json, "config", now->config->file);
    set_count(json, "memory", resident_size());
    json_object_set_new(json, "rate", json_real(daemon_rate(daemon)));
    set_count(json, "inbox_waiting", atomic_load(&counts->inbox_waiting));
    json_object_set_new(json, "inputs", inputs_json(daemon));
    set_count(json, "http_unauthorized", atomic_load(&counts->unauthorized));
    set_count(json, "http_too_large", atomic_load(&counts->large));
    set_count(json, "http_too_often", atomic_load(&counts->often));
    json_object_set_new(json, "record", record_json(daemon));
    set_count(resolver, "named", atomic_load(&daemon->named.named));
    set_count(resolver, "failed", atomic_load(&daemon->named.failed));
    json_object_set_new(json, "sinks", sinks_json(daemon, now, resolver));
    json_object_set_new(json, "resolver", resolver);
    json_object_set_new(json, "plugins", plugins_json(now));
    json_object_set_new(json, "reload", reload_json(daemon));
    daemon_let_go(daemon, now);
    return answer_line(answering, json);
}
