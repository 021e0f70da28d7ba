#!/bin/sh
# text.sh -- every C file says what it is in its first line (a test, what holds); no file
# tells how the work on it was organised; file names are plain.
. "$(dirname "$0")/files.sh"

# Written so that this file does not match itself.
organised='\b(sessio[n]s?|helpe[r]s?|subagen[t]s?|CE[O]|LL[M]s?|chatbo[t]|AI assistan[t])\b'

lint_files '*.c' '*.h' > "$lint_tmp/c"
lint_files > "$lint_tmp/all"
grep -vE '^(LICENSE|tests/lint/selftest\.sh)$|\.[ch]$' "$lint_tmp/all" > "$lint_tmp/text" || true

{
    xargs -r awk 'FNR == 1 {
            name = FILENAME
            sub(/.*\//, "", name)
            start = "/* " name " " # a program may name its arguments before the dashes
            if (FILENAME ~ /^tests\// && /^\/\* [A-Z]/)
                next
            if (substr($0, 1, length(start)) != start || $0 !~ / -- ./)
                print FILENAME ":1: does not begin with \"" start "-- what it is\""
        }' < "$lint_tmp/c"
    # In C only what comments say: an identifier may be called anything.
    {
        xargs -r grep -InHE "$organised" < "$lint_tmp/text" || true
        xargs -r awk -v comments=1 -f "$(dirname "$0")/code.awk" < "$lint_tmp/c" |
            grep -E "^[^:]*:[0-9]+:.*$organised"
    } |
        sed -E 's/^([^:]*:[0-9]+):[[:space:]]*(.*)/\1: about the work, not the thing: \2/'
    grep -E '[^A-Za-z0-9._/+-]' "$lint_tmp/all" | sed 's/$/:1: an odd character in the name/'
} | lint_report
