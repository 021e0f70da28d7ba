/* signal_words.c -- what a signal that ends a program is called and means. */
#include "core/trace/signal_words.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ILL = 4, TRAP = 5, ABORT = 6, BUS = 7, FPE = 8, SEGV = 11, SYS = 31 };

#define NULL_PAGES  0x10000u /* bytes from 0 on that are never mapped */
#define STACK_ROOM  0x10000u /* bytes from sp to what a function touches first */
#define CODES_LIMIT 16

const char *trail_signal_name(int number)
{
    static const char *const names[] = {
        "unknown",  "SIGHUP",  "SIGINT",  "SIGQUIT", "SIGILL",  "SIGTRAP",   "SIGABRT",
        "SIGBUS",   "SIGFPE",  "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",   "SIGPIPE",
        "SIGALRM",  "SIGTERM", "unknown", "SIGCHLD", "SIGCONT", "SIGSTOP",   "SIGTSTP",
        "SIGTTIN",  "SIGTTOU", "SIGURG",  "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF",
        "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS",
    };
    return names[number > 0 && (size_t)number < COUNT(names) ? number : 0];
}

/* By si_code, from 1 on. */
static const char *const segv_codes[CODES_LIMIT] = {
    NULL,           "SEGV_MAPERR",  "SEGV_ACCERR",  "SEGV_BNDERR",
    "SEGV_PKUERR",  "SEGV_ACCADI",  "SEGV_ADIDERR", "SEGV_ADIPERR",
    "SEGV_MTEAERR", "SEGV_MTESERR", "SEGV_CPERR",
};
static const char *const bus_codes[CODES_LIMIT] = {
    NULL, "BUS_ADRALN", "BUS_ADRERR", "BUS_OBJERR", "BUS_MCEERR_AR", "BUS_MCEERR_AO",
};
static const char *const fpe_codes[CODES_LIMIT] = {
    NULL,         "FPE_INTDIV", "FPE_INTOVF", "FPE_FLTDIV", "FPE_FLTOVF",
    "FPE_FLTUND", "FPE_FLTRES", "FPE_FLTINV", "FPE_FLTSUB",
};
static const char *const ill_codes[CODES_LIMIT] = {
    NULL,         "ILL_ILLOPC", "ILL_ILLOPN", "ILL_ILLADR", "ILL_ILLTRP",
    "ILL_PRVOPC", "ILL_PRVREG", "ILL_COPROC", "ILL_BADSTK",
};
static const char *const trap_codes[CODES_LIMIT] = {
    NULL, "TRAP_BRKPT", "TRAP_TRACE", "TRAP_BRANCH", "TRAP_HWBKPT", "TRAP_UNK",
};
static const char *const sys_codes[CODES_LIMIT] = { NULL, "SYS_SECCOMP" };

static const char *const *codes_of(int number)
{
    switch (number) {
    case SEGV:
        return segv_codes;
    case BUS:
        return bus_codes;
    case FPE:
        return fpe_codes;
    case ILL:
        return ill_codes;
    case TRAP:
        return trap_codes;
    case SYS:
        return sys_codes;
    default:
        return NULL;
    }
}

const char *trail_signal_code_name(int number, int code)
{
    static const char *const sent[] = { "SI_USER",  "SI_QUEUE",   "SI_TIMER",
                                        "SI_MESGQ", "SI_ASYNCIO", "SI_SIGIO",
                                        "SI_TKILL" };
    const char *const *codes = codes_of(number);
    if (code <= 0)
        return code > -(int)COUNT(sent) ? sent[-code] : NULL;
    if (code == TRAIL_SIGNAL_KERNEL)
        return "SI_KERNEL";
    return codes && code < CODES_LIMIT ? codes[code] : NULL;
}

bool trail_signal_has_address(int number, int code)
{
    if (code <= 0 || code == TRAIL_SIGNAL_KERNEL)
        return false; /* somebody sent it, or the processor did not tell */
    return number == SEGV || number == BUS || number == FPE || number == ILL ||
           number == TRAP;
}

const char *trail_signal_access_name(enum trail_signal_access access)
{
    static const char *const names[] = { NULL, "read", "write", "execute" };
    return names[access];
}

/* ---- what it means ------------------------------------------------------- */

/* A stack ends in a page that nobody may touch: what touches it is near sp. */
static bool is_overflow(const struct trail_signal_facts *facts)
{
    uint64_t distance = facts->address - (facts->sp - STACK_ROOM);
    return facts->sp && facts->address != facts->pc && !facts->is_mapped &&
           distance < 2 * STACK_ROOM;
}

static const char *segv_meaning(const struct trail_signal_facts *facts)
{
    if (facts->code == TRAIL_SIGNAL_KERNEL)
        return "non-canonical address";
    if (facts->code <= 0)
        return NULL;
    if (facts->address < NULL_PAGES)
        return "null";
    if (is_overflow(facts))
        return "stack overflow";
    if (facts->code != 2)
        return facts->code == 1 ? "not mapped" : NULL;
    if (facts->access == TRAIL_ACCESS_EXECUTE)
        return "not executable";
    return facts->access == TRAIL_ACCESS_WRITE && facts->is_mapped ? "read-only"
                                                                   : "no access";
}

const char *trail_signal_meaning(const struct trail_signal_facts *facts)
{
    static const char *const fpe[] = {
        NULL,
        "integer divided by zero",
        "integer overflow",
        "divided by zero",
        "floating-point overflow",
        "floating-point underflow",
        "inexact result",
        "invalid operation",
        "subscript out of range",
    };
    switch (facts->number) {
    case SEGV:
        return segv_meaning(facts);
    case BUS:
        if (facts->code == 2)
            return "beyond the end of a mapped file";
        return facts->code == 1 ? "misaligned" : NULL;
    case FPE:
        return facts->code > 0 && (size_t)facts->code < COUNT(fpe) ? fpe[facts->code]
                                                                   : NULL;
    case ILL:
        return facts->code > 0 ? "illegal instruction" : NULL;
    case TRAP:
        return facts->code > 0 ? "breakpoint" : NULL;
    case SYS:
        return facts->code > 0 ? "forbidden system call" : NULL;
    case ABORT:
    default:
        return NULL;
    }
}
