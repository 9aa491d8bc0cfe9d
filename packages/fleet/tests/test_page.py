"""The page of a fleet: a row for each robot and task, halts, and questions that anybody who looks may answer."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("paho.mqtt.client", reason="needs the fleet extra")

import bt_runtime as bt
from bt_fleet.page import page as page_module
from bt_fleet.page.page import FleetRows, serve
from bt_fleet.server import names
from bt_fleet.shared.asking import FleetPerson
from bt_fleet.shared.member import Member
from bt_fleet.store.record import STARTED, Record
from bt_fleet.store.task import Task
from bt_runtime import BtError
from bt_runtime.events import Notice
from packages.fleet.tests.test_adapters import fleet_of_one
from packages.fleet.tests.threads import until
from tests.run.view.browser import Browser, missing


def rows(page: FleetRows) -> dict[str, dict[str, Any]]:
    page.look()
    return {str(event["id"]): dict(event) for event in page.table.after(None).events if event["k"] == "run"}


def post(url: str, **body: Any) -> dict[str, Any]:
    at, _, token = url.partition("#")
    request = urllib.request.Request(f"{at}command", json.dumps(body).encode(), {"X-Token": token}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return json.loads(error.read())


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy forgets no question, and loses no robot."""
    monkeypatch.setattr(page_module, "FORGOTTEN", 1e9)


def lose_one(monkeypatch: pytest.MonkeyPatch, fleet: Any) -> None:
    """The first answer is lost on the way."""
    send, lost = fleet.answer, list[object]()
    monkeypatch.setattr(fleet, "answer", lambda *said: send(*said) if lost else lost.append(said))


