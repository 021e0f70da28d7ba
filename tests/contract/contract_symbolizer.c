/* contract_symbolizer.c FILE NAME -- what symbolizer.h promises of every symbolizer,
 * asked of the one in FILE. */
#define _XOPEN_SOURCE 700

#include "contract.h"

#include <fcntl.h>
#include <unistd.h>

static struct contract contract;
static const struct trail_symbolizer *table;

/* ---- the host ----------------------------------------------------------- */

static int go_on(void *host)
{
    (void)host;
    return 0;
}

static void ignore_log(void *host, int level, struct trail_text text)
{
    (void)host, (void)level, (void)text;
}

static enum trail_status find_nothing(void *host, const struct trail_want *want,
                                      struct trail_source *source_ret)
{
    (void)host, (void)source_ret;
    assert_non_null(want);
    return TRAIL_NOT_FOUND;
}

static void release_nothing(void *host, struct trail_source *source)
{
    (void)host, (void)source;
}

static const struct trail_call call = { .size = sizeof(call),
                                        .threads = 1,
                                        .stop = go_on,
                                        .log = ignore_log,
                                        .find = find_nothing,
                                        .release = release_nothing };

/* A file of each format that is at hand, and where its code lies. */
static const struct sample {
    uint32_t format, arch;
    const char *file;
    uint64_t start, end;
} samples[] = {
    { TRAIL_FORMAT_ELF, TRAIL_ARCH_X86_64, "elf/x64-gcc-dw5-O2", 0x401000, 0x40112a },
    { TRAIL_FORMAT_ELF, TRAIL_ARCH_S390X, "elf/s390x-gcc-dw5-O2", 0x1000188,
      0x1000390 },
};

static struct trail_module module_of(uint32_t format, uint32_t arch)
{
    return (struct trail_module){ .size = sizeof(struct trail_module),
                                  .format = format,
                                  .arch = arch,
                                  .path = trail_text_of("/nonexistent/sample") };
}

static struct trail_source source_of(const uint8_t *bytes, size_t size, int fd)
{
    return (struct trail_source){ .size = sizeof(struct trail_source),
                                  .role = TRAIL_ROLE_IMAGE,
                                  .route = TRAIL_ROUTE_EMBEDDED,
                                  .fd = fd,
                                  .bytes = bytes,
                                  .bytes_size = size,
                                  .name = trail_text_of("sample") };
}

static void *make_state(void)
{
    void *state = NULL;
    struct trail_error err = { "" };

    assert_ok_err(table->create(&call, contract.options, &state, &err), err);
    return state;
}

/* ---- what is emitted ---------------------------------------------------- */

struct answers {
    uint64_t first; /* address of index 0 */
    size_t address_count, emitted;
    uint32_t last_index;
    bool in_chain; /* the last one was inlined: its caller must follow */
    uint64_t checksum;
    enum trail_status answer; /* what emit returns */
};

static void add_text(struct answers *answers, struct trail_text text)
{
    assert_true(text.size == 0 || text.data != NULL);
    for (size_t i = 0; i < text.size; i++)
        answers->checksum = answers->checksum * 31 + (uint8_t)text.data[i];
}

static enum trail_status check_found(void *arg, const struct trail_found *found)
{
    struct answers *answers = arg;

    assert_true(found->size >= offsetof(struct trail_found, source_route));
    assert_true(found->index < answers->address_count);
    if (answers->emitted) {
        assert_true(found->index >= answers->last_index);
        if (answers->in_chain)
            assert_int_equal(found->index, answers->last_index);
        else
            assert_int_not_equal(found->index, answers->last_index);
    }
    if (found->function_start && found->function_size &&
        !(found->flags & TRAIL_FOUND_INLINED)) {
        assert_true(found->function_start <= answers->first + found->index);
    }
    assert_true(found->line != 0 || found->column == 0);
    add_text(answers, found->function);
    add_text(answers, found->linkage);
    add_text(answers, found->file);
    add_text(answers, found->directory);
    add_text(answers, found->symbol);
    add_text(answers, found->aka);
    answers->checksum = answers->checksum * 31 + found->line;
    answers->last_index = found->index;
    answers->in_chain = (found->flags & TRAIL_FOUND_INLINED) != 0;
    answers->emitted++;
    return answers->answer;
}

/* Ask an image for `count` consecutive addresses. */
static enum trail_status ask(void *image, uint64_t first, size_t count,
                             struct answers *answers)
{
    uint64_t addresses[1024];
    struct trail_error err = { "" };

