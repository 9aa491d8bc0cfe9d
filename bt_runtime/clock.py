"""Clocks of runs: the machine's, one that is moved by hand, a simulator's."""

from __future__ import annotations

from bt_runtime.tree.clock import Manual as Manual
from bt_runtime.tree.clock import Monotonic as Monotonic
from bt_runtime.tree.clock import RunClock as RunClock
from bt_runtime.tree.clock import Simulated as Simulated
