"""A journal is shown as the run was: when it has ended, while it is written, and when it is damaged."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from itertools import islice

import pytest

from bt_runtime import BtError, Run, load
from bt_runtime.cli import main
from bt_runtime.clock import Manual
from bt_runtime.language.loader import Loader
from bt_runtime.run.view.event import SIGNS
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.picture import PagePicture
from bt_runtime.run.view.recorded import JournalFollowing, JournalReader, events_of, kept
from bt_runtime.run.view.teller import Teller
from bt_runtime.run.view.watch import RunWatch
from bt_runtime.tree.engine import Engine
from tests.run.view.scenes import craft_run, house_run
from tests.support.pictures import as_it_is, as_shown


@pytest.fixture
def recorded(tmp_path):
    """A run in a house: its journal, and what one saw that looked on."""
    with house_run(journal=tmp_path / "runs", clock=Manual()) as run:
        feed = Feed(most=None)
        watch = RunWatch(run, feed)
        run.spin(ticks=500)
        watch.end(run.status)
        shape = as_it_is(run)
        path = run.parts.journal.path
    return path, feed.picture(), shape


def told(picture: PagePicture):
    """What agents told, by goal: the numbers of nodes differ between the two."""
    return sorted(
        (picture.goals[id]["goal"], [(e["what"], e.get("text"), e.get("observation")) for e in events])
        for id, events in picture.told.items()
    )


def test_a_recorded_run_adds_up_to_what_one_saw_that_looked_on(recorded):
    file, live, _ = recorded
    shown = PagePicture(events_of(file))
    assert as_shown(shown) == as_shown(live)
    assert told(shown) == told(live)
    assert shown.latest["world"]["picture"] == live.latest["world"]["picture"]
    assert shown.latest["over"]["verdict"] == live.latest["over"]["verdict"] == [3, 3]
    for figure in ("decisions", "steps"):
        assert shown.latest["spent"][figure] == live.latest["spent"][figure]
    goals = [(p.path(s), s.row[6]) for p in (shown, live) for s in p.in_order() if s.row[3] == "tree"]
    known = dict(goals[len(goals) // 2 :])
    said = [(at, text) for at, text in goals[: len(goals) // 2] if text]
    assert len(said) > 5 and all(known[at] == text for at, text in said)
    memory = {k: e["value"] for k, e in shown.board.items()}
    assert memory["", "working_memory"] == live.board["", "working_memory"]["value"]


def test_every_tick_of_a_recorded_run_can_be_looked_at(recorded):
    ticks = [e["n"] for e in events_of(recorded[0]) if e["k"] == "tick"]
    assert ticks == sorted(ticks) and len(set(ticks)) == max(ticks)


def test_a_run_is_followed_while_another_part_of_the_program_writes_it(tmp_path):
    with house_run(journal=tmp_path / "runs", clock=Manual()) as run:
        for _ in range(10):
            run.tick()
        run.parts.journal.tape.writer.durable().wait(60)
        reader = JournalReader(run.parts.journal.path)
        assert reader.live
        feed = Feed(most=None)
        follow = JournalFollowing(reader, feed)
        try:
            assert feed.picture().tick == 10 and "over" not in feed.picture().latest
            run.spin(ticks=300)
            shape = as_it_is(run)
            run.parts.journal.close()
            follow.thread.join(60)
            assert not follow.thread.is_alive()
        finally:
            follow.close()
        assert as_shown(feed.picture()) == shape
        assert feed.after(None, most=10**9).closed and feed.picture().latest["over"]["verdict"] == [3, 3]


def test_nodes_that_make_way_for_others_are_gone_from_the_recording_too(tmp_path):
    tree = load("version: 1\ntree: t\nroot:\n  sequence:\n    - {wait: {seconds: 5, name: a}}\n    - wait: 1\n")
    with Run(tree, journal=tmp_path, clock=Manual()) as run:
        run.tick()
        run.replace("/t/a", "sequence: [{succeed: }, {wait: {seconds: 3, name: inner}}]")
        run.tick()
        run.insert("/t", "log: {text: hello, when: 1 < 2}", 1)
        run.tick()
        run.remove("/t/1")
        run.tick()
        shape = [(path, SIGNS[node.status]) for (path, _), node in zip(as_it_is(run), run.nodes(), strict=True)]
        path = run.parts.journal.path
        run.parts.journal.close()
    assert [p for p, _ in as_shown(PagePicture(events_of(path)))] == [p for p, _ in shape]


def test_a_recorded_run_is_shown_without_loading_its_tree_or_opening_a_run(recorded, monkeypatch):
    """All that is said of nodes, also of those that grew, was told when it happened."""

    def never(*args, **named):
        raise AssertionError("what happened is in the journal")

    for room in (Loader, Engine, Run):
        monkeypatch.setattr(room, "__init__", never)
    shown = PagePicture(events_of(recorded[0]))
    assert as_shown(shown) == recorded[2]
    assert {spot.row[4] for spot in shown.spots.values()} > {"agent", "control"}
    assert all(spot.row[6] for spot in shown.spots.values() if spot.row[3] in ("agent", "tree"))


def test_a_journal_whose_nodes_stand_in_a_circle_is_shown_to_an_end():
    rows = [[n, above, f"n{n}", "wait", "leaf", "", ""] for n, above in ((1, 2), (2, 1), (3, 3), (4, 2))]
    order = {"1": [2, 1], "2": [1, 4, 4], "3": [3], "4": [1]}
    teller, picture = Teller(), PagePicture()
    for told in (
        [("shape", {"add": rows, "gone": [7], "order": order})],
        [("shape", {"add": rows, "gone": [2, 2], "order": order})],
    ):
        for event in teller.tick(1, 0.0, told):
            picture.take(event)
        spots = list(islice(picture.in_order(), 100))
        assert 0 < len(spots) < 10 and all(len(picture.path(spot)) < 50 for spot in spots)


def test_a_damaged_journal_is_shown_as_far_as_it_is_whole_and_says_so(recorded, tmp_path):
    path = tmp_path / "hurt.btr"
    shutil.copy(recorded[0], path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE events SET body = replace(body, 'a', 'b') WHERE seq = 150")
    events = list(events_of(path))
    assert any(e["k"] == "line" and "damaged" in e["text"] for e in events)
    assert any(e["k"] == "agent" and e["what"] == "step" for e in events)


def test_a_file_that_is_neither_is_a_fault_with_a_way_out(tmp_path):
    for name, text in (("a.btr", "hello"), ("b.jsonl", "hello\n"), ("c.jsonl", "[1]\n"), ("d.jsonl", '{"t": 1}\n')):
        (tmp_path / name).write_text(text)
        with pytest.raises(BtError) as caught:
            list(events_of(tmp_path / name))
        assert caught.value.hint


def test_events_that_were_kept_are_shown_again_even_if_the_last_line_was_cut_off(tmp_path):
    path = tmp_path / "run.jsonl"
    with craft_run(clock=Manual()) as run:
        feed = Feed()
        feed.keep = lambda event: kept(path, event)
        watch = RunWatch(run, feed)
        run.spin(ticks=50)
        watch.end(run.status)
        live = as_it_is(run)
    with path.open("a") as out:
        out.write('{"k": "tick", "t": 9')
    picture = PagePicture(events_of(path))
    assert as_shown(picture) == live and picture.latest["world"]["picture"]["is"] == "bag"


def quiet_run(**options):
    """Nothing in it asks for the time."""
    return Run(load("version: 1\ntree: t\nroot:\n  sequence:\n    - log: hello\n    - log: again\n"), **options)


@pytest.mark.parametrize("make", [house_run, quiet_run])
def test_looking_on_changes_nothing_in_what_is_recorded(make, tmp_path):
    def entries(look: bool, folder):
        with make(journal=folder, clock=Manual()) as run:
            if look:
                RunWatch(run, Feed())
            run.spin(ticks=500)
            path = run.parts.journal.path
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT tick, kind, body FROM events ORDER BY seq").fetchall()
        return [(t, k, json.loads(b)) for t, k, b in rows if k not in ("clock", "answer")], [r[:2] for r in rows]

    assert entries(False, tmp_path / "a") == entries(True, tmp_path / "b")


def test_btr_view_writes_one_file_that_loads_nothing(recorded, tmp_path, capsys):
    out = tmp_path / "out.html"
    assert main(["view", str(recorded[0]), "--html", str(out)]) == 0
    text = out.read_text()
    assert capsys.readouterr().out.strip() == str(out)
    assert 'http-equiv="Content-Security-Policy"' in text and "src=" not in text.split("<script")[0]
    for link in ('<link rel="stylesheet"', "<script src"):
        assert link not in text


def test_btr_top_says_how_a_run_stands(recorded, capsys):
    assert main(["view", "top", str(recorded[0]), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["status"] == "success" and said["verdict"] == [3, 3] and said["nodes"] == len(recorded[2])
    assert main(["view", "top", str(recorded[0]), "--once"]) == 0
    assert "✓ agent" in capsys.readouterr().out
