/* markup.c -- symbolizer markup: its bytes, and what it says of images. */
#define _GNU_SOURCE

#include "core/trace/markup_write.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test.h"

/* What was written, each write a packet of its own. */
struct written {
    char text[32768];
    size_t size, count, parted; /* parted: packets that do not end where a line does */
    int ends[2];
};

static void written_open(struct written *written)
{
    *written = (struct written){ .size = 0 };
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, written->ends), 0);
}

static void written_read(struct written *written)
{
    ssize_t got;
    close(written->ends[1]);
    do {
        got = read(written->ends[0], written->text + written->size,
                   sizeof(written->text) - written->size - 1);
        assert_true(got >= 0);
        written->size += (size_t)got;
        written->count += got > 0;
        written->parted += got > 0 && written->text[written->size - 1] != '\n';
    } while (got > 0);
    close(written->ends[0]);
}

static void written_by(void (*body)(struct trail_lines *lines, const void *arg),
                       const void *arg, size_t room, struct written *written_ret)
{
    char text[4096];
    written_open(written_ret);
    struct trail_lines lines = { .fd = written_ret->ends[1],
                                 .text = text,
                                 .room = room };
    body(&lines, arg);
    trail_lines_flush(&lines);
    written_read(written_ret);
}

static void print(const struct trail_backtrace *backtrace, struct written *written_ret)
{
    written_open(written_ret);
    trail_print_markup(written_ret->ends[1], backtrace);
    written_read(written_ret);
}

/* ---- bytes --------------------------------------------------------------- */

static const struct trail_backtrace made = {
    .count = 5,
    .flags = TRAIL_INFO_TRUNCATED,
    .addresses = { 0x7f0000001234, 0x7f0000003010, 0x123, 0xfffffffffffff000, 0 },
    .kinds = { TRAIL_PC_CURRENT, TRAIL_PC_RETURN, TRAIL_PC_TRAMPOLINE,
               TRAIL_PC_CONTINUATION, 0 },
};

static const struct trail_mapped image = {
    .path = (char *)(uintptr_t) "/opt/li b\xc3\xa9.so",
    .id = { 0x00, 0xab, 0x1f },
    .id_size = 3,
    .bias = 0x7f0000000000 - 0x400000,
    .range_count = 6,
    .ranges = { { .start = 0x7f0000000000, .end = 0x7f0000001000, .readable = true },
                { .start = 0x7f0000001000,
                  .end = 0x7f0000001abc,
                  .readable = true,
                  .executable = true },
                { .start = 0x7f0000002000, .end = 0x7f0000003000, .readable = true },
                { .start = 0x7f0000003000,
                  .end = 0x7f0000003011,
                  .readable = true,
                  .writable = true },
                { .start = 0x100, .end = 0x200 },
                { .start = 0x7f0000005000, .end = 0x7f0000005000, .executable = true } }
};

static void write_made(struct trail_lines *lines, const void *arg)
{
    (void)arg;
    trail_markup_module(lines, 12, &image, &made);
    trail_markup_frames(lines, &made, 0);
}

static void the_bytes_are_those_of_the_format(void **state)
{
    (void)state;
    struct written written;
    written_by(write_made, NULL, 4096, &written);
    assert_string_equal(written.text,
                        "{{{module:12:/opt/li b\xc3\xa9.so:elf:00ab1f}}}\n"
                        "{{{mmap:0x7f0000001000:0xabc:load:12:rx:0x401000}}}\n"
                        "{{{mmap:0x7f0000003000:0x11:load:12:rw:0x403000}}}\n"
                        "{{{bt:0:0x7f0000001234:pc}}}\n"
                        "{{{bt:1:0x7f0000003010:ra}}}\n"
                        "{{{bt:2:0x0123:pc}}}\n"
                        "{{{bt:3:0xfffffffffffff000:pc}}}\n"
                        "{{{bt:4:0x00:ra}}}\n"
                        "[... TRUNCATED ...]\n");
    assert_int_equal(written.count, 1);
}

