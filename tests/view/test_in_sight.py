"""What a person looks for on the page is in sight: hits, breakpoints, the held node, on a phone as well."""

from __future__ import annotations

import threading

import pytest

from bt_runtime.debug.debugger import debugger_of
from bt_runtime.run.run import Run, load
from bt_runtime.tree.clock import Manual
from bt_runtime.view import Feed, View
from bt_runtime.view.page import whole
from bt_runtime.view.watch import Watch
from tests.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
PATROL = """\
version: 1
tree: patrol
root:
  repeat:
    times: 1000000
    child:
      sequence:
        - wait: {name: go, seconds: 0.02}
        - log: {name: said, text: arrived, level: debug}
"""
SEEN = """
  const r = document.getElementById('tree').getBoundingClientRect();
  return [...document.querySelectorAll('.box')].filter((b) => { const o = b.getBoundingClientRect();
    return o.right > r.left && o.left < r.right && o.bottom > r.top && o.top < r.bottom; }).length;
"""
COVERED = """
  const box = (id) => document.getElementById(id).getBoundingClientRect();
  const meet = (a, b) => a.width && b.width && a.left < b.right && b.left < a.right
    && a.top < b.bottom && b.top < a.bottom;
  return ['minimap', 'tools'].filter((id) => meet(box('debug'), box(id)));
"""


def nested(depth: int, width: int) -> str:
    """Branches within branches, more than are drawn unfolded, and one leaf far within."""
    inner = "- log: {name: needle, text: here}"
    for level in range(depth):
        others = "\n".join(f"- log: {{name: l{level}x{n}, text: other}}" for n in range(width))
        rows = f"{inner}\n{others}".replace("\n", "\n    ")
        inner = f"- sequence:\n    name: s{level}\n    children:\n    {rows}".replace("\n    -", "\n    -")
    body = "\n".join(f"    {row}" for row in inner.splitlines())
    return f"version: 1\ntree: deep\nroot:\n  sequence:\n{body}\n"


def test_a_hit_far_within_folded_branches_is_shown_and_chosen(browser: Browser, tmp_path) -> None:
    """Search and Enter: every branch on the way opens, and the box stands in the window."""
    feed = Feed(most=None)
    with Run(load(nested(8, 30)), clock=Manual()) as run:
        watch = Watch(run, feed)
        run.spin()
        watch.end(run.status)
    file = tmp_path / "run.html"
    file.write_text(whole(feed.after(None, most=10**9).events))
    browser.open(file.as_uri())
    browser.until("btr.fold.nodes.size > 200")
    browser.js("btr.search('needle'); btr.nextHit(1);")
    browser.until("document.querySelector('.box.chosen')")
    assert "needle" in browser.js("return document.querySelector('.box.chosen').getAttribute('aria-label');")
    assert browser.js(SEEN) > 0


def test_the_log_shows_the_levels_that_are_asked_for(browser: Browser, tmp_path) -> None:
    feed = Feed(most=None)
    logs = "".join(f"    - log: {{text: {level} line, level: {level}}}\n" for level in ("debug", "warning"))
    with Run(load(f"version: 1\ntree: t\nroot:\n  sequence:\n{logs}"), clock=Manual()) as run:
        watch = Watch(run, feed)
        run.spin()
        watch.end(run.status)
    file = tmp_path / "run.html"
    file.write_text(whole(feed.after(None, most=10**9).events))
    browser.open(file.as_uri())
    browser.until("btr.history.last > 0")
    browser.js("btr.seek(btr.history.last);")
    browser.until("btr.fold.lines.length === 2")
    browser.js("btr.panel.open('log'); btr.draw();")
    browser.until("document.getElementById('panel').innerText.includes('debug line')")
    browser.js("const s = document.querySelector('#panel select'); s.value = 'warning'; "
               "s.dispatchEvent(new Event('change'));")  # fmt: skip
    said = browser.js("return document.getElementById('panel').innerText;")
    assert "warning line" in said and "debug line" not in said


def test_a_breakpoint_and_the_held_node_are_marked_and_the_pause_counts_down(browser: Browser) -> None:
    with Run(load(PATROL), hz=100) as run, View(run) as view:
        debugger_of(run).pause_of.author(limit=600.0)
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            browser.open(view.url)
            browser.until("btr.fold.nodes.size > 3")
            browser.js("btr.command('break', { path: '/patrol/0/said' });")
            browser.until("document.querySelectorAll('.box.point.held').length === 1")
            browser.until("/goes on in \\d+ s/.test(document.getElementById('debug').innerText)")
            assert browser.js(COVERED) == []
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_the_bars_fit_a_phone() -> None:
    """At 390 pixels no button of a live run lies outside the window, and the debugger covers nothing."""
    with Run(load(PATROL), hz=100) as run, View(run) as view, Browser(width=390, height=844) as phone:
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            phone.open(view.url)
            phone.until("btr.fold.nodes.size > 3")
            outside = phone.js("return [...document.querySelectorAll('header *')].filter((e) => e.offsetParent && "
                               "e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.id);")  # fmt: skip
            assert outside == []
            assert phone.js(COVERED) == []
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)
