#!/bin/sh
# addr2line.sh -- backtrail-addr2line beside GNU addr2line: the same bytes, but for the
# faults of data/addr2line-faults.txt.
. "$(dirname "$0")/lib.sh"

ours=$(dirname "$program")/backtrail-addr2line
here=$source/tests/cli
python=/usr/bin/python3.11
libc=/lib/x86_64-linux-gnu/libc.so.6
again=
llvm=${LLVM_SYMBOLIZER:-llvm-symbolizer-19}

# need_others: the two programs to compare with, of the versions that the list is about.
need_others()
{
    command -v "$llvm" > /dev/null || skip "$llvm is not installed"
    addr2line --version 2> /dev/null | head -n 1 | grep -q ' 2\.40$' ||
        skip "addr2line is not that of binutils 2.40"
}

need_aliases()
{
    [ -x "$build/tests/cli/aliases_plain" ] || skip "its programs are made by gcc alone"
}

# code_of FILE: where its executable sections begin and end.
code_of()
{
    readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\] //' | awk '$7 ~ /A/ && $7 ~ /X/ { print $3, $5 }' |
        while read -r start size; do
            printf '%x %x ' $((0x$start)) $((0x$start + 0x$size))
        done
}

# stubs_of FILE: where each entry of its procedure linkage tables begins, and its name.
# Of the machines of others the objdump at hand may know nothing.
stubs_of()
{
    { objdump -d -j .plt -j .plt.got -j .plt.sec "$1" 2> /dev/null || :; } |
        sed -n 's/^\([0-9a-f]*\) <\(.*@plt\)>:$/\1 \2/p'
}

# debug_file FILE: where a distribution has its debug information.
debug_file()
{
    readelf -n "$1" | sed -n 's,.*Build ID: \(..\)\(.*\),/usr/lib/debug/.build-id/\1/\2.debug,p'
}

# second_half FILE: what addr2line says when asked again.
second_half()
{
    tail -n $(($(wc -l < "$1") / 2)) "$1" > half
    mv half "$1"
}

# both FILE ADDRESSES OPTION...: leaves what each prints in theirs and ours. With `again`
# each address is asked about twice, and the second answer counts.
both()
{
    asked=$1 said="backtrail-addr2line $*"
    cat "$2" ${again:+"$2"} > list
    shift 2
    status=0
    addr2line "$@" -e "$asked" < list > theirs 2> theirs.err || fail "addr2line $*" theirs.err
    "$ours" "$@" -e "$asked" < list > ours 2> err || status=$?
    expect_status 0
    expect_empty err
    if [ -n "$again" ]; then
        second_half theirs
        second_half ours
    fi
}

# excuse FILE: takes the addresses at which both differ out of the list `addresses`.
# Each difference has to be a listed fault. addr2line's answer may depend on what was asked
# before, so go on until there is none; the names that it has right at the second time are
# asked for twice.
excuse()
{
    code=$(code_of "$1")
    stubs_of "$1" > stubs
    again=
    : > excused
    for _ in 1 2 3 4 5 6 7 8; do
        both "$1" addresses -a -f -i
        sed 's/^/0x/' addresses | "$llvm" -a -f -i --no-demangle --output-style=GNU -e "$1" \
            > llvm 2> /dev/null
        awk -f "$here/addr2line_compare.awk" -v file="${1##*/}" -v code="$code" \
            "$data/addr2line-faults.txt" theirs ours llvm stubs > differences 2> unlisted ||
            fail "${1##*/}: differences that are not listed" unlisted
        [ -s differences ] || return 0
        cat differences >> excused
        ! grep -q ' name-of-the-outermost$' differences || again=yes
        grep -v ' name-of-the-outermost$' differences > out || :
        mv out differences
        sed 's/^0x//; s/ .*//' differences | sort -u > out
        grep -vxF -f out addresses > left || :
        mv left addresses
    done
    fail "${1##*/}: differences without an end" differences
}

# same FILE OPTION...: the same bytes from both.
same()
{
    same_of=$1
    shift
    both "$same_of" addresses "$@"
    cmp -s theirs ours || expect_same ours theirs
}