static void frames_that_are_left_out_do_not_count(void **state)
{
    (void)state;
    char text[256];
    struct written written;
    written_open(&written);
    struct trail_lines lines = { .fd = written.ends[1], .text = text, .room = 256 };
    struct trail_backtrace whole = made;
    whole.flags = 0;
    trail_markup_frames(&lines, &whole, 3);
    trail_lines_flush(&lines);
    written_read(&written);
    assert_string_equal(written.text, "{{{bt:0:0xfffffffffffff000:pc}}}\n"
                                      "{{{bt:1:0x00:ra}}}\n");
}

static void text_that_does_not_fit_is_parted_where_a_line_ends(void **state)
{
    (void)state;
    struct written whole, parts;
    written_by(write_made, NULL, 4096, &whole);
    for (size_t room = 8; room < whole.size + 2; room++) { /* a socket holds 200 */
        written_by(write_made, NULL, room, &parts);
        assert_string_equal(parts.text, whole.text);
        if (room >= 60) /* no line is longer */
            assert_int_equal(parts.parted, 0);
        assert_true(parts.count > 1 || room >= whole.size);
        assert_true(parts.count == 1 || room < whole.size);
    }
}

static void write_named(struct trail_lines *lines, const void *arg)
{
    const struct trail_mapped named = { .path = (char *)(uintptr_t)arg };
    trail_markup_module(lines, 0, &named, &made);
}

static void assert_name(const char *path, const char *want)
{
    struct written written;
    char line[256];
    snprintf(line, sizeof(line), "{{{module:0:%s:elf:}}}\n", want);
    written_by(write_named, path, 4096, &written);
    assert_string_equal(written.text, line);
}

static void a_name_has_no_byte_that_a_field_cannot_hold(void **state)
{
    (void)state;
    for (unsigned byte = 1; byte < 256; byte++) {
        const char path[] = { 'a', (char)byte, 'b', 0 };
        bool fits = byte >= 0x20 && byte < 0x7f && !strchr(":{}", (int)byte);
        assert_name(path, fits ? path : "a?b");
    }
    assert_name("/a}}}\n{{{bt:0:0x1:pc}}}", "/a???????bt?0?0x1?pc???");
    assert_name("\xc2\x9b\xe2\x82\xac\xed\xa0\x80\xe2\x82", "?\xe2\x82\xac?????");
    assert_name("", "");
}

/* ---- images of this process ----------------------------------------------- */

static void take(void *arg)
{
    trail_capture(arg);
}

static void *load(int number, void (**call_ret)(void (*body)(void *arg), void *arg))
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/trace_image_%d.so", TEST_IMAGE_DIR, number);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    void *symbol = dlsym(handle, "image_call");
    memcpy(call_ret, &symbol, sizeof(symbol));
    return handle;
}

/* A stack that went twice through image 1, which is gone; `known`: the map had it. */
static void take_gone(struct trail_backtrace *backtrace_ret, bool known)
{
    Dl_info info;
    void (*call)(void (*body)(void *arg), void *arg);
    assert_ok(trail_module_map_refresh(NULL));
    void *handle = load(1, &call);
    if (known)
        assert_ok(trail_module_map_refresh(NULL));
    call(take, backtrace_ret);
    for (uint32_t i = 0; i < backtrace_ret->count; i++)
        if (dladdr((void *)backtrace_ret->addresses[i], &info) &&
            strstr(info.dli_fname, "trace_image_1"))
            backtrace_ret->addresses[backtrace_ret->count - 1] =
                backtrace_ret->addresses[i] - 1;
    dlclose(handle);
}

static size_t count(const char *text, const char *part)
{
    size_t found = 0;
    for (; (text = strstr(text, part)); text++)
        found++;
    return found;
}

/* The mmap lines that hold `pc`, and that its module line comes before. */
static size_t covers(const char *text, uint64_t pc)
{
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, "{{{mmap:")); at++) {
        char *end, module[32];
        uint64_t start = strtoull(at + 8, &end, 16), size = strtoull(end + 1, &end, 16);
        snprintf(module, sizeof(module), "{{{module:%lu:", strtoul(end + 6, NULL, 10));
        const char *line = strstr(text, module);
        found += pc >= start && pc < start + size && line && line < at;
    }
    return found;
}

