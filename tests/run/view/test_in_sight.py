"""What a person looks for on the page is in sight: hits, breakpoints, the held node, on a phone as well."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from bt_runtime import Run, View, debugger_of, load, skill
from bt_runtime.clock import Manual
from bt_runtime.language.loader import Loader
from bt_runtime.run.view import Feed
from bt_runtime.run.view.page import whole
from bt_runtime.run.view.watch import RunWatch
from bt_runtime.testing import coverage
from tests.run.view.browser import Browser, missing

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
    browser.open(recorded(Run(load(nested(8, 30)), clock=Manual()), tmp_path / "run.html"))
    browser.until("btr.fold.nodes.size > 200")
    browser.js("btr.search('needle'); btr.nextHit(1);")
    browser.until("document.querySelector('.box.chosen')")
    assert "needle" in browser.js("return document.querySelector('.box.chosen').getAttribute('aria-label');")
    assert browser.js(SEEN) > 0


def test_a_guard_of_a_named_node_shows_its_condition(browser: Browser, tmp_path) -> None:
    tree = "version: 1\ntree: t\nblackboard: {low: {type: boolean, default: true}}\nroot:\n"
    tree += "  sequence: {name: recharge, when: low, children: [succeed: ]}\n"
    browser.open(recorded(Run(load(tree), clock=Manual()), tmp_path / "run.html"))
    browser.until("document.querySelectorAll('.box').length === 3")
    boxes = browser.js("return [...document.querySelectorAll('.box')].map((b) => b.textContent);")
    assert "guardwhen: low" in boxes[0] and "recharge" in boxes[1], boxes


def test_the_log_shows_the_levels_that_are_asked_for(browser: Browser, tmp_path) -> None:
    logs = "".join(f"    - log: {{text: {level} line, level: {level}}}\n" for level in ("debug", "warning"))
    browser.open(
        recorded(Run(load(f"version: 1\ntree: t\nroot:\n  sequence:\n{logs}"), clock=Manual()), tmp_path / "run.html")
    )
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


def recorded(run: Run, file: Path) -> str:
    """Spins a run to its end; returns the address of its page as one file."""
    feed = Feed(most=None)
    with run:
        watch = RunWatch(run, feed)
        run.spin()
        watch.end(run.status)
    file.write_text(whole(feed.after(None, most=10**9).events))
    return file.as_uri()


def test_a_recorded_run_opens_at_its_end_and_an_earlier_moment_says_that_it_was_running(browser, tmp_path) -> None:
    tree = load("version: 1\ntree: t\nroot:\n  sequence:\n    - wait: 1\n    - wait: 1\n    - fail: no more\n")
    browser.open(recorded(Run(tree, clock=Manual()), tmp_path / "run.html"))
    badge = "return document.getElementById('status').textContent"
    browser.until("btr.fold.nodes.size > 3")
    assert browser.js(badge) == "failed"
    browser.js("btr.seek(1); btr.draw()")
    assert browser.js(badge) == "was running"


def test_coverage_has_its_own_words_a_legend_and_a_table_of_files(browser, tmp_path, artefact) -> None:
    """Nothing of a run: no time line, no world, no "running"."""
    (tmp_path / "a.yaml").write_text(PATROL)
    (tmp_path / "b.yaml").write_text(nested(2, 2))
    trees = [Loader().file(tmp_path / f"{name}.yaml").sound() for name in "ab"]
    files = [coverage.covered(tree, {}) for tree in trees]
    file = tmp_path / "cov.html"
    file.write_text(whole({**e, "recorded": True} if e["k"] == "start" else e for e in coverage.events(files)))
    browser.open(file.as_uri())
    browser.until("document.querySelector('.coverage .files') && document.querySelectorAll('.box').length > 5")
    said = browser.js("return document.body.innerText")
    assert "never reached, or always skipped" in said and "0 of" in said and "0 % of the results" in said
    assert not {"running", "World", "Blackboard", "tick", "Play", "succeeded"} & set(said.split())
    assert browser.js("return [...document.querySelectorAll('.files [data-go]')].map((e) => e.textContent)") == [
        tree.name for tree in trees
    ]
    browser.click(".files [data-go]")
    browser.until("btr.chosen !== null")
    browser.screenshot(artefact / "coverage.png")


def test_fit_leaves_boxes_that_can_be_told_apart_and_folds_the_rest(browser, tmp_path) -> None:
    """2,000 nodes below one another would be a line one pixel wide."""
    branch = "    - sequence:\n" + "        - log: hello\n" * 19
    tree = load("version: 1\ntree: big\nroot:\n  sequence:\n" + branch * 100)
    browser.open(recorded(Run(tree, clock=Manual()), tmp_path / "run.html"))
    browser.until("btr.fold.nodes.size > 2000")
    browser.click("#unfold")
    browser.js("btr.draw()")
    assert browser.js("return btr.tree.places.size") > 2000
    browser.click("#fit")
    browser.js("btr.draw()")
    assert browser.js("return btr.tree.at.scale") > 0.2
    assert browser.js("return [btr.tree.places.size, btr.tree.folded.size]") == [101, 100]
    assert browser.js("return document.getElementById('unfold').getAttribute('aria-pressed')") == "false"


def test_the_box_of_a_skill_says_what_it_was_started_with(browser, tmp_path) -> None:
    @skill("drive to {place}")
    def drive_to(place: str) -> None: ...

    text = (
        "version: 1\ntree: t\nblackboard: {found: any}\nroot:\n  sequence:\n    - set: {found: null}\n"
        "    - for_each: {in: [b1, b2], as: place, child: {drive_to: '{place}'}}\n"
    )
    tree = load(text, skills=[drive_to])
    browser.open(recorded(Run(tree, clock=Manual()), tmp_path / "run.html"))
    browser.until("btr.fold.nodes.size > 3")
    words = "return [...document.querySelectorAll('.box')].map((b) => b.textContent).join()"
    browser.until("document.querySelectorAll('.box').length > 3")
    assert "drive_to" + "b2" in browser.js(words) and "{place}" not in browser.js(words)
    assert "found = null" in browser.js(words)


def test_a_long_value_says_how_many_lines_are_folded_away(browser, tmp_path) -> None:
    text = "version: 1\ntree: t\ninputs: {order: any}\nroot: {wait: 1}\n"
    order = {"items": [{"sku": f"bolt {n}", "shelf": "a3"} for n in range(9)]}
    browser.open(recorded(Run(load(text), inputs={"order": order}, clock=Manual()), tmp_path / "run.html"))
    browser.until("btr.fold.board.size > 0")
    browser.keys("2")
    browser.until("document.querySelector('.slot summary')")
    assert browser.js("return document.querySelector('.slot summary').textContent").endswith("lines more")
    browser.click(".slot summary")
    browser.until("document.getElementById('panel').innerText.includes('bolt 8')")
    assert browser.js("btr.panel.stale = true; btr.draw(); return document.querySelector('.slot details').open")


def test_the_buttons_are_for_the_node_that_the_panel_shows(browser: Browser) -> None:
    """Before anything is clicked: the panel tells of the running node, and so do the buttons."""
    with Run(load(PATROL.replace("0.02", "1000")), hz=50) as run, View(run) as view:
        spinning = threading.Thread(target=run.spin)
        spinning.start()
        try:
            browser.open(view.url)
            browser.until("document.querySelector('#debug .path') && !document.querySelector('#debug .path').hidden")
            assert browser.js("return document.querySelector('#debug .path').textContent") == "/patrol/0/go"
            browser.js("document.querySelector(`#debug [data-do='force success']`).click()")
            browser.until("document.querySelector('#debug .list').textContent.includes('/patrol/0/go is forced')")
        finally:
            run.halt("the test is over", for_good=True)
            spinning.join(60)


def test_a_box_that_is_zoomed_in_says_ports_and_entries(browser: Browser, tmp_path) -> None:
    """From 150 % on: what a node reads, `→` what it writes, and the ports of a tree; below it there is none of it."""
    (tmp_path / "part.yaml").write_text(
        "version: 1\ntree: part\ninputs: {n: integer}\nroot:\n  log: {name: told, text: '{n}'}\n"
    )
    main = tmp_path / "main.yaml"
    main.write_text(
        "version: 1\ntree: main\nblackboard: {a: {type: integer, default: 3}}\nroot:\n  sequence:\n"
        "    - set: {name: more, values: {a: '{a + 1}'}}\n    - tree: {file: part, with: {n: '{a}'}}\n"
    )
    browser.open(recorded(Run(load(main), clock=Manual()), tmp_path / "run.html"))
    browser.until("btr.fold.nodes.size > 3")
    browser.js("btr.seek(btr.history.last); btr.tree.follow(false); btr.tree.fit();")
    shown = "[...document.querySelectorAll('.box .values')].filter((t) => t.getBBox().width).map((t) => t.textContent)"
    browser.js("btr.tree.zoom(1.4 / btr.tree.at.scale)")
    browser.until("!document.getElementById('tree').classList.contains('near')")
    assert browser.js(f"return {shown}") == []
    browser.js(
        "btr.tree.all(true); btr.tree.zoom(1.6 / btr.tree.at.scale); btr.draw(); btr.tree.centre(btr.fold.roots[0])"
    )
    browser.until(f"{shown}.length >= 3")
    assert {"→ a = 4", "n 4"} <= set(browser.js(f"return {shown}"))
