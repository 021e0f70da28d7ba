/* backtrail.h -- what an application includes.
 *
 * Capturing records program counters and costs next to nothing; naming them is a
 * separate step, made by whichever symbolizer plugin reads the module, here and now or
 * later on another machine. Each declaration says which library has it:
 * [capture] is libbacktrail-capture and libbacktrail, [backtrail] only the latter.
 */
#ifndef BACKTRAIL_H
#define BACKTRAIL_H

#include <stdbool.h>
#include "backtrail/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TRAIL_VERSION "0.1.0"

/* Calls that trail_capture keeps: the innermost ones. */
#define TRAIL_MAX_FRAMES 128
/* Modules whose identity trail_capture notes. */
#define TRAIL_MAX_STAMPS 24

/* ---- capturing ---------------------------------------------------------- */

/* What a program counter is; the letters travel in the trace's "kinds". */
enum trail_pc_kind {
    TRAIL_PC_CURRENT = 'i',      /* where execution is, or was interrupted */
    TRAIL_PC_RETURN = 'r',       /* the instruction a call returns to */
    TRAIL_PC_TRAMPOLINE = 't',   /* the kernel's signal return code */
    TRAIL_PC_CONTINUATION = 'c', /* where an asynchronous call resumes */
};

/* How a program counter was found; the letters travel in the trace's "trust". */
enum trail_trust {
    TRAIL_TRUST_CONTEXT = 'x', /* registers */
    TRAIL_TRUST_CFI = 'c',     /* unwind tables */
    TRAIL_TRUST_FP = 'f',      /* frame pointers */
    TRAIL_TRUST_SCAN = 's',    /* looked like a return address */
};

/* Why a walk ended. */
enum trail_end {
    TRAIL_END_BASE = 0, /* at the outermost frame: the stack is whole */
    TRAIL_END_FULL,     /* the buffer was full; resume at the cursor */
    TRAIL_END_NO_CFI,   /* code without unwind tables */
    TRAIL_END_BAD_FP,   /* a frame pointer that cannot be one */
    TRAIL_END_UNMAPPED, /* a frame lies in memory that cannot be read */
    TRAIL_END_LOOP,     /* frame pointers lead back */
    TRAIL_END_DEADLINE,
    TRAIL_END_UNSUPPORTED, /* this platform cannot walk its stack */
    TRAIL_END_ERROR,       /* see error */
};

enum trail_control_flags {
    TRAIL_INTERRUPTED = 1,    /* walk the stack that `ucontext` interrupted */
    TRAIL_FRAME_POINTERS = 2, /* follow frame pointers instead of unwind tables */
    TRAIL_CHECKED = 4,        /* read nothing but by copying: for broken stacks */
    TRAIL_RAW = 8,            /* follow frame pointers, and check nothing */
    TRAIL_FULL_WALK = 16,     /* do not use what the thread remembers */
    TRAIL_ASK_THREAD = 32,    /* have `thread` of this process tell, by a signal */
    TRAIL_CONTINUATION = 64,  /* follow a chain of continuations: see below */
};

enum trail_info_flags {
    TRAIL_INFO_64_BIT = 1,    /* program counters are 64-bit quantities */
    TRAIL_INFO_TRUNCATED = 2, /* the walk did not end at the base frame */
};

/* Where a truncated walk goes on. Opaque; valid while the frames it names live. */
struct trail_cursor {
    uint64_t opaque[4];
};

/* How to walk. With only `size` set it means: the calling thread, from here. */
struct trail_control {
    uint32_t size, flags;
    /* With TRAIL_INTERRUPTED: what the signal handler was given as third argument. */
    const void *ucontext;
    /* Start at the first frame not below this stack address; 0: at once. */
    uintptr_t frame_addr;
    /* Start at the frame that it names; NULL: at once. */
    const struct trail_cursor *cursor;
    /* Thread id; 0, or the caller's own: the calling thread. */
    int64_t thread;
    /* Copy `length` bytes at `from` to `to`; 0 or an errno. Frame-pointer walks read
     * through it; NULL: this process's memory. */
    int (*copy)(void *copy_arg, void *to, uint64_t from, size_t length);
    void *copy_arg;
    /* With TRAIL_ASK_THREAD: how long to wait for the answer; 0: 100 ms. */
    uint64_t timeout_ns;
};

/* What came of a walk. The caller sets `size`, and `kinds` and `trust` to arrays of as
 * many bytes as the buffer has entries, or to NULL. */
