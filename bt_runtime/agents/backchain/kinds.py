"""The nodes that speak of facts: a test of one, and a model that says which shall be true."""

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
        "Where none of them can tell, what the skills have brought in this run counts, then the latest output of a "
        "name: `state lent` is the output `state` with the value `lent`.",
    ),
    "holds: near fridge 1\n", bare="fact", impl="bt_runtime.agents.backchain.holding:Holds", waits=False,
)  # fmt: skip

WANT = Kind(
    "want", "agent", "Asks a model which facts shall be true, by exact choice among what the skills bring.",
    (
        Field("goal", "string", "What to achieve, as a person would say it.", required=True),
        Field("into", "key", "The entry that receives the facts, joined by ` and `: the goal of a `plan` with "
              "`by: backchaining`.", required=True, writes=True),
        Field("stages", "key", "The entry that receives the same as a list, one item for what is asked for at "
              "once: behind `then` another begins.", writes=True),
        Field("most", "integer", "How many facts at most; a goal that means more fails.", default=20, minimum=1,
              maximum=200),
        Field("confirm", "boolean", "Whether a person is asked first if this is what was meant; without a person, or "
              "with any other answer than yes, it fails.", default=False),
        Field("actions", "list", "The skills whose facts may be wanted, by name; without it all that the tree lists."),
        Field("examples", "integer", "How many worked examples, made of the skills' own sentences, stand before the "
              "goal, behind those of the prompt file.", default=4, minimum=0, maximum=30),
        Field("weight", "number", "How much of what an action scores when nothing is said is taken off its score; a "
              "model without scores chooses by itself.", default=0.4, minimum=0, maximum=2),
        Field("sure", "number", "By which share the action for a part that names no thing must be less surprising "
              "than when nothing is said; else none is meant, and the part is left out. A model without scores is "
              "offered `none of these`, for a part that names one too: then it fails.",
              default=0.3, minimum=0, maximum=1),
        Field("system", "text", "The prompt file in trees/prompts/ with the first examples.", default=""),
        Field("model", "text", "Which of the run's models decides, by its role, such as `planner`.", default=""),
    ),
    (
        "The goal is taken apart at `and`, `then` and between sentences. For each part the model chooses the action "
        "that is meant; what that action brings shall be true. An order in an action's own words means that action: "
        "`put a hot cup in the sink`; so does a part with the verb of one action alone: `the wall shall be painted`, "
        "`start it`.",
        "A part that names things offers their actions alone. A thing is named in full, or by a word that no other of "
        "its slot has. `It` and `them` are what the part before was taken for. `All`, `every`, `each`, `both` and a "
        "plural mean every thing of the slot, but those behind `except`. A part that begins with `do not` asks for "
        "nothing.",
        "The facts are those of the skills' `brings`, with each slot filled by its `choices`, its `from:` or what the "
        "world names. A world may name itself what can be wanted of it (`aims()`), as the house does. Of more than "
        "200, those that share the most words with the goal are offered.",
        "`If` and `unless` make a fact one that is asked for only where another holds: `fern is watered if "
        "fern is dry`. `plan` with `by: backchaining` looks that up first, by the world, a condition, or the action "
        "whose output tells it.",
        "A goal with `until`, `when` or `otherwise` fails: a list of facts cannot say it. So does one that asks for "
        "nothing.",
        "A skill that says nothing of what it brings, or has a slot that anything may fill, gives no facts; where no "
        "skill gives any, it fails.",
        "While it asks it is RUNNING. Every question counts for the budget of the run; when that is spent it fails.",
    ),
    "want:\n  goal: water the fern and open the window\n  into: wanted\n",
    impl="bt_runtime.agents.backchain.want:Want", waits=True, asks=True,
    check="bt_runtime.agents.kinds.checks:check_actions",
)  # fmt: skip
