#!/bin/sh
# agent.sh -- the agent as its users see it: what goes in, what comes out, what is told.
. "$(dirname "$0")/lib.sh"

talk=$build/tests/daemon/daemon_talk
agents=

at_exit()
{
    for agent in $agents; do
        kill -KILL "$agent" 2> /dev/null || :
    done
    [ "${AGENT_INSIDE-}" != yes ] || umount -l "$work/here/state" || :
}

# await COMMAND...: at most 20 s.
await()
{
    tries=200
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "waited in vain for: $*" log err
        sleep 0.1
    done
}

holds() # FILE TEXT
{
    grep -qF -- "$2" "$1" 2> /dev/null
}

has_lines() # FILE COUNT
{
    [ -f "$1" ] && [ "$(wc -l < "$1")" -ge "$2" ]
}

# start [CONFIG]: an agent that is ready; its number is in $agent.
start()
{
    : > log
    "$program" agent --config "${1:-agent.json}" >> log 2>&1 &
    agent=$!
    agents="$agents $agent"
    await ready_or_gone
    holds log "agent: ready" || fail "the agent did not start" log
}

ready_or_gone()
{
    holds log "agent: ready" || ! kill -0 "$agent" 2> /dev/null
}

# end: as a service manager does; leaves its exit code in $status.
end()
{
    kill -TERM "$agent"
    status=0
    wait "$agent" || status=$?
    said="the agent"
}

# config [MEMBER...]: a config whose only sink is the file out.jsonl.
config()
{
    cat > agent.json << JSON
{ "state": "state", "sinks": [ { "use": "file", "path": "out.jsonl" } ]$* }
JSON
}

# one N: a raw trace of its own id, which ends in the digit N.
one()
{
    trace good | head -n 1 | sed "s/ccddeeff/ccddee0$1/"
}

# crash N: the same, of a process that died.
crash()
{
    one "$1" | sed 's/"why":"request","channel":"report"/"why":"crash","channel":"crash"/'
}

# drop N [KIND]: into the inbox, as producers do.
drop()
{
    "${2:-one}" "$1" > "state/inbox/.$1.part"
    mv "state/inbox/.$1.part" "state/inbox/$1.trace"
}

is_empty() # DIRECTORY
{
    [ -z "$(ls "$1")" ]
}

# ---- from end to end ---------------------------------------------------------------

test_a_trace_in_the_inbox_is_resolved_recorded_and_delivered()
{
    config
    start
    drop 1
    await has_lines out.jsonl 1
    expect out.jsonl '"kind":"report"' '"function":"public_api"'
    is_empty state/inbox || fail "the inbox is not empty" log
    run why --config agent.json 00112233445566778899aabbccddee01
    expect_status 0
    expect out "report, revision 1" "public_api at deep.c:19" "named by elfdwarf" \
        "found by embedded" "file, report, revision 1: delivered, 1 try" "taken"
    end
    expect_status 0
}

test_why_takes_the_beginning_of_an_id_and_says_when_it_is_not_enough()
{
    config
    start
    drop 1
    drop 2
    await has_lines out.jsonl 2
    run why --config agent.json 00112233
    refused 1 "several ids begin so"
    run why --config agent.json ffff
    refused 1 "is not in the record"
    run why --config agent.json zz
    refused 1 "is no id"
}

test_a_crash_is_of_its_class_and_its_signal_is_told()
{
    config
    start
    crash 1 | sed 's/"message":/"signal":{"number":11,"name":"SIGSEGV"},"message":/' \
        > state/inbox/.1.part
    mv state/inbox/.1.part state/inbox/1.trace
    await has_lines out.jsonl 1
    run log --config agent.json --channel crash
    expect_lines out 1
    expect out SIGSEGV crash
    run status --config agent.json --json
    [ "$("$json" record.crashes < out)" -eq 2 ] || fail "trace and report are no crashes" out
}