static void assert_told(void *arg, const struct trail_mapped *told)
{
    char line[5000], id[129] = "";
    for (uint8_t i = 0; i < told->id_size; i++)
        snprintf(id + 2 * i, sizeof(id) - 2u * i, "%02x", told->id[i]);
    snprintf(line, sizeof(line), ":%s:elf:%s}}}\n", told->path, id);
    assert_int_equal(count(arg, line), 1);
}

/* The loader's lock is not asked, but what is told is the same. */
static void the_images_are_those_of_a_raw_trace(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct written written;
    void (*call)(void (*body)(void *arg), void *arg);
    void *handle = load(2, &call);
    call(take, &backtrace);
    print(&backtrace, &written);
    assert_int_equal(strncmp(written.text, "{{{reset}}}\n{{{module:0:", 24), 0);
    assert_ok(trail_module_map_touched(&backtrace, assert_told, written.text, NULL));
    for (uint32_t i = 0; i < backtrace.count; i++)
        assert_int_equal(covers(written.text, backtrace.addresses[i]), 1);
    assert_null(strstr(written.text, "TRUNCATED"));
    dlclose(handle);
}

static void frames_of_the_capture_are_left_out_unless_all_are(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct written written;
    char first[64];
    uint64_t start, end;
    uint32_t own = 0;
    trail_os_own_code(&start, &end);
    trail_capture(&backtrace);
    while (backtrace.addresses[own] >= start && backtrace.addresses[own] < end)
        own++;
    assert_in_range(own, 1, backtrace.count - 1);
    print(&backtrace, &written);
    snprintf(first, sizeof(first), "{{{bt:0:0x%llx:ra}}}\n",
             (unsigned long long)backtrace.addresses[own]);
    assert_contains(written.text, first);
    assert_int_equal(count(written.text, "{{{bt:"), backtrace.count - own);
    backtrace.count = own;
    print(&backtrace, &written);
    assert_int_equal(count(written.text, "{{{bt:"), own);
}

static void an_image_that_was_unloaded_is_told_as_the_map_had_it(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct written written;
    void (*call)(void (*body)(void *arg), void *arg);
    take_gone(&backtrace, true);
    void *handle = load(2, &call); /* as a rule where the first one was */
    print(&backtrace, &written);
    assert_ok(trail_module_map_touched(&backtrace, assert_told, written.text, NULL));
    assert_contains(written.text, "trace_image_1.so:elf:");
    assert_null(strstr(written.text, "trace_image_2.so"));
    dlclose(handle);
}

static void an_image_that_nobody_knew_lends_its_place_to_no_other(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct written written;
    void (*call)(void (*body)(void *arg), void *arg);
    take_gone(&backtrace, false);
    void *handle = load(2, &call);
    for (uint32_t i = 0; i < backtrace.stamp_count; i++)
        backtrace.stamps[i].hash ^= backtrace.stamps[i].hash == 0;
    print(&backtrace, &written);
    assert_null(strstr(written.text, "trace_image_2.so"));
    for (uint32_t i = 0; i < backtrace.count; i++)
        assert_int_equal(covers(written.text, backtrace.addresses[i]), 1);
    dlclose(handle);
}

struct interruption {
    struct trail_backtrace backtrace;
    struct written written;
};

/* In the place of a handler that interrupts whoever has the map's lock. */
static void on_locked(void *arg, const struct trail_mapped *unused)
{
    struct interruption *interruption = arg;
    (void)unused;
    if (!interruption->written.size)
        print(&interruption->backtrace, &interruption->written);
}

static void a_map_that_is_in_use_is_not_waited_for(void **state)
{
    (void)state;
    struct interruption *at = calloc(1, sizeof(*at));
    assert_non_null(at);
    take_gone(&at->backtrace, true);
    assert_ok(trail_module_map_touched(&at->backtrace, on_locked, at, NULL));
    const char *gone = strstr(at->written.text, ":[unloaded]:elf:}}}\n{{{mmap:");
    assert_non_null(gone);
    gone = strchr(strstr(gone, ":load:"), '}');
    assert_int_equal(strncmp(gone - 7, ":x:0x00}}}\n", 11), 0);
    assert_null(strstr(at->written.text, "trace_image_1.so"));
    for (uint32_t i = 0; i < at->backtrace.count; i++)
        assert_int_equal(covers(at->written.text, at->backtrace.addresses[i]), 1);
    free(at);
}

