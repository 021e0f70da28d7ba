/* code.c -- what x86 code tells of its frame. */
#include "test.h"
#include "core/capture/step_guess.h"

/* `depth` counts from sp, `fp_depth` from fp; 0 for what is not so. */
struct code {
    const char *name, *bytes;
    size_t size;
    uint8_t word_size;
    uint64_t depth, fp_depth, fp_place;
};
#define IS(name, bytes) name, bytes, sizeof(bytes) - 1

static const struct code prologues[] = {
    { IS("nothing", ""), 8, 0, 0, 0 },
    { IS("push rbp", "\x55"), 8, 8, 0, 8 },
    { IS("push rbp; mov rbp, rsp", "\x55\x48\x89\xe5"), 8, 8, 8, 8 },
    { IS("the other encoding of it", "\x55\x48\x8b\xec"), 8, 8, 8, 8 },
    { IS("endbr64; push rbx; sub rsp, 24", "\xf3\x0f\x1e\xfa\x53\x48\x83\xec\x18"), 8,
      32, 0, 0 },
    { IS("push r15; push r14; push rbp", "\x41\x57\x41\x56\x55"), 8, 24, 0, 24 },
    { IS("sub rsp, 0x1000", "\x48\x81\xec\x00\x10\x00\x00"), 8, 0x1000, 0, 0 },
    { IS("push rbp; mov rbp, rsp; push rbx; sub rsp, 8",
         "\x55\x48\x89\xe5\x53\x48\x83\xec\x08"),
      8, 24, 8, 8 },
    { IS("mov rbx, rdi; push rbx", "\x48\x89\xfb\x53"), 8, 8, 0, 0 },
    { IS("xor eax, eax; push rbx", "\x31\xc0\x53"), 8, 8, 0, 0 },
    { IS("push rbx; call: reading ends", "\x53\xe8\0\0\0\0\x53"), 8, 8, 0, 0 },
    { IS("sub rsp, -128: reading ends", "\x48\x83\xec\x80\x53"), 8, 0, 0, 0 },
    { IS("mov rbp, rdi: reading ends", "\x48\x89\xfd\x53"), 8, 0, 0, 0 },
    { IS("xor ebp, esp: reading ends", "\x31\xe5\x53"), 8, 0, 0, 0 },
    { IS("mov rbp, rsp of no pushed rbp: reading ends", "\x48\x89\xe5\x53"), 8, 0, 0,
      0 },
    { IS("an instruction that is cut off", "\x53\x48\x83\xec"), 8, 8, 0, 0 },
    { IS("push ebp; mov ebp, esp; sub esp, 24", "\x55\x89\xe5\x83\xec\x18"), 4, 28, 4,
      4 },
    { IS("inc eax, in 64 bits a prefix", "\x40\x53"), 4, 0, 0, 0 },
};

static void a_prologue_is_read_up_to_what_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(prologues) / sizeof(prologues[0]); i++) {
        const struct code *code = &prologues[i];
        struct trail_code_frame frame =
            trail_code_prologue((const uint8_t *)code->bytes, code->size,
                                code->word_size);
        if (frame.depth != code->depth || frame.has_fp != (code->fp_depth != 0) ||
            frame.fp_depth != code->fp_depth ||
            frame.saves_fp != (code->fp_place != 0) || frame.fp_place != code->fp_place)
            fail_msg("%s: depth %d", code->name, (int)frame.depth);
    }
}

static const struct code epilogues[] = {
    { IS("ret", "\xc3"), 8, 0, 0, 0 },
    { IS("repz ret", "\xf3\xc3"), 8, 0, 0, 0 },
    { IS("pop rbp; ret", "\x5d\xc3"), 8, 8, 0, 8 },
    { IS("pop rbx; pop rbp; pop r12; ret", "\x5b\x5d\x41\x5c\xc3"), 8, 24, 0, 16 },
    { IS("add rsp, 16; pop rbx; ret", "\x48\x83\xc4\x10\x5b\xc3"), 8, 24, 0, 0 },
    { IS("leave; ret", "\xc9\xc3"), 8, 8, 8, 8 },
    { IS("mov rsp, rbp; pop rbp; ret", "\x48\x89\xec\x5d\xc3"), 8, 8, 8, 8 },
    { IS("xor eax, eax; ret", "\x31\xc0\xc3"), 8, 0, 0, 0 },
    { IS("ret 8", "\xc2\x08\x00"), 8, 0, 0, 0 },
    { IS("leave; ret, of 32 bits", "\xc9\xc3"), 4, 4, 4, 4 },
};

static void an_epilogue_is_read_up_to_its_return(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(epilogues) / sizeof(epilogues[0]); i++) {
        const struct code *code = &epilogues[i];
        struct trail_code_frame frame;
        bool good = trail_code_epilogue((const uint8_t *)code->bytes, code->size,
                                        code->word_size, &frame);
        if (!good || frame.depth != code->depth ||
            frame.has_fp != (code->fp_depth != 0) ||
            (frame.has_fp && frame.fp_depth != code->fp_depth) ||
            frame.saves_fp != (code->fp_place != 0) ||
            (frame.saves_fp && frame.fp_place != code->fp_place))
            fail_msg("%s: depth %d", code->name, (int)frame.depth);
    }
}

static void other_code_is_no_epilogue(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t size;
    } others[] = {
        { IS("nothing", "") },
        { IS("push rbx; pop rbx; ret", "\x53\x5b\xc3") },
        { IS("call; ret", "\xe8\0\0\0\0\xc3") },
        { IS("pop rsp; ret", "\x5c\xc3") },
        { IS("no return in sight", "\x5b\x5d") },
        { IS("mov rbp, rsp; ret", "\x48\x89\xe5\xc3") },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        struct trail_code_frame frame;
        if (trail_code_epilogue((const uint8_t *)others[i].bytes, others[i].size, 8,
                                &frame))
            fail_msg("%s: taken", others[i].name);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_prologue_is_read_up_to_what_is_none),
    cmocka_unit_test(an_epilogue_is_read_up_to_its_return),
    cmocka_unit_test(other_code_is_no_epilogue),
};

TRAIL_TEST_MAIN(tests)
