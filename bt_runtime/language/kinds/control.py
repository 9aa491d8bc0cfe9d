"""Control nodes: they decide which child runs, and combine the children's results."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Field, Kind, Result, Twin

_NODES = "bt_runtime.tree.nodes"
_CHILDREN = Field("children", "nodes", "The children, in order.", required=True)

_YIELD = Field("yield", "boolean", "Is it RUNNING for a tick before it goes on to the next child.", default=False)


def _listed(
    name: str, impl: str, about: str, rules: tuple[str, ...], onward: Result, tag: str, sign: str,
    reactive: bool = False, emit: bool = False, options: tuple[Field, ...] = (),
) -> Kind:  # fmt: skip
    return Kind(
        name, "control", about, (_CHILDREN, *options), rules, f"{name}:\n  - check: battery > 0.2\n  - log: going on\n",
        bare="children", impl=f"{_NODES}.{impl}", reactive=reactive, emit=emit, onward=onward, sign=sign,
        twin=Twin(tag),
    )  # fmt: skip


SEQUENCE = _listed(
    "sequence", "sequences:Sequence", "Runs its children in order; all must succeed.", (
        "A child that succeeds hands over to the next one within the same tick.",
        "A running child is resumed at the next tick; children before it are not ticked again.",
        "A child that fails ends the sequence with FAILURE; the next start begins at the first child.",
        "A skipped child is passed over; when all were skipped the sequence itself is skipped.",
        "With `yield` a child that succeeds hands over at the next tick instead, and the node is RUNNING until then.",
    ),
    "success", "Sequence", "→", emit=True, options=(_YIELD,),
)  # fmt: skip
FALLBACK = _listed(
    "fallback", "sequences:Fallback", "Tries its children in order until one succeeds.", (
        "A child that fails hands over to the next one within the same tick.",
        "A running child is resumed at the next tick; children before it are not ticked again.",
        "A child that succeeds ends the fallback with SUCCESS; when all have failed it fails.",
        "A skipped child is passed over; when all were skipped the fallback itself is skipped.",
        "With `yield` a child that fails hands over at the next tick instead, and the node is RUNNING until then.",
    ),
    "failure", "Fallback", "?", emit=True, options=(_YIELD,),
)  # fmt: skip
REACTIVE_SEQUENCE = _listed(
    "reactive_sequence", "reactive:ReactiveSequence",
    "A sequence whose earlier children are checked again at every tick.", (
        "Every tick begins at the first child.",
        "When a child is running or fails, any later child that was running is halted.",
        "It succeeds when all children succeed in one tick.",
        "A skipped child is passed over; when all were skipped it is skipped itself.",
    ),
    "success", "ReactiveSequence", "→↻", reactive=True,
)  # fmt: skip
REACTIVE_FALLBACK = _listed(
    "reactive_fallback", "reactive:ReactiveFallback",
    "A fallback whose more important children are tried again at every tick.", (
        "Every tick begins at the first child.",
        "When a child is running or succeeds, any later child that was running is halted.",
        "It fails when all children fail in one tick.",
        "A skipped child is passed over; when all were skipped it is skipped itself.",
    ),
    "failure", "ReactiveFallback", "?↻", reactive=True,
)  # fmt: skip
SEQUENCE_WITH_MEMORY = _listed(
    "sequence_with_memory", "sequences:SequenceWithMemory", "A sequence that keeps its place after a failure.", (
        "After a failure the next start begins at the child that failed; children that succeeded are not run again.",
        "After a success, or when halted, the next start begins at the first child.",
    ),
    "success", "SequenceWithMemory", "→·",
)  # fmt: skip
PARALLEL = Kind(
    "parallel", "control", "Runs its children side by side, or one after another whatever they return.", (
        _CHILDREN,
        Field("success", "integer", "How many must succeed; -1 means all, -2 all but one.", default=-1),
        Field("failure", "integer", "How many failures make it fail; -1 means all.", default=1),
        Field("order", "word", "`together`: all at once; `in_turn`: each in order to its end.", default="together",
              choices=("together", "in_turn")),
        Field("wait_all", "boolean", "With `together`: does every child run to its end.", default=False),
    ), (
        "`together`: every tick ticks each child that has not finished; a finished child waits for the others.",
        "It succeeds as soon as `success` children have succeeded, and fails as soon as `failure` have failed "
        "or `success` can no longer be reached; children still running are then halted.",
        "`in_turn`: every child runs to its end, in order, whatever the others return; "
        "the thresholds are read at the end.",
        "Skipped children do not count; when all were skipped the parallel itself is skipped.",
        "The children are counted in their order: those after the one that decided are neither ticked nor started.",
        "`together`: a skipped child is asked again at every tick, for as long as another one is running.",
        "With `wait_all` the thresholds are read when every child has ended: it succeeds when `success` have "
        "succeeded, else fails.",
    ),
    "parallel:\n  success: 1\n  children:\n    - wait: 1\n    - check: battery > 0.2\n",
    bare="children", impl=f"{_NODES}.parallel:Parallel", emit=True, counts=("success", "failure"), sign="⇉",
    twin=Twin("Parallel"),
)  # fmt: skip
FOR_ALL = Kind(
    "for_all", "control", "Runs its child for all items of a list at once, and gathers what they give.", (
        Field("in", "list", "The items: a list, or a template that gives one.", required=True),
        Field("as", "key", "The entry that holds the item, for each its own.", required=True, writes=True),
        Field("give", "key", "The entry in which each leaves what it gives."),
        Field("into", "key", "The entry with the list of what they gave, in the order of the items.", writes=True),
        Field("at_once", "integer", "How many run at the same time; 0 means all.", default=0, minimum=0),
        Field("child", "node", "What is done for each item; a copy of it for each.", required=True),
    ), (
        "The list is read once, when the node starts; for each item a copy of the child grows, which goes when the "
        "node is started again.",
        "What a copy writes is its own; what it has not written it reads from the tree around it.",
        "Every copy runs to its end, whatever the others return; then it succeeds if all have succeeded, else fails.",
        "With `give` and `into`, what each copy wrote is gathered in the order of the items, null where it wrote none.",
        "At most `at_once` copies run at the same time; the next begins when one has ended.",
        "An empty list is SUCCESS; skipped copies do not count, and when all were skipped it is skipped itself.",
        "A long list begins over several ticks, in its order: in each, copies of at most 1,000 nodes grow, or one "
        "copy. When all copies together would be more nodes than a run may have, it fails before the first begins.",
    ),
    "for_all:\n  in: [kitchen, hall]\n  as: place\n  child:\n    log: \"at {place}\"\n",
    impl=f"{_NODES}.for_all:ForAll", waits=True,
)  # fmt: skip
IF = Kind(
    "if", "control", "Chooses one of two branches when it starts.", (
        Field("check", "expression", "The test, made at the start; it may be a node.", required=True, asks=True),
        Field("then", "node", "Run when it holds.", required=True),
        Field("else", "node", "Run when it does not."),
    ), (
        "The test is made once, when the node starts; a running branch is kept until it ends.",
        "Without `else`, a test that does not hold is a FAILURE.",
        "A node in the place of the test holds when it succeeds; while it runs, the branches are not ticked.",
    ),
    "if:\n  check: battery < 0.2\n  then:\n    log: charging\n  else:\n    log: working\n",
    impl=f"{_NODES}.branches:If", blocks=("check",), sign="◇",
)  # fmt: skip
WHILE = Kind(
    "while", "control", "Runs a branch as long as a test holds, else the other.", (
        Field("check", "expression", "The test, made at every tick; it may be a node.", required=True, asks=True),
        Field("do", "node", "Run while it holds.", required=True),
        Field("else", "node", "Run while it does not."),
    ), (
        "The test is made at every tick; when it changes, the running branch is halted and the other one starts.",
        "The result of the branch is the result of the node; without `else`, a test that does not hold is a FAILURE.",
        "A node in the place of the test holds when it succeeds; while it runs, the branches are not ticked.",
    ),
    "while:\n  check: battery > 0.2\n  do:\n    wait: 10\n  else:\n    log: too low\n",
    impl=f"{_NODES}.branches:While", reactive=True, blocks=("check",), sign="↻",
)  # fmt: skip
SWITCH = Kind(
    "switch", "control", "Chooses a branch by a value.", (
        Field("on", "expression", "The value, read at every tick. A node gives `success` or `failure`.",
              required=True, asks=True),
        Field("cases", "cases", "A branch for each value; keys are compared as text.", required=True),
        Field("default", "node", "Run when no case fits."),
    ), (
        "The value is read at every tick; when another case fits, the running branch is halted first.",
        "When no case fits and there is no default, it fails.",
        "A node in the place of the value gives the case `success`, `failure` or, when it is skipped, `invalid`.",
    ),
    "switch:\n  on: room\n  cases:\n    kitchen:\n      log: cook\n    office:\n      log: write\n"
    "  default:\n    log: rest\n",
    impl=f"{_NODES}.branches:Switch", reactive=True, blocks=("on",), sign="◇",
)  # fmt: skip
TRY = Kind(
    "try", "control", "Runs a branch, another one when it fails or breaks, and one when all is over.", (
        Field("do", "node", "What to attempt.", required=True),
        Field("catch", "node", "What to do after a failure."),
        Field("finally", "node", "What to do when that is over, however it ended."),
        Field("on", "word", "`failure`: any failure; `exception`: only when a node broke; `any`: a failure or a halt.",
              default="failure", choices=("failure", "exception", "any")),
        Field("as", "key", "The entry that receives {path, message, exception} of the node that failed first.",
              default="error", writes=True),
    ), (
        "When `do` succeeds, it succeeds and `catch` is not ticked.",
        "When `do` fails, the fault is written to the entry named by `as`, and the result of `catch` is the result.",
        "With `on: exception`, a plain failure is passed on and `catch` is not ticked.",
        "`finally` runs after `do`, or after `catch` when that was started; its own result does not count.",
        "When it is halted, `finally` is ticked once within the halt, and what then still runs of it is halted; "
        "one that is running already is not started again.",
        "With `on: any`, a halt of `do` is a fault as well: `catch` is ticked once within the halt, before `finally`.",
        "A skipped `do` makes it skipped, and nothing else is ticked.",
    ),
    "try:\n  do:\n    check: battery > 0.2\n  catch:\n    log: \"failed: {error['message']}\"\n",
    impl=f"{_NODES}.branches:Try", one_of=("finally", "catch"), sign="⚑",
)  # fmt: skip

CONTROL = (
    SEQUENCE, FALLBACK, REACTIVE_SEQUENCE, REACTIVE_FALLBACK, SEQUENCE_WITH_MEMORY, PARALLEL, FOR_ALL, IF, WHILE,
    SWITCH, TRY,
)  # fmt: skip
