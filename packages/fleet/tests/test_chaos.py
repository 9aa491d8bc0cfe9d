"""No task is lost and none has two verdicts, while processes are killed and connections are cut. `make fleet` does the
same with 1,000 tasks and 200 kills."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from packages.fleet.tests.chaos import Chaos, Plan


def test_the_ledger_agrees_with_every_verdict(tmp_path: Path) -> None:
    """24 tasks, with kills of robots, coordinators and the server, cut connections, and clocks that are a day wrong."""
    plan = Plan(robots=3, tasks=24, kills=6, cuts=3, seconds=0.1, cut=(0.1, 0.5), pause=0.15, lease=1.0, seed=3)
    found = asyncio.run(Chaos(plan, tmp_path).run())
    assert found.sound, found
    assert found.kills and found.cuts == plan.cuts


def test_nothing_of_forged_messages_is_taken(tmp_path: Path) -> None:
    """60 tasks, each robot with a key, and a robot's and a viewer's key whose owners mean harm: they publish on every
    subject under every name, with malformed, repeated and late messages, between kills and cuts."""
    pytest.importorskip("nacl", reason="the extra fleet is not installed")
    plan = Plan(robots=3, tasks=60, kills=6, cuts=3, seconds=0.1, cut=(0.1, 0.5), pause=0.3, lease=1.0, seed=5,
                forged=300)  # fmt: skip
    found = asyncio.run(Chaos(plan, tmp_path).run())
    assert found.sound, found
    assert found.hostile >= 300
