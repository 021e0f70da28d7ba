#!/bin/sh
# schema.sh -- docs/schema is right, and all that is written keeps to it. Runs as the
# scripts of tests/cli do.
. "$(dirname "$0")/../cli/lib.sh"

validate=$source/tests/schema/validate.py

# valid ARGUMENT...: of validate.py; what it finds is shown.
valid()
{
    said="validate.py $*"
    "$PYTHON" "$validate" "$@" > found 2>&1 || fail "$said: exit code $?" found
}

# some_of_each: traces, reports and so on, as users make them.
some_of_each()
{
    echo '{ "sinks": [ { "use": "file", "path": "reports.jsonl" } ] }' > c.json
    "$build/examples/orders" c.json 3 -2 -13 > /dev/null 2>&1 || true
    "$build/tests/live/live_plain" raw > trace.jsonl
    run resolve --style json trace.jsonl
    cp out reports-of-traces.jsonl
    for name in good epochs missing other-id two-threads; do
        trace $name > $name.jsonl
        run resolve --style json $name.jsonl
        cat out >> reports-of-traces.jsonl
    done
    run resolve -e "$fixtures/x64-gcc-dw5-O2" --style json 0x401000 0x1
    cp out addresses.jsonl
    run plugins --json
    cp out plugins.jsonl
    cp "$source/config/example.json" example.json
    run symbols export --exe "$fixtures/x64-gcc-dw5-O2" --id abcd --exe nowhere --out maps
    cp maps/manifest.json manifest.jsonl
    produced_keep_config "$source/config/example.json"
    produced_keep_config "$source/examples/orders/orders.json"
}

test_the_schemas_are_right_themselves()
{
    valid schemas
    expect found "6 schemas"
}

test_what_the_tests_produced_is_valid()
{
    some_of_each
    expect_lines reports.jsonl 2
    produced_at_exit "$program"
    forget_older "$build/produced"
    valid produced "$build/produced"
    cat found
}

# forget_older FOLDER: what was written before the program was built is not of this one.
# The program is linked anew whenever something that writes is.
forget_older()
{
    find "$1" -type f ! -newer "$program" -exec rm -f {} +
}

test_what_an_older_program_produced_does_not_count()
{
    mkdir produced
    echo 'no JSON' > produced/old.jsonl
    touch -r "$program" produced/old.jsonl
    some_of_each
    cat trace.jsonl reports-of-traces.jsonl > produced/new.jsonl
    forget_older produced
    [ ! -e produced/old.jsonl ] || fail "what is older was kept"
    [ -e produced/new.jsonl ] || fail "what is newer was not kept"
}

test_what_is_broken_is_told()
{
    some_of_each
    "$PYTHON" "$source/tests/schema/broken.py" trace.jsonl reports-of-traces.jsonl \
        plugins.jsonl addresses.jsonl example.json manifest.jsonl > found 2>&1 || fail "broken.py" found
    expect found " broken ones told"
}

test_the_options_are_those_of_the_plugins_and_the_loader()
{
    run plugins --json
    "$build/tests/schema/schema_keys" > keys
    valid options out keys
    expect found "6 plugins"
    sed 's/"default":"5"/"default":"6"/' out > other
    ! "$PYTHON" "$validate" options other keys > found || fail "a default" found
    expect found "rotate.keep"
    sed 's/backtrail|json|otlp|sentry/json|xml/' out > other
    ! "$PYTHON" "$validate" options other keys > found || fail "a word" found
    expect found "format: takes json|xml"
    sed 1d keys > fewer
    ! "$PYTHON" "$validate" options out fewer > found || fail "a key" found
    expect found "only the schema knows this key"
}

the_test
