#!/bin/sh
# matrix.sh -- every way to crash, of one compiler and language, under `backtrail run`: the
# exit status is the program's, and the frames are those that gdb finds in the core.
#   sh matrix.sh CRASHER KINDS PROGRAM PLUGINS BUILD SOURCE PRELOAD
# KINDS is faults, which the processor finds, or aborts, which the program itself does.
crasher=$1 kinds=$2 preload=$7
# What lib.sh takes in place of a sentence is not used here.
set -- matrix "$3" "$4" "$5" "$6"
. "$5/tests/cli/lib.sh"
here=$source/tests/matrix
export BACKTRAIL_PRELOAD="$preload"

case $crasher in
*static) ;; # nothing is loaded into it
*)
    ! grep -q '^BACKTRAIL_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" ||
        skip "a sanitizer in the library would want to be in the program, too"
    ;;
esac
command -v gdb > /dev/null || skip "no gdb"
[ "$(cat /proc/sys/kernel/core_pattern)" = core ] || skip "cores go elsewhere here"
ulimit -S -c unlimited 2> /dev/null || skip "cores are not allowed here"
[ -x "$crasher" ] || skip "it was not built: its compiler is not here"

tab=$(printf '\t')

# our_frames: down to main, as compare.awk wants them.
our_frames()
{
    "$json" -e threads.0.frames address function linkage line inlined reconstructed < report |
        awk -F '\t' -v OFS='\t' '
            $5 != "true" && $6 == "-" { print $1, $2, $3, $4 == "-" ? 0 : $4 }
            $2 ~ /(^|::)main$/ { exit }'
}

# no_line KIND: of two cells one frame needs no line. clang gives the call that tells of a
# smashed stack the line 0, which means that it belongs to none; gdb shows the line before.
no_line()
{
    case $crasher:$1 in *clang*:smash) echo smash ;; esac
}

# crash KIND SIGNAL: tells on standard output what is wrong.
crash()
{
    rm -f core core.*
    status=0
    "$program" run --json -- "$crasher" "$1" > out 2> err || status=$?
    [ "$status" -eq $((128 + $2)) ] || echo "$1: exit code $status"
    grep '^{"backtrail"' err > report || {
        echo "$1: no report"
        cat err
        return
    }
    core=$(ls core core.* 2> /dev/null | head -n 1)
    [ -n "$core" ] || {
        echo "$1: no core"
        return
    }
    our_frames > ours
    gdb -batch -nx -iex 'set auto-load off' -x "$here/gdb_frames.py" "$crasher" "$core" 2> /dev/null |
        sed -n "s/^frame$tab//p" > theirs
    awk -v no_line="$(no_line "$1")" -f "$here/compare.awk" theirs ours > differs || {
        echo "$1:"
        cat differs
    }
}

: > wrong
case $kinds in
faults) set -- null-write:11 wild-jump:11 call-null:11 overflow:11 thread-overflow:11 divide:8 bus:7 ;;
aborts) set -- abort:6 assert:6 double-free:6 smash:6 fortify:6 uncaught:6 ;;
esac
for kind; do
    case $crasher:$kind in
    *_c:uncaught:* | *_c_static:uncaught:*) continue ;; # C has no exceptions
    esac
    crash "${kind%:*}" "${kind#*:}" >> wrong
done
[ ! -s wrong ] || fail "$crasher: not as gdb has it" wrong
