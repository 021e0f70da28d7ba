#!/bin/sh
# run.sh GOLDEN COMMAND -- runs a shell command in an empty directory, and compares what it
# says, on standard output and error, with a file. What differs from run to run is folded:
# addresses, ids, process ids, lines of the library's own sources. Its exit code follows if
# it is not 0. With BACKTRAIL_TEST_UPDATE=1 the file is written instead.
set -u
export LC_ALL=C
golden=$1 command=$2

unset BACKTRAIL_CONFIG BACKTRAIL_BACKTRACE BACKTRAIL_STYLE
work=$(mktemp -d) || exit 1
. "$(dirname "$0")/../produced.sh"
trap 'produced_at_exit backtrail; rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
PATH=$LIVE_PATH:$PATH
ulimit -c 0
mkdir "$work/here" && cd "$work/here" || exit 1

# What the program writes to a pipe is kept on its way.
if [ -n "${BACKTRAIL_TEST_PRODUCED-}" ]; then
    mkdir "$work/bin"
    cat > "$work/bin/backtrail" << PROGRAM
#!/bin/sh
"$(command -v backtrail)" "\$@" > "$work/out.\$\$"
status=\$?
cat "$work/out.\$\$"
exit \$status
PROGRAM
    chmod +x "$work/bin/backtrail"
    PATH=$work/bin:$PATH
fi

sh -c "$command" > "$work/said" 2>&1
status=$?
[ $status -eq 0 ] || echo "exit code $status" >> "$work/said"

sed -E \
    -e 's/0x[0-9a-f]+/0xADDR/g' \
    -e 's/\[[0-9a-f]{40}\]/[ID]/g' \
    -e 's/pid [0-9]+, id [0-9a-f]{32}/pid PID, id ID/' \
    -e 's,/[^ ]*/core/([a-z_/]+\.c):[0-9]+:[0-9]+,core/\1:LINE,' \
    "$work/said" > "$work/folded"

if [ "${BACKTRAIL_TEST_UPDATE-}" = 1 ]; then
    cp "$work/folded" "$golden"
fi
diff -u "$golden" "$work/folded"
