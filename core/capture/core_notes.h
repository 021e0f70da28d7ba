/* core_notes.h -- what the kernel tells in a core file beside memory.
 *
 * Sources: System V gABI, "Note Section"; of Linux, include/linux/elfcore.h and
 * fs/binfmt_elf.c. Input is untrusted.
 */
#ifndef TRAIL_CORE_NOTES_H
#define TRAIL_CORE_NOTES_H

#include "core/capture/arch.h"
#include "core/trace/elf.h"

enum trail_core_note {
    TRAIL_CORE_STATUS = 1,         /* NT_PRSTATUS: a thread and its registers */
    TRAIL_CORE_PROCESS = 3,        /* NT_PRPSINFO */
    TRAIL_CORE_AUXV = 6,           /* NT_AUXV */
    TRAIL_CORE_FILES = 0x46494c45, /* NT_FILE */
    TRAIL_CORE_SIGNAL = 0x53494749 /* NT_SIGINFO */
};

/* Call `each` with the notes of owner CORE, in order, until it returns false, which is
 * returned then. Whatever is damaged ends a segment's list. */
bool trail_core_notes(const struct trail_elf *elf,
                      bool (*each)(void *arg, uint32_t type, struct trail_text note),
                      void *arg);
/* The thread id of a TRAIL_CORE_STATUS; 0: the note is too short. */
int64_t trail_core_thread(const struct trail_machine *machine, struct trail_text note);
/* The value of `type` in a TRAIL_CORE_AUXV; 0: it has none. */
uint64_t trail_core_auxv(const struct trail_machine *machine, struct trail_text note,
                         uint64_t type);
/* The 32 bits at `offset`; 0: the note is too short. */
uint32_t trail_core_u32(const struct trail_machine *machine, struct trail_text note,
                        size_t offset);

#endif
