#!/usr/bin/env python3
"""validate.py -- is it as docs/schema says? One line a mistake; exit code 1 if any.

  validate.py schemas                 the schemas themselves
  validate.py KIND FILE...            lines of that kind: trace, report, plugins,
                                      addresses, manifest; or whole files: config
  validate.py lines FILE...           traces and reports, told apart by their "kind"
  validate.py produced FOLDER         what tests have left in a folder
  validate.py options FILE KEYS       the options of config.schema.json are those of
                                      `plugins --json` and of the loader's table
"""
import collections
import os
import sys

import schemas as s

FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "schema")

# A record that our own library wrote has its members in order; another's may not.
OURS = "libbacktrail-capture"


# The plugins that config.schema.json knows options of.
OPTIONED = ("elfdwarf", "libdw", "wasi-null", "stderr", "file", "http")


class Check:
    def __init__(self):
        self.schemas = s.Schemas(FOLDER)
        self.counts = collections.Counter()
        self.mistakes = 0
        self.seen = set()
        self.unseen = []  # wrong configurations whose shape is right

    def tell(self, where, mistake):
        self.mistakes += 1
        if self.mistakes <= 40:
            print(f"{where}: {mistake}")

    def value(self, where, kind, value):
        self.counts[kind] += 1
        for mistake in self.schemas.mistakes(kind, value):
            self.tell(where, f"{kind}: {mistake}")
        if kind == "report" and isinstance(value, dict):
            self.order(where, "trace", value.get("trace"))
            self.order(where, kind, {**value, "trace": None})
        if kind == "trace":
            self.order(where, kind, value)

    def order(self, where, kind, value):
        if kind == "trace" and not written_by_us(value):
            return
        for mistake in self.schemas.disorder_of(kind, value):
            self.tell(where, f"{kind}: {mistake}")

    def text(self, where, kind, text):
        if (kind, text) in self.seen:
            return
        self.seen.add((kind, text))
        try:
            value = s.read(text, kind)
        except ValueError as error:
            self.tell(where, f"{kind or 'line'}: {error}")
            return
        kind = kind or kind_of(value)
        if not kind:
            self.tell(where, "is nothing that has a schema")
            return
        several = kind == "addresses" and isinstance(value, list)
        for one in value if several else [value]:
            self.value(where, kind, one)

    def lines(self, path, kind=None):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    self.text(f"{path}:{number}", kind, line.strip())

    def whole(self, path, kind):
        with open(path, encoding="utf-8-sig") as file:
            self.text(path, kind, file.read())

    def host(self, path):
        """A configuration whose plugins nobody asked about their options."""
        with open(path, encoding="utf-8-sig") as file:
            value = s.read(file.read(), "config")
        for entry in value.get("symbolizers", []) + value.get("sinks", []):
            entry["use"] = "any" if entry["use"] in OPTIONED else entry["use"]
        self.value(path, "config", value)

    def wrong(self, path):
        """A configuration that the loader refuses: does the schema, too?"""
        self.counts["wrong config"] += 1
        try:
            with open(path, encoding="utf-8-sig") as file:
                value = s.read(file.read(), "config")
            if not any(self.schemas.mistakes("config", value)):
                self.unseen.append(path)
        except (ValueError, RecursionError):
            pass


def written_by_us(trace):
    writer = trace.get("writer") if isinstance(trace, dict) else None
    return isinstance(writer, dict) and writer.get("name") == OURS


def kind_of(value):
    if isinstance(value, list) or isinstance(value, dict) and "Address" in value:
        return "addresses"
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind in ("symbolizer", "sink", "unknown") and "abi" in value:
        return "plugins"
    if kind == "symbols":
        return "manifest"
    return kind if kind in ("trace", "report") else None


def produced(check, folder):
    """Files are TEST.jsonl, with lines of any kind, or TEST-NUMBER.KIND.json."""
    for name in sorted(os.listdir(folder)):
        path, kind = os.path.join(folder, name), name.split(".")[-2]
        if name.endswith(".wrong.json"):
            check.wrong(path)
        elif name.endswith(".host.json"):
            check.host(path)
        elif name.endswith(".json") and kind in s.NAMES:
            check.whole(path, kind)
        elif name.endswith(".jsonl"):
            check.lines(path)
    check.counts["of those by more than their shape"] = len(check.unseen)
    if len(check.unseen) * 10 > check.counts["wrong config"]:
        check.tell(check.unseen[0], "config: is refused, the schema takes it")
    for kind in s.NAMES:
        if not check.counts[kind]:
            check.tell(folder, f"holds no {kind}: nothing was tested")


