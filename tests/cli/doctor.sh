#!/bin/sh
# doctor.sh -- `backtrail doctor`: whether a program can be traced well.
. "$(dirname "$0")/lib.sh"

pid=
at_exit() { [ -z "$pid" ] || kill "$pid" 2> /dev/null || :; }

# expect_finding LEVEL WHAT TEXT: a line of that level about that, which holds the text.
expect_finding()
{
    grep -E "^  $1 +$2  " out | grep -qF -- "$3" ||
        fail "$said: no $1 line about '$2' with '$3'" out
}

refute_finding() # WHAT
{
    ! grep -qE "^  [A-Z]+ +$1  " out || fail "$said: there is a line about '$1'" out
}

# start PROGRAM ARGUMENT...: runs it until the test ends; returns when it has printed a
# line, so that it is loaded.
start()
{
    mkfifo ready
    "$@" > ready &
    pid=$!
    read -r _ < ready
}

# start_waiting SHELL: one process alone, which a signal ends whatever it waits for.
start_waiting()
{
    mkfifo never
    start "$1" -c 'echo; read -r _ < never'
}

# ---- frame pointers ------------------------------------------------------------------

# prologues FILE: of the functions doctor_* and main, how many set up a frame pointer, as
# objdump shows their code.
prologues()
{
    objdump -d --no-show-raw-insn "$1" | awk '
        /^[0-9a-f]+ <(doctor_[a-z]+|main)>:$/ { inside = 1 }
        /^$/ { inside = 0 }
        inside && /mov +%rsp,%rbp$/ { count++; inside = 0 }
        END { print count + 0 }'
}

test_a_program_with_frame_pointers_is_told_from_one_without()
{
    run doctor "$build/tests/cli/doctor_no-omit"
    expect_finding OK "frame pointers" "100 % of functions with a frame"
    refute out "no frame pointers"
    run doctor "$build/tests/cli/doctor_omit"
    expect_finding WARN "frame pointers" "no frame pointers: 100 % of functions"
    expect out "remedy: compile with -fno-omit-frame-pointer"
    [ "$(uname -m)" = x86_64 ] || return 0
    for kind in no-omit:3 omit:0; do
        prologues "$build/tests/cli/doctor_${kind%:*}" > got
        echo "${kind#*:}" > wanted
        expect_same got wanted
    done
}

# readelf is the other opinion: every CFA that it shows to be in rbp.
test_the_share_of_frame_pointers_is_that_of_readelf()
{
    [ -r /usr/bin/python3.11 ] || skip "no Debian 12 python"
    [ "$(uname -m)" = x86_64 ] || skip "not x86-64"
    run doctor --json /usr/bin/python3.11
    readelf --debug-dump=frames /usr/bin/python3.11 2> /dev/null | awk '
        / FDE / { fdes++; pointer = framed = 0 }
        / CIE$/ { pointer = framed = 1 }
        /def_cfa_register: r6|def_cfa: r6|breg6/ { if (!pointer) { pointer = 1; with++ } }
        /def_cfa|DW_CFA_offset/ { if (!framed) { framed = 1; frames++ } }
        END { printf "(%d of %d", frames - with, frames }' > wanted
    grep -oE 'no frame pointers: [0-9]+ % of functions with a frame \([0-9]+ of [0-9]+' out |
        grep -oE '\(.*' | tr -d '\n' > got
    counts() { tr -dc '0-9 ' < "$1" | tr -s ' ' '\n' | grep .; }
    # The stub table of the linker has a rule of its own, which is no function's.
    counts got | paste -s - > got_numbers
    counts wanted | paste -s - | awk '{ print $1 - stubs "\t" $2 - stubs }' \
        stubs="$(readelf --debug-dump=frames /usr/bin/python3.11 2> /dev/null |
            grep -c 'DW_CFA_def_cfa_expression.*breg7')" > wanted_numbers
    expect_same got_numbers wanted_numbers
}

# ---- what a file has -----------------------------------------------------------------