def test_robots_tasks_and_questions_are_on_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows follow the fleet; a halt reaches the robot; a question of a run is answered once, with who it was, also when
    a message is lost."""

    @bt.skill("open the gate", confirm=True)
    def open_gate() -> None: ...

    tree = bt.load("version: 1\ntree: gate\nroot:\n  open_gate: {}\n", skills=[open_gate])
    with fleet_of_one(tmp_path) as (server, fleet, _), Member(server.address, "r7") as member:
        page = FleetRows(fleet, lease=1e6)
        page.start()
        shown = serve(page)
        try:
            fleet.send("patrol", id="t1")
            fleet.wait("t1", 60)
            until(lambda: rows(page).get("task t1", {}).get("state") == "SUCCESS")
            until(lambda: rows(page).get("robot r7", {}).get("state") == "idle")
            assert rows(page)["task t1"]["at"] == "r7"
            assert post(shown.url, do="halt", by="ann", robot="r7") == {"answered": ["r7"]}
            until(lambda: rows(page)["robot r7"]["state"] == "halted")
            assert rows(page)["robot r7"]["why"] == "halted by ann"
            assert post(shown.url, do="release", by="ann", robot="r7")["answered"] == ["r7"]
            with urllib.request.urlopen(f"{shown.url.partition('#')[0]}metrics", timeout=60) as answer:
                said = answer.read().decode()
            assert 'bt_fleet_halted{robot="r7"} ' in said
            assert 'bt_fleet_verdicts{robot="r7",verdict="success"} 1' in said
            assert "there is no robot r9" in post(shown.url, do="halt", robot="r9")["error"]

            with bt.Run(tree, services={"person": FleetPerson(member)}) as run:
                notices: list[Notice] = []
                run.listen(notices.append, Notice)
                run.tick()
                until(lambda: rows(page)["robot r7"]["alarm"] == "asks")
                question = rows(page)["robot r7"]["questions"][0]
                lose_one(monkeypatch, fleet)
                assert question["text"] == "May I open the gate? (yes or no)"
                assert post(shown.url, do="answer", id=question["id"], text="yes", by="ann") == {"by": "ann"}
                assert "ann answered it already" in post(shown.url, do="answer", id=question["id"], text="no")["error"]
                until(lambda: run.tick().status is bt.Status.SUCCESS)
                assert notices[-1].text == "ann answered: yes"
            until(lambda: rows(page)["robot r7"]["questions"] == [])
        finally:
            page.close()
            shown.close()


def test_a_robot_that_is_not_heard_is_an_alarm(tmp_path: Path) -> None:
    """After a lease without a heartbeat the robot is lost; its row says so without anybody telling."""
    now = [1000.0]
    page = FleetRows(type("Fleet", (), {"address": type("Address", (), {"url": "x"})})(), now=lambda: now[0])  # type: ignore[arg-type]
    page.alive("r7", {"running": None, "plan": 2, "runs": str(tmp_path)})
    assert rows(page)["robot r7"]["state"] == "idle"
    now[0] += 7
    assert (rows(page)["robot r7"]["state"], rows(page)["robot r7"]["alarm"]) == ("lost", "stuck")
    with pytest.raises(BtError, match="not open any more"):
        page.answer("none-1", "yes", "ann")


def nowhere(**more: Any) -> FleetRows:
    """The rows of a fleet that is not asked."""
    return FleetRows(type("Fleet", (), {"address": type("Address", (), {"url": "x"})})(), **more)  # type: ignore[arg-type]


def test_an_answer_is_sent_until_the_robot_asks_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message may be lost. A robot that was not heard for a while, and asks again then, needs an answer anew."""
    monkeypatch.setattr(page_module, "FORGOTTEN", 5.0)
    now, sent = [1000.0], list[str]()
    page = nowhere(now=lambda: now[0])
    page.fleet.answer = lambda robot, body: sent.append(f"{robot} {body['id']} {body['text']} {body['by']}")  # type: ignore[method-assign]
    asks = {"id": "x-1", "text": "May I?", "open": True}
    page.told("r7", "asks", asks)
    page.repeat()
    assert sent == []
    page.answer("x-1", "yes", "ann")
    page.repeat()
    assert sent == ["r7 x-1 yes ann"]
    page.told("r7", "asks", asks)  # the first one did not arrive
    page.repeat()
    page.repeat()
    assert sent == ["r7 x-1 yes ann"] * 2
    page.told("r7", "asks", {**asks, "open": False})
    page.repeat()
    assert len(sent) == 2
    page.told("r7", "asks", {**asks, "id": "x-2"})
    page.answer("x-2", "yes", "ann")
    now[0] += 6
    page.look()
    page.told("r7", "asks", {**asks, "id": "x-2"})
    page.repeat()
    assert len(sent) == 3, "what was meant a while ago is not said now"
    page.answer("x-2", "no", "bea")
    assert sent[3:] == ["r7 x-2 no bea"]


def test_an_answer_that_cannot_be_sent_can_be_given_again() -> None:
    page = nowhere()

    def broken(robot: str, body: object) -> None:
        raise BtError("no connection", "")

    page.fleet.answer = broken  # type: ignore[method-assign]
    page.told("r7", "asks", {"id": "x-1", "text": "May I?", "open": True})
    for _ in range(2):
        with pytest.raises(BtError, match="no connection"):
            page.answer("x-1", "yes", "ann")


def test_journals_are_opened_below_the_operators_own_folder_only(tmp_path: Path) -> None:
    """A heartbeat may name any folder: a journal elsewhere, and a link out of the folder, are not opened."""
    own, foreign = tmp_path / "own" / "r7" / "runs", tmp_path / "home"
    for folder in (own, foreign):
        (folder / "t1-1").mkdir(parents=True)
        (folder / "t1-1" / "a.btr").write_text("")
    (own / "t2-1").mkdir()
    (own / "t2-1" / "b.btr").symlink_to(foreign / "t1-1" / "a.btr")
    page = nowhere(runs=[tmp_path / "own"])
    for id in ("t1", "t2"):
        page.changed(Record(Task(id, "patrol"), state=STARTED, term=1, robot="r7"))
    for said, opened in (
        (own, own / "t1-1" / "a.btr"), (foreign, None), (tmp_path / "own" / ".." / "home", None), ("/", None)
    ):  # fmt: skip
        page.alive("r7", {"running": "t1", "runs": str(said)})
        assert page.here("task t1") == opened
    page.alive("r7", {"running": "t2", "runs": str(own)})
    assert page.here("task t2") is None
    alone = nowhere()
    alone.changed(Record(Task("t1", "patrol"), state=STARTED, term=1, robot="r7"))
    alone.alive("r7", {"running": "t1", "runs": str(own)})
    assert alone.here("task t1") is None


