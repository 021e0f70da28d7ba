/* signal_words.h -- what a signal that ends a program is called and means, in the words
 * of a raw trace (docs/wire.md). Numbers are Linux's, on any machine but MIPS and the
 * like, so that a trace can be made of a core of another machine.
 *
 * Everything is async-signal-safe.
 */
#ifndef TRAIL_SIGNAL_WORDS_H
#define TRAIL_SIGNAL_WORDS_H

#include <stdbool.h>
#include "backtrail/base.h"

#define TRAIL_SIGNAL_KERNEL 128 /* si_code of faults without address (SI_KERNEL) */

/* "SIGSEGV"; "unknown". */
const char *trail_signal_name(int number);
/* "SEGV_MAPERR", "SI_USER"; NULL: it has no name. */
const char *trail_signal_code_name(int number, int code);
/* Whether an address comes with it. */
bool trail_signal_has_address(int number, int code);

enum trail_signal_access {
    TRAIL_ACCESS_UNKNOWN,
    TRAIL_ACCESS_READ,
    TRAIL_ACCESS_WRITE,
    TRAIL_ACCESS_EXECUTE,
};
/* "read"; NULL: it is not known. */
const char *trail_signal_access_name(enum trail_signal_access access);

/* A signal, and what is known around it. */
struct trail_signal_facts {
    int number, code;
    uint64_t address, pc, sp; /* address 0: also if there is none */
    enum trail_signal_access access;
    bool is_mapped; /* something is mapped at `address` that can be read */
};
/* What the address is, or what went wrong: "null", "stack overflow", "divide by zero";
 * NULL: nothing is known. */
const char *trail_signal_meaning(const struct trail_signal_facts *facts);

#endif
