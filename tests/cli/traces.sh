#!/bin/sh
# traces.sh -- `backtrail resolve TRACE` and `backtrail raw TRACE`: raw traces that were
# written elsewhere, good ones and broken ones.
. "$(dirname "$0")/lib.sh"

test_a_trace_becomes_a_report()
{
    trace good > good.jsonl
    run resolve good.jsonl
    expect_status 0
    expect_empty err
    expect_lines out 1
    "$json" backtrail kind id revision answers.0.plugin answers.0.by gaps < out > got
    printf '1\treport\t00112233445566778899aabbccddeeff\t1\telfdwarf\tdebug-info\t[]\n' > wanted
    expect_same got wanted
    "$json" -e threads.0.frames n address function file line column inlined < out > got
    tr ' ' '\t' > wanted << 'WANTED'
0 0x401000 chain_step1 inc/chain.h 20 10 true
0 0x401000 static_helper deep.c 11 11 -
1 0x40106a public_api deep.c 19 10 -
WANTED
    expect_same got wanted
}

test_a_report_for_people_has_a_line_a_frame()
{
    trace good > good.jsonl
    run resolve --style text good.jsonl
    expect_status 0
    cat > wanted << 'WANTED'
warning: one good trace
x64-gcc-dw5-O2, pid 42, id 00112233445566778899aabbccddeeff; frames are return targets
backtrace:
  0: chain_step1 at inc/chain.h:20:10 (inlined)
  1: static_helper at deep.c:11:11
  2: public_api at deep.c:19:10
WANTED
    expect_same out wanted
    run resolve --style tracy good.jsonl
    expect out "0. chain_step1 at inc/chain.h:20:10 [inline 0]" \
        "0. static_helper at deep.c:11:11 [inline 1]" "1. public_api"
}

test_members_that_are_not_known_are_passed_on()
{
    trace good > good.jsonl
    run resolve good.jsonl
    "$json" trace < out > got
    "$json" '' < good.jsonl > wanted
    expect wanted x_future x_os x_column x_module
    expect_same got wanted
}

test_a_trace_comes_from_standard_input_too()
{
    trace good | "$program" resolve --style text - > wanted
    trace good > good.jsonl
    run resolve --style text good.jsonl
    expect_same wanted out
    said="backtrail resolve -" status=0
    printf '\n{\n' | "$program" resolve - > out 2> err || status=$?
    refused 1 "standard input:2: trace: "
}

# wrong NAME TEXT: both verbs refuse NAME.jsonl's first line.
wrong()
{
    for verb in resolve raw; do
        run $verb "$1.jsonl"
        refused 1 "$1.jsonl:1: trace: " "$2"
    done
}

test_a_line_that_is_no_trace_is_told_with_its_place()
{
    trace newer > newer.jsonl
    wrong newer "version 2 is newer than 1, which this program reads"
    echo "hello" > plain.jsonl
    wrong plain "column "
    printf '{"backtrail"' > half.jsonl
    wrong half "column 12: ':' expected"
    echo '["backtrail",1]' > array.jsonl
    wrong array "wants a JSON object"
    echo '{"kind":"trace"}' > other.jsonl
    wrong other 'no member "backtrail": this is not a raw trace'
    echo '{"backtrail":1,"threads":[{"pcs":["far"]}]}' > pcs.jsonl
    wrong pcs "pcs: wants addresses"
    printf '{"backtrail":1,"why":"\377"}\n' > bytes.jsonl
    wrong bytes "column 22: unable to decode byte 0xff"
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "[" }' > deep.jsonl
    wrong deep "column "
}

test_a_line_that_is_too_long_is_told()
{
    trace good | sed "s/one good trace/$(printf '%1000s' '' | tr ' ' x)/" > long.jsonl
    run resolve long.jsonl
    expect_status 0
    awk 'BEGIN { printf "{\"backtrail\":1,\"message\":\""
        for (i = 0; i < 5120; i++) printf "%1024s", ""
        print "\"}" }' > huge.jsonl
    [ "$(wc -c < huge.jsonl)" -gt 5242880 ] || fail "not 5 MiB"
    wrong huge "larger than 4194304 bytes"
}

