#!/bin/sh
# watch.sh -- `backtrail run` of programs that no library can be loaded into: they are
# watched from outside.
. "$(dirname "$0")/lib.sh"

watched=$build/tests/matrix/matrix_watched

# run_it WHAT: the program under `run`; it has to be possible here.
run_it()
{
    run run -- "$watched" "$@"
    ! grep -q 'ptrace is not permitted' err || skip "ptrace is not permitted here"
}

test_a_static_program_is_watched_and_its_crash_reported()
{
    run_it null
    expect_status 139
    expect_empty out
    expect err "matrix_watched: it is linked statically: it is watched from outside" \
        "crash: SIGSEGV (SEGV_MAPERR)" "0: write_null at " "1: main at "
}

test_a_watched_program_ends_with_its_own_exit_code()
{
    run_it 3
    expect_status 3
    expect_lines err 1
}

test_a_signal_that_a_watched_program_handles_is_left_to_it()
{
    run_it handled
    expect_status 5
    expect_lines err 1
}

test_children_of_a_watched_program_are_watched_too()
{
    run_it child
    expect_status 6
    expect err "0: write_null at " "1: child at " "2: main at "
}

test_all_threads_of_a_watched_program_are_in_its_report()
{
    run run --json --keep kept -- "$watched" threads
    expect_status 139
    grep '^{"backtrail"' err > report
    "$json" -e trace.threads name end crashed < report > got
    sort -u got > kinds
    printf 'matrix_watched\tbase\t-\nmatrix_watched\tbase\ttrue\n' > wanted
    expect_same kinds wanted
    expect_lines got 21
    "$json" trace.missing < report > got
    echo '[]' > wanted
    expect_same got wanted
    find kept -name '*.trace' > files
    expect_lines files 1
}

# start_it: the program waits under `run`, whose process is $runner.
start_it()
{
    mkfifo in out.fifo
    "$program" run -- "$watched" wait < in > out.fifo 2> err &
    runner=$!
    exec 8> in 9< out.fifo
    read -r word <&9
    [ "$word" = here ] || fail "it does not run" err
    program_pid=$(pgrep -P "$runner")
}

test_a_watched_program_gets_the_signals_that_are_sent_to_run()
{
    start_it
    kill -TERM "$runner"
    status=0
    wait "$runner" || status=$?
    said="backtrail run"
    expect_status 143
}

test_a_watched_program_runs_on_when_run_is_killed()
{
    start_it
    kill -KILL "$runner"
    wait "$runner" || true
    grep '^TracerPid' "/proc/$program_pid/status" > got || fail "it died, too"
    printf 'TracerPid:\t0\n' > wanted
    expect_same got wanted
    ! grep -q '^State:.*[Tt] (' "/proc/$program_pid/status" || fail "it is stopped"
    exec 8>&-
    read -r word <&9 || true # until it has closed its standard output
    at_exit() { kill -KILL "$program_pid" 2> /dev/null || true; }
}

the_test
