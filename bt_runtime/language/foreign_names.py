"""Maps node names of BehaviorTree.CPP, Nav2 and py_trees to ours, for suggestions in error messages only."""

from __future__ import annotations

# Their name, without case and underscores → the kind, and what it takes to do the same, if that is not all.
_MEANT: dict[str, tuple[str, str]] = {
    "selector": ("fallback", ""),
    "asyncsequence": ("sequence", "with `yield: true`"),
    "asyncfallback": ("fallback", "with `yield: true`"),
    "reactiveselector": ("reactive_fallback", ""),
    "sequencestar": ("sequence_with_memory", ""),
    "parallelall": ("parallel", "with `wait_all: true`"),
    "ifthenelse": ("if", ""),
    "whiledoelse": ("while", ""),
    "eternalguard": ("while", ""),
    "trycatch": ("try", ""),
    "pipelinesequence": ("pipeline", ""),
    "recoverynode": ("recovery", ""),
    "inverter": ("invert", ""),
    "retryuntilsuccessful": ("retry", ""),
    "keeprunninguntilfailure": ("until_failure", ""),
    "forcesuccess": ("force", "with `status: success`"),
    "forcefailure": ("force", "with `status: failure`"),
    "failureissuccess": ("force", "with `status: success`"),
    "successisfailure": ("force", "with `status: failure`"),
    "runonce": ("once", ""),
    "oneshot": ("once", ""),
    "ratecontroller": ("rate", ""),
    "loop": ("for_each", ""),
    "loopint": ("for_each", ""),
    "loopdouble": ("for_each", ""),
    "loopstring": ("for_each", ""),
    "skipunlessupdated": ("skip_unless", ""),
    "waitvalueupdate": ("wait", "with `updated: entry`, before the child in a `sequence`"),
    "wasentryupdated": ("check", "with `updated: entry`"),
    "entryupdated": ("check", "with `updated: entry`"),
    "subtree": ("tree", ""),
    "subtreeplus": ("tree", "with `autoremap: true`"),
    "script": ("set", ""),
    "scriptcondition": ("check", ""),
    "setblackboard": ("set", ""),
    "setblackboardvariable": ("set", ""),
    "unsetblackboard": ("unset", ""),
    "unsetblackboardvariable": ("unset", ""),
    "checkblackboardvariablevalue": ("check", ""),
    "checkblackboardvariablevalues": ("check", ""),
    "checkblackboardvariableexists": ("check", "with `exists(entry)`"),
    "waitforblackboardvariable": ("wait", "with `until: exists(entry)`"),
    "waitforblackboardvariablevalue": ("wait", "with `until:` and the test"),
    "alwayssuccess": ("succeed", ""),
    "alwaysfailure": ("fail", ""),
    "success": ("succeed", ""),
    "failure": ("fail", ""),
    "sleep": ("wait", ""),
    "timer": ("wait", ""),
    "print": ("log", ""),
    "compareblackboardvariables": ("check", "with `a == b`"),
    "goalupdated": ("check", "with `updated: goal`"),
    "goalupdatedcontroller": ("skip_unless", "with `updated: goal`"),
    "failureisrunning": ("retry", "with `times: -1`"),
    "repeatuntilsuccess": ("retry", "with `times: -1`"),
    "successisrunning": ("repeat", "with `times: -1`"),
    "running": ("wait", "with `until: false`"),
    "alwaysrunning": ("wait", "with `until: false`"),
    "cooldown": ("rate", "with `else: skip`"),
    "singletrigger": ("once", ""),
    "consumequeue": ("for_each", "with `from: entry`"),
    "popfromqueue": ("for_each", "with `from: entry`"),
    "chooser": ("fallback", ""),
    "behaviortree": ("tree", ""),
    **{f"switch{n}": ("switch", "") for n in range(2, 7)},
}

_BY_PY_TREES = ("Dummy", "Periodic", "StatusQueue", "SuccessEveryN", "TickCounter", "ProbabilisticBehaviour")
_RANDOM = "no kind chooses at random or by hand: `fallback` tries its children in order"
# Their name → what does it here, where no kind does it alone.
_DONE: dict[str, str] = {
    "action": "an action is a skill, and its name is the kind: `btr new skill NAME`",
    "actionnode": "an action is a skill, and its name is the kind: `btr new skill NAME`",
    "condition": "`check` for an expression; in Python `@skill(…, condition=True)`",
    "conditionnode": "`check` for an expression; in Python `@skill(…, condition=True)`",
    "statustoblackboard": "`on_success:` and `on_failure:` of any node write entries",
    "passthrough": "leave it out: its child does the same",
    "root": "`root:` stands once, at the top of the file",
    "queuesize": "`len(entry)` in an expression says it",
    "runningisfailure": "no kind does this: `timeout` bounds how long a child may run",
    "runningissuccess": "no kind does this: `timeout` bounds how long a child may run",
    **dict.fromkeys(("manualselector", "randomselector", "randomsequence", "shuffledselector"), _RANDOM),
    **{name.casefold(): f"`py: py_trees.behaviours:{name}` is that of py_trees" for name in _BY_PY_TREES},
}


def done(name: str) -> str:
    """Returns how to express another library's node of this name here; "" when unknown."""
    return _DONE.get(name.replace("_", "").casefold(), "")


def meant(name: str) -> tuple[str, str] | None:
    """Returns our kind for another library's node name, and the options it needs; None when the name is unknown."""
    return _MEANT.get(name.replace("_", "").casefold())
