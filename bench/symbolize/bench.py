#!/usr/bin/env python3
"""bench.py -- what it costs to name the addresses of a big program, beside others.

usage: bench/run symbolize --binary FILE [--rounds N] [--without PART]...

FILE is a program with its DWARF in it, sections not compressed. The two that the figures
of docs/ are about come by bench/symbolize/getbins.sh DIR.

Every figure is the median of N rounds (7) in which ours and the peers take turns, and is
CPU time of the whole process unless its name says wall. Chains are whole, with columns,
not demangled. Program and plugins are stripped of their own debug information, as an
installation has them. The addresses lie anywhere in the bytes of functions, the same ones
in each run. PART: agree, cold, index, map, warm, llvm, gimli.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True  # no files beside the sources
sys.path.insert(0, os.path.join(ROOT, "tests", "agreement"))
import agreement  # noqa: E402

DEVNULL = os.open(os.devnull, os.O_RDWR)
PARTS = ("agree", "cold", "index", "map", "warm", "llvm", "gimli")


def note(text):
    print(f"symbolize: {text}", file=sys.stderr, flush=True)


def figure(name, value, unit):
    print(f"{name}\t{value:.3f}\t{unit}", flush=True)


# ---- processes ----------------------------------------------------------------


class Usage:
    def __init__(self, cpu_s, wall_s, anonymous_kib, code):
        self.cpu_s, self.wall_s, self.code = cpu_s, wall_s, code
        self.anonymous_kib = anonymous_kib


def anonymous_kib(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def run(command, addresses="/dev/null", output=os.devnull, watch=False):
    """Run to the end. `watch`: look at its anonymous memory every 2 ms."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, addresses, os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
                0o644),
               (os.POSIX_SPAWN_DUP2, DEVNULL, 2)]
    start = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    ended, most = threading.Event(), [0]

    def sample():
        while not ended.wait(0.002):
            most[0] = max(most[0], anonymous_kib(pid))

    watcher = threading.Thread(target=sample) if watch else None
    if watcher:
        watcher.start()
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    ended.set()
    if watcher:
        watcher.join()
    return Usage(usage.ru_utime + usage.ru_stime, wall, most[0],
                 os.waitstatus_to_exitcode(status))


class Case:
    """A process that is measured in each round. Its `inputs` take turns."""

    def __init__(self, name, command, inputs=("/dev/null",)):
        self.name, self.command, self.inputs = name, command, inputs
        self.usages = []

    def round(self, number):
        self.usages.append(run(self.command, self.inputs[number % len(self.inputs)]))

    def median(self, what="cpu_s"):
        return statistics.median(getattr(u, what) for u in self.usages)


def measure(cases, rounds):
    """By name; a case that fails is told of and left out."""
    good = []
    for case in cases:
        code = run(case.command, case.inputs[0]).code  # the page cache is warm now
        if code:
            note(f"{case.name} is left out: {' '.join(case.command[:3])}... ends with {code}")
        else:
            good.append(case)
    for number in range(rounds):
        for case in good:
            case.round(number)
    return {case.name: case for case in good}


# ---- the parts ----------------------------------------------------------------