def test_no_message_ends_the_page(tmp_path: Path) -> None:
    """Whatever a robot publishes where the page listens, the rows go on; a robot keeps its latest questions, and
    withdraws its own alone."""
    deep, bad = (
        b"[" * 100_000,
        (b"", b"x", b"[]", b"{}", b"null", b"\xff", b'{"open": true}', b'{"id": [1], "open": 1}'),
    )
    with fleet_of_one(tmp_path) as (_, fleet, _does):
        page = FleetRows(fleet, lease=1e6, now=lambda: 100.0).start()  # a question told once is not forgotten
        try:
            until(lambda: "robot r7" in rows(page))

            async def say() -> None:
                for subject in (names.alive("r8"), f"{names.SAID}.r8.asks", f"{names.SAID}.r8.other",
                                f"{names.CHANGED}.{names.TASKS}.t9", f"$KV.{names.TASKS}.t8"):  # fmt: skip
                    for body in (*bad, deep, b'{"plan": "x", "facts": [1], "halted": {"a": 1}, "runs": 3}'):
                        await fleet.link.nc.publish(subject, body)
                good = {"id": "q", "text": "May I?", "open": True}
                await fleet.link.nc.publish(f"{names.SAID}.r8.asks", json.dumps(good).encode())
                await fleet.link.nc.publish(names.alive("r8"), json.dumps({"running": None, "plan": 3}).encode())

            fleet.call(say())
            until(lambda: rows(page).get("robot r8", {}).get("said") == "3 planned")
            until(lambda: rows(page)["robot r8"]["alarm"] == "asks")
            page.told("r7", "asks", {"id": "q", "text": "", "open": False})
            until(lambda: rows(page)["robot r7"]["state"] == "idle")
            assert rows(page)["robot r8"]["alarm"] == "asks", "another robot does not withdraw it"
            for number in range(100):
                page.told("r8", "asks", {"id": f"q{number}", "text": "", "open": True})
            until(lambda: len(rows(page)["robot r8"]["questions"]) == 20)
            page._thread.join(0)
            assert page._thread.is_alive()
        finally:
            page.close()


@pytest.mark.skipif(bool(missing()), reason=missing() or "there")
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    """Its rows, inbox and halt work in a browser; without a name nothing is done."""
    with fleet_of_one(tmp_path) as (_, fleet, _does):
        page = FleetRows(fleet, lease=1e6, now=lambda: 100.0).start()  # a question told once is not forgotten
        shown = serve(page)
        try:
            until(lambda: "robot r7" in rows(page))
            page.told("r7", "asks", {"id": "x-1", "text": "May I <b>pass</b>?", "open": True})
            with Browser() as browser:
                browser.open(shown.url)
                browser.until("document.querySelectorAll('#rows tr').length === 1")
                browser.until("document.querySelector('#inbox form span')?.textContent === 'May I <b>pass</b>?'")
                twice = "const halt = document.getElementById('halt'); halt.click(); halt.click();"
                browser.js(twice)
                browser.until("document.getElementById('notice').textContent.startsWith('Write your name first')")
                browser.js(f"document.getElementById('who').value = 'ann'; {twice}")
                until(lambda: rows(page)["robot r7"]["why"] == "halted by ann")
                assert not browser.console()
        finally:
            page.close()
            shown.close()
