#!/bin/sh
# run.sh -- `backtrail run`: it ends as the program does, and reports its crashes.
. "$(dirname "$0")/lib.sh"
programs=$build/tests/preload
dies=$programs/preload_dies
! grep -q '^BACKTRAIL_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" ||
    skip "a sanitizer in the library would want to be in the program, too"

# nothing_left: neither an inbox nor anything in it.
nothing_left()
{
    left=$(find "$BACKTRAIL_STATE" -name 'run-*')
    [ -z "$left" ] || fail "$said: $left is left"
}

test_run_ends_with_the_exit_code_of_the_program()
{
    run run "$dies" --symbols -x
    expect_status 7
    expect_empty err
    printf '%s\n' --symbols -x > wanted
    expect_same out wanted
    nothing_left
    run run -- "$dies" environment
    expect_status 0
}

test_run_ends_of_the_signal_of_the_program_and_prints_the_report()
{
    run run "$dies" null
    expect_status 139
    expect err 'crash: SIGSEGV (SEGV_MAPERR), write of 0x0: null' \
        'preload_dies, pid ' '  0: write_null at ' 'dies.c:20' '  1: main at '
    refute err '  2: '
    nothing_left
    run run "$dies" assert
    expect_status 134
    expect err 'SIGABRT' "Assertion \`argc == 9' failed." '  0: main at '
}

test_run_says_which_thread_of_a_program_crashed()
{
    run run "$dies" thread
    expect_status 139
    expect err '", crashed' '  0: write_null at ' '  1: on_thread at ' 'in_thread at '
}

test_run_reports_a_stack_that_overflowed_on_a_thread()
{
    run run "$dies" overflow
    expect_status 139
    expect err 'stack overflow' '  0: overflow at '
}

test_run_names_code_of_a_program_with_gaps_between_its_segments()
{
    run run "$programs/preload_gap" null
    expect_status 139
    expect err '  0: write_null at ' '  1: main at '
}

test_run_lets_threads_end_in_every_way()
{
    run run "$dies" threads
    expect_status 0
    expect_empty err
}

test_run_reports_a_crash_of_a_child()
{
    run run "$dies" child
    expect_status 0
    expect err 'SIGSEGV' '  1: in_child at ' '  2: main at '
    nothing_left
}

test_run_passes_signals_on()
{
    mkfifo said
    "$program" run -- "$dies" signal > said 2> err &
    runner=$!
    read -r ready < said
    [ "$ready" = ready ] || fail "the program said '$ready'"
    kill -USR1 $runner
    status=0
    wait $runner || status=$?
    said='backtrail run'
    expect_status 9
    expect_empty err
}

test_run_says_that_a_program_left_no_trace()
{
    run run "$dies" kill
    expect_status 137
    [ "$(grep -c '^backtrail: ' err)" -eq 1 ] || fail "not one line" err
    expect err 'ended by signal 9, and left no trace'
    nothing_left
}

test_run_names_a_program_that_cannot_be_run()
{
    run run no-such-program
    refused 127 'no-such-program: there is no such program in PATH'
    run run ./neither
    refused 127 './neither: there is no such program'
    echo '#!/bin/sh' > plain
    run run ./plain
    refused 126 './plain: may not be run; chmod +x it'
    run run
    refused 2 'wants a program'
    printf '\177ELF' > broken
    chmod +x broken
    run run ./broken
    refused 1 './broken: '
    nothing_left
}

test_run_keeps_the_raw_traces_that_were_asked_for()
{
    run run --keep traces --json "$dies" null
    expect_status 139
    mv err report.json
    [ "$(cat traces/*.trace | wc -l)" -eq 0 ] || [ -s traces/*.trace ] || fail "none" out
    run resolve traces/*.trace
    expect_status 0
    expect out '"function":"write_null"' '"why":"crash"'
    expect report.json '"kind":"report"' '"function":"write_null"'
}

test_run_covers_a_script_and_what_it_starts()
{
    printf '#!/bin/sh\n%s null\nexit 3\n' "$dies" > script
    chmod +x script
    run run ./script
    expect_status 3
    expect err '  0: write_null at '
    nothing_left
}

test_run_finds_the_library_or_says_where_it_looked()
{
    BACKTRAIL_PRELOAD=/nowhere/lib.so run run "$dies" null
    refused 1 'BACKTRAIL_PRELOAD'
}

test_an_uncaught_exception_is_named_with_what_it_says()
{
    throws=$programs/preload_throws
    run run "$throws" m
    expect_status 134
    expect err 'SIGABRT' ': uncaught store::Missing: no shelf 9' \
        '  0: fetch(char) at ' '  1: main at '
    run run "$throws" h
    expect err ': uncaught store::Hidden'
    refute err 'uncaught store::Hidden: '
    run run "$throws" i
    expect err ': uncaught int'
    run run "$throws" x
    expect err ': std::terminate was called without an exception'
}

test_the_words_of_a_panic_are_the_message()
{
    run run "$dies" panic
    expect_status 134
    grep -q '^crash: SIGABRT .*: thread .main. panicked at src/main.rs:9:5:.*no shelf 8$' err ||
        fail "no panic" err
    run run "$dies" panic pieces
    grep -q '^crash: SIGABRT .*: thread .shelver. (17) panicked at .*no shelf 9$' err ||
        fail "no panic in pieces" err
}

test_a_program_with_a_handler_of_its_own_is_reported_when_it_gives_up()
{
    run run "$dies" handler
    expect_status 139
    expect err 'my own words' 'crash: SIGSEGV' 'write_null at ' 'main at '
    refute err 'somebody else handles it'
    run run "$dies" handler other
    expect_status 136
    expect err 'my own words' 'crash: SIGFPE' '  0: handle at ' '  1: main at '
    run run "$dies" default
    expect_status 139
    expect err 'crash: SIGSEGV' '  0: write_null at '
}

test_a_program_with_the_library_in_it_is_recorded_once()
{
    run run --json "$programs/preload_knows" 'no shelf'
    expect_status 139
    [ "$(grep -c '"kind":"report"' err)" -eq 1 ] || fail "not one report" err
    expect err '"app":{"name":"orders","version":"2.3.1"}' '"message":"no shelf"' \
        '"attributes":{"region":"eu"}' '"attributes":{"queue":"eu-1"}' \
        '"text":"GET /orders/17"' '"trace_id":"0af7651916cd43dd8448eb211c80319c"' \
        '"span_id":"b7ad6b7169203331"'
}

the_test