class Bench:
    def __init__(self, build, binary, rounds, without):
        self.binary, self.rounds, self.without = binary, rounds, without
        self.work = os.path.join(build, "symbolize")
        self.tool = os.path.join(build, "bench", "bench_symbolize")
        self.peers = os.path.join(self.work, "peers")
        self.plugins = os.path.join(self.work, "plugins")
        self.program = os.path.join(self.work, "backtrail")
        self.map = os.path.join(self.work, os.path.basename(binary) + ".origin")
        shutil.rmtree(self.work + "/home", ignore_errors=True)
        os.makedirs(self.work + "/home", exist_ok=True)
        self.strip(build)
        subprocess.run(["sh", os.path.join(HERE, "peers.sh"), self.peers], check=True)
        # An empty store, and no config: nothing that was made before helps.
        os.environ.update(HOME=self.work + "/home", XDG_CACHE_HOME=self.work + "/home",
                          BACKTRAIL_STATE=self.work + "/state", BACKTRAIL_CONFIG="",
                          BACKTRAIL_PLUGIN_PATH=self.plugins)

    def strip(self, build):
        shutil.rmtree(self.plugins, ignore_errors=True)
        os.makedirs(self.plugins)
        pairs = [(os.path.join(build, "agent", "backtrail"), self.program)]
        for name in os.listdir(os.path.join(build, "plugins-built")):
            pairs.append((os.path.join(build, "plugins-built", name),
                          os.path.join(self.plugins, name)))
        for source, to in pairs:
            subprocess.run(["strip", "-o", to, source], check=True)
            os.chmod(to, 0o755)

    def draw(self):
        """Files of addresses: nine of one, and one each of 1,000 and 100,000."""
        self.ones = [self.write(f"one.{i}", [a]) for i, a in
                     enumerate(agreement.draw_addresses(self.binary, 9, 1))]
        self.thousand = self.write("1000", agreement.draw_addresses(self.binary, 1000, 2))
        self.many = self.write("100000",
                               agreement.draw_addresses(self.binary, 100000, 3))

    def write(self, name, addresses):
        path = os.path.join(self.work, "addresses." + name)
        with open(path, "w") as file:
            file.writelines(f"{a:#x}\n" for a in addresses)
        return path

    def resolve(self, path):
        return [self.program, "resolve", "--no-demangle", "-e", path]

    def peer(self, name):
        path = os.path.join(self.peers, name)
        return path if os.path.exists(path) and name[6:] not in self.without else None

    def no_aranges(self):
        path = os.path.join(self.work, os.path.basename(self.binary) + ".noaranges")
        if (not os.path.exists(path)
                or os.path.getmtime(path) < os.path.getmtime(self.binary)):
            subprocess.run(["objcopy", "-R", ".debug_aranges", self.binary, path],
                           check=True)
        return path

    def cold(self):
        bare = self.no_aranges()
        cases = [Case("start", ["/bin/true"])]
        for count, inputs in (("1", self.ones), ("1000", [self.thousand])):
            cases += [Case(f"cold_{count}", self.resolve(self.binary), inputs),
                      Case(f"cold_{count}_noaranges", self.resolve(bare), inputs),
                      Case(f"cold_{count}_reader", [self.tool, "reader", self.binary],
                           inputs),
                      Case(f"cold_{count}_noaranges_reader", [self.tool, "reader", bare],
                           inputs)]
            if "llvm" not in self.without:
                cases.append(Case(f"cold_{count}_llvm", ["llvm-symbolizer-19",
                                  "--no-demangle", f"--obj={self.binary}"], inputs))
            if self.peer("bench-gimli"):
                cases.append(Case(f"cold_{count}_gimli",
                                  [self.peer("bench-gimli"), self.binary], inputs))
        got = measure(cases, self.rounds)
        figure("process_start_ms", got["start"].median() * 1e3, "ms")
        for name, case in got.items():
            if name.startswith("cold_1000"):
                figure(name + "_s", case.median(), "s")
            elif name != "start":
                figure(name + "_ms", case.median() * 1e3, "ms")
        for count in ("1", "1000"):
            for peer in ("llvm", "gimli"):
                self.ratio(got, f"cold_{count}", f"cold_{count}_{peer}",
                           f"cold_{count}_vs_{peer}")
            self.ratio(got, f"cold_{count}", f"cold_{count}_reader",
                       f"cold_{count}_vs_reader")
        usage = run(self.resolve(self.binary), self.thousand, watch=True)
        figure("cold_1000_rss_mib", usage.anonymous_kib / 1024, "MiB")

    @staticmethod
    def ratio(got, ours, theirs, name):
        if ours in got and theirs in got:
            pairs = zip(got[ours].usages, got[theirs].usages)
            figure(name, statistics.median(a.cpu_s / b.cpu_s for a, b in pairs), "ratio")

    def index_command(self, threads):
        return [self.program, "symbols", "index", "--force", "--threads", str(threads),
                "--out", self.map, self.binary]

    def index(self):
        got = measure([Case("one", self.index_command(1)), Case("two", self.index_command(2))],
                      min(self.rounds, 5))
        if len(got) < 2:
            return
        figure("index_s_1thread", got["one"].median(), "s")
        figure("index_s_2threads", got["two"].median("wall_s"), "s wall")
        figure("index_cpu_s_2threads", got["two"].median(), "s")
        for threads, name in ((1, "index_rss_mib"), (2, "index_rss_mib_2threads")):
            usage = run(self.index_command(threads), watch=True)
            figure(name, usage.anonymous_kib / 1024, "MiB")
        figure("index_file_mb", os.path.getsize(self.map) / 1e6, "MB")

    def map_cold(self):
        if not os.path.exists(self.map):
            note("maps are left out: none was made")
            return
        cases = [Case("map_cold_1", self.resolve(self.map), self.ones),
                 Case("map_cold_1000", self.resolve(self.map), [self.thousand]),
                 Case("map_cold_1_reader", [self.tool, "map", self.map], self.ones),
                 Case("map_cold_1000_reader", [self.tool, "map", self.map],
                      [self.thousand])]
        for name, case in measure(cases, self.rounds).items():
            figure(name + "_ms", case.median() * 1e3, "ms")

    def warm(self):
        """Figures that the programs themselves print, of rounds that take turns."""
        cases = {"warm": [self.tool, "warm", self.binary]}
        if "map" not in self.without and os.path.exists(self.map):
            cases["map"] = [self.tool, "map_warm", self.map]
        if self.peer("bench-gimli"):
            cases["warm_gimli"] = [self.peer("bench-gimli"), self.binary, "--warm"]
        if self.peer("bench-llvm"):
            cases["warm_llvm"] = [self.peer("bench-llvm"), self.binary]
        got = {}
        for _ in range(max(1, min(self.rounds, 3))):
            for name, command in cases.items():
                output = os.path.join(self.work, name + ".out")
                if run(command, self.many, output).code:
                    continue
                for line in open(output):
                    key, value = line.split("\t")
                    got.setdefault(f"{name}_{key}", []).append(float(value))
        for name, values in got.items():
            if name.endswith("_ns"):
                figure(name, statistics.median(values), "ns")
        for peer in ("llvm", "gimli"):
            for kind in ("random", "hot"):
                ours, theirs = got.get(f"warm_{kind}_ns"), got.get(f"warm_{peer}_{kind}_ns")
                if ours and theirs:
                    figure(f"warm_{kind}_vs_{peer}", statistics.median(
                        a / b for a, b in zip(ours, theirs)), "ratio")

    def agree(self):
        addresses = agreement.draw_addresses(self.binary, 2000, 7)
        llvm = ["llvm-symbolizer-19", "--no-demangle", "--output-style=JSON", "-e",
                self.binary]
        ours = agreement.ask(self.resolve(self.binary) + ["--json"], addresses)
        kinds, _ = agreement.compare(ours, agreement.ask(llvm, addresses), 0)
        figure("agree_llvm_percent", 100 * kinds[None] / sum(kinds.values()), "%")
        if run(self.resolve(self.map), self.ones[0]).code:
            note("map_same_percent is left out: there is no map that answers")
        else:
            mapped = agreement.ask(self.resolve(self.map) + ["--json"], addresses)
            same = sum(mapped.get(a) == ours[a] for a in ours)
            figure("map_same_percent", 100 * same / len(ours), "%")


def main():
    options = argparse.ArgumentParser(usage="bench/run symbolize --binary FILE "
                                            "[--rounds N] [--without PART]...")
    options.add_argument("build", help=argparse.SUPPRESS)
    options.add_argument("--binary", required=True)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--without", action="append", default=[], choices=PARTS)
    given = options.parse_args()
    if not os.path.exists(given.binary):
        note(f"{given.binary} is not there; bench/symbolize/getbins.sh DIR makes "
             "DIR/libjvm.so and DIR/ceph-osd")
        return 1
    bench = Bench(os.path.abspath(given.build), os.path.abspath(given.binary),
                  given.rounds, given.without)
    bench.draw()
    for part, work in (("cold", bench.cold), ("index", bench.index),
                       ("map", bench.map_cold), ("warm", bench.warm),
                       ("agree", bench.agree)):
        if part not in given.without:
            note(f"{part} ...")
            work()
    return 0


if __name__ == "__main__":
    sys.exit(main())
