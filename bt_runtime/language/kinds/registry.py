"""The kinds that every tree has, in the order of the reference."""

from __future__ import annotations

from bt_runtime.language.kinds.agents import AGENTS
from bt_runtime.language.kinds.control import CONTROL
from bt_runtime.language.kinds.decorators import DECORATORS
from bt_runtime.language.kinds.kind import Registry
from bt_runtime.language.kinds.leaves import LEAVES
from bt_runtime.language.kinds.navigation import NAVIGATION

BUILT_IN = Registry((*CONTROL, *NAVIGATION, *DECORATORS, *LEAVES, *AGENTS))
