"""The list of runs says of each journal what its run is at, and reads only what was written since."""

from __future__ import annotations

import json
import shutil
import threading

import pytest

from bt_runtime import BtError, Person, Run, load, skill
from bt_runtime.cli import main
from bt_runtime.cli.journals import of_project
from bt_runtime.cli.running import view
from bt_runtime.cli.running.view import is_folder
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording
from bt_runtime.journal.compare import differences
from bt_runtime.journal.folder import journals
from bt_runtime.journal.glance import Glance
from bt_runtime.journal.summary import summary
from bt_runtime.run.view import runs as listing
from bt_runtime.run.view.runs import Runs
from bt_runtime.run.view.table import MOST_GONE, Table
from tests.run.view.many import HELLO, PATROL, listed, variety
from tests.run.view.scenes import house_run
from tests.run.view.test_server import ask, events


def rows(runs: Runs, cursor=None) -> dict:
    """The rows that changed after the cursor, by the tree's name or, without one, by the file's."""
    part = runs.table.after(cursor)
    return {e["tree"] or e["name"]: e for e in part.events if e["k"] == "run" and e["id"]}


def tick(run: Run, times: int = 5) -> None:
    for _ in range(times):
        run.tick()
    run.parts.journal.settled()


@pytest.fixture
def patrol(tmp_path):
    with Run(load(PATROL), journal=tmp_path) as run:
        tick(run)
        yield run


def test_each_sort_of_run_is_listed_with_its_state_alarm_and_last_fault(tmp_path):
    """The one that crashed has the name of the run that it is a copy of."""
    with variety(tmp_path):
        runs = Runs([tmp_path])
        runs.look()
        found = [e for e in runs.table.after(None).events if e["k"] == "run" and e["id"]]
        said = sorted((e["tree"] or e["name"], e["state"], e["alarm"]) for e in found)
        assert said == [
            ("damaged", "damaged", "crashed"), ("forest", "running", "asks"), ("hello", "FAILURE", ""),
            ("hello", "SUCCESS", ""), ("loud", "FAILURE", ""), ("patrol", "crashed", "crashed"),
            ("patrol", "running", ""), ("patrol", "stopped", ""),
        ]  # fmt: skip
        failed = next(e for e in found if e["tree"] == "hello" and e["state"] == "FAILURE")
        assert failed["fault"]["path"] == "/hello/1"
        assert "fell the oak" in next(e for e in found if e["tree"] == "forest")["asks"][0]


def test_the_list_counts_what_the_summary_of_a_run_counts(tmp_path):
    with house_run(journal=tmp_path, clock=Manual()) as run:
        run.spin(ticks=500)
    one = Glance(journals(tmp_path)[0])
    one.look()
    told = summary(one.path)
    assert (one.name, one.tree, one.state) == (told.name, told.tree, told.state)
    assert (one.decisions, one.actions, one.met) == (told.decisions, told.actions, told.verdict)


def test_a_journal_that_did_not_change_is_not_opened_and_of_one_that_grew_only_the_new_is_read(patrol, monkeypatch):
    one = Glance(patrol.parts.journal.path, ["battery"])
    one.look()
    before, taken = one.entries["battery"], []
    assert not one.look() and one.reads == 1
    take = Glance._take
    monkeypatch.setattr(Glance, "_take", lambda self, *told: (taken.append(told), take(self, *told)))
    old = one._seq
    tick(patrol, 40)
    assert one.look() and one.reads == 2 and float(one.entries["battery"]) < float(before)
    assert 0 < len(taken) <= one._seq - old


def test_read_in_parts_or_at_once_a_run_is_the_same(tmp_path):
    with house_run(journal=tmp_path, clock=Manual()) as run:
        parts = Glance(run.parts.journal.path, ["working_memory"])
        for _ in range(6):
            tick(run, 12)
            parts.look()
        assert parts.reads == 6 and parts.decisions > 5
        assert facts(parts) == facts(whole(parts))


def test_a_journal_that_was_cut_by_a_resumed_run_is_read_anew(patrol, tmp_path):
    """The earlier copy has the same head and fewer entries."""
    one = Glance(tmp_path / "copied" / "run.btr", ["battery"])
    one.path.parent.mkdir()
    source = patrol.parts.journal.path
    copied = [(source.with_suffix(suffix), one.path.with_suffix(suffix)) for suffix in (".btr", ".btr-wal")]
    early = [(source.read_bytes(), copy) for source, copy in copied]
    tick(patrol, 40)
    for source, copy in copied:
        shutil.copy(source, copy)
    one.look()
    late = one.entries["battery"]
    for content, copy in early:
        copy.write_bytes(content)
    one.look()
    assert float(one.entries["battery"]) > float(late) and facts(one) == facts(whole(one))


def whole(one: Glance) -> Glance:
    other = Glance(one.path, one.panel)
    other.look()
    return other


def facts(one: Glance) -> dict:
    return {name: value for name, value in vars(one).items() if name not in ("_mark", "reads")}


