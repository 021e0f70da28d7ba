/* stale.c -- a library in two versions of one size: only their frames differ, so that
 * whoever remembers one walks the other wrong. */
#define FRAME_TEXT(size)   FRAME_DIGITS(size)
#define FRAME_DIGITS(size) #size

/* void stale(void (*body)(void), uintptr_t *returns_to_ret) */
__asm__(".text\n"
        ".globl stale\n"
        ".type stale, @function\n"
        "stale:\n"
        ".cfi_startproc\n"
        "movq (%rsp), %rax\n"
        "movq %rax, (%rsi)\n"
        "subq $" FRAME_TEXT(
            FRAME) ", %rsp\n"
                   ".cfi_adjust_cfa_offset " FRAME_TEXT(
                       FRAME) "\n"
                              "callq *%rdi\n"
                              "addq $" FRAME_TEXT(
                                  FRAME) ", %rsp\n"
                                         ".cfi_adjust_cfa_offset -" FRAME_TEXT(
                                             FRAME) "\n"
                                                    "ret\n"
                                                    ".cfi_endproc\n"
                                                    ".size stale, . - stale\n");
