"""The nodes that speak of facts: a test of one, and a model that says which shall be true."""

from __future__ import annotations

from bt_runtime.agents.kinds.deciding import SCORING
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

WANT = Kind(
    "want", "agent", "Asks a model which facts shall be true, by exact choice among what the skills bring.",
    (
        Field("goal", "string", "What to achieve, as a person would say it.", required=True),
        Field("into", "key", "The entry that receives the facts, joined by ` and `: the goal of a `plan` with "
              "`by: backchaining`.", required=True, writes=True),
        Field("most", "integer", "How many facts at most.", default=8, minimum=1, maximum=50),
        Field("actions", "list", "The skills whose facts may be wanted, by name; without it all that the tree lists."),
        Field("examples", "integer", "How many worked examples, made of the skills' own sentences, stand before the "
              "goal.", default=6, minimum=0, maximum=30),
        *SCORING,
        Field("calibrate", "boolean", "Whether what a fact has anyway, behind goals that say nothing, is taken off its "
              "score.", default=False),
        Field("scale", "number", "Scores are divided by it.", default=1, minimum=0.01, maximum=100),
        Field("system", "text", "The prompt file in trees/prompts/ that says how to answer.", default=""),
        Field("model", "text", "Which of the run's models decides, by its role, such as `planner`.", default=""),
    ),
    (
        "The facts are those of the skills' `brings`, with each slot filled by its `choices`, its `from:` or what the "
        "world names. Of more than 200, those that share the most words with the goal are offered.",
        "The model chooses one fact after another until it says that this is all; it succeeds.",
        "A skill that says nothing of what it brings, or has a slot that anything may fill, gives no facts; where no "
        "skill gives any, it fails.",
        "While it asks it is RUNNING. Every question counts for the budget of the run; when that is spent it fails.",
    ),
    "want:\n  goal: \"{goal}\"\n  into: wanted\n", impl="bt_runtime.backchain.want:Want", waits=True, asks=True,
    check="bt_runtime.agents.kinds.checks:check_actions",
)  # fmt: skip
