#!/bin/sh
# sym.sh -- `backtrail sym`: what there is to know of one symbol.
. "$(dirname "$0")/lib.sh"

c=$fixtures/x64-gcc-dw5-O2
id=214b18e9732c20fc56010ada89a354aef4c1b5fe

# Fixtures of every machine, compiler and language.
all="x64-gcc-dw5-O2 x64-gcc-dw5-O0 x64-clang19-dw5-O2 x64-clang14-dw4-O2 x64-cpp-gcc
    x64-cpp-clang19 x64-rust-v0 x64-rust-legacy x64-gcc-hotcold x64-gcc-lto x64-icf-lld
    x64-gcc-staticpie x64-gcc-shared.so x64-symtab-only x64-zlib i386-gcc-dw5-O2
    aarch64-gcc-dw5-O2 arm-gcc-dw5-O2 powerpc-gcc-dw5-O2 s390x-gcc-dw5-O2
    riscv64-gcc-dw5-O2"

# functions FIXTURE: start, last byte and size of each of its functions, as nm has them, in
# order; of functions that share their start, one.
functions()
{
    thumb=0
    [ "$1" != arm-gcc-dw5-O2 ] || thumb=1 # the lowest bit says that the code is Thumb
    nm -S --defined-only "$fixtures/$1" |
        awk '$3 ~ /^[tTwWi]$/ && NF == 4 { print $1, $2 }' | sort -u |
        while read -r start size; do
            start=$((0x$start & ~thumb))
            printf '%x %x %x\n' $start $((start + 0x$size - 1)) $((0x$size))
        done
}

# ask FILE OPTION...: one run of sym, about FILE+ADDRESS for each line of addresses.
ask()
{
    file=$1
    shift
    sed "s,^,$fixtures/$file+0x," addresses > questions
    # shellcheck disable=SC2046 # paths of fixtures have no blanks
    run sym --json "$@" $(cat questions)
}

# An id stands for its symbol: asked for by it, everything known of the symbol is the same.
test_the_id_that_sym_prints_gives_the_same_answer()
{
    for file in $all; do
        functions "$file" > starts
        [ -s starts ] || fail "no functions in $file"
        # The first byte of each function and the last: what is inlined there differs.
        cut -d ' ' -f 1,2 starts | tr ' ' '\n' > addresses
        ask "$file"
        expect_status 0
        expect_lines out "$(wc -l < addresses)"
        "$json" symbol.id symbol < out > symbols
        cut -f 1 symbols > ids
        uniq ids > each
        expect_lines each "$(wc -l < starts)"
        # shellcheck disable=SC2046 # ids have no blanks
        run sym --json -e "$fixtures/$file" $(cat ids)
        expect_status 0
        "$json" symbol.id symbol < out > again
        expect_same again symbols
    done
}

test_start_and_size_are_those_of_the_symbol_table()
{
    for file in $all; do
        functions "$file" > starts
        while read -r start last size; do
            printf '%x\n' $(((0x$start + 0x$last) / 2)) >&3
            printf '0x%s\t%d\n' "$start" $((0x$size))
        done < starts > wanted 3> addresses
        ask "$file"
        expect_status 0
        "$json" symbol.start symbol.size < out > got
        expect_same got wanted
    done
}

# Each function of a file, instruction by instruction.
test_instructions_are_those_that_objdump_prints()
{
    for file in x64-gcc-dw5-O2 x64-cpp-gcc x64-rust-v0 x64-gcc-hotcold x64-clang19-dw5-O0 \
        i386-gcc-dw5-O2; do
        functions "$file" > starts
        cut -d ' ' -f 1 starts > addresses
        ask "$file" -d
        case $(cat err) in
        *"built without capstone"*) skip "built without capstone" ;;
        esac
        expect_status 0
        "$json" -e instructions address bytes < out | sed 's/^0x//' > got
        objdump -d -w "$fixtures/$file" | awk -F '\t' '
            function padded(hex) { return sprintf("%16s", hex) }
            FNR == NR { split($0, of, " "); start[FNR] = padded(of[1]); last[FNR] = padded(of[2])
                count = FNR; next }
            /^ +[0-9a-f]+:\t/ {
                gsub(/[ :]/, "", $1); gsub(/ /, "", $2); at = padded($1)
                for (i = 1; i <= count; i++)
                    if (at >= start[i] && at <= last[i]) print i "\t" $1 "\t" $2
            }' starts - | sort -s -n -k 1,1 | cut -f 2- > wanted
        expect_same got wanted
    done
}

