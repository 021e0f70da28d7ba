/* agree.c -- a byte of code has one answer, whichever way it is asked for. */
#include "dwarf/opened.h"
#include "dwarf/told.h"

#include <dirent.h>

#define TEXT_MAX 16384 /* of an answer in words */

static void add_frame(char *text, size_t size, const char *function, const char *file,
                      const struct origin_frame *frame)
{
    size_t used = strlen(text);
    int added = snprintf(text + used, size - used, "[%s@%s:%u:%u]", function, file,
                         frame->line, frame->column);
    assert_true(added > 0 && (size_t)added < size - used);
}

/* The frames that the reader gives, in words. */
static void describe(struct dwarf *dwarf, const struct origin_frame *frames,
                     uint32_t count, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        struct dwarf_function function = { .name = NULL };
        struct dwarf_source source = { NULL, NULL };
        struct told_name name = { "" }, file = { "" };
        if (dwarf_function_of(dwarf, frames[i].function, &function))
            told_join(&name, trail_text_of(function.name), '|',
                      trail_text_of(function.linkage));
        if (dwarf_source_of(dwarf, frames[i].file, &source))
            told_join(&file, trail_text_of(source.directory), ':',
                      trail_text_of(source.path));
        add_frame(text, size, name.text, file.text, &frames[i]);
    }
}

static void describe_told(const struct told *told, uint64_t address, char *text,
                          size_t size)
{
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    uint32_t count = told_frames(told, address, frames);
    text[0] = '\0';
    for (uint32_t i = 0; i < count; i++)
        add_frame(text, size, told->functions[frames[i].function].text,
                  told->files[frames[i].file].text, &frames[i]);
}

struct cold {
    struct dwarf *dwarf;
    char (*texts)[TEXT_MAX]; /* by index */
    uint32_t *discriminators;
};

static enum trail_status keep_chain(void *arg, size_t index,
                                    const struct dwarf_chain *chain)
{
    struct cold *cold = arg;
    describe(cold->dwarf, chain->frames, chain->count, cold->texts[index], TEXT_MAX);
    cold->discriminators[index] = chain->discriminator;
    return TRAIL_OK;
}

static void resolve(struct dwarf *dwarf, const uint64_t *addresses, size_t count,
                    struct cold *cold)
{
    cold->dwarf = dwarf;
    cold->texts = calloc(count, sizeof(*cold->texts));
    cold->discriminators = calloc(count, sizeof(*cold->discriminators));
    assert_true(cold->texts && cold->discriminators);
    assert_ok(dwarf_resolve(dwarf, NULL, addresses, count, keep_chain, cold));
}

static void cold_free(struct cold *cold)
{
    free(cold->texts);
    free(cold->discriminators);
}

#define STEP 1024 /* bytes of code at a time */

static void same_text(const char *fixture, uint64_t address, const char *way,
                      const char *one, const char *other)
{
    if (strcmp(one, other) == 0)
        return;
    print_error("%s %#llx cold %s\n%s %s\n", fixture, (unsigned long long)address, one,
                way, other);
    fail();
}

/* Compares [start, end) of a fixture. */
static void compare(const char *fixture, struct opened *opened, const struct told *told,
                    uint64_t start, uint64_t end)
{
    uint64_t addresses[STEP];
    size_t count = (size_t)(end - start);
    struct cold cold, warm;
    for (size_t i = 0; i < count; i++)
        addresses[i] = start + i;
    opened_start(opened);
    resolve(opened->dwarf, addresses, count, &cold);
    opened_start(opened); /* the third batch is answered by units read whole */
    for (int i = 0; i < 2; i++) {
        resolve(opened->dwarf, addresses, count, &warm);
        cold_free(&warm);
    }
    resolve(opened->dwarf, addresses, count, &warm);
    for (size_t i = 0; i < count; i++) {
        struct origin_frame frames[ORIGIN_CHAIN_MAX];
        char text[TEXT_MAX];
        same_text(fixture, addresses[i], "warm", cold.texts[i], warm.texts[i]);
        assert_int_equal(cold.discriminators[i], warm.discriminators[i]);
        uint32_t found = dwarf_lookup(opened->dwarf, addresses[i], frames);
        describe(opened->dwarf, frames, found, text, sizeof(text));
        same_text(fixture, addresses[i], "single", cold.texts[i], text);
        describe_told(told, addresses[i], text, sizeof(text));
        same_text(fixture, addresses[i], "told", cold.texts[i], text);
    }
    cold_free(&cold);
    cold_free(&warm);
}

