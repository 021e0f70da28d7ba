#!/bin/sh
# outlive.sh -- reports outlive what happens to the program that made them: its end while
# no server is there, and its forks; and what they must not tell, nobody learns.
. "$(dirname "$0")/lib.sh"

orders=$build/examples/orders
agent=

at_exit()
{
    [ -z "$agent" ] || kill -KILL "$agent" 2> /dev/null || true
}

# await COMMAND...: at most 60 s.
await()
{
    tries=600
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "waited in vain for: $*" log err
        sleep 0.1
    done
}

has_lines() # FILE COUNT
{
    [ -f "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]
}

ready()
{
    grep -q "agent: ready" log
}

# start_agent CONFIG
start_agent()
{
    "$program" agent --config "$1" > log 2>&1 &
    agent=$!
    await ready
}

end_agent()
{
    kill "$agent"
    wait "$agent" || fail "the agent ended badly" log
    agent=
}

test_what_no_server_took_before_the_end_is_delivered_by_an_agent_later()
{
    mkdir -p "$BACKTRAIL_STATE/inbox"
    cat > app.json << 'JSON'
{ "symbolizers": [ { "use": "elfdwarf" } ],
  "sinks": [ { "use": "http", "name": "hq", "url": "http://127.0.0.1:9/" } ] }
JSON
    echo '{ "sinks": [ { "use": "file", "path": "arrived.jsonl" } ] }' > agent.json
    status=0 said="orders"
    "$orders" app.json -2 -4 -5 > out 2> err || status=$?
    expect_status 0
    expect err "sink hq: 3 reports not delivered" \
        "sink hq: 3 of them kept for an agent in $BACKTRAIL_STATE/inbox"
    start_agent agent.json
    await has_lines arrived.jsonl 3
    end_agent
    start_agent agent.json # and once only
    end_agent
    "$json" id < arrived.jsonl | sort -u > ids
    expect_lines arrived.jsonl 3
    expect_lines ids 3
    expect arrived.jsonl '"kind":"report"' '"function":"handle_order"'
    [ -z "$(ls "$BACKTRAIL_STATE/inbox")" ] || fail "the inbox is not empty"
}

test_a_child_of_fork_reports_for_itself_and_sends_nothing_of_its_parents()
{
    ! grep -q '^BACKTRAIL_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" ||
        skip "a sanitizer's allocator may stay locked in the child of a process with threads"
    echo '{ "symbolizers": [], "sinks": [ { "use": "file", "path": "r.jsonl" } ] }' > c.json
    status=0 said="forks"
    "$build/tests/cli/cli_forks" c.json 200 > out 2> err || status=$?
    expect_status 0
    "$json" trace.message < r.jsonl | sort | uniq -c | sed 's/^ *//; s/[\t ]*$//' > got
    printf '200 child\n100 parent\n' > wanted
    expect_same got wanted
    "$json" id < r.jsonl | sort -u > ids
    expect_lines ids 300
}

test_no_secret_of_headers_environment_arguments_or_attributes_gets_out()
{
    canary=c4nary-s3cret-0123
    mkdir -p "$BACKTRAIL_STATE/inbox"
    export HQ_TOKEN=$canary UNRELATED=$canary
    cat > c.json << 'JSON'
{ "symbolizers": [], "redact": { "patterns": [ "c4nary[a-z0-9-]*" ] },
  "sinks": [ { "use": "file", "path": "r.jsonl" }, { "use": "stderr" },
    { "use": "http", "name": "hq", "url": "http://me:${env:HQ_TOKEN}@127.0.0.1:9/?k=${env:HQ_TOKEN}",
      "headers": { "Authorization": "Bearer ${env:HQ_TOKEN}" },
      "proxy": "http://me:${env:HQ_TOKEN}@127.0.0.1:9/" } ] }
JSON
    said="orders"
    "$orders" c.json -2 "-3 $canary" > out 2> err || fail "orders failed" err
    trace good | head -n 1 > line
    sed "s/\"complete\"/\"attributes\":{\"api_token\":\"$canary\"},&/" line > one.trace
    sed "s/\"message\":\"/&$canary /; s/ccddeeff/ccddee01/" line > two.trace
    expect one.trace $canary
    expect two.trace $canary
    cp one.trace two.trace "$BACKTRAIL_STATE/inbox/"
    rm r.jsonl
    start_agent c.json
    await has_lines r.jsonl 4 # with what orders left
    run status --json --config c.json
    cp out status.json
    run config show c.json
    cp out shown
    end_agent
    expect r.jsonl '"api_token":"***"' '"redacted":["attributes.api_token"]'
    for file in r.jsonl log err status.json shown; do
        refute $file $canary
    done
}

the_test
