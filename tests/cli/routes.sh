#!/bin/sh
# routes.sh -- where symbols come from when a trace is resolved: which route answered, and
# what is said where none did.
. "$(dirname "$0")/lib.sh"

id=d7b0990776c9048621a3abaf36c01f49298662da
debug=$fixtures/buildid/.build-id/d7/b0990776c9048621a3abaf36c01f49298662da.debug
store=$XDG_CACHE_HOME/backtrail

# A trace of a module that is not here: /nonexistent/x64-buildid.
gone()
{
    sed "s,/nonexistent/lib/gone.so,/nonexistent/x64-buildid,; s/\"0x401000\"/\"0x201234\"/
        s/0x400000/0x200000/; s/0x404000/0x204000/
        s/0123456789abcdef0123456789abcdef01234567/$id/" "$data/missing.jsonl" > gone.jsonl
}

# expect_answer FUNCTION ROUTE REASON: of the first frame; "-": there is none.
expect_answer()
{
    expect_status 0
    "$json" threads.0.frames.0.function answers.0.route gaps.0.reason < out > got
    printf '%s\t%s\t%s\n' "$1" "$2" "$3" > wanted
    expect_same got wanted
}

# ---- directories and the store ---------------------------------------------------------

test_each_route_by_which_a_module_is_found_is_told()
{
    gone
    run resolve --symbols "$fixtures/buildid" gone.jsonl
    expect_answer public_api symbols-dir -
    mkdir -p "$store"
    cp "$debug" "$store/$id.debug"
    run resolve gone.jsonl
    expect_answer public_api store -
    expect out "\"file\":\"$store/$id.debug\""
    run resolve --symbols "$fixtures/buildid" gone.jsonl
    expect_answer public_api symbols-dir -
}

test_what_is_missing_is_told_by_where_it_could_have_been()
{
    gone
    run resolve gone.jsonl
    expect_answer - - store_never_built
    mkdir empty
    run resolve --symbols empty gone.jsonl
    expect_answer - - dir_lacks_build_id
    mkdir -p "$store"
    run resolve gone.jsonl
    expect_answer - - not_found
    cp "$c_file" "$store/$id.debug"
    run resolve gone.jsonl
    expect_answer - - id_mismatch
    expect out "has id 214b18e9732c20fc56010ada89a354aef4c1b5fe, wanted $id"
}
c_file=$fixtures/x64-gcc-dw5-O2

test_the_store_is_where_the_config_says()
{
    gone
    mkdir own
    cp "$debug" "own/$id.debug"
    echo '{ "symbols": { "store": "own" } }' > c.json
    run resolve --config c.json gone.jsonl
    expect_answer public_api store -
}

# ---- a plugin that is replaced ---------------------------------------------------------

# put_release NUMBER: the plugin file becomes another, as an update puts it there.
put_release()
{
    mkdir -p release
    chmod go-w release
    cp "$build/tests/cli/outliner-$1/outliner.so" release/next
    chmod go-w release/next
    mv release/next release/outliner.so
}

# expect_made VERSION ROUTE: who answered; the plugin itself ("-") or its map. Leaves in `$1.id` the plugin's id, and in
# `$1.names` what no plugin has a say in, and what it said.
expect_made()
{
    run resolve --style json request.jsonl
    expect_status 0
    "$json" answers.0.plugin answers.0.version answers.0.route < out > got
    printf 'outliner\t%s\t%s\n' "$1" "$2" > wanted
    expect_same got wanted
    "$json" answers.0.plugin_id < out > "$1.id"
    "$json" trace.threads.0.pcs.0 trace.modules.0.id threads.0.frames.0.address \
        threads.0.frames.0.function threads.0.frames.0.line < out > "$1.names"
    grep -q "$c_id.*outlined	7\$" "$1.names" || fail "$said" "$1.names"
}
c_id=214b18e9732c20fc56010ada89a354aef4c1b5fe

test_identities_stay_when_a_plugin_is_replaced_and_its_release_is_told()
{
    export BACKTRAIL_PLUGIN_PATH="$work/here/release"
    trace good > request.jsonl
    put_release 1.0
    expect_made 1.0 -
    run symbols index "$c_file"
    expect_status 0
    expect_made 1.0 store
    cp 1.0.id first.id
    put_release 2.0 # the map is of the old one
    expect_made 2.0 -
    expect_same 2.0.names 1.0.names
    ! cmp -s 2.0.id 1.0.id || fail "both plugins are called the same" 2.0.id
    run symbols ls
    expect out " stale " "made by outliner 1.0, shape " "; here is 2.0"
    # The same release and shape in another file: the map is as good as ever.
    put_release 1.0
    printf x >> release/outliner.so
    expect_made 1.0 store
    expect_same 1.0.names 2.0.names
    ! cmp -s 1.0.id first.id || fail "another file is called the same" 1.0.id
}

# ---- debuginfod servers ----------------------------------------------------------------

# serve WAY FILE: starts a server and writes c.json, with TIMEOUT, to ask it.
serve()
{
    command -v python3 > /dev/null || skip "no python3"
    mkfifo "hold.$1"
    python3 "$source/tests/cli/fetch_server.py" "$1" "$2" "asked.$1" < "hold.$1" \
        > "port.$1" &
    server=$!
    exec 3> "hold.$1"
    while [ ! -s "port.$1" ]; do
        kill -0 $server || fail "the server did not start"
    done
    config "http://127.0.0.1:$(cat "port.$1")" "${3-60s}"
    at_exit() { exec 3>&-; wait $server || :; }
}