static void compare_fixture(const char *fixture)
{
    struct opened opened;
    struct told told;
    if (!opened_read(&opened, fixture))
        return;
    told_init(&told);
    struct trail_map_out out = told_out(&told);
    opened_start(&opened);
    assert_ok(dwarf_enumerate(opened.dwarf, NULL, 0, 1, &out));
    for (size_t i = 0; i < opened.input.code_count; i++)
        for (uint64_t at = opened.code[i].start; at < opened.code[i].end; at += STEP)
            compare(fixture, &opened, &told, at,
                    opened.code[i].end - at > STEP ? at + STEP : opened.code[i].end);
    told_deinit(&told);
    opened_close(&opened);
}

/* Fixtures that have expected answers, and no code but their own. */
static void each_fixture(void (*check)(const char *fixture))
{
    DIR *directory = opendir(TEST_SOURCE_DIR "/tests/fixtures/elf");
    assert_non_null(directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char *end = strstr(entry->d_name, ".expect.tsv");
        if (!end || strstr(entry->d_name, "staticpie"))
            continue;
        *end = '\0';
        check(entry->d_name);
        count++;
    }
    closedir(directory);
    assert_true(count > 20);
}

static void a_byte_of_code_has_one_answer_cold_warm_and_in_an_enumeration(void **unused)
{
    (void)unused;
    each_fixture(compare_fixture);
}

/* ---- calls ------------------------------------------------------- */

static bool is_told(const struct told *told, const struct told_call *call)
{
    for (uint32_t i = 0; i < told->call_count; i++)
        if (told->calls[i].return_address == call->return_address &&
            told->calls[i].target == call->target &&
            told->calls[i].is_tail == call->is_tail &&
            strcmp(told->calls[i].linkage, call->linkage) == 0)
            return true;
    return false;
}

/* Asked about all addresses, it tells the calls of an enumeration, and no other. */
static void compare_calls(const char *fixture)
{
    struct opened opened;
    struct told all, asked;
    if (!opened_read(&opened, fixture))
        return;
    told_init(&all);
    told_init(&asked);
    opened_start(&opened);
    struct trail_map_out out = told_out(&all), asked_out = told_out(&asked);
    assert_ok(dwarf_enumerate(opened.dwarf, NULL, 0, 1, &out));
    for (size_t i = 0; i < opened.input.code_count; i++) {
        uint64_t start = opened.code[i].start, size = opened.code[i].end - start + 1;
        uint64_t *addresses = calloc(size, sizeof(*addresses));
        for (uint64_t k = 0; k < size; k++)
            addresses[k] = start + k;
        assert_ok(dwarf_calls(opened.dwarf, NULL, addresses, (size_t)size, &asked_out));
        free(addresses);
    }
    for (uint32_t i = 0; i < all.call_count; i++)
        if (!is_told(&asked, &all.calls[i])) {
            print_error("%s: call of %s before %#llx is not told\n", fixture,
                        all.calls[i].linkage,
                        (unsigned long long)all.calls[i].return_address);
            fail();
        }
    assert_int_equal(asked.call_count, all.call_count);
    told_deinit(&all);
    told_deinit(&asked);
    opened_close(&opened);
}

static void calls_at_addresses_are_those_of_an_enumeration(void **unused)
{
    (void)unused;
    each_fixture(compare_calls);
}

/* ---- a half that is missing -------------------------------------- */

static enum trail_status count_incomplete(void *arg, size_t index,
                                          const struct dwarf_chain *chain)
{
    uint32_t *count = arg;
    (void)index;
    assert_true(chain->is_incomplete && chain->count == 1);
    assert_int_equal(chain->frames[0].function, 0);
    ++*count;
    return TRAIL_OK;
}

/* The skeletons have lines, and nobody finds the .dwo files that have the functions. */
static void a_unit_whose_other_half_is_missing_is_told_as_a_function_without_a_name(
    void **unused)
{
    (void)unused;
    struct opened opened;
    struct told told;
    uint32_t count = 0;
    assert_true(opened_read(&opened, "x64-split-gcc-dw5/prog"));
    opened_start(&opened);
    told_init(&told);
    struct trail_map_out out = told_out(&told);
    assert_ok(dwarf_enumerate(opened.dwarf, NULL, 0, 1, &out));
    assert_true(told.range_count > 10);
    assert_int_equal(told.function_count, 1);
    assert_string_equal(told.functions[1].text, "|");
    assert_int_equal(told.function_starts[1], 0);
    for (uint32_t i = 0; i < told.range_count; i++) {
        assert_int_equal(told.scopes[told.ranges[i].scope].function, 1);
        assert_ok(dwarf_resolve(opened.dwarf, NULL, &told.ranges[i].start, 1,
                                count_incomplete, &count));
    }
    assert_int_equal(count, told.range_count);
    told_deinit(&told);
    opened_close(&opened);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(
        a_unit_whose_other_half_is_missing_is_told_as_a_function_without_a_name),
    cmocka_unit_test(a_byte_of_code_has_one_answer_cold_warm_and_in_an_enumeration),
    cmocka_unit_test(calls_at_addresses_are_those_of_an_enumeration),
};
TRAIL_TEST_MAIN(tests)
