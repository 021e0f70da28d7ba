/* os.h -- the only door to an operating system. Each platform's files implement
 * all of it; what a platform cannot do answers TRAIL_UNSUPPORTED or nothing.
 *
 * Signals: a function is async-signal-safe only where its comment says so.
 */
#ifndef TRAIL_OS_H
#define TRAIL_OS_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Put before every function of ours that can stand on a captured stack above the
 * application's code: its address range is what trimming goes by. Never inlined, since
 * an inlined copy would lie in the application's range. */
#ifdef __APPLE__
#define TRAIL_OWN_CODE __attribute__((noinline, section("__TEXT,trail_text")))
#else
#define TRAIL_OWN_CODE __attribute__((noinline, section("trail_text")))
#endif
/* Where those functions lie in this copy of the library. Async-signal-safe. */
void trail_os_own_code(uint64_t *start_ret, uint64_t *end_ret);

/* ---- files -------------------------------------------------------------- */

/* Bytes of a file, mapped or read; released by trail_os_file_close. */
struct trail_os_file {
    int fd;               /* -1 if closed or never opened */
    const uint8_t *bytes; /* NULL if not mapped */
    size_t size;
};

/* What the owner and mode of an open file allow. */
struct trail_os_stat {
    uint64_t size;
    uint64_t device, inode;
    uint64_t modified_ns; /* since 1970-01-01 UTC */
    uint64_t changed_ns;  /* bytes, owner or mode; nobody can set it */
    uint64_t accessed_ns; /* last read, to the day where that is all that is kept */
    uint32_t owner;       /* uid */
    bool regular, directory;
    bool group_writable, other_writable, sticky;
};

/* Open `path` read-only and map it whole. Files over `limit` bytes: TRAIL_BAD_INPUT.
 * TRAIL_NOT_FOUND if there is none. An empty file maps to bytes == NULL, size 0. */
enum trail_status trail_os_file_map(const char *path, size_t limit,
                                    struct trail_os_file *file_ret,
                                    struct trail_error *err);
/* Read `path` ("-": standard input) to its end into memory that is followed by a
 * zero byte; the caller frees it. Over `limit` bytes: TRAIL_BAD_INPUT. */
enum trail_status trail_os_file_read(const char *path, size_t limit, char **bytes_ret,
                                     size_t *size_ret, struct trail_error *err);
void trail_os_file_close(struct trail_os_file *file); /* closed is fine */
/* Nearly all of these bytes of a mapped file will be read now: have them come with one
 * call, where that can be. Changes nothing but the time it takes. */
void trail_os_will_read(const void *bytes, size_t size);
/* The same of memory that nothing was written to yet, and nearly all will be. */
void trail_os_will_write(void *bytes, size_t size);
enum trail_status trail_os_stat_path(const char *path, struct trail_os_stat *stat_ret,
                                     struct trail_error *err);
enum trail_status trail_os_stat_fd(int fd, struct trail_os_stat *stat_ret,
                                   struct trail_error *err);
/* Write `size` bytes to `path` with `mode`, beside it first and renamed in, so that
 * nobody sees half of it. An existing file is replaced. */
enum trail_status trail_os_file_write(const char *path, const void *bytes, size_t size,
                                      unsigned mode, struct trail_error *err);
/* The same for a file that is made bit by bit. Either keep or drop ends it; both leave
 * nothing beside `path`. `offset` counts from the start of the file; what is skipped
 * reads as zeros. */
struct trail_os_new_file {
    int fd;              /* -1: none */
    char *path, *beside; /* what it will be called; what it is called */
};
enum trail_status trail_os_new_file_open(const char *path, unsigned mode,
                                         struct trail_os_new_file *file_ret,
                                         struct trail_error *err);
enum trail_status trail_os_new_file_write(struct trail_os_new_file *file,
                                          uint64_t offset, const void *bytes,
                                          size_t size, struct trail_error *err);
enum trail_status trail_os_new_file_keep(struct trail_os_new_file *file,
                                         struct trail_error *err);
void trail_os_new_file_drop(struct trail_os_new_file *file); /* twice is fine */
/* Wait until the bytes of a file are on the disk. False: they may not be. */
bool trail_os_file_sync(const char *path);
/* Remove a file, not a directory. TRAIL_NOT_FOUND: it is not there. */
enum trail_status trail_os_file_remove(const char *path, struct trail_error *err);
/* Make a directory and its parents with `mode`; existing is fine. */
enum trail_status trail_os_directory_make(const char *path, unsigned mode,
                                          struct trail_error *err);
