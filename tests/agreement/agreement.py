#!/usr/bin/env python3
"""agreement.py -- how far our answers agree with llvm-symbolizer's, and where they do not.

usage: agreement.py --backtrail PROGRAM --plugins DIR [OPTION...] FILE

Draws addresses uniformly over the bytes of FILE's functions, asks both programs about
them, and compares file, line, column, the number of frames and the names of inlined
frames. The outermost name is compared apart: LLVM takes it from the symbol table, we
from the debug information, with the symbol beside it. Prints each difference and how many
there are of each kind; exits 1 below --percent.
"""
import argparse
import bisect
import collections
import json
import os
import random
import re
import subprocess
import sys

SUFFIXES = re.compile(r"(\.(cold|part|constprop|isra|lto_priv|llvm)(\.\d+)*)+$")
VARIANTS = re.compile(r"([CD])[0-5]([EI])")


def code_spans(path):
    """[start, end) of each function in the symbol table; disjoint, ascending."""
    table = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True,
                           errors="replace", check=True).stdout
    spans = set()
    for row in table.splitlines():
        cells = row.split(None, 7)
        if len(cells) > 6 and cells[3] in ("FUNC", "IFUNC") and cells[6] != "UND":
            start, size = int(cells[1], 16), int(cells[2], 0)
            if size:
                spans.add((start, start + size))
    merged = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def draw_addresses(path, count, seed):
    """The same addresses for the same file, count and seed."""
    spans, ends, total = code_spans(path), [], 0
    for start, end in spans:
        total += end - start
        ends.append(total)
    if not total:
        sys.exit(f"agreement.py: {path}: its symbol table has no functions")
    source, drawn = random.Random(seed), []
    for _ in range(count):
        at = source.randrange(total)
        i = bisect.bisect_right(ends, at)
        drawn.append(spans[i][1] - (ends[i] - at))
    return drawn


def ask(command, addresses):
    """The frames of each address, as a program prints them in LLVM's JSON."""
    text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=text, capture_output=True, text=True,
                          errors="replace")
    if done.returncode and not done.stdout:
        sys.exit(f"agreement.py: {' '.join(command)}: {done.stderr.strip()}")
    answers = {}
    for line in done.stdout.splitlines():
        if line:
            answer = json.loads(line)
            answers[int(answer["Address"], 16)] = answer.get("Symbol", [])
    return answers


def known(frames):
    """LLVM prints one empty frame where it knows nothing."""
    return [f for f in frames if f["FunctionName"] or f["FileName"] or f["Line"]]


def place(frame):
    name = os.path.normpath(frame["FileName"]) if frame["FileName"] else ""
    return name, frame["Line"], frame["Column"]


def is_no_place(ours, theirs):
    """Neither has a line, and one has the bare file name of the symbol table."""
    names = ours["FileName"], theirs["FileName"]
    return ours["Line"] == theirs["Line"] == 0 and any("/" not in n for n in names)


def same_inlined_name(ours, theirs):
    """Ours has the scopes in front where there is no linkage name."""
    return ours == theirs or ours.endswith("::" + theirs)


def difference(ours, theirs):
    """What kind of difference there is in places and in the chain; None: equal."""
    if len(ours) != len(theirs):
        if not ours or not theirs:
            return "only one knows anything"
        return "number of frames"
    for a, b in zip(ours, theirs):
        if is_no_place(a, b):
            continue
        for cell, kind in enumerate(("file", "line", "column")):
            if place(a)[cell] != place(b)[cell]:
                return f"{kind} where LLVM has line 0" if b["Line"] == 0 else kind
    for a, b in zip(ours[:-1], theirs[:-1]):
        if not same_inlined_name(a["FunctionName"], b["FunctionName"]):
            return "name of an inlined frame"
    return None


