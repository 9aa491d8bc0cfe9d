"""The JSON Schema of properties, for heads of trees, manifests and project files."""

from __future__ import annotations

from bt_runtime.language.kinds.shape import NAME, SCALAR, Schema, closed

WORDS = ("never", "always", "eventually", "leads_to", "within", "at_most", "before", "ltl")
ON_VIOLATION = ("halt", "warn")
UNDECIDED = ("refuse", "allow")
ASSUMING = ("skills_end",)


def properties_schema() -> Schema:
    """The schema of `properties:`."""
    return {
        "type": ["object", "null"],
        "description": "What must hold in every run: proved by `btr check`, and watched while the tree runs.",
        "errorMessage": "`properties` maps names to what must hold: `{calm: {never: go_to is running and low}}`",
        "propertyNames": {"pattern": NAME, "errorMessage": "A property is named by ASCII letters, digits and _"},
        "additionalProperties": _property(),
    }  # fmt: skip


def _property() -> Schema:
    return {
        "type": "object",
        "$comment": "a property",
        "errorMessage": f"A property is a mapping with one of: {', '.join(WORDS)}",
        **closed(
            {
                "about": _text("What it is for, in a sentence."),
                "never": _text("Holds after no tick."),
                "always": _text("Holds after every tick."),
                "eventually": _text("Holds after some tick of every run."),
                "leads_to": _part("Whenever `from` holds, `to` holds then or later.", ("from", "to"), ()),
                "within": _part(
                    "Whenever `from` holds (without it: at the start), `to` holds (without it: the tree has ended) "
                    "in so many seconds.", ("from", "to"), ("seconds",), seconds=_number("Seconds of the clock."),
                ),
                "at_most": _part(
                    "`of` begins to hold at most so many times in a run.", ("of",), ("times", "of"),
                    times={"type": "integer", "minimum": 0, "description": "How often."},
                ),
                "before": _part("`then` does not hold before `first` has held.", ("first", "then"), ("first", "then")),
                "ltl": _text("A formula of linear temporal logic: `G(holding -> F placed)`."),
                "assuming": _word(ASSUMING, "What is taken for granted: `skills_end`, each started skill ends."),
                "on_violation": _word(ON_VIOLATION, "When a run breaks it: `halt` the run, or `warn` (the default)."),
                "undecided": _word(
                    UNDECIDED, "A graft that is not decided in its time: `refuse` it (the default), or `allow` it."
                ),
            },
            (),
        ),
    }  # fmt: skip


def _text(about: str) -> Schema:
    return {"type": SCALAR, "description": about, "errorMessage": "This takes an expression"}


def _number(about: str) -> Schema:
    return {"type": "number", "exclusiveMinimum": 0, "description": about}


def _word(words: tuple[str, ...], about: str) -> Schema:
    return {"enum": list(words), "description": about}


def _part(about: str, texts: tuple[str, ...], required: tuple[str, ...], **more: Schema) -> Schema:
    keys: Schema = {name: _text("") for name in texts}
    for each in keys.values():
        del each["description"]
    return {"type": "object", "description": about, **closed({**keys, **more}, required or texts)}