    assert_true(count <= sizeof(addresses) / sizeof(addresses[0]));
    for (size_t i = 0; i < count; i++)
        addresses[i] = first + i;
    answers->first = first;
    answers->address_count = count;
    enum trail_status status =
        table->resolve(image, &call, addresses, count, check_found, answers, &err);
    if (status == TRAIL_OK)
        assert_false(answers->in_chain); /* a chain ends in code that was not inlined */
    return status;
}

static enum trail_status open_bytes(void *state, const struct sample *sample,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret)
{
    struct trail_module module = module_of(sample->format, sample->arch);
    struct trail_error err = { "" };

    return table->open(state, &call, &module, sources, count, image_ret, &err);
}

/* ---- tables, states ----------------------------------------------------- */

static void the_table_is_what_the_record_says(void **unused)
{
    (void)unused;
    contract_check_table(contract.plugin, TRAIL_SYMBOLIZER_ABI, TRAIL_SYMBOLIZER_SHAPE,
                         table->abi, table->size);
}

static void the_option_table_is_well_formed(void **unused)
{
    (void)unused;
    contract_check_options(table->options, table->option_count, table->option_stride);
}

static void states_come_and_go_and_none_is_fine(void **unused)
{
    (void)unused;
    void *first = make_state(), *second = make_state();

    table->destroy(first);
    table->destroy(second);
    table->destroy(NULL);
    table->close(NULL);
}

static void reads_answers_0_or_1_and_always_the_same(void **unused)
{
    (void)unused;
    for (uint32_t format = 0; format <= TRAIL_FORMAT_JIT + 2; format++)
        for (uint32_t arch = 0; arch <= TRAIL_ARCH_WASM32 + 2; arch++) {
            struct trail_module module = module_of(format, arch);
            int first = table->reads(&module);
            assert_in_range(first, 0, 1);
            assert_int_equal(table->reads(&module), first);
        }
}

/* ---- sources that are nothing ------------------------------------------- */

/* Whatever open says: no crash, and nothing is known of nonsense. */
static void assert_knows_nothing(const uint8_t *bytes, size_t size, size_t count)
{
    struct trail_source source = source_of(bytes, size, -1);
    void *state = make_state();

    for (uint32_t format = 0; format <= TRAIL_FORMAT_JIT; format++) {
        const struct sample sample = { .format = format };
        void *image = NULL;
        struct answers answers = { 0 };

        if (open_bytes(state, &sample, &source, count, &image) == TRAIL_OK) {
            ask(image, 0x1000, 64, &answers);
            ask(image, 0, 16, &answers);
            ask(image, UINT64_MAX - 8, 8, &answers);
            table->close(image);
        } else {
            assert_null(image);
        }
        assert_int_equal(answers.emitted, 0);
    }
    table->destroy(state);
}

static void nothing_is_known_of_nonsense(void **unused)
{
    (void)unused;
    uint8_t bytes[4096];
    static const uint8_t header[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };

    assert_knows_nothing(NULL, 0, 0);
    assert_knows_nothing(NULL, 0, 1);
    assert_knows_nothing((const uint8_t *)"", 0, 1);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_knows_nothing(bytes, sizeof(bytes), 1);
    memset(bytes, 0xff, sizeof(bytes));
    assert_knows_nothing(bytes, sizeof(bytes), 1);
    memcpy(bytes, header, sizeof(header));
    assert_knows_nothing(bytes, sizeof(bytes), 1);
    memset(bytes, 0, sizeof(bytes));
    memcpy(bytes, header, sizeof(header));
    for (size_t size = 0; size <= 64; size++)
        assert_knows_nothing(bytes, size, 1);
}

/* ---- sources that are something ----------------------------------------- */

struct open_sample {
    uint8_t *bytes;
    size_t size;
    char path[1024];
    void *state;
};

static void sample_open(const struct sample *sample, struct open_sample *ret)
{
    snprintf(ret->path, sizeof(ret->path), "%s/tests/fixtures/%s", TEST_SOURCE_DIR,
             sample->file);
    ret->bytes = contract_read(ret->path, &ret->size);
    ret->state = make_state();
}

static void sample_close(struct open_sample *open)
{
    table->destroy(open->state);
    free(open->bytes);
}

static bool is_read(const struct sample *sample)
{
    struct trail_module module = module_of(sample->format, sample->arch);

    return table->reads(&module) == 1;
}

#define FOR_EACH_SAMPLE(sample)                                                        \
    for (const struct sample *sample = samples;                                        \
         sample < samples + sizeof(samples) / sizeof(samples[0]); sample++)            \
        if (is_read(sample))

