#!/usr/bin/env python3
"""bench.py -- how fast an agent takes reports, keeps them, and passes them on.

usage: bench/run deliver [--seconds N] [--backlog MIB] [--without PART]...

An agent, nginx as the server that its http sink posts to (which throws the bodies away),
and a program that brings reports through the agent's Unix socket or inbox. "Per core"
is per second of the agent's own CPU time, all of its threads together, from the first
report until the last one is delivered; cpu_cores is how many cores that took. libcurl
and rsyslog do their part of the work with the same bytes on the same machine, taking
turns with us. PART: frames, inbox, forward, backlog, rsyslog.
"""
import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ZEROS = "0" * 32
TICK = os.sysconf("SC_CLK_TCK")
PARTS = ("frames", "inbox", "forward", "backlog", "rsyslog")


def note(text):
    print(f"deliver: {text}", file=sys.stderr, flush=True)


def figure(name, value, unit):
    print(f"{name}\t{value:.3f}\t{unit}", flush=True)


def await_that(what, condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"deliver: waited in vain for {what}")
        time.sleep(0.05)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# ---- what is sent -------------------------------------------------------------


def raw_trace(frames, why):
    pcs = [hex(0x55D0C1A01000 + 0x73 * i) for i in range(frames)]
    thread = {
        "tid": 4242, "name": "orders", "state": "running", "epoch": 1, "pcs": pcs,
        "kinds": "i" + "r" * (frames - 1), "trust": "x" + "c" * (frames - 1),
        "end": "base",
    }
    if why == "crash":
        thread["crashed"] = True
    modules = [{
        "path": f"/srv/orders/lib/liborders-part-{i}.so.2", "format": "elf",
        "arch": "x86_64", "id": f"{i:02x}" * 20, "id_kind": "build-id",
        "bias": hex(0x55D0C1A00000 + (i << 24)),
        "ranges": [[hex(0x55D0C1A00000 + (i << 24)),
                    hex(0x55D0C1A00000 + (i << 24) + 0x60000), "r-x"]],
        "epochs": [1, None],
    } for i in range(max(2, frames // 2))]
    return {
        "backtrail": 1, "kind": "trace", "id": ZEROS, "seq": 17,
        "time_ns": "1796017212123456789", "mono_ns": "4371009112233", "why": why,
        "channel": why if why == "crash" else "report", "severity": "warning",
        "app": {"name": "orders", "version": "2.3.1"},
        "process": {"pid": 4242, "uid": 1000, "os": "linux", "arch": "x86_64",
                    "bits": 64, "endian": "little", "exe": "/srv/orders/orders"},
        "epoch": 1, "threads": [thread], "modules": modules,
        "attributes": {"region": "eu", "queue": "eu-1"}, "complete": True,
    }


def report(frames):
    trace = raw_trace(frames, "request")
    named = [{
        "n": i, "address": pc, "kind": "return", "edge": "return", "trust": "cfi",
        "module": i % len(trace["modules"]), "offset": hex(0x1000 + 0x73 * i),
        "function": f"orders::Ledger<orders::Item>::settle_part_{i}(orders::Item const&, "
                    "unsigned long)",
        "linkage": f"_ZN6orders6LedgerINS_4ItemEE14settle_part_{i:02}ERKS1_m",
        "symbol": hex(0x55D0C1A01000 + 0x73 * i - 0x20),
        "file": f"src/orders/ledger/settle_part_{i}.cpp", "dir": "/build/orders",
        "line": 20 + i, "column": 5, "in_app": True, "answer": 0,
    } for i, pc in enumerate(trace["threads"][0]["pcs"])]
    return {
        "backtrail": 1, "kind": "report", "id": ZEROS, "revision": 1,
        "resolved_ns": "1796017213000000000", "trace": trace,
        "resolver": {"name": "backtrail", "version": "0.1.0", "host": "edge-7"},
        "answers": [{"plugin": "elfdwarf", "version": "1.0.0", "module": 0,
                     "route": "module", "by": "debug-info"}],
        "gaps": [], "threads": [{"tid": 4242, "name": "orders", "frames": named}],
        "fingerprint": {"exact": "9d3c0a51e2b7744f", "group": "41f0aa8c5be90d13",
                        "from": ["settle_part_0"]},
    }


# ---- who takes part -----------------------------------------------------------


class Process:
    """A child, with the CPU time and the memory that it took."""

    def __init__(self, command, env=None, log=None):
        self.child = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.pid = self.child.pid

    def cpu_s(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory_mib(self, what):
        with open(f"/proc/{self.pid}/status") as status:
            for line in status:
                if line.startswith(what + ":"):
                    return int(line.split()[1]) / 1024
        return 0.0

    def forget_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as peak:
            peak.write("5")

    def stop(self):
        self.child.terminate()
        try:
            self.child.wait(60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Nginx(Process):
    CONF = """daemon off; worker_processes 1; error_log %(dir)s/error.log;
pid %(dir)s/pid; events {}
http { access_log off; client_body_temp_path %(dir)s/body; proxy_temp_path %(dir)s/proxy;
 fastcgi_temp_path %(dir)s/f; uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
 client_max_body_size 64m; client_body_buffer_size 4m; keepalive_requests 1000000;
 server { listen 127.0.0.1:%(port)d; location / { return 200; } } }
"""

    def __init__(self, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/v1/reports"
        os.mkdir(folder)
        with open(f"{folder}/conf", "w") as conf:
            conf.write(self.CONF % {"dir": folder, "port": self.port})
        super().__init__([shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"),
                          "-p", folder, "-c", f"{folder}/conf"])
        await_that("nginx", self.is_up)

    def is_up(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0


class Agent(Process):
    def __init__(self, build, folder, url, compression):
        self.program = f"{build}/agent/backtrail"
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/agent.json", "w") as config:
            json.dump({
                "symbolizers": [],
                "sinks": [{"use": "http", "name": "hq", "url": url,
                           "compression": compression}],
                "agent": {"quota": {"rate": 0}, "record": {"bytes": "8GiB"}},
            }, config)
        self.env = dict(os.environ, BACKTRAIL_STATE=folder,
                        BACKTRAIL_PLUGIN_PATH=f"{build}/plugins-built")
        self.log = open(f"{folder}/log", "a")
        super().__init__([self.program, "agent", "--config", f"{folder}/agent.json"],
                         self.env, self.log)
        await_that("the agent", lambda: os.path.exists(f"{folder}/agent.sock"))
        self.before = self.delivered()

    def status(self):
        for _ in range(100):
            done = subprocess.run([self.program, "status", "--json", "--config",
                                   f"{self.folder}/agent.json"], env=self.env,
                                  capture_output=True)
            if done.returncode == 0:
                return json.loads(done.stdout)
            time.sleep(0.1)
        raise SystemExit(f"deliver: status: {done.stderr.decode()}")

    def sink(self, member):
        return sum(sink.get(member, 0) for sink in self.status()["sinks"])

    def delivered(self):
        return self.sink("delivered")

    def await_delivered(self, count, seconds=600):
        await_that(f"{count} to be delivered",
                   lambda: self.delivered() - self.before >= count, seconds)


# ---- the figures --------------------------------------------------------------


class Bench:
    def __init__(self, build, work, arguments):
        self.build, self.work, self.arguments = build, work, arguments
        self.bringer = f"{build}/bench/bench_deliver"
        self.nginx = Nginx(f"{work}/nginx")
        self.number = 0
        self.lines = {}
        for name, made in (("25", report(25)), ("2", report(2)),
                           ("crash", raw_trace(25, "crash"))):
            self.lines[name] = f"{work}/{name}.jsonl"
            with open(self.lines[name], "w") as file:
                file.write(json.dumps(made, separators=(",", ":")) + "\n")
            note(f"{name}: {os.path.getsize(self.lines[name])} bytes")

    def agent(self, compression="none", url=None, folder=None):
        self.number += 1
        return Agent(self.build, folder or f"{self.work}/agent{self.number}",
                     url or self.nginx.url, compression)

    def bring(self, how, where, name, count, *more):
        return Process([self.bringer, how, where, self.lines[name], str(count), *more])

    def run(self, how, name, count, compression="none"):
        """Bring `count` reports to a new agent; what it took until all were delivered."""
        agent = self.agent(compression)
        where = f"{agent.folder}/{'agent.sock' if how == 'feed' else 'inbox'}"
        cpu, start = agent.cpu_s(), time.monotonic()
        bringer = self.bring(how, where, name, count)
        bringer.child.wait()
        agent.await_delivered(count)
        wall, cpu = time.monotonic() - start, agent.cpu_s() - cpu
        rss = agent.memory_mib("VmHWM")
        agent.stop()
        shutil.rmtree(agent.folder)
        return wall, cpu, rss

    def count_for(self, rate):
        return int(rate * self.arguments.seconds)

    def frames(self):
        count = self.count_for(5000)
        wall, cpu, rss = self.run("feed", "25", count)
        figure("events_s_25frames", count / cpu, "1/s per core")
        figure("events_s_25frames_wall", count / wall, "1/s")
        figure("cpu_cores", cpu / wall, "cores")
        figure("rss_mib", rss, "MiB")
        wall, cpu, _ = self.run("feed", "25", count, "gzip")
        figure("events_s_25frames_gzip", count / cpu, "1/s per core")
        count = self.count_for(10000)
        wall, cpu, _ = self.run("feed", "2", count)
        figure("events_s_2frames", count / cpu, "1/s per core")
        figure("events_s_2frames_wall", count / wall, "1/s")

    def inbox(self):
        count = self.count_for(500)
        wall, cpu, _ = self.run("inbox", "crash", count)
        figure("crash_inbox_s", count / cpu, "1/s per core")
        figure("crash_inbox_s_wall", count / wall, "1/s")

    def forward(self):
        """Of what waits already, while nothing new comes; and libcurl with the same."""
        count = self.count_for(5000)
        size = os.path.getsize(self.lines["25"]) * count / 1e6
        agent = self.agent(url="http://127.0.0.1:9/down")
        self.bring("feed", f"{agent.folder}/agent.sock", "25", count).child.wait()
        agent.stop()
        start = time.monotonic()
        agent = self.agent(folder=agent.folder)
        agent.before = 0
        agent.await_delivered(count)
        wall = time.monotonic() - start
        cpu = agent.cpu_s()
        agent.stop()
        shutil.rmtree(agent.folder)
        start = time.monotonic()
        self.bring("post", self.nginx.url, "25", count, str(1 << 20)).child.wait()
        alone = time.monotonic() - start
        figure("forward_mb_s", size / wall, "MB/s")
        figure("forward_cpu_cores", cpu / wall, "cores")
        figure("libcurl_mb_s", size / alone, "MB/s")
        figure("vs_libcurl", alone / wall, "ratio")

    def backlog(self):
        size = os.path.getsize(self.lines["25"])
        count = (self.arguments.backlog << 20) // size
        agent = self.agent(url="http://127.0.0.1:9/down")
        self.bring("feed", f"{agent.folder}/agent.sock", "25", count).child.wait()
        figure("rss_backlog_mib", agent.memory_mib("VmHWM"), "MiB")
        agent.stop()
        start = time.monotonic()
        agent = self.agent(folder=agent.folder, url="http://127.0.0.1:9/down")
        figure("start_with_backlog_s", time.monotonic() - start, "s")
        agent.stop()
        agent = self.agent(folder=agent.folder)
        agent.before = 0
        agent.await_delivered(count)
        figure("rss_backlog_sending_mib", agent.memory_mib("VmHWM"), "MiB")
        agent.stop()
        shutil.rmtree(agent.folder)

    def rsyslog(self):
        """The same lines through a TCP connection into a file."""
        program = shutil.which("rsyslogd", path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            note("no rsyslogd: no vs_rsyslog")
            return
        folder, port = f"{self.work}/rsyslog", free_port()
        count = self.count_for(5000)
        os.mkdir(folder)
        with open(f"{folder}/conf", "w") as conf:
            conf.write(f"""global(workDirectory="{folder}" maxMessageSize="64k")
module(load="imtcp")
template(name="raw" type="string" string="%rawmsg%\\n")
input(type="imtcp" port="{port}" address="127.0.0.1")
action(type="omfile" file="{folder}/out" template="raw")
""")
        server = Process([program, "-n", "-f", f"{folder}/conf", "-i", f"{folder}/pid"])
        await_that("rsyslogd", lambda: self.listens(port))
        size = os.path.getsize(self.lines["25"]) * count
        self.bring("tcp", str(port), "25", count).child.wait()
        await_that("rsyslogd's file", lambda: os.path.exists(f"{folder}/out") and
                   os.path.getsize(f"{folder}/out") >= size * 0.99)
        theirs = server.cpu_s()
        server.stop()
        shutil.rmtree(folder)
        _, ours, _ = self.run("feed", "25", count)
        figure("rsyslog_events_s", count / theirs, "1/s per core")
        figure("vs_rsyslog", theirs / ours, "ratio")

    @staticmethod
    def listens(port):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", port)) == 0


def main():
    parser = argparse.ArgumentParser(prog="bench/run deliver", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=10,
                        help="worth of reports at the rates that are asked for")
    parser.add_argument("--backlog", type=int, default=1024, help="MiB")
    parser.add_argument("--without", action="append", default=[], choices=PARTS)
    arguments = parser.parse_args()
    # Not /tmp, which may be memory.
    with tempfile.TemporaryDirectory(dir=os.path.abspath(arguments.build)) as work:
        bench = Bench(os.path.abspath(arguments.build), work, arguments)
        try:
            for part in PARTS:
                if part not in arguments.without:
                    note(part)
                    getattr(bench, part)()
        finally:
            bench.nginx.stop()


if __name__ == "__main__":
    main()