def outer_difference(ours, theirs):
    """How the two outermost names differ; None: they do not."""
    if not ours:
        return None
    # LLVM leaves a symbol's version on its name.
    mine, name = ours[-1], theirs[-1]["FunctionName"].partition("@")[0]
    if mine["FunctionName"] == name:
        return None
    if mine.get("SymbolName") == name:
        kind = "the symbol's name, which we give beside it"
        if SUFFIXES.sub("", name) == mine["FunctionName"]:
            kind += " (.cold, .part, .isra ...)"
        return kind
    if name in mine.get("AlsoKnownAs", []):
        return "another name of the same code, which we list"
    plain = [SUFFIXES.sub("", n) for n in (mine["FunctionName"], name)]
    if plain[0] == plain[1]:
        return "suffix only"
    if VARIANTS.sub(r"\1\2", plain[0]) == VARIANTS.sub(r"\1\2", plain[1]):
        return "constructor or destructor variant"
    return "unexplained"


def chain_text(frames):
    return " < ".join("{0} at {1}:{2}:{3}".format(f["FunctionName"] or "?", *place(f))
                      for f in frames) or "nothing"


def compare(ours, theirs, show):
    """Counts of each kind of difference, of places and of outermost names."""
    kinds, outer = collections.Counter(), collections.Counter()
    for address in sorted(theirs):
        a, b = known(ours.get(address, [])), known(theirs[address])
        kind = difference(a, b)
        other = None if kind else outer_difference(a, b)
        kinds[kind] += 1
        outer[other] += kind is None
        if (kind and kinds[kind] <= show) or (other == "unexplained"
                                              and outer[other] <= show):
            print(f"{address:#x} [{kind or 'outermost name'}]\n  ours: {chain_text(a)}\n"
                  f"  LLVM: {chain_text(b)}")
    return kinds, outer


def report(name, kinds, outer):
    total = sum(kinds.values())
    percent = 100 * kinds[None] / total if total else 0
    print(f"{name}: {kinds[None]} of {total} answers equal, {percent:.2f} %")
    for kind, count in kinds.most_common():
        if kind:
            print(f"  {count}: {kind}")
    for kind, count in outer.most_common():
        if kind:
            print(f"  outermost name, {count}: {kind}")
    return percent


def debug_file(path, root="/usr/lib/debug"):
    """The file that has PATH's symbols and lines: PATH, or its separate debug file."""
    notes = subprocess.run(["readelf", "-nSW", path], capture_output=True, text=True).stdout
    id_ = re.search(r"Build ID: ([0-9a-f]+)", notes)
    if ".debug_info" in notes or not id_:
        return path
    apart = f"{root}/.build-id/{id_[1][:2]}/{id_[1][2:]}.debug"
    if not os.path.exists(apart):
        sys.exit(f"agreement.py: {apart} is missing: install the -dbg package of {path}")
    return apart


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    options.add_argument("--backtrail", required=True)
    options.add_argument("--plugins", required=True)
    options.add_argument("--plugin", default="elfdwarf")
    options.add_argument("--llvm", default=os.environ.get("LLVM_SYMBOLIZER",
                                                          "llvm-symbolizer-19"))
    options.add_argument("--count", type=int, default=2000)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--percent", type=float, default=99.95)
    options.add_argument("--show", type=int, default=20)
    options.add_argument("file")
    given = options.parse_args()

    # Given a stripped program, LLVM takes names from its own bare symbol table.
    reference = debug_file(given.file)
    addresses = draw_addresses(reference, given.count, given.seed)
    ours = ask([given.backtrail, "resolve", "--plugin-path", given.plugins, "--plugin",
                given.plugin, "--json", "--no-demangle", "-e", given.file], addresses)
    theirs = ask([given.llvm, "--no-demangle", "--output-style=JSON", "-e", reference],
                 addresses)
    kinds, outer = compare(ours, theirs, given.show)
    percent = report(os.path.basename(given.file), kinds, outer)
    return percent < given.percent or outer["unexplained"] > 0


if __name__ == "__main__":
    sys.exit(main())
