#!/bin/sh
# config.sh -- `backtrail config check` and `backtrail plugins`: what a config says, and
# what there is to load.
. "$(dirname "$0")/lib.sh"

# check TEXT: as the file c.json.
check()
{
    printf '%s' "$1" > c.json
    run config check c.json
}

test_a_config_in_another_directory_is_not_relative_to_itself_twice()
{
    mkdir sub
    ln -s "$plugins" sub/plugins
    printf '%s\n' '{ "plugins": { "path": ["${dir}/plugins"] },
      "symbolizers": [ { "use": "elfdwarf" } ],
      "sinks": [ { "use": "file", "path": "${dir}/r.jsonl" } ] }' > sub/c.json
    run config check sub/c.json
    expect_status 0
    expect out "sub/c.json: ok; symbolizers: 1, sinks: 1"
}

test_a_style_that_a_sink_does_not_take_is_told()
{
    echo '{ "sinks": [ { "use": "http", "url": "http://127.0.0.1:1", "style": "text" } ] }' \
        > c.json
    run config check --plugin-path "$plugins" c.json
    expect_status 1
    expect err "c.json:1:69: sinks[0].style: sink http does not take this style; leave it out"
}

test_the_example_is_right()
{
    cp "$source/config/example.json" example.json
    echo key > site.key
    unset BACKTRAIL_PLUGIN_PATH
    export BACKTRAIL_PLUGINS="$plugins" HQ_TOKEN=token HOME="$work/here"
    run config check example.json
    expect_status 0
    expect_empty err
    echo "example.json: ok; symbolizers: 2, sinks: 3" > wanted
    expect_same out wanted
    run config check --config example.json
    expect_same out wanted
    export BACKTRAIL_CONFIG=example.json
    run config check
    expect_same out wanted
    unset HQ_TOKEN
    run config check example.json
    refused 1 "example.json:25:26: sinks[2].headers.Authorization: " "HQ_TOKEN"
}

test_the_config_in_the_readme_is_right()
{
    awk '/^## The config/ { here = 1 } /^## / && !/config/ { here = 0 }
        here && /^    / { print substr($0, 5) }' "$source/README.md" > readme.json
    expect readme.json '"symbolizers"' '"sinks"' '"http"'
    unset BACKTRAIL_PLUGIN_PATH
    ln -s "$plugins" plugins
    HQ_TOKEN=token
    export HQ_TOKEN
    run config check readme.json
    expect_status 0
    expect_empty err
    expect out "readme.json: ok; symbolizers: 1, sinks: 3"
}

test_every_file_that_the_readme_sends_to_exists()
{
    said=README.md
    awk -F'|' '/^\| you want to/ { here = 1 } !/^\|/ { here = 0 } here && NR > 1 { print $3 }' \
        "$source/README.md" | sed 1,2d | tr ', ' '\n\n' | grep . > files
    [ "$(wc -l < files)" -ge 10 ] || fail "the table of README.md was not found" files
    while read -r file; do
        [ -e "$source/$file" ] || fail "README.md sends to $file, which is not there"
    done < files
}

test_no_file_at_all_is_the_defaults()
{
    run config check
    expect_status 0
    expect_empty err
    expect out "ok; symbolizers: all that are found, sinks: 1"
    check '{}'
    expect_status 0
    expect out "c.json: ok; symbolizers: all that are found, sinks: 1"
}

