#!/bin/sh
# again.sh -- `backtrail resolve --again`: reports are resolved anew when symbols have been
# found, and what differs is told.
. "$(dirname "$0")/lib.sh"

id=d7b0990776c9048621a3abaf36c01f49298662da

# A raw trace of x64-buildid, whose file is not here.
old_trace()
{
    sed "s,/nonexistent/lib/gone.so,/nonexistent/x64-buildid,; s/\"0x401000\"/\"0x201234\"/
        s/0x400000/0x200000/; s/0x404000/0x204000/
        s/0123456789abcdef0123456789abcdef01234567/$id/
        s/\"kind\":\"trace\",/&\"id\":\"00112233445566778899aabbccddeeff\",/" "$data/missing.jsonl"
}

# Its report without symbols, in first.jsonl.
first_report()
{
    old_trace > old.jsonl
    run resolve old.jsonl
    expect_status 0
    mv out first.jsonl
}

test_symbols_that_come_later_name_a_report_and_the_difference_is_told()
{
    first_report
    run resolve --again --symbols "$fixtures/buildid" first.jsonl
    expect_status 0
    cat first.jsonl out | "$json" id revision threads.0.frames.0.function gaps.0.want > got
    trace=$("$json" id < first.jsonl)
    printf '%s\t1\t-\t%s\n%s\t2\tpublic_api\t-\n' "$trace" $id "$trace" > wanted
    expect_same got wanted
    cat first.jsonl out | "$json" trace | uniq > got
    expect_lines got 1
    cat > wanted << WANTED
difference to revision 1 of $trace: 1 of 1 addresses
  was 0x201234 in x64-buildid+0x201234 [$id]
WANTED
    head -n 2 err > got
    expect_same got wanted
    sed 1,2d err > got
    expect got "   is public_api at "
}

test_a_report_as_text_is_followed_by_the_difference()
{
    first_report
    run resolve --again --style text --symbols "$fixtures/buildid" first.jsonl
    expect_status 0
    expect_empty err
    sed -n '/^backtrace:/,$p' out > got
    sed -n '2s/^  0:/   is/p' got > named
    cat > wanted << WANTED
difference to revision 1 of $("$json" id < first.jsonl): 1 of 1 addresses
  was 0x201234 in x64-buildid+0x201234 [$id]
WANTED
    cat named >> wanted
    sed 1,2d got > difference
    expect_same difference wanted
}

test_a_report_that_says_the_same_again_is_told_so()
{
    trace good > good.jsonl
    run resolve good.jsonl
    mv out first.jsonl
    run resolve --again first.jsonl
    expect_status 0
    "$json" revision < out > got
    echo 2 > wanted
    expect_same got wanted
    echo "no difference to revision 1 of 00112233445566778899aabbccddeeff" > wanted
    expect_same err wanted
    # And again, of the next.
    mv out second.jsonl
    run resolve --again second.jsonl
    "$json" revision < out > got
    echo 3 > wanted
    expect_same got wanted
    expect err "no difference to revision 2"
}

test_raw_traces_and_several_files_are_read_again_too()
{
    first_report
    trace good > good.jsonl
    run resolve --again --symbols "$fixtures/buildid" old.jsonl good.jsonl first.jsonl
    expect_status 0
    "$json" revision threads.0.frames.0.function < out > got
    printf '1\tpublic_api\n1\tchain_step1\n2\tpublic_api\n' > wanted
    expect_same got wanted
    grep -c '^no earlier report to differ from$' err > got
    echo 2 > wanted
    expect_same got wanted
    expect err "difference to revision 1"
    # What cannot be read is told, and the rest is done.
    run resolve --again nowhere first.jsonl
    expect_status 1
    expect_lines out 1
    expect err "backtrail: nowhere: No such file"
    status=0
    "$program" resolve --again - < first.jsonl > out 2> err || status=$?
    said="backtrail resolve --again -"
    expect_status 0
    expect err "no difference to revision 1"
}

test_again_goes_with_files_of_reports_alone()
{
    run resolve --again
    refused 2 "--again wants files of reports, or -"
    run resolve --again -e "$fixtures/x64-gcc-dw5-O2" 0x401000
    refused 2 "--again wants files of reports, or -"
    run resolve --again --log /dev/null
    refused 2 "--again is of traces and reports, not of logs"
}

the_test
