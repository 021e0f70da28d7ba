#!/bin/sh
# collector.sh -- a service ships its reports to a collection server: nginx on the loopback.
. "$(dirname "$0")/lib.sh"

orders=$build/examples/orders
export HQ_TOKEN=sesame

at_exit()
{
    [ ! -s nginx.pid ] || kill -KILL "$(cat nginx.pid)"
}

stop_nginx()
{
    kill "$(cat nginx.pid)"
    await [ ! -e nginx.pid ]
}

# await COMMAND...: at most 20 s.
await()
{
    tries=200
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "waited in vain for: $*" access.log err
        sleep 0.1
    done
}

# What is posted is kept, a file a body, but while there is a file `busy` the answer is
# 503. (client_body_in_file_only stores a body only where it is passed on, hence /kept.)
write_nginx_conf() # PORT
{
    cat > nginx.conf << CONF
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
master_process off;
pid $PWD/nginx.pid;
error_log $PWD/nginx-error.log;
events { worker_connections 64; }
http {
    log_format got '\$request_method \$uri \$status \$http_content_encoding'
        ' auth=\$http_authorization key=\$http_idempotency_key';
    access_log $PWD/access.log got;
    client_body_temp_path $PWD/posted;
    proxy_temp_path $PWD/proxy;
    fastcgi_temp_path $PWD/fastcgi;
    uwsgi_temp_path $PWD/uwsgi;
    scgi_temp_path $PWD/scgi;
    server {
        listen 127.0.0.1:$1;
        location /v1/reports {
            add_header Retry-After 1 always;
            if (-e $PWD/busy) { return 503; }
            client_body_in_file_only on;
            proxy_pass http://127.0.0.1:$1/kept;
        }
        location /kept {
            access_log off;
            return 204;
        }
    }
}
CONF
}

# start: nginx on a free port, and c.json, which ships there.
start()
{
    PATH=$PATH:/usr/sbin
    command -v nginx > /dev/null || skip "nginx is not installed"
    mkdir posted
    : > access.log
    port=$((20000 + $$ % 10000)) last=$((20000 + $$ % 10000 + 20))
    write_nginx_conf $port
    until nginx -p "$PWD" -c "$PWD/nginx.conf" 2>> nginx.log; do
        port=$((port + 1))
        [ $port -lt $last ] || fail "nginx does not start" nginx.log
        write_nginx_conf $port
    done
    await [ -s nginx.pid ]
    cat > c.json << CONFIG
{ "symbolizers": [ { "use": "elfdwarf" } ],
  "sinks": [ { "use": "file", "path": "reports.jsonl" },
             { "use": "http", "name": "hq", "url": "http://127.0.0.1:$port/v1/reports",
               "headers": { "Authorization": "Bearer \${env:HQ_TOKEN}" } } ] }
CONFIG
}

# serve ORDER...: the service; how many seconds it took is in `took`. One that hangs is
# ended with status 124: a busy machine may be slow, so no test asks for less.
serve()
{
    status=0 took=$(date +%s) said="orders $*"
    timeout 90 "$orders" c.json "$@" > out 2> err || status=$?
    took=$(($(date +%s) - took))
}

answered() # STATUS
{
    grep -q " $1 " access.log
}

# What has arrived is what the file has, each report once.
expect_all_arrived() # COUNT
{
    await answered 204
    for body in posted/*; do
        gzip -dc "$body" || fail "$said: $body is not compressed" access.log err
    done > arrived.jsonl
    "$json" id trace.message kind < arrived.jsonl | sort > got
    "$json" id trace.message kind < reports.jsonl | sort > wanted
    expect_lines wanted "$1"
    expect_same got wanted
    sort arrived.jsonl > got
    sort reports.jsonl > wanted
    expect_same got wanted
}

test_a_report_and_a_panic_arrive_with_credentials_and_compressed()
{
    start
    serve 3 -2 -13
    [ $status -eq 134 ] || fail "$said: exit code $status" err
    expect err "panic: order of -13 items cannot be"
    await answered 204
    expect_all_arrived 2
    "$json" trace.channel threads.0.frames.3.function < arrived.jsonl | sort > got
    expect got panic report
    expect access.log "POST /v1/reports 204 gzip auth=Bearer sesame key="
    refute reports.jsonl sesame
}

# The service must live on while it is turned away: it waits to print, its pipe is full.
test_what_a_busy_server_turns_away_arrives_once_when_it_is_not()
{
    start
    : > busy
    mkfifo pipe
    exec 3<> pipe
    dd if=/dev/zero of=pipe bs=4096 count=1024 oflag=nonblock 2> /dev/null || true
    "$orders" c.json -2 -4 >&3 2> err &
    service=$! said="orders -2 -4"
    await answered 503
    rm busy
    await answered 204
    cat pipe > printed 3>&- &
    exec 3>&-
    wait $service || fail "$said: exit code $?" err
    expect_all_arrived 2
    sed -n '/ 503 /s/.*key=//p' access.log | sort -u > wanted
    sed -n '/ 204 /s/.*key=//p' access.log | head -n 1 > got
    expect_lines wanted 1
    expect_same got wanted
    expect err "sink hq: " "503"
    refute err "not delivered"
}

test_a_server_that_is_not_there_holds_the_service_up_for_a_moment_only()
{
    start
    stop_nginx
    serve -2 -4 -5
    expect_status 0
    expect_lines reports.jsonl 3
    expect err "backtrail: sink hq: 3 reports not delivered: " "127.0.0.1:$port"
    refute err sesame
}

test_a_server_that_does_not_answer_holds_the_service_up_for_five_seconds()
{
    start
    kill -STOP "$(cat nginx.pid)"
    serve -2 -4
    expect_status 0 # and by the service's own will: its request would have had longer
    [ $took -ge 4 ] || fail "$said: took $took s only" err
    expect_lines reports.jsonl 2
    expect err "backtrail: sink hq: 2 reports not delivered: "
    refute err "timed out after 1" # ten seconds and more: its own limit
}

the_test
