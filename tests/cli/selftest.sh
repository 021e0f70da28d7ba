#!/bin/sh
# selftest.sh -- `backtrail selftest`: does it know what this installation reads?
. "$(dirname "$0")/lib.sh"

samples=$build/selftest

test_every_kind_of_symbol_file_is_read_as_it_should_be()
{
    run selftest symbols --samples "$samples"
    expect_status 0
    expect_empty err
    expect out "DWARF 5 " "sections compressed by zstd" "split DWARF 5, .dwp file" \
        "dwz, common file" "PowerPC, 32 bits, big-endian" "Mach-O, dSYM"
    grep -qE '^.gnu_debugdata +names +names +[a-z]+$' out || fail "$said: names" out
    grep -qE '^debug link to another build +nothing +nothing +-$' out || fail "$said: nothing" out
    grep -qE '^PE, PDB +- +no plugin +-$' out || fail "$said: a kind that none reads" out
    expect out ", 0 not, 4 without a sample"
    grep -vc '^#' "$samples/samples.tsv" > count
    [ "$(grep -cE ' (lines|names|nothing) +(lines|names|nothing) ' out)" -eq "$(cat count)" ] ||
        fail "$said: a sample is missing" out
}

test_a_symbolizer_that_reads_nothing_is_found_out()
{
    run selftest symbols --samples "$samples" --plugin wasi-null
    expect_status 1
    expect out "DWARF 5 " "no_symbolizer: no configured symbolizer reads this kind" \
        "2 as expected"
}

test_a_sample_that_is_not_as_it_should_be_is_told()
{
    mkdir some
    cp "$samples/x64-gcc-dw5-O2" some
    row='DWARF 5\tx64-gcc-dw5-O2\t-\tlines\t0x401129\tutil_twice@deep_util.c:'
    printf "${row}18:1\n" > some/samples.tsv
    run selftest symbols --samples some
    expect_status 0
    expect out "1 as expected, 0 not"
    printf "${row}19:1\n" > some/samples.tsv
    run selftest symbols --samples some
    expect_status 1
    grep -qE '^DWARF 5 +lines +wrong ' out || fail "$said: not told" out
    expect out "x64-gcc-dw5-O2: 0x401129: is util_twice@deep_util.c:19:1, not util_twice@deep_util.c:18:1"
    printf 'DWARF 5\tx64-gcc-dw5-O2\t-\tlines\t0x401015\tchain_leaf@chain.h:9:17\n' \
        > some/samples.tsv # which four calls more lead to
    run selftest symbols --samples some
    expect_status 1
    printf 'DWARF 5\tgone\t-\tlines\t0x401129\tx@x:1:1\n' > some/samples.tsv
    run selftest symbols --samples some
    expect_status 1
    expect out "some/gone: No such file or directory; install it whole"
    echo 'no sample' > some/samples.tsv
    run selftest symbols --samples some
    refused 1 "some/samples.tsv:1: is no sample"
    run selftest symbols --samples nowhere
    refused 1 "nowhere/samples.tsv: No such file or directory" "--samples DIR"
}

test_the_table_as_json_is_a_line_a_kind()
{
    run selftest symbols --samples "$samples" --json
    expect_status 0
    "$json" kind expected found plugin ok < out > got
    printf 'DWARF 5\tlines\tlines\t%s\ttrue\n' "$(sed -n 's/^DWARF 5\t.*lines\t\(.*\)\ttrue/\1/p' got)" > wanted
    grep -qxF "$(cat wanted)" got || fail "$said" got
    printf 'Mach-O, dSYM\t-\tno plugin\t-\t-\n' > wanted
    grep -qxF "$(cat wanted)" got || fail "$said" got
}

test_an_installation_has_its_samples_and_reads_them()
{
    [ -d "$build/share" ] || skip "the program cannot be run where it is built"
    cmake --install "$build" --prefix "$work/prefix" > install.log
    unset BACKTRAIL_PLUGIN_PATH
    mv "$work/prefix" "$work/moved"
    program=$work/moved/bin/backtrail
    run selftest symbols
    expect_status 0
    expect out ", 0 not, "
}

test_selftest_wants_to_know_of_what()
{
    run selftest
    refused 2 "symbols" "'backtrail selftest --help'"
    run selftest symbls
    refused 2 "'symbls'" "symbols"
    run selftest symbols now
    refused 2 "'now'"
}

the_test