test_code_is_the_bytes_of_the_file()
{
    for file in x64-gcc-dw5-O2 powerpc-gcc-dw5-O2 s390x-gcc-dw5-O2 riscv64-gcc-dw5-O2; do
        functions "$file" > starts
        cut -d ' ' -f 1 starts > addresses
        ask "$file" --code
        expect_status 0
        "$json" code < out > got
        # Text and file offset of the fixtures differ by what the headers say.
        read -r address offset << SECTION
$(readelf -SW "$fixtures/$file" | sed 's/\[ */[/' | awk '$2 == ".text" { print $4, $5 }')
SECTION
        while read -r start last size; do
            tail -c +$((0x$start - 0x$address + 0x$offset + 1)) "$fixtures/$file" |
                head -c $((0x$size)) | od -An -v -tx1 | tr -d ' \n'
            echo
        done < starts > wanted
        expect_same got wanted
    done
}

test_a_symbol_is_told_with_all_that_is_known()
{
    run sym "$c+40100a"
    expect_status 0
    expect_empty err
    cat > wanted << WANTED
static_helper
  id        $id+0x401000
  range     0x401000 to 0x40104b, 75 bytes
  section   .text
  file      $c
  source    /src/deep.c:11:11
  address   0x40100a (+0xa) /src/inc/chain.h:15:11
  inlined   chain_step2, called at /src/inc/chain.h:20:10
  inlined   chain_step1, called at /src/deep.c:11:11
  read by   elfdwarf, given: $c
WANTED
    expect_same out wanted
}

# A symbol file is a stranger's: what it calls its functions commands no terminal.
test_a_name_in_a_file_commands_no_terminal()
{
    bytes=$(wc -c < "$c")
    sed "s/static_helper/$(printf 'sta\033]0;x\007lper')/g; s/util_mix/$(printf 'u\302\233[31mx')/g" \
        "$c" > evil
    [ "$(wc -c < evil)" -eq "$bytes" ] || fail "the names are not as long as they were"
    commands=$(printf '[\001-\010\013-\037\177]')
    run sym evil+40100a evil+4010e0
    expect out 'sta\x1b]0;x\x07lper' 'u\xc2\x9b[31mx'
    ! LC_ALL=C grep -q "$commands" out || fail "$said: a command" out
    run sym -dl evil+40100a
    case $(cat err) in
    *"built without capstone"*) skip "built without capstone" ;;
    esac
    expect out '<u\xc2\x9b[31mx>'
    ! LC_ALL=C grep -q "$commands" out || fail "$said: a command" out
}

test_names_that_share_one_code_are_aliases()
{
    run sym --json "$fixtures/x64-icf-lld+2011c4"
    expect_status 0
    "$json" symbol.name symbol.aliases.0 < out | tr '\t' '\n' | sort > got
    printf 'twin_a\ntwin_b\n' > wanted
    expect_same got wanted
}

test_a_return_address_gives_the_call_before_it()
{
    # The call is the last instruction of last_is_noreturn, so what it returns to is the
    # first byte of the next function.
    run sym --json "$fixtures/x64-gcc-hotcold+401140"
    [ "$("$json" symbol.name < out)" = after_noreturn ] || fail "$said" out
    run sym --json -r "$fixtures/x64-gcc-hotcold+401140"
    [ "$("$json" symbol.name at.offset < out)" = "last_is_noreturn	0xf" ] ||
        fail "$said" out
    run sym --json -r -d "$c+401043"
    case $(cat err) in
    *"built without capstone"*) skip "built without capstone" ;;
    esac
    "$json" -e instructions asked call target_name < out | grep true > got
    printf 'true\ttrue\tutil_mix\n' > wanted
    expect_same got wanted
    run sym -r -d "$c+401043"
    expect out " >   40103e:" " <util_mix>"
}

