# schemas.py -- the schemas of docs/schema: read, checked, and asked about a value.
import json
import re
import warnings

with warnings.catch_warnings():  # newer versions have another resolver, too
    warnings.simplefilter("ignore", DeprecationWarning)
    from jsonschema import Draft202012Validator, FormatChecker, RefResolver

NAMES = ("trace", "report", "config", "plugins", "addresses", "manifest")

# A word that is misspelt says nothing, and no meta-schema minds it.
KEYWORDS = set(
    "$schema $id $ref $defs title description type enum const default"
    " properties patternProperties required additionalProperties maxProperties"
    " dependentRequired items prefixItems minItems maxItems pattern minLength"
    " maxLength minimum maximum if then else not allOf anyOf oneOf".split()
)


def once(pairs):
    """An object that has no key twice."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key is written twice")
    return members


def once_but_comments(pairs):
    once([pair for pair in pairs if not pair[0].startswith("//")])
    return dict(pairs)


def no_constant(word):
    raise ValueError(word + " is no JSON")


def read(text, kind=None):
    """The value that a text is, by the letter of JSON; ValueError if it is none."""
    members = once_but_comments if kind == "config" else once
    value = json.loads(text, object_pairs_hook=members, parse_constant=no_constant)
    json.dumps(value, ensure_ascii=False).encode()  # no half of a surrogate pair
    return value


class Schemas:
    def __init__(self, folder):
        self.at = {}
        for name in NAMES:
            with open(f"{folder}/{name}.schema.json", encoding="utf-8") as file:
                self.at[name] = read(file.read())
        self.files = {schema["$id"]: schema for schema in self.at.values()}
        self.validators = {}
        for name, schema in self.at.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                resolver = RefResolver(
                    schema["$id"], schema, store=self.files, cache_remote=False
                )
            self.validators[name] = Draft202012Validator(
                schema, resolver=resolver, format_checker=FormatChecker()
            )

    def mistakes(self, name, value):
        """What is wrong with a value, a line each."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            for error in self.validators[name].iter_errors(value):
                place = "".join(f"[{step!r}]" for step in error.absolute_path)
                yield f"{place or 'top'}: {error.message[:200]}"

    def target(self, reference, home):
        """The schema that a $ref of the file `home` means, and its file."""
        file, _, pointer = reference.partition("#")
        file = file or home
        schema = self.files[file]
        for step in pointer.split("/")[1:]:
            schema = schema[step]
        return schema, file

    def parts(self, schema, home):
        """A schema and all that it refers to, with the file that each is in."""
        yield schema, home
        if "$ref" in schema:
            yield from self.parts(*self.target(schema["$ref"], home))
        for more in schema.get("allOf", []):
            yield from self.parts(more, home)

    def disorder(self, value, schema, home, place="top"):
        """Where members do not come in the order in which the schema has them."""
        parts = [p for p in self.parts(schema, home) if isinstance(p[0], dict)]
        if isinstance(value, list):
            for items, file in parts:
                for i, element in enumerate(value if "items" in items else []):
                    yield from self.disorder(
                        element, items["items"], file, f"{place}[{i}]"
                    )
        if not isinstance(value, dict):
            return
        order = max((list(p.get("properties", {})) for p, _ in parts), key=len)
        known = [key for key in value if key in order]
        if known != sorted(known, key=order.index):
            yield f"{place}: members are written {known}"
        for properties, file in parts:
            for key, member in properties.get("properties", {}).items():
                if key in value and isinstance(member, dict):
                    yield from self.disorder(value[key], member, file, f"{place}.{key}")

    def disorder_of(self, name, value):
        schema = self.at[name]
        return self.disorder(value, schema, schema["$id"])


def walk(schema, place):
    """Every schema in a schema, with its place."""
    yield schema, place
    if not isinstance(schema, dict):
        return
    for word in ("properties", "$defs"):
        for key, member in schema.get(word, {}).items():
            yield from walk(member, f"{place}.{key}")
    for word in ("prefixItems", "allOf", "anyOf", "oneOf"):
        for i, member in enumerate(schema.get(word, [])):
            yield from walk(member, f"{place}.{word}[{i}]")
    for word in ("items", "additionalProperties", "if", "then", "else", "not"):
        if word in schema:
            yield from walk(schema[word], f"{place}.{word}")


def own_mistakes(schemas):
    """What is wrong with the schemas themselves."""
    for name, schema in schemas.at.items():
        Draft202012Validator.check_schema(schema)
        if schema["$id"] != f"{name}.schema.json":
            yield f"{name}: $id is {schema['$id']}"
        for part, place in walk(schema, name):
            if not isinstance(part, dict):
                continue
            for word in set(part) - KEYWORDS:
                yield f"{place}: unknown keyword {word}"
            if "pattern" in part:
                re.compile(part["pattern"])
            if "$ref" in part:
                schemas.target(part["$ref"], schema["$id"])
            for key in part.get("properties", {}):
                if not described(schemas, part, schema, key) and not asks(place):
                    yield f"{place}.{key}: has no description"


def asks(place):
    """Whether a schema in there only asks what a value is like."""
    return not {"if", "not", "else"}.isdisjoint(place.split("."))


def described(schemas, part, schema, key):
    for more, home in schemas.parts(part, schema["$id"]):
        member = more.get("properties", {}).get(key)
        if isinstance(member, bool):
            return True  # what it is is said elsewhere
        if member and any("description" in p for p, _ in schemas.parts(member, home)):
            return True
    return False
