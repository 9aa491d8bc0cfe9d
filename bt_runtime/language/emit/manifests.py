"""The editor schema of skill manifests (`skills/*.yaml`)."""

from __future__ import annotations

from collections.abc import Mapping

from bt_runtime.language.entry import ON_RESUME
from bt_runtime.language.kinds.kind import DATA_TYPES, RESERVED
from bt_runtime.language.kinds.shape import DRAFT, NAME, SCALAR, Schema, bounds, closed, typed

_TYPES = sorted(DATA_TYPES)
_IMPL = (
    "Where it is done: `world`, `world/skill`, `memory`, module:Name, path.py:Name, or a name of what is installed: "
    "`ros/action`."
)


def manifest_schema(keys: Mapping[str, Schema] | None = None) -> Schema:
    """Returns the schema of manifests. `keys`: further keys of skills, from their implementations."""
    named = {"pattern": NAME, "errorMessage": "A skill is named by ASCII letters, digits and _"}
    return {
        "$schema": DRAFT,
        "title": "bt_runtime skills",
        "description": "A manifest of skills: which sentences there are, and what each needs and brings.",
        "type": "object",
        **closed(
            {
                "version": {"enum": [1], "description": "The version of the language: 1.",
                            "errorMessage": "A manifest begins with `version: 1`"},
                "skills": {**_text("The manifest's name: what a tree lists under `skills:`."), "minLength": 1,
                           "errorMessage": "A manifest has a name, for instance `skills: house`"},
                "about": _text("What these skills are for."),
                "impl": _text(f"{_IMPL} The skills that do not say otherwise use it."),
                "properties": {"type": ["object", "null"], "description": "What must hold in trees that name it.",
                               "errorMessage": "`properties` is a mapping of names to what must hold"},
                "policies": {"type": ["object", "string", "null"],
                             "description": "Which sources may order its skills, in trees that name it.",
                             "errorMessage": "`policies` is a mapping of rules"},
                "kinds": {
                    "type": "object",
                    "description": "The skills by name; each becomes a kind of node.",
                    "propertyNames": named,
                    "additionalProperties": _skill(keys or {}),
                },
            },
            ("version", "skills", "kinds"),
        ),
    }  # fmt: skip


def _skill(keys: Mapping[str, Schema]) -> Schema:
    properties: Schema = {
        "sentence": _text("What an agent says to act: `go to {place}`; each {slot} is a parameter."),
        "about": _text("What it does, in a sentence."),
        "params": _params("What it takes: a name and a type each."),
        "outputs": _params("What it gives; a node names the entry that is written."),
        "needs": _sentences("What must be true before."),
        "brings": _sentences("What is true afterwards."),
        "requires": _text(
            "What must hold at each start and while it runs: an expression over the outermost tree's entries. When it "
            "turns false, the skill is halted and fails."
        ),
        "takes": {"type": "number", "exclusiveMinimum": 0, "description": "How many seconds it usually takes."},
        "on_resume": {
            "enum": list(ON_RESUME),
            "description": "After an interruption: do it again, ask whether it was done, or fail. Without a word: "
            "`verify` when it says what it brings, else `fail`.",
        },
        "durable": {
            "type": "boolean",
            "description": "Is its end on the disk before anybody is told? Without a word: yes, unless it may repeat.",
        },
        "says": _text("What an agent is told when it has succeeded; its holes are parameters and outputs."),
        "confirm": {
            "type": ["boolean", "number"],
            "exclusiveMinimum": 0,
            "description": "Is a person asked before each start? A number: how many seconds they have (else 600).",
        },
        "at_most": {"type": "integer", "minimum": 1, "description": "How often it may be started in one run."},
        "uses": {
            **_names("What only one skill at a time may have: the next one waits until it is free."),
            "type": ["array", "object"],
            "additionalProperties": {"enum": ["robot", "fleet"]},
        },
        "follow": _names("Parameters that it is told anew while it runs."),
        "instant": {
            "type": "boolean",
            "description": "It answers as soon as it is called: called in the tick, never in a thread.",
        },
        "impl": _text(_IMPL),
        **keys,
    }
    return {"type": "object", "$comment": "a skill", **closed(properties, ())}


def _params(about: str) -> Schema:
    source = _text(
        "What an agent may fill it with: an entry with a list, `things`, another skill's output, or texts of a form: "
        "`/[A-Z]{3}/`."
    )
    return {
        "type": "object",
        "description": about,
        **typed("a parameter", _TYPES, RESERVED, **{**bounds(), "from": source}),
    }


def _text(about: str) -> Schema:
    return {"type": SCALAR, "description": about}


def _names(about: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": about}


def _sentences(about: str) -> Schema:
    return {"type": "array", "items": {"type": SCALAR}, "description": about}