test_a_function_is_found_by_its_name()
{
    run sym --json -e "$fixtures/x64-cpp-gcc" cxx_entry 'geo::Poly<geo::Point, 4>::count' \
        _ZN3geo4PolyINS_5PointELi4EE5countES1_.isra.0 cxx_entry+5
    expect_status 0
    "$json" symbol.start at.offset < out > got
    printf '%s\n' "0x401060	0x0" "0x401000	0x0" "0x401000	0x0" "0x401060	0x5" > wanted
    expect_same got wanted
    # One name, two functions in two files.
    run sym --json -e "$c" static_helper
    expect_lines out 2
    run sym -e "$c" nobody
    refused 1 "nobody: no function is called so" "'backtrail sym FILE+OFF'"
}

test_an_id_is_found_in_symbol_directories_by_its_first_digits()
{
    mkdir -p dir/.build-id/21
    cp "$c" "dir/.build-id/21/${id#21}"
    run sym --json --symbols dir 214b+401000
    expect_status 0
    [ "$("$json" symbol.id module < out)" = "$id+0x401000	dir/.build-id/21/${id#21}" ] ||
        fail "$said" out
    echo '{ "symbols": { "directories": ["dir"] } }' > config
    run sym -c config --json "$id+401000"
    expect_status 0
    mkdir flat && cp "$fixtures/x64-rust-v0" flat/anything
    other=$(readelf -n flat/anything | sed -n 's/.*Build ID: //p')
    run sym --json --symbols flat "$other+401040"
    expect_status 0
    [ "$("$json" symbol.build_id < out)" = "$other" ] || fail "$said" out
}

# A stripped program and its debug file know the two halves of the answer.
test_code_and_names_may_come_from_two_files_of_one_id()
{
    mkdir dir
    cp "$fixtures/x64-stripped" dir/a
    cp "$fixtures/debuglink/.debug/x64-debuglink.debug" dir/b
    run sym --json -x --symbols dir "$id+401000"
    expect_status 0
    "$json" symbol.name module code < out | cut -c 1-40 > got
    run sym --json -x "$c+401000"
    "$json" code < out | sed 's,^,static_helper	dir/b	,' | cut -c 1-40 > wanted
    expect_same got wanted
    run sym -x dir/b+401000
    expect_status 1
    expect err "dir/b: has no code of the symbol" "give the program itself with -e FILE"
}

test_an_id_that_is_not_known_or_not_clear_is_told()
{
    run sym deadbeef+1
    refused 1 "deadbeef: no file of this id" "-e, in the --symbols directories" "with -e"
    # Two builds whose ids begin alike.
    mkdir dir && cp "$c" dir/a
    printf '\041\113\030\351' > four
    other=$(grep -abo "$(printf '\041\113\030')" "$c" | head -n 1 | cut -d : -f 1)
    cp "$c" dir/b
    printf '\377' | dd of=dir/b bs=1 seek=$((other + 10)) conv=notrunc 2> /dev/null
    run sym --symbols dir 214b18+401000
    refused 1 "214b18: several ids begin so, $id" "give more digits"
    run sym --symbols dir "$id+401000"
    expect_status 0
}

test_what_sym_cannot_answer_is_told_in_one_line()
{
    run sym "$fixtures/x64-stripped+401000"
    refused 1 "no symbol covers 0x401000, and the file itself has none" "--symbols DIR"
    run sym "$c+9"
    refused 1 "0x9 lies outside of it: it has 0x400000 to 0x40300f"
    run sym "$c+40104d"
    refused 1 "0x40104d: no function covers the address" "padding"
    run sym nowhere+1
    refused 1 "nowhere: No such file"
    echo text > text
    run sym text+1
    refused 1 "text: is no ELF"
    run sym
    refused 2 "nothing to look up" "'backtrail sym --help'"
    for wrong in main "$c" "$c+" +401000 "$c+xyz" "$c+10000000000000000"; do
        run sym "$wrong"
        refused 2 "is no ID+OFF or FILE+OFF" "names need -e FILE"
    done
}

test_a_question_that_fails_does_not_stop_the_others()
{
    run sym --json "$c+9" "$c+401000" nowhere+1 "$c+401050"
    expect_status 1
    expect_lines out 2
    expect_lines err 2
}

test_what_cannot_be_disassembled_has_its_bytes()
{
    run sym -d "$fixtures/riscv64-gcc-dw5-O2+10200"
    if [ "$status" -ne 0 ]; then
        expect_lines err 1
        expect err "--code prints the bytes"
    fi
    run sym -x "$fixtures/riscv64-gcc-dw5-O2+10200"
    expect_status 0
    expect out "     101be: "
}

the_test