# every FILE: with each subset of the letters, but that -C alone changes nothing.
every()
{
    for a in '' a; do for i in '' i; do for p in '' p; do for s in '' s; do
        for f in '' f fC; do
            same "$1" ${a:+-$a} ${i:+-$i} ${p:+-$p} ${s:+-$s} ${f:+-$f}
        done
    done; done; done; done
}

# some FILE: with each pair of letters, one of them and none.
some()
{
    for options in '' -C -fCs -fip -ai -aps -afiC -Cips -afCp; do
        same "$1" $options
    done
}

# compare FILE LEAST: of 500 addresses, at least so many are answered alike whatever the
# options, and the others have listed reasons.
compare()
{
    readelf -SW "$1" | awk -f "$here/addr2line_choose.awk" -v count=500 > addresses
    expect_lines addresses 500
    excuse "$1"
    [ "$(wc -l < addresses)" -ge "$2" ] ||
        fail "${1##*/}: $(wc -l < addresses) addresses left, not $2" excused
}

# compare_all every|some FIXTURE:LEAST...
compare_all()
{
    need_others
    options=$1
    shift
    for pair in "$@"; do
        compare "$fixtures/${pair%:*}" "${pair#*:}"
        $options "$fixtures/${pair%:*}"
    done
}

test_addr2line_is_equalled_on_c_of_gcc()
{
    compare_all every x64-gcc-dw4-O2:420
    compare_all some x64-gcc-dw5-O0:470
}

test_addr2line_is_equalled_on_c_of_clang()
{
    compare_all every x64-clang19-dw5-O2:450
}

test_addr2line_is_equalled_on_cpp()
{
    compare_all every x64-cpp-gcc-O2-plain:380
    compare_all some x64-cpp-gcc-O0:430
}

test_addr2line_is_equalled_on_cpp_with_type_units_and_on_rust()
{
    compare_all some x64-cpp-clang19:300
    compare_all every x64-rust-v0:460
}

test_addr2line_is_equalled_on_other_machines()
{
    compare_all some aarch64-gcc-dw5-O2:460
    compare_all every i386-gcc-dw5-O2:440
}

test_addr2line_is_equalled_without_debug_information()
{
    compare_all some x64-stripped:500
    compare_all every x64-symtab-only:450
}

# Of the symbols of the same code addr2line takes the first of the table.
test_addr2line_is_equalled_on_code_of_several_names()
{
    need_others
    need_aliases
    for name in plain relative included; do
        compare "$build/tests/cli/aliases_$name" 100
        some "$build/tests/cli/aliases_$name"
    done
    nm "$build/tests/cli/aliases_plain" | sed -n 's/ [Tt] outer$//p' > addresses
    same "$build/tests/cli/aliases_plain" -fs
    printf 'local_of_outer\naliases.c:?\n' > wanted
    expect_same ours wanted
}

# What a distribution ships, and with a symbol table alone, which has many aliases.
test_addr2line_is_equalled_on_a_library_no_one_here_wrote()
{
    need_others
    [ -e $libc ] || skip "$libc is not there"
    if [ -e "$(debug_file $libc)" ]; then
        compare $libc 250
        same $libc -Cfips
    fi
    objcopy -R .note.gnu.build-id -R .gnu_debuglink $libc stripped.so 2> out
    compare stripped.so 350
    command -v eu-unstrip > out && [ -e "$(debug_file $libc)" ] || return 0
    eu-unstrip -o whole.so $libc "$(debug_file $libc)"
    objcopy --strip-debug -R .note.gnu.build-id -R .gnu_debuglink whole.so table.so
    compare table.so 470
    same table.so -Cfips
}

# Folded functions, link-time optimization, position-independent and big-endian files.
test_addr2line_is_equalled_on_files_of_other_kinds()
{
    need_others
    for pair in x64-icf-lld:360 x64-gcc-lto:340 x64-gcc-staticpie:420 s390x-gcc-dw5-O2:460 \
        x64-gcc-hotcold:450 x64-zlib:420; do
        compare "$fixtures/${pair%:*}" "${pair#*:}"
        both "$fixtures/${pair%:*}" addresses -Cfip
        expect_same ours theirs
    done
}

