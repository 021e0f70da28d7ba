#!/bin/sh
# core.sh -- `backtrail resolve --core CORE`, and `backtrail crash-pipe`, which the kernel
# gives cores to.
. "$(dirname "$0")/lib.sh"

cores=$source/tests/fixtures/cores
crasher=$build/tests/matrix/crash_gcc_c

# crash KIND: leaves the core of a crash of that kind as ./core.
crash()
{
    [ -x "$crasher" ] || skip "no gcc"
    [ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip "cores go elsewhere here"
    rm -f core core.*
    "$crasher" "$1" > /dev/null 2>&1 || true
    for named in core.*; do
        [ ! -e "$named" ] || mv "$named" core
    done
    [ -e core ] || skip "no core was written"
}

# frames FILE: real frames down to main, for compare.awk.
frames()
{
    "$json" -e threads.0.frames address function linkage line inlined reconstructed < "$1" |
        awk -F '\t' -v OFS='\t' '
            $5 != "true" && $6 == "-" { print $1, $2, $3, $4 == "-" ? 0 : $4 }
            $2 ~ /(^|::)main$/ { exit }'
}

test_a_core_is_walked_as_gdb_walks_it()
{
    command -v gdb > /dev/null || skip "no gdb"
    tab=$(printf '\t')
    for kind in null-write wild-jump overflow thread-overflow assert bus; do
        crash $kind
        gdb -batch -nx -iex 'set auto-load off' -x "$source/tests/matrix/gdb_frames.py" \
            "$crasher" core 2> /dev/null | sed -n "s/^frame$tab//p" > theirs
        run resolve --core core
        expect_status 0
        frames out > ours
        awk -f "$source/tests/matrix/compare.awk" theirs ours > differs ||
            fail "$kind: not as gdb has it" differs
    done
}

test_a_core_says_which_signal_it_was_and_whose()
{
    crash bus
    run resolve --core core
    expect_status 0
    "$json" trace.why trace.signal.name trace.signal.code_name trace.process.exe \
        trace.threads.0.crashed trace.threads.0.name < out > got
    printf 'crash\tSIGBUS\tBUS_ADRERR\t%s\ttrue\tcrash_gcc_c\n' "$crasher" > wanted
    expect_same got wanted
    "$json" trace.threads.0.registers < out > got
    expect got '"rip":' '"rsp":'
}

test_a_core_of_another_machine_is_resolved_with_its_program()
{
    for machine in aarch64 arm i386 riscv64; do
        run resolve --core "$cores/$machine.core" -e "$cores/$machine"
        expect_status 0
        "$json" -e threads.0.frames address < out > got
        tr ' ' '\n' < "$cores/$machine.expect" | sed '/^$/d' > wanted
        expect_same got wanted
        "$json" -e threads.0.frames function < out | sed -n '1p;$p' > got
        printf 'leaf\nentry\n' > wanted
        expect_same got wanted
    done
}

test_a_core_finds_its_files_below_a_root()
{
    crash null-write
    mkdir -p "root$(dirname "$crasher")"
    cp "$crasher" "root$crasher"
    run resolve --core core --root "$PWD/root"
    expect_status 0
    "$json" -e trace.modules path main < out | grep -v "	-$" > got
    printf '%s\ttrue\n' "$PWD/root$crasher" > wanted
    expect_same got wanted
    "$json" -e threads.0.frames function < out | head -n 1 > got
    echo null_write > wanted
    expect_same got wanted
}

test_a_core_that_was_cut_says_so()
{
    crash null-write
    head -c 20000 core > cut
    run resolve --core cut
    expect_status 0
    "$json" -e trace.missing what reason < out > got
    expect got "the core file is cut: 20000 of"
}

test_what_is_no_core_is_refused_by_name()
{
    echo "no core" > file
    run resolve --core file
    refused 1 "file: not a core file"
    run resolve --core nowhere
    refused 1 "nowhere"
    run resolve --core "$cores/aarch64.core" -e nowhere
    refused 1 "nowhere: no such file"
}

test_a_core_takes_no_trace_beside_it()
{
    run resolve --core "$cores/aarch64.core" trace.jsonl
    refused 2 "--core takes neither addresses nor a trace"
    run resolve --core "$cores/aarch64.core" --again
    refused 2 "--again"
    run resolve --root / trace.jsonl
    refused 2 "--root wants --core"
    run resolve --core "$cores/aarch64.core" --style gnu
    refused 2 "styles of reports only"
}

# what CORE: what is known of its threads, but for what each run makes anew.
what()
{
    "$json" trace.signal trace.threads trace.modules < "$1"
}

test_a_core_through_a_pipe_gives_the_same_stacks()
{
    for kind in null-write overflow thread-overflow; do
        crash $kind
        "$program" resolve --core core > whole
        run crash-pipe --raw < core
        expect_status 0
        mv out raw
        run resolve raw
        what out > got
        what whole > wanted
        expect_same got wanted
    done
}

test_crash_pipe_puts_one_trace_into_the_inbox()
{
    crash null-write
    mkdir inbox
    run crash-pipe --inbox inbox 1 < core
    expect_status 0
    expect_empty out
    expect_empty err
    find inbox -type f > files
    expect_lines files 1
    file=$(cat files)
    "$json" id process.pid why complete < "$file" > got
    printf '%s\t1\tcrash\ttrue\n' "$(basename "$file" .trace)" > wanted
    expect_same got wanted
}

test_crash_pipe_needs_no_standard_output_or_error()
{
    crash null-write
    mkdir inbox
    "$program" crash-pipe --inbox inbox < core >&- 2>&- || fail "it failed"
    find inbox -name '*.trace' > files
    expect_lines files 1
    "$json" complete < "$(cat files)" > got
    echo true > wanted
    expect_same got wanted
}

test_crash_pipe_refuses_what_is_no_core()
{
    echo "no core" > file
    run crash-pipe --inbox . < file
    refused 1 "crash-pipe: standard input: not a core file"
    run crash-pipe --inbox . < /dev/null
    refused 1 "standard input: not a core file"
    run crash-pipe --inbox nowhere/else < "$cores/aarch64.core"
    refused 1 "nowhere/else"
    run crash-pipe x < file
    refused 2 "not a process: 'x'"
    run crash-pipe 1 2 < file
    refused 2 "one process at a time"
}

the_test
