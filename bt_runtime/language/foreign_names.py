"""Maps node names of BehaviorTree.CPP, Nav2 and py_trees to ours, for suggestions in error messages only."""

from __future__ import annotations

from typing import NamedTuple


class Meant(NamedTuple):
    """Our kind for another library's node. `fields`: what it takes to do the same, in YAML; `options`: in words."""

    kind: str
    fields: tuple[str, ...] = ()
    options: str = ""
    same: bool = True  # with these fields it does the same as there

    @property
    def label(self) -> str:
        options = self.options or (f" with `{', '.join(self.fields)}`" if self.fields else "")
        return f"did you mean `{self.kind}`{options}?"


def _near(kind: str, options: str = "", *fields: str) -> Meant:
    """The nearest kind, which does something else with the same fields: a suggestion, and no certain fix."""
    return Meant(kind, fields, options and f" {options}", same=False)


# Their name, without case and underscores.
_MEANT: dict[str, Meant] = {
    "selector": Meant("fallback"),
    "asyncsequence": Meant("sequence", ("yield: true",)),
    "asyncfallback": Meant("fallback", ("yield: true",)),
    "reactiveselector": Meant("reactive_fallback"),
    "sequencestar": Meant("sequence_with_memory"),
    "fallbackstar": Meant("fallback"),
    "parallelnode": Meant("parallel"),
    "parallelall": Meant("parallel", ("wait_all: true",)),
    "ifthenelse": _near("if"),
    "whiledoelse": _near("while"),
    "eternalguard": _near("while"),
    "trycatch": _near("try"),
    "pipelinesequence": Meant("pipeline"),
    "recoverynode": Meant("recovery"),
    "inverter": Meant("invert"),
    "retryuntilsuccessful": Meant("retry"),
    "retryuntilsuccesful": Meant("retry"),
    "keeprunninguntilfailure": Meant("repeat", ("times: -1",)),
    "forcesuccess": Meant("force", ("status: success",)),
    "forcefailure": Meant("force", ("status: failure",)),
    "failureissuccess": Meant("force", ("status: success",)),
    "successisfailure": Meant("force", ("status: failure",)),
    "runonce": Meant("once", ("then: skip",)),
    "oneshot": _near("once"),
    "ratecontroller": Meant("rate", ("else: running",)),
    "loop": _near("for_each"),
    "loopint": _near("for_each"),
    "loopdouble": _near("for_each"),
    "loopstring": _near("for_each"),
    "skipunlessupdated": Meant("skip_unless"),
    "waitvalueupdate": _near("wait", "with `updated: entry`, before the child in a `sequence`"),
    "wasentryupdated": Meant("check", (), " with `updated: entry`"),
    "entryupdated": Meant("check", (), " with `updated: entry`"),
    "subtree": Meant("tree"),
    "subtreeplus": Meant("tree"),
    "script": _near("set"),
    "scriptcondition": _near("check"),
    "setblackboard": _near("set", "with `{entry: value}`"),
    "setblackboardvariable": _near("set", "with `{entry: value}`"),
    "unsetblackboard": Meant("unset"),
    "unsetblackboardvariable": _near("unset"),
    "checkblackboardvariablevalue": _near("check"),
    "checkblackboardvariablevalues": _near("check"),
    "checkblackboardvariableexists": _near("check", "with `exists(entry)`"),
    "waitforblackboardvariable": _near("wait", "with `until: exists(entry)`"),
    "waitforblackboardvariablevalue": _near("wait", "with `until:` and the test"),
    "alwayssuccess": Meant("succeed"),
    "alwaysfailure": Meant("fail"),
    "success": Meant("succeed"),
    "failure": Meant("fail"),
    "sleep": _near("wait"),  # there a bare number is milliseconds
    "timer": _near("wait"),
    "print": Meant("log"),
    "compareblackboardvariables": _near("check", "with `a == b`"),
    "goalupdated": _near("check", "with `updated: goal`", "updated: goal"),
    "goalupdatedcontroller": _near("skip_unless", "with `updated: goal`", "updated: goal"),
    "failureisrunning": Meant("retry", ("times: -1",)),
    "repeatuntilsuccess": Meant("retry", ("times: -1",)),
    "successisrunning": Meant("repeat", ("times: -1",)),
    "running": Meant("wait", ("until: false",)),
    "alwaysrunning": Meant("wait", ("until: false",)),
    "cooldown": _near("rate", "with `hz:` and `else: skip`", "else: skip"),
    "singletrigger": _near("once"),
    "consumequeue": _near("for_each", "with `from: entry`"),
    "popfromqueue": _near("for_each", "with `from: entry`"),
    "chooser": _near("fallback"),
    "behaviortree": _near("tree"),
    **{f"switch{n}": _near("switch") for n in range(2, 7)},
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


def meant(name: str) -> Meant | None:
    """Returns our kind for another library's node name, and what it needs besides; None when the name is unknown."""
    return _MEANT.get(name.replace("_", "").casefold())
