/* symbols.h -- what the parts of the verb `symbols` share. */
#ifndef TRAIL_AGENT_SYMBOLS_H
#define TRAIL_AGENT_SYMBOLS_H

#include "agent/options.h"
#include "core/pipeline.h"
#include "core/resolve/store.h"

enum symbols_key {
    KEY_STORE = 1,
    KEY_OUT,
    KEY_THREADS,
    KEY_FORCE,
    KEY_PLUGIN,
    KEY_PID,
    KEY_EXE,
    KEY_ID,
    KEY_REPORT,
    KEY_DEBUG,
    KEY_MAX_SIZE,
    KEY_DRY_RUN,
    KEY_JSON,
    KEY_URL,
    KEY_TOKEN_FILE,
};

/* Something whose modules `export` is asked for: an option and its argument. */
struct symbols_subject {
    enum symbols_key key; /* KEY_PID, KEY_EXE, KEY_ID or KEY_REPORT */
    const char *text;
};

struct symbols_options {
    struct shared_options shared;
    uint32_t given; /* a bit for each enum symbols_key */
    const char *store, *out, *threads, *plugin, *max_size, *url, *token_file;
    struct symbols_subject subjects[LIST_LIMIT];
    size_t subject_count;
    bool force, debug, dry_run, json;
};

#define SYMBOLS_PATH_SIZE 4096

/* One run of the verb. */
struct symbols_session {
    const struct symbols_options *options;
    struct trail_pipeline *pipeline; /* no plugin is loaded yet */
    const char *store;               /* its folder */
};

/* The commands. `arguments` are what follows the command; each returns an enum
 * exit_code. */
int symbols_index(struct symbols_session *session, char **arguments, int count);
int symbols_add(struct symbols_session *session, char **arguments, int count);
int symbols_push(struct symbols_session *session, char **arguments, int count);
int symbols_export(struct symbols_session *session, char **arguments, int count);
int symbols_verify(struct symbols_session *session, char **arguments, int count);
int symbols_info(struct symbols_session *session, char **arguments, int count);
int symbols_ls(struct symbols_session *session, char **arguments, int count);
int symbols_gc(struct symbols_session *session, char **arguments, int count);

/* "1.5 MiB", "812 B". */
#define SYMBOLS_SIZE_TEXT 24
void symbols_size_print(uint64_t bytes, char text_ret[SYMBOLS_SIZE_TEXT]);

#endif
