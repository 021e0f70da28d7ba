/* sym.h -- what the parts of the verb `sym` share. */
#ifndef TRAIL_AGENT_SYM_H
#define TRAIL_AGENT_SYM_H

#include <jansson.h>

#include "agent/module_file.h"
#include "agent/options.h"
#include "core/pipeline.h"

struct sym_options {
    struct shared_options shared;
    const char *files[LIST_LIMIT + 1]; /* -e; NULL-terminated */
    size_t file_count;
    const char *plugin; /* the only symbolizer to use; NULL: as configured */
    bool json, code, disassemble, lines, return_address, mangled;
};

struct sym_session {
    const struct sym_options *options;
    struct trail_routes routes;
    struct trail_resolver *resolver;
};

/* ---- the module (sym_find.c) -------------------------------------------- */

/* A module, and the file that has its code, if that is another one: debug files have
 * none, and stripped ones have no symbols. */
struct sym_module {
    struct module_file file;
    struct module_file code;
    bool apart; /* `code` is open */
};

/* Open the module whose id begins with the hex digits `prefix`: one of the -e files, or
 * a file in the symbol directories.
 *
 * Errors: TRAIL_NOT_FOUND: says where was looked; TRAIL_BAD_INPUT: several ids. */
enum trail_status sym_find_id(const struct sym_session *session, const char *prefix,
                              struct sym_module *module_ret, struct trail_error *err);
enum trail_status sym_module_open(const char *path, struct sym_module *module_ret,
                                  struct trail_error *err);
void sym_module_close(struct sym_module *module);
/* Call `each` with the start of each function of the symbol table that is called
 * `name`, mangled or not; returns how many there were. */
size_t sym_find_name(const struct module_file *module, const char *name,
                     bool (*each)(void *arg, uint64_t address), void *arg);

/* ---- the answer (sym_answer.c) ------------------------------------------ */

/* What is known of a symbol, and of one address in it. Lives in `arena`. */
struct sym_answer {
    struct trail_arena arena;
    const struct module_file *module;
    const struct module_file *code; /* where its bytes are */
    uint64_t asked;                 /* as the user gave it */
    uint64_t address; /* looked up: that, or one less for a return address */
    struct trail_answer at, first;    /* at the address, and at the symbol's start */
    const struct trail_named *symbol; /* outermost of `at` */
    uint64_t start, size; /* of the symbol; size 0: the table does not say */
    uint64_t extent;      /* size, or up to what comes next */
    char id[2 * 64 + 32]; /* "214b18e9...+0x401000"; "": the module has none */
};

/* Errors: one line, with the remedy. */
enum trail_status sym_answer_get(const struct sym_session *session,
                                 const struct sym_module *module, uint64_t asked,
                                 struct sym_answer *answer_ret,
                                 struct trail_error *err);
void sym_answer_release(struct sym_answer *answer);

/* "function+0x1d" of any address of the module; false: it has no name. */
bool sym_name_at(const struct sym_session *session, const struct module_file *module,
                 uint64_t address, char *name_ret, size_t size);
/* "file:line:column" of a frame, with its directory; "" if it has no file. */
void sym_place(const struct trail_named *named, char *place_ret, size_t size);

/* ---- printing (sym_print.c, sym_code.c) --------------------------------- */

void sym_print_text(const struct sym_answer *answer);
json_t *sym_print_json(const struct sym_answer *answer);

/* The symbol's code, as the options want it, printed or into `object`. */
enum trail_status sym_code_print(const struct sym_session *session,
                                 const struct sym_answer *answer, json_t *object,
                                 struct trail_error *err);

#endif
