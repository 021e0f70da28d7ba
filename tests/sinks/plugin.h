/* plugin.h -- load a built sink from its file, and make by hand what its slots take. */
#ifndef TEST_SINKS_PLUGIN_H
#define TEST_SINKS_PLUGIN_H

#include "test.h"
#include "backtrail/sink.h"

#define OPTION_LIMIT 16
#define FOLDER_SIZE  64

/* TEST_PLUGIN_DIR/NAME.so, its exported struct. Fails the test if there is none. */
const struct trail_sink *plugin_load(const char *name);

/* Options as the loader would hand them over. Texts are lent. */
struct option_set {
    struct trail_option at[OPTION_LIMIT];
    struct trail_options view;
};
void option_text(struct option_set *set, const char *key, const char *text);
void option_number(struct option_set *set, const char *key, uint64_t number);
void option_member(struct option_set *set, const char *key, const char *name,
                   const char *text);

/* A state; fails the test with the plugin's words if there is none. */
void *state_of(const struct trail_sink *sink, struct option_set *set);
/* The words of a create() that must answer `status`; lent until the next call. */
const char *create_error(const struct trail_sink *sink, struct option_set *set,
                         enum trail_status status);

struct trail_record record_of(uint32_t style, const char *body);
struct trail_sink_call call_of(const char *key);

/* Write one record with a call of its own. */
enum trail_status write_one(const struct trail_sink *sink, void *state, uint32_t style,
                            const char *body, struct trail_error *err);

/* An empty folder of the test's own, and its removal with all files in it. */
void folder_make(char folder_ret[FOLDER_SIZE]);
void folder_remove(const char *folder);

/* A whole file, terminated; the caller frees it. NULL if there is none. */
char *file_text(const char *path);

#endif
