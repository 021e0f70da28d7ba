/* arch.c -- the architectures that stacks are unwound of, as data.
 *
 * Sources: System V ABI AMD64, 3.2 and 3.6.2; Intel386 psABI, 2.4; DWARF for the Arm
 * 64-bit and 32-bit Architecture; AAPCS64, 6; RISC-V ELF psABI, 2; and of Linux the
 * structures rt_sigframe and sigcontext in arch/.../signal.c and asm/sigcontext.h.
 */
#include "core/capture/arch.h"

#include "backtrail/symbolizer.h"
#include "core/os/os.h"

#define BIT(n)         ((uint64_t)1 << (n))
#define BITS(from, to) ((BIT(to) - BIT(from)) | BIT(to))
#define LACKS          TRAIL_SIGNAL_FRAME_LACKS

/* Bytes from the start of rt_sigframe to that of the registers: siginfo, and the
 * members of ucontext before uc_mcontext. */
enum {
    SIGINFO = 128,
    X86_64_GREGS = 8 + 8 + 24,
    AARCH64_REGS = SIGINFO + 176 + 8,
    RISCV64_REGS = SIGINFO + 176,
    ARM_REGS = 20 + 12,
};

/* ---- signal frames ------------------------------------------------------ */

static const struct trail_signal_frame x86_64_frame = {
    .start = X86_64_GREGS,
    .pc = 128,
    .registers = 16, /* rax rdx rcx rbx rsi rdi rbp rsp r8 ... */
    .at = { 104, 96, 112, 88, 72, 64, 80, 120, 0, 8, 16, 24, 32, 40, 48, 56 },
};

/* eax ecx edx ebx esp ebp esi edi, as struct sigcontext has them. */
#define I386_REGISTERS                                                                 \
    .pc = 56, .registers = 8, .at = { 44, 40, 36, 32, 28, 24, 20, 16 }
static const struct trail_signal_frame i386_frame = { .start = 4, I386_REGISTERS };
/* The third argument of the handler points to its ucontext. */
static const struct trail_signal_frame i386_rt_frame = {
    .start = 8, .indirect = true, .base = 20, I386_REGISTERS
};

#define EIGHT(n)                                                                       \
    (n), (n) + 8, (n) + 16, (n) + 24, (n) + 32, (n) + 40, (n) + 48, (n) + 56
static const struct trail_signal_frame aarch64_frame = {
    .start = AARCH64_REGS,
    .pc = 256,
    .registers = 32, /* x0 to x30, sp */
    .at = { EIGHT(0), EIGHT(64), EIGHT(128), EIGHT(192) },
};

static const struct trail_signal_frame riscv64_frame = {
    .start = RISCV64_REGS,
    .pc = 0, /* in the place of x0, which is always 0 */
    .registers = 32,
    .at = { LACKS, 8, 16, 24, 32, 40, 48, 56, EIGHT(64), EIGHT(128), EIGHT(192) },
};

#define ARM_REGISTERS                                                                  \
    .pc = 60, .registers = 15,                                                         \
    .at = { 0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56 }
static const struct trail_signal_frame arm_frame = { .start = ARM_REGS, ARM_REGISTERS };
static const struct trail_signal_frame arm_rt_frame = { .start = SIGINFO + ARM_REGS,
                                                        ARM_REGISTERS };

/* ---- machines ----------------------------------------------------------- */

