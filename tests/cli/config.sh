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

test_what_this_version_does_not_use_is_said_to_be_unused()
{
    echo '{ "symbols": { "store": "s", "debuginfod": { "urls": ["http://127.0.0.1:1"] } } }' \
        > c.json
    run config check --plugin-path "$plugins" c.json
    expect_status 0
    expect out "c.json: note: symbols.store is not used by this version"
    expect out "c.json: note: symbols.debuginfod is not used by this version"
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
    refused 1 "c.json:1:53: sinks[0]: no sink pigeon.so in $PWD/one, $PWD/two"
    echo '{ "symbolizers": [ { "use": "crystal" } ] }' > c.json
    run config check --plugin-path "one:$plugins" c.json
    refused 1 "c.json:1:20: symbolizers[0]: no symbolizer crystal.so in one, $plugins"
    echo '{ "symbolizers": [ { "use": "stderr" } ] }' > c.json
    run config check c.json
    refused 1 "c.json:1:20: symbolizers[0]: stderr is a sink, not a symbolizer"
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
    expect err "c.json:1:41: symbolizers[0].speed: " "symbolizers[1]: no symbolizer crystal.so" \
        "c.json:4:39: sinks[1].path: " "sinks[2]: no sink pigeon.so" \
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
    grep -qE '^    rotate.keep +count .*\(default [0-9]+\)$' out || fail "$said: no keep" out
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