/* Call `entry` with each file name (not "." or "..") in `path`, sorted by bytes. */
enum trail_status trail_os_directory_list(const char *path,
                                          enum trail_status (*entry)(void *arg,
                                                                     const char *name),
                                          void *arg, struct trail_error *err);
/* Whether a file name matches a pattern with "*", "?" and "[...]", of which none stands
 * for a dot at the beginning. */
bool trail_os_name_matches(const char *glob, const char *name);
/* Absolute path without links; false if there is none. `size` bytes at most. */
bool trail_os_path_real(const char *path, char *path_ret, size_t size);
/* Write to descriptor `fd` all of it, retrying when interrupted. Async-signal-safe. */
enum trail_status trail_os_write(int fd, const void *bytes, size_t size);
bool trail_os_is_terminal(int fd);
/* Open what is closed of descriptors 0 to 2, so that no file gets their numbers: on
 * nothing, standard error on the kernel's log if it may be written to. */
void trail_os_standard_streams(void);
/* Columns of the terminal that `fd` is; 0: it is none, or does not say. */
unsigned trail_os_terminal_width(int fd);
/* Uid that this process acts as. */
uint32_t trail_os_user(void);

/* The reason in a message "SUBJECT: reason", where `message` is that of a function
 * above and `subject` the path it was given; NULL if it is another, or was cut before
 * its reason by a long path. Points into `message`. */
static inline const char *trail_os_reason(const char *message, const char *subject)
{
    size_t size = strlen(subject);
    bool named = strncmp(message, subject, size) == 0 &&
                 strncmp(message + size, ": ", 2) == 0 && message[size + 2];
    return named ? message + size + 2 : NULL;
}

/* ---- clock, identity ---------------------------------------------------- */

uint64_t trail_os_time_ns(void); /* since 1970-01-01 UTC. Async-signal-safe */
uint64_t trail_os_mono_ns(void); /* CLOCK_MONOTONIC. Async-signal-safe */
/* Give memory that was freed back to the system, where that can be asked for. */
void trail_os_memory_release(void);
/* Unpredictable bytes for ids and jitter. Async-signal-safe. */
void trail_os_random(void *bytes, size_t size);

struct trail_os_process {
    int64_t pid, ns_pid; /* ns_pid: in its innermost pid namespace */
    uint32_t uid;
    char start[24]; /* clock ticks after boot, decimal; "" if unknown */
    char boot[40];  /* boot id, "" if unknown */
    char exe[1024]; /* path of the program */
    char host[256];
    const char *os, *arch; /* "linux", "x86_64" */
    int bits;
    bool little_endian;
};
void trail_os_process_self(struct trail_os_process *process_ret);
/* The same of another process of this machine; arch, bits and byte order are this
 * program's. What may not be known of it stays empty. */
void trail_os_process_of(int64_t pid, struct trail_os_process *process_ret);
int64_t trail_os_pid(void);                             /* async-signal-safe */
int64_t trail_os_tid(void);                             /* async-signal-safe */
void trail_os_thread_name(char *name_ret, size_t size); /* of the calling thread */

/* What may be done with thread `tid` of any process: 0 if it runs user code and
 * could be captured, else an errno: ESRCH (no such, or a zombie), EINVAL (a kernel
 * thread: it has no user stack), EPERM. */
int trail_os_thread_check(int64_t tid);

/* A variable of the environment, NULL if it is unset or not to be trusted: in a set-uid
 * program the caller must not choose what is loaded or written. */
const char *trail_os_environment(const char *name);
/* Set a variable of this process, for a library that takes its settings from there. Not
 * safe beside threads that read the environment. False: no memory. */
bool trail_os_environment_set(const char *name, const char *value);
/* Call `each` with every variable whose name starts with `prefix`, in no order; with
 * none in a set-uid program. Stops when it returns false. */
void trail_os_environment_each(const char *prefix,
                               bool (*each)(void *arg, const char *name,
                                            const char *value),
                               void *arg);

/* ---- other processes ---------------------------------------------------- */

/* Call `each` with the paths by which the file that is mapped in [start, end) of
 * process `pid` may be opened; `path` is what the process calls it, "" if that is not
 * known. `proven`: it is the very file, and not one that has come into its place. Stops
 * when it returns true. Calls it never where a process cannot be looked into. */