# Types of an option table, as the schema says them.
TYPES = {"text": "text", "path": "path", "true|false": "flag", "count": "count",
         "size": "size", "duration": "duration", "map": "map", "url": "url"}


def table_of(properties, above=""):
    """Key to (type, default) of an object's properties, as a plugin's table has it."""
    table = {}
    for key, member in properties.items():
        if member is True:
            continue
        if "properties" in member:
            table.update(table_of(member["properties"], f"{above}{key}."))
            continue
        kind = member.get("$ref", "").split("/")[-1]
        default = member.get("default")
        if isinstance(default, bool):
            default = str(default).lower()
        table[above + key] = (kind, None if default is None else str(default))
    return table


def words_of(properties, key):
    """The words that a text may be, as a plugin's table has them: "json|otlp"."""
    first, _, rest = key.partition(".")
    if rest:
        return words_of(properties[first].get("properties", {}), rest)
    for part in properties.get(first, {}).get("anyOf", []):
        if "enum" in part:
            return "|".join(part["enum"])
    return ""


def options(check, plugins_file, keys_file):
    definitions = check.schemas.at["config"]["$defs"]
    told = set()
    with open(plugins_file, encoding="utf-8") as file:
        for plugin in map(s.read, file):
            name = plugin["name"]
            if name not in definitions:
                check.tell(name, "config.schema.json has no such plugin")
                continue
            told.add(name)
            wanted = {
                row["key"]: (TYPES.get(row["type"]), row.get("default"))
                for row in plugin["options"]
            }
            got = table_of(definitions[name]["properties"])
            got.pop("style", None)  # the host's key, of which it takes one word only
            for key in wanted.keys() | got.keys():
                if not same_option(wanted.get(key), got.get(key)):
                    check.tell(name, f"{key}: is {wanted.get(key)}, the schema has "
                                     f"{got.get(key)}")
            for row in plugin["options"]:
                words = words_of(definitions[name]["properties"], row["key"])
                if words != row.get("words", ""):
                    check.tell(name, f"{row['key']}: takes {row.get('words')}, the "
                                     f"schema has {words}")
            required = {r["key"] for r in plugin["options"] if r["required"]}
            definition = definitions[name]  # sinks that are switched off need nothing
            if required != set(definition.get("else", definition).get("required", [])):
                check.tell(name, f"needs {sorted(required)}, the schema says otherwise")
    check.counts["plugins"] = len(told)
    if len(told) < 5:
        check.tell(plugins_file, f"has only {sorted(told)}")
    host_keys(check, keys_file)


def same_option(wanted, got):
    """The schema may say more than `text`: then it has no type by name."""
    if not wanted or not got or wanted[1] != got[1]:
        return False
    return wanted[0] == got[0] or wanted[0] == "text" and got[0] == ""


def paths_of(schemas, schema, above=""):
    """Every key that a configuration may have: "sinks[].use"."""
    home = "config.schema.json"
    for part, _ in schemas.parts(schema, home):
        for key, member in part.get("properties", {}).items():
            if not isinstance(member, dict):
                continue
            if "properties" in member:
                yield from paths_of(schemas, member, f"{above}{key}.")
            else:
                yield above + key
            entry = member.get("items", {}).get("$ref")
            if entry:
                items = schemas.target(entry, home)[0]
                yield from paths_of(schemas, {**items, "allOf": []}, f"{above}{key}[].")


def host_keys(check, keys_file):
    with open(keys_file, encoding="utf-8") as file:
        wanted = set(file.read().split())
    got = set(paths_of(check.schemas, check.schemas.at["config"]))
    for key in wanted ^ got:
        where = "the schema" if key in got else "the loader"
        check.tell(key, f"only {where} knows this key")
    check.counts["keys"] = len(wanted)


def main(words):
    modes = (*s.NAMES, "schemas", "lines", "produced", "options")
    if len(words) < 1 or words[0] not in modes:
        print(__doc__, file=sys.stderr)
        return 2
    check = Check()
    mode, files = words[0], words[1:]
    if mode == "schemas":
        for mistake in s.own_mistakes(check.schemas):
            check.tell("docs/schema", mistake)
        check.counts["schemas"] = len(s.NAMES)
    elif mode == "produced":
        produced(check, files[0])
    elif mode == "options":
        options(check, *files)
    else:
        for path in files:
            if mode == "config":
                check.whole(path, mode)
            else:
                check.lines(path, None if mode == "lines" else mode)
    print(", ".join(f"{n} {kind}" for kind, n in check.counts.items()))
    if check.mistakes:
        print(f"{check.mistakes} mistakes")
    return 1 if check.mistakes or not check.counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
