"""The debugger's bar on the page: breakpoints, steps, forced results, edited YAML checked as it is typed, and why."""

from __future__ import annotations

import threading

import pytest

from bt_runtime.debug.debugger import debugger_of
from bt_runtime.run.run import Run, load
from bt_runtime.tree.clock import Manual
from bt_runtime.view import Feed, View
from bt_runtime.view.recorded import events_of
from bt_runtime.view.runs import answered
from bt_runtime.view.server import Server
from tests.view.browser import Browser, missing

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
  const box = document.querySelector('#debug textarea'); box.value = arguments[0];
  box.dispatchEvent(new Event('input'));
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
            browser.until(lambda: browser.js("return Boolean(document.querySelector('#debug textarea'));"))
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
            browser.js(PRESS, "back")
            browser.until(lambda: debugger_of(run).changes == [])
            browser.js("btr.command('resume');")
            browser.until(lambda: not debugger_of(run).paused)
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_the_page_of_a_recorded_run_says_why_at_the_moment_that_is_shown(browser: Browser, tmp_path):
    with Run(load(PATROL.replace("1000000", "3")), clock=Manual(), journal=tmp_path) as run:
        run.spin()
        assert run.journal is not None and run.journal.path is not None
        path = run.journal.path
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
