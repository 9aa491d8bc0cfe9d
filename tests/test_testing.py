"""What `bt_runtime.testing` promises to people who test their own trees."""

from __future__ import annotations

import pytest

from bt_runtime import BtError
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS, Trial, after, matches, run_tree

PATROL = """\
version: 1
tree: patrol
root:
  sequence:
    - retry:
        times: 3
        child:
          go_to: {place: hall}
    - sequence:
        name: fetch
        children:
          - wait: 5
          - grab: {}
"""


def test_a_write_between_two_ticks_wakes_a_tree_that_no_time_would():
    text = """
version: 1
tree: t
blackboard: {c: {type: boolean, default: true}}
root:
  fallback:
    - k: {when: c}
    - succeed: {}
"""
    trial = Trial(text, skills={"k": RUNNING})
    trial.tick()
    trial.board["c"] = False
    assert trial.finish(seconds=1).status is SUCCESS
    assert trial.clock.now() == 0


def test_scripted_skills_give_one_result_a_start_and_record_what_they_were_asked():
    trial = run_tree(PATROL, skills={"go_to(place)": [FAILURE, FAILURE, SUCCESS], "grab": 2})
    assert trial.status is SUCCESS
    assert trial.skills["go_to"].starts == [{"place": "hall"}] * 3
    assert trial.visits["/patrol/0"] == 3
    assert trial.visits["/patrol/fetch/1"] == 3  # running for two ticks, then done
    assert trial.clock.now() >= 5
    trial.close()


def test_a_function_decides_by_the_parameters_and_its_signature_declares_them():
    trial = run_tree(
        PATROL, skills={"go_to": lambda place: SUCCESS if place == "hall" else FAILURE, "grab": after(1, FAILURE)}
    )
    assert trial.status is FAILURE
    trial.close()


def test_an_exception_in_a_script_breaks_the_node():
    trial = run_tree(PATROL, skills={"go_to(place)": OSError("the motor is off"), "grab": SUCCESS})
    assert trial.status is FAILURE
    assert "the motor is off" in trial.ticks[0].crashes[0].message
    trial.close()


def test_a_cancelled_skill_is_recorded():
    trial = Trial(PATROL, skills={"go_to(place)": RUNNING, "grab": SUCCESS})
    assert trial.tick(3) is RUNNING
    assert trial.running() == ["/patrol/0/0"]
    trial.close()
    assert trial.skills["go_to"].cancels == 1


def test_nodes_are_substituted_by_path_pattern_before_anything_is_set_up():
    trial = run_tree(PATROL, skills={"go_to(place)": SUCCESS, "grab": SUCCESS}, substitute={"**/fetch": [after(2)]})
    assert trial.status is SUCCESS
    assert trial.visits["/patrol/fetch"] == 3
    assert trial.doubles["**/fetch"].started == 1
    trial.close()


def test_a_pattern_that_fits_no_node_is_an_error_that_names_the_nodes():
    with pytest.raises(BtError, match=r"no node is at \*\*/fetsch") as error:
        Trial(PATROL, skills={"go_to(place)": SUCCESS, "grab": SUCCESS}, substitute={"**/fetsch": SUCCESS})
    assert "/patrol/fetch" in error.value.hint


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**/fetch", "/t/0/fetch", True),
        ("**/fetch", "/fetch", True),
        ("**/fetch", "/t/prefetch", False),
        ("/t/*", "/t/0", True),
        ("/t/*", "/t/0/1", False),
        ("/t/**", "/t/0/1", True),
        ("/t/*/1", "/t/a/1", True),
        ("fetch", "/t/0/fetch", True),
        ("/t/fe*", "/t/fetch", True),
    ],
)
def test_path_patterns_are_globs_over_segments(pattern, path, fits):
    assert matches(pattern, path) is fits


def small(root: str) -> str:
    return f"version: 1\ntree: t\nroot: {root}\n"


def test_a_tree_that_does_not_end_in_its_seconds_says_who_is_running_since_when_and_what_to_raise():
    text = small("{parallel: [{wait: 60}, {go_to: {place: hall}}]}")
    with pytest.raises(AssertionError) as error:
        run_tree(text, seconds=5, skills={"go_to(place)": after(1000)})
    told = str(error.value)
    assert "`t` has not ended after 5 s of its time (`seconds=5`), in 2" in told
    assert "/t/0  wait 60: for another 55 s, since 0 s" in told
    assert "/t/1  go_to place: hall: scripted to run for 7" in told
    assert "give it more with `seconds=`" in told


def test_ticks_without_end_are_told_with_the_node_that_asks_for_them():
    text = "version: 1\ntree: t\nroot: {sequence: [{repeat: {times: -1, child: {succeed: {}}}}]}\n"
    with pytest.raises(AssertionError, match="ticks without end: `repeat` at /t/0 asks for the next tick at once"):
        run_tree(text, seconds=5)


def test_what_can_never_come_is_not_waited_for():
    with pytest.raises(AssertionError, match="waits at 0 s for what can never come") as error:
        run_tree(PATROL, skills={"go_to(place)": RUNNING, "grab": SUCCESS})
    assert "/patrol/0/0  go_to place: hall: scripted to run for ever, since 0 s" in str(error.value)


def test_an_ordinary_timeout_is_reached_at_its_time_whatever_runs_for_ever():
    trial = run_tree(small("{timeout: {seconds: 120, child: {go: {}}}}"), skills={"go": RUNNING})
    assert (trial.status, trial.clock.now(), trial.skills["go"].cancels) == (FAILURE, 120, 1)
    trial.close()