test_addr2line_is_equalled_on_a_program_no_one_here_wrote()
{
    need_others
    [ -e $python ] || skip "$python is not installed"
    compare $python 460
    both $python addresses -Cfips
    expect_same ours theirs
    both $python addresses
    expect_same ours theirs
}

test_addr2line_is_equalled_on_a_whole_program_long()
{
    need_others
    [ -e $python ] || skip "$python is not installed"
    compare $python 460
    every $python
}

# happens FILE: adds what has to be excused there to `happened`.
happens()
{
    compare "$1" 1
    cut -d ' ' -f 2- excused | tr ' ' '\n' | sed "s,\$, ${1##*/},; p; s/ .*/ */" >> happened
}

# A list that excuses what never happens would hide what one day does.
test_each_listed_fault_of_addr2line_happens()
{
    need_others
    need_aliases
    grep -v '^#' "$data/addr2line-faults.txt" | sort -u > faults
    for name in x64-gcc-dw5-O2 x64-cpp-gcc-O2-plain x64-cpp-gcc x64-cpp-clang19 x64-cpp-gcc-O0 \
        x64-gcc-lto x64-icf-lld; do
        happens "$fixtures/$name"
    done
    happens "$build/tests/cli/aliases_plain"
    happens "$build/tests/cli/aliases_relative"
    happens "$build/tests/cli/aliases_included"
    if [ -e $libc ]; then
        objcopy -R .note.gnu.build-id -R .gnu_debuglink $libc stripped.so 2> out
        happens stripped.so
    else
        sed -i /stripped/d faults
    fi
    if [ -e $python ]; then
        happens $python
    else
        sed -i /python/d faults
    fi
    sort -u happened | grep -xF -f faults > listed || :
    expect_same listed faults
}

test_section_offsets_are_taken_as_addr2line_takes_them()
{
    need_others
    for name in x64-gcc-dw4-O2 i386-gcc-dw5-O2 x64-cpp-gcc-O2-plain; do
        file=$fixtures/$name
        text=$(readelf -SW "$file" | sed 's/^ *\[ *[0-9]*\] //' | awk '$1 == ".text" { print $3 }')
        compare "$file" 1
        while read -r address; do
            printf '%x\n' $((0x$address - 0x$text))
        done < addresses | grep -v '^f' > offsets
        [ "$(wc -l < offsets)" -gt 300 ] || fail "too few offsets" offsets
        for options in "-j .text" "-afipCs -j .text" "-fi --section=.text"; do
            both "$file" offsets $options
            expect_same ours theirs
        done
        printf '0\n1\n' > offsets
        both "$file" offsets -af -j .comment
        expect_same ours theirs
    done
    # What lies behind the section is not in it, nor is code in one that takes no memory.
    # (At 10 .plt has an entry, which has a name in ours.)
    printf 'f\n40\n80\n1020\n1040\n' > offsets
    head -c 8192 "$fixtures/x64-cpp-gcc" > bytes
    objcopy --add-section .large=bytes "$fixtures/x64-gcc-shared.so" large.so
    for section in .plt .large; do
        both large.so offsets -j $section
        expect_same ours theirs
    done
    "$ours" -j nowhere -e "$file" 0 > out 2> err && fail "a section that is not there"
    expect_empty out
    expect err "$file: has no section nowhere"
}

test_addr2line_takes_junk_for_addresses_as_gnu_does()
{
    need_others
    file=$fixtures/x64-gcc-dw4-O2
    {
        printf ' 401010\n\t0x401010\nxx401010\n401010 trailing\n401010g\n0x401010\r\n+401010\n'
        printf -- '-1\n0X401010\n%0130d401010\n\n0401010\n1ffffffffffffffff\n0x\n' 0
        printf '0x0x5\n401010\000401010\n,401010\n0b11\n%099d401010\n40100a' 0
    } > junk
    both "$file" junk -a -f
    expect_same ours theirs
    printf '+401010\n+0x10\n+ff\n+010\n-1\n-401010\n ffffffff\n' > signs
    both "$fixtures/i386-gcc-dw5-O2" signs -a -f
    expect_same ours theirs
    set -- ' 401010' xx '' 0x '401010 40100a' 0X401010 ffffffffffffffffffff 401010g
    addr2line -afip -e "$file" -- "$@" > theirs
    "$ours" -afip -e "$file" -- "$@" > ours
    expect_same ours theirs
}

