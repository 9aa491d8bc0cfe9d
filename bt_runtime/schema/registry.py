"""The kinds that every tree has, in the order of the reference."""

from __future__ import annotations

from bt_runtime.schema.agents import AGENTS
from bt_runtime.schema.control import CONTROL
from bt_runtime.schema.decorators import DECORATORS
from bt_runtime.schema.kind import Registry
from bt_runtime.schema.leaves import LEAVES

BUILT_IN = Registry((*CONTROL, *DECORATORS, *LEAVES, *AGENTS))
