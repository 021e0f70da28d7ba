#!/usr/bin/env python3
"""Makes seeds for fuzz_dwarf of the ELF fixtures: their debug sections behind a head.

usage: tests/fuzz/dwarf_seeds.py   (writes tests/fuzz/corpus/fuzz_dwarf/)
"""
import pathlib
import struct
import zlib

NAMES = ["info", "abbrev", "line", "str", "line_str", "ranges", "rnglists", "addr",
         "str_offsets", "aranges", "cu_index"]
ALT, PACKAGE, DWO = 2, 4, 8
HERE = pathlib.Path(__file__).parent
ELF = HERE.parent / "fixtures" / "elf"


def sections(path):
    """(big-endian, {name: bytes}, (first, last) of the executable sections)"""
    data = path.read_bytes()
    big = ">" if data[5] == 2 else "<"
    wide = data[4] == 2
    offset, = struct.unpack_from(big + ("Q" if wide else "I"), data, 40 if wide else 32)
    size, count, names = struct.unpack_from(big + "HHH", data, 58 if wide else 46)
    heads = []
    for i in range(count):
        head = struct.unpack_from(big + ("IIQQQQ" if wide else "IIIIII"), data,
                                  offset + i * size)
        heads.append(head)
    table = heads[names][4]
    found, code = {}, []
    for name, kind, flags, address, start, length in heads:
        end = data.index(b"\0", table + name)
        body = data[start:start + length] if kind != 8 else b""
        if flags & 0x800:
            body = zlib.decompress(body[24 if wide else 12:])
        if flags & 4:
            code.append((address, address + length))
        found[data[table + name:end].decode()] = body
    code.sort()
    return big == ">", found, (code[0][0], code[-1][1]) if code else (0, 0)


def seed(path, flags=0, second=None, change=lambda main, other: None):
    big, main, code = sections(path)
    other = sections(second)[1] if second else {}
    change(main, other)
    parts = [main.get(".debug_" + name, b"") for name in NAMES]
    for name in NAMES:
        dwo = ".debug_" + name + ("" if name == "cu_index" else ".dwo")
        parts.append(other.get(dwo, other.get(".debug_" + name, b"")))
    head = struct.pack("<BQI", flags | big, code[0], code[1] - code[0])
    head += b"".join(struct.pack("<I", len(part))[:3] for part in parts)
    return head + b"".join(parts)


def count_everything(main, other):
    """An index of a package that says it has all columns, units and slots there can be."""
    index = other[".debug_cu_index"]
    other[".debug_cu_index"] = index[:4] + b"\xff" * 8 + struct.pack("<I", 1 << 31) + index[16:]


def point_far(main, other):
    """A unit whose abbreviations begin far behind their section."""
    info = main[".debug_info"]
    main[".debug_info"] = info[:6] + b"\xff\xff\xff\xff" + info[10:]


def main():
    plain = ["x64-gcc-dw2-O2", "x64-gcc-dw4-O2", "x64-gcc-dw5-O2", "x64-gcc-dw5-64bit",
             "x64-clang14-dw4-O2", "x64-clang19-dw5-O2", "x64-cpp-gcc", "x64-fortran.so",
             "x64-rust-v0", "x64-gcc-lto", "x64-dwz", "i386-gcc-dw5-O2",
             "s390x-gcc-dw5-O2", "powerpc-gcc-dw5-O2"]
    pairs = [("dwzm/x64-dwzm-a", ALT, "dwzm/x64-dwzm-common.debug"),
             ("x64-split-gcc-dw4/prog", DWO, "x64-split-gcc-dw4/deep.dwo"),
             ("x64-split-clang-19-dw5/prog", DWO, "x64-split-clang-19-dw5/deep.dwo"),
             ("x64-split-gcc-dw4-dwp/prog", PACKAGE, "x64-split-gcc-dw4-dwp/prog.dwp"),
             ("x64-split-clang-19-dw5-dwp/prog", PACKAGE,
              "x64-split-clang-19-dw5-dwp/prog.dwp")]
    changed = [("x64-split-gcc-dw4-dwp/prog", PACKAGE, "x64-split-gcc-dw4-dwp/prog.dwp",
                count_everything),
               ("x64-gcc-dw4-O2", 0, "x64-gcc-dw4-O2", point_far)]
    to = HERE / "corpus" / "fuzz_dwarf"
    to.mkdir(exist_ok=True)
    for name in plain:
        (to / name.replace("/", "-")).write_bytes(seed(ELF / name))
    for name, flags, second in pairs:
        (to / name.replace("/", "-")).write_bytes(seed(ELF / name, flags, ELF / second))
    for name, flags, second, change in changed:
        (to / (name.replace("/", "-") + "-" + change.__name__)).write_bytes(
            seed(ELF / name, flags, ELF / second, change))


main()