struct trail_info {
    uint32_t size, flags; /* enum trail_info_flags */
    uint32_t end;         /* enum trail_end */
    int error;            /* errno of the read or thread that failed, 0 if none did */
    uint8_t *kinds;       /* filled with enum trail_pc_kind */
    uint8_t *trust;       /* filled with enum trail_trust */
    /* With TRAIL_END_FULL, where to go on: the stack address of the first frame left
     * out, for control->frame_addr, and the cursor for control->cursor. */
    uintptr_t next_frame_addr;
    struct trail_cursor cursor;
    /* Where the stack goes on in a chain of continuations, for a second call with
     * TRAIL_CONTINUATION and this as control->frame_addr (0: nowhere), and the entry
     * that it branches off at; that is the number of entries if it follows them all. */
    uint32_t async_start_index;
    uintptr_t async_frame_addr;
};

/* Fill `addresses` with the current program counter and the return addresses of the
 * calls that led here, innermost first, `capacity` entries at most. If there is room, a
 * zero entry follows, which is not counted. [capture]
 *
 * Returns:  how many entries were written. 0 with info->error = ESRCH (no such thread,
 *           or a zombie), EINVAL (a kernel thread: it has no user stack), EPERM, or
 *           EBUSY (a thread that may be running: it must be stopped first). With
 *           TRAIL_ASK_THREAD, of which at most TRAIL_MAX_FRAMES entries come, the
 *           errors of struct trail_thread_stack (target.h).
 * Errors:   what was gathered before a failing read is kept; info says why it ended.
 * Owns:     nothing. control and info may be NULL.
 * Threads:  safe; every thread may walk itself at once.
 * Signals:  async-signal-safe once trail_warm_up has returned (it runs when the library
 *           is loaded). No allocation, no lock, and on the thread's own stack no system
 *           call but for TRAIL_CHECKED; on another one, as a coroutine's, a few. Needs
 *           4 KiB of stack, 16 KiB where it must guess or check. Not for handlers:
 *           asking about a foreign thread.
 */
TRAIL_EXPORT unsigned trail_backtrace(uintptr_t *addresses, unsigned capacity,
                                      const struct trail_control *control,
                                      struct trail_info *info);

/* Stacks that go on elsewhere: a task, coroutine or callback returns to code that is
 * not on the stack of the thread that runs it. A record says where; records make a
 * chain. A coroutine's own record may begin with one; Swift's asynchronous contexts
 * do. */
struct trail_continuation {
    uintptr_t parent; /* address of the record of who waits for this; 0: nobody */
    uintptr_t resume; /* where it resumes: the entry in the trace, of kind 'c' */
};

/* How to find a chain. Records of any other form are read by `step`. */
struct trail_continuations {
    uint32_t size;
    uintptr_t first; /* address of the innermost record; may be changed at any time */
    /* Read the record at `at`; 0, or an errno. Called in signal handlers, if stacks are
     * captured there. NULL: it is a struct trail_continuation. */
    int (*step)(void *arg, uintptr_t at, struct trail_continuation *record_ret);
    void *arg;
};

/* Say where the calling thread's stack goes on from here; NULL: nowhere. `chain` is
 * borrowed until another is set. trail_backtrace tells that there is one, and follows
 * it with TRAIL_CONTINUATION: from control->frame_addr, or control->cursor of such a
 * call, or with neither from its beginning. Records that are gone end the walk, and so
 * do chains that lead back; a walk of one enters the kernel unless there is a `step`. A
 * captured stack is followed by it, as far as there is room. [capture]
 *
 * Returns:  the chain that was set before.
 * Signals:  async-signal-safe; costs a load and a store. */
TRAIL_EXPORT const struct trail_continuations *trail_continuation_set(
    const struct trail_continuations *chain);

/* Make the first capture as cheap as the next. [capture] */
TRAIL_EXPORT void trail_warm_up(void);

/* Identity of one mapped image when the stack was taken. */
struct trail_stamp {
    uint64_t start, end; /* absolute addresses */
    uint64_t hash;       /* of its build-id, or of its program headers */
};

/* A captured stack, filled by trail_capture. Zero-initialised is a valid empty one. It
 * can be copied, kept, and resolved by another thread. */
struct trail_backtrace {
    uint32_t count; /* entries of addresses, kinds and trust */
    uint32_t flags, end;
    int error;
    uint64_t epoch; /* generation of the module map when it was taken */
    uintptr_t addresses[TRAIL_MAX_FRAMES];
    uint8_t kinds[TRAIL_MAX_FRAMES], trust[TRAIL_MAX_FRAMES];
    uint32_t stamp_count;
    struct trail_stamp stamps[TRAIL_MAX_STAMPS];
    uintptr_t next_frame_addr;
    struct trail_cursor cursor;
};

/* Record the calling thread's stack: addresses only, with the identity of the modules
 * they lie in. The frames of capture itself are among them; resolving leaves them out.
 * Threads and signals as trail_backtrace. [capture] */