test_addr2line_takes_options_as_gnu_does()
{
    need_others
    ln -s "$fixtures/x64-cpp-gcc-O2-plain" a.out
    printf '%s\n' '-f -C' "-e 'a.out'" 401000 > arguments
    while read -r options; do
        said="backtrail-addr2line $options"
        addr2line $options > theirs
        "$ours" $options > ours
        expect_same ours theirs
    done << OPTIONS
-f 401000 0x401030
--functions --demangle --inlines --pretty-print --addresses --basenames --exe=a.out 401010
--func --pretty --base 401010
401010 -f 401000 -a
--demangle=auto -f 401010
--demangle=none -f 401010
--demangle=gnu-v3 -f 401010
--demangle=rust -f 401010
--demangle=dlang -f 401010
--demangle=java -f 401010
--demangle=gnat -f 401010
-b elf64-x86-64 -f 401010
--target=elf64-x86-64 -f 401010
-r -f -C 401010
-R -f -C 401010
--no-recurse-limit --recurse-limit --recursion-limit --no-recursion-limit -fC 401010
@arguments
-a @arguments -p 401001
-a @nowhere
-- 401010
OPTIONS
    addr2line -a @arguments > theirs
    run resolve -a @arguments
    expect_same out theirs
}

test_addr2line_fails_as_gnu_does()
{
    said=backtrail-addr2line
    : > empty
    echo text > text
    mkdir directory
    for arguments in "-e nowhere 0" "0" "-e empty 0" "-e text 0" "-e directory 0" "--bogus" "-e" \
        "-5" "-C=gnu-v3" "--demangle=bogus" "-b bogus -e $fixtures/x64-gcc-dw4-O2 0"; do
        status=0
        "$ours" $arguments > out 2> err || status=$?
        said="backtrail-addr2line $arguments"
        refused 1
        status=0
        addr2line $arguments > out 2> err || status=$?
        expect_status 1
    done
    for option in -h -H --help -v -V --version; do
        "$ours" $option > out 2> err || fail "$option"
        expect_empty err
        grep -q backtrail out || fail "$option" out
    done
}

test_any_link_called_addr2line_needs_no_verb()
{
    file=$fixtures/x64-gcc-dw4-O2
    printf '0x0000000000401003\nstatic_helper\n/src/deep.c:10\n' > wanted
    for name in addr2line x86_64-linux-gnu-addr2line backtrail-addr2line; do
        ln -s "$program" "./$name"
        "./$name" -af -e "$file" 401003 > got
        expect_same got wanted
        (PATH=$PWD:$PATH && "$name" -af -e "$file" 401003 > got)
        expect_same got wanted
    done
    ln -s "$program" ./myaddr2line
    ./myaddr2line -af -e "$file" 401003 > out 2> err && fail "myaddr2line is no addr2line"
    expect err "unknown verb"
    run resolve -af -e "$file" 401003
    expect_same out wanted
    run resolve --style gnu -e "$file" 401003
    echo /src/deep.c:10 > wanted
    expect_same out wanted
}

test_addr2line_answers_each_line_at_once()
{
    mkfifo questions answers
    "$ours" -f -e "$fixtures/x64-gcc-dw4-O2" < questions > answers 2> err &
    asked=$!
    exec 3> questions 4< answers
    for line in "401003 static_helper /src/deep.c:10" "junk ?? ??:0" "401010 chain_leaf /src/inc/chain.h:8"; do
        set -- $line
        echo "$1" >&3
        read -r function <&4
        read -r place <&4
        [ "$function $place" = "$2 $3" ] || fail "asked for $1, got $function $place"
    done
    exec 3>&-
    wait $asked
    expect_empty err
}

the_test
