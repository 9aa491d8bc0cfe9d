"""What is told of a node besides its status: where it is written, what it reads, how often, why it broke or halted."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest

from bt_runtime import BtError, Run, View, load
from bt_runtime.cli.running.screen import screen
from bt_runtime.clock import Manual
from bt_runtime.events import Crash, Line
from bt_runtime.journal import Recording
from bt_runtime.run.view import Feed
from bt_runtime.run.view.picture import PagePicture, Spot
from bt_runtime.run.view.recorded import JournalReader
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.scenes import depot_run

TREE = """\
version: 1
tree: t
blackboard: {n: {type: integer, default: 1}, loose: any}
root:
  sequence:
    - retry:
        times: 3
        child: {check: {expr: n > 2, when: exists(n)}}
    - log: "n is {n}"
"""


def watched(run: Run, ticks: int) -> PagePicture:
    feed = Feed(most=None)
    watch = RunWatch(run, feed)
    run.spin(ticks=ticks)
    watch.end(run.status)
    return feed.picture()


def at(picture: PagePicture, kind: str) -> Spot:
    return next(s for s in picture.in_order() if s.row[3] == kind)


def test_a_node_tells_where_it_is_written_and_what_its_tests_and_fields_read():
    with Run(load(TREE), clock=Manual()) as run:
        picture = watched(run, 3)
    check, guard, log = (at(picture, kind).facts for kind in ("check", "guard", "log"))
    assert check["at"] == [8, 17] and check["asks"] == ["expr"]
    assert check["fields"] == [["expr", "n > 2", ["n"]]] and check["names"] == {"n": [["", "n"]]}
    assert guard["fields"] == [["when", "exists(n)", ["n"]]]
    assert log["fields"][0] == ["text", "n is {n}", ["n"]]
    assert picture.sources[check["source"]]["text"] == TREE


def test_labels_ports_and_writers_are_told(tmp_path):
    with depot_run(tmp_path, clock=Manual()) as run:
        picture = watched(run, 1)
    places = {(s.row[3], s.facts.get("place", "")) for s in picture.in_order()}
    assert {("sequence", "do"), ("log", "catch"), ("set", "finally")} <= places
    tree = at(picture, "tree").facts
    assert [port[:3] for port in tree["ports"]] == [["place", "string", "in"], ["notes", "list", "out"]]
    assert at(picture, "open_door").facts["writes"] == {"found": [["", "found"]]}
    inner = next(s for s in picture.in_order() if s.facts.get("writes", {}).get("notes"))
    assert inner.facts["writes"]["notes"] == [["", "notes"]], "a shared entry lives above"


def test_how_often_and_how_long_a_node_ran_is_counted():
    clock, feed = Manual(), Feed(most=None)
    with Run(load(ROUNDS), clock=clock) as run:
        RunWatch(run, feed)
        for _ in range(6):
            run.tick()
            clock.advance(0.5)
        picture = feed.picture()
    wait = at(picture, "wait")
    assert (wait.begun, wait.ended, wait.last, wait.total) == (2, 2, 1.0, 2.0)
    again = PagePicture(picture.events())
    assert at(again, "wait").counts() == wait.counts(), "a picture of everything before says the same"


def test_a_crash_is_told_before_what_it_caused_with_its_traceback_live_and_recorded(tmp_path):
    order: list[str] = []
    with depot_run(tmp_path, hz=200, journal=tmp_path / "runs") as run:
        run.listen(lambda event: order.append(type(event).__name__), Crash, Line)
        live, file = watched(run, 200), run.parts.journal.path
    recorded = PagePicture(JournalReader(file).more())
    assert order[order.index("Crash") + 1] == "Line"
    for picture in (live, recorded):
        crash = next(line for line in picture.lines if line["k"] == "crash")
        after = list(picture.lines)[list(picture.lines).index(crash) + 1]
        assert after["text"] == "skipping kitchen: RuntimeError: the handle came off"
        assert 'raise RuntimeError("the handle came off")' in crash["traceback"]
        assert picture.spots[crash["id"]].row[3] == "open_door"


FAILS = """\
version: 1
tree: t
inputs: {n: integer, limit: {type: integer, default: 3}}
root:
  sequence:
    - log: a
    - check: n > limit
"""
ROUNDS = """\
version: 1
tree: t
root:
  repeat:
    times: 3
    child: {sequence: [{set: {n: "{7}"}}, {wait: 1}, {set: {n: 2}}]}
