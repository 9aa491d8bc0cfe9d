"""One question, one job: what a model is that writes `ask` alone, and what stands in front of one."""

from __future__ import annotations

import math
from typing import Any

import pytest

from bt_lab.run.free import Free
from bt_lab.run.metered_model import MeteredModel, Tally
from bt_runtime import BtError, Run, load
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, replay
from bt_runtime.language.faults.diagnostic import TooLong
from bt_runtime.llm import Answer
from bt_runtime.llm.model_wrapper import MappedJob, WrappedModel
from bt_runtime.testing import SUCCESS
from bt_runtime.tree.clock import Alarm
from bt_runtime.types import Choice, Job, Model, Question, Spent, Writing


class Last(Model):
    """Chooses `done`; writes the length of the prompt. It writes `ask`, and nothing else."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def ask(self, question: Question) -> Job[Any]:
        self.asked.append(question)
        job: Answer[Any] = Answer(wake=question.wake)
        spent = Spent(prompt=len(question.prompt), computed=3)
        if question.kind == "write":
            job.finish(Writing(f"Act: {len(question.prompt)}", "stop", 2), spent=spent)
        elif question.prompt == "break":
            job.finish(error=BtError("it broke"))
        else:
            said = next((text for text in question.alternatives if text.endswith(" done")), question.alternatives[-1])
            job.finish(Choice(said, question.alternatives.index(said), -0.5, 0.5), spent=spent)
        return job


def test_a_model_needs_only_ask_and_is_declared_to_have_all_else() -> None:
    with Last() as model:
        assert model.choose("p", ["a", "b"]).wait() == Choice("b", 1, -0.5, 0.5)
        assert model.decide("p", {"Think:": [], "Act:": [" go", " done"]}).wait().text == "Act: done"
        assert model.write("prompt", stop=["x"], seed=3).wait().tokens == 2
        assert (model.chat_template, model.settings) == (None, None)
        assert (model.count("two words"), model.stats()) == (2, {"model": "Last"})
    assert [(q.kind, q.stop, q.seed) for q in model.asked] == [
        ("choose", (), 0), ("decide", (), 0), ("write", ("x",), 3)
    ]  # fmt: skip


def test_alternatives_are_counted_as_the_index_of_an_answer_is() -> None:
    """Whatever the moves are: with options, without, and some without any before or after them."""
    for moves in ({"Think:": (), "Act:": (" a", " b"), "Ask:": ()}, {"Act:": (" a",), "Say:": (" a", " c")}):
        question = Question("decide", "p", moves=moves)
        for move, options in moves.items():
            for i, option in enumerate(options or ("",)):
                assert question.alternatives[question.before(move) + i] == move + option
    assert Question("choose", "p", options=("a", "b")).alternatives == ("a", "b")


@pytest.mark.parametrize("given", [object(), print, Last, {"planner": 3}])
def test_what_is_no_model_is_a_fault_in_words_before_anything_is_opened(given: Any, tmp_path: Any) -> None:
    for how in ({"model": given}, {"services": {"models": given if isinstance(given, dict) else {"default": given}}}):
        with pytest.raises(BtError, match="is not a model") as fault:
            Run(load("react"), inputs={"goal": "g"}, journal=tmp_path / "runs", **how)  # type: ignore[arg-type]
        assert "`ask`" in fault.value.hint
    assert not list(tmp_path.glob("runs/*"))


def test_an_answer_that_is_no_job_is_told_by_the_node_that_asked() -> None:
    class Hasty(Model):
        def ask(self, question: Question) -> Any:
            return "done"

    with Run(load("react"), inputs={"goal": "g"}, model=Hasty(), clock=Manual()) as run:
        run.spin(ticks=5)
        (crash,) = run.parts.context.crashes
    assert "`ask` of Hasty gave str, which is not a job" in crash.message


def test_a_question_says_who_asks_and_a_recorded_run_of_ones_own_model_is_played_without_it(tmp_path: Any) -> None:
    model = Last()
    with Run(load("react"), inputs={"goal": "g"}, model=model, clock=Manual(), journal=tmp_path) as run:
        assert run.spin(ticks=50) is SUCCESS
        path = run.parts.journal.path
    assert {question.by for question in model.asked} == {"/react"}
    (asked,) = [body for _, body in Recording(path).of("ask")]
    assert (asked["what"], asked["path"], asked["model"]) == ("decide", "/react", "default")
    count = len(model.asked)
    assert replay(path).same and len(model.asked) == count


def test_an_agent_that_waits_is_woken_by_the_answer_and_not_ticked_meanwhile() -> None:
    """Nothing asks for a tick at a time while a model that wakes is at work."""

    held: list[tuple[Answer[Any], Any]] = []
    waits: list[float] = []

    class Slow(Last):
        def ask(self, question: Question) -> Job[Any]:
            found, job = super().ask(question._replace(wake=None)), Answer[Any](wake=question.wake)
            held.append((job, found.poll()))
            return job

    class Answering(Manual):
        def wait(self, woken: Alarm, until: float) -> None:
            waits.append(until)
            job, answer = held.pop()
            job.finish(answer)
            super().wait(woken, until)

    model, clock = Slow(), Answering()
    with Run(load("react"), inputs={"goal": "g"}, model=model, clock=clock) as run:
        assert run.spin(ticks=50) is SUCCESS
        assert (waits, run.parts.engine.count) == ([math.inf], 2)


def test_whoever_stands_in_front_changes_a_question_or_its_answer_and_nothing_else() -> None:
    class Louder(WrappedModel):
        def ask(self, question: Question) -> Job[Any]:
            return MappedJob(self.model.ask(question), lambda wrote: wrote._replace(text=wrote.text.upper()))

    behind = Last()
    behind.chat_template = "{{ messages }}"
    front = Louder(behind)
    assert front.write("four").wait().text == "ACT: 4"
    assert (front.chat_template, front.count("a b"), front.stats()) == ("{{ messages }}", 2, {"model": "Last"})


def test_an_answer_is_read_once_however_often_it_is_polled_and_brings_what_it_took() -> None:
    read: list[str] = []
    job = MappedJob(Answer.of("a"), lambda answer: read.append(answer) or answer)  # type: ignore[func-returns-value]
    assert (job.poll(), job.poll(), read, job.wakes) == ("a", "a", ["a"], False)
    mapped = MappedJob(Last().ask(Question("write", "four", wake=lambda: None)), lambda wrote: wrote.text)
    assert (mapped.wait(), mapped.spent.prompt, mapped.wakes) == ("Act: 4", 4, True)


def test_metering_counts_each_question_once_and_hears_of_those_that_fail() -> None:
    tally = Tally()
    model = Free(MeteredModel(Last(), tally))
    job = model.decide("four", {"Think:": (), "Act:": (" 4", " done")})
    first, again = job.poll(), job.poll()
    assert first is again and first is not None and (first.text, first.index) == ("Act: 4", 1)
    assert math.isnan(first.logprob)
    assert (tally.calls, tally.written, tally.prompt, tally.computed) == (1, 2, 4, 3)
    with pytest.raises(BtError, match="it broke"):
        MeteredModel(Last(), tally).choose("break", ["a"]).poll()
    assert (tally.calls, tally.prompt, tally.too_long) == (2, 4, False)
    with pytest.raises(TooLong):
        MappedJob(_Long(), str, MeteredModel(Last(), tally).failed).poll()
    assert tally.too_long


class _Long(Answer[str]):
    def poll(self) -> str:
        raise TooLong("too long", "", 200, 100)
