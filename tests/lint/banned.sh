#!/bin/sh
# banned.sh -- calls that cannot be made safe, unfinished business, paths of one machine.
. "$(dirname "$0")/files.sh"

calls='strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atoll|atof|gets|alloca|system|popen'
calls="$calls|scanf|fscanf|sscanf|vscanf|vfscanf|vsscanf|tmpnam|tempnam|mktemp"

# Written so that this file does not match itself.
unfinished='\b(TOD[O]|FIXM[E]|XX[X]|[Nn]ot implemente[d])\b'
passing='\b[Ff]or no[w]\b' # in comments and prose; a message may say that of the moment
machine='(^|[^A-Za-z0-9_.$}*-])/(wor[k]|hom[e]|roo[t]|User[s])/'

lint_files '*.c' '*.h' > "$lint_tmp/c"
lint_files > "$lint_tmp/all"
grep -vE '^(LICENSE|tests/lint/selftest\.sh)$' "$lint_tmp/all" > "$lint_tmp/text" || true

{
    xargs -r awk -f "$(dirname "$0")/code.awk" < "$lint_tmp/c" |
        sed -nE "s/^([^:]*:[0-9]+):(.*[^A-Za-z0-9_])?($calls)[ ]*\(.*/\1: \3() is banned/p"
    {
        xargs -r grep -InHE "$unfinished" < "$lint_tmp/text" || true
        grep -v '\.[ch]$' "$lint_tmp/text" | xargs -r grep -InHE "$passing" || true
        xargs -r awk -v comments=1 -f "$(dirname "$0")/code.awk" < "$lint_tmp/c" |
            grep -E "^[^:]*:[0-9]+:.*$passing"
    } |
        sed -E 's/^([^:]*:[0-9]+):[[:space:]]*(.*)/\1: unfinished: \2/'
    xargs -r grep -InHE "$machine" < "$lint_tmp/text" |
        sed -E 's/^([^:]*:[0-9]+):[[:space:]]*(.*)/\1: a path of one machine: \2/'
} | lint_report
