"""A declarative behaviour-tree runtime: trees in YAML, grown by local models, ticked by py_trees.

Public are the names in `__all__`, the faces `types`, `events`, `clock`, `agents`, `llm`, `memory`, `journal`, `testing`
and `plugins`, and what `_public.py` lists. All else is private.
"""

from __future__ import annotations

import importlib

from bt_runtime._version import __version__ as __version__

TYPE_CHECKING = False  # `typing` takes a fourth of the time of `btr --help`, which needs none of it

# Loaded on first use, so that `import bt_runtime` and `btr --help` stay light.
_HOMES = {
    name: f"bt_runtime.{module}"
    for module, names in {
        "language.faults.diagnostic": "Faults BtError Diagnostic",
        "tree.node": "Status Node",
        "skills.skill": "Skill skill",
        "run.run": "load Run Tree",
        "run.debug.debugger": "debugger_of",
        "run.signals": "signals Signals",
        "tree.budget": "Budget",
        "run.person": "Person",
        "run.view": "View",
        "run.std_logging": "bridge",
        "run.replay.resume": "resume",
    }.items()
    for name in names.split()
}

__all__ = [
    "BtError", "Budget", "Diagnostic", "Faults", "Node", "Person", "Run", "Signals", "Skill", "Status",
    "Tree", "View", "bridge", "clock", "debugger_of", "load", "resume", "signals", "skill",
]  # fmt: skip

if TYPE_CHECKING:
    from typing import Any

    from bt_runtime import clock
    from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults
    from bt_runtime.run.debug.debugger import debugger_of
    from bt_runtime.run.person import Person
    from bt_runtime.run.replay.resume import resume
    from bt_runtime.run.run import Run, Tree, load
    from bt_runtime.run.signals import Signals, signals
    from bt_runtime.run.std_logging import bridge
    from bt_runtime.run.view import View
    from bt_runtime.skills.skill import Skill, skill
    from bt_runtime.tree.budget import Budget
    from bt_runtime.tree.node import Node, Status


def __getattr__(name: str) -> Any:
    if name == "clock":
        globals()[name] = importlib.import_module("bt_runtime.clock")
        return globals()[name]
    home = _HOMES.get(name)
    if name == "condition":  # an ImportError, because `from bt_runtime import …` tells nothing of another
        raise ImportError("bt_runtime has no `condition`: write `@skill(…, condition=True)`")
    if home is None:
        raise AttributeError(f"module 'bt_runtime' has no attribute {name!r}")
    globals()[name] = found = getattr(importlib.import_module(home), name)  # asked for once
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
