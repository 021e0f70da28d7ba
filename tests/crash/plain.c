/* plain.c -- what goes wrong in programs by itself: the trace says what, and where. */
#define _GNU_SOURCE

#include "test.h"

#include <signal.h>
#include <sys/wait.h>

#include "died.h"

struct expected {
    const char *way;
    int signal;
    const char *code_name, *meaning, *access; /* "": none */
    int fault_at; /* frame that the fault is in; -1: it lies in none of dies.c */
};

/* One file, of that signal, from the fault to the stack's base; and the process died of
 * the signal that it would have died of. */
static void assert_died(const struct expected *expected)
{
    struct died died;
    die(&died, expected->way);
    assert_true(WIFSIGNALED(died.status));
    assert_int_equal(WTERMSIG(died.status), expected->signal);
    assert_int_equal(died.trace_count, 1);
    assert_non_null(died.trace);
    assert_string_equal(died.trace->why, "crash");
    assert_string_equal(died.trace->app_name, "dies");
    assert_string_equal(died_signal(&died, "code_name"), expected->code_name);
    assert_string_equal(died_signal(&died, "meaning"), expected->meaning);
#if defined(__x86_64__)
    assert_string_equal(died_signal(&died, "access"), expected->access);
#endif
    assert_int_equal(died_fault_at(&died), expected->fault_at);
    assert_true(json_is_true(json_object_get(died.trace->raw, "complete")));
    assert_contains(died.err, "backtrail: crash_dies[");
    died_forget(&died);
}

static void a_write_to_null_is_told(void **state)
{
    (void)state;
    assert_died(
        &(struct expected){ "write_null", SIGSEGV, "SEGV_MAPERR", "null", "write", 0 });
}

static void a_read_of_memory_that_is_not_mapped_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "read_wild", SIGSEGV, "SEGV_MAPERR", "not mapped",
                                    "read", 0 });
}

static void a_write_to_a_constant_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "write_read_only", SIGSEGV, "SEGV_ACCERR",
                                    "read-only", "write", 0 });
}

static void a_call_through_null_is_told_with_its_caller(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "call_null", SIGSEGV, "SEGV_MAPERR", "null",
                                    "execute", 1 });
}

static void a_wild_jump_is_told_with_its_caller(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "jump_wild", SIGSEGV, "SEGV_MAPERR", "not mapped",
                                    "execute", 1 });
}

static void running_data_is_told_with_its_caller(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "run_data", SIGSEGV, "SEGV_ACCERR",
                                    "not executable", "execute", 1 });
}

/* Of a thread the guard page is mapped; below the main stack nothing is. */
static void a_stack_that_overflowed_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "overflow_main", SIGSEGV, "SEGV_MAPERR",
                                    "stack overflow", "write", 0 });
    assert_died(&(struct expected){ "overflow_thread", SIGSEGV, "SEGV_ACCERR",
                                    "stack overflow", "write", 0 });
}

static void reading_beyond_the_end_of_a_mapped_file_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "read_beyond_file", SIGBUS, "BUS_ADRERR",
                                    "beyond the end of a mapped file", "read", 0 });
}

static void an_abort_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "abort", SIGABRT, "SI_TKILL", "", "", -1 });
}

static void a_signal_that_was_sent_is_told(void **state)
{
    (void)state;
    struct died died;
    die(&died, "be_killed");
    assert_int_equal(WTERMSIG(died.status), SIGSEGV);
    assert_string_equal(died_signal(&died, "code_name"), "SI_USER");
    const json_t *signal = json_object_get(died.trace->raw, "signal");
    assert_int_equal(json_integer_value(json_object_get(signal, "sender")),
                     died.trace->pid);
    died_forget(&died);
}

static void raised_traps_and_forbidden_calls_are_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "breakpoint", SIGTRAP, "SI_TKILL", "", "", 2 });
    assert_died(&(struct expected){ "bad_system_call", SIGSYS, "SI_TKILL", "", "", 2 });
}

#if defined(__x86_64__)
static void an_address_that_cannot_be_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "read_non_canonical", SIGSEGV, "SI_KERNEL",
                                    "non-canonical address", "", 0 });
}

static void a_division_by_zero_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "divide", SIGFPE, "FPE_INTDIV",
                                    "integer divided by zero", "", 0 });
}

static void an_instruction_that_is_none_is_told(void **state)
{
    (void)state;
    assert_died(&(struct expected){ "illegal", SIGILL, "ILL_ILLOPN",
                                    "illegal instruction", "", 0 });
}
#endif

/* Registers and the bytes around the pc, as the processor had them. */
static void the_trace_holds_registers_and_code(void **state)
{
    (void)state;
    struct died died;
    die(&died, "write_null");
    const json_t *thread =
        json_array_get(json_object_get(died.trace->raw, "threads"), 0);
    const json_t *code = json_object_get(thread, "code");
    const char *hex = json_string_value(json_object_get(code, "hex"));
    assert_non_null(hex);
    assert_true(strlen(hex) >= 32);
    assert_true(json_object_size(json_object_get(thread, "registers")) >= 16);
    died_forget(&died);
}

static void what_the_program_knew_is_in_the_trace(void **state)
{
    (void)state;
    struct died died;
    die(&died, "write_null");
    const json_t *crumbs = json_object_get(died.trace->raw, "breadcrumbs");
    const json_t *crumb = json_array_get(crumbs, 0);
    assert_string_equal(json_string_value(json_object_get(crumb, "text")),
                        "about to die");
    assert_string_equal(died.trace->app_version, "1.2");
    died_forget(&died);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_to_null_is_told),
        cmocka_unit_test(a_read_of_memory_that_is_not_mapped_is_told),
        cmocka_unit_test(a_write_to_a_constant_is_told),
        cmocka_unit_test(a_call_through_null_is_told_with_its_caller),
        cmocka_unit_test(a_wild_jump_is_told_with_its_caller),
        cmocka_unit_test(running_data_is_told_with_its_caller),
        cmocka_unit_test(a_stack_that_overflowed_is_told),
        cmocka_unit_test(reading_beyond_the_end_of_a_mapped_file_is_told),
        cmocka_unit_test(an_abort_is_told),
        cmocka_unit_test(a_signal_that_was_sent_is_told),
        cmocka_unit_test(raised_traps_and_forbidden_calls_are_told),
#if defined(__x86_64__)
        cmocka_unit_test(an_address_that_cannot_be_is_told),
        cmocka_unit_test(a_division_by_zero_is_told),
        cmocka_unit_test(an_instruction_that_is_none_is_told),
#endif
        cmocka_unit_test(the_trace_holds_registers_and_code),
        cmocka_unit_test(what_the_program_knew_is_in_the_trace),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
