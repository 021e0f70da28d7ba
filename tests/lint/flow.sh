#!/bin/sh
# flow.sh -- data flows one way: who may include what, and where platforms may be named.
#
# A plugin or sink sees its public header and its own folder. A stage in core sees the
# types in trace/, os/os.h and the stage before it. The pipeline, the api and agent/ see
# everything but plugins. Only core/os asks the operating system.
. "$(dirname "$0")/files.sh"

lint_files '*.c' '*.h' > "$lint_tmp/c"

{
    xargs -r awk -v strings=1 -f "$(dirname "$0")/code.awk" < "$lint_tmp/c" |
        grep -E '^[^:]*:[0-9]+:[[:space:]]*#' > "$lint_tmp/directives" || true
    awk -v list="$lint_tmp/c" -f "$(dirname "$0")/flow.awk" "$lint_tmp/directives"
} | lint_report