def test_a_journal_that_was_replaced_under_its_name_is_read_anew(tmp_path):
    for last in ("succeed:", "fail:"):
        with Run(load(HELLO % last), journal=tmp_path / last[:4]) as run:
            run.spin(ticks=20)
    (good,), (bad,) = journals(tmp_path / "succ"), journals(tmp_path / "fail")
    one = Glance(shutil.copy(good, tmp_path / "one.btr"))
    one.look()
    assert one.state == "SUCCESS" and one.fault is None
    shutil.copy(bad, one.path)
    one.look()
    assert one.state == "FAILURE" and one.fault is not None


def test_a_run_without_progress_is_stuck_until_it_goes_on(patrol):
    now = [0.0]
    runs = Runs([patrol.parts.journal.path], stuck=30, now=lambda: now[0])
    runs.look()
    last = next(iter(runs.glances.values())).progress
    for after, alarm in ((29, ""), (31, "stuck")):
        now[0] = last + after
        runs.look()
        assert rows(runs)["patrol"]["alarm"] == alarm
    tick(patrol)
    now[0] = 0.0
    runs.look()
    assert rows(runs)["patrol"]["alarm"] == ""


def test_an_answered_question_is_no_alarm_any_more(tmp_path):
    with variety(tmp_path) as live:
        runs = Runs([live["forest"].parts.journal.path])
        runs.look()
        assert rows(runs)["forest"]["alarm"] == "asks"
        live["forest"].parts.context.services.person.live.answer(1, "yes")
        tick(live["forest"])
        runs.look()
        assert rows(runs)["forest"]["alarm"] == ""


def test_a_question_that_was_withdrawn_is_no_alarm_any_more(tmp_path):
    """Nobody has answered in the author's time, or the asking node was halted; the run goes on."""

    @skill("fell the {tree}", confirm=30)
    def fell(tree: str) -> None: ...

    tree = load(
        "version: 1\ntree: t\nroot:\n  sequence: [{fallback: [{fell: {tree: oak}}, {succeed: }]}, {wait: 1000}]\n",
        skills=[fell],
    )
    clock = Manual()
    with Run(tree, services={"person": Person()}, journal=tmp_path, clock=clock) as run:
        tick(run, 2)
        runs = Runs([run.parts.journal.path])
        runs.look()
        assert rows(runs)["t"]["alarm"] == "asks"
        clock.advance(31)
        tick(run, 3)
        runs.look()
        assert rows(runs)["t"]["asks"] == [] and rows(runs)["t"]["state"] == "running"


def test_runs_come_and_go_and_a_reader_is_told_only_what_changed(tmp_path, patrol):
    runs = Runs([tmp_path])
    runs.look()
    cursor = runs.table.after(None).cursor
    assert runs.table.after(cursor).events == []
    with Run(load(HELLO % "succeed:"), journal=tmp_path) as run:
        run.spin(ticks=20)
    runs.look()
    assert set(rows(runs, cursor)) == {"hello"}
    cursor = runs.table.after(cursor).cursor
    run.parts.journal.path.unlink()
    runs.look()
    part = runs.table.after(cursor)
    assert [e["k"] for e in part.events] == ["now", "gone"] and not part.anew


def test_a_table_forgets_the_oldest_removed_rows_and_starts_a_late_reader_anew():
    table = Table(now=lambda: 0.0)
    table.put({str(n): {} for n in range(MOST_GONE + 10)})
    cursor = table.after(None).cursor
    for n in range(MOST_GONE + 5):
        table.put({}, (str(n),))
    late = table.after(cursor)
    assert late.anew and len(late.events) == 6
    assert not table.after(late.cursor).anew


def test_a_folder_of_very_many_runs_shows_the_latest_and_says_how_many_it_leaves_out(tmp_path, monkeypatch):
    for n in range(5):
        (tmp_path / f"{n}.btr").write_text("")
    monkeypatch.setattr(listing, "MOST_RUNS", 3)
    runs = Runs([tmp_path])
    runs.look()
    about = next(e for e in runs.table.after(None).events if e.get("id") == "")
    assert len(runs.glances) == 3 and about["left_out"] == 2


def test_the_stream_of_an_opened_run_is_that_of_its_own_page(tmp_path):
    with house_run(journal=tmp_path, clock=Manual()) as run:
        run.spin(ticks=50)
    runs = Runs([tmp_path])
    runs.look()
    feed = runs.opened.feed("1")
    assert feed is runs.opened.feed("1") and feed.picture().latest["start"]["tree"] == run.parts.tree.spec.name
    assert runs.opened.feed("9") is None
    runs.close()


def test_no_more_streams_are_kept_than_pages_can_be_served(tmp_path, monkeypatch):
    monkeypatch.setattr(listing, "MOST_OPEN", 2)
    for _ in range(4):
        with Run(load(HELLO % "succeed:"), journal=tmp_path) as run:
            run.spin(ticks=20)
    runs = Runs([tmp_path])
    runs.look()
    feeds = [runs.opened.feed(str(n)) for n in range(1, 5)]
    assert all(feeds) and len(runs.opened.feeds) == 2


