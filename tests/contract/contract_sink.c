/* contract_sink.c FILE NAME -- what sink.h promises of every sink, asked of the one in
 * FILE. */
#define _XOPEN_SOURCE 700

#include "contract.h"
#include "core/os/os.h"

#include <unistd.h>

#define NS_PER_S   1000000000ull
#define PROMPT_NS  (9 * NS_PER_S) /* far more than needed, far less than for ever */
#define PATIENCE_S 100u

static struct contract contract;
static const struct trail_sink *table;

static int go_on(void *host)
{
    (void)host;
    return 0;
}

static int give_up(void *host)
{
    (void)host;
    return 1;
}

static void ignore_log(void *host, int level, struct trail_text text)
{
    (void)host, (void)level, (void)text;
}

static struct trail_sink_call call_until(uint64_t deadline_ns)
{
    return (struct trail_sink_call){ .size = sizeof(struct trail_sink_call),
                                     .deadline_ns = deadline_ns,
                                     .key = trail_text_of("contract-1"),
                                     .stop = go_on,
                                     .log = ignore_log };
}

static struct trail_sink_call call_of_seconds(uint64_t seconds)
{
    return call_until(trail_os_mono_ns() + seconds * NS_PER_S);
}

static void *make_state(void)
{
    void *state = NULL;
    struct trail_error err = { "" };

    assert_ok_err(table->create(contract.options, &state, &err), err);
    return state;
}

static struct trail_record record_of(const char *body, size_t size)
{
    return (struct trail_record){ .size = sizeof(struct trail_record),
                                  .style = table->default_style,
                                  .class_ = TRAIL_CLASS_EVENT,
                                  .id =
                                      trail_text_of("00112233445566778899aabbccddeeff"),
                                  .channel = trail_text_of("report"),
                                  .body = { body, size } };
}

static const char *body_text(void)
{
    return table->default_style == TRAIL_STYLE_JSON ? "{\"v\":1}" : "contract test\n";
}

/* Write `count` copies of a record; verdicts start as the host starts them, and one
 * more lies behind them that must not be touched. */
static enum trail_status write_some(void *state, struct trail_sink_call *call,
                                    struct trail_record record, size_t count)
{
    struct trail_record records[9];
    struct trail_verdict verdicts[10];
    struct trail_error err = { "" };

    assert_true(count <= 9);
    for (size_t i = 0; i < 9; i++)
        records[i] = record;
    for (size_t i = 0; i < 10; i++)
        verdicts[i] = (struct trail_verdict){ sizeof(verdicts[i]), TRAIL_OK };
    verdicts[count].status = TRAIL_CANCELLED;
    enum trail_status status =
        table->write(state, call, records, count, verdicts, &err);
    for (size_t i = 0; i <= count; i++)
        assert_int_equal(verdicts[i].size, sizeof(verdicts[i]));
    assert_int_equal(verdicts[count].status, TRAIL_CANCELLED);
    if (status != TRAIL_OK)
        assert_string_not_equal(err.text, ""); /* a failure says why */
    assert_null(strchr(err.text, '\n'));
    return status;
}

/* ---- tables, states ----------------------------------------------------- */

static void the_table_is_what_the_record_says(void **unused)
{
    (void)unused;
    contract_check_table(contract.plugin, TRAIL_SINK_ABI, TRAIL_SINK_SHAPE, table->abi,
                         table->size);
    assert_in_range(table->default_style, TRAIL_STYLE_JSON, TRAIL_STYLE_TRACY);
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
}

/* ---- delivering --------------------------------------------------------- */

static void no_records_are_delivered_well(void **unused)
{
    (void)unused;
    void *state = make_state();
    struct trail_sink_call call = call_of_seconds(5);

    assert_ok(write_some(state, &call, record_of(body_text(), strlen(body_text())), 0));
    table->destroy(state);
}

/* Nobody may listen where the sink was told to deliver: then it must be RETRY. */
static void records_are_delivered_or_wanted_again(void **unused)
{
    (void)unused;
    void *state = make_state();

    for (size_t count = 1; count < 9; count += 3) {
        struct trail_sink_call call = call_of_seconds(5);
        enum trail_status status =
            write_some(state, &call, record_of(body_text(), strlen(body_text())),
                       count);
        assert_true(status == TRAIL_OK || status == TRAIL_RETRY);
    }
    if (table->flush) {
        struct trail_sink_call call = call_of_seconds(5);
        struct trail_error err = { "" };
        enum trail_status status = table->flush(state, &call, &err);
        assert_true(status == TRAIL_OK || status == TRAIL_RETRY);
    }
    table->destroy(state);
}

static void an_empty_body_does_no_harm(void **unused)
{
    (void)unused;
    void *state = make_state();
    struct trail_sink_call call = call_of_seconds(5);

    write_some(state, &call, record_of("", 0), 2);
    table->destroy(state);
}

/* ---- time --------------------------------------------------------------- */

static void a_deadline_in_the_past_ends_promptly(void **unused)
{
    (void)unused;
    void *state = make_state();
    uint64_t start = trail_os_mono_ns();
    struct trail_sink_call call = call_until(1);
    struct trail_error err = { "" };

    write_some(state, &call, record_of(body_text(), strlen(body_text())), 2);
    if (table->flush)
        table->flush(state, &call, &err);
    table->destroy(state);
    assert_true(trail_os_mono_ns() - start < PROMPT_NS);
}

static void a_host_that_says_stop_is_heard(void **unused)
{
    (void)unused;
    void *state = make_state();
    uint64_t start = trail_os_mono_ns();
    struct trail_sink_call call = call_of_seconds(60);

    call.stop = give_up;
    enum trail_status status =
        write_some(state, &call, record_of(body_text(), strlen(body_text())), 2);
    assert_true(status == TRAIL_OK || status == TRAIL_RETRY);
    table->destroy(state);
    assert_true(trail_os_mono_ns() - start < PROMPT_NS);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_table_is_what_the_record_says),
    cmocka_unit_test(the_option_table_is_well_formed),
    cmocka_unit_test(states_come_and_go_and_none_is_fine),
    cmocka_unit_test(no_records_are_delivered_well),
    cmocka_unit_test(records_are_delivered_or_wanted_again),
    cmocka_unit_test(an_empty_body_does_no_harm),
    cmocka_unit_test(a_deadline_in_the_past_ends_promptly),
    cmocka_unit_test(a_host_that_says_stop_is_heard),
};

static const char *plugin_file, *plugin_name;

static int load(void **unused)
{
    (void)unused;
    alarm(PATIENCE_S); /* a sink that hangs fails, it does not hang the tests */
    contract_open(&contract, TRAIL_KIND_SINK, plugin_file, plugin_name);
    table = contract.plugin->sink;
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
