/* disassemble_capstone.c -- machine code as text, by capstone.
 *
 * It is loaded when it is asked for: its tables have some 75,000 relocations, which
 * every start of the program would pay for.
 */
#include "agent/sym/disassemble.h"

#include <stdlib.h>

#include <capstone/capstone.h>

#include "backtrail/symbolizer.h"
#include "core/os/os.h"

#define TEXT_OF(number)  #number
#define SONAME_OF(major) "libcapstone.so." TEXT_OF(major)
#define SONAME           SONAME_OF(CS_API_MAJOR)

/* What is used of it, each by its name without "cs_". */
static struct {
    cs_err (*open)(cs_arch arch, cs_mode mode, csh *handle);
    cs_err (*close)(csh *handle);
    cs_err (*option)(csh handle, cs_opt_type type, size_t value);
    cs_insn *(*insn_create)(csh handle);
    void (*insn_destroy)(cs_insn *insn, size_t count);
    bool (*disasm_iter)(csh handle, const uint8_t **code, size_t *size,
                        uint64_t *address, cs_insn *insn);
    bool (*insn_group)(csh handle, const cs_insn *insn, unsigned group);
} capstone;

/* Once; it stays until the program ends. */
static enum trail_status load(struct trail_error *err)
{
    const struct {
        const char *name;
        void *at;
    } functions[] = {
        { "cs_open", &capstone.open },
        { "cs_close", &capstone.close },
        { "cs_option", &capstone.option },
        { "cs_malloc", &capstone.insn_create },
        { "cs_free", &capstone.insn_destroy },
        { "cs_disasm_iter", &capstone.disasm_iter },
        { "cs_insn_group", &capstone.insn_group },
    };
    static struct trail_os_library *library;
    struct trail_error why;
    if (library)
        return TRAIL_OK;
    if (trail_os_library_open(SONAME, &library, &why))
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "%.200s; install it, or use --code for the bytes", why.text);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *function = trail_os_library_symbol(library, functions[i].name);
        memcpy(functions[i].at, &function, sizeof(function));
        if (!function)
            return trail_fail(err, TRAIL_UNSUPPORTED, "%s: has no %s", SONAME,
                              functions[i].name);
    }
    return TRAIL_OK;
}

struct mode {
    cs_arch arch;
    unsigned mode; /* cs_mode, or-ed */
};

static bool mode_of(const struct instruction_set *set, struct mode *mode_ret)
{
    unsigned order = set->little ? CS_MODE_LITTLE_ENDIAN : (unsigned)CS_MODE_BIG_ENDIAN;
    switch (set->arch) {
    case TRAIL_ARCH_X86_64:
        *mode_ret = (struct mode){ CS_ARCH_X86, CS_MODE_64 };
        return true;
    case TRAIL_ARCH_X86:
        *mode_ret = (struct mode){ CS_ARCH_X86, CS_MODE_32 };
        return true;
    case TRAIL_ARCH_AARCH64: /* its code is little-endian in any file */
        *mode_ret = (struct mode){ CS_ARCH_ARM64, CS_MODE_ARM };
        return true;
    case TRAIL_ARCH_ARM:
        *mode_ret = (struct mode){ CS_ARCH_ARM,
                                   (set->thumb ? CS_MODE_THUMB : CS_MODE_ARM) | order };
        return true;
    case TRAIL_ARCH_PPC:
        *mode_ret = (struct mode){ CS_ARCH_PPC, CS_MODE_32 | order };
        return true;
    case TRAIL_ARCH_PPC64:
        *mode_ret = (struct mode){ CS_ARCH_PPC, CS_MODE_64 | order };
        return true;
    case TRAIL_ARCH_S390X:
        *mode_ret = (struct mode){ CS_ARCH_SYSZ, (unsigned)CS_MODE_BIG_ENDIAN };
        return true;
#if CS_API_MAJOR >= 5
    case TRAIL_ARCH_RISCV64:
        *mode_ret = (struct mode){ CS_ARCH_RISCV, CS_MODE_RISCV64 | CS_MODE_RISCVC };
        return true;
#endif
    default:
        return false;
    }
}

