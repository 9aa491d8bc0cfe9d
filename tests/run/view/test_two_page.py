"""Two runs side by side in a real browser: one time line moves both, and what differs is marked in both trees."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from bt_runtime import Run, load
from bt_runtime.cli.running.view import side_by_side
from bt_runtime.clock import Manual
from bt_runtime.run.view.listing import serve
from bt_runtime.run.view.runs import Runs
from tests.run.view.browser import Browser, missing
from tests.run.view.many import HELLO, ROUNDS, pair
from tests.run.view.scenes import HOSTILE

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
READY = "window.btrTwo && btrTwo.sides && btrTwo.sides.every((s) => s.closed) && btrTwo.first !== undefined"
AT = "return btrTwo.sides.map((side) => side.fold.tick)"
MARKED = """return btrTwo.sides.map((side) => [...side.tree.marks.keys()].map((id) => side.fold.path(id)).sort())"""
CUT_OFF = """
  const all = [...document.querySelectorAll('header > *, footer > *, .title > *')].filter((e) => e.offsetParent);
  return all.filter((e) => { const r = e.getBoundingClientRect(); return r.left < 0 || r.right > innerWidth + 1; })
    .map((e) => e.outerHTML.slice(0, 80));
"""


@contextmanager
def served(places):
    runs = Runs(places).start()
    server = serve(runs)
    try:
        yield side_by_side(server.url, runs.keys.values())
    finally:
        runs.close()
        server.close()


def press(browser: Browser, key: str) -> None:
    browser.keys(key)
    browser.js("btrTwo.draw()")


def test_two_runs_that_are_over_open_where_they_part_and_one_time_line_moves_both(browser, tmp_path, artefact) -> None:
    with served(pair(tmp_path)) as url:
        browser.open(url)
        browser.until(READY)
        browser.until("btrTwo.differing.length > 0")
        parted = browser.js("return btrTwo.first")
        assert browser.js(AT) == [parted, parted]
        ours, theirs = browser.js(MARKED)
        assert ours == theirs and "/rounds/2/0/round/0" in ours and "/rounds" not in ours
        assert browser.js("return btrTwo.sides.map((s) => s.fold.path(s.tree.chosen))") == ["/rounds/2/0/round/0"] * 2
        assert browser.js("return document.querySelectorAll('.box.parts').length") == 2 * len(ours)
        said = browser.js("return document.getElementById('now').textContent")
        assert "charge" in said and "success / failure" in said
        browser.screenshot(artefact / "two.png")
        press(browser, "[")
        assert browser.js(AT) == [parted - 1] * 2 and browser.js(MARKED) == [[], []]
        press(browser, "]")
        assert browser.js(AT) == [parted] * 2
        press(browser, "l")
        first, second = browser.js(AT)
        assert first != second, "each stands at its own end"
        press(browser, "p")
        assert browser.js(AT) == [parted] * 2
        browser.js("const by = document.getElementById('by'); by.value = 'time'; by.dispatchEvent(new Event('change'))")
        now, times = browser.js("btrTwo.seek(btrTwo.last / 2); "
                                "return [btrTwo.value, btrTwo.sides.map((s) => s.fold.time)]")  # fmt: skip
        assert all(time <= now for time in times), (now, times)
        assert browser.js("return document.querySelectorAll('iframe, frame').length") == 0


def test_both_trees_are_moved_zoomed_and_folded_together(browser, tmp_path) -> None:
    with served(pair(tmp_path)) as url:
        browser.open(url)
        browser.until(READY + " && btrTwo.sides.every((s) => s.tree.places.size > 5)")
        browser.js(
            "const [a] = btrTwo.sides; btrTwo.leader = a; a.tree.follow(false); a.tree.pan(37, 11); a.tree.step(0.8)"
        )
        same = "['x', 'y', 'scale'].every((k) => btrTwo.sides[0].tree.at[k] === btrTwo.sides[1].tree.at[k])"
        browser.until(f"{same} && btrTwo.sides[1].tree.at.scale < 1")
        before = browser.js("return btrTwo.sides[1].tree.places.size")
        browser.js("const [a] = btrTwo.sides; a.tree.toggle(a.paths().get('/rounds/2/0/round').id)")
        browser.until(f"btrTwo.sides.every((s) => s.tree.places.size === {before - 3})")


def test_runs_that_go_on_are_compared_as_far_as_both_have_come(browser, tmp_path) -> None:
    """The one that is behind is no difference; then it turns another way, and the page says at which tick."""
    tree, clocks = load(ROUNDS), [Manual(), Manual()]
    with (
        Run(tree, inputs={"battery": 0.9}, journal=tmp_path, clock=clocks[0]) as one,
        Run(tree, inputs={"battery": 0.6}, journal=tmp_path, clock=clocks[1]) as other,
    ):

        def tick(run: Run, clock: Manual, times: int) -> None:
            for _ in range(times):
                run.tick()
                clock.advance(0.05)
            run.parts.journal.settled()

        tick(one, clocks[0], 20)
        tick(other, clocks[1], 5)
        runs = Runs([one.parts.journal.path, other.parts.journal.path])
        told = runs.compare("1", "2")
        assert told["live"] and [line["tick"] for line in told["lines"]] == [None]
        with served([one.parts.journal.path, other.parts.journal.path]) as url:
            browser.open(url)
            browser.until("document.getElementById('parted').textContent === 'No difference yet'")
            assert browser.js("return document.getElementById('live').textContent") == "Live"
            tick(other, clocks[1], 15)
            browser.until("btrTwo.sides[1].fold.tick >= 15")
            browser.js("btrTwo.compare()")
            browser.until("!document.getElementById('parted').disabled")
            assert browser.js("return btrTwo.first") == min(
                line["tick"] for line in runs.compare("1", "2")["lines"] if line["tick"]
            )


def test_what_runs_logged_is_shown_as_text(browser, tmp_path) -> None:
    noisy = load("version: 1\ntree: loud\ninputs: {text: string}\nroot:\n  sequence: [{log: '{text}'}, {fail: }]\n")
    for text in (HOSTILE, "quiet"):
        with Run(noisy, inputs={"text": text}, journal=tmp_path) as run:
            run.spin(ticks=5)
    with served(sorted(tmp_path.glob("*.btr"))) as url:
        browser.open(url)
        browser.until("window.btrTwo && document.getElementById('now').textContent.includes('onerror')")
        assert browser.js("return document.querySelectorAll('#panel img, #panel script, .side img').length") == 0


def test_a_run_that_cannot_be_compared_is_told(browser, tmp_path) -> None:
    with Run(load(HELLO % "succeed:"), journal=tmp_path) as run:
        run.spin(ticks=5)
    with served(sorted(tmp_path.glob("*.btr"))) as url:
        browser.open(url.replace("runs=1", "runs=1,9"))
        browser.until("btrTwo.sides[0].closed && btrTwo.sides[1].source.over")
        browser.until("document.getElementById('parted').textContent === 'Not compared'")
        said = browser.js("return document.getElementById('notice').textContent")
        assert "Run 9 cannot be read" in said and "not in the list any more" in said
        browser.console()  # the stream of a run that is not there: 404


def test_two_runs_fit_a_phone(tmp_path, artefact) -> None:
    with served(pair(tmp_path)) as url, Browser(390, 844, dark=True) as phone:
        phone.open(url)
        phone.until(READY + " && btrTwo.differing.length > 0")
        assert phone.js(CUT_OFF) == []
        assert phone.js("return [...document.querySelectorAll('.side svg')].every((s) => s.clientHeight > 120)")
        phone.screenshot(artefact / "two_phone.png")
        assert phone.console() == []
