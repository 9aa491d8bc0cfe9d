"""The debugger's bar on the page: breakpoints, steps, forced results, edited YAML checked as it is typed, and why."""

from __future__ import annotations

import threading

import pytest

from bt_runtime import BtError, Run, View, debugger_of, load, skill
from bt_runtime.clock import Manual
from bt_runtime.run.view import Feed, beside
from bt_runtime.run.view.recorded import events_of
from bt_runtime.run.view.runs import answered
from bt_runtime.run.view.server import Server
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
PATROL = """\
version: 1
tree: patrol
blackboard:
  battery: {type: number, default: 0.41}
root:
  repeat:
    times: 1000000
    child:
      fallback:
        - sequence: {name: charge, when: battery < 0.2, children: [log: charging]}
        - sequence:
            name: drive
            children:
              - wait: {name: go, seconds: 0.02}
              - log: {name: said, text: arrived, level: debug}
        - log: {name: lost, text: lost}
"""
CHOOSE = """
  const [path] = arguments;
  const node = [...btr.fold.nodes.values()].find((n) => btr.fold.path(n.id) === path);
  if (!node) return false;
  btr.choose(node.id); btr.draw(); return true;
"""
PRESS = "btr.draw(); document.querySelector(`#debug [data-do='${arguments[0]}']`).click();"
TEXT = "return document.getElementById('debug').innerText;"
TYPE = """
  btr.debug.text.value = arguments[0];
  btr.debug.text.area.dispatchEvent(new Event('input'));
"""
SOUND = """
  const apply = [...document.querySelectorAll('#debug button')].find((b) => b.textContent === 'Replace');
  return [document.querySelector('#debug .faults').textContent, apply.disabled];
"""
REPLACE = "[...document.querySelectorAll('#debug button')].find((b) => b.textContent === 'Replace').click();"


