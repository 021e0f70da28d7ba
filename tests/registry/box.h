/* box.h -- a directory of its own for each registry test, with plugins put into it. */
#ifndef TRAIL_TEST_BOX_H
#define TRAIL_TEST_BOX_H

#include "test.h"
#include "core/registry/registry.h"

struct box {
    char root[64];    /* removed with all that is in it by box_close */
    char plugins[80]; /* <root>/plugins, mode 0755 */
    char state[80];   /* <root>/state, not made yet */
    char marker[80];  /* written by every fixture whose code runs */
};

void box_open(struct box *box);
void box_close(struct box *box);

/* The whole file; the caller frees it. */
uint8_t *box_read(const char *path, size_t *size_ret);
uint8_t *box_read_fixture(const char *name, size_t *size_ret);
/* Write <plugins>/name, mode 0644. */
void box_write(const struct box *box, const char *name, const void *bytes, size_t size);
/* Copy a built fixture to <plugins>/name, mode 0644. */
void box_copy(const struct box *box, const char *fixture, const char *name);
/* "<plugins>/name", good until the next call. */
const char *box_path(const struct box *box, const char *name);
/* A registry over <plugins> and <state>, without built-in plugins. */
struct trail_registry *box_registry(const struct box *box);

/* The plugin listed with this file name, or NULL. */
const struct trail_plugin *box_find(const struct trail_registry *registry,
                                    const char *file_name);
/* Fails unless `file_name` is listed as refused, with its path and `reason` in the
 * reason, and cannot be loaded. */
void box_assert_refused(struct trail_registry *registry, const char *file_name,
                        const char *reason);
/* Fails unless symbolizer `name` loads; gives the line that its code answers. */
uint32_t box_load(struct trail_registry *registry, const char *name);
uint32_t box_answer(const struct trail_plugin *plugin);
/* Whether any fixture's code has run since box_open. */
bool box_marked(const struct box *box);

#endif
