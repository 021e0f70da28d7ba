/* prometheus.c -- the agent's status in the text format of Prometheus. */
#include "agent/daemon/prometheus.h"

#include <stdint.h>
#include <string.h>

static void print_head(const char *name, const char *type, const char *help)
{
    printf("# HELP backtrail_%s %s\n# TYPE backtrail_%s %s\n", name, help, name, type);
}

/* The value of a label: backslash, quote and newline have to be told apart. */
static void print_label(const char *key, const char *value)
{
    printf("%s=\"", key);
    for (; *value; value++)
        if (*value == '\\' || *value == '"')
            printf("\\%c", *value);
        else
            putchar((unsigned char)*value < 0x20 ? ' ' : *value);
    putchar('"');
}

static void print_sample(const char *name, const char *key, const char *label,
                         const char *key2, const char *label2, json_int_t value)
{
    printf("backtrail_%s", name);
    if (key)
        putchar('{');
    if (key)
        print_label(key, label);
    if (key2)
        putchar(',');
    if (key2)
        print_label(key2, label2);
    printf("%s %lld\n", key ? "}" : "", (long long)value);
}

static void print_one(const json_t *object, const char *member, const char *name,
                      const char *type, const char *help)
{
    print_head(name, type, help);
    print_sample(name, NULL, NULL, NULL, NULL,
                 json_integer_value(json_object_get(object, member)));
}

static void print_inputs(const json_t *inputs)
{
    void *json = (void *)(uintptr_t)inputs; /* jansson iterates over non-const */
    print_head("items_total", "counter", "Traces and reports that came, by fate.");
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at)) {
        json_t *source = json_object_iter_value(at);
        for (void *in = json_object_iter(source); in;
             in = json_object_iter_next(source, in))
            if (strcmp(json_object_iter_key(in), "bytes") != 0)
                print_sample("items_total", "source", json_object_iter_key(at), "fate",
                             json_object_iter_key(in),
                             json_integer_value(json_object_iter_value(in)));
    }
}

static void print_dropped(const json_t *dropped)
{
    void *json = (void *)(uintptr_t)dropped;
    print_head("dropped_total", "counter", "Entries dropped undelivered, by reason.");
    for (void *at = json_object_iter(json); at; at = json_object_iter_next(json, at))
        print_sample("dropped_total", "reason", json_object_iter_key(at), NULL, NULL,
                     json_integer_value(json_object_iter_value(at)));
}

static void print_sinks(const json_t *sinks)
{
    static const struct {
        const char *member, *name, *type, *help;
    } rows[] = {
        { "queued", "sink_queued", "gauge", "Entries that wait for the sink." },
        { "queued_bytes", "sink_queued_bytes", "gauge", "Bytes that wait for it." },
        { "dead", "sink_dead", "gauge", "Dead letters of the sink." },
        { "delivered", "sink_delivered_total", "counter", "Entries delivered." },
        { "rejected", "sink_rejected_total", "counter", "Entries it refused." },
        { "dropped", "sink_dropped_total", "counter", "Entries dropped unsent." },
        { "tries", "sink_tries_total", "counter", "Batches sent." },
        { "retries", "sink_retries_total", "counter", "Batches sent again." },
        { "failures", "sink_failures", "gauge", "Failed tries in a row." },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        print_head(rows[i].name, rows[i].type, rows[i].help);
        for (size_t k = 0; k < json_array_size(sinks); k++) {
            const json_t *sink = json_array_get(sinks, k);
            const char *name = json_string_value(json_object_get(sink, "name"));
            print_sample(rows[i].name, "sink", name ? name : "", NULL, NULL,
                         json_integer_value(json_object_get(sink, rows[i].member)));
        }
    }
}

void prometheus_print(const json_t *status)
{
    const json_t *record = json_object_get(status, "record");
    print_one(status, "uptime_s", "uptime_seconds", "gauge", "Since the agent began.");
    print_one(status, "memory", "resident_bytes", "gauge", "Memory of the agent.");
    print_one(status, "inbox_waiting", "inbox_files", "gauge", "Files in the inbox.");
    print_inputs(json_object_get(status, "inputs"));
    print_one(record, "bytes", "record_bytes", "gauge", "Of the record on disk.");
    print_one(record, "entries", "record_entries", "gauge", "In the record.");
    print_one(record, "counted", "counted_total", "counter", "Counted, not kept.");
    print_one(record, "damaged", "damaged_total", "counter", "Lost to damage.");
    print_dropped(json_object_get(record, "dropped"));
    print_one(json_object_get(status, "resolver"), "named", "resolved_total", "counter",
              "Raw traces resolved.");
    print_sinks(json_object_get(status, "sinks"));
}
