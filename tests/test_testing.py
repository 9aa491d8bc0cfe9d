"""What `bt_runtime.testing` promises to people who test their own trees."""

from __future__ import annotations

import pytest

from bt_runtime.faults.diagnostic import BtError
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


def test_a_tree_that_does_not_end_is_an_assertion_error_that_names_who_is_running():
    with pytest.raises(AssertionError, match="/patrol/0/0"):
        run_tree(PATROL, ticks=5, skills={"go_to(place)": RUNNING, "grab": SUCCESS})


@pytest.fixture
def ran():
    """What was run by a fixture that is torn down before this one."""
    trials = []
    yield trials
    assert [trial.run.engine._closed for trial in trials] == [True, True]


def test_the_fixture_closes_what_it_ran_when_the_test_has_ended(ran, run_tree):
    skills = {"go_to(place)": SUCCESS, "grab": SUCCESS}
    ran += [run_tree(PATROL, ticks=0, skills=skills), run_tree(PATROL, skills=skills)]
    assert not any(trial.run.engine._closed for trial in ran)


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


def test_nodes_that_grow_later_are_substituted_as_well(project):
    text = "version: 1\ntree: t\nroot:\n  tree: down\n"
    trial = run_tree(text, substitute={"**/work": [FAILURE, FAILURE, SUCCESS]}, project=project)
    assert trial.status is SUCCESS
    assert trial.doubles["**/work"].started == 3
    trial.close()