test_what_a_config_includes_and_the_folder_beside_it_count_with_it()
{
    mkdir -p etc/sites etc/c.json.d
    echo '{ "include": ["base.json", "sites/*.json"],
      "sinks": [ { "name": "hq", "timeout": "1s" } ] }' > etc/c.json
    echo '{ "state": "from-base", "app": { "name": "base" } }' > etc/base.json
    echo '{ "sinks": [ { "use": "http", "name": "hq", "url": "https://h/" } ] }' \
        > etc/sites/1.json
    echo '{ "app": { "name": "drop-in" } }' > etc/c.json.d/10.json
    echo 'no config' > etc/c.json.d/10.json.bak
    run config show etc/c.json
    expect_status 0
    expect_empty err
    grep -qE "^app.name +\"drop-in\" +etc/c.json.d/10.json:1:20$" out || fail "$said" out
    grep -qE "^state +\"$PWD/etc/from-base\" +etc/base.json:1:12$" out || fail "$said" out
    grep -qE '^sinks\[0\].url .* etc/sites/1.json:1:52$' out || fail "$said" out
    grep -qE '^sinks\[0\].timeout +"1s" +etc/c.json:2:45$' out || fail "$said" out
    grep -qE '^sinks\[0\].gzip +true +default$' out || fail "$said" out
    echo '{ "app": { "nane": 1 } }' > etc/c.json.d/20.json
    run config check etc/c.json
    refused 1 'etc/c.json.d/20.json:1:12: app.nane: unknown key; did you mean "name"?'
    rm etc/c.json.d/20.json
    echo '{ "include": ["c.json"] }' > etc/base.json
    run config check etc/c.json
    refused 1 "etc/base.json:1:15: include[0]: etc/c.json: includes itself"
    rm etc/base.json
    run config check etc/c.json
    refused 1 "etc/c.json:1:15: include[0]: etc/base.json: No such file or directory"
}

test_a_variable_sets_a_key_over_the_file()
{
    echo '{ "sinks": [ { "use": "http", "name": "hq", "url": "https://h/" } ] }' > c.json
    run_with config show c.json -- BACKTRAIL_SET_sinks.hq.timeout=7s \
        BACKTRAIL_SET_symbols__debuginfod__timeout=8s BACKTRAIL_SET_state=s
    expect_status 0
    grep -qE '^sinks\[0\].timeout +"7s" +BACKTRAIL_SET_sinks.hq.timeout$' out || fail "$said" out
    grep -qE '^symbols.debuginfod.timeout +"8s" +BACKTRAIL_SET_symbols__debuginfod__timeout$' \
        out || fail "$said" out
    grep -qE "^state +\"$PWD/s\" +BACKTRAIL_SET_state$" out || fail "$said" out
    run_with config check c.json -- BACKTRAIL_SET_app__nane=x
    refused 1 'BACKTRAIL_SET_app__nane: unknown key; did you mean "name"?'
    run_with config check c.json -- BACKTRAIL_SET_sinks.hq.gzip=maybe
    refused 1 'BACKTRAIL_SET_sinks.hq.gzip: "maybe" is not true or false'
    run_with config show -- BACKTRAIL_SET_sinks__stderr__style=json
    expect_status 0
    grep -qE '^sinks\[0\].style +"json" +BACKTRAIL_SET_sinks__stderr__style$' out ||
        fail "$said" out
}

# run_with ARGUMENT... -- NAME=VALUE...: the program with those variables, whose names a
# shell may not know.
run_with()
{
    arguments=
    while [ "$1" != -- ]; do
        arguments="$arguments $1"
        shift
    done
    shift
    status=0
    # shellcheck disable=SC2086 # words are wanted
    env "$@" "$program" $arguments > out 2> err || status=$?
    said="$* backtrail$arguments"
}

test_secrets_are_not_shown()
{
    echo file-secret > key
    echo '{ "app": { "name": "${env:APP}" }, "symbols": {
        "debuginfod": { "urls": ["https://u:url-secret@d/?t=query-secret"] } },
      "sinks": [ { "use": "http", "url": "https://u:url-secret@h/p?k=query-secret",
        "proxy": "http://proxy-secret/", "headers": { "Authorization": "Bearer plain-secret",
          "X-Plain": "header-secret", "X-Env": "${env:SECRET}", "X-File": "${file:key}" } },
        { "use": "file", "path": "${env:SECRET_PATH}/r" } ] }' > c.json
    run_with config show c.json -- SECRET=env-secret APP=orders SECRET_PATH=/var/log
    expect_status 0
    refute out -secret
    expect out '"orders"' "https://***@h/p?***" "https://***@d/?***" '"/var/log/r"'
    grep -qE '^sinks\[0\].headers.X-Env +\*\*\* +c.json:5:' out || fail "$said" out
    run_with config show --json c.json -- SECRET=env-secret APP=orders SECRET_PATH=/var/log
    refute out -secret
    "$json" key value masked source file line < out > got
    printf 'sinks[0].headers.Authorization\t***\ttrue\tfile\tc.json\t4\n' > wanted
    grep -qxF "$(cat wanted)" got || fail "$said" got
    printf 'sinks[0].gzip\ttrue\t-\tdefault\t-\t-\n' > wanted
    grep -qxF "$(cat wanted)" got || fail "$said" got
}

