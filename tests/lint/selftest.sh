#!/bin/sh
# selftest.sh -- each lint script is seen to fail: in a small repository of its own,
# violations of each rule are planted, and the script has to name the file and line of
# every one, and nothing of what is planted as right.
. "$(dirname "$0")/files.sh"

copy=$lint_tmp/copy
mkdir "$copy"
lint_files .clang-format include tests/lint > "$lint_tmp/all"
tar -c -T "$lint_tmp/all" | tar -x -C "$copy"
cp -R "$copy/include" "$lint_tmp/include"
cd "$copy"
git -c init.defaultBranch=main init -q .
: > "$lint_tmp/findings"

# bad FILE FINDING and good FILE: contents come from standard input. The same file may be
# told of twice, with nothing to add to it the second time.
bad()
{
    plant "$1"
    printf '%s\n' "$2" >> "$lint_tmp/bad"
}

good()
{
    plant "$1"
    printf '%s\n' "$1" >> "$lint_tmp/good"
}

plant()
{
    mkdir -p "$(dirname "$1")"
    cat > "$lint_tmp/contents"
    [ ! -s "$lint_tmp/contents" ] || cp "$lint_tmp/contents" "$1"
}

# judge SCRIPT [ARGUMENT]: has it said what it should of what was planted?
judge()
{
    script=$1
    shift
    status=0
    sh "tests/lint/$script" "$@" > "$lint_tmp/said" 2>&1 || status=$?
    [ $status -eq 1 ] || fault "ends with $status"
    while IFS= read -r finding; do
        grep -qF "$finding" "$lint_tmp/said" || fault "does not find $finding"
    done < "$lint_tmp/bad"
    while IFS= read -r file; do
        ! grep -qF "$file:" "$lint_tmp/said" || fault "refuses $file"
    done < "$lint_tmp/good"
    start_again
}

fault()
{
    echo "tests/lint/$script:1: $1" >> "$lint_tmp/findings"
}

start_again()
{
    : > "$lint_tmp/bad"
    : > "$lint_tmp/good"
    rm -rf core plugins sinks config docs include built
    cp -R "$lint_tmp/include" include
}

function_of() # LINES
{
    echo '/* long.c -- one function. */'
    echo 'int f(int x)'
    echo '{'
    seq $(($1 - 4)) | sed 's/.*/    x++;/'
    echo '    return x;'
    echo '}'
}

start_again
function_of 61 | bad core/trace/f61.c 'core/trace/f61.c:2: f has 61 lines'
function_of 60 | good core/trace/f60.c
seq 501 | bad core/trace/l501.c 'core/trace/l501.c:501: '
seq 500 | good core/trace/l500.c
printf '%089d\n' 0 | bad core/trace/c89.c 'core/trace/c89.c:1: 89 columns'
printf '%088d\n' 0 | good core/trace/c88.c
seq 500 | bad include/backtrail/sink.h 'include/backtrail/sink.h:1: '
judge budgets.sh

includes() # NAME...
{
    for name in "$@"; do
        case $name in
        \<*) echo "#include $name" ;;
        *) echo "#include \"$name\"" ;;
        esac
    done
}

for header in core/os/os.h core/os/linux.h core/trace/t.h core/capture/c.h \
    core/registry/r.h core/report/p.h core/resolve/s.h config/config.h plugins/dwarf/d.h \
    plugins/elf/e.h origin/o.h; do
    echo '/* A header to include. */' | good $header
done
includes core/os/os.h | bad plugins/elfdwarf/a.c plugins/elfdwarf/a.c:1:
includes backtrail/sink.h | bad plugins/elfdwarf/b.c plugins/elfdwarf/b.c:1:
includes backtrail/symbolizer.h own.h plugins/dwarf/d.h plugins/elf/e.h '<unistd.h>' |
    good plugins/elfdwarf/c.c
includes plugins/elf/e.h | bad plugins/wasi-null/a.c plugins/wasi-null/a.c:1:
includes plugins/elf/e.h | bad plugins/dwarf/a.c plugins/dwarf/a.c:1:
includes origin/o.h | bad plugins/elf/a.c plugins/elf/a.c:1:
includes backtrail/symbolizer.h d.h origin/o.h | good plugins/dwarf/b.c
includes plugins/dwarf/d.h | bad origin/a.c origin/a.c:1:
includes backtrail/base.h o.h '<string.h>' | good origin/b.c
includes '<unistd.h>' | bad origin/c.c origin/c.c:1:
includes origin/o.h | bad core/trace/f.c core/trace/f.c:1:
echo '/* Its own. */' | good plugins/elfdwarf/own.h
includes backtrail/symbolizer.h | bad sinks/file/a.c sinks/file/a.c:1:
includes ../../core/os/os.h | bad sinks/file/b.c sinks/file/b.c:1:
includes plugins/elfdwarf/own.h | bad sinks/file/c.c sinks/file/c.c:1:
includes backtrail/sink.h backtrail/base.h | good sinks/file/d.c
includes '<unistd.h>' | bad core/trace/a.c core/trace/a.c:1:
includes core/registry/r.h | bad core/trace/b.c core/trace/b.c:1:
includes registry/r.h | bad core/trace/c.c core/trace/c.c:1:
includes core/os/linux.h | bad core/trace/d.c core/trace/d.c:1:
includes core/registry/r.h | bad core/report/a.c core/report/a.c:1:
includes config/config.h | bad core/registry/a.c core/registry/a.c:1:
includes core/report/p.h | bad core/resolve/a.c core/resolve/a.c:1:
includes '<string.h>' core/os/os.h core/trace/t.h core/registry/r.h s.h origin/o.h |
    good core/resolve/b.c
