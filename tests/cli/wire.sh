#!/bin/sh
# wire.sh -- versions of traces and reports, and what is passed on from one to the next.
. "$(dirname "$0")/lib.sh"

test_the_version_now_and_the_one_before_become_reports()
{
    for version in 0 1; do
        trace good | sed "s/\"backtrail\":1/\"backtrail\":$version/"
    done > traces.jsonl
    run resolve traces.jsonl
    expect_status 0
    expect_empty err
    "$json" backtrail trace.backtrail threads.0.frames.0.function < out > got
    printf '1\t0\tchain_step1\n1\t1\tchain_step1\n' > wanted
    expect_same got wanted
}

test_other_versions_are_refused_with_what_to_do()
{
    for version in 2 '"1"' 1.0 null -1; do
        echo "{\"backtrail\":$version,\"threads\":[]}"
        echo "{\"backtrail\":$version,\"kind\":\"report\",\"trace\":{\"backtrail\":1}}"
    done > traces.jsonl
    run resolve traces.jsonl
    expect_status 1
    expect_empty out
    : > wanted
    for line in 1 3 5 7 9; do
        case $line in
        1) told='version 2 is newer than 1, which this program reads; upgrade backtrail' ;;
        9) told='version -1 is older than 0, the oldest that this program reads; use an older backtrail' ;;
        *) told='"backtrail": wants the version, a whole number such as 1' ;;
        esac
        for number in $line $((line + 1)); do
            echo "backtrail: traces.jsonl:$number: trace: $told" >> wanted
        done
    done
    expect_same err wanted
}

# Members of another version, or of a writer of someone else's, in every object.
strange='"x_wide":9007199254740993,"x_most":9223372036854775807,"x_least":-9223372036854775808,"x_real":0.1,"x_tiny":5e-324,"x_text":"\u20ac \ud83d\ude00 \"\\ \u001b","\ud83d\ude00":{"x":[null,true,{},[]]},'

test_strange_members_of_every_object_are_in_the_report_unchanged()
{
    trace good | sed 's/}$/,"app":{"name":"a"},"signal":{"number":11,"name":"SIGSEGV"},"missing":[{"what":"thread","reason":"gone"}]}/
        s/"kinds"/"next":{"frame":"0x1"},"kinds"/' > plain.jsonl
    strange=$strange awk '{ count = split($0, part, "{"); printf "%s", part[1]
        for (i = 2; i <= count; i++) printf "{%s%s", ENVIRON["strange"], part[i]
        print "" }' plain.jsonl > traces.jsonl
    [ "$(grep -o x_wide traces.jsonl | wc -l)" -ge 9 ] || fail "too few objects" traces.jsonl
    run resolve traces.jsonl
    expect_status 0
    expect_empty err
    "$json" trace < out > got
    "$json" '' < traces.jsonl > wanted
    expect wanted 9007199254740993 9223372036854775807 "$(printf '\360\237\230\200')"
    expect_same got wanted
    mv out report.jsonl
    run resolve report.jsonl
    "$json" trace < out > got
    expect_same got wanted
}

test_strange_members_of_a_report_are_kept_when_it_is_resolved_again()
{
    trace good > traces.jsonl
    run resolve traces.jsonl
    sed 's/^{/{"x_first":{"deep":[1]},/; s/}$/,"redacted":["attributes.user"],"x_last":"\\ud83d\\ude00"}/' \
        out > report.jsonl
    run resolve report.jsonl
    expect_status 0
    "$json" revision x_first x_last redacted threads.0.frames.0.function < out > got
    printf '2\t{"deep":[1]}\t\360\237\230\200\t["attributes.user"]\tchain_step1\n' > wanted
    expect_same got wanted
    "$json" keys < out > got
    echo "backtrail,kind,id,revision,resolved_ns,trace,resolver,answers,gaps,threads,fingerprint,x_first,redacted,x_last" > wanted
    expect_same got wanted
}

# at BASE: the good trace, had its module been mapped elsewhere.
at()
{
    trace good | sed "s/\"0x40\([0-9a-f]*\)\"/\"0x${1}40\1\"/g; s/\"bias\":\"0x0\"/\"bias\":\"0x${1}000000\"/"
}

test_nothing_that_names_a_build_or_a_stack_depends_on_its_addresses()
{
    for base in 1 7f00; do
        { at $base; at $base | sed s,x64-gcc,gone,g; } > traces.jsonl
        run resolve traces.jsonl
        expect_status 0
        "$json" answers gaps fingerprint trace.modules.0.id < out > keys-$base
        "$json" threads.0.frames.0.offset threads.0.frames.0.address < out >> addresses
    done
    expect keys-1 '"want":"214b18e9732c20fc56010ada89a354aef4c1b5fe"' '"exact":"'
    expect_same keys-7f00 keys-1
    printf '0x401000\t0x%s401000\n' 1 1 7f00 7f00 > wanted
    expect_same addresses wanted
}

test_a_frame_leads_to_the_route_that_answered()
{
    trace good > good.jsonl
    sed "s,/nonexistent/lib/gone.so,/nonexistent/x64-buildid,; s/\"0x401000\"/\"0x201234\"/
        s/0x400000/0x200000/; s/0x404000/0x204000/
        s/0123456789abcdef0123456789abcdef01234567/d7b0990776c9048621a3abaf36c01f49298662da/" \
        "$data/missing.jsonl" > elsewhere.jsonl
    for name in good elsewhere; do
        run resolve --symbols "$fixtures/buildid" $name.jsonl
        expect_status 0
        "$json" threads.0.frames.0.answer answers.0.module answers.0.route answers.0.file \
            < out >> got
    done
    printf '0\t0\t%s\t%s\n' embedded "$fixtures/x64-gcc-dw5-O2" symbols-dir \
        "$(find "$fixtures/buildid" -name '*b0990776c9048621a3abaf36c01f49298662da*')" > wanted
    expect_same got wanted
}

the_test
