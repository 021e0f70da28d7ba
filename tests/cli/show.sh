#!/bin/sh
# show.sh -- `backtrail show`, and what a terminal gets that a pipe does not.
. "$(dirname "$0")/lib.sh"
terminal=$build/tests/cli/cli_terminal
escape=$(printf '\033')
unset NO_COLOR COLUMNS
export TERM=xterm

# report LETTERS: a report with a frame a letter; capital ones are the program's own, small
# ones those of a library.
report()
{
    printf '{"backtrail":1,"kind":"report","id":"00aa","trace":{"backtrail":1,"id":"00aa",'
    printf '"channel":"crash","message":"m","process":{"exe":"/srv/app"},'
    printf '"modules":[{"path":"/srv/app"},{"path":"/lib/libfoo.so"}]},"threads":[{"frames":['
    printf '%s' "$1" | fold -w 1 | {
        comma=
        while IFS= read -r letter || [ -n "$letter" ]; do
            own=true module=0
            case $letter in [a-z]) own=false module=1 ;; esac
            printf '%s{"address":"0x%x","kind":"return","module":%d,"function":"%s","in_app":%s}' \
                "$comma" "'$letter" $module "$letter" $own
            comma=,
        done
    }
    echo ']}]}'
}

# shown ARGUMENT...: what a terminal shows of `backtrail ARGUMENT...`, in out; the words of
# $with go into its environment.
shown()
{
    need_terminal
    status=0
    # shellcheck disable=SC2086 # words
    env ${with-} "$terminal" "$program" "$@" > out 2> err || status=$?
    said="on a terminal: backtrail $*"
}

test_a_report_is_shown_as_it_was_resolved()
{
    for name in good two-threads epochs missing other-id; do
        trace $name
    done > traces.jsonl
    run resolve traces.jsonl
    mv out reports.jsonl
    for options in '' --full '--style tracy' '--style tracy --full'; do
        # shellcheck disable=SC2086 # options are words
        run resolve --style text $options traces.jsonl
        mv out wanted
        # shellcheck disable=SC2086
        run show $options reports.jsonl
        expect_status 0
        expect_empty err
        grep -v '^$' out > got
        expect_same got wanted
    done
    run show --style tracy --full - < reports.jsonl
    grep -v '^$' out > got
    expect_same got wanted
}

test_reports_are_set_apart_and_picked_by_their_id()
{
    { report A && report B | sed 's/00aa/00bb/g'; } > reports.jsonl
    run show reports.jsonl
    expect_status 0
    cat > wanted << 'WANTED'
crash: m
app, id 00aa; frames are return targets
backtrace:
  0: A

crash: m
app, id 00bb; frames are return targets
backtrace:
  0: B
WANTED
    expect_same out wanted
    run show --id 00b reports.jsonl
    expect_status 0
    tail -n 4 wanted > second
    expect_same out second
    run show --id 7 reports.jsonl
    refused 1 "reports.jsonl: no report whose id begins with '7'"
}

test_a_raw_trace_is_not_shown_but_told_of()
{
    trace good > raw.jsonl
    run show raw.jsonl
    refused 1 "raw.jsonl:1: is a raw trace; 'backtrail resolve' names it"
    { cat raw.jsonl && report A && echo '{' && echo; } > mixed.jsonl
    run show mixed.jsonl
    expect_status 1
    expect out "  0: A"
    expect_lines err 2
    expect err "mixed.jsonl:1: is a raw trace" "mixed.jsonl:3: trace: "
    run show nowhere
    refused 1 "nowhere: No such file"
    run show
    refused 2 "wants one file of reports, or -"
}

test_a_report_may_be_larger_than_a_trace()
{
    # As large as a trace may be; its report has frames besides.
    trace good > good.jsonl
    awk '{ printf "%s", substr($0, 1, length($0) - 1) }
        END {
            printf ",\"x_large\":\""
            for (i = 0; i < 4094; i++) printf "%1024s", ""
            print "\"}"
        }' good.jsonl > trace.jsonl
    run resolve trace.jsonl
    expect_empty err
    mv out report.jsonl
    bytes=$(wc -c < report.jsonl)
    [ "$bytes" -gt 4194304 ] || fail "the report has only $bytes bytes"
    run show report.jsonl
    expect_status 0
    expect out "  1: static_helper at deep.c:11:11"
    run resolve report.jsonl
    expect_status 0
    "$json" revision < out > got
    echo 2 > wanted
    expect_same got wanted
}