test_a_line_without_end_takes_no_memory_without_end()
{
    # A sanitizer reserves more than this by itself.
    (ulimit -v 250000 && "$program" version > /dev/null 2>&1) || skip "cannot limit memory"
    said="backtrail resolve -"
    for verb in resolve raw; do
        status=0
        head -c 300000000 /dev/zero |
            (ulimit -v 250000 && "$program" $verb - > out 2> err) || status=$?
        refused 1 "standard input:1: trace: larger than 4194304 bytes"
    done
    status=0
    head -c 300000000 /dev/zero | tr '\0' x | (ulimit -v 250000 &&
        "$program" resolve -e "$fixtures/x64-gcc-dw5-O2" > out 2> err) || status=$?
    refused 1 "standard input:1: 'xxx"
}

test_the_rest_of_a_file_is_resolved_after_a_bad_line()
{
    {
        trace good
        echo
        printf 'no trace\n  \n'
        trace newer
        trace two-threads
        trace good | tr -d '\n'
    } > mixed.jsonl
    run resolve mixed.jsonl
    expect_status 1
    expect_lines out 3
    "$json" trace.why < out > got
    printf 'request\ncrash\nrequest\n' > wanted
    expect_same got wanted
    expect_lines err 2
    expect err "backtrail: mixed.jsonl:3: trace: " "backtrail: mixed.jsonl:5: trace: version 2"
    run raw mixed.jsonl
    expect_status 1
    expect_lines out 8
    expect_lines err 2
    expect err "backtrail: mixed.jsonl:3: trace: " "backtrail: mixed.jsonl:5: trace: version 2"
}

test_a_file_of_traces_that_cannot_be_read_is_told()
{
    for verb in resolve raw; do
        run $verb nowhere
        refused 1 "nowhere: No such file"
        mkdir -p directory
        run $verb directory
        refused 1 "directory: "
    done
}

test_a_file_without_traces_has_no_reports()
{
    printf '\n \t\n\n' > blank.jsonl
    for verb in resolve raw; do
        for file in blank.jsonl /dev/null; do
            run $verb $file
            expect_status 0
            expect_empty out
            expect_empty err
        done
    done
}

test_a_module_that_is_not_here_has_its_name_and_offset()
{
    trace missing > missing.jsonl
    run resolve --style text missing.jsonl
    expect_status 0
    expect out "  0: 0x401000 in gone.so+0x401000 [0123456789abcdef0123456789abcdef01234567]"
    run resolve missing.jsonl
    expect_status 0
    expect_empty err
    "$json" threads.0.frames.0.gap threads.0.frames.0.function gaps < out > got
    sed "s,@STORE@,$XDG_CACHE_HOME/backtrail," > wanted << 'WANTED'
0	-	[{"module":0,"reason":"store_never_built","detail":"/nonexistent/lib/gone.so: No such file or directory; there is no store at @STORE@","want":"0123456789abcdef0123456789abcdef01234567","remedy":"run `backtrail symbols add FILE`, or copy the file to a --symbols DIR"}]
WANTED
    expect_same got wanted
}

test_a_module_of_another_build_is_not_used_and_both_ids_are_told()
{
    trace other-id > other.jsonl
    run resolve --style text other.jsonl
    expect_status 0
    expect out "  0: 0x401000 in x64-gcc-dw5-O2+0x401000 [ffffffffffffffffffffffffffffffffffffffff]"
    run resolve other.jsonl
    expect_status 0
    "$json" threads.0.frames.0.function answers gaps.0.reason gaps.0.want gaps.0.detail \
        gaps.0.remedy < out > got
    printf '%s\t' - '[]' id_mismatch ffffffffffffffffffffffffffffffffffffffff \
        "$fixtures/x64-gcc-dw5-O2: has id 214b18e9732c20fc56010ada89a354aef4c1b5fe, wanted ffffffffffffffffffffffffffffffffffffffff" > wanted
    echo "give the files of the build that ran with --symbols DIR" >> wanted
    expect_same got wanted
}

