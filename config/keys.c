/* keys.c -- the table of the host's own keys. */
#include "config/keys.h"

#include "config/config.h"

#define OF(member)       offsetof(struct trail_config, member)
#define OF_ENTRY(member) offsetof(struct trail_config_entry, member)

const struct trail_config_key trail_config_keys[] = {
    { "app.name", "text", "", "the program that reports come from", TRAIL_OPTION_TEXT,
      false, OF(app_name) },
    { "app.version", "text", "", "its version", TRAIL_OPTION_TEXT, false,
      OF(app_version) },
    { "state", "path", NULL,
      "directory for what is kept between runs; the platform's if not given",
      TRAIL_OPTION_PATH, false, OF(state) },
    { "plugins.path", "list of paths", "[]",
      "directories with plugins, the first of a name wins; empty: where plugins are "
      "installed",
      TRAIL_OPTION_PATH, true, OF(plugin_paths) },
    { "symbolizers", "list of entries", NULL,
      "plugins that read symbols, in order of preference; [] is none, not given is "
      "every "
      "one that is found, by name",
      0, true, OF(symbolizers) },
    { "symbolizers[].use", "text", NULL,
      "needed: the plugin's name, as `backtrail plugins` lists it", TRAIL_OPTION_TEXT,
      false, OF_ENTRY(use) },
    { "symbolizers[].name", "text", NULL,
      "what the entry is called, unlike all others of its list; `use`, or use#2 and so "
      "on, if not given",
      TRAIL_OPTION_TEXT, false, OF_ENTRY(name) },
    { "symbolizers[].enabled", "true|false", "true",
      "false: as if the entry were not there", TRAIL_OPTION_BOOL, false,
      OF_ENTRY(enabled) },
    { "symbols.directories", "list of paths", "[]",
      "where symbol files are looked for first", TRAIL_OPTION_PATH, true,
      OF(symbol_directories) },
    { "symbols.store", "path", NULL,
      "store of symbol files, by id; ~/.cache/backtrail, or below XDG_CACHE_HOME, if "
      "not "
      "given",
      TRAIL_OPTION_PATH, false, OF(store) },
    { "symbols.debuginfod.urls", "list of URLs", "[]",
      "servers asked last, https:// or http://; none is asked that is not here, "
      "whatever "
      "DEBUGINFOD_URLS says",
      TRAIL_OPTION_URL, true, OF(debuginfod_urls) },
    { "symbols.debuginfod.timeout", "duration", "5s",
      "that a lookup waits for an answer; what comes later serves the next one",
      TRAIL_OPTION_DURATION, false, OF(debuginfod_timeout_ns) },
    { "symbols.cache.bytes", "size", "2GiB",
      "of symbol files kept open, those used longest ago are closed first; 0: no limit",
      TRAIL_OPTION_SIZE, false, OF(cache_bytes) },
    { "symbols.cache.files", "count", "256",
      "symbol files kept open at most; 0: no limit", TRAIL_OPTION_COUNT, false,
      OF(cache_files) },
    { "sinks", "list of entries", "[{ \"use\": \"stderr\" }]",
      "where reports go; [] is nowhere", 0, true, OF(sinks) },
    { "sinks[].use", "text", NULL,
      "needed: the plugin's name, as `backtrail plugins` lists it", TRAIL_OPTION_TEXT,
      false, OF_ENTRY(use) },
    { "sinks[].name", "text", NULL,
      "what the entry is called, unlike all others of its list; `use`, or use#2 and so "
      "on, if not given",
      TRAIL_OPTION_TEXT, false, OF_ENTRY(name) },
    { "sinks[].enabled", "true|false", "true", "false: as if the entry were not there",
      TRAIL_OPTION_BOOL, false, OF_ENTRY(enabled) },
    { "sinks[].channels", "list of text", NULL,
      "which reports it gets: crash, panic, ...; all if not given", TRAIL_OPTION_TEXT,
      true, OF_ENTRY(channels) },
    { "sinks[].style", "text", NULL,
      "json, text, or tracy for text with Tracy's numbering; the plugin's if not given",
      TRAIL_OPTION_TEXT, false, OF_ENTRY(style) },
    { "sinks[].full", "true|false", "false", "text shows hidden frames too",
      TRAIL_OPTION_BOOL, false, OF_ENTRY(full) },
    { "in_app.include", "list of text", "[]",
      "globs of the modules that are the program's own", TRAIL_OPTION_TEXT, true,
      OF(in_app_include) },
    { "in_app.exclude", "list of text", "[]",
      "globs of modules that are not, whatever include says", TRAIL_OPTION_TEXT, true,
      OF(in_app_exclude) },
    { "redact.names", "list of text", "[]",
      "globs of attributes whose values are masked, besides the usual ones, such as "
      "*password* and *token*",
      TRAIL_OPTION_TEXT, true, OF(redact_names) },
    { "redact.patterns", "list of text", "[]",
      "extended regular expressions: what matches is masked in every text",
      TRAIL_OPTION_TEXT, true, OF(redact_patterns) },
    { "redact.paths", "list of text", "[]",
      "FROM=TO: paths that begin with FROM are sent beginning with TO",
      TRAIL_OPTION_TEXT, true, OF(redact_paths) },
    { "redact.keep", "list of text", "[]",
      "arguments, environment: sent if a trace has them; otherwise they are taken out",
      TRAIL_OPTION_TEXT, true, OF(redact_keep) },
    { "agent.inbox", "path", NULL,
      "directory that raw traces are dropped into; inbox in the state directory if not "
      "given",
      TRAIL_OPTION_PATH, false, OF(agent.inbox) },
    { "agent.socket", "path", NULL,
      "Unix socket that takes raw traces and reports, a line each; agent.sock in the "
      "state directory if not given",
      TRAIL_OPTION_PATH, false, OF(agent.socket) },
    { "agent.stdin", "true|false", "false", "take lines from standard input, too",
      TRAIL_OPTION_BOOL, false, OF(agent.stdin_) },
    { "agent.resolve", "true|false", "true",
      "false: pass raw traces on as they are, to an agent that has the symbols",
      TRAIL_OPTION_BOOL, false, OF(agent.resolve) },
    { "agent.drain", "duration", "10s",
      "that is spent on delivery once the agent is told to stop", TRAIL_OPTION_DURATION,
      false, OF(agent.drain_ns) },
    { "agent.http.listen", "text", NULL,
      "ADDRESS:PORT where traces, reports and symbol files are taken by HTTP; nowhere "
      "if not given",
      TRAIL_OPTION_TEXT, false, OF(agent.http_listen) },
    { "agent.http.tokens", "path", NULL,
      "file of bearer tokens, a line each, of which a request has to bear one; needed "
      "where other machines can connect",
      TRAIL_OPTION_PATH, false, OF(agent.http_tokens) },
    { "agent.http.body", "size", "64MiB",
      "most bytes of one request, counted unpacked; of symbol files, 16 times as much",
      TRAIL_OPTION_SIZE, false, OF(agent.http_body_size) },
    { "agent.http.rate", "count", "1000",
      "requests a second that one token or address may make; 0: no limit",
      TRAIL_OPTION_COUNT, false, OF(agent.http_rate) },
    { "agent.http.symbols", "true|false", "false",
      "take symbol files into the store; whoever has a token may then send them",
      TRAIL_OPTION_BOOL, false, OF(agent.http_symbols) },
    { "agent.record.bytes", "size", "1GiB", "that the record may have on disk",
      TRAIL_OPTION_SIZE, false, OF(agent.record_size) },
    { "agent.record.count", "count", "0",
      "entries that the record may have; 0: no limit", TRAIL_OPTION_COUNT, false,
      OF(agent.record_count) },
    { "agent.record.age", "duration", "720h", "that an entry is kept at most",
      TRAIL_OPTION_DURATION, false, OF(agent.record_age_ns) },
    { "agent.kinds.full", "count", "0",
      "reports of one kind that are kept in full, the others are counted; 0: all are "
      "kept",
      TRAIL_OPTION_COUNT, false, OF(agent.kinds_full) },
    { "agent.quota.rate", "count", "10000",
      "traces and reports a second of one app, the others are counted; 0: no limit",
      TRAIL_OPTION_COUNT, false, OF(agent.quota_rate) },
    { "include", "list of paths", "[]",
      "files that this one builds on, in order; the last part of a path may have * and "
      "?",
      TRAIL_OPTION_PATH, true, 0 },
    { .path = NULL },
};