void trail_os_live_paths(int64_t pid, uint64_t start, uint64_t end, const char *path,
                         bool main_program,
                         bool (*each)(void *arg, const char *path, bool proven),
                         void *arg);
/* `path` as process `pid` sees it, for this process to open; false: it is too long, or
 * there is no such way. */
bool trail_os_live_root(int64_t pid, const char *path, char *path_ret, size_t size);
/* Copy memory of process `pid`. 0, or an errno. */
int trail_os_live_copy(int64_t pid, uint64_t address, void *to, size_t size);

/* One mapping of a process. Lent until the callback returns. */
struct trail_os_mapping {
    uint64_t start, end, offset; /* offset: in the file */
    uint64_t inode;              /* 0: of no file */
    unsigned major, minor;       /* of its device */
    bool executable;
    const char *path; /* "" if it has no name; "[stack]", "[vdso]" */
};
/* Call `each` with the mappings of process `pid`, ascending, until it returns false. */
enum trail_status trail_os_mappings(
    int64_t pid, bool (*each)(void *arg, const struct trail_os_mapping *mapping),
    void *arg, struct trail_error *err);
/* The general registers of thread `tid`, as the kernel lays them out (NT_PRSTATUS).
 * That they can be read is the proof that the thread is stopped: the kernel gives them
 * to nobody but who traces it, and only then.
 *
 * Returns: 0; or EBUSY: it is not stopped by this thread; ESRCH, EINVAL, EPERM: see
 *          trail_os_thread_check. */
int trail_os_stopped_registers(int64_t tid, void *to, size_t size, size_t *size_ret);

/* ---- threads ------------------------------------------------------------ */

/* A zero-initialised one is fresh: it needs no init. */
struct trail_os_mutex {
    uint64_t opaque[8];
};
struct trail_os_cond {
    uint64_t opaque[8];
};
struct trail_os_thread {
    uint64_t opaque;
};

void trail_os_mutex_init(struct trail_os_mutex *mutex);
void trail_os_mutex_deinit(struct trail_os_mutex *mutex);
void trail_os_mutex_lock(struct trail_os_mutex *mutex);
/* True: it was free, and is locked now. Never waits; for a mutex that a handler asks
 * for only so, async-signal-safe with glibc and musl. */
bool trail_os_mutex_try_lock(struct trail_os_mutex *mutex);
void trail_os_mutex_unlock(struct trail_os_mutex *mutex);
void trail_os_cond_init(struct trail_os_cond *cond);
void trail_os_cond_deinit(struct trail_os_cond *cond);
/* Wait until woken or CLOCK_MONOTONIC reaches `until_ns` (UINT64_MAX: for ever). */
void trail_os_cond_wait(struct trail_os_cond *cond, struct trail_os_mutex *mutex,
                        uint64_t until_ns);
void trail_os_cond_wake(struct trail_os_cond *cond); /* all waiters */
/* Start a thread with every signal blocked. TRAIL_UNSUPPORTED where there are none. */
enum trail_status trail_os_thread_start(void (*body)(void *arg), void *arg,
                                        const char *name,
                                        struct trail_os_thread *thread_ret,
                                        struct trail_error *err);
void trail_os_thread_join(struct trail_os_thread thread);
/* Have `prepare` called before each fork of this process, and after it `parent` here
 * and `child` in the new process. In a run of calls the last `prepare` comes first. */
void trail_os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

/* ---- asking threads ------------------------------------------------------ */

/* Reserve real-time signal `number` (0: the highest that is free, but for the last
 * three), and have `answer` called in its handler. The signal stays reserved while this
 * code is loaded. TRAIL_REFUSED: somebody handles it. */
enum trail_status trail_os_ask_install(int number,
                                       void (*answer)(uint32_t token,
                                                      const void *ucontext),
                                       int *number_ret, struct trail_error *err);
/* Interrupt thread `tid` of this process: `answer` is called in it with `token`. 0, or
 * an errno: ESRCH (no such thread in this process), EAGAIN. */
int trail_os_ask(int64_t tid, int number, uint32_t token);
bool trail_os_thread_own(int64_t tid); /* whether it is one of this process */
/* Call `each` with the id of every thread of process `pid`, in digits. */
enum trail_status trail_os_threads(int64_t pid,
                                   enum trail_status (*each)(void *arg,
                                                             const char *tid),
                                   void *arg, struct trail_error *err);
