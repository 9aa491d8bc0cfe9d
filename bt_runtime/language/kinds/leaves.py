"""Leaf kinds: tests, assignments, waits, logs, subtrees and foreign py_trees nodes."""

from __future__ import annotations

from bt_runtime.language.kinds.kind import Field, Kind, Twin

_IMPL = "bt_runtime.tree.nodes"

LEAVES = (
    Kind(
        "check", "leaf", "Succeeds when an expression holds.",
        (
            Field("expr", "expression", "The test, over ports and blackboard entries."),
            Field("updated", "key", "The entry that must have been written since this was last asked."),
        ),
        (
            "SUCCESS when the value is true, else FAILURE; an entry that was never written is a fault of this node.",
            "With `updated` it succeeds when that entry was written since this node was last ticked, the first time "
            "when it was ever written; with both, both must hold.",
        ),
        "check: battery < 0.2\n", bare="expr", impl=f"{_IMPL}.leaves:Check", one_of=("updated", "expr"),
    ),
    Kind(
        "set", "leaf", "Writes blackboard entries.",
        (Field("values", "assignments", "Entries and their values; a template is computed first.", required=True),),
        ("All values are computed first, then written in order; it succeeds.",),
        'set:\n  count: "{count + 1}"\n  room: kitchen\n', bare="values", impl=f"{_IMPL}.leaves:Set", ends="success",
    ),
    Kind(
        "unset", "leaf", "Removes a blackboard entry.",
        (Field("entry", "key", "The entry.", required=True, writes=True),),
        ("The entry is as if it had never been written; it succeeds, also when there is none.",),
        "unset: count\n", bare="entry", impl=f"{_IMPL}.leaves:UnsetEntries", ends="success",
    ),
    Kind(
        "wait", "leaf", "Waits for a time, for a test to hold, or for an entry to be written.",
        (
            Field("seconds", "number", "How long, by the run's clock.", minimum=0),
            Field("until", "expression", "Ends with SUCCESS as soon as this holds."),
            Field("updated", "key", "Ends with SUCCESS as soon as this entry is written."),
        ),
        (
            "With `seconds` alone it succeeds when the time has passed; zero succeeds at once, and so does "
            "a computed time below zero, which has passed.",
            "With `until` it succeeds as soon as that holds; with both it fails when the time has passed first.",
            "With `updated` it succeeds once the entry was written after its last success; before the first success "
            "any write counts. With `until` too, that must hold as well.",
        ),
        "wait: 1.5\n", bare="seconds", impl=f"{_IMPL}.leaves:Wait", waits=True, one_of=("seconds", "updated", "until"),
        twin=Twin("Sleep", {"seconds": "msec"}),
    ),
    Kind(
        "log", "leaf", "Writes a line to the run's log.",
        (
            Field("text", "any", "The line; templates are filled in.", required=True),
            Field("level", "word", "How loud.", default="info", choices=("debug", "info", "warning", "error")),
        ),
        ("It always succeeds.",),
        'log: "battery is {battery}"\n', bare="text", impl=f"{_IMPL}.leaves:Log", ends="success",
    ),
    Kind("succeed", "leaf", "Succeeds.", (), ("It always succeeds.",), "succeed: {}\n",
         impl=f"{_IMPL}.leaves:Succeed", ends="success", twin=Twin("AlwaysSuccess")),
    Kind(
        "fail", "leaf", "Fails, saying why.",
        (Field("why", "string", "The reason, as it shows in the log and to `try`.", default=""),),
        ("It always fails.",), "fail: no cup was found\n", bare="why", impl=f"{_IMPL}.leaves:Fail",
        ends="failure", emit=True, twin=Twin("AlwaysFailure"),
    ),
    Kind(
        "tree", "leaf", "Runs another tree, with a blackboard scope of its own.",
        (
            Field("file", "text", "Its file: beside this one, in the project's trees/, or shipped (`btr:name`).",
                  required=True),
            Field("with", "inputs", "Its inputs and outputs: a value, a template, or \"{entry}\" to share one."),
            Field("autoremap", "boolean", "Names it does not declare are looked up here.", default=False),
        ),
        (
            "Entries of the subtree are its own; only what `with` names is shared.",
            'A whole-string "{entry}" shares the entry: an input follows it live, an output writes to it; '
            "any other template is computed when the subtree starts.",
            "With `autoremap`, names that the subtree does not declare are those of this tree.",
            "A subtree that contains itself is built when it is reached, and must stand behind a test.",
        ),
        "tree:\n  file: dock.yaml\n  with: {speed: 0.5}\n", bare="file", impl=f"{_IMPL}.subtree:Subtree", includes=True,
        sign="▤",
    ),
    Kind(
        "py", "leaf", "Uses any py_trees behaviour or composite, by its import path.",
        (
            Field("class", "text", "module:Class, or path.py:Class inside the project.", required=True),
            Field("args", "object", "Keyword arguments for the class.", default={}),
            Field("give", "inputs", "Keys of py_trees' blackboard, and what is written there before each tick."),
            Field("take", "assignments", "Entries, and the keys of py_trees' blackboard read after each tick."),
            Field("children", "nodes", "Children, when it is a composite (one for a decorator)."),
        ),
        (
            "The behaviour is ticked, halted, set up and shut down as py_trees does it.",
            "Its children may be any nodes, ours or others.",
            "An argument that is an enum or a policy is given by its name (`ON_COMPLETION`), one that is a class "
            "by a mapping of its arguments ({SuccessOnAll: {synchronise: false}}), a callable as module:Name, and "
            "anything at all as {py: module:Name}.",
            "py_trees' blackboard is one for the whole process: `give` writes to it before each tick, `take` reads "
            "from it after each tick what is there and has changed.",
        ),
        "py:\n  class: py_trees.behaviours:Success\n", bare="class", impl=f"{_IMPL}.foreign:foreign", waits=True,
        foreign=True,
    ),
)  # fmt: skip
