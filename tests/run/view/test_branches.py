"""The time line of a run leads to its forks, and a fork's to the run that it is of."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime import Run, load
from bt_runtime.cli.running import view
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.journal.forked import forked
from bt_runtime.run.replay.fork import Edits, fork
from bt_runtime.run.view.branches import family
from bt_runtime.run.view.listing import serve
from bt_runtime.run.view.runs import Runs
from tests.run.view.browser import missing

TREE = """
version: 1
tree: errand
blackboard: {fuel: {type: integer, default: 1}}
root:
  sequence: [wait: 1, wait: 1, check: fuel > 2, wait: 1]
"""


@pytest.fixture
def forks(tmp_path) -> list[Path]:
    """A failed run, two forks of it, and a fork of the first of these."""
    with Run(load(TREE), clock=Manual(), journal=tmp_path) as run:
        run.spin()
    paths = [run.parts.journal.path]
    for of, at, fuel in ((0, "1", 9), (0, "2", 1), (1, "1", 9)):
        with fork(paths[of], at, Edits(entries={"fuel": fuel}), clock=Manual()) as run:
            run.spin()
        paths.append(run.parts.journal.path)
    return paths


def test_a_run_of_the_list_tells_its_forks_where_they_begin_and_how_they_ended(forks) -> None:
    runs = Runs([forks[0].parent])
    runs.look()
    keys = [runs.keys[path] for path in forks]
    names = [Recording(path).name for path in forks]
    told = runs.command("branches", {"run": keys[0]})
    assert told["of"] is None
    assert sorted((f["name"], f["run"], f["tick"], f["state"]) for f in told["forks"]) == [
        (names[1], keys[1], 1, "SUCCESS"), (names[2], keys[2], 2, "FAILURE"),
    ]  # fmt: skip
    own = runs.command("branches", {"run": keys[3]})
    assert own == {"of": {"run": keys[1], "name": names[1], "state": "SUCCESS", "tick": 1, "decision": 0}, "forks": []}


def test_the_forks_of_one_run_are_found_beside_it(forks) -> None:
    assert family(forks[0])[0] == forks[0] and set(family(forks[0])) == set(forks)
    assert set(family(forks[2])) == {forks[2], forks[0]}


@pytest.mark.parametrize(
    "told", [None, 3, {}, {"of": 1, "tick": 2, "decision": 0}, {"of": "a", "tick": -1, "decision": 0}]
)
def test_a_head_that_says_it_wrongly_is_no_fork(told) -> None:
    assert forked(told) is None


def test_view_of_a_run_with_forks_opens_its_page_in_a_list(forks, monkeypatch, capsys) -> None:
    opened = []
    monkeypatch.setattr(view, "stay", lambda url, browser: opened.append(url))
    from bt_runtime.cli import main

    assert main(["view", str(forks[0]), "--port", "0"]) == 0
    assert "/page.html?run=1#" in opened[0]


@pytest.mark.skipif(bool(missing()), reason=str(missing()))
def test_the_time_line_shows_the_forks_and_a_click_leads_to_both_runs(browser, forks, artefact) -> None:
    runs = Runs(family(forks[0])).start()
    server = serve(runs, port=0)
    try:
        start, _, token = server.url.partition("#")
        browser.open(f"{start}page.html?run=1#{token}")
        browser.until("document.querySelectorAll('#branches a').length === 2")
        titles = browser.js("return [...document.querySelectorAll('#branches a')].map((a) => a.title)")
        assert "at tick 1: SUCCESS" in titles[0] and "at tick 2: FAILURE" in titles[1]
        lefts = browser.js("return [...document.querySelectorAll('#branches a')].map((a) => a.offsetLeft)")
        assert lefts[0] < lefts[1]
        browser.screenshot(artefact / "branches.png")
        browser.js("document.querySelector('#branches a').click()")
        browser.until("window.btrTwo && btrTwo.sides.every((side) => side.closed)")
        names = browser.js("return btrTwo.sides.map((side) => side.run)")
        assert names == [runs.keys[forks[0]], runs.keys[forks[1]]]
    finally:
        server.close()
        runs.close()
