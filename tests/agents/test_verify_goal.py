"""What `verify` reads of a goal by itself."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from bt_runtime.agents import verify
from bt_runtime.agents.services import agent_services
from bt_runtime.agents.verify import Verify
from bt_runtime.tree.context import Context


class _Thing:
    kind, number = "cup", 1


class _Memory:
    def snapshot(self) -> Any:
        return SimpleNamespace(things={_Thing(): SimpleNamespace(stale=False, near="table 1", room="")})


def _node(goal: str) -> Any:
    context = Context()
    agent_services(context).working_memory = cast("Any", _Memory())
    return SimpleNamespace(goal=goal, context=context)


def test_a_goal_that_places_a_thing_is_answered_by_working_memory() -> None:
    assert Verify.remembered(_node("cup 1 is on table 1")) is True


def test_a_goal_that_is_too_long_to_name_a_thing_and_its_place_is_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "_PLACED", SimpleNamespace(fullmatch=lambda _: pytest.fail("it was searched")))
    assert Verify.remembered(_node("a in " * 4_000 + "\nb")) is None
