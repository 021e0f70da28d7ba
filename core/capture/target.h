/* target.h -- what is known of a program whose stacks are walked from outside: where
 * its memory is read from, its threads, its mappings and the unwind tables of its
 * images.
 *
 * A target comes from a process, a core or buffers; once it is made, only reading
 * memory and registers tells them apart.
 */
#ifndef TRAIL_TARGET_H
#define TRAIL_TARGET_H

#include "backtrail/target.h"
#include "core/capture/cfi.h"
#include "core/os/os.h"

#define TRAIL_TARGET_PAGE      4096u  /* bytes of an image's head that are looked at */
#define TRAIL_TARGET_TABLES    2      /* .eh_frame, .debug_frame */
#define TRAIL_TARGET_LIMIT     262144 /* of mappings, images, threads */
#define TRAIL_TARGET_FILE_SIZE ((size_t)4 << 30)

/* A stretch of memory, and whether it may be code. */
struct trail_target_range {
    uint64_t start, end;
    bool executable;
};

/* One ELF file that is mapped. */
struct trail_target_image {
    uint64_t start, end, bias;
    char *path;  /* owned; NULL: it has none */
    bool looked; /* for its tables */
    struct trail_os_file file;
    uint8_t *copy; /* of the segment with its unwind table; NULL: the file is there */
    const uint8_t *bytes; /* of the whole file; NULL: it is not there */
    size_t size;
    struct trail_cfi_table tables[TRAIL_TARGET_TABLES];
    unsigned table_count;
};

struct trail_target_thread {
    int64_t id;
    struct trail_registers registers; /* of a process that is held: not kept */
};

struct trail_target {
    const struct trail_machine *machine;
    int64_t pid; /* 0: memory is what `memory` and the images' files have */
    /* Of a process that runs again: what may have changed is only in `memory`. */
    bool frozen;
    struct trail_os_file core;
    struct trail_target_memory *memory; /* ascending */
    size_t memory_count;
    struct trail_target_range *ranges; /* ascending */
    size_t range_count;
    struct trail_target_image *images; /* ascending */
    size_t image_count;
    struct trail_target_thread *threads;
    size_t thread_count;
};

/* ---- putting one together ----------------------------------------------- */

/* A target with nothing in it; NULL: no memory. */
struct trail_target *trail_target_create(void);
/* The array with room for element `count`; NULL: no memory, and it is as it was, or
 * TRAIL_TARGET_LIMIT is reached. */
void *trail_target_room(void *array, size_t count, size_t element_size);
bool trail_target_add_memory(struct trail_target *target, uint64_t address,
                             const void *bytes, size_t size);
bool trail_target_add_range(struct trail_target *target, uint64_t start, uint64_t end,
                            bool executable);
/* `path` may be NULL; it is copied. */
bool trail_target_add_image(struct trail_target *target, uint64_t start, uint64_t end,
                            const char *path);
bool trail_target_add_thread(struct trail_target *target, int64_t id,
                             const struct trail_registers *registers);
/* The mapping of a file from `offset` on, as the kernel lists them: an image begins
 * where a file does, and goes on while the mappings are of the same file. */
bool trail_target_add_mapping(struct trail_target *target, uint64_t start, uint64_t end,
                              uint64_t offset, const char *path);
/* The machine, threads and images that the notes of a core tell of; `name` is for
 * errors. Its memory is added by the caller, who then has trail_target_core_end put all
 * in order. */
struct trail_elf;
enum trail_status trail_target_core_begin(struct trail_target *target,
                                          const struct trail_elf *elf, const char *name,
                                          struct trail_error *err);
enum trail_status trail_target_core_end(struct trail_target *target,
                                        const struct trail_elf *elf, const char *name,
                                        struct trail_error *err);
/* Put everything in order. */
void trail_target_sort(struct trail_target *target);

/* What was copied of a process while it was held; it runs again. `frozen` is borrowed
 * until the target is destroyed. Threads are those that could be held. */
enum trail_status trail_target_frozen(const struct trail_os_frozen *frozen,
                                      struct trail_target **target_ret,
                                      struct trail_error *err);
/* The machine whose code a process runs, from its images; NULL: not known. */
const struct trail_machine *trail_target_find_machine(
    const struct trail_target *target);

/* ---- reading ------------------------------------------------------------ */

/* Copy memory of the target. 0, or an errno. */
int trail_target_read(const struct trail_target *target, uint64_t address, void *to,
                      size_t size);
/* The registers of thread `index`. 0, or an errno. */
int trail_target_registers(const struct trail_target *target, size_t index,
                           struct trail_registers *registers_ret);
/* The same from the kernel's general register set (NT_PRSTATUS) of `machine`; false: it
 * is of another size. */
bool trail_target_register_set(const struct trail_machine *machine, const uint8_t *set,
                               size_t size, struct trail_registers *registers_ret);

struct trail_target_range *trail_target_range_of(const struct trail_target *target,
                                                 uint64_t address);
struct trail_target_image *trail_target_image_of(const struct trail_target *target,
                                                 uint64_t address);
/* Find the image's file and its unwind tables, once. */
void trail_target_image_look(const struct trail_target *target,
                             struct trail_target_image *image);
/* Whether its file says that there is code at `pc`. */
bool trail_target_image_is_code(const struct trail_target *target,
                                struct trail_target_image *image, uint64_t pc);
void trail_target_image_deinit(struct trail_target_image *image);

#endif