TRAIL_EXPORT void trail_capture(struct trail_backtrace *backtrace_ret);
/* The same for the stack that a signal interrupted; `ucontext` is the handler's third
 * argument. [capture] */
TRAIL_EXPORT void trail_capture_context(struct trail_backtrace *backtrace_ret,
                                        const void *ucontext);

/* Write "0: 0x55d0c1a011c9" a line, and "[... TRUNCATED ...]" if it is.
 * Async-signal-safe. [capture] */
TRAIL_EXPORT void trail_print_raw(int fd, const struct trail_backtrace *backtrace);

/* Write the stack as symbolizer markup (docs/markup.md): the modules it touches, by
 * name and build-id, and a line a frame, for `backtrail resolve --markup` or LLVM's
 * llvm-symbolizer --filter-markup to name. Frames of the capture itself are left out.
 * [capture]
 *
 * Errors:   none are told. Of a module that was unloaded since, and that no raw trace
 *           was written of before, only the place is known.
 * Owns:     nothing. One write if it fits 2 KiB, else a few, each of whole lines.
 * Threads:  safe, while none of these modules is being unloaded.
 * Signals:  async-signal-safe: no allocation, no lock that is waited for. Needs about
 *           7 KiB of stack.
 */
TRAIL_EXPORT void trail_print_markup(int fd, const struct trail_backtrace *backtrace);

/* ---- raw traces --------------------------------------------------------- */

enum trail_severity {
    TRAIL_DEBUG = 1,
    TRAIL_INFO,
    TRAIL_WARNING,
    TRAIL_ERROR,
    TRAIL_FATAL,
};

struct trail_attribute {
    const char *key, *value; /* UTF-8; at most 64 of them, 1 KiB each */
};

/* One thing that happened, with the stack it happened on. */
struct trail_event {
    uint32_t size, severity;
    const char *why; /* "request", "panic", "crash", "sample", "hang", "alloc", "log" */
    const char *channel;                /* sinks choose by it; NULL: as `why` */
    const char *message;                /* NULL: none */
    const char *app_name, *app_version; /* NULL: not said */
    const struct trail_attribute *attributes;
    size_t attribute_count;
    const struct trail_backtrace *backtrace; /* of the calling thread; NULL: none */
};

/* Write the event as a raw trace, one line of JSON (docs/wire.md), to a descriptor.
 * It holds all that is needed to resolve it elsewhere, later. Not for signal handlers.
 * [capture] */
TRAIL_EXPORT enum trail_status trail_trace_write(const struct trail_event *event,
                                                 int fd, struct trail_error *err);

/* ---- resolving ---------------------------------------------------------- */

/* One call. The first six members are all that most programs need. Text is UTF-8 and
 * lives as long as the struct trail_frames that it came in. */
struct trail_frame {
    uint64_t address; /* the return address, as captured; the call is just before it */
    const char *function; /* in the language's own spelling; "" if there is no symbol */
    const char *file;     /* as it was named to the compiler; "" without debug info */
    uint32_t line;        /* 1-based line of the call; 0 unknown */
    uint32_t column;      /* 1-based; 0 unknown */
    bool inlined;         /* inlined into the next frame, whose address it shares */

    bool in_app;           /* the program's own code, as opposed to a library's */
    uint8_t kind, trust;   /* enum trail_pc_kind, enum trail_trust */
    uint32_t index;        /* which captured address; inlined calls share it */
    uint32_t inline_index; /* 0 for the innermost call of an address */
    const char *linkage;   /* mangled name; "" if there is no other than function */
    const char *directory; /* compilation directory; "" if unknown */
    const char *module;    /* path of its module; "" if it is in none */
    const char *module_id; /* its id in hex; "" if it has none */
    uint64_t offset;       /* link-time address in the module */
    uint64_t symbol_start; /* link-time address of its function; 0 unknown */
    const char *symbol;    /* symbol-table name if it is another, e.g. "f.cold" */
    const char *aka;       /* other names of the same code, separated by newlines */
    const char *plugin;    /* who answered; "" if nobody could */
    const char *route;  /* where its symbols came from: "embedded", "debug-link" ... */
    const char *hidden; /* the rule that leaves it out of short output; "" if shown */
    const char *gap;    /* why something is missing, and the remedy; "" if nothing is */
    /* A frame is where the one before returns to, which need not be who called it: */
    bool landing;  /* no call is before the address: it was jumped to, so to say */
    bool tail_gap; /* functions that ended in a tail call left no frame behind it */
    bool reconstructed; /* it is one of those, worked out: without address, and only in
                         * reports and printed stacks, never in struct trail_frames */
};

