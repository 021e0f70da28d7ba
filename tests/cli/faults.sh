# faults.sh -- kinds of fault that users of other symbolizers reported; each is built here
# and must not be ours. docs/symbol-agreement.md lists them.
#
# What sh, as and a compiler make of a few lines is asked about by address, so nothing has
# to be run but where a test says so.
. "$(dirname "$0")/lib.sh"

# need COMMAND...
need()
{
    for command in "$@"; do
        command -v "$command" > /dev/null || skip "no $command"
    done
}

# address FILE SYMBOL [OFFSET]: in hex, as nm has it.
address()
{
    found=$(nm "$1" | awk -v name="$2" '$3 == name { print $1; exit }')
    [ -n "$found" ] || fail "no symbol $2 in $1"
    printf '0x%x' $((0x$found + ${3:-0}))
}

# link_asm OUTPUT [FLAG...]: assembles standard input for this machine, which is x86-64.
link_asm()
{
    need as ld
    [ "$(uname -m)" = x86_64 ] || skip "the code is of x86-64"
    linked=$1
    shift
    as -o "$linked.o" -
    ld -e 0 -o "$linked" "$linked.o" "$@"
}

# ---- lines -----------------------------------------------------------------------------

# Line 0 says that code belongs to no line: the function is known, the place is the nearest
# one and marked, or none; never "file:0".
test_fault_a_row_of_line_0_is_no_place()
{
    link_asm prog << 'END'
        .file 1 "zero.c"
        .text
        .globl f
        .type f, @function
f:      .loc 1 7 3
        nop
        .loc 1 0 0
        nop
        .loc 1 9 5
        nop
        ret
        .size f, .-f
END
    run resolve -e prog "$(address prog f)" "$(address prog f 1)" "$(address prog f 2)"
    expect_status 0
    expect out "f at zero.c:7:3" "f at zero.c:9:5"
    refute out ":0"
    run resolve --json -e prog "$(address prog f 1)"
    "$json" -a Symbol.0.FunctionName < out > got
    expect got f
}

# A row of an inlined call that ends where the call of the caller begins: the caller is
# shown at its own line.
test_fault_a_caller_behind_an_inlined_call_has_its_own_line()
{
    need gcc objdump
    cat > og.c << 'END'
__attribute__((noinline, noclone)) int foo(int x) { return x + 1; }
static inline __attribute__((always_inline)) int bar(void)
{
    __asm__ volatile("");
    return 3;
}
int top(void)
{
    int sum = 1;
    sum += foo(bar());
    return sum;
}
END
    gcc -Og -g -c og.c
    ld -e top -o og og.o
    back=$(objdump -d og | awk '/call.*<foo>/ { getline; sub(":", "", $1); print $1 }')
    run resolve --return-addresses -e og "0x$back"
    expect_status 0
    expect out "  0: top at og.c:10:"
    expect_lines out 2
}

# What the linker dropped is left at -2 by some: a sequence that starts there and wraps
# claims nothing, and the others of its unit count.
test_fault_a_line_sequence_that_wraps_is_dead_and_the_others_count()
{
    need clang-14 ld.lld-14
    printf '%s\n' 'int dead(int x)' '{' '    return x * 3;' '}' \
        'int live(int x)' '{' '    return x + 3;' '}' > two.c
    clang-14 -c -g -O1 -ffunction-sections two.c
    for value in 0 1 0xfffffffffffffffe 0xffffffffffffffff; do
        ld.lld-14 -e live --gc-sections -z "dead-reloc-in-nonalloc=.debug_*=$value" \
            -o two two.o
        run resolve -e two "$(address two live)" 0x2 0x5 0x32
        expect_status 0
        expect out "  0: live at two.c:"
        refute out dead
        refute out two.c:3
    done
}

# The opposite: real code at address 0 is code.
test_fault_real_code_at_address_0_is_named()
{
    need gcc
    printf '%s\n' 'int first(int x)' '{' '    return x * 3;' '}' > zero.c
    gcc -c -g -O1 zero.c
    ld -Ttext=0 -e first -o zero zero.o
    run resolve -e zero 0x0 0x3
    expect_status 0
    [ "$(grep -c '  0: first at .*zero.c:' out)" -eq 2 ] || fail "no name at 0" out
}

# ---- names -----------------------------------------------------------------------------

# Global before weak before local, function before untyped, sized before unsized, and none
# of mapping, section or file symbols; whatever the order of the table is.
test_fault_of_several_names_the_same_one_is_given()
{
    for order in "weak strong untyped local" "local untyped strong weak"; do
        {
            echo '.text'
            for name in $order; do
                case $name in
                weak) echo '.weak weak; .type weak, @function; weak:' ;;
                strong) echo '.globl strong; .type strong, @function; strong:' ;;
                untyped) echo '.globl untyped; untyped:' ;;
                local) echo '.type local, @function; local:' ;;
                esac
            done
            echo '"$x": nop; ret'
            echo '.size weak, .-weak; .size strong, .-strong; .size local, .-local'
        } | link_asm names
        run resolve --json -e names "$(address names strong)"
        expect_status 0
        "$json" -a Symbol.0.FunctionName < out > got
        expect got strong
    done
    run sym --json "names+$(address names strong)"
    expect out '"weak"' '"local"'
    refute out '$x'
}

