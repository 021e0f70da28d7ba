#!/bin/sh
# behaviours.sh BUILD_DIR -- every row of tests/behaviours.tsv names a behaviour that
# exists and a test that ctest runs. Silent and 0 if so, else one line a finding and 1.
set -eu
export LC_ALL=C

build=${1-}
table=$(dirname "$0")/behaviours.tsv
if [ -z "$build" ] || [ ! -f "$build/CTestTestfile.cmake" ]; then
    echo "behaviours.sh: name a configured build directory: behaviours.sh BUILD_DIR" >&2
    exit 2
fi
# The name that findings begin with does not depend on where the script was called from.
ctest --test-dir "$build" -N |
    awk -v table="$table" -v name=tests/behaviours.tsv '
    function say(what) { print name ":" row ": " what; bad = 1 }
    BEGIN {
        last["P"] = 30; last["X"] = 20; last["T"] = 16; last["D"] = 79
        for (letter in last)
            for (i = 1; i <= last[letter]; i++)
                behaviour[letter i] = 1
    }
    /^ *Test +#[0-9]+: / { sub(/^ *Test +#[0-9]+: /, ""); sub(/ *\(Disabled\)$/, ""); test[$0] = 1; tests++ }
    END {
        if (!tests)
            say("ctest lists no test at all")
        while ((status = getline line < table) > 0) {
            row++
            if (line ~ /^#/ || line == "")
                continue
            if (split(line, column, "\t") != 2)
                say("not an id, a tab and the name of a test")
            else if (!(column[1] in behaviour))
                say("there is no behaviour " column[1])
            else if (!(column[2] in test))
                say("there is no test " column[2])
            else if (line in first)
                say("repeats row " first[line])
            else
                first[line] = row
        }
        if (status < 0)
            say("cannot be read")
        exit bad
    }'
