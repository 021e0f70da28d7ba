"""as_gdb.py -- whether a report has the stack that gdb sees in the core of the same crash.

as_gdb.py PROGRAM CORE REPORTS: REPORTS has a report a line; the one of the core's process is
taken. Compared are the frames of the thread that crashed: their addresses, and the functions
and lines that both know, unless gdb's is that of a header: it overlooks some inlined calls.
(The other threads go on a bit between the trace and the core.)
"""
import json
import os
import re
import subprocess
import sys


def ask_gdb(program, core):
    """{tid: [(pc, function or None, line or None, file)]}"""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gdb_frames.py")
    arguments = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex",
                 "set backtrace past-main on", "-ex", "set backtrace past-entry on", "-ex",
                 "source " + script, program, core]
    said = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace")
    for line in said.stdout.splitlines():
        if line.startswith("FRAMES "):
            return {int(tid): frames for tid, frames in json.loads(line[7:]).items()}
    sys.exit("gdb: " + said.stderr)


def plain(name):
    """A name without what two demanglers write differently, or a compiler appends."""
    name = re.sub(r"@@?[A-Z].*$|\.(cold|part|constprop|isra|lto_priv|localalias)\b.*$", "", name)
    name = re.sub(r"\{\{?closure.*?\}\}?|\[abi:\w+\]|<.*>|\(.*\)| ", "", name)
    return re.sub(r"^(__GI_+|_+)", "", name.split("::")[-1])


def read_report(reports, core_tids):
    for line in open(reports, errors="replace"):
        if not line.startswith("{"):
            continue
        report = json.loads(line)
        if report["trace"]["process"]["pid"] in core_tids:
            return report
    sys.exit("no report is of the core's process")


def differences(ours, theirs):
    for index, (pc, function, line, file) in enumerate(theirs):
        if index == len(ours):
            yield f"gdb has more: {function}"
            return
        its_pc, its_function, its_lines, is_cfi = ours[index]
        if pc != its_pc and not is_cfi:
            print(f"frame {index}: code without unwind tables, gdb guesses from here on")
            return
        if pc != its_pc:
            yield f"frame {index}: {its_pc:#x} {its_function}, gdb has {pc:#x} {function}"
            return
        if function and plain(function) != plain(its_function):
            yield f"frame {index}: {its_function}, gdb has {function}"
        if line and line not in its_lines and not file.endswith(".h"):
            yield f"frame {index}: {its_function}, line {its_lines}, gdb has {line}"
    if len(ours) > len(theirs):
        yield f"gdb ends before {ours[len(theirs):]}"


def whole_frames(frames):
    """Calls that were inlined belong to their frame. Where gdb does not see that there was
    one it tells its line all the same."""
    whole, lines = [], []
    for frame in frames:
        if "address" in frame:
            lines.append(frame.get("line"))
            if not frame.get("inlined"):
                whole.append((int(frame["address"], 16), frame.get("function", ""), lines,
                              frame["trust"] in ("context", "cfi")))
                lines = []
    return whole


def compare(tid, ours, theirs):
    ours = whole_frames(ours["frames"])
    bad = list(differences(ours, theirs))
    for line in bad:
        print(f"thread {tid}: {line}")
    print(f"thread {tid}: {len(ours)} frames, {'not ' if bad else ''}as gdb has them")
    return not bad


def main():
    program, core, reports = sys.argv[1:4]
    threads = ask_gdb(program, core)
    report = read_report(reports, threads)
    good = False
    crashed = next(thread["tid"] for thread in report["trace"]["threads"]
                   if thread.get("crashed"))
    for thread in report["threads"]:
        if thread["tid"] == crashed:
            if thread["tid"] not in threads:
                sys.exit(f"gdb does not have thread {thread['tid']}")
            good = compare(thread["tid"], thread, threads[thread["tid"]])
    sys.exit(0 if good else 1)


main()
