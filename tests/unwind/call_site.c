/* call_site.c -- which call is before an address, in bytes of assembled code. */
#include "core/trace/call_site.h"

#include "test.h"
#include "backtrail/symbolizer.h"

#define ADDRESS 0x401000u

/* As llvm-mc 14 has them; the bytes end at ADDRESS. */
static const struct {
    uint32_t arch;
    const char *code, *bytes;
    size_t size;
    enum trail_call_site site;
    uint64_t target;
} sites[] = {
#define IS(arch, code, bytes) TRAIL_ARCH_##arch, code, bytes, sizeof(bytes) - 1
    { IS(X86_64, "call .+0x105", "\x90\x90\x90\xe8\x00\x01\x00\x00"),
      TRAIL_CALL_SITE_DIRECT, 0x401100 },
    { IS(X86_64, "call .-0xfb", "\x90\x90\x90\xe8\x00\xff\xff\xff"),
      TRAIL_CALL_SITE_DIRECT, 0x400f00 },
    { IS(X86_64, "call *%rax", "\x90\x90\x90\x90\x90\x90\xff\xd0"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(X86_64, "call *8(%rax,%rbx)", "\x90\x90\x90\x90\xff\x54\x18\x08"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(X86_64, "syscall", "\x90\x90\x90\x90\x90\x90\x0f\x05"), TRAIL_CALL_SITE_SYSTEM,
      0 },
    { IS(X86_64, "nop", "\x90\x90\x90\x90\x90\x90\x90\x90"), TRAIL_CALL_SITE_NONE, 0 },
    { IS(X86_64, "too little", "\x90"), TRAIL_CALL_SITE_UNKNOWN, 0 },
    { IS(X86, "int $0x80", "\x90\x90\x90\x90\x90\x90\xcd\x80"), TRAIL_CALL_SITE_SYSTEM,
      0 },
    { IS(AARCH64, "bl .+0x104", "\x1f\x20\x03\xd5\x41\x00\x00\x94"),
      TRAIL_CALL_SITE_DIRECT, 0x401100 },
    { IS(AARCH64, "bl .-0xfc", "\x1f\x20\x03\xd5\xc1\xff\xff\x97"),
      TRAIL_CALL_SITE_DIRECT, 0x400f00 },
    { IS(AARCH64, "blr x8", "\x1f\x20\x03\xd5\x00\x01\x3f\xd6"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(AARCH64, "blraaz x8", "\x1f\x20\x03\xd5\x1f\x09\x3f\xd6"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(AARCH64, "svc #0", "\x1f\x20\x03\xd5\x01\x00\x00\xd4"), TRAIL_CALL_SITE_SYSTEM,
      0 },
    { IS(AARCH64, "b .", "\x1f\x20\x03\xd5\x00\x00\x00\x14"), TRAIL_CALL_SITE_NONE, 0 },
    { IS(AARCH64, "too little", "\x00\x94"), TRAIL_CALL_SITE_UNKNOWN, 0 },
    { IS(ARM, "bl .+0x104", "\x00\xf0\x20\xe3\x3f\x00\x00\xeb"), TRAIL_CALL_SITE_DIRECT,
      0x401100 },
    { IS(ARM, "bl .-0xfc", "\x00\xf0\x20\xe3\xbf\xff\xff\xeb"), TRAIL_CALL_SITE_DIRECT,
      0x400f00 },
    { IS(ARM, "blx r3", "\x00\xf0\x20\xe3\x33\xff\x2f\xe1"), TRAIL_CALL_SITE_INDIRECT,
      0 },
    { IS(ARM, "svc 0", "\x00\xf0\x20\xe3\x00\x00\x00\xef"), TRAIL_CALL_SITE_SYSTEM, 0 },
    { IS(ARM, "mov r0, r0", "\x00\xf0\x20\xe3\x00\x00\xa0\xe1"), TRAIL_CALL_SITE_NONE,
      0 },
    { IS(ARM, "thumb bl .+0x104", "\x00\xbf\x00\xbf\x00\xf0\x80\xf8"),
      TRAIL_CALL_SITE_DIRECT, 0x401100 },
    { IS(ARM, "thumb bl .-0xfc", "\x00\xbf\x00\xbf\xff\xf7\x80\xff"),
      TRAIL_CALL_SITE_DIRECT, 0x400f00 },
    { IS(ARM, "thumb blx r3", "\x00\xbf\x00\xbf\x00\xbf\x98\x47"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(ARM, "thumb svc 0", "\x00\xbf\x00\xbf\x00\xbf\x00\xdf"),
      TRAIL_CALL_SITE_SYSTEM, 0 },
    { IS(RISCV64, "jal ra, .+0x104", "\x01\x00\x01\x00\xef\x00\x40\x10"),
      TRAIL_CALL_SITE_DIRECT, 0x401100 },
    { IS(RISCV64, "jal ra, .-0xfc", "\x01\x00\x01\x00\xef\xf0\x5f\xf0"),
      TRAIL_CALL_SITE_DIRECT, 0x400f00 },
    { IS(RISCV64, "jalr ra, 0(a5)", "\x01\x00\x01\x00\xe7\x80\x07\x00"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(RISCV64, "c.jalr a5", "\x01\x00\x01\x00\x01\x00\x82\x97"),
      TRAIL_CALL_SITE_INDIRECT, 0 },
    { IS(RISCV64, "c.ebreak", "\x01\x00\x01\x00\x01\x00\x02\x90"), TRAIL_CALL_SITE_NONE,
      0 },
    { IS(RISCV64, "ecall", "\x01\x00\x01\x00\x73\x00\x00\x00"), TRAIL_CALL_SITE_SYSTEM,
      0 },
    { IS(RISCV64, "ret", "\x01\x00\x01\x00\x01\x00\x82\x80"), TRAIL_CALL_SITE_NONE, 0 },
    { IS(S390X, "brasl", "\xc0\xe5\x00\x00\x00\x01\x07\x07"), TRAIL_CALL_SITE_UNKNOWN,
      0 },
};

static void the_call_before_an_address_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++) {
        uint64_t target = 0;
        enum trail_call_site site =
            trail_call_site(sites[i].arch, ADDRESS, (const uint8_t *)sites[i].bytes,
                            sites[i].size, &target);
        if (site != sites[i].site || target != sites[i].target)
            fail_msg("%s: kind %d, target %#llx", sites[i].code, (int)site,
                     (unsigned long long)target);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_call_before_an_address_is_told),
};

TRAIL_TEST_MAIN(tests)
