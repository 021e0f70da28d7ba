#!/bin/sh
# addresses.sh -- `backtrail resolve -e FILE`: addresses of one file.
. "$(dirname "$0")/lib.sh"

c=$fixtures/x64-gcc-dw5-O2
cpp=$fixtures/x64-cpp-gcc

test_a_file_that_cannot_be_used_is_told_in_one_line()
{
    run resolve -e nowhere 0x1
    refused 1 "nowhere: No such file"
    mkdir directory
    run resolve -e directory 0x1
    refused 1 "directory: is a directory"
    echo "not a program" > text
    run resolve -e text 0x1
    refused 1 "text: is no ELF, Mach-O, PE or WebAssembly file"
    : > empty
    run resolve -e empty 0x1
    refused 1 "empty: is no ELF"
    mkfifo fifo
    run resolve -e fifo 0x1
    refused 1 "fifo: is not a regular file"
}

# However many addresses are asked for, and wherever they come from.
test_a_file_cut_short_is_told_once_and_answers_nothing()
{
    size=$(wc -c < "$c")
    for kept in 4 17 63 64 100 1000 5000 $((size / 2)) $((size - 1)); do
        head -c $kept "$c" > cut
        run resolve -e cut 0x401000 0x401009
        refused 1 "cut: is cut short or damaged" "get a whole copy"
        run resolve --json -e cut 0x401000
        refused 1 "cut: is cut short or damaged"
        run resolve -e cut < "$data/addresses"
        refused 1 "cut: is cut short or damaged"
    done
}

test_a_file_without_leave_to_read_is_told()
{
    [ "$(id -u)" -eq 0 ] || {
        cp "$c" secret && chmod 000 secret
        run resolve -e secret 0x401000
        refused 1 "secret: Permission denied"
        return 0
    }
    command -v setpriv > /dev/null || skip "root may read everything, and setpriv is missing"
    setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$program" ||
        skip "nobody may not enter the build directory"
    chmod 711 "$work" && chmod 1777 .
    cp "$c" secret && chmod 000 secret
    said=resolve status=0
    BACKTRAIL_STATE=$work/here/state setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$program" resolve -e secret 0x401000 > out 2> err || status=$?
    refused 1 "secret: Permission denied"
}

test_addresses_are_hexadecimal_with_or_without_prefix_in_any_case()
{
    run resolve -e "$c" 0x40100a 40100a 0X40100A ' 40100A '
    expect_status 0
    expect_empty err
    awk '/^0x40100a:$/ { count++ } END { exit count != 4 }' out || fail "$said" out
    head -n $(($(wc -l < out) / 4)) out > first
    tail -n $(($(wc -l < out) / 4)) out > last
    expect_same last first
    run resolve -e "$c" ABCDEF
    expect_status 0
    expect out "0xabcdef:"
    expect first "  0: chain_step2 at " "inc/chain.h:15:11 (inlined)" \
        "  2: static_helper at deep.c:11:11"
}

test_a_wrong_address_among_the_arguments_stops_before_any_answer()
{
    for wrong in xyz '' 0x -1 +1 0x40100g 10000000000000000 '40 10'; do
        run resolve -e "$c" 0x401000 "$wrong"
        [ "${wrong#-}" = "$wrong" ] || run resolve -e "$c" -- 0x401000 "$wrong"
        refused 2 "'$wrong' is not a hexadecimal address" "'backtrail resolve --help'"
    done
}

test_a_wrong_address_on_input_is_told_with_its_line_and_the_others_are_answered()
{
    printf '0x401000\n\nxyz\r\n  \n40100a\n-7\n401000\0\n0x401003' > addresses
    run resolve -e "$c" < addresses
    expect_status 1
    grep -c '^0x' out > count
    echo 3 > wanted
    expect_same count wanted
    cat > wanted << WANTED
backtrail: standard input:3: 'xyz' is not a hexadecimal address
backtrail: standard input:6: '-7' is not a hexadecimal address
backtrail: standard input:7: '401000' is not a hexadecimal address
WANTED
    expect_same err wanted
}

