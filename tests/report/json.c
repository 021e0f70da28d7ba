/* json.c -- reports for machines, in the shape of wire.md. */
#include <jansson.h>

#include "made.h"
#include "produced.h"

static json_t *report(const struct made *made)
{
    char *text = NULL;
    size_t size = 0;
    assert_ok(trail_report_json(&made->resolved, &text, &size, NULL));
    assert_int_equal(strlen(text), size);
    assert_null(strchr(text, '\n'));
    keep_produced("report", text, size);
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(object);
    free(text);
    return object;
}

/* The object's keys, in order, between commas. */
static const char *keys_of(const json_t *object)
{
    static char keys[512];
    size_t size = 0;
    keys[0] = 0;
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at))
        size += (size_t)snprintf(keys + size, sizeof(keys) - size, "%s%s",
                                 size ? "," : "", json_object_iter_key(at));
    return keys;
}

static const json_t *frame(const json_t *object, size_t index)
{
    const json_t *thread = json_array_get(json_object_get(object, "threads"), 0);
    return json_array_get(json_object_get(thread, "frames"), index);
}

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(none)";
}

static void members_come_in_the_order_of_the_wire(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    made_example(&made);
    json_t *object = report(&made);
    assert_string_equal(keys_of(object),
                        "backtrail,kind,id,revision,resolved_ns,trace,resolver,answers,"
                        "gaps,threads,fingerprint");
    assert_string_equal(text_in(object, "kind"), "report");
    assert_string_equal(text_in(object, "id"), "5f0c");
    assert_int_equal(json_integer_value(json_object_get(object, "revision")), 1);
    const json_t *answer = json_array_get(json_object_get(object, "answers"), 0);
    assert_string_equal(keys_of(answer),
                        "plugin,version,plugin_id,module,route,file,by");
    assert_string_equal(text_in(answer, "route"), "debug-link");
    const json_t *gap = json_array_get(json_object_get(object, "gaps"), 0);
    assert_string_equal(keys_of(gap), "module,reason,detail,want,remedy");
    json_decref(object);
    made_deinit(&made);
}

static void unknown_members_of_a_frame_are_left_out(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    made_example(&made);
    json_t *object = report(&made);
    assert_string_equal(keys_of(frame(object, 1)),
                        "n,inline,address,kind,edge,trust,module,offset,function,file,"
                        "line,column,inlined,in_app,answer");
    assert_string_equal(keys_of(frame(object, 0)), /* column 0 */
                        "n,inline,address,kind,edge,trust,module,offset,function,file,"
                        "line,inlined,in_app,answer");
    assert_string_equal(
        keys_of(frame(object, 4)), /* no file */
        "n,address,kind,edge,trust,module,offset,function,in_app,answer");
    assert_string_equal(keys_of(frame(object, 5)), /* no symbol */
                        "n,address,kind,edge,trust,module,offset,hidden,gap");
    json_decref(object);
    made_deinit(&made);
}

static void a_frame_with_everything_has_every_member(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    struct trail_frame *whole = made_add(&made, 0, 0x11c9, "Orders::total(int)");
    whole->linkage = "_ZN6Orders5totalEi";
    whole->symbol_start = 0x11a9;
    whole->symbol = "_ZN6Orders5totalEi.cold";
    whole->aka = "twin\nsecond twin";
    whole->file = "o.cc";
    whole->directory = "/build";
    whole->line = 9;
    whole->column = 3;
    made.frames[0].symbol_size = 0x40;
    json_t *object = report(&made);
    const json_t *read = frame(object, 0);
    assert_string_equal(keys_of(read),
                        "n,address,kind,edge,trust,module,offset,function,linkage,"
                        "symbol,symbol_size,symbol_name,aka,file,dir,line,column,"
                        "in_app,answer");
    assert_string_equal(text_in(read, "address"), "0x21c9");
    assert_string_equal(text_in(read, "offset"), "0x11c9");
    assert_string_equal(text_in(read, "symbol"), "0x11a9");
    assert_string_equal(text_in(read, "kind"), "interrupted");
    assert_string_equal(text_in(read, "trust"), "context");
    const json_t *names = json_object_get(read, "aka");
    assert_int_equal(json_array_size(names), 2);
    assert_string_equal(json_string_value(json_array_get(names, 1)), "second twin");
    json_decref(object);
    made_deinit(&made);
}

static void edges_say_how_one_gets_to_the_next_frame(void **state)
{
    (void)state;
    static const char *const edges[] = { "inlined", "inlined", "return",
                                         "signal",  "return",  "base" };
    struct made made;
    made_init(&made, "", 0x1000);
    made_example(&made);
    made.frames[3].frame.kind = TRAIL_PC_TRAMPOLINE;
    json_t *object = report(&made);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(text_in(frame(object, i), "edge"), edges[i]);
    json_decref(object);
    made_deinit(&made);
}

static void the_trace_is_passed_on_unchanged(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "\"attributes\":{\"k\":\"v\"},", 0x1000);
    made_example(&made);
    json_t *object = report(&made);
    const json_t *trace = json_object_get(object, "trace");
    assert_true(json_equal(trace, made.trace->raw));
    assert_string_equal(keys_of(trace), "backtrail,kind,id,why,channel,attributes,"
                                        "process,threads,modules,future");
    json_decref(object);
    made_deinit(&made);
}

static void a_report_can_be_resolved_again_under_a_higher_revision(void **state)
{
    (void)state;
    struct made made;
    char *text = NULL;
    size_t size = 0;
    struct trail_trace *again = NULL;
    made_init(&made, "", 0x1000);
    assert_ok(trail_report_json(&made.resolved, &text, &size, NULL));
    assert_ok(trail_trace_read(text, size, &again, NULL));
    assert_true(json_equal(again->raw, made.trace->raw));
    assert_int_equal(again->revision, 1);
    free(text);

    made.resolved.trace = again;
    json_t *object = report(&made);
    assert_int_equal(json_integer_value(json_object_get(object, "revision")), 2);
    assert_string_equal(text_in(object, "id"), "5f0c");
    json_decref(object);
    trail_trace_destroy(again);
    made_deinit(&made);
}

static void bytes_that_are_not_utf8_are_replaced_and_the_frame_stays(void **state)
{
    (void)state;
    struct made made;
    made_init(&made, "", 0x1000);
    struct trail_frame *odd = made_add(&made, 0, 0x10, "f\xff(int)");
    odd->file = "\xfe.c";
    odd->aka = "twin\n\xff\n";
    json_t *object = report(&made);
    assert_string_equal(text_in(frame(object, 0), "function"), "f\xef\xbf\xbd(int)");
    assert_string_equal(text_in(frame(object, 0), "file"), "\xef\xbf\xbd.c");
    const json_t *names = json_object_get(frame(object, 0), "aka");
    assert_int_equal(json_array_size(names), 2);
    json_decref(object);
    made_deinit(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(members_come_in_the_order_of_the_wire),
    cmocka_unit_test(unknown_members_of_a_frame_are_left_out),
    cmocka_unit_test(a_frame_with_everything_has_every_member),
    cmocka_unit_test(edges_say_how_one_gets_to_the_next_frame),
    cmocka_unit_test(the_trace_is_passed_on_unchanged),
    cmocka_unit_test(a_report_can_be_resolved_again_under_a_higher_revision),
    cmocka_unit_test(bytes_that_are_not_utf8_are_replaced_and_the_frame_stays),
};
TRAIL_TEST_MAIN(tests)
