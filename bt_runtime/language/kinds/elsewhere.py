"""What other libraries call our kinds: BehaviorTree.CPP, Nav2, py_trees. Only to say what somebody probably meant."""

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
    **{f"switch{n}": ("switch", "") for n in range(2, 7)},
}


def meant(name: str) -> tuple[str, str] | None:
    """The kind for this name of another library, and what it takes besides; None when nobody is known to use it."""
    return _MEANT.get(name.replace("_", "").casefold())