# Each answer has to be there before the next question is put.
test_answers_come_as_lines_come()
{
    mkfifo questions answers
    "$program" resolve --json -e "$c" < questions > answers 2> err &
    asked=$!
    exec 3> questions 4< answers
    for address in 0x401000 0x40100a 0x401003; do
        echo "$address" >&3
        read -r answer <&4
        case $answer in
        *"\"Address\":\"$address\""*) ;;
        *) fail "asked for $address, got $answer" ;;
        esac
    done
    exec 3>&-
    wait $asked
    expect_empty err
}

test_json_for_arguments_is_one_array()
{
    run resolve --json -e "$c" 0x401000 0x1 0x401003
    expect_status 0
    expect_lines out 1
    "$json" -a Address ModuleName Symbol.0.Line keys < out > got
    cat > wanted << WANTED
0x401000	$c	20	Address,ModuleName,Symbol
0x1	$c	0	Address,ModuleName,Symbol
0x401003	$c	10	Address,ModuleName,Symbol
WANTED
    expect_same got wanted
    run resolve --json -e "$c" 0x401000
    "$json" -a Address < out > got
    echo 0x401000 > wanted
    expect_same got wanted
    run resolve --style json -e "$c" 0x401000
    "$json" -a Address < out > got
    expect_same got wanted
}

test_json_for_input_is_an_object_a_line()
{
    run resolve --json -e "$c" < "$data/addresses"
    expect_status 0
    "$json" Address keys < out > got
    sed 's/$/	Address,ModuleName,Symbol/' "$data/addresses" > wanted
    expect_same got wanted
}

test_json_has_the_members_that_are_documented()
{
    run resolve --json -e "$cpp" 0x401000 0x1
    "$json" -a -e Symbol keys < out | tr , '\n' | sort -u > got
    sed -n '/^`--json` has the shape/,/^$/p' "$source/docs/cli.md" | tr -c 'A-Za-z' '\n' |
        grep -xE 'FunctionName|FileName|Line|Column|StartAddress|Discriminator|LinkageName|SymbolName' |
        sort -u > wanted
    expect_lines wanted 8
    expect_same got wanted
    "$json" -a Symbol.0 < out > got
    cat > wanted << 'WANTED'
{"Column":62,"Discriminator":0,"FileName":"/src/shapes.cpp","FunctionName":"geo::Poly<geo::Point, 4>::count(geo::Point)","Line":16,"LinkageName":"_ZN3geo4PolyINS_5PointELi4EE5countES1_","StartAddress":"0x401000","SymbolName":"_ZN3geo4PolyINS_5PointELi4EE5countES1_.isra.0"}
{"Column":0,"Discriminator":0,"FileName":"","FunctionName":"","Line":0,"LinkageName":"","StartAddress":"","SymbolName":""}
WANTED
    expect_same got wanted
}

