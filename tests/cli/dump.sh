#!/bin/sh
# dump.sh -- what the threads of a running process do, from outside.
. "$(dirname "$0")/lib.sh"

at_exit()
{
    exec 9>&-
    [ -z "${waiting-}" ] || kill -9 "$waiting" 2> /dev/null || true
}

# start_waiting PROGRAM: a process that reads from a pipe; its number is in `waiting`.
start_waiting()
{
    mkfifo over
    "$1" < over > ready &
    waiting=$!
    exec 9> over
    until [ -s ready ]; do :; done
}

# dumped ARGUMENT...: of the process that waits; skips where that is not permitted.
dumped()
{
    run dump "$@" "$waiting"
    [ "$status" -eq 0 ] || ! grep -q 'CAP_SYS_PTRACE' err || skip "$(cat err)"
    expect_status 0
    expect_empty err
}

# still_there: it reads the end of its pipe, and ends by itself.
still_there()
{
    exec 9>&-
    wait "$waiting" || fail "the process that was dumped ended with $?"
    waiting=
}

test_a_dump_tells_what_a_process_does_and_lets_it_go_on()
{
    start_waiting "$build/tests/cli/no_id_full"
    dumped
    expect out 'dump: 1 thread held for' "no_id_full, pid $waiting" 'main at ' 'wait.c:'
    still_there
}

test_a_dump_as_json_is_a_report()
{
    start_waiting "$build/tests/cli/no_id_full"
    dumped --json
    expect_lines out 1
    expect out '"kind":"report"' '"why":"dump"' "\"pid\":$waiting," '"function":"main"'
    still_there
}

test_a_raw_dump_is_resolved_when_the_process_has_ended()
{
    start_waiting "$build/tests/cli/no_id_full"
    dumped --raw
    expect_lines out 1
    expect out '"kind":"trace"' '"state":"blocked"' '"end":"base"' '"missing":[]'
    still_there
    mv out raw.jsonl
    run resolve --style text raw.jsonl
    expect_status 0
    expect out 'main at '
}

test_a_dump_reads_the_program_that_was_removed_from_its_process()
{
    cp "$build/tests/cli/no_id_full" program
    start_waiting ./program
    rm program
    dumped
    expect out 'main at '
    still_there
}

test_a_dump_reads_the_program_that_was_replaced_from_its_process()
{
    cp "$build/tests/cli/no_id_full" program
    start_waiting ./program
    rm program
    cp "$build/tests/cli/cli_wait" program
    dumped
    expect out 'main at '
    still_there
}

test_a_dump_says_who_traces_the_process()
{
    command -v gdb > /dev/null || skip "there is no gdb"
    start_waiting "$build/tests/cli/cli_wait"
    cat > ask.sh << END
"$program" dump $waiting > out 2> err
echo \$? > code
END
    gdb -nx -q -batch -p "$waiting" -ex 'shell sh ask.sh' > gdb.out 2>&1 || true
    [ -s code ] || skip "gdb cannot trace it"
    [ "$(cat code)" -eq 1 ] || fail "exit code $(cat code), not 1" err gdb.out
    said='backtrail dump beside gdb' status=1
    refused 1 "process $waiting: traced by gdb ("
    dumped
    still_there
}

test_a_process_of_another_namespace_is_dumped_by_its_number_here()
{
    unshare -pf true 2> /dev/null || skip "no namespace can be made here"
    mkfifo over
    unshare -pf sh -c "$build/tests/cli/no_id_full; :" < over > ready &
    outer=$!
    exec 9> over
    until [ -s ready ]; do :; done
    inner=$(ps -o pid= --ppid "$outer" | tr -d ' ')
    waiting=$(ps -o pid= --ppid "$inner" | tr -d ' ')
    dumped --json
    expect out "\"pid\":$waiting,\"ns_pid\":2," '"function":"main"'
    exec 9>&-
    waiting=
    wait "$outer"
}

test_what_cannot_be_dumped_is_told_in_one_line()
{
    run dump 2147483647
    refused 1 'process 2147483647: there is none'
    run dump
    refused 2 'wants one process id'
    run dump someone
    refused 2 "'someone' is no process id"
    run dump --timeout 0 1
    refused 2 "'0' cannot be used with '--timeout'"
}

the_test
