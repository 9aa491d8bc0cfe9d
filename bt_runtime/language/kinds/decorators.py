"""Decorators: they change when their one child runs, or what it returns."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Ends, Field, Kind, Result, Twin

_IMPL = "bt_runtime.tree.nodes"
_CHILD = Field("child", "node", "The node that is decorated.", required=True)
_SKIPPED = "A skipped child makes the decorator skipped."


def _decorator(
    name: str, impl: str, about: str, fields: tuple[Field, ...], rules: tuple[str, ...], example: str, *,
    waits: bool = False, ends: Ends = "any", endless: Result | None = None, skips: bool = False,
    blocks: tuple[str, ...] = (), one_of: tuple[str, ...] = (), sign: str = "", twin: Twin | None = None,
) -> Kind:  # fmt: skip
    bare = None if one_of or any(f.required for f in fields) else "child"
    return Kind(
        name, "decorator", about, (*fields, _CHILD), rules, example, bare=bare, impl=f"{_IMPL}.{impl}", waits=waits,
        ends=ends, endless=endless, skips=skips, blocks=blocks, one_of=one_of, sign=sign, twin=twin,
    )  # fmt: skip


def _example(name: str, *lines: str) -> str:
    body = "".join(f"  {line}\n" for line in lines)
    return f"{name}:\n{body}  child:\n    check: battery > 0.2\n"


_TIMES = "a whole number from 1, or -1 for ever"
DECORATORS = (
    _decorator(
        "invert", "results:Invert", "Turns success into failure and failure into success.", (),
        ("SUCCESS becomes FAILURE and FAILURE becomes SUCCESS; RUNNING stays.", _SKIPPED),
        "invert:\n  check: battery > 0.2\n", ends="opposite", sign="¬", twin=Twin("Inverter"),
    ),
    _decorator(
        "force", "results:Force", "Gives a fixed result once its child has ended.",
        (Field("status", "word", "What to return.", required=True, choices=("success", "failure")),),
        ("While the child is running it is RUNNING; then it returns the given status, whatever the child returned.",),
        _example("force", "status: success"), ends="status",
    ),
    _decorator(
        "retry", "repeats:Retry", "Runs its child again after a failure.",
        (Field("times", "integer", f"How many attempts in all: {_TIMES}.", required=True, minimum=1, extra=(-1,)),),
        (
            "SUCCESS of the child is SUCCESS; after a failure the child is started again at the next tick.",
            "After the last attempt has failed it fails; a running child does not use up an attempt.",
            "A count that turns out to be 0 fails without ticking the child; one below -1 is a fault of this node.",
        ),
        _example("retry", "times: 3"), waits=True, ends="child", endless="success", sign="↺",
        twin=Twin("RetryUntilSuccessful", {"times": "num_attempts"}),
    ),
    _decorator(
        "repeat", "repeats:Repeat", "Runs its child again after a success.",
        (Field("times", "integer", f"How many successes in all: {_TIMES}.", required=True, minimum=1, extra=(-1,)),),
        (
            "FAILURE of the child is FAILURE; after a success the child is started again at the next tick.",
            "After the last success it succeeds.",
            "A count that turns out to be 0 succeeds without ticking the child; one below -1 is a fault of this node.",
        ),
        _example("repeat", "times: 3"), waits=True, ends="child", endless="failure", sign="↻",
        twin=Twin("Repeat", {"times": "num_cycles"}),
    ),
    _decorator(
        "until_failure", "repeats:UntilFailure", "Runs its child again and again until it fails.", (),
        ("After a success the child is started again at the next tick; its failure is SUCCESS.",),
        "until_failure:\n  check: battery > 0.2\n", waits=True, ends="success", twin=Twin("KeepRunningUntilFailure"),
    ),
    _decorator(
        "for_each", "repeats:ForEach", "Runs its child once for each item of a list.",
        (
            Field("in", "list", "The items: a list, or a template that gives one."),
            Field("from", "key", "The entry with a list that is used up: each item is taken off it."),
            Field("as", "key", "The entry that holds the current item.", required=True, writes=True),
            Field("empty", "word", "What it returns when there are no items.", default="success",
                  choices=("success", "failure", "skip")),
        ),
        (
            "The list is read once, when the node starts; each item is written to the entry before the child starts.",
            "After a success the next item follows at the next tick; a failure ends it with FAILURE.",
            "An empty list is SUCCESS without ticking the child, or what `empty` says.",
            "An item whose child is skipped is passed over; when all were skipped it is skipped itself.",
            "With `from` the first item is taken off the list in that entry before each round, until none is left: "
            "what is added meanwhile is done too, what was taken is gone whatever comes of it, and `in` is not read.",
            "An entry of `from` that was never written is an empty list; one that holds no list is this node's fault.",
        ),
        "for_each:\n  in: [kitchen, hall]\n  as: place\n  child:\n    log: \"at {place}\"\n", waits=True,
        one_of=("from", "in"),
    ),
    _decorator(
        "timeout", "timing:Timeout", "Fails when its child takes too long.",
        (Field("seconds", "number", "How long the child may take, by the run's clock.", required=True, minimum=0),),
        (
            "Once the time has passed the child is halted and the result is FAILURE, "
            "even when it would have finished at this very tick.",
            "The runner ticks when the time is up, and does not wait for the next tick of its rate.",
        ),
        _example("timeout", "seconds: 5"), sign="◷", twin=Twin("Timeout", {"seconds": "msec"}),
    ),
    _decorator(
        "delay", "timing:Delay", "Waits before it starts its child.",
        (Field("seconds", "number", "How long to wait, by the run's clock.", required=True, minimum=0),),
        ("It is RUNNING until the time has passed, then ticks the child within the same tick.",
         "Zero or negative seconds start the child at once."),
        _example("delay", "seconds: 0.5"), waits=True, twin=Twin("Delay", {"seconds": "delay_msec"}),
    ),
    _decorator(
        "rate", "timing:Rate", "Starts its child at most so many times a second.",
        (
            Field("hz", "number", "How often it may be started.", required=True, minimum=0.001),
            Field("else", "word", "What it returns in between: the `last` result, or this.", default="last",
                  choices=("last", "success", "failure", "skip", "running")),
        ),
        (
            "A child that is running is ticked at every tick until it ends.",
            "Between starts it returns the last result without ticking the child, or RUNNING after a halt.",
            "With another `else` it returns that in between: a cooldown is `rate` with `else: skip`.",
            "A computed rate below the least one fails, and says so.",
        ),
        _example("rate", "hz: 2"), blocks=("else",),
    ),
    _decorator(
        "once", "results:Once", "Runs its child to its end one time only.",
        (Field("then", "word", "What later ticks return: the first `result`, or `skip`.", default="result",
               choices=("result", "skip")),),
        ("After the child has succeeded or failed it is never ticked again; being halted does not count as an end.",),
        "once:\n  log: hello\n", twin=Twin("RunOnce"),
    ),
    _decorator(
        "skip_unless", "conditions:SkipUnless", "Skips its child unless a blackboard entry was updated.",
        (Field("updated", "key", "The entry to watch.", required=True),),
        (
            "The child is started when the entry was written since the child was last started; else it is skipped.",
            "A running child is ticked on until it ends.",
        ),
        "skip_unless:\n  updated: battery\n  child:\n    log: \"battery is {battery}\"\n",
        skips=True, blocks=("updated",),
    ),
    _decorator(
        "precondition", "conditions:Precondition", "Starts its child only when a test holds.",
        (
            Field("if", "expression", "The test, made at the start; it may be a node.", required=True, asks=True),
            Field("else", "word", "What it returns when the test does not hold.", default="failure",
                  choices=("failure", "success", "skip", "running")),
        ),
        (
            "The test is made before the child starts and not again while it runs.",
            "With `else: running` the test is made again at each tick.",
            "A node in the place of the test holds when it succeeds; while it runs, the child is not ticked.",
        ),
        "precondition:\n  if: battery > 0.2\n  else: skip\n  child:\n    log: enough\n",
        blocks=("if",),
    ),
)  # fmt: skip
