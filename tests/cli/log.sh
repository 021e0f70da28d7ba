#!/bin/sh
# log.sh -- `backtrail resolve --log` and `--markup`: text streams with stack lines.
. "$(dirname "$0")/lib.sh"

c=$fixtures/x64-gcc-dw5-O2

id_of() # FILE
{
    readelf -n "$1" | awk '/Build ID:/ { print $3 }'
}

# A directory of symbol files by build id, as both tools look for them.
by_id() # FILE...
{
    for file in "$@"; do
        id=$(id_of "$file")
        mkdir -p "symbols/.build-id/$(echo "$id" | cut -c 1-2)"
        cp "$file" "symbols/.build-id/$(echo "$id" | cut -c 1-2)/$(echo "$id" | cut -c 3-).debug"
    done
}

# The same as markup: every address that the fixture's table has, both ways.
markup_of() # NUMBER FILE
{
    printf '{{{module:%s:%s:elf:%s}}}\n' "$1" "$(basename "$2")" "$(id_of "$2")"
    printf '{{{mmap:0x%x00000000:0x10000000:load:%s:rx:0x0}}}\n' $(($1 + 1)) "$1"
    awk -F'\t' -v base="$(printf '0x%x' $(($1 + 1)))" '/^0x/ && !seen[$1]++ {
        at = base substr("00000000", 1, 10 - length($1)) substr($1, 3)
        printf "{{{bt:%d:%s:pc}}}\n  {{{bt:%d:%s}}} x\r\n", n, at, n + 1, at; n += 2
    }' "$2.expect.tsv"
}

test_markup_is_resolved_as_llvm_does()
{
    llvm=${LLVM_SYMBOLIZER_22:-llvm-symbolizer-22}
    command -v "$llvm" > /dev/null || skip "$llvm is not installed"
    by_id "$c" "$fixtures/x64-clang19-dw5-O2" "$fixtures/aarch64-gcc-dw5-O2" \
        "$fixtures/x64-lld-shared.so"
    {
        echo 'before {{{reset}}}'
        markup_of 0 "$c"
        markup_of 1 "$fixtures/x64-clang19-dw5-O2"
        markup_of 2 "$fixtures/aarch64-gcc-dw5-O2"
        markup_of 3 "$fixtures/x64-lld-shared.so"
        printf 'text {{{symbol:_ZN3geo6originE}}} {{{bt:7:0x1234:ra}}}\n{{{reset}}}\n'
        printf '{{{bt:7:0x10040100a:ra}}}\n'
    } | sed '1d' > log
    run resolve --markup --symbols symbols log
    expect_status 0
    "$llvm" --filter-markup --debug-file-directory="$PWD/symbols" < log > theirs 2> /dev/null
    [ "$(grep -c '#[0-9]*\.1 ' theirs)" -gt 50 ] || fail "too few inlined calls" theirs
    expect_same out theirs
}

test_a_log_of_a_sanitizer_is_resolved_in_place()
{
    printf '==7==ERROR\n    #0 0x40100a  (%s+0x40100a)\r\n    #1 0x1 in x (%s+0x1)' \
        "$c" "$c" > log
    run resolve --log log
    expect_status 0
    printf '==7==ERROR\n' > wanted
    for call in 'chain_step2 at /src/inc/chain.h:15:11 (inlined)' \
        'chain_step1 at /src/inc/chain.h:20:10 (inlined)' \
        "static_helper at /src/deep.c:11:11 [$c+0x40100a]"; do
        printf '    #0 0x40100a  %s\r\n' "$call" >> wanted
    done
    printf '    #1 0x1 in x (%s+0x1)' "$c" >> wanted
    expect_same out wanted
    run resolve --log < log
    expect_same out wanted
    run resolve --log - < log
    expect_same out wanted
}