/* Whether it keeps signal `number` from being delivered at the moment. */
bool trail_os_thread_blocks(int64_t tid, int number);
void trail_os_thread_called(int64_t tid, char *name_ret, size_t size);
/* Sleep until woken, if the 32 bits at `word` are `value`; no longer than until
 * `until_ns` of trail_os_mono_ns. May return early. */
void trail_os_word_wait(const void *word, uint32_t value, uint64_t until_ns);
void trail_os_word_wake(const void *word); /* async-signal-safe */

/* ---- loading ------------------------------------------------------------ */

struct trail_os_library;

/* Load a shared object, all its symbols bound, none of them made global. */
enum trail_status trail_os_library_open(const char *path,
                                        struct trail_os_library **library_ret,
                                        struct trail_error *err);
/* `library` NULL: of whatever the program and what it loaded export. NULL: nobody has
 * it. */
void *trail_os_library_symbol(struct trail_os_library *library, const char *name);
/* What `name` would be if the object that this code is in did not have it. */
void *trail_os_next_symbol(const char *name);
void trail_os_library_close(struct trail_os_library *library); /* NULL is fine */
/* File name ending of plugins: ".so". */
extern const char trail_os_library_suffix[];
/* The directory of the file that holds this very code; "" if unknown. */
void trail_os_own_directory(char *path_ret, size_t size);

/* ---- mapped modules ----------------------------------------------------- */

/* One loaded image. Addresses are absolute. Lent until the callback returns, or while
 * the image stays mapped. */
struct trail_os_module {
    const char *path;                   /* "": none or not known; "[vdso]" */
    uint64_t bias;                      /* run-time address minus link-time address */
    const uint8_t *headers;             /* of segments, in memory */
    uint16_t header_count, header_size; /* size of one, bytes */
    uint64_t loads, unloads;            /* the loader's counters */
    bool main_program, vdso;
};

struct trail_os_segment {
    uint64_t start, end; /* absolute addresses in memory */
    bool load, note;     /* mapped; holds notes */
    bool readable, writable, executable;
    uint64_t align;
};

/* Takes the loader's lock; not signal-safe. Stops when `each` returns false. */
void trail_os_modules(bool (*each)(void *arg, const struct trail_os_module *module),
                      void *arg);
/* The image mapped around `pc`, and its extent. No lock, async-signal-safe. loads and
 * unloads are not filled in. False: in no image, or this platform cannot tell
 * without a lock. */
bool trail_os_module_at(uint64_t pc, struct trail_os_module *module_ret,
                        uint64_t *start_ret, uint64_t *end_ret);
/* Segment `index` < header_count. Async-signal-safe. */
struct trail_os_segment trail_os_module_segment(const struct trail_os_module *module,
                                                uint16_t index);

/* ---- stacks ------------------------------------------------------------- */

/* enum trail_arch (symbolizer.h) that this code was compiled for. Async-signal-safe. */
uint32_t trail_os_arch(void);

struct trail_os_registers {
    uint64_t pc, sp, fp;
};
/* Registers of the interrupted point of a ucontext_t. Async-signal-safe. */
bool trail_os_context(const void *ucontext, struct trail_os_registers *registers_ret);
/* Where a ucontext_t keeps its registers, laid out as in the kernel's signal frame
 * (core/capture/arch.h); 0: not known for this processor. Async-signal-safe. */
uintptr_t trail_os_context_registers(const void *ucontext);
/* Copy memory of this process that may not be there. 0, or an errno; nothing
 * crashes. A system call. Async-signal-safe. */
int trail_os_copy(uint64_t address, void *to, size_t size);

/* Walk the calling thread's stack by the platform's unwinder, innermost first,
 * beginning with the caller. Stops when `each` returns false. Async-signal-safe once
 * it has been called before. Returns true if the walk ended at the base frame. */
struct trail_os_step {
    uint64_t pc, sp;  /* sp: as it is in this frame once the call has returned */
    bool interrupted; /* pc did not follow a call: the frame was hit by a signal */
};
bool trail_os_walk(bool (*each)(void *arg, const struct trail_os_step *step),
                   void *arg);

#include "core/os/crash.h"
#include "core/os/directory.h"
#include "core/os/durable.h"
#include "core/os/freeze.h"
#include "core/os/native.h"
#include "core/os/pattern.h"

#endif
