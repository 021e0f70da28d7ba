/* target.h -- stacks that are not the calling thread's: of the other threads of this
 * process, of another process, of a core file, and of memory that was copied.
 *
 * Everything here is in libbacktrail-capture and libbacktrail. [capture]
 *
 * Signals: nothing here is for signal handlers: it allocates, and reads files.
 */
#ifndef BACKTRAIL_TARGET_H
#define BACKTRAIL_TARGET_H

#include "backtrail/backtrail.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- other threads of this process --------------------------------------- */

/* Threads are asked by a signal each, and record the stack that it interrupted. A
 * real-time signal is reserved for that when it is first needed: SIGRTMAX - 3, or the
 * next one below that has no handler. Choose another with this, before; 0 reserves it
 * now. TRAIL_REFUSED: it has a handler, or another one is reserved already.
 *
 * A system call that waits is interrupted by it and goes on; one that never goes on
 * after a handler (poll, nanosleep, see signal(7)) gives EINTR. */
TRAIL_EXPORT enum trail_status trail_thread_signal(int signal_number,
                                                   struct trail_error *err);

/* One thread's stack, or why there is none. */
struct trail_thread_stack {
    int64_t thread; /* its id */
    /* 0; or ETIMEDOUT: it did not answer in time; EBUSY: it blocks the signal; ESRCH:
     * it ended meanwhile; EAGAIN, ENOMEM, ENOTSUP: it could not be asked. */
    int error;
    char name[16];
    struct trail_backtrace backtrace; /* empty if there is an error */
};

/* Fill `stacks` with what each thread of this process does, the calling one among them;
 * `capacity` threads at most. They are asked at once, and answer within `timeout_ns`
 * (0: 100 ms), each for itself: they are not all caught at the same instant. One that
 * does not answer is named with its error, and writes nothing once this has returned.
 *
 * Returns: how many threads there were; those beyond `capacity` were not asked.
 * Threads: safe, also at once with itself. */
TRAIL_EXPORT unsigned trail_backtrace_threads(struct trail_thread_stack *stacks,
                                              unsigned capacity, uint64_t timeout_ns);

/* ---- targets ------------------------------------------------------------- */

/* A program to look into. It is read, never written to and never stopped here.
 * Threads: one at a time may use one target. */
struct trail_target;

/* Another process, whose threads the caller has stopped with ptrace. A thread that is
 * not stopped, or was stopped by someone else, is refused when it is asked for. Modules
 * and threads are those of this moment. */
TRAIL_EXPORT enum trail_status trail_target_process(int64_t pid,
                                                    struct trail_target **target_ret,
                                                    struct trail_error *err);
/* A core file, of any architecture that can be unwound. What it has no copy of is read
 * from the files that were mapped, if they are still the same. */
TRAIL_EXPORT enum trail_status trail_target_core(const char *path,
                                                 struct trail_target **target_ret,
                                                 struct trail_error *err);

/* Memory of the program, copied. */
struct trail_target_memory {
    uint64_t address;
    const void *bytes;
    size_t size;
};

/* One ELF file that the program has mapped, whole, and where it is. */
struct trail_target_module {
    uint64_t bias; /* run-time address minus link-time address */
    const void *bytes;
    size_t size;
};

/* One thread, frozen. */
struct trail_target_snapshot {
    uint32_t size;        /* of this struct */
    const char *arch;     /* "x86_64", "i386", "aarch64", "arm", "riscv64" */
    uint64_t pc, sp;      /* both are needed */
    uint64_t fp, link;    /* 0: not known; link: only where calls do not push */
    int64_t thread;       /* its id, if it is to be told from others */
    const uint64_t *more; /* other registers by DWARF number; NULL: none */
    uint64_t more_known;  /* bit n: more[n] is one */
    const struct trail_target_memory *memory;
    size_t memory_count;
    const struct trail_target_module *modules;
    size_t module_count;
};

/* A stack that lies in buffers. All of them are borrowed until the target is destroyed;
 * the snapshot and its arrays are not needed any more. */
TRAIL_EXPORT enum trail_status trail_target_bytes(
    const struct trail_target_snapshot *snapshot, struct trail_target **target_ret,
    struct trail_error *err);

/* One more file that the target has mapped: of a core that comes from another machine,
 * say. Its bytes are borrowed. TRAIL_BAD_INPUT: it is of no use here. */
TRAIL_EXPORT enum trail_status trail_target_add_module(
    struct trail_target *target, const struct trail_target_module *module,
    struct trail_error *err);

TRAIL_EXPORT void trail_target_destroy(struct trail_target *target); /* NULL is fine */

/* "x86_64"; lives as long as the library. */
TRAIL_EXPORT const char *trail_target_arch(const struct trail_target *target);
/* How many threads it has, and the id of thread `index` below that. The first is the
 * one that a core is about, or a process's main thread. */
TRAIL_EXPORT size_t trail_target_thread_count(const struct trail_target *target);
TRAIL_EXPORT int64_t trail_target_thread(const struct trail_target *target,
                                         size_t index);

/* As trail_backtrace, of thread control->thread of the target (0: its first).
 *
 * Memory is read through control->copy if it is given: process_vm_readv, a reader of a
 * file, or what is in the buffers of the target are only the defaults. An errno that it
 * gives ends the walk there, with TRAIL_END_UNMAPPED and the errno in info->error, and
 * what was gathered is kept. control->flags: TRAIL_FRAME_POINTERS, or 0; a ucontext is
 * not used.
 *
 * Returns: how many entries were written; 0 with info->error = ESRCH (no such thread),
 *          EBUSY (it is not stopped), EPERM. info->flags tells a 64-bit target.
 *          info->cursor is needed to go on from, and next_frame_addr is only for
 * cutting a stack: where pointers are smaller than the target's it is 0. */
TRAIL_EXPORT unsigned trail_backtrace_target(struct trail_target *target,
                                             uint64_t *addresses, unsigned capacity,
                                             const struct trail_control *control,
                                             struct trail_info *info);

#ifdef __cplusplus
}
#endif

#endif