test_a_good_file_is_fine_and_says_how()
{
    run doctor "$fixtures/x64-gcc-dw5-O0"
    expect_status 0
    expect_empty err
    refute out remedy
    expect_finding OK file "ELF, x86-64, 64-bit, little-endian"
    expect_finding OK "build id" 25d30e7733a39a8b78b74463cd27ce205d2e673f
    expect_finding OK reader elfdwarf
    expect_finding OK symbols "6 functions"
    expect_finding OK "debug info" "DWARF 5, in the file itself"
    expect_finding OK lines "6 of 6 functions"
    expect_finding OK unwinding ".eh_frame covers 100 % of 6 functions"
    expect_finding OK "frame pointers" "100 % of functions with a frame (6 of 6;"
}

test_every_machine_is_named_and_its_way_to_walk_stacks()
{
    for row in "i386-gcc-dw5-O2|x86, 32-bit, little|no frame pointers: 100 %" \
        "aarch64-gcc-dw5-O2|AArch64, 64-bit, little|100 % of functions with a frame (4 of 4" \
        "arm-gcc-dw5-O2|ARM, 32-bit, little|no frame pointers: 100 %" \
        "riscv64-gcc-dw5-O2|RISC-V 64, 64-bit, little|no frame pointers: 100 %" \
        "powerpc-gcc-dw5-O2|PowerPC, 32-bit, big|back chain" \
        "s390x-gcc-dw5-O2|s390x, 64-bit, big|back chain"; do
        IFS='|' read -r file machine chain << ROW
$row
ROW
        run doctor "$fixtures/$file"
        expect_status 0
        expect_finding OK file "ELF, $machine-endian"
        expect_finding '(OK|WARN)' "frame pointers" "$chain"
        expect_finding OK lines "6 of 6"
    done
}

test_a_program_is_told_by_how_it_is_linked()
{
    for row in "x64-gcc-dw5-O2|program at a fixed address, linked statically" \
        "x64-gcc-staticpie|position-independent program, linked statically" \
        "x64-gcc-shared.so|shared object"; do
        run doctor "$fixtures/${row%|*}"
        expect_finding OK file "; ${row#*|}"
    done
    run doctor "$program"
    expect_finding OK file "program, linked dynamically"
}

test_symbols_are_looked_for_in_every_place()
{
    run doctor "$fixtures/x64-symtab-only"
    expect_status 0
    expect_finding OK symbols "6 functions"
    expect_finding WARN "debug info" "frames have names, but no files and lines"
    expect out "remedy: compile with -g, install its debug package"
    run doctor "$fixtures/x64-minidebug.so"
    expect_status 0
    expect_finding OK symbols ".gnu_debugdata"
    run doctor "$fixtures/debuglink/x64-debuglink"
    expect_finding OK symbols "stripped; 6 functions in "
    expect_finding OK "debug info" "x64-debuglink.debug (debug-link)"
    run doctor --symbols "$fixtures/buildid" "$fixtures/buildid/x64-buildid"
    expect_finding OK "debug info" "d7/b0990776c9048621a3abaf36c01f49298662da.debug (symbols-dir)"
    run doctor "$fixtures/x64-asm-nodebug"
    expect_finding WARN symbols "labels, none of them declared to be a function"
}

test_what_makes_stacks_unreadable_is_bad_and_exits_with_1()
{
    run doctor "$fixtures/x64-stripped"
    expect_status 1
    expect_finding BAD symbols "stripped of all"
    run doctor "$fixtures/x64-asm-nodebug"
    expect_status 1
    expect_finding BAD unwinding "no .eh_frame"
    expect out "remedy: compile with -fasynchronous-unwind-tables"
    head -c 3000 "$fixtures/x64-gcc-dw5-O2" > cut
    run doctor cut
    expect_status 1
    expect_finding BAD file "cut: is cut short"
    run doctor nowhere
    refused 1 "nowhere: No such file"
}

