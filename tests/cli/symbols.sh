#!/bin/sh
# symbols.sh -- `backtrail symbols`: maps and symbol files, kept, handed on and checked.
. "$(dirname "$0")/lib.sh"

store=$XDG_CACHE_HOME/backtrail
gcc_id=214b18e9732c20fc56010ada89a354aef4c1b5fe   # x64-gcc-dw5-O2, stripped, debuglink
clang_id=d7b0990776c9048621a3abaf36c01f49298662da # x64-clang19-dw5-O2, buildid/
cpp_id=a68c8c293d328441bf0324f9821cd1740b93797e   # x64-cpp-gcc

# index WORD...: without a mistake.
index()
{
    run symbols index "$@"
    expect_status 0
    expect_empty err
}

# nothing_partial FOLDER: only whole files, by their names.
nothing_partial()
{
    ls -A "$1" | grep -vxE '([0-9a-f]{2})+\.(origin|debug|exe)|manifest.json|SHA256SUMS' > partial ||
        true
    expect_empty partial
}

# flip FILE OFFSET: another value in that byte.
flip()
{
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "\\$(printf %o $(((byte + 1) % 256)))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null
}

started=
at_exit()
{
    [ -z "${started-}" ] || kill "$started" 2> /dev/null || true
}

# ---- index ------------------------------------------------------------------------

test_a_map_in_the_store_answers_as_the_module_does()
{
    file=$fixtures/x64-gcc-dw5-O2
    addresses='0x401000 0x401015 0x40100f 0x401129 0x4010b7'
    run resolve -e "$file" --json $addresses
    cp out wanted
    index "$file"
    expect out "$gcc_id" "built"
    nothing_partial "$store"
    run symbols ls
    expect_status 0
    grep -qE "^$gcc_id +origin .* fresh .*/x64-gcc-dw5-O2$" out || fail "$said" out
    run resolve -e "$store/$gcc_id.origin" --json $addresses
    expect_status 0
    sed "s,$store/$gcc_id.origin,$file,g" out > got
    expect_same got wanted
    # The store alone: no file of the module is there.
    trace good | sed "s,$fixtures/x64-gcc-dw5-O2,/nowhere/gone,g" > gone.jsonl
    run resolve --style json gone.jsonl
    expect_status 0
    expect out '"route":"store"' '"function":"static_helper"' '"line":20'
}

test_a_map_that_is_up_to_date_is_left_alone()
{
    file=$fixtures/x64-gcc-dw5-O2 map=$store/$gcc_id.origin
    index "$file"
    touch -d 2001-01-01 "$map"
    ls -i "$map" > before
    index "$file"
    expect out "$gcc_id" "up to date"
    ls -i "$map" > after
    expect_same after before
    index --force "$file"
    expect out "built"
    ls -i "$map" > after
    ! cmp -s after before || fail "$said: was not built anew"
    run symbols verify "$store"
    expect_status 0
}

test_a_better_file_of_the_same_module_replaces_its_map_and_a_worse_one_does_not()
{
    index "$fixtures/x64-symtab-only" # names without lines
    expect out "$gcc_id" "symbols"
    refute out "lines"
    index "$fixtures/x64-symtab-only"
    expect out "up to date"
    index "$fixtures/x64-gcc-dw5-O2"
    expect out "$gcc_id" "built" "lines"
    index "$fixtures/x64-symtab-only"
    expect out "$gcc_id" "up to date"
    run resolve -e "$store/$gcc_id.origin" 0x401000
    expect out "chain.h:20"
}