# A version belongs to the name of a symbol, not to what it covers.
test_fault_a_versioned_symbol_is_found_under_its_name()
{
    need gcc
    printf '%s\n' 'int one(void) { return 1; }' 'int two(void) { return 2; }' \
        '__asm__(".symver one, call@V1");' '__asm__(".symver two, call@@V2");' > ver.c
    printf '%s\n' 'V1 { };' 'V2 { global: call; } V1;' > map
    gcc -g -shared -fPIC -Wl,--version-script=map -o ver.so ver.c
    run resolve -e ver.so "$(address ver.so one 4)" "$(address ver.so two 4)"
    expect_status 0
    expect out "one at" "ver.c:1:" "two at" "ver.c:2:"
}

# Entries of the linkage table are strlen@plt, not the function that lies before them.
test_fault_an_entry_of_the_linkage_table_bears_the_name_it_leads_to()
{
    need gcc objdump
    printf '%s\n' '#include <string.h>' '#include <stdlib.h>' \
        'int main(int c, char **v) { return (int)strlen(v[c - 1]) + !getenv(v[0]); }' > plt.c
    for flags in "-Wl,-z,lazy" "-Wl,-z,now" "-fcf-protection=full -Wl,-z,ibtplt"; do
        # shellcheck disable=SC2086 # flags are words
        gcc -O1 -fno-builtin $flags -o plt plt.c
        objdump -d plt | awk '/^[0-9a-f]+ <(strlen|getenv)@plt>:/ { print "0x" $1 }' > entries
        [ "$(wc -l < entries)" -eq 2 ] || fail "objdump sees no entries" entries
        run resolve -e plt < entries
        expect_status 0
        expect out "strlen@plt" "getenv@plt"
        refute out main
    done
}

# One invalid byte in a name spoils nothing: the JSON can be read, the frame stays.
test_fault_a_name_that_is_not_utf8_spoils_no_answer()
{
    printf '.text\n.globl "f\377g"\n.type "f\377g", @function\n"f\377g": nop\nret\n%s\n' \
        '.size "f'"$(printf '\377')"'g", 2' | link_asm bytes
    start=$(nm bytes | awk '/ T f/ { print "0x" $1 }')
    run resolve --json -e bytes "$start"
    expect_status 0
    "$json" -a Symbol.0.FunctionName < out > got
    first=$(cat got)
    [ -n "$first" ] || fail "no name" out
    run resolve --json -e bytes "$start"
    "$json" -a Symbol.0.FunctionName < out > got
    expect got "$first"
    run resolve -e bytes "$start"
    expect_lines out 2
}

# ---- sources ---------------------------------------------------------------------------

# A leftover symbol without a size, in a stripped program, hides no debug file.
test_fault_a_symbol_without_size_hides_no_better_source()
{
    need gcc objcopy strip
    printf '%s\n' '__asm__(".globl marker; marker:");' 'int low(int x) { return x + 1; }' \
        'int high(int x)' '{' '    return low(x) * 3;' '}' > two.c
    gcc -g -O1 -fno-inline -fno-toplevel-reorder -Wl,--build-id -nostdlib -e high -o whole two.c
    at=$(address whole high 2)
    objcopy --only-keep-debug whole two.debug
    cp whole two
    strip -s -K marker two
    objcopy --add-gnu-debuglink=two.debug two
    nm two | grep -q ' marker$' || fail "no marker is left"
    run resolve -e two "$at"
    expect_status 0
    expect out "high at" "two.c:5:"
    refute out marker
}

# The debug link is relative to the file, not to the symbolic link that led to it, and
# needs no build-id.
test_fault_a_debug_link_is_followed_from_where_the_file_really_lies()
{
    need gcc objcopy strip
    printf '%s\n' 'int f(int x)' '{' '    return x + 1;' '}' > one.c
    mkdir real links
    gcc -g -O1 -Wl,--build-id=none -nostdlib -e f -o real/one one.c
    at=$(address real/one f)
    objcopy --only-keep-debug real/one real/one.debug
    strip -s real/one
    (cd real && objcopy --add-gnu-debuglink=one.debug one)
    ln -s ../real/one links/one
    run resolve -e links/one "$at"
    expect_status 0
    expect out "  0: f at" "one.c:"
}

# A library with a base address of its own; its debug file has segments without bytes.
test_fault_a_library_with_a_base_address_is_named_from_its_debug_file()
{
    need gcc objcopy strip
    printf '%s\n' 'int f(int x)' '{' '    return x + 1;' '}' > lib.c
    gcc -g -O1 -shared -fPIC -nostdlib -Wl,--build-id -Wl,-Ttext-segment=0x3000000 -o lib.so lib.c
    at=$(address lib.so f)
    objcopy --only-keep-debug lib.so lib.debug
    strip -s lib.so
    objcopy --add-gnu-debuglink=lib.debug lib.so
    for file in lib.so lib.debug; do
        run resolve -e "$file" "$at"
        expect_status 0
        expect out "  0: f at" "lib.c:"
    done
}

