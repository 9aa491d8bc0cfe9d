"""A model as a leaf: one typed judgement, or which child is the right one."""

from __future__ import annotations

from bt_runtime.agents.kinds.deciding import RETRIEVAL, SAMPLER, SCORING
from bt_runtime.language.kinds.kind import Field, Kind

_IMPL = "bt_runtime.agents"
_PROMPT = Field("prompt", "string", "What is judged: text with holes for entries.", required=True)
_SYSTEM = Field("system", "text", "The prompt file in trees/prompts/ that says how to answer.", default="")
_MODEL = Field("model", "text", "Which of the run's models decides, by its role, such as `planner`.", default="")
_MARGIN = Field(
    "margin", "key", "The entry that receives how far ahead the choice was, in nats: 1.5 is four and a half times as "
    "likely as the next; of several choices the least.", writes=True,
)  # fmt: skip
_ODDS = Field("distribution", "key", "The entry that receives how likely each choice was.", writes=True)
_CALIBRATE = Field(
    "calibrate", "boolean", "Whether what a choice has anyway, behind cases that say nothing, is taken off its score.",
    default=False,
)  # fmt: skip
_SCALE = Field(
    "scale", "number", "Scores are divided by it, so that odds and margins are as sure as they are right; "
    "`btr lab eval CASES.csv --fit-calibration` finds it.", default=1, minimum=0.01, maximum=100,
)  # fmt: skip
_EXAMPLES = (
    Field("examples", "integer", "How many experiences of the run's memory to show at most.", default=0, minimum=0),
    *RETRIEVAL,
)  # fmt: skip

INFER = Kind(
    "infer", "agent", "Asks a model for values: choices, numbers, text, lists, objects.",
    (
        _PROMPT,
        Field("outputs", "outputs", "Entries, and what each may be: a type with its bounds, or `choices`.",
              required=True),
        Field("picture", "string", "The path of a PNG or JPEG below the project, or a picture's mark; it stands before "
              "the prompt, for a model with `mmproj`."),
        Field("holds", "expression", "It fails where this does not hold of what was answered: for a test."),
        _MARGIN, _ODDS, *SCORING, _CALIBRATE, _SCALE,
        Field("shots", "list", "Cases with their answers: a value for each output, and for each hole that differs.",
              default=[]),
        *_EXAMPLES,
        Field("think", "integer", "Tokens of a thought before the answer; 0 means none.", default=0, minimum=0),
        Field("votes", "integer", "How often it is asked, each time with another seed; the majority is taken.",
              default=1, minimum=1, maximum=50),
        Field("temperature", "number", "Of thoughts, and of what is not chosen; 0 takes the likeliest.", default=0,
              minimum=0, maximum=2),
        *SAMPLER,
        Field("max_tokens", "integer", "Tokens of one list, object or text.", default=256, minimum=1),
        _SYSTEM, _MODEL,
    ),
    (
        "The outputs are asked for one after the other, each with those before it in view, and written together.",
        "It succeeds when everything was answered and `holds`, over the entries as they are then, is true; without "
        "`holds`, when everything was answered.",
        "Choices, yes or no, and an integer between two bounds at most 100 apart are chosen exactly, by comparing all "
        "of them; every other value is held to its type and bounds by a grammar.",
        "`margin` and `distribution` are of what was chosen; with several votes, of the votes together.",
        "While it asks it is RUNNING; the answer to a question stands until the question is another one, so a node "
        "that is asked at every tick, as the test of a `while`, asks its model only then.",
        "Every question counts for the budget of the run; when that is spent it fails, and writes nothing.",
    ),
    "infer:\n  prompt: \"A message: {message}\"\n  outputs:\n    team: {choices: [billing, support]}\n"
    "    urgency: {type: integer, minimum: 1, maximum: 5}\n  margin: margin\n",
    impl=f"{_IMPL}.infer:Infer", waits=True, asks=True, keeps=True, check=f"{_IMPL}.kinds.checks:check_outputs",
)  # fmt: skip

ROUTE = Kind(
    "route", "agent", "Lets a model choose which of its children runs, by their `about:` lines.",
    (
        _PROMPT,
        Field("children", "nodes", "What can be done; each says what it is for, in `about:`.", required=True),
        Field("tries", "integer", "How many may fail before it fails, the likeliest first; -1 means all.", default=1,
              minimum=1, extra=(-1,)),
        Field("sure", "number", "The least margin with which a child is chosen.", default=0, minimum=0),
        Field("unsure", "node", "What is done instead where the margin is less than `sure`."),
        _MARGIN, _ODDS, *SCORING, _CALIBRATE, _SCALE, _SYSTEM, _MODEL,
    ),
    (
        "The model chooses once, when the node starts; a child goes by its name, one without a name by its `about:`. "
        "What a child does not say itself is said by the tree that it includes, or by the skill.",
        "With `tries: 1` it is a switch, and its result is the child's; with more it is a fallback, in the order of "
        "how likely the model finds each child.",
        "A skipped child makes way for the next likeliest, whatever `tries` is.",
        "Where the margin is less than `sure`, `unsure` runs, and its result is the node's; without it the node fails.",
        "While it asks it is RUNNING. Every question counts for the budget of the run; when that is spent it fails.",
    ),
    "route:\n  prompt: \"A message: {message}\"\n  children:\n"
    "    - log: {text: to billing, name: billing, about: invoices and refunds}\n"
    "    - log: {text: to support, name: support, about: something does not work}\n",
    impl=f"{_IMPL}.route:Route", waits=True, asks=True, check=f"{_IMPL}.kinds.checks:check_route",
)  # fmt: skip
