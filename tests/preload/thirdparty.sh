#!/bin/sh
# thirdparty.sh -- programs of others that crash under `backtrail run`: the stack of the
# report is the one that gdb sees in the core of the same crash.
#   sh thirdparty.sh NAME PROGRAM PLUGINS SOURCE
# Skipped (77) where the program, gdb or plain core files are not to be had.
set -eu
name=$1 program=$2 plugins=$3 source=$4
export LC_ALL=C DEBUGINFOD_URLS=
work=$(mktemp -d)
chmod 711 "$work"
runner=
at_exit()
{
    [ -z "$runner" ] || kill -KILL "$runner" 2> /dev/null || :
    rm -rf "$work"
}
trap at_exit EXIT
trap 'exit 130' HUP INT TERM
export BACKTRAIL_STATE="$work/state" BACKTRAIL_PLUGIN_PATH="$plugins" XDG_CACHE_HOME="$work/cache"
unset BACKTRAIL_CONFIG LD_PRELOAD
mkdir "$work/here"
cd "$work/here"

skip()
{
    echo "skipped: $1"
    exit 77
}

fail()
{
    echo "$1" >&2
    cut -c 1-300 err >&2
    exit 1
}

need()
{
    for command in "$@"; do
        found=$(PATH=/usr/bin:/bin:/usr/sbin:/sbin command -v "$command") ||
            skip "there is no $command"
    done
}

need gdb python3
case $(cat /proc/sys/kernel/core_pattern) in
core | core.%p) ;;
*) skip "cores go elsewhere" ;;
esac
ulimit -c unlimited 2> /dev/null || skip "there is a limit on cores"

# crash EXPECTED ARGUMENT...: run it; it ends with that exit code.
crash()
{
    expected=$1
    shift
    status=0
    "$program" run --json -- "$@" > out 2> err < /dev/null || status=$?
    [ $status -eq "$expected" ] || fail "$*: exit code $status, not $expected"
}

# start ARGUMENT...: run it in the background.
start()
{
    "$program" run --json -- "$@" > out 2> err < /dev/null &
    runner=$!
}

# ends EXPECTED: what was started ends so.
ends()
{
    status=0
    wait "$runner" || status=$?
    runner=
    [ $status -eq "$1" ] || fail "exit code $status, not $1"
}

# await COMMAND...: until it is true; what is waited for may take 20 s.
await()
{
    for _ in $(seq 200); do
        ! "$@" > /dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "waited in vain: $*"
}

# child_of PID: the first of its children.
child_of()
{
    cut -d ' ' -f 1 "/proc/$1/task/$1/children"
}

as_gdb() # EXECUTABLE
{
    set -- "$1" core*
    python3 "$source/tests/preload/as_gdb.py" "$1" "$2" err || fail "$name: not as gdb"
}

run_python3()
{
    need python3
    executable=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
    crash 139 "$executable" -c 'import ctypes; ctypes.string_at(0)'
    as_gdb "$executable"
}

run_perl()
{
    need perl
    crash 139 "$found" -e 'unpack "p", pack "L!", 1'
    as_gdb "$found"
    rm core*
    crash 134 "$found" -e 'kill ABRT => $$; sleep 9'
    as_gdb "$found"
}

sleeps_as() # NAME
{
    child=$(child_of $runner)
    [ "$(cat "/proc/$child/comm")" = "$1" ] && grep -q '^State:.S' "/proc/$child/status"
}

run_sqlite3()
{
    need sqlite3
    mkfifo input
    "$program" run --json -- "$found" < input > out 2> err &
    runner=$!
    exec 9> input
    await sleeps_as sqlite3
    kill -SEGV "$child"
    ends 139
    exec 9>&-
    as_gdb "$found"
}

run_redis()
{
    need redis-cli redis-server
    start "$found" --port 0 --save '' --dir . --unixsocket "$PWD/socket" \
        --enable-debug-command yes
    await redis-cli -s socket ping
    redis-cli -s socket debug segfault > /dev/null 2>&1 || :
    ends 139
    as_gdb "$found"
}

run_node()
{
    need node
    executable=$(readlink -f "$found")
    crash 134 "$executable" -e 'process.abort()'
    as_gdb "$executable"
    rm core*
    crash 139 "$executable" -e 'process.kill(process.pid, "SIGSEGV"); setTimeout(() => 0, 20000)'
    as_gdb "$executable"
}

worker_waits()
{
    child=$(child_of $runner)
    worker=$(child_of "$child")
    [ -n "$worker" ] && grep -q 'epoll_wait\|ep_poll' "/proc/$worker/wchan"
}

reported()
{
    grep -q '"kind":"report"' err
}

# The worker is another user, and the master lives on.
run_nginx()
{
    need nginx
    [ "$(id -u)" -eq 0 ] || skip "nginx has workers of another user only for root"
    mkdir cores
    chmod 777 cores
    cat > nginx.conf <<- END
	daemon off;
	user www-data;
	worker_processes 1;
	worker_rlimit_core 1g;
	working_directory $PWD/cores;
	pid $PWD/pid;
	error_log $PWD/log;
	events { }
	http {
	    access_log off;
	    server { listen unix:$PWD/socket; }
	}
	END
    start "$found" -c "$PWD/nginx.conf"
    await worker_waits
    first=$worker
    kill -SEGV "$first"
    await reported
    kill -QUIT "$(cat pid)"
    ends 0
    mv cores/core* .
    as_gdb "$found"
}

"run_$name"
