"""An exception has the same words in the run, in its replay and after its resume, whichever call raised it."""

from __future__ import annotations

from typing import Any

import pytest

from bt_runtime import BtError, Skill, skill
from bt_runtime.clock import Monotonic
from bt_runtime.events import Line
from bt_runtime.journal import replay
from bt_runtime.skills.words import raised
from bt_runtime.testing import SUCCESS
from tests.journal.conftest import read

TREE = """
version: 1
tree: t
blackboard: {heard: {default: ""}}
root:
  sequence:
    - try: {do: {work: {}}, catch: {log: "{error['message']}"}}
    - set: {heard: "{error['message']}"}
"""
ERRORS = [ValueError("lamp 3"), KeyError("lamp"), RuntimeError(), BtError("lamp 3", "mend it"), BtError("")]


class AtStart(Skill):
    def start(self) -> None:
        raise self.error

    def poll(self) -> Any:
        return SUCCESS

    error: Exception


class AtPoll(AtStart):
    def start(self) -> None:
        pass

    def poll(self) -> Any:
        raise self.error


def skills_of(error: Exception) -> dict[str, Any]:
    def work() -> bool:
        raise error

    made = {
        "start": type("Work", (AtStart,), {"error": error}), "poll": type("Work", (AtPoll,), {"error": error}),
        "thread": work,
    }  # fmt: skip
    given = {call: skill("work", name="work", on_resume="repeat")(target) for call, target in made.items()}
    given["careful"] = skill("work", name="work", on_resume="fail")(type("Work", (AtPoll,), {"error": error}))
    given["instant"] = skill("work", name="work", on_resume="repeat", instant=True)(lambda: work())
    return given


@pytest.mark.parametrize("error", ERRORS, ids=repr)
@pytest.mark.parametrize("call", ["start", "poll", "thread", "careful", "instant"])
def test_an_exception_is_worded_once(call: str, error: Exception, record: Any) -> None:
    lines: list[str] = []
    run = record(TREE, skills=[skills_of(error)[call]], clock=Monotonic(), slow=None)
    run.listen(lambda line: lines.append(line.text), Line)
    assert run.spin(seconds=20) is SUCCESS
    heard: list[Any] = []
    found = replay(read(run).path, see=lambda run, tick: heard.append(run.blackboard["heard"]))
    assert found.same, found
    assert lines == [heard[-1]] == [raised(error)]