static void a_print_to_standard_error_is_one_write(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct written written;
    trail_capture(&backtrace);
    while (backtrace.count < TRAIL_MAX_FRAMES) /* as deep as they come */
        backtrace.addresses[backtrace.count++] = backtrace.addresses[0];
    written_open(&written);
    int kept = dup(2);
    assert_int_equal(dup2(written.ends[1], 2), 2);
    trail_markup_print(&backtrace, TRAIL_FULL);
    assert_int_equal(dup2(kept, 2), 2);
    close(kept);
    written_read(&written);
    assert_int_equal(written.count, 1);
    assert_true(written.size > 4096);
    assert_contains(written.text, "}}}\nbacktrace:\n{{{bt:0:");
}

static void an_address_in_no_image_is_told_alone(void **state)
{
    (void)state;
    struct written written;
    const struct trail_backtrace nowhere = { .count = 2, .addresses = { 0, 0x1000 } };
    const struct trail_backtrace empty = { .count = 0 };
    print(&nowhere, &written);
    assert_string_equal(written.text, "{{{reset}}}\n"
                                      "{{{bt:0:0x00:ra}}}\n{{{bt:1:0x1000:ra}}}\n");
    print(&empty, &written);
    assert_string_equal(written.text, "{{{reset}}}\n");
}

static void the_kernel_s_own_image_has_a_name_and_an_id(void **state)
{
    (void)state;
    struct written written;
    uintptr_t vdso = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    const struct trail_backtrace inside = { .count = 1, .addresses = { vdso + 0x600 } };
    if (!vdso)
        skip();
    print(&inside, &written);
    assert_contains(written.text, "{{{module:0:[vdso]:elf:");
    assert_null(strstr(written.text, ":elf:}}}"));
    assert_int_equal(covers(written.text, vdso + 0x600), 1);
}

/* ---- in a handler ----------------------------------------------------------- */

static struct written handled;
static int error_after;

static void on_signal(int number, siginfo_t *info, void *context)
{
    static struct trail_backtrace backtrace;
    (void)number, (void)info;
    trail_capture_context(&backtrace, context);
    errno = EDOM;
    trail_print_markup(handled.ends[1], &backtrace);
    trail_print_markup(-1, &backtrace); /* which fails */
    error_after = errno;
}

static void a_handler_prints_where_it_interrupted_and_keeps_errno(void **state)
{
    (void)state;
    struct sigaction before,
        action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    sigemptyset(&action.sa_mask);
    written_open(&handled);
    assert_int_equal(sigaction(SIGPROF, &action, &before), 0);
    raise(SIGPROF);
    assert_int_equal(sigaction(SIGPROF, &before, NULL), 0);
    written_read(&handled);
    assert_int_equal(error_after, EDOM);
    const char *first = strstr(handled.text, "{{{bt:0:");
    assert_non_null(first);
    assert_int_equal(strncmp(strchr(first, '}') - 3, ":pc}}}", 6), 0);
    assert_int_equal(count(handled.text, ":pc}}}"), 1);
    assert_int_equal(handled.parted, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_bytes_are_those_of_the_format),
    cmocka_unit_test(frames_that_are_left_out_do_not_count),
    cmocka_unit_test(text_that_does_not_fit_is_parted_where_a_line_ends),
    cmocka_unit_test(a_name_has_no_byte_that_a_field_cannot_hold),
    cmocka_unit_test(the_images_are_those_of_a_raw_trace),
    cmocka_unit_test(frames_of_the_capture_are_left_out_unless_all_are),
    cmocka_unit_test(an_image_that_was_unloaded_is_told_as_the_map_had_it),
    cmocka_unit_test(an_image_that_nobody_knew_lends_its_place_to_no_other),
    cmocka_unit_test(a_map_that_is_in_use_is_not_waited_for),
    cmocka_unit_test(a_print_to_standard_error_is_one_write),
    cmocka_unit_test(an_address_in_no_image_is_told_alone),
    cmocka_unit_test(the_kernel_s_own_image_has_a_name_and_an_id),
    cmocka_unit_test(a_handler_prints_where_it_interrupted_and_keeps_errno),
};
TRAIL_TEST_MAIN(tests)
