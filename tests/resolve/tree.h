/* tree.h -- a folder of symbol files that a test has to itself. */
#ifndef TRAIL_TEST_TREE_H
#define TRAIL_TEST_TREE_H

#include "core/resolve/routes.h"
#include "test.h"

#define TREE_LINKED    "debuglink/x64-debuglink" /* stripped, names its debug file */
#define TREE_LINKED_BY "debuglink/.debug/x64-debuglink.debug"

struct tree {
    char root[64];
    uint8_t id[32];        /* of the linked file */
    struct trail_text key; /* the same, lent */
    uint32_t crc;          /* that it gives for its debug file */
    char path[128];        /* of its copy, app/prog */
    struct trail_search search;
    struct trail_symbol_file *file;
};

/* For cmocka: a tree with one file, app/prog. */
int tree_make(void **state);
int tree_remove(void **state);

/* Copy a fixture to `to` below the root, making directories. Gives its path. */
const char *tree_put(struct tree *tree, const char *fixture, const char *to);
/* The same with every `from` of it made `into`, which is as long. */
const char *tree_put_changed(struct tree *tree, const char *fixture, const char *to,
                             const char *from, const char *into);
/* Path of a file below the root, whether it is there or not. */
const char *tree_path(const struct tree *tree, const char *below);
/* What `tree->file` is, told from the root, or ""; it is closed. */
const char *tree_found(struct tree *tree);

#endif