test_source_is_shown_around_the_lines_of_the_program()
{
    mkdir -p sources/inc
    cp "$source/tests/fixtures/src/deep.c" sources
    touch -d @1000 sources/deep.c
    trace good > good.jsonl
    run resolve good.jsonl
    mv out report.jsonl
    run show --source 1 --source-root "/src=$work/here/sources" report.jsonl
    expect_status 0
    cat > wanted << WANTED
warning: one good trace
x64-gcc-dw5-O2, pid 42, id 00112233445566778899aabbccddeeff; frames are return targets
backtrace:
  0: chain_step1 at inc/chain.h:20:10 (inlined)
     source not available: $work/here/sources/inc/chain.h: No such file or directory
  1: static_helper at deep.c:11:11
WANTED
    sed -n '10s/^/       10 | /p; 11s/^/     > 11 | /p' sources/deep.c >> wanted
    echo '          |           ^' >> wanted
    sed -n '12s/^/       12 | /p' sources/deep.c >> wanted
    head -n 10 out > got
    expect_same got wanted
    run resolve --style text --source 1 --source-root "/src=$work/here/sources" good.jsonl
    head -n 10 out > got
    expect_same got wanted
}

test_options_for_people_are_checked()
{
    report A > r
    run show --source many r
    refused 2 "'many' cannot be used with '--source'"
    run show --source 1001 r
    refused 2 "'1001' cannot be used with '--source'"
    run show --source-root /src r
    refused 2 "'/src' cannot be used with '--source-root'"
    run show --color blue r
    refused 2 "'blue' cannot be used with '--color'"
    run show --style json r
    refused 2 "'json' cannot be used with '--style'"
}

test_a_terminal_has_colors_and_a_pipe_has_none()
{
    report A > r
    run show r
    refute out "$escape"
    mv out plain
    shown show r
    expect_status 0
    expect out "$escape[1mA$escape[0m"
    sed "s/$escape\[[0-9;]*m//g" out > got
    expect_same got plain
    run show --color always r
    expect out "$escape[1mA$escape[0m"
    shown show --color never r
    expect_same out plain
}

test_a_terminal_that_wants_no_color_gets_none()
{
    report A > r
    run show r
    mv out plain
    for with in NO_COLOR=1 TERM=dumb TERM=; do
        shown show r
        expect_same out plain
        shown show --color always r
        expect out "$escape"
    done
    with=NO_COLOR= # as good as unset
    shown show r
    expect out "$escape"
}

test_a_terminal_gets_the_middle_of_a_stack_folded()
{
    report ABCabcdefghMN > r
    run show r
    refute out "--full"
    expect_lines out 16
    shown show --color never r
    expect out "     … 7 frames of libfoo.so (--full shows them)"
    expect out " 10: h" " 11: M" "  2: C"
    mv out folded
    run show --fold r
    expect_same out folded
    shown show --color never --full r
    refute out "--full"
    expect out "  5: c"
}

test_names_are_shortened_to_the_width_of_a_terminal()
{
    need_terminal
    report A | sed 's/"function":"A"/"function":"f<std::vector<int>, std::map<int, int>>(long, long, long)","file":"src\/a.c","line":7/' > r
    run show r
    expect out "  0: f<std::vector<int>, std::map<int, int>>(long, long, long) at src/a.c:7"
    said="backtrail show on a terminal of 50 columns"
    "$terminal" -w 50 "$program" show --color never r > out
    expect out "  0: f<…>(long, long, long) at src/a.c:7"
    said="backtrail show where COLUMNS says 45"
    COLUMNS=45 "$terminal" "$program" show --color never r > out
    expect out "  0: f<…>(long, long, long) at src/a.c:7"
    COLUMNS=40 "$terminal" -w 200 "$program" show --color never r > out
    expect out "f<std::vector<int>, std::map<int, int>>(long, long, long)"
    "$terminal" -w 50 "$program" show --color never --full r > out
    expect out "f<std::vector<int>, std::map<int, int>>(long, long, long)"
}

test_a_long_job_tells_a_terminal_how_far_it_is()
{
    need_terminal
    trace good > traces
    for _ in 1 2 3 4; do cat traces traces > more && mv more traces; done
    head -c 60000 traces | sed '$d' > feed
    # Fed until the line is seen, which takes the two seconds that it waits.
    status=0
    "$terminal" -w 80 -o output -f feed -u 'MiB/s' "$program" resolve - > out || status=$?
    said="backtrail resolve - 2> terminal"
    [ $status -eq 0 ] || fail "$said: $status" out
    expect out "resolving standard input: "
    grep -q '"kind":"report"' output || fail "$said: no report" output
    # Taken away in the end: blanks over it, and a return to the first column.
    tail -c 31 out | grep -qE "^ {30}$(printf '\r')\$" || fail "$said: the line stays" out
}

test_an_error_begins_where_the_progress_line_was()
{
    need_terminal
    trace good > traces
    for _ in 1 2 3 4; do cat traces traces > more && mv more traces; done
    { head -c 60000 traces | sed '$d' && echo '{'; } > feed
    "$terminal" -w 80 -o output -f feed -u 'MiB/s' "$program" resolve - > out || :
    said="backtrail resolve - 2> terminal"
    tr '\r' '\n' < out > lines
    expect lines "resolving standard input: "
    grep -a 'backtrail: ' lines | grep -av '^backtrail: standard input:[0-9]*: trace: ' > wrong || :
    expect_empty wrong
}

the_test