test_a_map_of_another_release_of_its_plugin_is_stale_and_built_anew()
{
    file=$fixtures/x64-gcc-dw5-O2 map=$store/$gcc_id.origin
    export BACKTRAIL_PLUGIN_PATH="$build/tests/cli/outliner-1.0"
    index "$file"
    run resolve -e "$map" 0x401010
    expect out "outlined" "outliner.c:7"
    export BACKTRAIL_PLUGIN_PATH="$build/tests/cli/outliner-2.0"
    run symbols ls
    expect_status 0
    expect out " stale " "made by outliner 1.0, shape " "; here is 2.0"
    run symbols info --json "$map"
    expect out '"version":"1.0"' '"state":"stale"'
    index "$file"
    expect out "built"
    run symbols ls
    expect out " fresh "
    export BACKTRAIL_PLUGIN_PATH="$plugins"
    run symbols ls
    expect out " stale " "made by outliner, which is not here"
}

test_no_symbolizer_that_tells_all_is_told()
{
    run symbols index --plugin wasi-null "$fixtures/x64-gcc-dw5-O2"
    refused 1 "x64-gcc-dw5-O2: " "no configured symbolizer reads this kind"
    [ ! -e "$store/$gcc_id.origin" ] || fail "$said: a map was written"
}

test_the_programs_libraries_and_debug_files_of_a_folder_are_indexed()
{
    mkdir -p tree/deep/er outside
    cp "$fixtures/x64-gcc-dw5-O2" tree
    cp "$fixtures/x64-lld-shared.so" tree/deep/er
    cp "$fixtures/buildid/.build-id/d7/"*.debug tree/deep
    cp "$fixtures/x64-split-gcc-dw5/deep.dwo" tree # an object file: no addresses
    cp "$fixtures/x64-cpp-gcc" outside
    ln -s ../outside tree/link
    ln -s ../outside/x64-cpp-gcc tree/file-link
    echo 'no module' > tree/text
    mkfifo tree/fifo
    index tree
    expect_lines out 3
    expect out "$gcc_id" "$clang_id" "x64-lld-shared.so"
    [ ! -e "$store/$cpp_id.origin" ] || fail "a link was followed"
    head -c 1000 "$fixtures/x64-cpp-gcc" > tree/cut
    run symbols index --force tree
    expect_status 1
    expect_lines out 3
    expect_lines err 1
    expect err "tree/cut: is cut short or damaged"
    run symbols index tree/text nowhere "$fixtures/x64-cpp-gcc"
    expect_status 1
    expect_lines err 2
    expect err "tree/text: is no ELF" "nowhere: No such file or directory"
    expect out "$cpp_id"
}

# Not named after threads: gcc 12's TSan does not know the C11 mutexes of the plugin; what
# it can see is looked at by origin.threads.
test_a_map_is_the_same_whether_one_or_two_build_it()
{
    for threads in 1 2 3; do
        index --threads $threads --out map$threads.origin "$fixtures/x64-cpp-gcc"
    done
    cmp map1.origin map2.origin || fail "2 threads"
    cmp map1.origin map3.origin || fail "3 threads"
    [ ! -e "$store" ] || fail "--out FILE wrote into the store"
    index --out folder/ "$fixtures/x64-cpp-gcc" "$fixtures/x64-gcc-dw5-O2"
    cmp "folder/$cpp_id.origin" map1.origin || fail "--out DIR"
    run symbols index --threads many x
    refused 2 "'many'"
    run symbols index --threads 0 x
    refused 2 "'0'"
}

test_a_folder_that_cannot_be_written_to_is_told_and_left_as_it_was()
{
    : > file
    run symbols index --store file "$fixtures/x64-gcc-dw5-O2"
    refused 1 "file: is not a directory"
    run symbols index --out nowhere/map.origin "$fixtures/x64-gcc-dw5-O2"
    refused 1 "nowhere/map.origin"
    run symbols export --exe "$fixtures/x64-gcc-dw5-O2" --out file
    refused 1 "file: is not a directory"
}

