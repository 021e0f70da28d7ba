#!/bin/sh
# budgets.sh -- short functions, short files, short lines, small plugin headers.
#
# The ceilings are meant to be felt: when one is hit, split; do not raise it.
. "$(dirname "$0")/files.sh"

function_lines=60
file_lines=500
test_file_lines=700
columns=88
# What a plugin's author has to read: the one header and base.h, comments included.
symbolizer_lines=525
sink_lines=385

lint_files '*.c' '*.h' > "$lint_tmp/c"

closure() # HEADER LIMIT
{
    header=include/backtrail/$1
    [ -f "$header" ] || return 0
    lines=$(cat "$header" include/backtrail/base.h | wc -l)
    [ "$lines" -le "$2" ] ||
        echo "$header:1: with base.h it has $lines lines, $2 are allowed"
}

too_long_functions()
{
    ctags -L "$lint_tmp/c" -f - --languages=C --langmap=C:.c.h --kinds-C=f \
        --fields=ne --excmd=number 2> "$lint_tmp/ctags" |
        awk -F '\t' -v limit=$function_lines '{
            line = end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) line = substr($i, 6)
                if ($i ~ /^end:/) end = substr($i, 5)
            }
            size = end - line + 1
            if (size > limit)
                print $2 ":" line ": " $1 " has " size " lines, " limit " are allowed"
        }'
    grep -v '^ctags: Warning: ignoring null tag' "$lint_tmp/ctags" || true
}

too_long_files()
{
    xargs -r awk -v files=$file_lines -v tests=$test_file_lines -v columns=$columns '
        function close_file() {
            limit = name ~ /^tests\// ? tests : files
            if (lines > limit)
                print name ":" lines ": the file has " lines " lines, " limit " are allowed"
        }
        FNR == 1 { close_file(); name = FILENAME }
        { lines = FNR; text = $0; gsub(/[\200-\277]/, "", text) }
        length(text) > columns {
            print FILENAME ":" FNR ": " length(text) " columns, " columns " are allowed"
        }
        END { close_file() }' < "$lint_tmp/c"
}

{
    too_long_functions
    too_long_files
    closure symbolizer.h $symbolizer_lines
    closure sink.h $sink_lines
} | lint_report