test_a_trace_that_waited_while_no_agent_ran_is_taken_at_the_start()
{
    config
    mkdir -p state/inbox
    chmod 700 state/inbox
    drop 1
    drop 2
    start
    await has_lines out.jsonl 2
}

test_what_is_brought_twice_is_delivered_once()
{
    config
    start
    drop 1
    await has_lines out.jsonl 1
    drop 1
    await is_empty state/inbox
    drop 2
    await has_lines out.jsonl 2
    end
    expect_lines out.jsonl 2
}

# ---- what cannot be used -----------------------------------------------------------

test_what_cannot_be_used_is_kept_with_the_reason_and_counted()
{
    config
    start
    echo nonsense > state/inbox/a.trace
    : > state/inbox/b.trace
    ln -s "$PWD/agent.json" state/inbox/c.trace
    mkfifo state/inbox/d.trace
    mkdir state/inbox/e.trace
    one 1 > kept
    ln kept state/inbox/f.trace
    await is_empty state/inbox
    cat state/rejected/* > rejected
    expect rejected "expected near 'nonsense'" "is empty" "is a symbolic link" \
        "is not a regular file" "has several names"
    refute rejected '"sinks"'
    run status --config agent.json --json
    [ "$("$json" inputs.inbox.rejected < out)" -eq 6 ] || fail "not 6 rejected" out
    [ -f kept ] || fail "the other name is gone"
}

test_a_file_larger_than_any_trace_is_not_read_whole()
{
    config
    start
    truncate -s 3G state/inbox/big.trace
    await is_empty state/inbox
    cat state/rejected/* > rejected
    expect rejected "is larger than any report"
    [ "$(wc -c < rejected)" -lt 100000 ] || fail "all of it was kept"
}

test_a_trace_that_was_cut_off_is_closed_and_not_rejected()
{
    config
    start
    one 1 > whole
    head -c $(($(wc -c < whole) - 40)) whole > state/inbox/.1.part
    mv state/inbox/.1.part state/inbox/1.trace
    await has_lines out.jsonl 1
    expect out.jsonl '"cut":true'
    is_empty state/rejected || fail "it was rejected" log
}

# ---- other ways in -----------------------------------------------------------------

test_the_socket_takes_lines_and_answers_each()
{
    config
    start
    { one 1; one 2; echo '{ "no": "trace" }'; one 1; } > lines
    "$talk" "$PWD/state/agent.sock" < lines > answers
    expect answers '{"id":"00112233445566778899aabbccddee01","fate":"taken"}' \
        '{"id":"00112233445566778899aabbccddee02","fate":"taken"}' '"fate":"rejected"' \
        '"fate":"repeated"'
    expect_lines answers 4
    await has_lines out.jsonl 2
}

test_standard_input_is_taken_if_the_config_says_so()
{
    config ', "agent": { "stdin": true }'
    { one 1; one 2; } > lines
    "$program" agent --config agent.json < lines > log 2>&1 &
    agent=$!
    agents=$agent
    await has_lines out.jsonl 2
    end
    expect_status 0
}

# port: of the agent's HTTP input.
port()
{
    sed -n 's/.*http: listens on .* port //p' log | tail -n 1
}

# post PATH FILE [HEADER]
post()
{
    {
        printf 'POST %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n' "$1"
        printf 'Content-Length: %s\r\n%s\r\n' "$(wc -c < "$2")" "${3:+$3
}"
        cat "$2"
    } > request
    "$talk" "$(port)" < request > answer
}

test_http_takes_traces_and_answers_when_they_are_in_the_record()
{
    config ', "agent": { "http": { "listen": "127.0.0.1:0" } }'
    start
    { one 1; echo broken; one 2; } > lines
    post /traces lines
    expect answer "HTTP/1.1 200" '"taken":2' '"rejected":1' '"line":2'
    gzip -c lines > lines.gz
    post /traces lines.gz "Content-Encoding: gzip"
    expect answer "HTTP/1.1 200" '"repeated":2'
    head -c 100 lines.gz > cut.gz
    post /traces cut.gz "Content-Encoding: gzip"
    expect answer "HTTP/1.1 400" "ends too early"
    echo broken > wrong
    post /traces wrong
    expect answer "HTTP/1.1 422"
    post /elsewhere lines
    expect answer "HTTP/1.1 404"
    await has_lines out.jsonl 2
}

test_http_lets_nobody_in_without_a_token()
{
    echo 0123456789abcdef > tokens
    chmod 600 tokens
    config ', "agent": { "http": { "listen": "127.0.0.1:0", "tokens": "tokens" } }'
    start
    one 1 > lines
    post /traces lines
    expect answer "HTTP/1.1 401"
    post /traces lines "Authorization: Bearer 0123456789abcdee"
    expect answer "HTTP/1.1 401"
    post /traces lines "Authorization: Bearer 0123456789abcdef"
    expect answer "HTTP/1.1 200"
    run status --config agent.json --json
    [ "$("$json" http_unauthorized < out)" -eq 2 ] || fail "not counted" out
    refute log 0123456789abcde
    chmod 644 tokens
    run reload --config agent.json
    refused 1 "can be read by everybody"
}

test_http_is_not_offered_to_other_machines_without_tokens()
{
    config ', "agent": { "http": { "listen": "0.0.0.0:0" } }'
    run agent --config agent.json
    expect_status 1
    expect err "can be reached from other machines"
}

test_http_has_bounds_for_size_and_rate()
{
    config ', "agent": { "http": { "listen": "127.0.0.1:0", "body": "4KiB", "rate": 2 } }'
    start
    head -c 5000 /dev/zero | tr '\0' '\n' > large
    post /traces large
    expect answer "HTTP/1.1 413"
    gzip -c large > large.gz
    post /traces large.gz "Content-Encoding: gzip"
    expect answer "HTTP/1.1 413"
    one 1 > lines
    refused=0
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        post /traces lines
        ! holds answer "HTTP/1.1 429" || refused=$((refused + 1))
    done
    [ $refused -gt 0 ] || fail "ten at once were let in" answer
    expect log "agent: ready"
}

test_an_agent_delivers_to_another_which_has_the_symbols()
{
    mkdir far
    cat > far/agent.json << JSON
{ "state": "state", "agent": { "http": { "listen": "127.0.0.1:0" } },
  "sinks": [ { "use": "file", "path": "out.jsonl" } ] }
JSON
    start far/agent.json
    far=$(port)
    cat > agent.json << JSON
{ "state": "state", "agent": { "resolve": false }, "sinks": [
  { "use": "http", "name": "far", "url": "http://127.0.0.1:$far/traces" } ] }
JSON
    start
    drop 1
    await has_lines far/out.jsonl 1
    expect far/out.jsonl '"function":"public_api"'
    run why --config agent.json 0011
    expect out "far, trace: delivered"
}

test_a_crash_goes_over_the_network_to_a_server()
{
    mkdir far
    cat > far/agent.json << JSON
{ "state": "state", "agent": { "http": { "listen": "127.0.0.1:0" } },
  "sinks": [ { "use": "file", "path": "out.jsonl", "channels": [ "crash" ] } ] }
JSON
    start far/agent.json
    cat > agent.json << JSON
{ "state": "state", "sinks": [
  { "use": "http", "name": "far", "url": "http://127.0.0.1:$(port)/traces" } ] }
JSON
    start
    drop 1 crash
    await has_lines far/out.jsonl 1
    expect far/out.jsonl '"why":"crash"' '"function":"public_api"'
    run why --config agent.json 0011
    expect out "far, report, revision 1: delivered, 1 try"
}

test_no_secret_reaches_a_log_a_status_or_another_user()
{
    canary=canary4f1c9e2b7a60
    export HQ_TOKEN=$canary
    echo "$canary" > tokens
    chmod 600 tokens
    mkdir far
    cat > far/agent.json << JSON
{ "state": "state", "agent": { "http": { "listen": "127.0.0.1:0",
  "tokens": "../tokens" } }, "sinks": [ { "use": "file", "path": "out.jsonl" } ] }
JSON
    start far/agent.json
    cat log > logs
    cat > agent.json << JSON
{ "state": "state", "sinks": [
  { "use": "http", "name": "far", "url": "http://127.0.0.1:$(port)/traces",
    "headers": { "Authorization": "Bearer \${env:HQ_TOKEN}" } } ] }
JSON
    start
    drop 1
    await has_lines far/out.jsonl 1
    echo "# $canary is no token any more" > tokens
    echo "0123456789abcdef" >> tokens
    run reload --config far/agent.json
    drop 2
    await is_held
    for verb in status info 'status --json' 'status --prometheus' 'why 00112233' log queue\ ls; do
        # shellcheck disable=SC2086 # the words of it
        "$program" $verb --config agent.json >> told 2>&1 || :
        # shellcheck disable=SC2086
        "$program" $verb --config far/agent.json >> told 2>&1 || :
    done
    cat log >> logs
    for file in told logs far/out.jsonl; do
        refute $file $canary
    done
    ! grep -rqF $canary state far || fail "it is kept in the state"
}

is_held()
{
    "$program" status --config agent.json > held
    grep -q "far: held" held
}

test_symbol_files_are_pushed_to_the_store_of_a_server()
{
    echo 0123456789abcdef > tokens
    chmod 600 tokens
    config ', "symbols": { "store": "store" }, "agent": { "http": {
        "listen": "127.0.0.1:0", "tokens": "tokens", "symbols": true } }'
    start
    run symbols push "$fixtures/x64-gcc-dw5-O2" --url "http://127.0.0.1:$(port)/" \
        --token-file tokens
    expect_status 0
    expect out ".exe  added"
    [ "$(ls store)" = "$(cut -d ' ' -f 1 out)" ] || fail "is not in the store" out
    run symbols push agent.json --url "http://127.0.0.1:$(port)" --token-file tokens
    refused 1 "agent.json: the server answered 422" "ELF"
    run symbols push "$fixtures/x64-gcc-dw5-O2" --url "http://127.0.0.1:$(port)"
    refused 1 "401" "--token-file"
}

test_an_app_has_a_quota_and_what_is_over_is_counted()
{
    config ', "agent": { "quota": { "rate": 3 } }'
    start
    for number in 1 2 3 4 5 6 7 8 9; do
        one $number
    done > lines
    for number in 1 2 3 4 5 6 7 8 9; do
        sed "s/ccddee0./ccddeeb$number/" lines | sed -n "${number}p"
    done > others
    cat others >> lines
    "$talk" "$PWD/state/agent.sock" < lines > answers
    [ "$(grep -c '"fate":"counted"' answers)" -ge 6 ] || fail "all were taken" answers
    await has_lines out.jsonl "$(grep -c '"fate":"taken"' answers)"
    run status --config agent.json --json
    counted=$(grep -c '"fate":"counted"' answers)
    [ "$("$json" record.counted < out)" -eq "$counted" ] || fail "not counted" out
}

test_of_equal_traces_the_first_are_kept_and_the_total_is_told()
{
    config ', "agent": { "kinds": { "full": 2 } }'
    start
    for number in 1 2 3 4 5 6 7 8 9; do
        one $number
    done > lines
    "$talk" "$PWD/state/agent.sock" < lines > answers
    [ "$(grep -c '"fate":"taken"' answers)" -eq 2 ] || fail "not two were kept" answers
    await has_lines out.jsonl 2
    end
    grep '"kind":"total"' out.jsonl > total || fail "no total was told" out.jsonl
    expect total '"count":9' '"full":2'
}

# ---- killed ------------------------------------------------------------------------

# many N: that many raw traces, each with an id of its own, as files of the folder ready.
many()
{
    mkdir -p ready
    one 1 > pattern
    awk -v count="$1" '{ for (i = 0; i < count; i++) {
            line = $0
            sub(/ccddee01/, sprintf("%08x", i), line)
            print line > sprintf("ready/%08x.trace", i)
            close(sprintf("ready/%08x.trace", i)) } }' pattern
}

# killed TIMES COUNT: an agent is killed that often while as many traces come. Of what
# reached the sink, an id that came before is the receiver's to drop.
killed()
{
    kills=$1 times=$1 count=$2
    config
    mkdir -p state/inbox
    chmod 700 state/inbox
    many "$count"
    (find ready -type f -print0 | xargs -0 -n 10 mv -t state/inbox 2> /dev/null) &
    bringing=$!
    agents=$bringing
    while [ "$times" -gt 0 ]; do
        "$program" agent --config agent.json > log 2>&1 &
        agent=$!
        agents="$agents $agent"
        sleep "0.$(awk -v seed="$times" 'BEGIN { srand(seed); printf "%03d", rand() * 400 }')"
        kill -KILL $agent || fail "the agent ended by itself" log
        wait $agent 2> /dev/null || :
        times=$((times - 1))
    done
    start
    wait $bringing || : # mv looks at what it has moved, which may be gone
    is_empty ready || fail "not all was brought"
    await is_empty state/inbox
    await all_delivered
    end
    grep -v '"kind":"report"' out.jsonl > others || :
    refute others '"kind":"dropped"'
    [ ! -d state/record/quarantine ] || is_empty state/record/quarantine ||
        fail "damage" log
    echo "$kills kills: $count brought, $(wc -l < out.jsonl) lines, $(distinct) ids"
}

distinct()
{
    grep -o '"kind":"report","id":"[0-9a-f]*"' out.jsonl | sort -u | wc -l
}

all_delivered()
{
    [ "$(distinct)" -eq "$count" ]
}

test_nothing_is_lost_when_the_agent_is_killed()
{
    killed 8 400
}

test_nothing_is_lost_in_two_hundred_kills_long()
{
    killed 200 4000
}

# ---- a full disk -------------------------------------------------------------------

test_a_full_disk_loses_nothing_and_is_left_behind_by_itself()
{
    if [ "${AGENT_INSIDE-}" = yes ]; then
        full_disk
        return
    fi
    [ "$(id -u)" -eq 0 ] || skip "only root can make a small file system"
    unshare -m true 2> /dev/null || skip "no namespace of mounts can be made here"
    status=0
    AGENT_INSIDE=yes unshare -m sh "$source/tests/cli/agent.sh" "$sentence" "$program" \
        "$plugins" "$build" "$source" || status=$?
    exit $status
}

# In a mount namespace of its own: the state on 16 MiB, all of which somebody else takes.
full_disk()
{
    count=300
    mkdir state inbox
    mount -t tmpfs -o size=16m none state 2> mounting || skip "$(cat mounting)"
    config ', "agent": { "inbox": "inbox", "record": { "bytes": "8MiB" } }'
    start
    cat /dev/zero > state/filler 2> filling || :
    many $count
    find ready -type f -print0 | xargs -0 mv -t inbox 2> /dev/null || :
    await is_full
    [ -n "$(ls inbox)" ] || fail "all was taken although there is no room" log
    rm state/filler
    await is_empty inbox
    await all_delivered
    end
    expect_status 0
}

is_full()
{
    "$program" status --config agent.json > full
    grep -q "THE DISK IS FULL" full
}

# ---- operating it ------------------------------------------------------------------

test_a_second_agent_of_a_state_directory_is_refused_by_name()
{
    config
    start
    run agent --config agent.json
    expect_status 1
    expect err "an agent runs on this state directory already, process $agent"
}

test_sigterm_delivers_what_was_taken_before_it_ends()
{
    config
    start
    for number in 1 2 3 4 5 6 7 8 9; do
        drop $number
    done
    await is_empty state/inbox
    end
    expect_status 0
    expect_lines out.jsonl 9
    [ ! -S state/control.sock ] || fail "the control socket is still there"
}

test_under_load_sigterm_leaves_what_is_not_delivered_in_the_record()
{
    count=300
    config
    start
    many $count
    for file in ready/*; do
        cat "$file"
    done > lines
    "$talk" "$PWD/state/agent.sock" < lines > answers &
    talking=$!
    agents="$agents $talking"
    await has_lines answers 20
    end
    expect_status 0
    wait $talking || :
    taken=$(grep -c '"fate":"taken"' answers)
    start
    count=$taken
    await delivered_at_least
}

delivered_at_least()
{
    [ "$(distinct)" -ge "$count" ]
}

test_a_second_sigterm_ends_it_at_once_and_nothing_is_lost()
{
    cat > agent.json << JSON
{ "state": "state", "agent": { "drain": "1h" }, "sinks": [
  { "use": "http", "name": "down", "url": "http://127.0.0.1:9/" } ] }
JSON
    start
    drop 1 crash
    await is_empty state/inbox
    kill -TERM "$agent"
    await holds log "agent: ends"
    end
    expect_status 1
    config
    start
    await has_lines out.jsonl 1
}

test_a_reload_takes_what_is_right_and_refuses_what_is_wrong()
{
    config
    start
    drop 1
    await has_lines out.jsonl 1
    sed 's/out.jsonl/second.jsonl/' agent.json > next
    mv next agent.json
    run reload --config agent.json
    expect_status 0
    drop 2
    await has_lines second.jsonl 1
    cp agent.json good.json
    sed 's/"path"/"pth"/' good.json > agent.json
    run reload --config good.json
    refused 1 "agent.json:1:" "pth"
    drop 3
    await has_lines second.jsonl 2
    run status --config good.json
    expect out "the last reload failed"
}

test_sighup_reloads()
{
    config
    start
    sed 's/out.jsonl/second.jsonl/' agent.json > next
    mv next agent.json
    kill -HUP "$agent"
    await holds log "reload: done"
    drop 1
    await has_lines second.jsonl 1
}

test_a_reload_does_not_move_the_state()
{
    config
    start
    cp agent.json good.json
    sed 's/"state": "state"/"state": "other"/' good.json > agent.json
    run reload --config good.json
    refused 1 "cannot become" "restart"
}

test_reloads_that_are_asked_for_at_once_are_all_answered()
{
    config
    start
    for number in 1 2 3 4 5 6; do
        "$program" reload --config agent.json > "answer.$number" 2>&1 &
        agents="$agents $!"
    done
    for number in 1 2 3 4 5 6; do
        await holds "answer.$number" reloaded
    done
    run status --config agent.json --json
    [ "$("$json" reload.done < out)" -le 6 ] || fail "more reloads than were asked for" out
    [ "$("$json" reload.failed < out)" -eq 0 ] || fail "a reload failed" out
}

test_a_channel_that_is_off_is_silent_in_the_stream_and_not_in_the_record()
{
    config
    start
    run channel --config agent.json report --off
    expect out "report: off"
    drop 1
    await is_empty state/inbox
    drop 2 crash
    await has_lines out.jsonl 1
    refute out.jsonl ccddee01
    run log --config agent.json
    expect_lines out 2
    run why --config agent.json 00112233445566778899aabbccddee01
    expect out "report, revision 1: silenced"
    run channel --config agent.json report --on
    drop 3
    await has_lines out.jsonl 2
    refute out.jsonl ccddee01
}

test_a_channel_is_silenced_for_one_sink_and_stays_so_over_a_restart()
{
    cat > agent.json << JSON
{ "state": "state", "sinks": [ { "use": "file", "path": "out.jsonl" },
  { "use": "file", "name": "second", "path": "second.jsonl" } ] }
JSON
    start
    run channel --config agent.json report --sink second --off
    expect_status 0
    end
    start
    drop 1
    await has_lines out.jsonl 1
    drop 2 crash
    await has_lines second.jsonl 1
    refute second.jsonl ccddee01
    run channel --config agent.json report --sink thrd --off
    refused 1 "no sink is called 'thrd'" "second"
}

test_log_and_why_read_the_record_while_no_agent_runs()
{
    config
    start
    drop 1
    await has_lines out.jsonl 1
    end
    run log --config agent.json
    expect_lines out 1
    run why --config agent.json 0011
    expect out "delivered, 1 try"
    run status --config agent.json
    refused 1 "no agent runs there"
}

test_log_follows_what_comes()
{
    config
    start
    "$program" log --config agent.json --follow > followed 2> err &
    agents="$agents $!"
    drop 1
    await has_lines followed 1
    drop 2
    await has_lines followed 2
}

test_info_is_for_every_local_user_and_the_rest_is_not()
{
    [ "$(id -u)" -eq 0 ] || skip "only root can be another user"
    config
    start
    chmod 711 "$work" "$work/here"
    as_nobody() { setpriv --reuid 65534 --clear-groups --regid 65534 "$@"; }
    command -v setpriv > /dev/null || skip "no setpriv"
    echo '{"ask":"info"}' | as_nobody "$talk" "$PWD/state/control.sock" > answer
    expect answer '"version"' '"uptime_s"' '"end":true'
    for ask in status log reload why queue channel; do
        echo "{\"ask\":\"$ask\"}" | as_nobody "$talk" "$PWD/state/control.sock" > answer
        expect answer "only for root and the agent's own user"
    done
    one 1 | as_nobody "$talk" "$PWD/state/agent.sock" > answer
    expect answer '"fate":"taken"'
    run why --config agent.json 0011
    expect out "user 65534"
}

test_the_control_socket_says_what_is_wrong_with_a_request()
{
    config
    start
    for request in nonsense '[]' '{}' '{"ask":"tea"}' '{"ask":"why"}' '{"ask":"channel"}' \
        '{"ask":"queue","do":"drop"}'; do
        echo "$request" | "$talk" "$PWD/state/control.sock" > answer
        expect answer '"error"'
    done
    run info --config agent.json
    expect_status 0
}

test_dead_letters_are_listed_tried_again_and_dropped()
{
    mkdir far
    cat > far/agent.json << JSON
{ "state": "state", "agent": { "http": { "listen": "127.0.0.1:0", "body": "64B" } },
  "sinks": [] }
JSON
    start far/agent.json
    far=$(port)
    cat > agent.json << JSON
{ "state": "state", "sinks": [
  { "use": "http", "name": "far", "url": "http://127.0.0.1:$far/traces" } ] }
JSON
    start
    drop 1
    await is_dead
    run queue ls --config agent.json --dead
    expect out 00112233445566778899aabbccddee01 "far" "dead:" 413
    run queue export --config agent.json --dead --sink far
    expect out '"kind":"report"'
    run queue drop --config agent.json --dead --sink far
    expect out "1 dropped"
    run queue ls --config agent.json --dead
    refute out 00112233445566778899aabbccddee01 # that one was dropped is told to the sink
}

is_dead()
{
    "$program" queue ls --config agent.json --dead > dead 2>&1
    [ -s dead ]
}

test_status_is_told_to_prometheus()
{
    config
    start
    drop 1
    await has_lines out.jsonl 1
    run status --config agent.json --prometheus
    expect out 'backtrail_items_total{source="inbox",fate="taken"} 1' \
        'backtrail_sink_queued{sink="file"} 0' '# TYPE backtrail_dropped_total counter' \
        'backtrail_dropped_total{reason="age"} 0'
}

test_a_service_manager_is_told_when_it_is_ready()
{
    command -v python3 > /dev/null || skip "no python3"
    config
    python3 -c 'if True:
        import socket
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind("notify")
        open("bound", "w")
        while True:
            text = s.recv(4096).decode()
            print(text, flush=True)
            if "STOPPING" in text: break' > told &
    agents="$agents $!"
    await [ -e bound ]
    NOTIFY_SOCKET=$PWD/notify
    export NOTIFY_SOCKET
    start
    await holds told READY=1
    end
    await holds told STOPPING=1
}

the_test