test_nothing_is_left_by_one_that_is_interrupted()
{
    for signal in TERM HUP; do # a shell has SIGINT ignored behind &
        rm -f asked
        OUTLINER_WAITS=asked BACKTRAIL_PLUGIN_PATH=$build/tests/cli/outliner-1.0 \
            "$program" symbols index --threads 2 "$fixtures/x64-gcc-dw5-O2" > out 2> err &
        started=$!
        while [ ! -e asked ]; do kill -0 $started || fail "it has ended" err; done
        kill -$signal $started
        code=0
        wait $started || code=$?
        said="symbols index, interrupted by $signal"
        [ "$(kill -l $code)" = $signal ] || fail "$said: exit code $code" err
        started=
        [ -z "$(ls -A "$store")" ] || fail "$said: something is left: $(ls -A "$store")"
        expect err "x64-gcc-dw5-O2: interrupted"
    done
}

# ---- add --------------------------------------------------------------------------

test_a_stripped_program_finds_the_debug_file_that_was_added()
{
    stripped=$fixtures/x64-stripped
    run resolve -e "$stripped" 0x401015
    refute out chain_leaf
    run symbols add "$fixtures/debuglink/.debug/x64-debuglink.debug"
    expect_status 0
    expect out "$gcc_id.debug" "added"
    cmp "$store/$gcc_id.debug" "$fixtures/debuglink/.debug/x64-debuglink.debug" || fail "$said"
    run resolve -e "$stripped" 0x401015
    expect_status 0
    expect out "chain_leaf" "chain.h:9"
    run symbols add "$fixtures/debuglink/.debug/x64-debuglink.debug"
    expect_status 0
    expect out "$gcc_id.debug" "is there already"
}

test_what_has_neither_id_nor_code_or_is_cut_is_not_added()
{
    head -c 3000 "$fixtures/x64-gcc-dw5-O2" > cut
    run symbols add "$fixtures/debuglink-noid/x64-debuglink.debug" cut nowhere \
        "$fixtures/x64-cpp-gcc"
    expect_status 1
    expect_lines err 3
    expect err "x64-debuglink.debug: has no build-id and no code" "cut: " "nowhere: No such file or directory"
    expect out "$cpp_id.exe" "added"
    nothing_partial "$store"
}

# ---- without a build-id -----------------------------------------------------------

noid_hash=47be81f3982f618c # debuglink-noid/, debuglink-badcrc-noid/

# by_hash FILE HASH ADDRESS: a trace of it, as one that was captured.
by_hash()
{
    sed "s,/nonexistent/lib/gone.so,$1,; s/\"id\":\"[0-9a-f]*\"/\"id\":\"\",\"text_hash\":\"fnv1a-64:$2\"/
        s/\"id_kind\":\"build-id\"/\"id_kind\":\"none\"/; s/0x401000/$3/; s/0x400000/0x0/; s/0x404000/0x405000/" \
        "$data/missing.jsonl"
}

test_two_builds_of_the_same_code_without_an_id_are_one_entry_and_found_by_it()
{
    index "$fixtures/debuglink-noid/x64-debuglink" # with the debug file it links to
    expect out "$noid_hash unverified  built" "lines"
    index "$fixtures/debuglink-badcrc-noid/x64-debuglink" # which has none
    expect out "$noid_hash unverified  up to date"
    run symbols add "$fixtures/debuglink-badcrc-noid/x64-debuglink"
    expect out "$noid_hash.exe unverified" "added"
    run symbols add "$fixtures/debuglink-noid/x64-debuglink"
    expect out "$noid_hash.exe unverified" "is there already"
    run symbols ls --json
    "$json" id id_kind kind state < out > got
    printf '%s\ttext-hash\t%s\n' $noid_hash 'exe	-' $noid_hash 'origin	fresh' > wanted
    expect_same got wanted
    run symbols ls
    expect out "$noid_hash unverified"
    run symbols verify "$store"
    expect_status 0
    expect out "2 files checked, 0 things wrong"
    by_hash /nowhere/gone $noid_hash 0x401000 > trace.jsonl
    run resolve --style json trace.jsonl
    "$json" threads.0.frames.0.function threads.0.frames.0.line answers.0.route < out > got
    printf 'chain_step1\t20\tstore\n' > wanted
    expect_same got wanted
    # Other code: its hash leads nowhere, and a file called by it is refused.
    other=${noid_hash%?}0
    mv "$store/$noid_hash.exe" "$store/$other.exe"
    mv "$store/$noid_hash.origin" "$store/$other.origin"
    by_hash /nowhere/gone $other 0x401000 > trace.jsonl
    run resolve --style json trace.jsonl
    "$json" gaps.0.reason < out > got
    echo id_mismatch > wanted
    expect_same got wanted
    run symbols verify "$store"
    expect_status 1
    expect_lines err 2
    expect err "has id $noid_hash, which is not its name" "is the map of $noid_hash"
}

