"""The loop of AutoPlan, a scripted model over the real nodes and worlds: order, versions, early stop, ablations."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from bt_lab.optimise import plan_versions
from bt_lab.optimise.loop import optimise
from bt_lab.optimise.plan_versions import Version
from bt_lab.optimise.setup import OptimiseSetup, draw, left
from bt_runtime import BtError
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import Tick
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.language import guide
from bt_runtime.language.guide import Guide
from packages.lab.tests.bench.optimise.learner import KNOWS, PLAN, Learner

SETUP = OptimiseSetup("textcraft", "depth 1", batch=3, validation=2, seed=1)
DULL = "1. Hope.\n"


def learner(setup: OptimiseSetup = SETUP, iterations: int = 3, plans: tuple[str, ...] = (PLAN,)) -> Learner:
    aside, batches = draw(setup, iterations)
    return Learner([task for tasks in (aside, *batches) for task in tasks], setup.suite, plans)


def run(folder: Path, script: Learner, setup: OptimiseSetup = SETUP, iterations: int = 3, **how):
    return optimise(setup, folder, iterations, model=ScriptedModel(script), **how)


def test_a_plan_that_is_learnt_raises_the_score_and_every_version_is_kept_with_it(tmp_path):
    script = learner()
    kept, whole = run(tmp_path / "p", script)
    assert whole
    assert [(v.iteration, v.rate()) for v in kept] == [(0, 0.0), (1, 1.0)]
    header = kept[1].guide.header
    assert header["training"] == {"reached": 0, "of": 3} and header["validation"] == {"reached": 2, "of": 2}
    assert (header["parent"], header["kind"], header["world"]) == ("0.md", "depth 1", "textcraft")
    assert kept[0].guide.text == "" and KNOWS in kept[1].guide.text
    assert plan_versions.best(kept) == kept[1]


def test_the_order_is_score_then_a_batch_each_reflected_on_then_one_rewriting_then_score(tmp_path):
    script = learner()
    run(tmp_path / "p", script)
    assert script.asked[:2] == ["act", "act"]  # the empty plan on the two tasks kept aside
    written = script.asked.index("new plan")
    batch = script.asked[2:written]
    assert [batch.count(what) for what in ("act", "summary", "flaw", "revision")] == [3, 3, 3, 3]
    assert script.asked.count("new plan") == 1
    assert set(script.asked[written + 1 :]) == {"act"}
    rewriting = script.prompts[written]
    assert rewriting.count("Summary: the summary of it\nFlaw: the flaw of it\nRevision: the revision of it\n") == 3
    assert "The plan was:\n(none yet)\n" in rewriting and rewriting.count("The goal was not reached.") == 3


def test_the_plan_of_an_iteration_is_followed_by_the_next_and_shown_to_its_rewriting(tmp_path):
    script = learner(plans=(DULL, PLAN))
    kept, _ = run(tmp_path / "p", script)
    assert [v.rate() for v in kept] == [0.0, 0.0, 1.0]
    last = [p for p in script.prompts if p.endswith("New plan:\n")][-1]
    assert "The plan was:\n1. Hope.\n" in last
    first_batch = [p for p in script.prompts if "Your task is to" in p and "Summary" not in p][2:5]
    assert not any("1. Hope." in p for p in first_batch)
    assert sum("A plan for tasks of this kind:\n1. Hope.\n" in p for p in script.prompts) == 2 + 3


class Half(Learner):
    """Under a plan that says so it can do one of the tasks kept aside."""

    plan, only = "1. Half of it.\n", ""

    def __call__(self, ask):
        if ask.kind != "write" and self.plan.strip() in ask.prompt and self.only in ask.prompt:
            return super().__call__(ask._replace(prompt=f"{KNOWS}\n{ask.prompt}"))
        return super().__call__(ask)


def test_a_version_that_got_worse_is_kept_but_not_built_on(tmp_path):
    aside, batches = draw(SETUP, 3)
    script = Half([task for tasks in (aside, *batches) for task in tasks], SETUP.suite, (Half.plan, DULL, PLAN))
    script.only = aside[0].goal
    assert script.only not in [t.goal for t in aside[1:]]
    kept, _ = run(tmp_path / "p", script)
    assert [(v.rate(), v.guide.header.get("parent")) for v in kept] == [
        (0.0, None), (0.5, "0.md"), (0.0, "1.md"), (1.0, "1.md")
    ]  # fmt: skip
    assert left(SETUP, kept[:3], 3)["plan"] == Half.plan.strip()  # and so it goes on after a kill


@pytest.mark.parametrize(
    ("parts", "asked"), [(("summary",), {"summary"}), (("summary", "revision"), {"summary", "revision"})]
)
def test_ablations_ask_for_fewer_parts(tmp_path, parts, asked):
    setup = SETUP._replace(parts=parts)
    script = learner(setup)
    run(tmp_path / "p", script, setup)
    assert {"summary", "flaw", "revision"} & set(script.asked) == asked
    rewriting = script.prompts[script.asked.index("new plan")]
    assert ("Flaw:" in rewriting.split("The tasks:")[1]) is False


def test_it_stops_early_after_iterations_without_a_better_score(tmp_path):
    script = learner(iterations=5, plans=(DULL,))
    kept, whole = run(tmp_path / "p", script, iterations=5, patience=2)
    assert whole and [v.rate() for v in kept] == [0.0, 0.0, 0.0]
    before = len(script.asked)
    again, whole = run(tmp_path / "p", script, iterations=5, patience=2)
    assert whole and again == kept and len(script.asked) == before
    more, _ = run(tmp_path / "p", script, iterations=5, patience=4)
    assert len(more) == 5


def test_more_iterations_go_on_from_the_last_version_and_draw_the_same_tasks(tmp_path):
    script = learner(plans=(DULL, PLAN))
    kept, _ = run(tmp_path / "p", script, iterations=1)
    assert [v.iteration for v in kept] == [0, 1]
    more, _ = run(tmp_path / "p", script, iterations=3)
    assert more[:2] == kept and [v.rate() for v in more] == [0.0, 0.0, 1.0]
    assert draw(SETUP, 1)[1] == draw(SETUP, 3)[1][:1]


def test_an_iteration_in_which_no_plan_is_written_keeps_the_plan_before(tmp_path):
    script = learner(plans=(DULL, "I do not know.\n", PLAN))
    kept, whole = run(tmp_path / "p", script)
    assert whole and [v.guide.text for v in kept] == ["", "1. Hope.", "1. Hope."]


def test_no_task_of_a_batch_is_kept_aside_and_none_stands_twice_in_one():
    for seed in range(5):
        aside, batches = draw(OptimiseSetup("house", "put_fridge", batch=6, validation=6, seed=seed), 3)
        known = [(t.goal, str(t.data)) for t in aside]
        assert len(set(known)) == 6
        for batch in batches:
            drawn = [(t.goal, str(t.data)) for t in batch]
            assert len(set(drawn)) == 6 and not set(drawn) & set(known)


def test_what_is_left_is_told_by_the_versions_that_are_kept():
    scored = {"validation": {"reached": 1, "of": 2}}
    kept = [Version(0, Path("0.md"), Guide("", scored)), Version(1, Path("1.md"), Guide(DULL, scored))]
    given = left(SETUP, kept, 3)
    assert [(r["iteration"], len(r["tasks"])) for r in given["rounds"]] == [(2, 3), (3, 3)]
    assert (given["plan"], given["best"], given["stale"]) == (DULL, 0.5, 1)
    unscored = [kept[0], Version(1, Path("1.md"), Guide(DULL))]
    given = left(SETUP, unscored, 2)
    assert [(r["iteration"], len(r["tasks"])) for r in given["rounds"]] == [(1, 0), (2, 3)]


def test_versions_of_another_set_up_are_not_gone_on_with(tmp_path):
    run(tmp_path / "p", learner(), iterations=1)
    other = SETUP._replace(batch=2)
    with pytest.raises(BtError, match="another set-up"):
        run(tmp_path / "p", learner(other), other)


@pytest.mark.parametrize(
    "setup",
    [SETUP._replace(suite="textcrafd"), SETUP._replace(kind="deep"), SETUP._replace(world={"feedbak": "terse"})],
)
def test_what_cannot_be_meant_is_said_before_anything_begins(tmp_path, setup):
    with pytest.raises(BtError):
        run(tmp_path / "p", learner(), setup)
    assert not (tmp_path / "p").exists()


def test_an_attempt_that_has_done_its_acts_is_over(tmp_path):
    setup = SETUP._replace(steps=1)
    kept, _ = run(tmp_path / "p", learner(setup), setup, iterations=1)
    assert [v.rate() for v in kept] == [0.0, 0.0]  # the plan is there, and takes more than one act
    assert kept[0].guide.header["steps"] == 1 and setup.digest != SETUP.digest


def test_an_unknown_strategy_reaches_nothing_and_says_where_a_case_is_missing(tmp_path):
    setup, said = SETUP._replace(strategy="wander"), []
    kept, _ = run(tmp_path / "p", learner(setup), setup, iterations=1, watch=lambda made: _noting(made, said))
    assert kept[0].rate() == 0.0
    assert any("no case for the strategy wander" in line for line in said)


def test_every_step_of_the_loop_is_in_the_journal_and_can_be_replayed(tmp_path):
    run(tmp_path / "p", learner(), journal=tmp_path / "runs")
    (path,) = (tmp_path / "runs").glob("*.btr")
    kinds = [event.kind for event in Recording(path).events]
    # 2 + 3 + 2 episodes: the empty plan's score, the batch, the new plan's score
    assert [kinds.count(k) for k in ("episode", "outcome", "reflection", "rewriting")] == [7, 7, 3, 1]
    before = sorted((p.name, p.read_bytes()) for p in (tmp_path / "p").iterdir())
    played = replay(path)
    assert (played.difference, played.ended) == ("", "")
    assert sorted((p.name, p.read_bytes()) for p in (tmp_path / "p").iterdir()) == before


def test_a_version_is_never_written_over_by_another_text(tmp_path):
    plan_versions.keep(tmp_path, 1, Guide(DULL, {"version": 1}))
    with pytest.raises(BtError, match="no version is written over"):
        plan_versions.keep(tmp_path, 1, Guide(PLAN, {"version": 1}))
    assert guide.sound(tmp_path / "1.md").text == DULL.strip()


def test_of_equal_scores_the_first_version_is_the_best_and_without_scores_the_last():
    scored = [Version(n, Path(f"{n}.md"), Guide("", {"validation": {"reached": r, "of": 4}})) for n, r in
              enumerate((1, 3, 3, 2))]  # fmt: skip
    assert plan_versions.best(scored) == scored[1]
    plain = [Version(n, Path(f"{n}.md"), Guide("")) for n in range(2)]
    assert plan_versions.best(plain) == plain[1]
    assert plan_versions.best([]) is None


def _noting(made, said):
    made.listen(lambda tick: said.extend(f"{n.feedback_message}" for n, _ in tick.changes), Tick)
    return nullcontext()


def test_the_loop_runs_in_a_house_with_rules_that_no_training_has_seen(tmp_path):
    told = {"world": {"feedback": "detailed"}, "tasks": {"rules": "eval 1"}}
    setup = OptimiseSetup("house", "heat", batch=2, validation=2, seed=4, **told)
    kept, whole = run(tmp_path / "p", learner(setup, 1), setup, iterations=1)
    assert whole and [v.rate() for v in kept] == [0.0, 1.0]
    header = kept[1].guide.header
    assert (header["options"], header["tasks"]) == ("feedback=detailed", "rules=eval 1")
    aside, batches = draw(setup, 1)
    assert len({str(task.data["rules"]) for task in (*aside, *batches[0])}) == 1


def test_a_recorded_loop_that_was_cut_off_amid_a_batch_is_resumed_where_it_stood(tmp_path):
    run(tmp_path / "whole", learner())
    script, made = learner(), []

    def cut(run):
        def look(tick):
            if "summary" in script.asked and not run.parts.runner.stopped:
                run.parts.journal.close()  # from here on nothing is written down any more, as after a kill
                run.parts.runner.halt("cut off")

        made.append(run)
        run.listen(look, Tick)
        return nullcontext()

    _, whole = run(tmp_path / "p", script, journal=tmp_path / "runs", watch=cut)
    assert not whole and [v.iteration for v in plan_versions.versions(tmp_path / "p")] == [0]
    (path,) = (tmp_path / "runs").glob("*.btr")
    asked = len(script.asked)
    with resume(path, model=ScriptedModel(script)) as again:
        again.spin(seconds=60)
    assert script.asked[asked:].count("summary") < 3  # what was reflected on before is not asked again
    ends = [[(v.iteration, v.guide) for v in plan_versions.versions(tmp_path / name)] for name in ("p", "whole")]
    assert ends[0] == ends[1]
