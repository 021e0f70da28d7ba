#!/bin/sh
# selftest.sh -- each lint script is seen to fail: on a copy of this repository, one
# violation is planted for each rule, and the script has to name its file and line.
. "$(dirname "$0")/files.sh"

copy=$lint_tmp/copy
mkdir "$copy"
lint_files > "$lint_tmp/all"
tar -c -T "$lint_tmp/all" | tar -x -C "$copy"
cd "$copy"
git -c init.defaultBranch=main init -q .
: > "$lint_tmp/findings"

# Headers to include, so that the rules are tried whatever the tree has.
for folder in core/registry config; do
    mkdir -p $folder
    echo "/* planted.h -- a header to include. */" > $folder/planted.h
done

# The planted file replaces a real one for one check. At the end of a pipe this runs in a
# shell of its own: what the others have to know lies in files.
plant() # FILE, contents from standard input
{
    printf '%s\n' "$1" > "$lint_tmp/planted"
    mkdir -p "$(dirname "$1")"
    rm -f "$lint_tmp/saved"
    [ ! -f "$1" ] || cp "$1" "$lint_tmp/saved"
    cat > "$1"
}

uproot()
{
    planted=$(cat "$lint_tmp/planted")
    if [ -f "$lint_tmp/saved" ]; then cp "$lint_tmp/saved" "$planted"; else rm "$planted"; fi
}

# catches SCRIPT[ ARGUMENT] FILE:LINE: -- and ends with 1.
catches()
{
    status=0
    # shellcheck disable=SC2086 # an argument may follow the script
    sh tests/lint/$1 > "$lint_tmp/said" 2>&1 || status=$?
    if [ $status -ne 1 ] || ! grep -qF "$2" "$lint_tmp/said"; then
        echo "tests/lint/${1%% *}:1: does not find $2 (exit $status)" >> "$lint_tmp/findings"
    fi
    uproot
}

accepts() # SCRIPT FILE
{
    sh "tests/lint/$1" > "$lint_tmp/said" 2>&1 || true
    if grep -qF "$2" "$lint_tmp/said"; then
        echo "tests/lint/$1:1: refuses $(head -n 1 "$lint_tmp/said")" >> "$lint_tmp/findings"
    fi
    uproot
}

long_function()
{
    echo '/* long.c -- one function. */'
    echo 'int f(int x)'
    echo '{'
    seq 58 | sed 's/.*/    x++;/'
    echo '    return x;'
    echo '}'
}

long_function | plant core/trace/long.c
catches budgets.sh 'core/trace/long.c:2: f has 62 lines'
seq 501 | plant core/trace/long.c
catches budgets.sh 'core/trace/long.c:501: '
printf '%089d\n' 0 | plant core/trace/long.c
catches budgets.sh 'core/trace/long.c:1: 89 columns'
seq 500 | plant include/backtrail/sink.h
catches budgets.sh 'include/backtrail/sink.h:1: '

echo '#include "core/os/os.h"' | plant plugins/elfdwarf/x.c
catches flow.sh 'plugins/elfdwarf/x.c:1: '
echo '#include "backtrail/symbolizer.h"' | plant sinks/file/x.c
catches flow.sh 'sinks/file/x.c:1: '
echo '#include "../../core/os/os.h"' | plant sinks/file/x.c
catches flow.sh 'sinks/file/x.c:1: '
echo '#include <unistd.h>' | plant core/trace/x.c
catches flow.sh 'core/trace/x.c:1: '
echo '#include "registry/planted.h"' | plant core/trace/x.c
catches flow.sh 'core/trace/x.c:1: '
echo '#include "core/registry/planted.h"' | plant core/report/x.c
catches flow.sh 'core/report/x.c:1: '
echo '#include "config/planted.h"' | plant core/registry/x.c
catches flow.sh 'core/registry/x.c:1: '
echo '#include <fcntl.h>' | plant include/backtrail/x.h
catches flow.sh 'include/backtrail/x.h:1: '
printf '/* x */\n#  ifdef __linux__\n' | plant core/trace/x.c
catches flow.sh 'core/trace/x.c:2: '
printf '#include <unistd.h>\n#ifdef __linux__\n#endif\n' | plant core/os/x.c
accepts flow.sh core/os/x.c
printf '#include <string.h>\n#include "core/registry/planted.h"\n' | plant core/resolve/x.c
accepts flow.sh core/resolve/x.c