test_what_is_no_module_is_told_with_what_to_give_instead()
{
    printf '#!/bin/sh\n' > script
    : > empty
    cp "$fixtures/x64-gcc-dw5-O2" object && cp object core && cp object cut
    printf '\001' | dd of=object bs=1 seek=16 conv=notrunc 2> /dev/null # ET_REL
    printf '\004' | dd of=core bs=1 seek=16 conv=notrunc 2> /dev/null   # ET_CORE
    head -c 3000 "$fixtures/x64-gcc-dw5-O2" > cut
    for row in "script|give its interpreter, or a process" "empty|give a program, a library" \
        ".|give a program, a library" "object|it is linked into" "core|the program that it is of"; do
        run doctor "${row%|*}"
        expect_status 1
        expect_finding BAD file ""
        expect out "remedy: " "${row#*|}"
    done
    run doctor cut
    expect out "get a whole copy"
    refute out remedy:
}

# A symbol file and its name are a stranger's.
test_a_file_commands_no_terminal()
{
    name=$(printf 'a\033[31m\302\233b')
    cp "$fixtures/x64-gcc-dw5-O2" "$name"
    run doctor "./$name"
    expect out './a\x1b[31m\xc2\x9bb'
    ! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177\233]')" out || fail "$said: a command" out
}

test_debug_packages_are_told_by_who_can_name_them()
{
    for file in x64-stripped x64-symtab-only; do
        run doctor "$fixtures/$file"
        expect out "install its debug package (on Debian find-dbgsym-packages of debian-goodies"
    done
}

test_a_debug_file_of_another_build_is_told()
{
    mkdir here
    cp "$fixtures/x64-stripped" here/prog
    mkdir -p symbols/.build-id/21
    cp "$fixtures/x64-rust-v0" symbols/.build-id/21/4b18e9732c20fc56010ada89a354aef4c1b5fe.debug
    run doctor --symbols symbols here/prog
    expect_finding WARN "debug file" "wanted 214b18e9732c20fc56010ada89a354aef4c1b5fe"
    expect out "remedy: install the debug file of this very build"
}

test_a_file_without_an_id_gets_the_remedy()
{
    run doctor "$fixtures/debuglink-badcrc-noid/x64-debuglink"
    expect_finding WARN "build id" "none"
    expect out "remedy: link with -Wl,--build-id"
}

test_packed_debug_sections_are_told_and_whether_they_were_read()
{
    run doctor "$fixtures/x64-zlib"
    expect_finding OK compression "zlib, and were read"
    run doctor "$fixtures/x64-zlib-gnu"
    expect_finding OK compression "zlib (.zdebug), and were read"
    run doctor "$fixtures/x64-zstd"
    # A symbolizer that reads them makes this fine.
    if grep -q '^  OK *lines' out; then
        expect_finding OK compression "zstd, and were read"
    else
        expect_finding WARN compression "zstd, and elfdwarf did not read them"
        expect out "remedy: objcopy --decompress-debug-sections FILE"
    fi
}

test_parts_of_debug_information_in_other_files_are_looked_for()
{
    for kind in gcc-dw4 gcc-dw5 clang-19-dw5; do
        run doctor "$fixtures/x64-split-$kind/prog"
        expect_finding OK "split debug info" "all 2 .dwo files are there"
        cp "$fixtures/x64-split-$kind/prog" alone
        run doctor alone
        expect_finding WARN "split debug info" "2 of 2 .dwo files are missing"
        expect out "remedy: keep the .dwo files, or pack them"
        run doctor "$fixtures/x64-split-$kind/not-split"
        refute_finding "split debug info"
    done
    run doctor "$fixtures/dwzm/x64-dwzm-a"
    expect_finding OK "dwz file" "x64-dwzm-common.debug (debug-link)"
    cp "$fixtures/dwzm/x64-dwzm-a" alone
    run doctor alone
    expect_finding WARN "dwz file" "is not there"
}

test_json_says_the_same_as_the_table()
{
    for file in x64-gcc-dw5-O2 x64-stripped; do
        run doctor --json "$fixtures/$file"
        expect_lines out 1
        "$json" subject level < out > got
        case $file in
        x64-stripped) level=BAD ;;
        *) level=WARN ;;
        esac
        printf '%s\t%s\n' "$fixtures/$file" $level > wanted
        expect_same got wanted
        "$json" -e findings level what found < out > findings
        run doctor "$fixtures/$file"
        sed -nE 's/^  (OK|WARN|BAD) +([a-z ]*[a-z])  +/\1\t\2\t/p' out > table
        expect_same findings table
    done
}