test_show_says_what_is_switched_off_and_what_cannot_be_asked()
{
    echo '{ "sinks": [ { "use": "stderr", "enabled": false }, { "use": "file", "path": "p" },
        { "use": "pigeon" } ], "symbolizers": [] }' > c.json
    run config show c.json
    expect_status 1
    expect_lines err 1
    expect err "backtrail: c.json:2:18: sinks[2].use: no sink pigeon.so in"
    grep -qE '^sinks\[0\].enabled +false +c.json:1:44$' out || fail "$said" out
    grep -qE '^symbolizers +\[\] +c.json:2:47$' out || fail "$said" out
    refute out 'sinks[0].use'
    expect out 'sinks[1].rotate.keep'
}

# Every word that may not be seen, in what the program says of right and wrong configs.
test_no_message_quotes_what_an_expansion_gave()
{
    printf canary-file > key
    for wrong in '"sinks": [ { "use": "stderr", "style": "${env:CANARY}" } ]' \
        '"sinks": [ { "use": "${env:CANARY} x" } ]' \
        '"sinks": [ { "use": "stderr", "full": "${env:CANARY}" } ]' \
        '"sinks": [ { "use": "stderr", "name": "${file:key}" },
                    { "use": "file", "name": "${file:key}", "path": "p" } ]' \
        '"sinks": [ { "use": "http", "url": "${env:CANARY}" } ]' \
        '"sinks": [ { "use": "http", "url": "ftp://u:canary-url@h" } ]' \
        '"sinks": [ { "use": "http", "url": "https://h", "format": "${env:CANARY}" } ]' \
        '"sinks": [ { "use": "http", "url": "https://h", "timeout": "${file:key}" } ]' \
        '"sinks": [ { "use": "http", "url": "https://h",
             "headers": { "A": ["Bearer canary-token"] } } ]' \
        '"symbols": { "debuginfod": { "urls": ["${env:CANARY}"] } }' \
        '"symbols": { "debuginfod": { "timeout": "${env:CANARY}" } }'; do
        echo "{ $wrong }" > c.json
        for words in check show "show --json"; do
            # shellcheck disable=SC2086 # words are wanted
            run_with config $words c.json -- CANARY=canary-env
            expect_status 1
            expect err "c.json:"
            ! grep -i canary- out err > seen || fail "$said: shows a secret" seen c.json
        done
    done
}

test_a_value_that_a_plugin_would_refuse_is_told_by_check()
{
    check '{ "sinks": [ { "use": "http", "url": "ftp://h" } ] }'
    refused 1 "c.json:1:38: sinks[0].url: not a URL; it has to start with https:// or http://"
    check '{ "sinks": [ { "use": "http", "url": "https://h", "format": "xml" } ] }'
    refused 1 'c.json:1:61: sinks[0].format: "xml" cannot be used; write backtrail|json|otlp|sentry'
    check '{ "sinks": [ { "use": "http", "url": "https://h", "timeout": "2h" } ] }'
    refused 1 'c.json:1:62: sinks[0].timeout: "2h" is too much; write 1h or less'
    check '{ "sinks": [ { "use": "file", "path": "r", "rotate": { "keep": 1000 } } ] }'
    refused 1 'c.json:1:64: sinks[0].rotate.keep: 1000 is too much; write 999 or less'
}