printf 'void f(char *a)\n{\n    strcpy (a, "");\n}\n' | plant core/trace/x.c
catches banned.sh 'core/trace/x.c:3: strcpy() '
printf '/* strcpy(a, b) */ const char *s = "atoi(x)"; int my_gets(int);\n' | plant core/trace/x.c
accepts banned.sh core/trace/x.c
printf '/* TO''DO: more */\n' | plant core/trace/x.c
catches banned.sh 'core/trace/x.c:1: unfinished'
printf '/* a stub fo''r now */\n' | plant core/trace/x.c
catches banned.sh 'core/trace/x.c:1: unfinished'
printf 'see /ho''me/someone/x\n' | plant docs/x.md
catches banned.sh 'docs/x.md:1: a path'

printf '/* x.c -- one. */\nint  a;\n' | plant core/trace/x.c
catches format.sh 'core/trace/x.c:2: '

printf '/* x.h -- one. */\nsize_t f(void);\n' | plant include/backtrail/x.h
catches headers.sh 'include/backtrail/x.h:2: as c11'
printf '/* x.h -- one. */\nint f(int class);\n' | plant include/backtrail/x.h
catches headers.sh 'include/backtrail/x.h:2: as c++17'

sh tests/lint/shape.sh --fix
sed 's/uint64_t link_start, link_end;/uint32_t link_start, link_end;/' \
    include/backtrail/symbolizer.h > "$lint_tmp/changed"
plant include/backtrail/symbolizer.h < "$lint_tmp/changed"
catches shape.sh 'include/backtrail/symbolizer.h:'
sed 's,^struct trail_module {,/* a remark */\nstruct   trail_module\n{,' \
    include/backtrail/symbolizer.h > "$lint_tmp/changed"
plant include/backtrail/symbolizer.h < "$lint_tmp/changed"
accepts shape.sh include/backtrail/symbolizer.h

printf '/* y.c -- one. */\n' | plant core/trace/x.c
catches text.sh 'core/trace/x.c:1: does not begin'
printf 'As told by the CE''O.\n' | plant docs/x.md
catches text.sh 'docs/x.md:1: about the work'

shared() # FILE FLAG..., C from standard input
{
    output=$1
    shift
    gcc -shared -fPIC -x c - -o "$output" "$@"
}

printf '/* x.c -- one.\n * By a help''er. */\n' | plant core/trace/x.c
catches text.sh 'core/trace/x.c:2: about the work'
printf '/* x.c -- one. */\nstruct ses''sion;\n' | plant core/trace/x.c
accepts text.sh 'core/trace/x.c:'

mkdir -p built/plugins-built
echo 'int trail_sink_x, other;' | shared built/plugins-built/x.so
echo 'int trail_sink_y;' | shared built/plugins-built/y.so
echo 'void trail_z(void); void trail_sink_z(void) { trail_z(); }' |
    shared built/plugins-built/z.so
echo 'int trail_a, stray;' | shared built/libbacktrail.so
echo 'int trail_a;' | shared built/libbacktrail-capture.so -Wl,--no-as-needed -lm
for finding in plugins-built/x.so:1: 'libbacktrail.so:1: exports stray' \
    'plugins-built/z.so:1: needs trail_z' 'libbacktrail-capture.so:1: needs libm.so'; do
    : | plant none
    catches 'exports.sh built' "built/$finding"
done
if sh tests/lint/exports.sh built | grep -q 'y\.so'; then
    echo 'tests/lint/exports.sh:1: refuses a plugin with one export' >> "$lint_tmp/findings"
fi

: | lint_report