test_without_a_symbolizer_nothing_can_be_read()
{
    mkdir empty
    BACKTRAIL_PLUGIN_PATH=$PWD/empty run doctor "$fixtures/x64-gcc-dw5-O2"
    expect_status 1
    expect_finding BAD reader "no symbolizer reads ELF files"
    BACKTRAIL_PLUGIN_PATH=$PWD/empty run doctor
    expect_status 1
    expect_finding BAD symbolizer "no symbolizer plugin was found"
}

# ---- processes -----------------------------------------------------------------------

test_every_module_of_a_process_is_examined()
{
    [ -r /proc/self/maps ] || skip "no /proc"
    start_waiting sh
    run doctor --json "$pid"
    "$json" subject < out | sort > subjects
    grep -E ' r-xp ' "/proc/$pid/maps" | grep -oE '/.*$' | sort -u > wanted
    grep '^/' subjects > got
    expect_same got wanted
    run doctor --all "$pid"
    expect_finding OK file "ELF, "
    run doctor "$pid"
    refute_finding file
    expect out "$(head -n 1 wanted)"
}

test_a_file_that_is_gone_is_examined_through_the_mapping()
{
    [ "$(id -u)" -eq 0 ] || skip "only root may read what is mapped"
    cp /bin/sh gone
    start_waiting ./gone
    rm gone
    run doctor --all "$pid"
    expect out "gone (deleted)"
    sed -n '/gone (deleted)/,/^\//p' out > part
    grep -q '^  OK *file *ELF' part || fail "$said: not read" out
}

test_code_of_no_file_is_counted_and_not_taken_for_damaged_files()
{
    [ -r /proc/self/maps ] || skip "no /proc"
    start "$build/tests/cli/doctor_jit"
    run doctor "$pid"
    refute out memfd
    refute out /dev/zero
    expect_finding WARN names "3 executable mappings of no file"
    refute_finding file
}

test_a_process_of_another_user_is_told_with_the_remedy()
{
    [ "$(id -u)" -eq 0 ] && [ -r /proc/self/maps ] && command -v setpriv > /dev/null || skip "not root"
    start_waiting sh
    status=0
    mkdir state
    chown 65534 state
    chmod 755 "$work"
    BACKTRAIL_STATE=$PWD/state setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$program" doctor "$pid" > out 2> err || status=$?
    said="as another user: backtrail doctor PID"
    refused 1 "process $pid: Permission denied; run it as root or as the process's user"
}

test_what_is_no_process_of_ours_is_told_in_one_line()
{
    run doctor 4999999
    refused 1 "process 4999999: no such process"
    mkfifo ready # its parent becomes a program that never waits for it
    sh -c 'sleep 0 & echo $!; exec sleep 100' > ready &
    pid=$!
    read -r zombie < ready
    until grep -q '^State:.Z' "/proc/$zombie/status" 2> /dev/null; do :; done
    run doctor "$zombie"
    refused 1 "process $zombie: has no mappings: it is a kernel thread, or has ended"
    [ -e /proc/2/maps ] || return 0
    [ "$(tr -d '()' < /proc/2/stat | cut -d ' ' -f 2)" = kthreadd ] || return 0
    run doctor 2
    expect_status 1
    expect_lines err 1
}

# ---- the installation ----------------------------------------------------------------

test_the_installation_itself_is_examined_without_an_argument()
{
    run doctor
    expect_status 0
    expect_finding OK config "(defaults)"
    expect_finding OK symbolizer "elfdwarf"
    expect_finding OK sink "stderr"
    expect_finding OK state "$BACKTRAIL_STATE can be written"
    [ ! -e "$BACKTRAIL_STATE/doctor" ] || fail "it left a file behind"
    echo '{ "sinks": 7 }' > wrong
    run doctor -c wrong
    expect_status 1
    expect_finding BAD config "wrong:1:"
    echo > file
    BACKTRAIL_STATE=$PWD/file/state run doctor
    expect_status 1
    expect_finding BAD state "file/state"
}

the_test
