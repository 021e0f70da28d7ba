"""fetch_server.py -- a debuginfod server that misbehaves in one chosen way.

fetch_server.py WAY FILE LOG: serves FILE for every request, or fails as WAY says:
"good", "cut" (half of it, as if it were all), "broken" (half of what is promised),
"slow" (nothing, until its standard input ends), or an HTTP status. Prints its port, and
appends each path that is asked for to LOG. Ends when its standard input does.
"""
import http.server
import os
import socketserver
import sys
import threading


def main(way, path, log):
    with open(path, "rb") as file:
        body = file.read()
    ended = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            with open(log, "a", encoding="ascii") as file:
                file.write(self.path + "\n")
            if way.isdigit():
                self.send_error(int(way))
                return
            if way == "slow":
                ended.wait()
                return
            half = body[: len(body) // 2]
            self.send_response(200)
            if way != "cut":
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if way == "good" else half)

        def log_message(self, *_):
            pass

    # Not HTTPServer, which asks the network for this machine's name.
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    ended.set()
    os._exit(0)


main(*sys.argv[1:4])