# A unit of a version that nobody knows costs its own answers only.
test_fault_one_unit_of_an_unknown_version_does_not_empty_the_others()
{
    need gcc objdump readelf
    for name in first second; do
        printf '%s\n' "int $name(int x)" '{' '    return x + 1;' '}' > $name.c
        gcc -g -gdwarf-5 -O1 -c $name.c
    done
    ld -e first -o both first.o second.o
    # The version is the half-word behind the length of the first unit.
    offset=$(readelf -SW both | sed 's/^ *\[ *[0-9]*\]//' |
        awk '$1 == ".debug_info" { print $4 }')
    printf '\006' | dd of=both bs=1 seek=$((0x$offset + 4)) conv=notrunc 2> dd.log
    run resolve -e both "$(address both first)" "$(address both second)"
    expect_status 0
    expect out "  0: first" "  0: second at" "second.c:"
}

# An attribute that nobody knows is stepped over by its form.
test_fault_an_unknown_attribute_is_stepped_over()
{
    link_asm attr << 'END'
        .text
        .globl f
        .type f, @function
f:      nop
        ret
.Lend:  .size f, .-f
        .section .debug_abbrev,"",@progbits
        .uleb128 1, 0x11
        .byte 1
        .uleb128 0x3fff, 0x0e, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
        .uleb128 2, 0x2e
        .byte 0
        .uleb128 0x3ffe, 0x0a, 0x3ffd, 0x0d, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0
        .byte 0
        .section .debug_info,"",@progbits
        .long .Linfo_end - .Linfo
.Linfo: .short 4
        .long 0
        .byte 8
        .uleb128 1
        .long 0
        .asciz "u.c"
        .quad f, .Lend - f
        .uleb128 2
        .byte 3, 1, 2, 3
        .sleb128 -5
        .asciz "written_name"
        .quad f, .Lend - f
        .byte 0
.Linfo_end:
        .section .debug_str,"",@progbits
        .asciz "x"
END
    run resolve -e attr "$(address attr f)"
    expect_status 0
    expect out "  0: written_name"
}

# Values outside of every function and module have no name.
test_fault_small_numbers_are_no_addresses_of_a_library()
{
    run resolve -e "$fixtures/x64-gcc-shared.so" 0x1 0x5d
    expect_status 0
    refute out " at "
    run resolve -e "$fixtures/x64-gcc-dw5-O2" 0x1 0x5d 0x1000
    refute out " at "
}

# Compressed sections cost what they hold, once, and not the program's size over and over.
test_fault_compressed_sections_take_no_more_than_they_hold()
{
    need gcc objcopy readelf python3
    # A sanitizer keeps what was given back.
    (ulimit -v 250000 && "$program" version > /dev/null 2>&1) || skip "memory is not its own"
    : > many.c
    for i in $(seq 3000); do
        echo "struct s$i { int a$i; char b$i[$i]; }; int f$i(struct s$i *p) { return p->a$i; }"
    done > many.c
    gcc -g3 -O0 -shared -fPIC -o plain.so many.c
    objcopy --compress-debug-sections=zlib plain.so packed.so
    at=$(address plain.so f1500)
    held=$(readelf -SW plain.so | sed 's/^ *\[ *[0-9]*\]//' |
        awk '/ \.debug_/ { print $5 }' | while read -r size; do echo $((0x$size)); done |
        awk '{ sum += $1 } END { printf "%d", sum / 1024 }')
    for file in plain packed; do
        python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True, stdout=open(sys.argv[1], "w"))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
            out "$program" resolve -e $file.so "$at" > $file.kib
        expect out "  0: f1500 at" "many.c:1500:"
    done
    more=$(($(cat packed.kib) - $(cat plain.kib)))
    [ $more -le $((held + held / 2)) ] ||
        fail "$more KiB more than without compression, for $held KiB of sections"
}

# Order and class of the file hold for each read, whatever machine this is.
test_fault_files_of_another_byte_order_and_class_are_read_as_they_are()
{
    for file in s390x-gcc-dw5-O2 powerpc-gcc-dw5-O2 i386-gcc-dw5-O2 arm-gcc-dw5-O2; do
        awk -F '\t' 'NR > 1 && $2 == 0 && $6 > 0 { print $1; exit }' \
            "$fixtures/$file.expect.tsv" > at
        awk -F '\t' 'NR > 1 && $2 == 0 && $6 > 0 { print $4 " at"; print ":" $6 ":"; exit }' \
            "$fixtures/$file.expect.tsv" > wanted
        run resolve -e "$fixtures/$file" "$(cat at)"
        expect_status 0
        expect out "$(sed -n 1p wanted)" "$(sed -n 2p wanted)"
    done
}

the_test