test_what_is_no_file_is_not_waited_for()
{
    mkfifo pipe.json
    check '{ "include": ["pipe.json"] }'
    refused 1 "c.json:1:15: include[0]: pipe.json: is not a regular file"
    check '{}'
    mkdir c.json.d
    mv pipe.json c.json.d
    run config check c.json
    refused 1 "c.json.d/pipe.json: is not a regular file"
    rm -r c.json.d
    echo text > c.json.d
    run config check c.json
    refused 1 "c.json.d/: is a file; make it a folder of drop-ins, or rename it"
}

# as_nobody NAME=VALUE... -- ARGUMENT...: a copy of the program that is set-uid root, run
# by somebody else, with those variables.
as_nobody()
{
    status=0
    set -- env BACKTRAIL_STATE=/proc/none "$@" # where nothing can be made
    setpriv --reuid 65534 --regid 65534 --clear-groups "$@" > out 2> err || status=$?
}

test_a_set_uid_program_looks_at_no_variable()
{
    [ "$(id -u)" -eq 0 ] || skip "only root can make a program set-uid root"
    command -v setpriv > /dev/null || skip "there is no setpriv"
    chmod 755 "$work"
    cp "$program" set-uid
    chmod 4755 set-uid
    echo '{ "app": { "name": "file", "version": "${env:APP:-none}" } }' > c.json
    said="a program that is not set-uid"
    as_nobody APP=mine BACKTRAIL_SET_app.name=mine BACKTRAIL_CONFIG="$PWD/c.json" \
        "$program" config show
    [ "$status" -ne 126 ] && [ "$status" -ne 127 ] || skip "nobody cannot run the program"
    expect out BACKTRAIL_SET_app.name '"mine"'
    said="a set-uid program"
    as_nobody APP=mine BACKTRAIL_SET_app.name=mine ./set-uid config show c.json
    ! grep -q '"mine"' out || [ -z "$(findmnt -no OPTIONS -T . | grep nosuid)" ] ||
        skip "set-uid does not count here"
    expect out '"file"' '"none"'
    refute out mine
    as_nobody BACKTRAIL_CONFIG="$PWD/c.json" ./set-uid config show
    refute out '"file"'
    as_nobody BACKTRAIL_PLUGIN_PATH=/planted ./set-uid config show c.json
    refute out /planted
    refute err /planted
}

test_the_example_that_is_made_is_right_and_has_every_key()
{
    run config example
    expect_status 0
    expect_empty err
    mv out made.json
    run config check made.json
    expect_status 0
    expect out "made.json: ok; symbolizers: 3, sinks: 1"
    run plugins --json
    "$json" -e options key < out | sed 's/.*\.//' > options
    [ "$(wc -l < options)" -ge 10 ] || fail "few options" options
    for key in $(cat options) directories store urls timeout include exclude version channels; do
        grep -qE "^ *\"(//)?$key\": " made.json || fail "no $key in the example" made.json
        grep -qE "^ *\"// $key\": \"[a-z]" made.json || fail "$key is not explained" made.json
    done
    sed -e 's/"enabled": false/"enabled": true/' -e 's,"//path": "","path": "r",' \
        -e 's,"//url": "","url": "https://h/",' made.json > on.json
    run config check on.json
    expect_status 0
    expect out "on.json: ok; symbolizers: 3, sinks: 3"
}

test_config_does_what_it_is_told_to_and_nothing_else()
{
    run config
    expect_status 2
    run config sing
    expect_status 2
    expect err "'sing'"
    run config check a b
    expect_status 2
    run config example a
    expect_status 2
    run config check --json
    expect_status 2
    expect err "--json goes with show only"
}

