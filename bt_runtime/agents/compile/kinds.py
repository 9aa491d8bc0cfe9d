"""The node kinds of a compiled tree: they only read the world and write entries. Any tree may use them."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Field, Kind

_IMPL = "bt_runtime.agents.compile.asking"
_SLOTS = Field("slots", "key", "The entry that receives what stands in the slots: a mapping.", writes=True)
_FORM = "words with slots, as in `pick up <thing> <number>`; a slot whose name begins with `number` takes digits"

FITS = Kind(
    "fits", "leaf", "Reads a text, such as a goal, by forms that are known.",
    (
        Field("text", "string", "What is read.", required=True),
        Field("forms", "object", f"Forms by their names, one or a list for each: {_FORM}.", required=True),
        Field("form", "key", "The entry that receives the name of the form.", writes=True),
        _SLOTS,
    ),
    (
        "Where several forms fit, it takes the one with the most text outside its slots.",
        "It fails where none fits, and writes nothing.",
    ),
    'fits:\n  text: bring me the cup\n  forms: {fetch: "bring me the <thing>"}\n  form: form\n  slots: it\n',
    impl=f"{_IMPL}:Fits",
)  # fmt: skip
OFFERED = Kind(
    "offered", "leaf", "Tests whether an action of a form can be done now.",
    (
        Field("form", "string", f"The action: {_FORM}.", required=True),
        _SLOTS,
        Field("without", "list", "What must not stand in its slots; a kind, `fridge`, stands for `fridge 1` too."),
    ),
    (
        "It looks at what the world offers; in a run without a world at the tree's skills, with what fills their slots "
        "now and what they need.",
        "`slots` receives those of the first action of that form; without one it fails, and writes nothing.",
    ),
    "offered: open fridge <number>\n", bare="form", impl=f"{_IMPL}:Offered",
)  # fmt: skip
UNTRIED = Kind(
    "untried", "leaf", "Takes the most promising value for an action that was not tried yet.",
    (
        Field("form", "string", "The action, with one slot: `go to <place>`.", required=True),
        Field("order", "list", "Kinds of values, the most promising first: `fridge` is the kind of `fridge 1`.",
              required=True),
        Field("tried", "key", "The entry with the list of what was tried; it is added to.", required=True, writes=True,
              reads=True),
        Field("next", "key", "The entry that receives the value.", required=True, writes=True),
        Field("among", "string", "Only values that stand in this text."),
    ),
    ("A value whose kind is not in `order`, or in `tried`, is never taken.", "It fails when none is left."),
    "untried:\n  form: go to <place>\n  order: [fridge, cupboard]\n  tried: tried\n  next: place\n",
    impl=f"{_IMPL}:Untried",
)  # fmt: skip
HEARD = Kind(
    "heard", "leaf", "Tests what the last action was answered, or what the world shows.",
    (
        Field("form", "string", "The answer as a form: words with slots.", default=""),
        Field("of", "word", "What is read: the last `answer`, or each line of what the world shows now (`look`).",
              default="answer", choices=("answer", "look")),
        Field("text", "key", "The entry that receives what was read.", writes=True),
        _SLOTS,
    ),
    (
        "Without `form` it succeeds.",
        "Before the first action the answer is empty.",
        "With `of: look` the first line of that form is taken.",
        "An answer has a form when all of it, one of its lines or one of its sentences has; `text` receives that.",
    ),
    "heard: You have not seen <thing> before.\n", bare="form", impl=f"{_IMPL}:Heard",
)  # fmt: skip
