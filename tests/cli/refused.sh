#!/bin/sh
# refused.sh -- a service whose directory of plugins holds bad ones beside good ones.
. "$(dirname "$0")/lib.sh"

wrong=$build/tests/registry/plugins
orders=$build/examples/orders
bad="wrong-abi wrong-shape no-record text cut writable"

# fill: the directory `mixed`, and c.json, which asks for all that is in it.
fill()
{
    mkdir mixed
    cp "$plugins"/*.so mixed
    cp "$wrong/wrong-abi.so" "$wrong/wrong-shape.so" "$wrong/no-record.so" mixed
    cp "$wrong/good.so" mixed/writable.so
    cp "$plugins/http.so" mixed/sink-writable.so
    chmod g+w mixed/writable.so
    chmod o+w mixed/sink-writable.so
    echo "no plugin at all" > mixed/text.so
    head -c 3000 "$wrong/good.so" > mixed/cut.so
    {
        echo '{ "plugins": { "path": ["mixed"] }, "symbolizers": ['
        printf '    { "use": "%s" },\n' $bad
        echo '    { "use": "elfdwarf" } ],'
        echo '  "sinks": [ { "use": "sink-writable" }, { "use": "file", "path": "reports.jsonl" } ] }'
    } > c.json
    export TRAIL_TEST_MARKER="$work/marker"
    unset BACKTRAIL_PLUGIN_PATH
}

# serve ARGUMENT...: the service, as `run` does with the program.
serve()
{
    status=0
    "$orders" "$@" > out 2> err || status=$?
    said="orders $*"
}

test_a_service_reports_with_names_whatever_lies_beside_its_plugins()
{
    fill
    serve c.json 3 -2 -4
    expect_status 0
    expect_lines reports.jsonl 2
    "$json" -e threads.0.frames function line hidden < reports.jsonl | grep -v capture > frames
    grep -cxE 'complain	[0-9]+	-' frames > got
    grep -cxE 'order_total	[0-9]+	-' frames >> got
    grep -cxE 'main	[0-9]+	-' frames >> got
    printf '2\n2\n2\n' > wanted
    expect_same got wanted
}

test_each_refused_plugin_that_the_config_names_is_told_once()
{
    fill
    serve c.json -2 -4 -5
    expect_lines err 7
    expect err "backtrail: symbolizer wrong-abi: $PWD/mixed/wrong-abi.so: was built for symbolizer ABI 99" \
        "backtrail: symbolizer wrong-shape: $PWD/mixed/wrong-shape.so: " "shape deadbeef" \
        "backtrail: symbolizer no-record: $PWD/mixed/no-record.so: has no identity record" \
        "backtrail: symbolizer text: $PWD/mixed/text.so: is not an ELF file" \
        "backtrail: symbolizer cut: $PWD/mixed/cut.so: " \
        "backtrail: symbolizer writable: $PWD/mixed/writable.so: can be written by others; chmod go-w" \
        "backtrail: sink sink-writable: $PWD/mixed/sink-writable.so: can be written by others"
    for name in $bad; do
        grep -c "symbolizer $name: " err
    done | sort -u > got
    echo 1 > wanted
    expect_same got wanted
}

test_no_code_of_a_refused_plugin_has_run()
{
    fill
    serve c.json -2
    expect_status 0
    [ ! -e "$work/marker" ] || fail "a refused plugin has run" "$work/marker"
    run plugins --json --config c.json
    expect_status 0
    [ ! -e "$work/marker" ] || fail "a refused plugin has run" "$work/marker"
    "$json" state name < out | sed -n 's/^refused	//p' | sort > got
    printf '%s\n' $bad sink-writable | sort > wanted
    expect_same got wanted
    # The marker is one: what is not refused leaves it.
    chmod go-w mixed/writable.so
    mv mixed/writable.so mixed/good.so
    sed 's/"writable"/"good"/' c.json > d.json
    serve d.json -2
    [ -e "$work/marker" ] || fail "the marker tells nothing" err
}

test_a_service_with_a_wrong_config_is_told_of_it()
{
    echo '{ "sinkz": [] }' > wrong.json
    serve wrong.json -2
    expect_status 1
    expect_lines err 1
    expect err "orders: wrong.json:1:3: sinkz: "
}

the_test