# rows: what both say of each call at each address. The outermost call is called by llvm as
# the symbol table has it, by us as debug information has it, with the other name beside.
rows()
{
    "$json" -e Symbol ^Address FunctionName SymbolName FileName Line Column < "$1" |
        awk -F'\t' '{
            while (sub(/\/\.\//, "/", $4));
            print $1, $3 == "-" || $3 == "" ? $2 : $3, $4, $5, $6
        }'
}

test_json_equals_that_of_llvm()
{
    llvm=${LLVM_SYMBOLIZER:-llvm-symbolizer-19}
    command -v "$llvm" > /dev/null || skip "$llvm is not installed"
    for name in x64-gcc-dw5-O2 x64-cpp-gcc; do
        # Where the readers that made the fixture agree with llvm.
        awk -F'\t' '/^0x/ { if ($8 !~ /L/ || $4 == "?") no[$1] = 1; else yes[$1] = 1 }
            END { for (a in yes) if (!(a in no)) print a }' \
            "$fixtures/$name.expect.tsv" | sort > addresses
        [ "$(wc -l < addresses)" -gt 40 ] || fail "too few addresses of $name" addresses
        run resolve --json --no-demangle -e "$fixtures/$name" < addresses
        expect_status 0
        rows out > ours
        "$llvm" --no-demangle --output-style=JSON -e "$fixtures/$name" < addresses > theirs.json
        rows theirs.json > theirs
        expect_same ours theirs
    done
}

# llvm-symbolizer also names data, which is no code and left out here; C++ has its own
# spelling there, so names are compared as they are in the file.
test_llvm_style_is_that_of_llvm_symbolizer()
{
    llvm=${LLVM_SYMBOLIZER:-llvm-symbolizer-19}
    command -v "$llvm" > /dev/null || skip "$llvm is not installed"
    for name in x64-gcc-dw5-O2 x64-clang19-dw5-O2 x64-gcc-hotcold x64-cpp-gcc-O2-plain x64-stripped; do
        readelf -SW "$fixtures/$name" | sed 's/^ *\[ *[0-9]*\] //' |
            awk '$1 == ".text" { print $3, $5 }' > text
        read -r start size < text
        i=0
        while [ $i -lt $((0x$size)) ]; do
            printf '0x%x\n' $((0x$start + i))
            i=$((i + 1))
        done > addresses
        echo 0x1 >> addresses
        for options in "" "-a" "-p -a -s" "-s"; do
            "$llvm" $options --no-demangle -e "$fixtures/$name" < addresses > theirs
            run resolve --style llvm $options --no-demangle -e "$fixtures/$name" < addresses
            expect_status 0
            expect_same out theirs
        done
    done
    "$llvm" -e "$c" 0x401010 0x1 > theirs
    run resolve --style llvm -e "$c" 401010 1
    expect_same out theirs
    run resolve --style llvm -e "$cpp" 401000
    expect out "geo::Poly<geo::Point, 4>::count(geo::Point) (.isra.0)" "/src/shapes.cpp:16:62"
}

test_return_addresses_are_looked_up_just_before_and_printed_as_given()
{
    for style in text tracy gnu llvm json; do
        run resolve --style $style -a -e "$c" 0x401010
        expect_status 0
        sed 's/401010/401011/' out > wanted
        run resolve --style $style -a --return-addresses -e "$c" 0x401011
        expect_status 0
        expect_same out wanted
    done
    run resolve --return-addresses --style gnu -a -f -e "$c" 0 0x401000 0x40112a
    printf '0x%016x\n%s\n%s\n' 0 '??' ??:0 0x401000 '??' ??:0 0x40112a util_twice /src/deep_util.c:18 > wanted
    expect_same out wanted
    run resolve --return-addresses -f -j .text -e "$c" 0 1 0x12a 0x12b
    printf '%s\n' '??' ??:0 chain_step1 /src/inc/chain.h:20 util_twice /src/deep_util.c:18 '??' ??:0 > wanted
    expect_same out wanted
}

test_a_style_and_the_options_of_addr2line_choose_how_answers_look()
{
    run resolve -e "$c" 0x401003
    expect out "  0: static_helper at deep.c:10:1"
    run resolve -f -e "$c" 0x401003
    printf 'static_helper\n/src/deep.c:10\n' > wanted
    expect_same out wanted
    run resolve -f --style text -e "$c" 0x401003
    expect out "  0: static_helper at deep.c:10:1"
    run resolve --style tracy -e "$c" 0x401010
    expect out "0. chain_leaf at " "[inline 0]" "[inline 4]"
    trace good > good.jsonl
    run resolve -f good.jsonl
    refused 2 "addr2line's options want -e FILE"
    run resolve --style gnu good.jsonl
    refused 2 "the styles gnu and llvm want -e FILE"
    run resolve --return-addresses good.jsonl
    refused 2 "--return-addresses wants -e FILE"
}

# A symbol table without debug information still tells the file of what is local to it.
test_local_symbols_tell_their_file()
{
    command -v objcopy > /dev/null || skip "objcopy is not installed"
    objcopy -R '.debug_*' "$c" plain # --strip-debug takes the names of files, too
    run resolve --json -e plain 0x401003 0x4010e0
    expect_status 0
    "$json" -a -e Symbol FunctionName FileName Line < out > got
    printf 'static_helper\tdeep.c\t0\nutil_mix\t\t0\n' > wanted
    expect_same got wanted
    run resolve -f -e plain 0x401003 0x4010c0 0x4010e0
    printf '%s\n' static_helper deep.c:? static_helper deep_util.c:? util_mix ??:? > wanted
    expect_same out wanted
    addr2line -f -e plain 0x401003 0x4010c0 0x4010e0 > theirs
    expect_same out theirs
}

test_names_are_demangled_unless_asked_not_to()
{
    run resolve -e "$cpp" 0x401000
    expect_status 0
    expect out "  0: geo::Poly<geo::Point, 4>::count(geo::Point) at shapes.cpp:16:62"
    refute out _ZN
    run resolve --no-demangle -e "$cpp" 0x401000
    expect_status 0
    expect out "  0: _ZN3geo4PolyINS_5PointELi4EE5countES1_"
    refute out "geo::"
    run resolve --json --no-demangle -e "$cpp" 0x401000
    "$json" -a Symbol.0.FunctionName < out > got
    expect got _ZN3geo4PolyINS_5PointELi4EE5countES1_
}

test_a_symbol_directory_gives_what_the_file_lacks()
{
    run resolve -e "$fixtures/buildid/x64-buildid" 0x201234
    expect_status 0
    refute out deep.c
    run resolve --symbols "$fixtures/buildid" -e "$fixtures/buildid/x64-buildid" 0x201234
    expect_status 0
    expect_empty err
    expect out "  0: public_api at deep.c:18:21"
    run resolve --symbols nowhere --symbols "$fixtures/buildid" \
        -e "$fixtures/buildid/x64-buildid" 0x201234
    expect out "  0: public_api at deep.c:18:21"
}

test_a_plugin_that_does_not_exist_is_told_with_where_it_was_looked_for()
{
    run resolve --plugin nobody -e "$c" 0x401000
    refused 1 "symbolizer nobody: no symbolizer nobody.so in $plugins"
    run resolve --plugin stderr -e "$c" 0x401000
    refused 1 "symbolizer stderr: stderr is a sink, not a symbolizer"
    trace good > good.jsonl
    cat good.jsonl good.jsonl > twice.jsonl
    run resolve --plugin nobody twice.jsonl
    refused 1 "symbolizer nobody: no symbolizer nobody.so in $plugins"
}

test_only_the_plugin_that_is_asked_for_answers()
{
    run resolve --plugin elfdwarf -e "$c" 0x401003
    expect_status 0
    expect out "static_helper at deep.c:10:1"
    run resolve --plugin wasi-null -e "$c" 0x401003
    expect_status 1
    expect_lines err 1
    expect err "$c: no_symbolizer" '"symbolizers" in the config'
    expect out "  0: $c+0x401003"
}

test_without_cache_the_answers_are_the_same()
{
    for file in "$c" "$cpp"; do
        run resolve --json -e "$file" < "$data/addresses"
        expect_status 0
        mv out cached
        run resolve --json --no-cache -e "$file" < "$data/addresses"
        expect_status 0
        expect_same out cached
    done
}

test_an_address_without_a_name_is_an_answer()
{
    run resolve -e "$c" 0x7fffffff
    expect_status 0
    expect_empty err
    id=$(readelf -n "$c" | awk '/Build ID:/ { print $3 }')
    printf '0x7fffffff:\n  0: %s+0x7fffffff [%s]\n' "$c" "$id" > wanted
    expect_same out wanted
}

the_test