/* The address that the last operand is, if it is one: "0x401020", "#0x401020". */
static bool target_of(const char *operands, uint64_t *target_ret)
{
    const char *comma = strrchr(operands, ',');
    const char *at = comma ? comma + 1 : operands;
    char *end = NULL;
    at += strspn(at, " #");
    if (strncmp(at, "0x", 2) != 0)
        return false;
    *target_ret = strtoull(at, &end, 16);
    return *end == 0;
}

/* Capstone's PowerPC and s390x tables put few branches into its groups: there the
 * mnemonic tells. Elsewhere it does not: bfi and btr are no branches. */
static bool has_groups(uint32_t arch)
{
    return arch != TRAIL_ARCH_PPC && arch != TRAIL_ARCH_PPC64 &&
           arch != TRAIL_ARCH_S390X;
}

/* "bl", "bleq", "blx", "blxne": not "ble", "bls.w". */
static bool is_arm_call(const char *mnemonic)
{
    size_t size = strcspn(mnemonic, ".");
    return strncmp(mnemonic, "blx", 3) == 0 ||
           (strncmp(mnemonic, "bl", 2) == 0 && (size == 2 || size == 4));
}

static bool is_call(csh handle, const cs_insn *insn, uint32_t arch)
{
    static const char *const names[] = { "bl", "bla", "brasl", "bras", "basr" };
    if (capstone.insn_group(handle, insn, CS_GRP_CALL))
        return true;
    if (arch == TRAIL_ARCH_AARCH64)
        return strncmp(insn->mnemonic, "bl", 2) == 0;
    if (arch == TRAIL_ARCH_ARM)
        return is_arm_call(insn->mnemonic);
    for (size_t i = 0; !has_groups(arch) && i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], insn->mnemonic) == 0)
            return true;
    return false;
}

static bool is_jump(csh handle, const cs_insn *insn, uint32_t arch)
{
    char first = insn->mnemonic[0];
    if (has_groups(arch))
        return capstone.insn_group(handle, insn, CS_GRP_JUMP);
    return first == 'b' ||
           (arch == TRAIL_ARCH_S390X && (first == 'j' || first == 'c') &&
            strchr(insn->mnemonic, 'j'));
}

static void describe(csh handle, const cs_insn *insn, uint32_t arch, char *text,
                     size_t size, struct instruction *it)
{
    snprintf(text, size, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "",
             insn->op_str);
    *it = (struct instruction){
        .address = insn->address, .bytes = insn->bytes, .size = insn->size, .text = text
    };
    if (insn->id == 0) /* bytes that are no instruction */
        return;
    it->is_call = is_call(handle, insn, arch);
    if (it->is_call || is_jump(handle, insn, arch))
        it->has_target = target_of(insn->op_str, &it->target);
}

static enum trail_status open_handle(const struct instruction_set *set, csh *handle_ret,
                                     struct trail_error *err)
{
    struct mode mode;
    enum trail_status status = load(err);
    if (status)
        return status;
    if (!mode_of(set, &mode) ||
        capstone.open(mode.arch, (cs_mode)mode.mode, handle_ret) != CS_ERR_OK)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "capstone %d.%d does not know this machine's instructions; "
                          "--code prints the bytes",
                          CS_API_MAJOR, CS_API_MINOR);
    capstone.option(*handle_ret, CS_OPT_DETAIL, CS_OPT_ON);
    capstone.option(*handle_ret, CS_OPT_SKIPDATA, CS_OPT_ON);
    return TRAIL_OK;
}

enum trail_status disassemble(const struct instruction_set *set, struct trail_text code,
                              uint64_t address,
                              bool (*each)(void *arg, const struct instruction *it),
                              void *arg, struct trail_error *err)
{
    csh handle;
    char text[256];
    struct instruction it;
    enum trail_status status = open_handle(set, &handle, err);
    if (status)
        return status;
    cs_insn *insn = capstone.insn_create(handle);
    if (!insn) {
        capstone.close(&handle);
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory to disassemble");
    }
    const uint8_t *at = (const uint8_t *)code.data;
    size_t left = code.size;
    while (capstone.disasm_iter(handle, &at, &left, &address, insn)) {
        describe(handle, insn, set->arch, text, sizeof(text), &it);
        it.bytes = at - insn->size; /* capstone's copy ends after 16 bytes */
        if (!each(arg, &it))
            break;
    }
    capstone.insn_destroy(insn, 1);
    capstone.close(&handle);
    return TRAIL_OK;
}
