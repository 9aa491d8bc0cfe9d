"""The node of a planned tree that asks for a fact. Anybody may write it."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Field, Kind

HOLDS = Kind(
    "holds", "leaf", "Tests a fact: a sentence of a skill's `needs` or `brings`.",
    (
        Field("fact", "string", "The sentence: `near fridge 1`. `not` before it denies it.", required=True),
        Field("otherwise", "boolean", "The answer where nothing can tell, and no skill has brought or denied it.",
              default=False),
    ),
    (
        "The world is asked first, then a condition among the tree's skills, then an entry: `hand_free` for "
        "`hand free`.",
        "Where none of them can tell, what the skills have brought in this run counts.",
    ),
    "holds: near fridge 1\n", bare="fact", impl="bt_runtime.backchain.holding:Holds", waits=False,
)  # fmt: skip
