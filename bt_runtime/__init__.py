"""A declarative behaviour-tree runtime: trees in YAML, grown by local models, ticked by py_trees.

Public are the names in `__all__`, the modules `types` and `events`, and what `_public.py` lists. All else is private.
"""

from __future__ import annotations

import importlib

from bt_runtime._version import __version__ as __version__

TYPE_CHECKING = False  # `typing` takes a fourth of the time of `btr --help`, which needs none of it

# Loaded on first use, so that `import bt_runtime` and `btr --help` stay light.
_HOMES = {
    "Faults": "bt_runtime.faults.diagnostic",
    "BtError": "bt_runtime.faults.diagnostic",
    "Diagnostic": "bt_runtime.faults.diagnostic",
    "Status": "bt_runtime.tree.node",
    "Node": "bt_runtime.tree.node",
    "Skill": "bt_runtime.skills.skill",
    "skill": "bt_runtime.skills.skill",
    "load": "bt_runtime.run.run",
    "Run": "bt_runtime.run.run",
    "debugger_of": "bt_runtime.debug.debugger",
    "signals": "bt_runtime.run.signals",
}

__all__ = [
    "BtError",
    "Diagnostic",
    "Faults",
    "Node",
    "Run",
    "Skill",
    "Status",
    "clock",
    "debugger_of",
    "load",
    "signals",
    "skill",
]

if TYPE_CHECKING:
    from typing import Any

    from bt_runtime.debug.debugger import debugger_of
    from bt_runtime.faults.diagnostic import BtError, Diagnostic, Faults
    from bt_runtime.run.run import Run, load
    from bt_runtime.run.signals import signals
    from bt_runtime.skills.skill import Skill, skill
    from bt_runtime.tree import clock
    from bt_runtime.tree.node import Node, Status


def __getattr__(name: str) -> Any:
    if name == "clock":
        globals()[name] = importlib.import_module("bt_runtime.tree.clock")
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