config() # URL TIMEOUT
{
    echo "{ \"symbols\": { \"debuginfod\": { \"urls\": [\"$1\"], \"timeout\": \"$2\" } } }" \
        > c.json
}

# nothing_kept: no file of a fetch is left, finished or not.
nothing_kept()
{
    find "$store/debuginfod" -type f -size +0 ! -name '*_s' > left
    [ ! -s left ] || fail "$said: left something" left
}

need_library()
{
    run resolve --config c.json gone.jsonl
    ! grep -q 'install libdebuginfod1' out || skip "no libdebuginfod1"
}

test_a_server_is_asked_last_and_what_it_has_is_kept()
{
    gone
    serve good "$debug"
    need_library
    expect_answer public_api debuginfod -
    run resolve --config c.json gone.jsonl
    expect_answer public_api debuginfod -
    expect_lines asked.good 1
    expect asked.good "/buildid/$id/debuginfo"
    run resolve --config c.json --symbols "$fixtures/buildid" gone.jsonl
    expect_answer public_api symbols-dir -
    expect_lines asked.good 1
}

test_no_server_is_asked_that_the_config_does_not_name()
{
    gone
    serve good "$debug"
    need_library
    rm asked.good
    rm -r "$store"
    echo '{}' > c.json
    export DEBUGINFOD_URLS="http://127.0.0.1:$(cat port.good)"
    run resolve --config c.json gone.jsonl
    expect_answer - - store_never_built
    [ ! -e asked.good ] || fail "$said: asked the server of the environment" asked.good
}

test_what_a_server_has_not_is_remembered()
{
    gone
    serve 404 "$debug"
    need_library
    mkdir -p "$store"
    expect_answer - - not_found
    sort asked.404 | uniq -d > twice
    expect_empty twice
    lines=$(wc -l < asked.404)
    run resolve --config c.json gone.jsonl
    expect_answer - - not_found
    expect_lines asked.404 "$lines"
}

test_a_server_that_refuses_is_told_with_its_answer()
{
    gone
    serve 403 "$debug"
    need_library
    expect_answer - - fetch_refused
    expect out "answers HTTP 403"
    nothing_kept
    run resolve --config c.json gone.jsonl # not taken for one that has nothing
    expect_answer - - fetch_refused
}

test_a_server_that_fails_is_told_with_its_answer()
{
    gone
    serve 500 "$debug"
    need_library
    expect_answer - - fetch_failed
    expect out "answers HTTP 500"
    config http://127.0.0.1:1 60s
    run resolve --config c.json gone.jsonl
    expect_answer - - fetch_failed
    expect out "http://127.0.0.1:1: "
}

test_a_file_of_another_id_is_refused_by_both_ids_and_not_kept()
{
    gone
    serve good "$c_file"
    need_library
    expect_answer - - id_mismatch
    expect out "/buildid/$id/" "has id 214b18e9732c20fc56010ada89a354aef4c1b5fe, wanted $id"
    nothing_kept
}

test_a_transfer_that_breaks_off_leaves_nothing()
{
    gone
    serve broken "$debug"
    need_library
    expect_answer - - fetch_failed
    nothing_kept
}

test_half_a_file_that_looks_like_all_of_it_is_not_kept()
{
    gone
    serve cut "$debug"
    need_library
    expect_answer - - fetch_failed
    expect out "is no whole file"
    nothing_kept
}

test_a_server_that_does_not_answer_costs_the_deadline_once()
{
    gone
    for i in 1 2 3 4 5 6 7 8; do
        sed "s/$id/00$i${id#???}/; s/x64-buildid/gone$i/" gone.jsonl
    done > many.jsonl
    serve slow "$debug" 400ms
    need_library
    run resolve --config c.json many.jsonl
    expect_status 0
    "$json" -e gaps reason < out | sort | uniq -c | tr -s ' ' > got
    echo " 8 fetch_failed" > wanted
    expect_same got wanted
    expect out "no answer within 0.4 s"
}

# The server that distributions run.
test_debuginfod_of_elfutils_answers()
{
    command -v debuginfod > /dev/null || skip "no debuginfod"
    gone
    mkdir served
    cp "$debug" served
    for port in $(awk 'BEGIN { srand(); for (i = 0; i < 5; i++) print int(20000 + rand() * 30000) }'); do
        debuginfod -F -p "$port" -d :memory: served > server.log 2>&1 &
        server=$!
        at_exit() { kill $server; wait $server || :; }
        config "http://127.0.0.1:$port" 60s
        while kill -0 $server 2> /dev/null; do
            run resolve --config c.json gone.jsonl
            ! grep -q 'install libdebuginfod1' out || skip "no libdebuginfod1"
            if grep -q '"route":"debuginfod"' out; then
                expect_answer public_api debuginfod -
                return
            fi
            rm -rf "$store" # it has not looked through the folder yet
        done
        at_exit() { :; }
    done
    fail "debuginfod does not start" server.log
}

the_test