test_one_run_tells_every_mistake_in_the_hosts_keys()
{
    printf '%s' '{ "app": { "nane": "x", "version": 2 },
 "plugins": { "path": "x" }, "sinks": [ { "use": "a b", "style": "loud" } ],
 "symbols": { "debuginfod": { "urls": ["ftp://x"] } } }' > c.json
    run config check c.json
    expect_status 1
    expect_empty out
    expect_lines err 6
    expect err "c.json:1:12: app.nane: " "c.json:1:36: app.version: " \
        "c.json:2:23: plugins.path: " "c.json:2:50: sinks[0].use: " \
        "c.json:2:66: sinks[0].style: " "c.json:3:40: symbols.debuginfod.urls[0]: "
    run config check - < c.json
    expect_lines err 6
    expect err "standard input:1:12: app.nane: "
}

test_each_mistake_has_its_place_and_key()
{
    check '{
  "sinks": [ { "use": "file", "pathh": "x", "path": "y" } ]
}'
    refused 1 "c.json:2:31: sinks[0].pathh: " '"path"'
    check '{ "sinks": [ { "use": "file", "path": "r.jsonl",
               "rotate": { "size": "16MB" } } ] }'
    refused 1 "c.json:2:" "sinks[0].rotate.size: " "16MB" "MiB"
    check '{ "sinks": [ { "use": "http", "url": 7 } ] }'
    refused 1 "c.json:1:38: sinks[0].url: " "text"
    check '{ "sinkz": [] }'
    refused 1 "c.json:1:3: sinkz: " '"sinks"'
    check '{ "app": { "name": 5 } }'
    refused 1 "c.json:1:20: app.name: " "text"
    check '{ "sinks": [], "sinks": [] }'
    refused 1 "c.json:1:16: sinks: "
    check '{ "symbols": { "debuginfod": { "timeout": "5 parsecs" } } }'
    refused 1 "c.json:1:43: symbols.debuginfod.timeout: " "5 parsecs"
    check '{ "symbolizers": [ { "name": "x" } ] }'
    refused 1 "c.json:1:" "symbolizers[0]" "use"
    check '{ "sinks": [ { "use": "stderr", "style": "loud" } ] }'
    refused 1 "c.json:1:42: sinks[0].style: " "loud"
}

test_an_option_that_a_plugin_needs_is_asked_for()
{
    check '{ "sinks": [ { "use": "file" } ] }'
    refused 1 "c.json:1:" "sinks[0]" "path"
    check '{ "sinks": [ { "use": "http" } ] }'
    refused 1 "c.json:1:" "sinks[0]" "url"
}

test_a_plugin_that_does_not_exist_is_named_with_where_it_was_looked_for()
{
    mkdir one two
    echo '{ "plugins": { "path": ["one", "two"] }, "sinks": [ { "use": "pigeon" } ] }' > c.json
    run config check c.json
    refused 1 "c.json:1:62: sinks[0].use: no sink pigeon.so in $PWD/one, $PWD/two"
    echo '{ "symbolizers": [ { "use": "crystal" } ] }' > c.json
    run config check --plugin-path "one:$plugins" c.json
    refused 1 "c.json:1:29: symbolizers[0].use: no symbolizer crystal.so in one, $plugins"
    echo '{ "symbolizers": [ { "use": "stderr" } ] }' > c.json
    run config check c.json
    refused 1 "c.json:1:29: symbolizers[0].use: stderr is a sink, not a symbolizer"
    check '{ "sinks": [ { "use": "stdderr" } ] }'
    refused 1 "c.json:1:23: sinks[0].use: " 'did you mean "stderr"?'
}

test_one_run_tells_the_mistakes_of_all_entries()
{
    check '{ "symbolizers": [ { "use": "elfdwarf", "speed": 11 },
                   { "use": "crystal" } ],
  "sinks": [ { "use": "stderr" },
             { "use": "file", "path": true },
             { "use": "pigeon" },
             { "use": "http", "url": "http://localhost", "timeout": "soon" } ] }'
    expect_status 1
    expect_empty out
    expect_lines err 5
    expect err "c.json:1:41: symbolizers[0].speed: " "symbolizers[1].use: no symbolizer crystal.so" \
        "c.json:4:39: sinks[1].path: " "sinks[2].use: no sink pigeon.so" \
        "c.json:6:69: sinks[3].timeout: "
}

