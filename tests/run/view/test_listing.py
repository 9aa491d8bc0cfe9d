"""The list takes its rows from any source: journals here, or what a fleet's robots tell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.cli.running.view import side_by_side
from bt_runtime.journal.glance import Fault
from bt_runtime.run.view.feed import Feed
from bt_runtime.run.view.listing import ABOUT, RowSource, about_row, alarm_of, run_row, serve
from bt_runtime.run.view.server import PageStream
from bt_runtime.run.view.table import Table
from tests.run.view.browser import missing
from tests.run.view.test_server import ask, events


class Robots:
    """Two robots that tell by themselves: one has a page, one has not."""

    def __init__(self) -> None:
        self.table = Table()
        self.table.put({ABOUT: about_row(["nats://here"], panel=["battery"])})
        stuck = alarm_of("running", quiet=31.0)
        fault = Fault(7, "/patrol/dock", "no route")
        self.table.put({
            "amr-1": run_row("amr-1", "running", tree="patrol", progress=1.0, alarm=stuck, entries={"battery": "0.4"}),
            "amr-2": run_row("amr-2", "out of reach", fault=fault, page=False),
        })  # fmt: skip
        self.page = Feed([{"k": "start", "run": "amr-1", "tree": "patrol", "wall": 1.0, "t": 0.0}])

    def feed(self, key: str) -> PageStream | None:
        return self.page if key == "amr-1" else None

    def command(self, name: str, given: dict[str, Any]) -> Any:
        raise BtError(f"a robot has no `{name}`", "ask a journal")

    def close(self) -> None:
        self.table.close()


@pytest.fixture
def served():
    source: RowSource = Robots()
    server = serve(source)
    try:
        yield server, source
    finally:
        source.close()
        server.close()


def test_rows_pages_and_answers_come_from_the_source(served) -> None:
    server, _ = served
    _, told = next(iter(events(server)))
    rows = {event["id"]: event for event in told["events"] if event["k"] == "run"}
    assert rows[""]["panel"] == ["battery"]
    assert (rows["amr-1"]["alarm"], rows["amr-2"]["state"]) == ("stuck", "out of reach")
    assert rows["amr-2"]["fault"] == {"tick": 7, "path": "/patrol/dock", "text": "no route"}
    assert ask(server, "GET", f"/events?token={server.token}&run=amr-2")[0] == 404
    body = json.dumps({"do": "compare", "run": "amr-1", "other": "amr-2"})
    status, said, _ = ask(server, "POST", "/command", body, X_Token=server.token)
    assert status == 409 and b"a robot has no `compare`" in said


@pytest.mark.skipif(bool(missing()), reason=missing() or "there")
def test_a_run_without_a_page_is_listed_without_a_link(served, browser) -> None:
    server, source = served
    browser.open(server.url)
    browser.until("window.btrRuns && document.querySelectorAll('#rows tr').length === 2")
    links = "return [...document.querySelectorAll('.run a')].map((a) => [a.textContent, a.hasAttribute('href')])"
    browser.until(lambda: browser.js(links) == [["amr-1", True], ["amr-2", False]])
    assert browser.js("return [...document.querySelectorAll('#rows input')].filter((e) => e.offsetParent).length") == 1
    assert "0.4" in browser.js("return document.getElementById('rows').textContent")
    source.table.put({"amr-2": run_row("amr-2", "running")}, gone=("amr-1",))
    browser.until(lambda: browser.js(links) == [["amr-2", True]])


@pytest.mark.parametrize(
    ("state", "quiet", "asking", "alarm"),
    [("running", 29.0, False, ""), ("running", 31.0, False, "stuck"), ("running", 31.0, True, "asks"),
     ("crashed", 0.0, True, "crashed"), ("damaged", 0.0, False, "crashed"), ("SUCCESS", 99.0, False, "")],
)  # fmt: skip
def test_who_needs_a_person_is_judged_alike_for_every_source(state, quiet, asking, alarm) -> None:
    assert alarm_of(state, quiet=quiet, asking=asking) == alarm


def test_the_address_of_two_runs_keeps_the_token_behind_the_sign() -> None:
    assert side_by_side("http://127.0.0.1:1/#t0", ["1", "2"]) == "http://127.0.0.1:1/two.html?runs=1,2#t0"
