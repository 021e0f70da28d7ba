/* form.h -- the forms in which programs and tools write a stack line: one function a
 * form, pure, over one line without its ending.
 */
#ifndef TRAIL_AGENT_LOG_FORM_H
#define TRAIL_AGENT_LOG_FORM_H

#include "agent/log/cursor.h"

/* What the line tells the place by. */
enum log_place {
    LOG_PLACE_OFFSET = 1, /* module, and link-time address in it */
    LOG_PLACE_START,      /* module, and offset from where its first segment begins */
    LOG_PLACE_SYMBOL,     /* module, symbol of it, and offset from that */
    LOG_PLACE_ADDRESS,    /* run-time address; perhaps the module, too */
    LOG_PLACE_KERNEL, /* symbol, offset and size; module if it is no part of vmlinux */
};

struct log_match {
    enum log_place place;
    /* Bytes of the line that the resolution takes the place of, and those of them that
     * are kept in brackets behind it. */
    size_t start, end, kept_start, kept_end;
    size_t next; /* where another entry of the line may begin */
    struct trail_text module, symbol;
    /* The module if its path has blanks in it, which no line tells; "": it has none. It
     * ends where `module` does. */
    struct trail_text wide_module;
    struct trail_text function; /* name that the line has already; "": none */
    struct trail_text id;       /* build id in hex; "": none */
    uint64_t offset, size;
    uint64_t address; /* run-time address; 0: not told */
    uint64_t base;    /* where a program is mapped that can be anywhere; 0: not known */
    bool returns;     /* it follows a call: the call lies one byte before */
    bool brief;       /* no frame of a stack: the innermost call is enough */
};

typedef bool log_form_fn(struct trail_text line, struct log_match *match_ret);

/* backtrace_symbols_fd and backtrace_symbols of glibc. */
log_form_fn log_form_glibc;
/* AddressSanitizer and its relatives, and what else writes "(module+0x12)". */
log_form_fn log_form_sanitizer;
/* "symbol+0x12/0x34 [module]" of Linux. */
log_form_fn log_form_kernel;
/* "#1 0x0000... n/a (module + 0x12)" of systemd-coredump. */
log_form_fn log_form_coredump;
/* "#1  0x0000... in ?? () from module" of gdb, and frames of Rust without a name. */
log_form_fn log_form_debugger;
/* "==123==    by 0x109141: main (in module)" of valgrind. */
log_form_fn log_form_valgrind;

/* The first entry of a stack at or after `from`; false: none. */
bool log_form_next(struct trail_text line, size_t from, struct log_match *match_ret);

/* "#N 0xADDRESS " in the line: its number, its address, how many digits that has, and
 * where it goes on behind the blanks. */
struct log_numbered {
    uint64_t number, address;
    size_t digits, next;
};
bool log_numbered(struct trail_text line, struct log_numbered *numbered_ret);

/* " (BuildId: HEX)" behind a place; empty: none. */
struct trail_text log_build_id_at(struct trail_text line, size_t at);

#endif