test_a_stripped_program_without_an_id_is_named_by_the_same_code_in_the_store()
{
    full=$build/tests/cli/no_id_full bare=$build/tests/cli/no_id_bare
    run sym --json -e "$full" main
    start=$("$json" symbol.start < out)
    run symbols add "$full"
    expect_status 0
    hash=$(sed 's/\.exe unverified.*//' out)
    run symbols add "$bare" # the same code, and says less
    expect out "$hash.exe unverified" "is there already"
    by_hash "$bare" "$hash" "$start" > trace.jsonl
    run resolve --style json trace.jsonl
    "$json" threads.0.frames.0.function answers.0.route < out > got
    printf 'main\tstore\n' > wanted
    expect_same got wanted
    rm "$store"/*
    index "$full"
    run resolve --style json trace.jsonl
    "$json" threads.0.frames.0.function answers.0.route < out > got
    expect_same got wanted
}

test_the_map_of_a_module_without_an_id_is_exported_by_its_hash()
{
    file=$fixtures/debuglink-noid/x64-debuglink
    run symbols export --debug --exe "$file" --out maps
    expect_status 4
    "$json" -e modules id id_kind files.0.state files.1.reason < maps/manifest.json > got
    printf '%s\ttext-hash\texported\tno_id\n' $noid_hash > wanted
    expect_same got wanted
    run symbols verify maps
    expect_status 0
    index "$file"
    cmp maps/$noid_hash.origin "$store/$noid_hash.origin" || fail "is not as it was indexed"
    by_hash /nowhere/gone $noid_hash 0x401000 > trace.jsonl
    for subject in "--id $noid_hash" "--id fnv1a-64:$noid_hash" "--report trace.jsonl"; do
        rm -r maps
        run symbols export $subject --out maps
        expect_status 0
        cmp maps/$noid_hash.origin "$store/$noid_hash.origin" || fail "$said"
    done
}

# ---- export -----------------------------------------------------------------------

# manifest MEMBER...: of each file in maps/manifest.json.
manifest()
{
    "$json" -e modules ^id files.0.state "$@" < maps/manifest.json
}

# exported ID: maps/ID.origin is what the store has, and all of maps/ is right.
exported()
{
    cmp "maps/$1.origin" "$store/$1.origin" || fail "$said: $1 is not what the store has"
    (cd maps && sha256sum --quiet -c SHA256SUMS) || fail "$said: SHA256SUMS"
    nothing_partial maps
    run symbols verify maps
    expect_status 0
}

test_an_exported_map_is_what_the_store_has_byte_for_byte()
{
    index "$fixtures/x64-gcc-dw5-O2" "$fixtures/x64-cpp-gcc"
    run symbols export --id $cpp_id --exe "$fixtures/x64-gcc-dw5-O2" --out maps
    expect_status 0
    expect_empty err
    exported $gcc_id
    exported $cpp_id
    "$json" -e modules id files.0.name files.0.state files.0.route < maps/manifest.json > got
    printf '%s\t%s.origin\texported\tstore\n' $cpp_id $cpp_id $gcc_id $gcc_id > wanted
    expect_same got wanted
}

test_a_map_that_the_store_has_not_is_built_for_the_export()
{
    run symbols export --exe "$fixtures/x64-gcc-dw5-O2" --out maps
    expect_status 0
    expect_empty err
    [ ! -e "$store" ] || fail "$said: the store was written to"
    "$json" -e modules id files.0.state files.0.built < maps/manifest.json > got
    printf '%s\texported\ttrue\n' $gcc_id > wanted
    expect_same got wanted
    index "$fixtures/x64-gcc-dw5-O2"
    exported $gcc_id
}

test_the_modules_of_a_report_are_exported()
{
    trace good > good.jsonl
    index "$fixtures/x64-gcc-dw5-O2"
    run resolve --style json good.jsonl
    cp out report.jsonl
    for from in good.jsonl report.jsonl; do
        rm -rf maps
        run symbols export --report $from --out maps
        expect_status 0
        exported $gcc_id
    done
    rm -rf maps "$store"
    trace other-id > other.jsonl
    run symbols export --report good.jsonl --report other.jsonl --out maps
    expect_status 4
    "$json" -e modules files.0.state files.0.reason < maps/manifest.json > got
    printf 'exported\t-\nmissing\tid_mismatch\n' > wanted
    expect_same got wanted
    expect err "has id $gcc_id, wanted "
}

test_the_modules_that_a_process_has_mapped_are_exported()
{
    mkfifo wait
    "$build/tests/cli/cli_wait" < wait > ready &
    started=$!
    exec 3> wait
    while [ ! -s ready ]; do :; done
    run symbols export --pid $started --out maps
    [ "$status" -eq 0 ] || [ "$status" -eq 4 ] || fail "$said: exit code $status" err
    "$json" -e modules path files.0.state < maps/manifest.json > got
    printf '%s\texported\n' "$(cd "$build" && pwd -P)/tests/cli/cli_wait" > wanted
    grep -qxF "$(cat wanted)" got || fail "$said: the program itself" got
    grep -q '/libc\.so\.6	\|libc-' got || fail "$said: its libraries" got
    run symbols verify maps
    expect_status 0
    exec 3>&-
    wait $started || true
    started=
    run symbols export --pid 999999999 --out maps
    refused 1 "process 999999999: no such process"
}

test_what_is_missing_is_in_the_manifest_with_its_reason()
{
    run symbols export --exe "$fixtures/x64-gcc-dw5-O2" --id 0123456789abcdef \
        --exe "$fixtures/debuglink-noid/x64-debuglink.debug" --exe nowhere --out maps
    expect_status 4
    expect_lines err 3
    expect err "0123456789abcdef" "x64-debuglink" "nowhere: No such file or directory"
    expect out "1 files of 4 modules exported to maps, 3 missing"
    "$json" -e modules id files.0.state files.0.reason < maps/manifest.json > got
    {
        printf '%s\texported\t-\n' $gcc_id
        printf '0123456789abcdef\tmissing\tstore_never_built\n'
        printf -- '-\tmissing\tno_id\n-\tmissing\tnot_found\n'
    } > wanted
    expect_same got wanted
    run symbols verify maps
    expect_status 0
}

test_debug_files_are_exported_from_wherever_they_are_found()
{
    run symbols export --debug --exe "$fixtures/debuglink/x64-debuglink" \
        --exe "$fixtures/buildid/x64-buildid" --exe "$fixtures/x64-cpp-gcc" \
        --symbols "$fixtures/buildid" --out maps
    expect_status 0
    cmp maps/$gcc_id.debug "$fixtures/debuglink/.debug/x64-debuglink.debug" || fail "debug link"
    cmp maps/$clang_id.debug "$fixtures/buildid/.build-id/d7/b0990776c9048621a3abaf36c01f49298662da.debug" ||
        fail "build-id directory"
    cmp maps/$cpp_id.debug "$fixtures/x64-cpp-gcc" || fail "its own"
    run symbols verify maps
    expect_status 0
    expect out "7 files checked, 0 things wrong"
    run symbols export --debug --exe "$fixtures/x64-stripped" --out more
    expect_status 4
    "$json" -e modules.0.files kind state reason < more/manifest.json > got
    printf 'debug\tmissing\tnot_found\n' > wanted
    grep -qxF "$(cat wanted)" got || fail "$said" got
}

test_export_wants_to_know_what_and_where_to()
{
    run symbols export --exe "$fixtures/x64-gcc-dw5-O2"
    refused 2 "--out DIR"
    run symbols export --out maps
    refused 2 "--pid, --exe, --id or --report"
    run symbols export --id xyz --out maps
    refused 1 "--id xyz: is no id"
    run symbols export --pid now --out maps
    refused 1 "--pid now: is no process id"
    [ ! -e maps ] || fail "a folder was made"
}

# ---- verify -----------------------------------------------------------------------

test_a_changed_byte_is_found_and_its_file_is_named()
{
    run symbols export --debug --exe "$fixtures/x64-gcc-dw5-O2" --out maps
    expect_status 0
    map=maps/$gcc_id.origin
    cp $map whole
    size=$(wc -c < whole)
    mv maps/SHA256SUMS sums
    for offset in 0 9 20 30 $((size / 7)) $((size / 3)) $((size / 2)) $((size - 1)); do
        flip $map $offset
        run symbols verify maps
        expect_status 1
        expect err "$map: "
        run symbols info $map
        expect_status 1
        cp whole $map
    done
    mv sums maps/SHA256SUMS
    flip maps/$gcc_id.debug 9000
    run symbols verify maps
    expect_status 1
    expect_lines err 1
    expect err "maps/$gcc_id.debug: is not what SHA256SUMS says"
    run symbols verify $map
    expect_status 0
    run symbols verify $map maps/$gcc_id.debug
    expect_status 1
    expect_lines err 1
}

test_a_file_of_a_wrong_name_is_found()
{
    run symbols export --debug --exe "$fixtures/x64-gcc-dw5-O2" --out maps
    mv maps/$gcc_id.origin maps/$cpp_id.origin
    run symbols verify maps
    expect_status 1
    expect err "maps/$cpp_id.origin: is the map of $gcc_id, which is not its name" \
        "maps/$gcc_id.origin: is missing"
    rm maps/SHA256SUMS
    mv maps/$gcc_id.debug maps/$cpp_id.debug
    run symbols verify maps/$cpp_id.debug
    expect_status 1
    expect err "maps/$cpp_id.debug: has id $gcc_id, which is not its name"
    mv maps/$cpp_id.debug maps/module.debug
    run symbols verify maps/module.debug
    refused_but_counted "maps/module.debug: is not called by an id"
}

# refused_but_counted TEXT: one thing is wrong.
refused_but_counted()
{
    expect_status 1
    expect_lines err 1
    expect err "$1"
    expect out "1 things wrong"
}

test_what_is_not_listed_or_not_there_or_not_to_be_read_is_wrong()
{
    run symbols export --exe "$fixtures/x64-gcc-dw5-O2" --out maps
    cp "$fixtures/x64-cpp-gcc" maps/$cpp_id.exe
    run symbols verify maps
    refused_but_counted "maps/$cpp_id.exe: is not in SHA256SUMS"
    rm maps/$cpp_id.exe
    echo 'more' >> maps/manifest.json
    run symbols verify maps
    refused_but_counted "maps/manifest.json: is not what SHA256SUMS says"
    sed 's,  ,  ../,' maps/SHA256SUMS > sums
    mv sums maps/SHA256SUMS
    run symbols verify maps
    refused_but_counted "maps/SHA256SUMS:1: is no checksum of a file"
    run symbols verify nowhere
    refused_but_counted "nowhere: No such file or directory"
    mkdir empty
    run symbols verify empty
    refused_but_counted "empty: has no .origin, .debug or .exe file"
}

# ---- ls, info, gc -----------------------------------------------------------------

test_the_store_is_listed_as_json()
{
    index "$fixtures/x64-gcc-dw5-O2"
    run symbols add "$fixtures/x64-cpp-gcc"
    echo 'something else' > "$store/README"
    printf 'BTORIGIN' > "$store/abcd.origin"
    run symbols ls --json
    expect_status 0
    "$json" id kind state < out > got
    {
        printf '%s\torigin\tfresh\n' $gcc_id
        printf '%s\texe\t-\n' $cpp_id
        printf 'abcd\torigin\tdamaged\n'
    } > wanted
    expect_same got wanted
    run symbols ls --store nowhere
    expect_status 0
    expect_lines out 1
}

test_info_tells_what_a_map_has_and_what_made_it()
{
    index --out map.origin "$fixtures/x64-cpp-gcc"
    run symbols info map.origin
    expect_status 0
    expect out "$cpp_id" "ELF" "x64-cpp-gcc" "lines, inlined calls" "fresh" "regions"
    run symbols info --json map.origin
    "$json" id format route state < out > got
    printf '%s\tELF\t%s\tfresh\n' $cpp_id "$(cut -f 3 got)" > wanted
    expect_same got wanted
    run symbols info "$fixtures/x64-cpp-gcc"
    refused 1 "x64-cpp-gcc: "
}

test_gc_keeps_what_was_used_last()
{
    index "$fixtures/x64-gcc-dw5-O2" "$fixtures/x64-cpp-gcc" "$fixtures/x64-clang19-dw5-O2"
    touch -d '2001-01-01' "$store"/*
    touch -a -d '2001-03-03' "$store/$clang_id.origin"
    touch -a -d '2001-02-02' "$store/$gcc_id.origin"
    run symbols ls # which is no use
    room=$(($(wc -c < "$store/$clang_id.origin") + $(wc -c < "$store/$gcc_id.origin")))
    run symbols gc --max-size $room --dry-run
    expect_status 0
    expect out "would remove  $cpp_id.origin" "2 of 3 files would stay"
    [ -e "$store/$cpp_id.origin" ] || fail "--dry-run removed it"
    run symbols gc --max-size $room
    expect_status 0
    expect out "removed  $cpp_id.origin" "2 of 3 files stay"
    run symbols gc --max-size $((room - 1))
    expect out "removed  $gcc_id.origin"
    [ -e "$store/$clang_id.origin" ] || fail "the one used last is gone"
    run symbols gc --max-size 0
    ls "$store" > left
    expect_empty left
    run symbols gc
    refused 2 "--max-size"
    run symbols gc --max-size much
    refused 2 "'much'"
}

test_an_option_of_another_command_is_refused()
{
    run symbols gc --max-size 1 --json
    refused 2 "--json goes with info, not with gc"
    run symbols index --pid 1 x
    refused 2 "--pid goes with export, not with index"
    run symbols
    refused 2 "index, add, push, export, verify, info, ls, gc"
    run symbols idnex
    refused 2 "'idnex'" "index"
    run symbols index
    refused 2 "index wants files or folders"
    run symbols ls now
    refused 2 "ls takes no argument, got 'now'"
}

# The map alone: the module is in no place where it is looked for.
test_one_map_serves_whatever_asks()
{
    index "$fixtures/x64-gcc-dw5-O2"
    trace good | sed "s,$fixtures/x64-gcc-dw5-O2,/nowhere/gone,g" > request.jsonl
    sed 's/"why":"request"/"why":"crash"/' request.jsonl > crash.jsonl
    sed 's/"why":"request"/"why":"sample"/' request.jsonl > sample.jsonl
    for why in request crash sample; do
        run resolve --style json $why.jsonl
        expect out '"why":"'$why'"' '"route":"store"'
        "$json" -e threads.0.frames function file line column < out > got
        [ $why = request ] || expect_same got first
        grep -q '^chain_step1	.*chain.h	20	10$' got || fail "$said" got
        cp got first
    done
    run resolve -e "$store/$gcc_id.origin" 0x401000
    expect out "chain_step1" "chain.h:20:10"
}

the_test
