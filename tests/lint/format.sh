#!/bin/sh
# format.sh -- C looks as .clang-format says. Remedy: clang-format-14 -i FILE.
. "$(dirname "$0")/files.sh"

lint_files '*.c' '*.h' > "$lint_tmp/c"
# Two at a time: one process takes seconds for the whole tree.
xargs -r -n 8 -P 2 clang-format-14 --dry-run -Werror < "$lint_tmp/c" > "$lint_tmp/out" 2>&1 ||
    grep -qE '^[^ ].*:[0-9]+:[0-9]+: ' "$lint_tmp/out" || {
    cat "$lint_tmp/out"
    exit 2
}
sed -nE 's/^([^ :]+:[0-9]+):[0-9]+: (error|warning): .*/\1: not as clang-format-14 has it/p' \
    "$lint_tmp/out" | lint_report
