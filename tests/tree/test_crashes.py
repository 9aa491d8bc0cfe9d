"""Whatever a skill raises is FAILURE of its node, by the quick path and by the full one; its message ends with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.clock import Manual
from bt_runtime.events import SkillEnded
from bt_runtime.tree.describe.blame import blame


class Own(bt.BtError):
    def __init__(self, code: int) -> None:
        self.code = code


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


ERRORS = {"plain": ValueError("x"), "wrapped": bt.BtError(ValueError("x")), "own": Own(3), "mute": Mute()}  # type: ignore[arg-type]
SCRIPTS: dict[str, list[Any]] = {
    "success": ["SUCCESS"] * 4,
    "failure": ["FAILURE"] * 4,
    "polls": ["SUCCESS", "RUNNING", "RUNNING", "SUCCESS", "RUNNING", "FAILURE"],
    "raises": ["SUCCESS", ValueError("poll"), "SUCCESS"],
    "raises while running": ["SUCCESS", "RUNNING", ValueError("poll"), "SUCCESS"],
    "garbage": ["SUCCESS", "what", "SUCCESS"],
    **{f"raises {name}": ["SUCCESS", error, "SUCCESS"] for name, error in ERRORS.items()},
}


def carried_out(script: list[Any], heard: bool, cancel: Exception | None) -> tuple[list[Any], list[str]]:
    """What each tick gave, and what the skill was told, by the quick path or, where somebody listens, the full one."""
    calls, left = list[str](), list(script)

    @bt.skill("go")
    class Go(bt.Skill):
        def start(self) -> None:
            calls.append("start")
            self.feedback = ""

        def poll(self) -> Any:
            said = left.pop(0) if left else "RUNNING"
            calls.append("poll")
            if isinstance(said, Exception):
                raise said
            return getattr(bt.Status, said, said)

        def cancel(self) -> None:
            calls.append("cancel")
            if cancel is not None:
                raise cancel

    tree = bt.load("version: 1\ntree: t\nroot: {fallback: [{go: {}}, {fail: {}}]}\n", skills=[Go])
    with bt.Run(tree, clock=Manual(), slow=None) as run:
        if heard:
            run.listen(lambda event: None, SkillEnded)
        seen: list[Any] = []
        for _ in range(8):
            tick = run.tick()
            go = run.parts.engine.root.children[0]
            seen.append((tick.status.name, go.status.name, go.feedback_message, [c.message for c in tick.crashes]))
    return seen, calls


@pytest.mark.parametrize("cancel", [None, RuntimeError("cancel"), Mute()], ids=["", "cancel raises", "cancel is mute"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_quick_path_does_what_the_full_one_does(name: str, cancel: Exception | None) -> None:
    assert carried_out(SCRIPTS[name], False, cancel) == carried_out(SCRIPTS[name], True, cancel)


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_without_a_text_is_a_failure_of_its_node_and_the_fallback_goes_on(name: str) -> None:
    seen, _ = carried_out([ERRORS[name]], False, None)
    status, go, message, crashes = seen[0]
    assert (status, go) == ("FAILURE", "FAILURE") and message and len(crashes) == 1


TEST = "check: 1 / n > 0.5"
ROOTS = [TEST, f"sequence: [{{{TEST}}}]", f"reactive_sequence: [{{{TEST}}}]", "steep: '{n}'"]


@bt.skill(condition=True)
def steep(n: float) -> bool:
    return 1 / n > 0.5


@pytest.mark.parametrize("root", ROOTS)
def test_a_crash_is_blamed_for_its_own_failure_and_for_no_later_one(root: str) -> None:
    with bt.Run(
        bt.load(f"version: 1\ntree: t\nblackboard: {{n: number}}\nroot:\n  {root}\n", skills=[steep]), slow=None
    ) as run:
        leaf = run.parts.engine.root.children[0] if run.parts.engine.root.children else run.parts.engine.root
        run.blackboard["n"] = 0
        assert run.tick().status is bt.Status.FAILURE and "zero" in blame(run.parts.engine.root).why
        run.blackboard["n"] = 4
        assert run.tick().status is bt.Status.FAILURE and "zero" not in blame(run.parts.engine.root).why
        run.blackboard["n"] = 0
        run.tick()
        run.blackboard["n"] = 1
        assert run.tick().status is bt.Status.SUCCESS and "zero" not in leaf.feedback_message


def test_a_cancelled_future_that_a_skill_looks_at_fails_its_node_and_the_fallback_goes_on() -> None:
    async def main() -> bt.Status:
        answer = asyncio.get_running_loop().create_future()

        @bt.skill
        class Ask(bt.Skill):
            def poll(self) -> bt.Status:
                return answer.result() if answer.done() else bt.Status.RUNNING

        tree = bt.load("version: 1\ntree: t\nroot:\n  fallback: [ask: {}, log: a spare]\n", skills=[Ask])
        async with bt.Run(tree) as run:
            assert run.tick().running
            answer.cancel()
            return await run.aspin()

    assert asyncio.run(main()) is bt.Status.SUCCESS


def test_a_cancel_that_looks_at_a_cancelled_future_does_not_keep_the_halt_from_the_others() -> None:
    told: list[str] = []

    class Moving(bt.Skill):
        def poll(self) -> bt.Status:
            return bt.Status.RUNNING

    @bt.skill
    class One(Moving):
        def cancel(self) -> None:
            told.append("one")

    @bt.skill
    class Two(Moving):
        def cancel(self) -> None:
            raise asyncio.CancelledError

    tree = bt.load("version: 1\ntree: t\nroot:\n  parallel: [one: {}, two: {}, one: {}]\n", skills=[One, Two])
    with bt.Run(tree) as run:
        run.tick()
        run.halt("stop")
        assert told == ["one", "one"]