test_a_program_that_prints_its_backtrace_is_resolved_live()
{
    "$build/tests/cli/cli_symbols" > raw || skip "backtrace_symbols_fd does nothing here"
    "$program" resolve --log < raw > out 2> err
    said="cli_symbols | backtrail resolve --log"
    expect raw 'cli_symbols('
    expect out 'innermost at ' 'symbols.c:11' 'middle at ' 'symbols.c:17' \
        'main at ' 'symbols.c:22' 'text between [0x'
    while IFS= read -r line; do
        address=${line##*\[}
        grep -qF "[$address" out || fail "$said: an address is gone: $line" out
    done < raw
}

test_an_id_that_is_another_is_refused_by_name()
{
    printf '#0 0x40100a  (%s+0x40100a) (BuildId: abcdef)\n' "$c" > log
    cat log log > twice
    run resolve --log twice
    expect_status 0
    expect_same out twice
    expect_lines err 1
    expect err "backtrail: $c [abcdef]: not found: $c has id $(id_of "$c")" "--symbols DIR"
    printf '{{{module:0:%s:elf:abcdef}}}\n' "$c" > log
    printf '{{{mmap:0x1000:0x1000:load:0:rx:0x401000}}}\n{{{bt:0:0x100a:pc}}}\n' >> log
    run resolve --markup log
    refute out deep.c
    expect out "    #0    0x000000000000100a ($c+0x40100a)"
    expect err "[abcdef]: not found"
}

test_symbol_files_are_found_by_id_and_by_name()
{
    id=$(id_of "$fixtures/buildid/x64-buildid")
    printf '#0 0x201234  (/gone/other+0x201234) (BuildId: %s)\n' "$id" > log
    run resolve --log log
    expect_same out log
    expect err "backtrail: /gone/other [$id]: not found; copy the file"
    run resolve --log --symbols "$fixtures/buildid" log
    expect_empty err
    expect out "#0 0x201234  public_api at /src/deep.c:18:21 [/gone/other+0x201234]"
    printf '#0 <null> <null> (x64-buildid+0x201234)\n' > log
    run resolve --log --symbols "$fixtures/buildid" log
    expect out "#0 public_api at /src/deep.c:18:21 [x64-buildid+0x201234]"
}

test_what_a_module_lacks_is_told_once_at_its_end()
{
    printf '#0 0x401000  (%s+0x401000)\n#1 0x401050  (%s+0x401050)\n' \
        "$fixtures/x64-symtab-only" "$fixtures/x64-symtab-only" > log
    run resolve --log log
    expect_status 0
    expect out '#0 0x401000  static_helper [' '#1 0x401050  public_api ['
    expect_lines err 1
    expect err "x64-symtab-only [$(id_of "$c")]: no_line_info"
}

test_lines_of_the_kernel_are_resolved_with_its_file()
{
    printf '[1.5]  public_api+0x10/0x50\n[1.5]  public_api+0x10/0x90\n' > log
    printf '[1.5]  static_helper+0x10/0x4b\n[1.5]  nothing+0x1/0x2\n' >> log
    run resolve --log -e "$c" log
    expect_status 0
    expect out '[1.5]  public_api at /src/deep.c:' ' [public_api+0x10/0x50]' \
        '[1.5]  public_api+0x10/0x90' '[1.5]  static_helper at ' ' [static_helper+0x10/0x4b]' \
        '[1.5]  nothing+0x1/0x2'
    expect err 'has not one public_api of 144 bytes'
}

test_a_kernel_module_that_is_not_linked_is_told_by_name()
{
    # An object file: type 1 instead of 2 in the header.
    mkdir symbols
    { head -c 16 "$c"; printf '\001'; tail -c +18 "$c"; } > symbols/my-mod_x.ko
    printf '[1.5]  public_api+0x10/0x50 [my_mod_x]\n' > log
    cat log log > twice
    run resolve --log --symbols symbols twice
    expect_status 0
    expect_same out twice
    expect_lines err 1
    expect err 'backtrail: my_mod_x: not found: symbols/my-mod_x.ko is not linked' \
        'its frames stay as they are'
}

test_records_of_json_stay_valid_and_their_stacks_are_resolved()
{
    printf '{"log":"x\\n#0 0x40100a  (%s+0x40100a)\\n","n":1}\n' "$c" > log
    run resolve --log log
    expect_status 0
    expect_lines out 1
    expect out 'chain_step2 at /src/inc/chain.h:15:11 (inlined)\n#0 0x40100a  chain_step1' \
        "static_helper at /src/deep.c:11:11 [$c+0x40100a]\\n\",\"n\":1}"
    "$build/tests/cli/cli_json" log n < out > /dev/null || fail "$said: is no JSON now" out
}

test_a_file_with_blanks_in_its_path_is_found()
{
    mkdir 'my dir'
    cp "$fixtures/x64-gcc-shared.so" 'my dir/a b'
    printf 'x %s/my dir/a b(+0x1100)[0x7f0000001100]\n' "$PWD" > log
    run resolve --log log
    expect_empty err
    expect out "[$PWD/my dir/a b(+0x1100)][0x7f0000001100]" 'x '
}

test_frames_of_a_debugger_are_resolved_where_the_file_is_mapped()
{
    printf '#1  0x0000000000401010 in ?? ()\n' > log
    run resolve --log log
    expect_same out log
    run resolve --log -e "$c" log
    expect out '#1  0x0000000000401010 in static_helper at /src/deep.c:' ' [?? ()]'
    printf '#0  0x000000001000000a in ?? ()\n' > log
    run resolve --log -e "$c" --base 0xffff000 log
    expect out 'static_helper at /src/deep.c:11:11 [?? ()]'
}

test_whatever_is_no_stack_line_comes_out_as_it_went_in()
{
    cat "$c" "$program" > bytes
    head -c 300000 /dev/zero >> bytes
    printf 'no end' >> bytes
    for option in --log --markup; do
        run resolve $option bytes
        expect_status 0
        cmp out bytes >&2 || fail "$said: the bytes have changed"
        "$program" resolve $option < bytes > out
        cmp out bytes >&2 || fail "$said: the bytes have changed"
    done
    : > empty
    run resolve --log empty
    expect_status 0
    expect_empty out
}

# Each line has to come out before the next goes in, and a line that is begun, too.
test_a_live_log_is_not_held_back()
{
    mkfifo raw resolved
    "$program" resolve --log < raw > resolved 2> err &
    asked=$!
    exec 3> raw 4< resolved
    for line in 'one' "#0 0x401100  ($c+0x401100)" 'three'; do
        echo "$line" >&3
        read -r answer <&4
        case $answer in
        one | three | "#0 0x401100  util_twice at /src/deep_util.c"*) ;;
        *) fail "for $line, got $answer" ;;
        esac
    done
    printf 'password: ' >&3
    answer=$(dd bs=10 count=1 <&4 2> /dev/null)
    [ "$answer" = 'password: ' ] || fail "a begun line is held back, got '$answer'"
    exec 3>&-
    wait $asked
    expect_empty err
}

test_a_log_that_cannot_be_read_or_written_is_told()
{
    run resolve --log nowhere
    refused 1 "nowhere: No such file"
    mkdir directory
    run resolve --log directory
    refused 1 "directory: Is a directory"
    run resolve --log -e nowhere "$c"
    refused 1 "nowhere: No such file"
    [ -w /dev/full ] || return 0
    status=0
    "$program" resolve --log "$c" > /dev/full 2> err || status=$?
    expect_status 1
    expect err "standard output: cannot be written"
}

test_a_wrong_command_line_for_a_log_is_told()
{
    run resolve --log a b
    refused 2 "one log at a time, got 'b' too"
    run resolve --log --base 0x1000 a
    refused 2 "--base wants -e FILE"
    run resolve --base 0x1000 -e "$c" 0x401000
    refused 2 "--base wants --log"
    run resolve --log -e "$c" --base zz a
    refused 1 "a: No such file"
    : > a
    run resolve --log -e "$c" --base zz a
    refused 2 "'zz' is not a hexadecimal address"
    run resolve --markup --style json a
    refused 2 "--log and --markup have no other styles"
}

the_test
