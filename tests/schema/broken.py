"""broken.py TRACES REPORTS PLUGINS ADDRESSES CONFIG MANIFEST -- mistakes of writers are told.

Each row changes one member of a value that is right; validate.py has to object.
"""
import copy
import sys

import schemas as s
import validate

GONE = object()  # the member is left out
LAST = object()  # the member comes last

FRAME = ("threads", 0, "frames", 0)
ROWS = {
    "trace": [
        (("backtrail",), GONE), (("backtrail",), 2), (("backtrail",), "1"),
        (("kind",), "report"), (("kind",), GONE), (("kind",), LAST),
        (("id",), GONE), (("id",), "5f0c"), (("id",), "0x" + "0" * 30),
        (("time_ns",), 1796017212123456789), (("time_ns",), "017"),
        (("time_ns",), "1.5"), (("mono_ns",), None),
        (("seq",), "17"), (("seq",), -1), (("why",), ""),
        (("severity",), "bad"), (("process",), GONE), (("process", "pid"), "42"),
        (("process", "arch"), GONE), (("process", "bits"), 63),
        (("process", "endian"), "mixed"), (("process", "pid"), LAST),
        (("epoch",), "0x1"), (("threads",), {}), (("threads", 0, "tid"), GONE),
        (("threads", 0, "pcs", 0), "0x0401000"), (("threads", 0, "pcs", 0), "0X401000"),
        (("threads", 0, "pcs", 0), "0x40ABCD"), (("threads", 0, "pcs", 0), 4198400),
        (("threads", 0, "pcs", 0), "401000"), (("threads", 0, "pcs", 0), "0x"),
        (("threads", 0, "pcs", 0), "0x10000000000000000"),
        (("threads", 0, "kinds"), "q"), (("threads", 0, "kinds"), GONE),
        (("threads", 0, "trust"), ["x"]), (("threads", 0, "end"), "unknown"),
        (("threads", 0, "pcs"), LAST), (("threads", 0, "own", 0), ["0x1"]),
        (("modules", 0, "id"), "0xab"), (("modules", 0, "id"), "abc"),
        (("modules", 0, "id"), "ABCD"), (("modules", 0, "id"), GONE),
        (("modules", 0, "id_kind"), "sha1"), (("modules", 0, "bias"), "00"),
        (("modules", 0, "bias"), GONE), (("modules", 0, "ranges", 0, 2), "rx"),
        (("modules", 0, "epochs"), [1]), (("modules", 0, "format"), "ELF"),
        (("modules", 0, "path"), LAST), (("attributes",), {"a": 1}),
        (("missing",), GONE), (("missing",), [{"what": "thread"}]),
        (("complete",), GONE), (("complete",), False), (("backtrail",), LAST),
    ],
    "report": [
        (("backtrail",), "1"), (("kind",), "trace"), (("revision",), 0),
        (("revision",), GONE), (("resolved_ns",), 1), (("trace",), GONE),
        (("trace", "threads", 0, "pcs", 0), "0x00"), (("trace", "id"), GONE),
        (("trace", "process"), LAST), (("resolver", "version"), GONE),
        (("answers", 0, "route"), GONE), (("answers", 0, "route"), "guess"),
        (("answers", 0, "plugin_id"), "0x77a1f2"), (("answers", 0, "module"), "0"),
        (("answers",), None), (("gaps",), GONE), (("threads",), LAST),
        (("threads", 0, "tid"), "1"), (("threads", 0, "frames"), GONE),
        ((*FRAME, "n"), GONE), ((*FRAME, "n"), "0"), ((*FRAME, "address"), 4198400),
        ((*FRAME, "address"), "0x00401000"), ((*FRAME, "address"), GONE),
        ((*FRAME, "offset"), "0x0c9"), ((*FRAME, "kind"), "r"),
        ((*FRAME, "edge"), GONE), ((*FRAME, "trust"), "x"), ((*FRAME, "line"), 0),
        ((*FRAME, "column"), "3"), ((*FRAME, "function"), ""), ((*FRAME, "n"), LAST),
        ((*FRAME, "hidden"), True), ((*FRAME, "in_app"), "yes"),
        ((*FRAME, "answer"), -1), (("fingerprint", "exact"), "0x9d3c0a51e2b774"),
        (("fingerprint", "group"), GONE), (("fingerprint", "from"), "main"),
        (("gaps",), [{"reason": "lost"}]), (("gaps",), [{"detail": "why"}]),
        (("gaps",), [{"reason": "not_found", "want": "0x401000"}]),
    ],
    "plugins": [
        (("kind",), "thing"), (("name",), GONE), (("abi",), "1"), (("state",), "lost"),
        (("sha256",), "ab"), (("options",), {}), (("options",), [{"key": "a"}]),
        (("options",), [{"key": "a", "type": "float", "required": True, "help": ""}]),
    ],
    "addresses": [
        (("Address",), 1), (("Address",), "0x0401000"), (("ModuleName",), GONE),
        (("Symbol",), []), (("Symbol", 0, "Line"), "3"), (("Symbol", 0, "Line"), GONE),
        (("Symbol", 0, "StartAddress"), "401000"),
    ],
    "config": [
        (("sink",), []), (("app",), []), (("app", "nane"), "x"), (("app", "name"), 5),
        (("state",), ""), (("plugins", "path"), "x"), (("sinks",), {}),
        (("sinks", 0, "use"), GONE), (("sinks", 0, "use"), "../evil"),
        (("sinks", 0, "style"), "loud"), (("sinks", 0, "full"), "yes"),
        (("sinks", 0, "channels"), []), (("sinks", 0, "path"), "stderr has none"),
        (("sinks", 1, "path"), GONE), (("sinks", 1, "rotate", "size"), "16MB"),
        (("sinks", 1, "rotate", "keep"), "5"), (("sinks", 1, "rotate", "keep"), 1000),
        (("sinks", 2, "url"), "hq.example"), (("sinks", 2, "url"), "https:///in"),
        (("symbols", "debuginfod"), {"urls": ["ftp://x"]}), (("sinks", 2, "timeout"), 5),
        (("sinks", 2, "timeout"), "5 s"), (("sinks", 2, "format"), "xml"),
        (("sinks", 2, "headers"), ["a"]), (("sinks", 2, "style"), "text"),
        (("symbolizers", 0, "speed"), 11), (("in_app", "include"), [False]),
        (("symbols", "debuginfod"), {"url": "x"}),
    ],
    "manifest": [
        (("backtrail",), GONE), (("kind",), "manifest"), (("writer",), GONE),
        (("asked",), []), (("asked",), [{"exe": 5}]), (("modules",), GONE),
        (("modules", 0, "id"), "0xab"), (("modules", 0, "files"), []),
        (("modules", 0, "files", 0, "name"), "../x.origin"),
        (("modules", 0, "files", 0, "kind"), "map"),
        (("modules", 0, "files", 0, "state"), "lost"),
        (("modules", 0, "files", 0, "state"), "missing"),
        (("modules", 0, "files", 0, "sha256"), GONE),
        (("modules", 0, "files", 0, "sha256"), "ab"),
        (("modules", 0, "files", 0, "size"), "5"),
        (("modules", 1, "files", 0, "reason"), GONE),
        (("modules", 1, "files", 0, "detail"), GONE),
    ],
}


def change(value, path, to):
    changed = copy.deepcopy(value)
    at = changed
    for step in path[:-1]:
        at = at[step]
    key = path[-1]
    if to is LAST:
        at[key] = at.pop(key)
    elif to is GONE:
        del at[key]
    else:
        at[key] = to
    return changed


class Silent(validate.Check):
    def tell(self, where, mistake):
        self.mistakes += 1

    def objects(self, kind, value):
        before = self.mistakes
        self.value("", kind, value)
        return self.mistakes > before


def main(files):
    check, failed, told = Silent(), 0, 0
    for (kind, rows), path in zip(ROWS.items(), files):
        with open(path, encoding="utf-8") as file:
            value = s.read(file.read() if kind == "config" else file.readline(), kind)
        value = value[0] if isinstance(value, list) else value
        if check.objects(kind, value):
            print(f"{kind}: a right one is objected to")
            failed += 1
        for row in rows:
            if check.objects(kind, change(value, *row)):
                told += 1
            else:
                print(f"{kind}: nobody minds {row[0]} {row[1]!r}")
                failed += 1
    print(f"{told} broken ones told")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
