"""What authors write takes few steps: no sentence that nobody reads is made, and no event for a write nobody hears."""

from __future__ import annotations

from typing import Any

import pytest

from bt_runtime import Run, Skill, Status, load, skill
from bt_runtime.events import Feedback, Tick, Written
from bt_runtime.language.sentence import Sentence
from bt_runtime.tree import blackboard

HEAD = "version: 1\ntree: t\nblackboard: {who: {type: any, default: Ann}, n: {type: integer, default: 0}}\nroot:\n"


@skill("greet {who} {times} times")
class Greet(Skill):
    def start(self, who: str, times: int = 2) -> None:
        self.seen = (who, times)

    def poll(self) -> Status:
        return Status.SUCCESS


@skill("is {level} high", condition=True)
def high(level: float) -> bool:
    return level > 1


def run_of(root: str, *skills: Any) -> Run:
    return Run(load(HEAD + f"  {root}\n", skills=skills or [Greet, high]))


def counted(monkeypatch: pytest.MonkeyPatch, of: Any, name: str) -> list[object]:
    calls: list[object] = []
    real = getattr(of, name)

    def call(*args: Any, **more: Any) -> Any:
        calls.append(args)
        return real(*args, **more)

    monkeypatch.setattr(of, name, call)
    return calls


@pytest.mark.parametrize("leaf", ["greet: {who: '{who}'}", "fallback: [high: '{n}', succeed: {}]"])
def test_a_start_with_an_input_makes_no_sentence_unless_somebody_asks(
    leaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_of(leaf) as run:
        run.tick()
        says = counted(monkeypatch, Sentence, "say")
        for _ in range(5):
            run.tick()
        assert not says


def test_a_node_that_is_asked_says_the_sentence_of_its_last_start() -> None:
    with run_of("greet: {who: '{who}'}") as run:
        for name in ("Ann", "Ben", "Cleo"):
            run.blackboard["who"] = name
            run.tick()
            assert run.parts.engine.root.feedback_message == run.parts.engine.root.sentence == f"greet {name} 2 times"  # type: ignore[attr-defined]


def test_a_listener_that_comes_late_hears_the_present_sentence_and_each_later_one() -> None:
    said: list[str] = []
    with run_of("greet: {who: '{who}'}") as run:
        run.tick()
        run.tick()
        run.listen(lambda tick: said.extend(text for _, text in tick.said), Tick)
        for name in ("Ben", "Ben", "Cleo"):
            run.blackboard["who"] = name
            run.tick()
    assert said[-2:] == ["greet Ben 2 times", "greet Cleo 2 times"]


def test_a_value_that_does_not_fit_any_more_fails_with_its_name_and_place() -> None:
    with run_of("greet: {who: '{who}', times: '{n * 2}'}") as run:
        for wrong in (7, ["Ann"], None):
            run.blackboard["who"] = "Ann"
            assert run.tick().status is Status.SUCCESS
            run.blackboard["who"] = wrong
            tick = run.tick()
            assert tick.status is Status.FAILURE
            assert "`who` takes a string" in tick.crashes[0].message
        run.blackboard.remove("who")
        assert "no value is named `who`" in run.tick().crashes[0].message


def test_a_skill_gets_the_literals_and_what_is_computed_at_this_start() -> None:
    with run_of("greet: {who: Dan, times: '{n + 1}'}") as run:
        for number in range(4):
            run.blackboard["n"] = number
            run.tick()
            assert run.parts.engine.root.target.seen == ("Dan", number + 1)  # type: ignore[attr-defined]


def test_feedback_that_stays_the_same_is_shown_again_after_each_start() -> None:
    class Moves(Greet):
        def poll(self) -> Status:
            self.feedback = "half way"
            return Status.SUCCESS

    with run_of("moves: {who: '{who}'}", skill(name="moves")(Moves)) as run:
        for _ in range(3):
            run.tick()
            assert run.parts.engine.root.feedback_message == "half way"


def test_a_write_that_nobody_hears_makes_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    with run_of("sequence: [set: {n: 1}, set: {n: '{n + 1}'}]") as run:
        run.tick()
        made = counted(monkeypatch, blackboard, "_Change")
        run.tick()
        assert not made
        assert run.blackboard["n"] == 2


def test_a_write_is_heard_as_soon_as_somebody_listens() -> None:
    heard: list[Any] = []
    with run_of("set: {n: '{n + 1}'}") as run:
        run.tick()
        leave = run.listen(heard.append, Written)
        run.tick()
        leave()
        run.tick()
        assert [each.value for each in heard] == [2]
        assert run.blackboard["n"] == 3


def test_a_write_of_another_type_is_refused_in_the_tick_as_before() -> None:
    with run_of("set: {n: '{who}'}") as run:
        assert "`n` takes an integer" in run.tick().crashes[0].message
        run.blackboard["who"] = 5
        assert run.tick().status is Status.SUCCESS


def test_a_write_in_the_tick_wants_another_tick_only_if_the_entry_changed() -> None:
    with run_of("set: {n: 1}") as run:
        assert run.tick().due == float("-inf")
        assert run.tick().due == float("inf")


def test_a_write_in_the_tick_makes_a_new_picture_and_a_new_stamp() -> None:
    with run_of("set: {n: '{n + 1}'}") as run:
        before = run.blackboard.stamp("n")
        for number in (1, 2):
            run.tick()
            assert run.parts.context.blackboard.snapshot()[""]["n"] == number
        assert run.blackboard.stamp("n") > before


def test_the_end_of_a_skill_that_says_the_same_emits_no_feedback_twice() -> None:
    heard: list[object] = []
    with run_of("greet: {who: '{who}'}") as run:
        run.listen(heard.append, Feedback)
        run.tick()
        run.tick()
    assert heard == []


def test_a_list_with_holes_is_computed_anew_for_each_start_and_each_write() -> None:
    @skill("take {items}")
    class Take(Skill):
        def start(self, items: Any, last: str) -> None:
            self.seen = items.pop(), last

        def poll(self) -> Status:
            return Status.SUCCESS

    with run_of(
        "sequence: [take: {items: ['{who}', '{n}'], last: '{who}'}, set: {who: ['{n}']}, set: {who: Ben}]", Take
    ) as run:
        for number in range(3):
            run.blackboard["n"] = number
            assert run.tick().status is Status.SUCCESS
            assert run.parts.engine.root.children[0].target.seen == (number, "Ben" if number else "Ann")  # type: ignore[attr-defined]
