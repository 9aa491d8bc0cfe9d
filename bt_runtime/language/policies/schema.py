"""The JSON Schema of policies, for heads of trees, manifests and project files."""

from __future__ import annotations

from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.language.policies.label import LABELS

ROBOT = "robot"
PRESETS = (ROBOT,)
SAID = "`policies` is `robot`, or a mapping: `{skills: {unlock_door: {place: [operator, author]}}}`"
_ONE: Schema = {"enum": list(LABELS), "errorMessage": f"The labels are: {', '.join(LABELS)}"}
_SOME: Schema = {"type": "array", "items": _ONE}


def policies_schema() -> Schema:
    """The schema of `policies:`."""
    return {
        "type": ["object", "string", "null"],
        "description": "Which sources may order what: `robot`, or rules for skills and plans.",
        "errorMessage": SAID,
        "pattern": f"^({'|'.join(PRESETS)})$",
        "$comment": "a policy",
        **closed(
            {
                "use": {"enum": list(PRESETS), "description": "The default policies to begin with."},
                "skills": _map("For each skill, or sentence of a world, the labels that its start and its slots may "
                               "have.", {
                    "type": ["array", "object"],
                    "errorMessage": "A rule is a list of labels, or one for each slot: `{place: [operator]}`",
                    "items": _ONE, "additionalProperties": _SOME,
                }),
                "acts": _from("The labels that may start any skill but those that only read."),
                "plans": _from("The labels that may grow a plan below an agent."),
                "reads": {"type": "array", "items": {"type": "string"},
                          "description": "Skills and sentences that only read: `acts` does not hold for them."},
                "labels": {
                    "type": "object", "description": "The sources of what comes from elsewhere.",
                    "$comment": "labels",
                    **closed({
                        "entries": _map("Of entries that programs write.", _label()),
                        "skills": _map("Of what skills give.", _label()),
                        "world": {**_label(), "description": "Of what the world shows."},
                        "memory": {**_label(), "description": "Of experiences that do not tell their own."},
                    }, ()),
                },
                "endorse": {
                    "type": "array", "items": {"type": "string"},
                    "description": "Answers of `infer` with a closed type that are taken as the author's own choice.",
                },
            },
            (),
        ),
    }  # fmt: skip


def _map(about: str, of: Schema) -> Schema:
    return {"type": "object", "description": about, "additionalProperties": of}


def _label() -> Schema:
    return {"type": ["array", "string"], "items": _ONE, "pattern": f"^({'|'.join(LABELS)})$",
            "errorMessage": f"The labels are: {', '.join(LABELS)}"}  # fmt: skip


def _from(about: str) -> Schema:
    return {"type": "object", "description": about, "$comment": "a rule", **closed({"from": _SOME}, ("from",))}