test_input_that_is_no_config_has_one_line()
{
    run config check nowhere.json
    refused 1 "nowhere.json: No such file"
    mkdir -p directory
    run config check directory
    refused 1 "directory: is a directory"
    check ''
    refused 1 "c.json: the file is empty" "{}"
    awk 'BEGIN { for (i = 0; i < 10240; i++) { printf "%1024s", "" } }' | tr ' ' '[' > c.json
    run config check c.json
    refused 1 "c.json: " "larger than 4194304 bytes"
    { printf '{ "app": ' && head -c 1000000 c.json; } > d.json
    run config check d.json
    refused 1 "d.json:1:" "32"
    check '{ "sinks": [ { "use": "file", "path": "x", "rotate": { "keep": 9223372036854775808 } } ] }'
    refused 1 "c.json:1:" "9223372036854775808"
    printf '{ "app": { "name": "\377" } }' > c.json
    run config check c.json
    refused 1 "c.json:1:" "UTF-8"
    check '{ "app": '
    refused 1 "c.json:"
    check '[]'
    refused 1 "c.json:1:1: " "object"
}

test_a_config_that_is_wrong_stops_the_verbs_that_read_it()
{
    echo '{ "sinkz": [] }' > c.json
    for words in plugins "resolve -e $fixtures/x64-gcc-dw5-O2 0x401000"; do
        # shellcheck disable=SC2086 # words are wanted
        run $words --config c.json
        refused 1 "c.json:1:3: sinkz: "
    done
    echo '{ "symbolizers": [ { "use": "elfdwarf", "speed": 11 } ] }' > c.json
    run resolve --config c.json -e "$fixtures/x64-gcc-dw5-O2" 0x401000
    refused 1 "c.json:1:41: symbolizers[0].speed: "
}

test_plugins_lists_what_is_there_with_options_and_defaults()
{
    run plugins
    expect_status 0
    expect_empty err
    for row in "symbolizer +elfdwarf" "symbolizer +wasi-null" "sink +file" "sink +http" \
        "sink +stderr"; do
        grep -qE "^$row +[0-9.]+ +(loaded|built in|built-in) +" out || fail "$said: no $row" out
    done
    grep -qE '^    path +path .*\(required\)$' out || fail "$said: no path" out
    grep -qE '^    rotate.keep +count .*\(default [0-9]+, at most 999\)$' out || fail "$said: no keep" out
    grep -qE '^    gzip +true\|false .*\(default true\)$' out || fail "$said: no gzip" out
}

test_plugins_as_json_says_the_same()
{
    run plugins --json
    expect_status 0
    "$json" kind name state path abi < out > got
    printf '%s\t' symbolizer elfdwarf loaded "$plugins/elfdwarf.so" > wanted
    grep -qxF "$(cat wanted)1" got || fail "$said" got
    "$json" sha256 path < out | awk '$2 != "-" { print $1 "  " $2 }' > sums
    expect sums "$plugins/http.so"
    sha256sum -c sums > /dev/null || fail "$said: wrong hashes" sums
    grep '"name":"file"' out | "$json" -e options key type required default > got
    grep -qxF 'path	path	true	-' got || fail "$said" got
    grep -qE '^rotate.keep	count	false	[0-9]+$' got || fail "$said" got
}

test_plugins_says_what_is_found_twice_or_refused_and_why()
{
    mkdir first
    cp "$plugins/wasi-null.so" first
    echo "no plugin" > first/text.so
    run plugins --json --plugin-path "first:$plugins:nowhere"
    expect_status 0
    "$json" path state reason < out > got
    grep -qE '^first/text.so	refused	first/text.so: is not an ELF file' got || fail "$said" got
    grep -qE '^first/wasi-null.so	loaded	-$' got || fail "$said" got
    grep -qE "^$plugins/wasi-null.so	shadowed	.*first/wasi-null.so" got || fail "$said" got
    run plugins --plugin-path first
    expect_status 0
    expect out "    first/text.so: is not an ELF file"
}

the_test
