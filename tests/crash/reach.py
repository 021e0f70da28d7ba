#!/usr/bin/env python3
"""reach.py -- what the handling of a crash can call of the C library.

usage: reach.py ALLOWED OBJECT...

Follows every call and every address of a function that is taken, from the signal
handlers on, through the objects of libbacktrail-capture as nm and objdump show them. What
is reached and defined in none of them has to be in ALLOWED, one name a line. So a call of
malloc that somebody adds three functions away is found, with the way to it.
"""
import bisect
import re
import subprocess
import sys

ROOTS = ("on_fatal_signal", "on_crash_ask", "trail_crash_handle")
FUNCTION = re.compile(r"^[0-9a-f]+ <([^>]+)>:$")
SECTION = re.compile(r"^(?:Disassembly of section|RELOCATION RECORDS FOR) \[?([^\]:]+)\]?:")
TARGET = re.compile(r"<([A-Za-z_.][^>+]*)(?:\+0x[0-9a-f]+)?>")
RELOCATION = re.compile(r"^\s*[0-9a-f]+:?\s+(R_\S+)\s+(\S+)")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Object:
    """Functions of one file by section, and what its data refers to."""

    def __init__(self, path):
        self.path = path
        self.sections = {}
        self.exported = set()
        for line in output("objdump", "-t", path).splitlines():
            match = re.match(r"^([0-9a-f]{16}) (.{7}) (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$", line)
            if not match or match[3] in ("*UND*", "*ABS*") or "d" in match[2]:
                continue
            self.sections.setdefault(match[3], []).append((int(match[1], 16), match[4]))
            if match[2][0] in "gu!" or "w" in match[2]:
                self.exported.add(match[4])
        for symbols in self.sections.values():
            symbols.sort()
        self.names = {name for symbols in self.sections.values() for _, name in symbols}
        self.edges = {}
        self.read_code()
        self.read_data()

    def resolve(self, target, kind):
        """The symbol that a relocation means: 'name', or section+offset."""
        match = re.match(r"^(\.[^+-]+|[^+-]+)([+-]0x[0-9a-f]+)?$", target)
        if not match:
            return target
        base, offset = match[1], int(match[2] or "0", 16)
        if base not in self.sections or base in self.names:
            return base
        if kind in ("R_X86_64_PC32", "R_X86_64_PLT32"):
            offset += 4
        symbols = self.sections[base]
        at = bisect.bisect_right(symbols, (offset, "\x7f")) - 1
        return symbols[at][1] if at >= 0 else base

    def read_code(self):
        current, named = None, []
        for line in output("objdump", "-dr", "--no-show-raw-insn", self.path).splitlines():
            match = FUNCTION.match(line)
            if match:
                if current:
                    self.edges[current].update(named)
                current, named = match[1], []
                self.edges.setdefault(current, set())
                continue
            match = RELOCATION.match(line)
            if match and current:  # it means another place than the one that is shown
                named = []
                self.edges[current].add(self.resolve(match[2], match[1]))
            elif current:
                self.edges[current].update(named)
                named = [name for name in TARGET.findall(line) if name in self.names]

    def read_data(self):
        """A table of functions refers to each of them."""
        section = None
        for line in output("objdump", "-r", self.path).splitlines():
            match = SECTION.match(line)
            if match:
                section = match[1]
                continue
            match = RELOCATION.match(line)
            if not match or not section or not section.startswith((".data", ".rodata")):
                continue
            offset = int(line.split()[0], 16)
            symbols = self.sections.get(section, [])
            at = bisect.bisect_right(symbols, (offset, "\x7f")) - 1
            owner = symbols[at][1] if at >= 0 else section
            self.edges.setdefault(owner, set()).add(self.resolve(match[2], match[1]))


def walk(objects):
    """Names that are reached and nobody defines, each with the way to it."""
    exporters = {name: item for item in objects for name in item.exported}
    todo = [(item, root, (root,)) for item in objects for root in ROOTS if root in item.names]
    found, seen = {}, set()
    if len(todo) != len(ROOTS):
        sys.exit("reach.py: the handlers are not where they were: %s" % (ROOTS,))
    while todo:
        item, name, way = todo.pop()
        if (item.path, name) in seen:
            continue
        seen.add((item.path, name))
        for target in item.edges.get(name, ()):
            if target in item.names:
                todo.append((item, target, way + (target,)))
            elif target in exporters:
                todo.append((exporters[target], target, way + (target,)))
            elif not target.startswith((".", "_GLOBAL_OFFSET_TABLE_", "__start_", "__stop_")):
                found.setdefault(target, way)
    return found, len(seen)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        allowed = {line.strip() for line in file if line.strip() and line[0] != "#"}
    found, count = walk([Object(path) for path in sys.argv[2:]])
    bad = sorted(set(found) - allowed)
    for name in bad:
        print("%s is reached: %s" % (name, " > ".join(found[name])))
    unused = sorted(allowed - set(found))
    if unused:
        print("allowed, and not reached here:", " ".join(unused))
    print("%d functions and tables are reached, and %d names outside" % (count, len(found)))
    if bad or count < 100:
        sys.exit(1)


main()