includes config/config.h core/report/p.h | good core/pipeline.c
includes plugins/elfdwarf/own.h | bad core/api.c core/api.c:1:
includes '<fcntl.h>' | bad include/backtrail/a.h include/backtrail/a.h:1:
printf '/* x */\n#  ifdef __linux__\n' | bad core/trace/e.c core/trace/e.c:2:
printf '#include <unistd.h>\n#ifdef __linux__\n#endif\n' | good core/os/a.c
judge flow.sh

printf 'void f(char *a)\n{\n    strcpy (a, "");\n}\n' |
    bad core/trace/a.c 'core/trace/a.c:3: strcpy() '
printf '/* strcpy(a, b) */ const char *s = "atoi(x)"; int my_gets(int);\n' |
    good core/trace/b.c
printf '/* TO''DO: more */\n' | bad core/trace/c.c 'core/trace/c.c:1: unfinished'
printf '/* a stub fo''r now */\n' | bad core/trace/d.c 'core/trace/d.c:1: unfinished'
printf 'const char *a = "full fo''r now";\n' | good core/trace/e.c
printf 'see /ho''me/someone/x\n' | bad docs/a.md 'docs/a.md:1: a path'
judge banned.sh

printf '/* a.c -- one. */\nint  a;\n' | bad core/trace/a.c core/trace/a.c:2:
printf '/* b.c -- one. */\nint a;\n' | good core/trace/b.c
judge format.sh

printf '/* a.h -- one. */\nsize_t f(void);\n' |
    bad include/backtrail/a.h 'include/backtrail/a.h:2: as c11'
printf '/* b.h -- one. */\nint f(int class);\n' |
    bad include/backtrail/b.h 'include/backtrail/b.h:2: as c++17'
judge headers.sh

change() # FILE SED-SCRIPT
{
    sed "$2" "$1" > "$lint_tmp/changed"
    cat "$lint_tmp/changed"
}

sh tests/lint/shape.sh --fix
# Of the two shapes, only the one with a changed signature is untrue.
change include/backtrail/symbolizer.h 's/int (\*reads)(/long (*reads)(/' |
    bad include/backtrail/symbolizer.h include/backtrail/symbolizer.h:
change include/backtrail/sink.h 's,uint32_t styles; ,uint32_t styles;  /* a remark */ int   more;,' |
    good include/backtrail/sink.h
judge shape.sh

printf '/* b.c -- one. */\n' | bad core/trace/a.c 'core/trace/a.c:1: does not begin'
printf '/* b.c -- one.\n * By a help''er. */\n' |
    bad core/trace/b.c 'core/trace/b.c:2: about the work'
printf '/* c.c -- one. */\nstruct ses''sion;\n' | good core/trace/c.c
printf 'As told by the CE''O.\n' | bad docs/a.md 'docs/a.md:1: about the work'
judge text.sh

shared() # FILE FLAG..., C from standard input
{
    output=$1
    shift
    gcc -shared -fPIC -x c - -o "$output" "$@"
}

mkdir -p built/plugins-built
echo 'int trail_sink_x, other;' | shared built/plugins-built/x.so
echo 'int trail_sink_y;' | shared built/plugins-built/y.so
echo 'void trail_z(void); void trail_sink_z(void) { trail_z(); }' |
    shared built/plugins-built/z.so
echo 'int trail_a, stray;' | shared built/libbacktrail.so
echo 'int trail_a;' | shared built/libbacktrail-capture.so -Wl,--no-as-needed -lm
: | bad built/plugins-built/x.so built/plugins-built/x.so:1:
: | good built/plugins-built/y.so
: | bad built/plugins-built/z.so 'built/plugins-built/z.so:1: needs trail_z'
: | bad built/libbacktrail.so 'built/libbacktrail.so:1: exports stray'
: | bad built/libbacktrail-capture.so 'built/libbacktrail-capture.so:1: needs libm.so'
judge exports.sh built

: | lint_report