test_symbols_found_later_name_an_old_trace()
{
    sed "s,/nonexistent/lib/gone.so,/nonexistent/x64-buildid,; s/\"0x401000\"/\"0x201234\"/
        s/0x400000/0x200000/; s/0x404000/0x204000/
        s/0123456789abcdef0123456789abcdef01234567/d7b0990776c9048621a3abaf36c01f49298662da/" \
        "$data/missing.jsonl" > old.jsonl
    run resolve old.jsonl
    "$json" gaps.0.reason threads.0.frames.0.function < out > got
    printf 'store_never_built\t-\n' > wanted
    expect_same got wanted
    run resolve --symbols "$fixtures/buildid" old.jsonl
    "$json" threads.0.frames.0.function threads.0.frames.0.line gaps < out > got
    printf 'public_api\t18\t[]\n' > wanted
    expect_same got wanted
}

test_a_module_that_was_unloaded_lends_its_addresses_to_none()
{
    trace epochs > epochs.jsonl
    run resolve --style text epochs.jsonl
    expect_status 0
    expect out "  0: 0x401000 (module unloaded)" "  1: chain_leaf at inc/chain.h:8:8 (inlined)" \
        "  5: static_helper at deep.c:11:11"
    run resolve epochs.jsonl
    "$json" threads.0.frames.0.module threads.0.frames.0.function threads.0.frames.0.gap \
        gaps.0.reason gaps.0.module threads.0.frames.1.module < out > got
    printf -- '-\t-\t0\tunloaded\t0\t1\n' > wanted
    expect_same got wanted
}

test_a_trace_that_claims_this_process_is_not_read_from_memory()
{
    # A line that names the very process that reads it, and a vDSO at an address of
    # its choice.
    mkfifo in
    "$program" resolve - < in > out 2> err &
    reader=$!
    exec 3> in
    start=$(sed 's/.*) //' /proc/$reader/stat | cut -d ' ' -f 20)
    printf '{"backtrail":1,"process":{"pid":%s,"start":"%s"},"threads":[{"tid":1,"pcs":["0x10100"]}],"modules":[{"path":"[vdso]","format":"elf","vdso":true,"bias":"0x10000","ranges":[["0x10000","0x20000","r-x"]]}]}\n' \
        $reader "$start" >&3
    exec 3>&-
    wait $reader || fail "it ended with $?" err
    expect out '"reason":"not_found"'
}

test_text_of_strangers_does_not_reach_the_terminal_raw()
{
    printf '%s\n' '{"backtrail":1,"channel":"panic","message":"\u001b[31mred\nspoofed: line","threads":[]}' > t
    run resolve --style text t
    expect_status 0
    expect out 'panic: \x1b[31mred\nspoofed: line'
}

test_each_thread_has_its_frames()
{
    trace two-threads > threads.jsonl
    run resolve --style text threads.jsonl
    expect_status 0
    sed 1,2d out > got
    cat > wanted << 'WANTED'
thread 7 "idle"
backtrace:
  0: static_helper at deep.c:10:1
thread 8 "worker", crashed
backtrace:
  0: chain_step1 at inc/chain.h:20:10 (inlined)
  1: static_helper at deep.c:11:11
  2: static_helper at deep.c:10:1
[... TRUNCATED ...]
WANTED
    expect_same got wanted
    run resolve threads.jsonl
    "$json" -e threads tid name crashed truncated < out > got
    printf '7\tidle\t-\t-\n8\tworker\ttrue\tfull\n' > wanted
    expect_same got wanted
}

test_a_report_as_input_is_resolved_anew_as_the_next_revision()
{
    trace good > good.jsonl
    run resolve good.jsonl
    mv out first.jsonl
    run resolve first.jsonl
    expect_status 0
    mv out second.jsonl
    run resolve second.jsonl
    cat first.jsonl second.jsonl out | "$json" revision id kind > got
    for revision in 1 2 3; do
        printf '%s\t00112233445566778899aabbccddeeff\treport\n' $revision
    done > wanted
    expect_same got wanted
    for file in first.jsonl out; do
        "$json" trace threads fingerprint < $file > $file.parts
    done
    expect_same out.parts first.jsonl.parts
}

test_raw_prints_numbered_addresses_thread_by_thread()
{
    trace two-threads > threads.jsonl
    run raw threads.jsonl
    expect_status 0
    expect_empty err
    cat > wanted << 'WANTED'
0: 0x401003
0: 0x401000
1: 0x401003
[... TRUNCATED ...]
WANTED
    expect_same out wanted
    trace two-threads | "$program" raw - > got
    expect_same got wanted
}

the_test
