# run.sh -- each allocation of a command fails once, in turn, and all others succeed: no
# crash, no hang, no failure without a word, and no output that looks right and is not.
# No symbol file is read: the plugin libdw would be asked too, and libdw crashes without memory.
preload=$6
set -- "$1" "$2" "$3" "$4" "$5"
. "$5/tests/cli/lib.sh"

# What differs from run to run.
same_for_all()
{
    sed -E 's/"resolved_ns":"[0-9]+"/"resolved_ns":""/'
}

# at_each STEP COMMAND...: with no failure, then with one at 1, 1 + STEP, ...
at_each()
{
    step=$1
    shift
    said="$*"
    LD_PRELOAD=$preload FAULT_COUNT=count "$@" > good 2> err || fail "$said: status $?" err
    same_for_all < good > wanted
    expect_lines count 1
    at=1 last=$(cat count) failures=0
    [ "$last" -gt 50 ] || fail "$said: $last allocations only" err
    while [ "$at" -le "$last" ]; do
        once "$@"
        at=$((at + step))
    done
    [ "$failures" -gt 0 ] || fail "$said: no failure was told: does the preload work?"
}

once()
{
    status=0
    LD_PRELOAD=$preload FAULT_AT=$at timeout 60 "$@" > out 2> err || status=$?
    case $status in
    0)
        [ -s err ] && return
        same_for_all < out > got
        expect_same got wanted
        ;;
    1)
        [ -s err ] || fail "$said: allocation $at: status 1 without a word"
        failures=$((failures + 1))
        ;;
    127) # the C library's own end, of a library's thread-local data; nobody can help it
        grep -qx 'cannot allocate memory for thread-local data: ABORT' err ||
            fail "$said: allocation $at: status 127" err
        ;;
    *) fail "$said: allocation $at: status $status" err ;;
    esac
}

test_addresses_with_each_allocation_failing_once()
{
    at_each 1 "$program" resolve -e "$source/tests/fixtures/wasm/hello.wasm" --json 0x401 0x4fe
}

test_a_trace_with_each_allocation_failing_once()
{
    trace good > good.jsonl
    at_each 1 "$program" resolve --plugin wasi-null --style json good.jsonl
    at_each 1 "$program" resolve --plugin wasi-null --style text good.jsonl
    at_each 1 "$program" raw good.jsonl
}

test_a_config_with_each_allocation_failing_once()
{
    cat > c.json << CONFIG
{ "symbolizers": [ { "use": "wasi-null" } ],
  "sinks": [ { "use": "file", "path": "reports.jsonl", "rotate": { "size": "16MiB" } },
             { "use": "http", "url": "http://127.0.0.1:1/", "headers": { "A": "b" } } ] }
CONFIG
    at_each 3 "$program" config check c.json
}

# An app must live through it. A report may be lost, and then that is told.
test_a_service_with_each_allocation_failing_once()
{
    cat > c.json << 'CONFIG'
{ "symbolizers": [ { "use": "wasi-null" } ],
  "sinks": [ { "use": "file", "path": "reports.jsonl" } ] }
CONFIG
    LD_PRELOAD=$preload FAULT_COUNT=count "$build/examples/orders" c.json -2 -4 \
        > out 2> err
    reports > wanted
    expect_lines wanted 2
    at=1 last=$(cat count) said="orders c.json -2 -4"
    [ "$last" -gt 50 ] || fail "$said: $last allocations only" err
    while [ "$at" -le "$last" ]; do
        rm -f reports.jsonl
        status=0
        LD_PRELOAD=$preload FAULT_AT=$at timeout 60 "$build/examples/orders" c.json -2 -4 \
            > out 2> err || status=$?
        [ $status -eq 0 ] || [ $status -eq 1 ] || fail "$said: $at: status $status" err
        [ -s err ] || {
            reports > got
            expect_same got wanted
        }
        at=$((at + 1))
    done
}

# What a report is about: it is whole if its last members are there.
reports()
{
    "$json" kind trace.message threads.0.frames.1.offset fingerprint.exact \
        < reports.jsonl
}

the_test
