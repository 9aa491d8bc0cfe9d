"""The list of runs in a real browser: rows, alarms, filter, search, one click to a run, and where two runs part."""

from __future__ import annotations

import pytest

from bt_runtime import Run, load
from bt_runtime.run.view.server import Server
from tests.run.view.browser import Browser, missing
from tests.run.view.many import HELLO, listed

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
TREES = """
  const seen = (tr) => !tr.hidden && tr.offsetHeight > 0;
  const tree = (tr) => tr.querySelector('.run .under').textContent;
  return [...document.querySelectorAll('#rows tr')].filter(seen).map(tree);
"""
CUT_OFF = """
  const all = [...document.querySelectorAll('header > *, #filters > *, #rows td > *')].filter((e) => e.offsetParent);
  return all.filter((e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth + 1; })
    .map((e) => e.outerHTML.slice(0, 80));
"""


@pytest.fixture
def served(tmp_path):
    with listed(tmp_path) as (server, _, live):
        yield server, live, tmp_path


def opened(browser: Browser, server: Server, count: int = 8) -> None:
    browser.open(server.url)
    browser.until(f"window.btrRuns && document.querySelectorAll('#rows tr').length >= {count}")


def test_runs_are_listed_alarms_first_and_follow_what_happens(browser, served, artefact):
    server, live, folder = served
    opened(browser, server)
    assert sorted(browser.js(TREES)[:3]) == ["", "forest", "patrol"], "the damaged one has no tree"
    assert browser.js("return document.title") == "(3) Runs", "what was logged is text, and runs nothing"
    assert browser.js("return [...document.querySelectorAll('#list img, #list script')].length") == 0
    browser.screenshot(artefact / "runs.png")
    live["forest"].parts.context.services.person.live.answer(1, "yes")
    live["forest"].tick()
    while live["patrol"].parts.context.blackboard.root.entries["battery"] > 0.85:
        live["patrol"].tick()
    for run in live.values():
        run.parts.journal.settled()
    with Run(load(HELLO.replace("hello", "late") % "succeed:"), journal=folder) as run:
        run.spin(ticks=20)
    browser.until("document.title === '(2) Runs'")
    browser.until("[...document.querySelectorAll('#rows .run .under')].some((e) => e.textContent === 'late')")
    battery = "[...btrRuns.runs.values()].filter((run) => run.state === 'running' && run.tree === 'patrol')[0].entries"
    browser.until(f"Number({battery}.battery) < 0.88")


def test_filter_and_search_leave_what_fits(browser, served):
    server, _, _ = served
    opened(browser, server)
    browser.click('[data-filter="failed"]')
    assert sorted(browser.js(TREES)) == ["", "hello", "loud", "patrol"]
    browser.keys("/")
    browser.keys("hel")
    browser.until("document.getElementById('figures').textContent.startsWith('1 of 8')")
    assert browser.js(TREES) == ["hello"]
    browser.keys("xyz")
    browser.until("document.getElementById('none').textContent.startsWith('No run fits')")


def test_one_click_leads_to_the_run_and_one_back(browser, served):
    server, live, _ = served
    opened(browser, server)
    name = live["patrol"].parts.name
    browser.js(
        "[...document.querySelectorAll('.run a')].filter((a) => a.textContent === arguments[0])[0].click()", name
    )
    browser.until("window.btr && btr.fold.nodes.size > 0")
    browser.until("document.getElementById('name').textContent === 'patrol'")
    browser.until("btr.fold.nodes.get(btr.fold.roots[0]).status === 'R'")
    browser.click("#runs")
    browser.until("window.btrRuns && document.querySelectorAll('#rows tr').length >= 8")


def test_two_chosen_runs_are_compared_side_by_side(browser, served):
    server, _, _ = served
    opened(browser, server)
    ids = browser.js("return [...btrRuns.runs.values()].filter((run) => run.tree === 'hello').map((run) => run.id)")
    for id in ids:
        browser.js("btrRuns.rows.get(arguments[0]).box.click()", id)
    browser.click("#compare")
    browser.until("window.btrTwo && btrTwo.first === 1 && btrTwo.sides.every((side) => side.fold.tick === 1)")
    assert "/hello/1" in browser.js("return document.getElementById('lines').textContent")
    browser.click("#runs")
    browser.until("window.btrRuns && document.querySelectorAll('#rows tr').length >= 8")


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_cut_off_on_a_phone(served, artefact, dark):
    server, _, _ = served
    with Browser(390, 800, dark=dark) as phone:
        opened(phone, server)
        assert phone.js(CUT_OFF) == []
        phone.screenshot(artefact / f"runs_phone{'_dark' if dark else ''}.png")
        assert phone.console() == []
