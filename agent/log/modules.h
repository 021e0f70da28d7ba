/* modules.h -- the modules that a log names, and the addresses they were mapped at.
 *
 * Files are found, and addresses named, by a backend: the resolver in the program,
 * something simple in tests.
 */
#ifndef TRAIL_AGENT_LOG_MODULES_H
#define TRAIL_AGENT_LOG_MODULES_H

#include "agent/log/cursor.h"
#include "core/resolve/resolver.h"

#define LOG_MODULE_LIMIT 1024         /* modules of one log */
#define LOG_RANGE_LIMIT  16384        /* mapped ranges known at one time */
#define LOG_PATH_LIMIT   4096         /* bytes of a module's name */
#define LOG_DELETED      " (deleted)" /* behind a path: it was, while it ran */

/* One module under the name, and with the id, that the log gave it. */
struct log_module {
    char *name;
    size_t name_size;
    uint8_t id[64];
    uint8_t id_size; /* bytes; 0: the log tells none */
    bool kernel;     /* named without the ending of its file */
    /* What the backend found: */
    bool sought, usable;
    bool fixed;   /* runs at its link-time addresses */
    bool program; /* is no library */
    uint64_t link_start, link_end;
    void *state;    /* the backend's own */
    unsigned noted; /* reasons told already, a bit each */
};

struct log_backend {
    void *arg;
    /* Look for the module's file; fills in `usable` and what follows it. */
    void (*find)(void *arg, struct log_module *module);
    /* Whether there is a file of that name. */
    bool (*exists)(void *arg, struct trail_text name);
    /* The address of a symbol. `size`: what the log says of its size, 0 if nothing. */
    bool (*symbol)(void *arg, struct log_module *module, struct trail_text name,
                   uint64_t size, uint64_t *address_ret);
    /* The name of what lies at an address, code or data, in memory of the backend's. */
    const char *(*symbol_at)(void *arg, struct log_module *module, uint64_t address);
    /* The link-time address of a byte of the file, and of where .text begins. */
    bool (*of_offset)(void *arg, struct log_module *module, uint64_t offset,
                      uint64_t *address_ret);
    bool (*text)(void *arg, struct log_module *module, uint64_t *address_ret);
    /* Name a link-time address. What is missing is told through `note`. */
    enum trail_status (*lookup)(void *arg, struct log_module *module, uint64_t address,
                                struct trail_arena *arena,
                                struct trail_answer *answer_ret);
    void (*release)(void *arg, struct log_module *module);
    /* One line for the user. */
    void (*note)(void *arg, const char *line);
};

struct log_range {
    uint64_t start, size;
    struct log_module *module;
    uint64_t link; /* link-time address of its first byte */
};

struct log_modules {
    const struct log_backend *backend;
    struct log_module *modules[LOG_MODULE_LIMIT];
    size_t count;
    bool full;                /* and that has been told */
    struct log_range *ranges; /* by start; none overlap */
    size_t range_count, range_room;
};

/* The module of that name and id, found or new, looked for once. NULL: there are too
 * many, its name is none, or no memory. */
struct log_module *log_modules_get(struct log_modules *modules, struct trail_text name,
                                   struct trail_text id, bool kernel);
/* Map a range; what it overlaps is forgotten, since the newer one is what is there. */
void log_modules_map(struct log_modules *modules, struct log_range range);
/* The range that holds an address, or NULL. */
const struct log_range *log_modules_at(const struct log_modules *modules,
                                       uint64_t address);
void log_modules_unmap_all(struct log_modules *modules);
void log_modules_deinit(struct log_modules *modules);

/* A note about a module, once for each `reason` (a small number). */
TRAIL_PRINTF(4, 5)
void log_modules_note(struct log_modules *modules, struct log_module *module,
                      unsigned reason, const char *format, ...);

enum log_reason {
    LOG_NOTE_SYMBOL,
    LOG_NOTE_SIZE,
    LOG_NOTE_MISFIT,
    LOG_NOTE_UNVERIFIED,
    LOG_NOTE_DELETED
};

#endif
