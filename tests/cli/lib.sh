# lib.sh -- what the scripts of this folder share; sourced by each of them. A test is a
# function test_SENTENCE, and runs alone in an empty directory that is removed afterwards:
#   sh SCRIPT SENTENCE PROGRAM PLUGINS BUILD SOURCE
set -eu
export LC_ALL=C
[ $# -eq 5 ] || {
    echo "usage: $0 SENTENCE PROGRAM PLUGINS BUILD SOURCE" >&2
    exit 2
}
# shellcheck disable=SC2034 # the scripts use them
sentence=$1 program=$2 plugins=$3 build=$4 source=$5
# shellcheck disable=SC2034
data=$source/tests/cli/data fixtures=$source/tests/fixtures/elf
json=$build/tests/cli/cli_json

umask 022
ulimit -S -c 0
exec < /dev/null
work=$(mktemp -d)
. "$source/tests/produced.sh"
at_exit() { :; }
trap 'at_exit; produced_at_exit "$program"; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
unset BACKTRAIL_CONFIG BACKTRAIL_BACKTRACE BACKTRAIL_STYLE NO_COLOR COLUMNS
export BACKTRAIL_STATE="$work/state" BACKTRAIL_PLUGIN_PATH="$plugins" XDG_CACHE_HOME="$work/cache"
mkdir "$work/here"
cd "$work/here"

# fail WHAT [FILE...]: tells what is wrong and shows the files.
fail()
{
    printf '%s\n' "$1" >&2
    shift
    for shown in "$@"; do
        printf -- '--- %s\n' "$shown" >&2
        cut -c 1-400 "$shown" | head -n 40 >&2
    done
    exit 1
}

# skip WHY: for ctest, which takes 77 for it.
skip()
{
    echo "skipped: $1"
    exit 77
}

# need_terminal: some places where programs are built have no /dev/pts.
need_terminal()
{
    "$build/tests/cli/cli_terminal" true > /dev/null 2>&1 ||
        skip "no terminal can be made here"
}

# run ARGUMENT...: the program; leaves what it says in out and err, and its exit code.
run()
{
    status=0
    "$program" "$@" > out 2> err || status=$?
    said="backtrail $*"
    produced_keep out
}

expect_status() # CODE
{
    [ "$status" -eq "$1" ] || fail "$said: exit code $status, not $1" out err
}

expect_empty() # FILE
{
    [ ! -s "$1" ] || fail "$said: $1 is not empty" "$1"
}

# expect FILE TEXT...: a line of the file holds each text.
expect()
{
    looked=$1
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$looked" || fail "$said: no '$text' in $looked" "$looked"
    done
}

refute() # FILE TEXT
{
    ! grep -qF -- "$2" "$1" || fail "$said: '$2' in $1" "$1"
}

expect_lines() # FILE COUNT
{
    [ "$(wc -l < "$1")" -eq "$2" ] || fail "$said: $1 has not $2 lines" "$1"
}

# expect_same FILE FILE: what is there, what it should be.
expect_same()
{
    diff -u "$2" "$1" >&2 || fail "$said: $1 is not as $2"
}

# refused CODE TEXT...: one line on standard error, which begins with the program's name
# and holds the texts, nothing on standard output, and the exit code.
refused()
{
    expect_status "$1"
    shift
    expect_empty out
    expect_lines err 1
    grep -q '^backtrail: ' err || fail "$said: does not begin with 'backtrail: '" err
    expect err "$@"
}

# trace NAME: that file of data/ with the place of the fixtures put in.
trace()
{
    sed "s,@ELF@,$fixtures,g" "$data/$1.jsonl"
}

# the_test: the last word of each script.
the_test()
{
    "test_$sentence"
}