/* A frame at `address` with nothing known of it yet. [backtrail] */
TRAIL_EXPORT void trail_frame_init(struct trail_frame *frame, uint64_t address);

/* Write "function at file:line:column", parts that are unknown left out, the address in
 * hexadecimal when the function is unknown, and " (inlined)" after an inlined call.
 * Returns the length it has, or would have had, like snprintf. [backtrail] */
TRAIL_EXPORT size_t trail_frame_format(const struct trail_frame *frame, char *text_ret,
                                       size_t size);

struct trail_frames {
    size_t count;
    const struct trail_frame *at; /* innermost first */
    bool truncated;
};

enum trail_resolve_flags {
    TRAIL_FULL = 1,               /* keep hidden frames */
    TRAIL_NO_CACHE = 2,           /* read symbols anew, and keep nothing */
    TRAIL_STYLE_INLINE_INDEX = 4, /* text: Tracy's numbering, "0. f() [inline 0]" */
};

/* Name every address, with inlined calls expanded. Unless TRAIL_FULL, left out are: at
 * the top capture's own frames, panic code and the runtime's operators; at the bottom
 * what lies below main or the thread's entry. Blocks; reads files. [backtrail] */
TRAIL_EXPORT enum trail_status trail_resolve(const struct trail_backtrace *backtrace,
                                             unsigned flags,
                                             struct trail_frames **frames_ret,
                                             struct trail_error *err);
TRAIL_EXPORT void trail_frames_destroy(struct trail_frames *frames); /* NULL is fine */

/* The frames as text, a line each, numbered and indented: "  0: main at main.c:4:5\n".
 * The caller frees it; NULL if memory is short. An empty backtrace gives "".
 * [backtrail] */
TRAIL_EXPORT char *trail_to_string(const struct trail_backtrace *backtrace,
                                   unsigned flags);

/* Write the calling thread's stack to standard error, a line a frame, after a line
 * "backtrace:". $BACKTRAIL_STYLE = tracy numbers inlined calls as Tracy does; markup
 * names nothing and loads no plugin: see trail_print_markup. libbacktrail-capture has
 * no symbolizers, and always prints markup. Not for signal handlers. [capture] */
TRAIL_EXPORT void trail_print(void);

/* ---- reporting ---------------------------------------------------------- */

/* Set up from a config file; NULL: $BACKTRAIL_CONFIG, or else every symbolizer found
 * and reports to standard error. Reads $BACKTRAIL_BACKTRACE and $BACKTRAIL_STYLE. A
 * mistake in the file is told in `err` and leaves the defaults in force; a plugin that
 * cannot be loaded is told on standard error and the others serve. Called again, it
 * starts afresh; no other call may be under way then. Not for signal handlers.
 * [backtrail] */
TRAIL_EXPORT enum trail_status trail_init_build(const char *config_path, bool optimized,
                                                struct trail_error *err);

/* As trail_init_build, told whether this program was built with optimization: a panic
 * prints its backtrace by default if it was not. $BACKTRAIL_BACKTRACE = 1 prints it in
 * any build, "full" with hidden frames too, 0 never. */
static inline enum trail_status trail_init(const char *config_path,
                                           struct trail_error *err)
{
#ifdef __OPTIMIZE__
    return trail_init_build(config_path, true, err);
#else
    return trail_init_build(config_path, false, err);
#endif
}

/* Capture here, and have the report resolved and delivered to the sinks of its channel
 * ("report", or attribute "channel") in the background. Returns once the addresses are
 * queued. TRAIL_RETRY: the queue is full, and the report was dropped and counted. Not
 * for signal handlers. Safe from any thread. [backtrail] */
TRAIL_EXPORT enum trail_status trail_report(enum trail_severity severity,
                                            const char *message,
                                            const struct trail_attribute *attributes,
                                            size_t attribute_count,
                                            struct trail_error *err);

/* Print "panic: " and the message, and the backtrace if that is on; deliver a report on
 * channel "panic", waiting for at most 5 s; then abort(). [backtrail] */
TRAIL_NORETURN TRAIL_PRINTF(1, 2) TRAIL_EXPORT
    void trail_panic(const char *format, ...);

/* Wait until what was reported has reached every sink, or `timeout_ns` has passed:
 * TRAIL_RETRY then. [backtrail] */
TRAIL_EXPORT enum trail_status trail_flush(uint64_t timeout_ns,
                                           struct trail_error *err);

/* Deliver what is queued, within 5 s, and release everything. What could not be
 * delivered is counted on standard error. No other call may be under way, and frames
 * of trail_resolve stay valid. [backtrail] */
TRAIL_EXPORT void trail_shutdown(void);

#ifdef __cplusplus
}
#endif

#endif