def test_a_live_run_is_no_longer_followed_once_its_page_was_closed_for_a_while(patrol, monkeypatch):
    runs = Runs([patrol.parts.journal.path])
    runs.look()
    feed = runs.opened.feed("1")
    feed.enter()
    monkeypatch.setattr(listing, "IDLE", -1.0)
    runs.opened.rest()
    assert "1" in runs.opened.feeds
    feed.leave()
    runs.opened.rest()
    assert not runs.opened.feeds and feed.closed


def test_two_runs_part_where_the_comparison_of_journals_says(tmp_path):
    for last in ("succeed:", "fail:"):
        with Run(load(HELLO % last), journal=tmp_path) as run:
            run.spin(ticks=20)
    runs = Runs([tmp_path])
    runs.look()
    told = runs.compare("1", "2")
    a, b = (Recording(path) for path in runs.keys)
    lines = [
        f"tick {line['tick']}: {line['text']}" if line["tick"] is not None else line["text"] for line in told["lines"]
    ]
    assert lines == list(map(str, differences(a, b))) and any(line["tick"] is not None for line in told["lines"])
    for wrong in (("1", "9"), (1, None)):
        with pytest.raises(BtError):
            runs.compare(*wrong)


@pytest.fixture
def served(tmp_path):
    """The list as `btr view FOLDER` serves it."""
    with listed(tmp_path) as made:
        yield made


def test_rows_and_runs_are_told_to_those_who_have_the_token_and_to_no_other(served):
    server, runs, _ = served
    runs.look()
    for path in ("/events?token=wrong", "/events?run=1", "/events?token=wrong&run=1"):
        assert ask(server, "GET", path)[0] == 403
    one, other = (e["id"] for e in runs.table.after(None).events if e.get("tree") == "hello")
    body = json.dumps({"do": "compare", "run": one, "other": other})
    assert ask(server, "POST", "/command", body)[0] == 403
    assert ask(server, "POST", "/command", body, X_Token=server.token, Origin="http://evil.example")[0] == 403
    assert ask(server, "POST", "/command", body, X_Token=server.token)[0] == 200
    assert ask(server, "GET", f"/events?token={server.token}&run=../1")[0] == 404
    assert ask(server, "GET", "/", Host="evil.example")[0] == 421
    status, page, headers = ask(server, "GET", "/")
    assert status == 200 and b"runs.js" in page and "default-src 'none'" in headers["Content-Security-Policy"]


def test_nobody_looks_while_nobody_reads(served):
    """The thread rests until a page is open; then the rows come by themselves."""
    server, runs, _ = served
    assert not runs.glances
    done = threading.Event()

    def read() -> None:
        for _, message in events(server):
            if any(e.get("tree") == "forest" for e in message["events"]):
                done.set()
                return

    threading.Thread(target=read, daemon=True).start()
    assert done.wait(60)


def test_a_project_that_is_named_stands_for_its_journals(tmp_path, monkeypatch):
    """`btr view .` in a project lists its runs, wherever its settings put them; a folder of journals stays itself."""
    monkeypatch.delenv("BTR_RUNS", raising=False)
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    assert of_project(tmp_path) == tmp_path / "runs"
    (tmp_path / "btr.yaml").write_text("version: 1\nruns: elsewhere\n")
    assert of_project(tmp_path) == tmp_path / "elsewhere"
    assert of_project(tmp_path / "elsewhere") == tmp_path / "elsewhere"
    (tmp_path / "x.btr").write_text("")
    assert of_project(tmp_path) == tmp_path


def test_a_folder_or_several_runs_are_a_list_and_a_bare_name_stays_a_run(tmp_path, monkeypatch, capsys):
    with Run(load(HELLO % "succeed:"), journal=tmp_path / "runs") as run:
        run.spin(ticks=20)
    (tmp_path / "hello").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_folder("runs") and is_folder("./hello") and not is_folder("hello") and not is_folder("last")
    assert main(["view", "runs", "--html", "page.html"]) == 2
    assert "btr view RUN --html FILE" in capsys.readouterr().err
    (tmp_path / "page.jsonl").write_text("")
    assert main(["view", "last", "./page.jsonl"]) == 2
    assert "open it alone" in capsys.readouterr().err


def test_two_named_runs_open_side_by_side_and_three_are_a_list(tmp_path, monkeypatch):
    """The address is printed before anybody has looked at the list."""
    for _ in range(3):
        with Run(load(HELLO % "succeed:"), journal=tmp_path) as run:
            run.spin(ticks=20)
    shown = []
    monkeypatch.setattr(view, "stay", lambda url, browser: shown.append(url.partition("#")[0]))
    names = [str(path) for path in journals(tmp_path)]
    for given in (names[:2], names, [str(tmp_path)], [names[0], str(tmp_path)]):
        assert main(["view", *given]) == 0
    assert [url.rpartition("/")[2] for url in shown] == ["two.html?runs=1,2", "", "", ""]
