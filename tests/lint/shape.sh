#!/bin/sh
# shape.sh -- TRAIL_SYMBOLIZER_SHAPE and TRAIL_SINK_SHAPE are true.
#
# A shape is the first 32 bits of the SHA-256 of the prototypes of all function pointers
# and function types that a plugin's header declares, in their order, with comments and
# blank space left out. It changes when a signature does, or a slot is added: data members
# may be appended to sized structs without a new shape, since `size` tells them.
#
#   shape.sh          compare
#   shape.sh --fix    write the right values into the headers
. "$(dirname "$0")/files.sh"

include=include/backtrail

# The declarations of a header, one a line, without a blank that C does not need.
declarations() # HEADER
{
    awk -v strings=1 -f "$(dirname "$0")/code.awk" "$1" | sed -E 's/^[^:]*:[0-9]+://' |
        awk 'continued || /^[ \t]*#/ { continued = /\\$/; next } { print }' |
        tr '\n\t' '  ' |
        awk '{
            depth = 0; text = ""
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1)
                text = text c
                if (c == "{") depth++
                if (c == "}") depth--
                if (text ~ /^ *extern "C" \{$/) { depth = 0; text = "" }
                if (depth < 0) { depth = 0; text = "" }
                # A function body ends a declaration without a semicolon.
                if (c == "}" && depth == 0 && text ~ /^[^{]*\) *\{/) text = ""
                if (c == ";" && depth == 0) { print text; text = "" }
            }
        }' |
        sed -E 's/ +/ /g; s/^ //; s/ ?([^A-Za-z0-9_ ]) ?/\1/g' |
        grep -E '^((struct|enum) [a-z0-9_]+\{|typedef )' | tr '{};' '\n\n\n' |
        grep -E '\(\*[a-z0-9_]+\)\(|^typedef '
}

shape() # HEADER
{
    declarations "$1" > "$lint_tmp/declarations"
    sha256sum < "$lint_tmp/declarations" | cut -c1-8
}

check() # HEADER CONSTANT
{
    right=0x$(shape "$1")u
    has=$(sed -nE "s/^#define $2 +([0-9a-fA-Fx]+u).*/\1/p" "$1")
    [ "$has" = "$right" ] && return 0
    if [ "$fix" = 1 ] && [ -n "$has" ]; then
        sed -i -E "s/^(#define $2 +)[0-9a-fA-Fx]+u/\1$right/" "$1"
        return 0
    fi
    line=$(grep -nE "^#define $2\b" "$1" | cut -d: -f1)
    echo "$1:${line:-1}: $2 is ${has:-missing}, the declarations say $right"
}

fix=0
case ${1-} in
'') ;;
--fix) fix=1 ;;
--declarations) # what a shape is made of, for whoever wonders why it changed
    declarations "$include/symbolizer.h"
    declarations "$include/sink.h"
    exit 0
    ;;
*)
    echo "shape.sh: unknown option $1" >&2
    exit 2
    ;;
esac

{
    check $include/symbolizer.h TRAIL_SYMBOLIZER_SHAPE
    check $include/sink.h TRAIL_SINK_SHAPE
} | lint_report