"""


def test_a_failed_root_says_which_test_failed_and_with_which_values(tmp_path):
    why = "`n > limit` does not hold: n is 2, limit is 3"
    with Run(load(FAILS), inputs={"n": 2}, journal=tmp_path / "runs") as run:
        live, file = watched(run, 3), run.parts.journal.path
    for picture in (live, PagePicture(JournalReader(file).more())):
        assert (picture.latest["over"]["path"], picture.latest["over"]["why"]) == ("/t/1", why)
        assert f"failed at /t/1: {why}" in screen(picture, 20, 120, False)
    [(_, result)] = Recording(file).of("result")
    assert result == {"status": "FAILURE", "path": "/t/1", "why": why}


def test_who_was_halted_by_whom_and_why_is_told_of_each_node():
    text = "version: 1\ntree: t\nroot:\n  timeout:\n    seconds: 1\n    child: {sequence: [{wait: 9}]}\n"
    clock = Manual()
    with Run(load(text), clock=clock) as run:
        feed = Feed(most=None)
        RunWatch(run, feed)
        run.tick()
        clock.advance(2)
        run.tick()
        picture = feed.picture()
    halt = next(line for line in picture.lines if line["k"] == "halt")
    assert halt["by"] == "/t" and set(halt["ids"]) == {at(picture, "sequence").id, at(picture, "wait").id}


def test_entries_that_are_gone_are_gone_from_the_page_and_from_the_recording(tmp_path):
    text = "version: 1\ntree: t\nroot:\n  sequence:\n    - set: {a: 1, b: 2}\n    - unset: a\n    - wait: 9\n"
    with Run(load(text), clock=Manual(), journal=tmp_path / "runs") as run:
        live, file = watched(run, 1), run.parts.journal.path
    for picture in (live, PagePicture(JournalReader(file).more())):
        assert set(picture.board) == {("", "b")}


def test_an_entry_tells_its_writer_and_what_it_was():
    clock = Manual()
    with Run(load(ROUNDS), clock=clock) as run:
        feed = Feed(most=None)
        RunWatch(run, feed)
        run.tick()
        picture = feed.picture()
        assert picture.board["", "n"]["by"] == at(picture, "set").id
        run.blackboard["n"] = 5
        assert feed.picture().board["", "n"]["by"] == "outside"
        for _ in range(3):
            clock.advance(1)
            run.tick()
        assert [value for _, _, value in feed.picture().past["", "n"]] == [5, 2, 7, 2], "of each tick the last"


# Writing from the page ---------------------------------------------------------------------------


def post(view: View, token: str = "", **about: Any) -> tuple[int, Any]:
    headers = {"X-Token": token or view.server.token, "Content-Type": "application/json"}
    body = json.dumps({"do": "write", **about}).encode()
    request = Request(f"http://127.0.0.1:{view.server.port}/command", body, headers, method="POST")
    try:
        with urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except OSError as error:
        with error:  # type: ignore[attr-defined]
            return error.code, json.load(error)  # type: ignore[attr-defined]


def test_a_person_writes_an_entry_from_the_page_and_the_journal_says_so(tmp_path):
    with Run(load(TREE), clock=Manual(), journal=tmp_path / "runs") as run, View(run) as view:
        assert post(view, scope="", name="n", value=5)[0] == 200
        assert run.blackboard["n"] == 5
        assert view.feed.picture().board["", "n"]["by"] == "page"
        file = run.parts.journal.path
    [written] = [body for _, body in Recording(file).of("write")]
    assert (written["name"], written["value"], written["by"]) == ("n", 5, "page")
    assert PagePicture(JournalReader(file).more()).board["", "n"]["by"] == "page"


@pytest.mark.parametrize(
    ("about", "why"),
    [
        ({"name": "n", "value": "five"}, "takes an integer"),
        ({"name": "m", "value": 1}, "there is no entry `m`"),
        ({"name": "n"}, "no value was given"),
        ({"name": "n", "value": 2, "scope": "/nowhere"}, "there is no entry `n`"),
        ({"name": "free", "value": "text"}, "`free` is an integer, not a string"),
    ],
)
def test_a_write_that_does_not_fit_is_refused_with_why(about, why):
    with Run(load(TREE), clock=Manual()) as run, View(run) as view:
        run.blackboard["free"] = 1
        code, answer = post(view, **{"scope": "", **about})
        assert (code, run.blackboard["n"]) == (409, 1) and why in answer["error"]


def test_nobody_writes_without_the_token():
    with Run(load(TREE), clock=Manual()) as run, View(run) as view:
        assert post(view, token="guessed", scope="", name="n", value=5)[0] == 403
        assert run.blackboard["n"] == 1


def test_an_ended_run_is_not_written_to():
    with Run(load(TREE), clock=Manual()) as run, View(run) as view:
        view.finish()
        with pytest.raises(BtError, match="has ended"):
            view.command("write", {"scope": "", "name": "n", "value": 5})