def test_the_bar_of_a_live_run_debugs_it(browser: Browser, artefact):
    with Run(load(PATROL), hz=100) as run, View(run) as view:
        debugger_of(run).pause_of.author(limit=float("inf"))
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            browser.open(view.url)
            browser.until(lambda: browser.js(CHOOSE, "/patrol/0/drive/said"))
            browser.js(PRESS, "break")
            browser.until(lambda: "it is held, and has not begun" in browser.js(TEXT))
            assert debugger_of(run).at == "/patrol/0/drive/said"
            browser.js(PRESS, "why")
            browser.until(lambda: "is held by the debugger" in browser.js(TEXT))
            browser.js(PRESS, "break")
            browser.js(CHOOSE, "/patrol/0/charge")
            browser.js(PRESS, "edit")
            browser.until("btr.debug.text")
            browser.js(TYPE, "sequence:\n  - lgo: hm\n")
            browser.until(lambda: "did you mean `log`" in browser.js(SOUND)[0])
            browser.js(TYPE, "fail:\n  name: charge\n  why: <b>no</b>\n")
            browser.until(lambda: browser.js(SOUND) == ["no fault", False])
            browser.screenshot(artefact / "debugger.png")
            browser.js(REPLACE)
            browser.until(lambda: "/patrol/0/charge is replaced" in browser.js(TEXT))
            browser.js(CHOOSE, "/patrol/0/drive")
            browser.js(PRESS, "force failure")
            browser.until(lambda: "/patrol/0/drive is forced: failure" in browser.js(TEXT))
            browser.js(PRESS, "undo")
            browser.until(lambda: debugger_of(run).changes == [])
            browser.js("btr.command('resume');")
            browser.until(lambda: not debugger_of(run).paused)
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_back_a_tick_and_on_from_there_as_a_fork_with_a_page_of_its_own(browser: Browser, artefact, tmp_path):
    """The time line shows a past tick, and `why` explains it; the fork is paused there, and the run waits for it."""
    with Run(load(PATROL), hz=100, journal=tmp_path) as run, View(run) as view:
        debugger = debugger_of(run)
        debugger.pause_of.author(limit=float("inf"))
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            browser.open(view.url)
            browser.until(lambda: browser.js(CHOOSE, "/patrol/0/drive/go"))
            browser.until(lambda: run.parts.engine.count > 8)
            debugger.pause()
            browser.until("btr.history.head.tick > 8")
            browser.js("btr.seek(btr.history.momentOf(5)); btr.draw();")
            tick = browser.js("return btr.fold.tick")
            browser.js(PRESS, "why")
            browser.until(lambda: f"After tick {tick}:" in browser.js(TEXT))
            browser.screenshot(artefact / "back.png")
            browser.js("window.open = () => null;")
            browser.js(PRESS, "fork")
            browser.until(lambda: f"on from tick {tick}" in browser.js(TEXT))
            fork = debugger.travel.fork.run
            assert fork.parts.engine.count == tick and debugger.paused
            with pytest.raises(BtError, match="this run waits"):
                view.command("step", {"ticks": 1})
            browser.open(view.forks[0].url)
            browser.until(f"btr.history.head.latest.start && btr.history.head.latest.start.run === '{fork.parts.name}'")
            browser.js("btr.command('step');")
            browser.until(lambda: fork.parts.engine.count == tick + 1)
            browser.screenshot(artefact / "fork.png")
            browser.js("btr.command('halt');")
            browser.until(lambda: debugger.travel.fork is None)
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_yaml_in_a_nodes_place_is_coloured_completed_and_undone(browser: Browser, artefact):
    """With an editor beside it, kinds and entries are offered as by the language server; undo gives the first text."""
    with beside.opened() as editor, Run(load(PATROL), hz=100) as run, View(run) as view:
        editor.of_run(view)
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            browser.open(view.url)
            browser.until(lambda: browser.js(CHOOSE, "/patrol/0/charge"))
            browser.js(PRESS, "edit")
            browser.until("btr.debug.text && document.querySelectorAll('#debug .key').length > 2")
            first = browser.js("return btr.debug.text.value")
            browser.js("const e = btr.debug.text; e.go(999, 999); e.focus();")
            browser.keys("\ue007- ti")
            browser.until("!document.querySelector('#debug .offered').hidden")
            assert "timeout" in browser.js("return document.querySelector('#debug .offered').textContent")
            browser.screenshot(artefact / "debugger_editor.png")
            browser.keys("\ue00c")
            browser.js("while (btr.debug.text.value !== arguments[0] && document.execCommand('undo'));", first)
            assert browser.js("return btr.debug.text.value") == first
            browser.until("document.querySelector('#debug .faults').textContent === 'no fault'")
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_completion_knows_the_kinds_and_entries_of_the_tree_at_that_place():
    @skill("drive to {place}")
    def drive_to(place: str) -> None: ...

    with Run(load(PATROL, skills=[drive_to]), clock=Manual()) as run, View(run) as view, beside.opened() as editor:
        editor.of_run(view)
        run.tick()

        def offered(text: str) -> set[str]:
            rows = text.split("\n")
            given = {"path": "/patrol/0/drive", "text": text, "line": len(rows) - 1, "character": len(rows[-1])}
            return {item["label"] for item in view.command("complete", given)["items"]}

        assert {"drive_to", "sequence"} <= offered("")
        assert "place" in offered("drive_to:\n  ")
        assert "battery" in offered("check: bat")
        with pytest.raises(BtError, match="needs a path"):
            view.command("complete", {"path": "/patrol"})


def test_the_page_of_a_recorded_run_says_why_at_the_moment_that_is_shown(browser: Browser, tmp_path):
    with Run(load(PATROL.replace("1000000", "3")), clock=Manual(), journal=tmp_path) as run:
        run.spin()
        assert run.parts.journal is not None and run.parts.journal.path is not None
        path = run.parts.journal.path
    feed = Feed(most=None)
    feed.put(*events_of(path))
    feed.close()
    server = Server(feed, lambda name, given: answered(path, name, given))
    try:
        browser.open(server.url)
        browser.until(lambda: browser.js(CHOOSE, "/patrol/0/charge"))
        browser.js("btr.seek(btr.history.last); btr.draw();")
        browser.js(CHOOSE, "/patrol/0/charge")
        browser.js(PRESS, "why")
        browser.until(lambda: "`battery` was 0.41" in browser.js(TEXT))
    finally:
        server.close()
