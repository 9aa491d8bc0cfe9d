"""The page: what looking on costs a tick, and how long after a change of status its pixel is there."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Iterator
from itertools import pairwise

from rows import Row, median

from bt_runtime import Run, View, load
from bt_runtime.clock import Manual
from bt_runtime.run.view import Feed
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.browser import Browser, missing
from tests.run.view.scenes import wide_tree

TICKS = 500
PERIOD = 0.01  # of a tree at 100 Hz


def rows() -> Iterator[Row]:
    yield _cost("50 nodes", wide_tree(5, 8))
    yield _cost("2,000 nodes", wide_tree(100, 18))
    why = missing()
    if why:
        yield Row("page: status change to pixel", why, None, "≤ 50 ms")
    else:
        yield from _page()


def _cost(what: str, text: str) -> Row:
    """The same tree ticked with and without somebody who looks on, in turn."""
    tree = load(text)

    def ticks(look: bool) -> float:
        clock = Manual()
        with Run(tree, clock=clock) as run:
            if look:
                RunWatch(run, Feed())

            def work() -> None:
                for _ in range(TICKS):
                    run.tick()
                    clock.advance(PERIOD)

            return median(work, 3) / TICKS

    pairs = [(ticks(False), ticks(True)) for _ in range(3)]
    bare, watched = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    figures = f"bare {bare * 1e6:.0f} µs a tick, watched {watched * 1e6:.0f} µs"
    return Row(f"page: looking on, {what}, share of a 100 Hz period", figures, (watched - bare) / PERIOD, "≤ 0.05")


def _page() -> Iterator[Row]:
    with Run(load(wide_tree(100, 18)), hz=100) as run, Browser() as browser, View(run) as view:
        browser.open(view.url)
        browser.until("btr.fold.nodes.size > 1900")
        browser.js("window.at_ = []; const beat = (t) => { at_.push(t); requestAnimationFrame(beat); }; beat(0);")
        spin = threading.Thread(target=run.spin, kwargs={"ticks": 600})
        spin.start()
        spin.join()
        took, at = browser.js("return [btr.latency.slice(100), at_.slice(60)]")
    took.sort()
    gaps = sorted(b - a for a, b in pairwise(at))
    middle, late = statistics.median(took), took[int(len(took) * 0.95)]
    figures = f"median {middle:.0f} ms, 95 % within {late:.0f} ms, {len(took)} changes"
    yield Row("page: status change to pixel, 2,000 nodes at 100 Hz", figures, middle, "≤ 50 ms")
    figures = f"median {statistics.median(gaps):.1f} ms, 99 % within {gaps[int(len(gaps) * 0.99)]:.1f} ms"
    yield Row("page: time between two frames meanwhile", figures, statistics.median(gaps), "≤ 17 ms")