static void chains_are_whole_and_in_order(void **unused)
{
    (void)unused;
    FOR_EACH_SAMPLE(sample)
    {
        struct open_sample open;
        struct answers answers = { 0 }, none = { 0 };
        void *image = NULL;

        sample_open(sample, &open);
        struct trail_source source = source_of(open.bytes, open.size, -1);
        assert_ok(open_bytes(open.state, sample, &source, 1, &image));
        size_t count = (size_t)(sample->end - sample->start);
        assert_ok(ask(image, sample->start, count, &answers));
        assert_true(answers.emitted >= count / 2);
        assert_ok(ask(image, sample->start, 0, &none));
        assert_ok(ask(image, UINT64_MAX - 16, 16, &none));
        assert_int_equal(none.emitted, 0);
        table->close(image);
        sample_close(&open);
    }
}

static void what_emit_answers_stops_the_call_and_is_returned(void **unused)
{
    (void)unused;
    static const enum trail_status stops[] = { TRAIL_CANCELLED, TRAIL_NO_MEMORY,
                                               TRAIL_NOT_FOUND, TRAIL_IO };
    FOR_EACH_SAMPLE(sample)
    {
        struct open_sample open;
        void *image = NULL;

        sample_open(sample, &open);
        struct trail_source source = source_of(open.bytes, open.size, -1);
        assert_ok(open_bytes(open.state, sample, &source, 1, &image));
        for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
            struct answers answers = { .answer = stops[i] };
            assert_int_equal(ask(image, sample->start, 64, &answers), stops[i]);
            assert_int_equal(answers.emitted, 1);
        }
        table->close(image);
        sample_close(&open);
    }
}

static void memory_descriptors_and_a_second_image_answer_the_same(void **unused)
{
    (void)unused;
    FOR_EACH_SAMPLE(sample)
    {
        struct open_sample open_one;
        struct answers answers[3] = { { 0 }, { 0 }, { 0 } };
        void *images[3] = { NULL, NULL, NULL };

        sample_open(sample, &open_one);
        int fd = open(open_one.path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        const struct trail_source sources[3] = {
            source_of(open_one.bytes, open_one.size, -1),
            source_of(open_one.bytes, open_one.size, fd),
            source_of(NULL, open_one.size, fd),
        };
        for (size_t i = 0; i < 3; i++)
            assert_ok(open_bytes(open_one.state, sample, &sources[i], 1, &images[i]));
        for (size_t i = 0; i < 3; i++)
            assert_ok(ask(images[i], sample->start, 256, &answers[i]));
        for (size_t i = 1; i < 3; i++) {
            assert_int_equal(answers[i].emitted, answers[0].emitted);
            assert_int_equal(answers[i].checksum, answers[0].checksum);
        }
        for (size_t i = 0; i < 3; i++)
            table->close(images[i]);
        assert_true(fcntl(fd, F_GETFD) >= 0); /* borrowed, not closed */
        close(fd);
        sample_close(&open_one);
    }
}

static void truncated_files_are_answered_in_order_or_not_at_all(void **unused)
{
    (void)unused;
    FOR_EACH_SAMPLE(sample)
    {
        struct open_sample open;

        sample_open(sample, &open);
        for (size_t cut = 0; cut < open.size; cut += 61) {
            uint8_t *part = malloc(cut + 1);
            struct answers answers = { 0 };
            void *image = NULL;

            assert_non_null(part);
            memcpy(part, open.bytes, cut);
            struct trail_source source = source_of(part, cut, -1);
            if (!open_bytes(open.state, sample, &source, 1, &image)) {
                ask(image, sample->start, 64, &answers);
                table->close(image);
            }
            free(part);
        }
        sample_close(&open);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_table_is_what_the_record_says),
    cmocka_unit_test(the_option_table_is_well_formed),
    cmocka_unit_test(states_come_and_go_and_none_is_fine),
    cmocka_unit_test(reads_answers_0_or_1_and_always_the_same),
    cmocka_unit_test(nothing_is_known_of_nonsense),
    cmocka_unit_test(chains_are_whole_and_in_order),
    cmocka_unit_test(what_emit_answers_stops_the_call_and_is_returned),
    cmocka_unit_test(memory_descriptors_and_a_second_image_answer_the_same),
    cmocka_unit_test(truncated_files_are_answered_in_order_or_not_at_all),
};

static const char *plugin_file, *plugin_name;

static int load(void **unused)
{
    (void)unused;
    contract_open(&contract, TRAIL_KIND_SYMBOLIZER, plugin_file, plugin_name);
    table = contract.plugin->symbolizer;
    return 0;
}

static int unload(void **unused)
{
    (void)unused;
    contract_close(&contract);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s FILE NAME [TEST]\n", argv[0]);
        return 2;
    }
    plugin_file = argv[1];
    plugin_name = argv[2];
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    return cmocka_run_group_tests(tests, load, unload);
}