const struct trail_config_key *trail_config_key_find(const char *path)
{
    const struct trail_config_key *key = trail_config_keys;
    while (key->path && strcmp(key->path, path) != 0)
        key++;
    return key->path ? key : NULL;
}

/* The step of `path` below the object `above`; NULL if it is not in there. An element
 * of a list is no step. */
static const char *step_below(const char *path, const char *above)
{
    size_t size = strlen(above);
    if (!size)
        return path;
    if (strncmp(path, above, size) != 0 || path[size] != '.')
        return NULL;
    return path + size + 1;
}

static bool is_named(const struct trail_config_names *names, size_t count,
                     const char *step, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(names->at[i], step, size) == 0 && names->at[i][size] == 0)
            return true;
    return false;
}

void trail_config_names_below(const char *path, struct trail_config_names *names_ret)
{
    size_t count = 0, used = 0;
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++) {
        const char *step = step_below(key->path, path);
        if (!step)
            continue;
        size_t size = strcspn(step, ".[");
        if (is_named(names_ret, count, step, size) ||
            count + 1 == TRAIL_CONFIG_NAMES_LIMIT ||
            used + size + 1 > sizeof(names_ret->text))
            continue;
        names_ret->at[count++] = names_ret->text + used;
        memcpy(names_ret->text + used, step, size);
        names_ret->text[used + size] = 0;
        used += size + 1;
    }
    names_ret->at[count] = NULL;
}
