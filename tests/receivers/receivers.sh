#!/bin/sh
# receivers.sh -- a service sends its reports to receivers that we did not write. They
# are npm packages: install.sh beside this puts them where the tests look.
. "$(dirname "$0")/../cli/lib.sh"

here=$source/tests/receivers
packages=$build/receivers
orders=$build/examples/orders
pids=

at_exit()
{
    for pid in $pids; do
        kill -KILL "$pid" 2> /dev/null || true
        wait "$pid" 2> /dev/null || true
    done
}

# await COMMAND...: at most 60 s.
await()
{
    tries=600
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "waited in vain for: $*" server.log err
        sleep 0.1
    done
}

need_package() # NAME
{
    command -v node > /dev/null || skip "node is not installed"
    [ -d "$packages/node_modules/$1" ] ||
        skip "$1 is not installed: tests/receivers/install.sh $build"
}

# start SCRIPT: one of the servers beside this; its port is in `port`.
start()
{
    node "$here/$1" "$packages" "$PWD/port" > got 2> server.log &
    pids="$pids $!"
    await [ -s port ]
    port=$(cat port)
}

# serve MEMBERS ORDER...: the service, with an http sink of those members.
serve()
{
    printf '{ "app": { "name": "orders" }, "symbolizers": [ { "use": "elfdwarf" } ],
        "sinks": [ { "use": "http", "name": "hq", %s } ] }\n' "$1" > c.json
    shift
    status=0 said="orders $*"
    "$orders" c.json "$@" > out 2> err || status=$?
}

test_opentelemetrys_own_classes_read_our_logs()
{
    need_package @opentelemetry/otlp-transformer
    start otlp.mjs
    serve '"url": "http://127.0.0.1:'"$port"'/v1/logs", "format": "otlp"' -2 -13
    await [ -s got ]
    "$json" service type severity queue unknown < got > told
    grep -q "^orders.report.13.eu-1" told || fail "no report" told got
    grep -q "^orders.panic.21" told || fail "no panic" told got
    expect got "order of -13 items cannot be" "handle_order at " "main at "
    expect_empty server.log
    refute err "not delivered"
}

test_spotlight_has_the_stack_of_our_sentry_envelope()
{
    need_package @spotlightjs/spotlight
    port=$((20000 + $$ % 9000))
    node --require "$here/loopback.cjs" \
        "$packages/node_modules/@spotlightjs/spotlight/dist/run.js" server -p $port \
        > server.log 2>&1 &
    pids="$pids $!"
    await curl -s -o /dev/null "http://127.0.0.1:$port/health"
    serve '"url": "http://publickey@127.0.0.1:'"$port"'/1", "format": "sentry"' -2 -13
    refute err "not delivered"
    # What its page shows comes from here; its status says nothing.
    curl -sN --max-time 5 "http://127.0.0.1:$port/stream?client=test" > stream || true
    sed -n 's/^data://p' stream > events
    expect events '"type":"panic"' '"value":"order of -13 items cannot be"' \
        '"function":"handle_order"' '"function":"order_total"' '"instruction_addr":"0x' \
        '"debug_id":"' '"value":"an order of less than nothing"'
}

test_faults_that_pass_cost_nothing_and_are_tried_under_the_same_key()
{
    need_package mockttp
    start faults.mjs
    for path in seconds date; do
        serve '"url": "http://127.0.0.1:'"$port/$path"'"' -2
        refute err "not delivered"
        awk -v path="/$path" '$1 == path { print $2 }' got > keys
        expect_lines keys 2
        [ "$(sort -u keys | wc -l)" -eq 1 ] || fail "$path: two keys" keys
    done
    serve '"url": "http://127.0.0.1:'"$port"'/huge"' -2
    refute err "not delivered"
}

test_faults_that_stay_are_told_and_hold_nobody_up()
{
    need_package mockttp
    start faults.mjs
    while read -r path words; do
        serve '"url": "http://127.0.0.1:'"$port/$path"'", "timeout": "300ms"' -2
        expect_status 0
        expect err "backtrail: sink hq: " "$words"
    done << 'EOF'
slow no answer in time
close no whole answer
reset no whole answer
redirect redirects are not followed
413 1 rejected
400 answered 400: cannot decode
401 check the credentials in headers: who is asking?
EOF
    refute got /elsewhere
}

the_test