@pytest.mark.parametrize(
    "restless",
    ["{repeat: {times: -1, child: {rate: {hz: 2, child: {go: {}}}}}}", "{retry: {times: -1, child: {fail: x}}}",
     "{repeat: {times: -1, child: {wait: 0.000001}}}"],
)  # fmt: skip
def test_time_passes_although_one_node_is_due_at_once_for_ever(restless):
    text = small(f"{{parallel: {{success: 1, children: [{{wait: 3}}, {restless}]}}}}")
    trial = run_tree(text, skills={"go": SUCCESS})
    assert trial.status is SUCCESS
    assert 3 <= trial.clock.now() < 3.1
    trial.close()


def test_a_tree_that_wants_many_ticks_at_once_gets_them_before_time_passes():
    trial = run_tree(small("{repeat: {times: 90, child: {go: {}}}}"), skills={"go": SUCCESS})
    assert (trial.skills["go"].started, trial.clock.now()) == (90, 0)
    trial.close()


@pytest.fixture
def ran():
    """What was run by a fixture that is torn down before this one."""
    trials = []
    yield trials
    assert [trial.run.parts.engine._closed for trial in trials] == [True, True]


def test_the_fixture_closes_what_it_ran_when_the_test_has_ended(ran, run_tree):
    skills = {"go_to(place)": SUCCESS, "grab": SUCCESS}
    ran += [run_tree(PATROL, seconds=0, skills=skills), run_tree(PATROL, skills=skills)]
    assert not any(trial.run.parts.engine._closed for trial in ran)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "tools.yaml").write_text(
        "version: 1\nskills: tools\nimpl: world\nkinds:\n"
        "  find: {params: {what: string}, outputs: {place: string}, sentence: 'find the {what}'}\n"
    )
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "down.yaml").write_text(
        "version: 1\ntree: down\ninputs: {depth: {type: integer, default: 0}}\nroot:\n"
        "  sequence: [check: depth < 3, {fallback: [{fail: {name: work, why: x}}, "
        "tree: {file: down, with: {depth: '{depth + 1}'}}]}]\n"
    )
    return tmp_path


def test_a_script_takes_the_place_of_a_manifests_skill_and_gives_its_outputs(project):
    text = "version: 1\ntree: t\nskills: [tools]\nroot:\n  find: {what: cup, place: '{where}'}\n"
    trial = run_tree(text, skills={"find": {"place": "shelf"}}, project=project)
    assert trial.status is SUCCESS
    assert trial.skills["find"].starts == [{"what": "cup"}]
    assert trial.board["where"] == "shelf"
    assert trial.find("/t").feedback_message == "find the cup"
    trial.close()


TOOLS = "version: 1\ntree: t\nskills: [tools]\nroot:\n  find: {what: cup}\n"


@pytest.fixture
def real(project):
    """`find` is Python that writes a file when it runs."""
    (project / "skills" / "tools.yaml").write_text(
        "version: 1\nskills: tools\nimpl: tools.py:find\nkinds:\n  find: {params: {what: string}}\n"
    )
    (project / "skills" / "tools.py").write_text(
        "from pathlib import Path\ndef find(what):\n    Path(__file__).with_name('ran').touch()\n"
    )
    return project


@pytest.mark.parametrize("skills", [{}, {"other": SUCCESS}])
def test_a_skill_that_is_neither_scripted_nor_allowed_refuses_to_run_and_nothing_catches_that(real, skills):
    text = TOOLS.replace("find:", "try: {do: {retry: {times: 3, child: {find: {what: cup}}}}, catch: {log: x}}\n#")
    with pytest.raises(BtError, match=r"`find` \(/t/0/0\) is to start at 0 s, and this test does not say") as error:
        run_tree(text, skills=skills, project=real)
    assert error.value.hint == 'script it: skills={"find": SUCCESS}; or let its own implementation run: allow=["find"]'
    assert not (real / "skills" / "ran").exists()


def test_a_script_for_a_misspelt_skill_says_which_is_meant(real):
    with pytest.raises(BtError, match="`fnd` is scripted, and no node of the tree is called so") as error:
        run_tree(TOOLS, skills={"fnd": SUCCESS}, project=real)
    assert error.value.hint == "did you mean `find`?"


@pytest.mark.parametrize("allow", ["find", ["find"], "*"])
def test_an_allowed_skill_runs_as_it_is_implemented_and_is_waited_for(real, allow):
    trial = run_tree(TOOLS, allow=allow, project=real)
    assert trial.status is SUCCESS
    assert (real / "skills" / "ran").exists()
    trial.close()


def test_a_promise_is_looked_at_after_every_tick_and_says_what_it_read():
    text = small("{sequence: [{wait: 2}, {set: {on: true}}, {wait: 1}]}")
    text = text.replace("root", "blackboard: {on: {type: boolean, default: false}}\nroot")
    with pytest.raises(AssertionError, match="never: on and /t/2 is running - broken at 2 s, in tick 2, where on = tr"):
        run_tree(text, never="on and /t/2 is running")
    run_tree(text, always=["not on or /t/0 is not running"], never="/t/0 is failure").close()


def test_a_promise_about_what_is_not_there_is_told_apart_from_one_that_is_kept():
    trial = run_tree(small("{sequence: [{set: {charging: true}}, {wait: 1}]}"), never=["chargin", "/t/7 is running"])
    with pytest.raises(BtError, match="`chargin`: no entry is named `chargin`") as error:
        trial.promises.known(trial.run)
    assert error.value.hint == "did you mean `charging`?"
    trial.close()


def test_nodes_that_grow_later_are_substituted_as_well(project):
    text = "version: 1\ntree: t\nroot:\n  tree: down\n"
    trial = run_tree(text, substitute={"**/work": [FAILURE, FAILURE, SUCCESS]}, project=project)
    assert trial.status is SUCCESS
    assert trial.doubles["**/work"].started == 3
    trial.close()
