"""The JSON Schema of a tree file's head, which stands above the root. The editor's schema includes it."""

from __future__ import annotations

from bt_runtime.language.expression.scope import WORDS
from bt_runtime.language.kinds.shape import DRAFT, NAME, NODE, SCALAR, Schema, bounds, closed, typed

PORT_TYPES = ("any", "string", "integer", "number", "boolean", "list", "object")
OUTSIDE: Schema = {"type": "boolean", "description": "Does somebody outside write it? Unless said: when no node does.",
                   "errorMessage": "`outside` is true or false"}  # fmt: skip
SHARING = ("shared", "stale_after", "when_stale")  # fields of entries that a fleet shares: language/shared.py


def header_schema() -> Schema:
    """Returns the schema of a tree file's head, which also requires a root."""
    head = head_properties([])
    head |= {"root": {}, "skills": {**head["skills"], "items": {}}}  # what is no manifest is told where it is sought
    return {
        "$schema": DRAFT,
        "type": "object",
        **closed(head, ("version", "tree", "root")),
        "definitions": {"ports": ports(), "entries": ports(outside=OUTSIDE, **{key: {} for key in SHARING})},
    }


def head_properties(manifests: list[str]) -> Schema:
    """The keys of a tree file. `skills` allows these manifests, if there are any."""
    name: Schema = {"type": "string", **({"enum": manifests} if manifests else {})}
    if manifests:
        del name["type"]
    return {
        "version": {"enum": [1], "description": "The version of the language: 1.",
                    "errorMessage": "This runtime reads version 1 of the language, and no other"},
        "tree": {"type": "string", "pattern": NAME, "description": "The tree's name: ASCII letters, digits and _.",
                 "errorMessage": "The tree's name: ASCII letters, digits and _"},
        "about": {"type": [*SCALAR, "null"], "description": "What the tree is for, in a sentence."},
        "moves": {"type": "boolean", "description": "May another robot of a fleet go on with a run that was cut off?",
                  "errorMessage": "`moves` is true or false"},
        "skills": {"type": ["array", "null"], "items": name, "description": "Manifests whose skills are kinds here.",
                   "errorMessage": "`skills` takes a list of manifests: `skills: [house]`"},
        "inputs": _section("What the tree takes: checked before the first tick, never written by the tree."),
        "outputs": _section("What the tree gives: entries it writes."),
        "blackboard": _section("Entries that somebody outside writes: sensors, operators, a fleet.", "entries"),
        "properties": {"description": "What must hold in every run: proved by `btr check`, watched by each run."},
        "policies": {"description": "Which sources may order what; refused by each run, and here where it is certain."},
        "root": {"description": "The first node.", "allOf": [NODE]},
    }  # fmt: skip


def _section(about: str, ports: str = "ports") -> Schema:
    return {"description": about, "allOf": [{"$ref": f"#/definitions/{ports}"}]}


def ports(**more: Schema) -> Schema:
    said = "Ports are a mapping of names to types, for instance `room: {type: string}`"
    why = "It is a word of expressions, which could not read it"
    typed_ports: Schema = {"allOf": [typed("a port", PORT_TYPES, WORDS, why, **bounds(), **more)]}
    return {"type": ["object", "null"], "errorMessage": said, **typed_ports}