static const struct trail_machine machines[] = {
    {
        .arch = TRAIL_ARCH_X86_64,
        .name = "x86_64",
        .address_size = 8,
        .little = true,
        .register_count = 17,
        .cfi_count = 17,
        .sp = 7,
        .fp = 6,
        .pc = 16,
        .link = TRAIL_REGISTER_NONE,
        .preserved = BIT(3) | BIT(6) | BITS(12, 15),
        .return_mask = UINT64_MAX,
        .record_fp = 0,
        .record_return = 8,
        .record_size = 16,
        .exact_record = true,
        .code_align = 1,
        .context = &x86_64_frame,
        .context_start = X86_64_GREGS,
        .trampolines = {
            /* mov $15, %rax; syscall */
            { { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 }, 9, &x86_64_frame },
            /* mov $15, %eax; syscall */
            { { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 }, 7, &x86_64_frame },
        },
    },
    {
        .arch = TRAIL_ARCH_AARCH64,
        .name = "aarch64",
        .address_size = 8,
        .little = true,
        .register_count = 35,
        .cfi_count = 35,
        .sp = 31,
        .fp = 29,
        .pc = 32,
        .link = 30,
        .preserved = BITS(19, 29),
        .return_mask = BITS(0, 47),
        .record_fp = 0,
        .record_return = 8,
        .record_size = 16,
        .code_align = 4,
        .context = &aarch64_frame,
        .context_start = AARCH64_REGS - SIGINFO,
        .trampolines = {
            /* mov x8, #139; svc #0 */
            { { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 }, 8, &aarch64_frame },
        },
    },
    {
        .arch = TRAIL_ARCH_X86,
        .name = "i386",
        .address_size = 4,
        .little = true,
        .register_count = 9,
        .cfi_count = 9,
        .sp = 4,
        .fp = 5,
        .pc = 8,
        .link = TRAIL_REGISTER_NONE,
        .preserved = BIT(3) | BITS(5, 7),
        .return_mask = UINT32_MAX,
        .record_fp = 0,
        .record_return = 4,
        .record_size = 8,
        .exact_record = true,
        .code_align = 1,
        .context = &i386_frame,
        .context_start = 20,
        .trampolines = {
            /* pop %eax; mov $119, %eax; int $0x80 */
            { { 0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80 }, 8, &i386_frame },
            /* mov $173, %eax; int $0x80 */
            { { 0xb8, 173, 0, 0, 0, 0xcd, 0x80 }, 7, &i386_rt_frame },
        },
    },
    {
        .arch = TRAIL_ARCH_RISCV64,
        .name = "riscv64",
        .address_size = 8,
        .little = true,
        .register_count = 33,
        .cfi_count = 32,
        .sp = 2,
        .fp = 8,
        .pc = 32,
        .link = 1,
        .preserved = BIT(3) | BIT(4) | BIT(8) | BIT(9) | BITS(18, 27),
        .return_mask = UINT64_MAX,
        .record_fp = -16,
        .record_return = -8,
        .exact_record = true,
        .code_align = 2,
        .context = &riscv64_frame,
        .context_start = RISCV64_REGS - SIGINFO,
        .trampolines = {
            /* li a7, 139; ecall */
            { { 0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0 }, 8, &riscv64_frame },
        },
    },
    {
        .arch = TRAIL_ARCH_ARM,
        .name = "arm",
        .address_size = 4,
        .little = true,
        .register_count = 16,
        .cfi_count = 16,
        .sp = 13,
        .fp = 11,
        .pc = 15,
        .link = 14,
        .preserved = BITS(4, 11),
        .return_mask = UINT32_MAX & ~BIT(0),
        .record_fp = -4,
        .record_return = 0,
        .record_size = 4,
        .code_align = 2,
        .context = &arm_frame,
        .context_start = ARM_REGS,
        .trampolines = {
            /* mov r7, #119; svc 0, and for rt frames 173; the same in Thumb */
            { { 0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef }, 8, &arm_frame },
            { { 0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef }, 8, &arm_rt_frame },
            { { 0x77, 0x27, 0x00, 0xdf }, 4, &arm_frame },
            { { 0xad, 0x27, 0x00, 0xdf }, 4, &arm_rt_frame },
        },
    },
};

const struct trail_machine *trail_machine_of(uint32_t arch)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].arch == arch)
            return &machines[i];
    return NULL;
}

const struct trail_machine *trail_machine_native(void)
{
    return trail_machine_of(trail_os_arch());
}

uint64_t trail_machine_word(const struct trail_machine *machine, const uint8_t *bytes)
{
    uint64_t word = 0;
    size_t size = machine->address_size;
    for (size_t i = 0; i < size; i++)
        word = word << 8 | bytes[machine->little ? size - 1 - i : i];
    return word;
}

bool trail_machine_read_word(const struct trail_machine *machine, trail_read_fn *read,
                             void *read_arg, uint64_t address, uint64_t *word_ret)
{
    uint8_t bytes[8];
    if (!read(read_arg, address, bytes, machine->address_size))
        return false;
    *word_ret = trail_machine_word(machine, bytes);
    return true;
}

bool trail_machine_load(const struct trail_machine *machine,
                        const struct trail_signal_frame *frame, trail_read_fn *read,
                        void *read_arg, uint64_t start,
                        struct trail_registers *registers_ret)
{
    struct trail_registers registers = { .known = 0 };
    uint64_t word;
    if (!trail_machine_read_word(machine, read, read_arg, start + frame->pc, &word))
        return false;
    trail_register_set(&registers, machine->pc, word);
    for (unsigned i = 0; i < frame->registers; i++) {
        if (frame->at[i] == TRAIL_SIGNAL_FRAME_LACKS)
            continue;
        if (!trail_machine_read_word(machine, read, read_arg, start + frame->at[i],
                                     &word))
            return false;
        trail_register_set(&registers, i, word);
    }
    *registers_ret = registers;
    return true;
}

bool trail_machine_context(const struct trail_machine *machine, trail_read_fn *read,
                           void *read_arg, uint64_t ucontext,
                           struct trail_registers *registers_ret)
{
    return trail_machine_load(machine, machine->context, read, read_arg,
                              ucontext + machine->context_start, registers_ret);
}
