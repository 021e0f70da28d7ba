/* doctor.h -- what the parts of the verb `doctor` share. */
#ifndef TRAIL_AGENT_DOCTOR_H
#define TRAIL_AGENT_DOCTOR_H

#include "agent/doctor/cfi.h"
#include "agent/module_file.h"
#include "agent/options.h"
#include "core/pipeline.h"

enum doctor_level {
    DOCTOR_OK,
    DOCTOR_WARN, /* stacks can be read, with less in them */
    DOCTOR_BAD,  /* stacks cannot be read */
};

struct doctor_finding {
    enum doctor_level level;
    const char *what; /* "build id" */
    char found[1024];
    char remedy[512]; /* "": none is needed, or there is none */
};

/* Where a debug package is to be had, as the end of a remedy. */
#define DOCTOR_DEBUG_PACKAGE                                                           \
    "install its debug package (on Debian find-dbgsym-packages of debian-goodies "     \
    "names it), or give its debug file with --symbols DIR"

#define DOCTOR_FINDINGS 24

/* Of one module. */
struct doctor_report {
    char subject[1024];
    struct doctor_finding at[DOCTOR_FINDINGS];
    size_t count;
};

/* Note what was found; `remedy` may be NULL. */
TRAIL_PRINTF(5, 6)
void doctor_note(struct doctor_report *report, enum doctor_level level,
                 const char *what, const char *remedy, const char *format, ...);
enum doctor_level doctor_worst(const struct doctor_report *report);

struct doctor_session {
    struct trail_registry *registry;
    struct trail_resolver *resolver;
    struct trail_routes routes;
};

#define DOCTOR_SAMPLE 32 /* functions looked up */

/* Functions of a module, by their starts, each once. */
struct doctor_functions {
    uint64_t *at;
    size_t count;
};

/* What the symbolizers said about some of a module's functions. */
struct doctor_sample {
    size_t asked, named, with_lines; /* functions */
    const struct trail_plugin *plugin;
    uint32_t route; /* of the best answer */
    char source[1024];
    bool mismatch; /* a symbol file was of another build */
    char gap[512];
};

/* One module under examination. */
struct doctor_module {
    const struct doctor_session *session;
    struct doctor_report *report;
    struct module_file file;
    const struct trail_plugin *reader; /* first symbolizer that reads its kind; NULL */
    struct trail_symbol_file *debug;   /* separate debug file; NULL: none */
    struct trail_elf debug_elf;        /* good if `debug` */
    struct trail_search search;        /* for it */
    struct doctor_functions functions;
    const char *function_source; /* "" where no symbol table has any */
    bool labels;                 /* they are only labels of assembler code */
    struct doctor_sample sample;
};

/* Examine one file, which users know as `name`; every finding goes into the report. */
void doctor_examine_file(const struct doctor_session *session, const char *path,
                         const char *name, struct doctor_report *report);
/* The same of an image in memory. */
void doctor_examine_memory(const struct doctor_session *session, const uint8_t *bytes,
                           size_t size, const char *name, struct doctor_report *report);

/* ---- parts of it -------------------------------------------------------- */

/* doctor_symbols.c */
void doctor_find_debug(struct doctor_module *module);
void doctor_list_functions(struct doctor_module *module);
void doctor_ask_sample(struct doctor_module *module);
void doctor_check_symbols(struct doctor_module *module);
/* doctor_debug.c */
void doctor_check_debug(struct doctor_module *module);
/* doctor_unwind.c */
void doctor_check_unwind(struct doctor_module *module);

/* What the skeleton units of split debug information refer to. */
struct doctor_split {
    size_t count, missing; /* .dwo files */
    char example[1024];    /* a missing one */
};
/* doctor_split.c. `directory`: of the program. False: nothing is split, or its sections
 * cannot be read as they are. */
bool doctor_split_read(const struct trail_elf *elf, const char *directory,
                       struct doctor_split *split_ret);

/* ---- processes (doctor_process.c) --------------------------------------- */

/* Call `each` with a report for every module that is mapped in the process. */
enum trail_status doctor_examine_process(const struct doctor_session *session,
                                         int64_t pid,
                                         void (*each)(void *arg,
                                                      struct doctor_report *report),
                                         void *arg, struct trail_error *err);

/* ---- the installation (doctor_self.c) ----------------------------------- */

void doctor_examine_installation(const struct shared_options *shared,
                                 struct doctor_report *report);

#endif
