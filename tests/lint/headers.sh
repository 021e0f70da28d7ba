#!/bin/sh
# headers.sh -- each public header compiles alone, as C11 and as C++17, without a warning.
. "$(dirname "$0")/files.sh"

warnings='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror'
lint_files 'include/*.h' > "$lint_tmp/headers"

compile() # HEADER LANGUAGE STANDARD COMPILER
{
    printf '#include "%s"\n' "${1#include/}" > "$lint_tmp/alone"
    # shellcheck disable=SC2086 # the warnings are words
    "$4" -x "$2" -std="$3" $warnings -Iinclude -fsyntax-only "$lint_tmp/alone" \
        > "$lint_tmp/out" 2>&1 && return 0
    grep -E '^[^ ]+:[0-9]+:[0-9]+: (error|fatal error|warning):' "$lint_tmp/out" |
        sed -E "s/^([^:]+:[0-9]+):[0-9]+: [a-z ]+: (.*)/\1: as $3: \2/" > "$lint_tmp/lines"
    if [ -s "$lint_tmp/lines" ]; then
        cat "$lint_tmp/lines"
    else
        echo "$1:1: as $3: $(head -n 1 "$lint_tmp/out")"
    fi
}

while IFS= read -r header; do
    compile "$header" c c11 gcc
    compile "$header" c++ c++17 g++
done < "$lint_tmp/headers" | lint_report
