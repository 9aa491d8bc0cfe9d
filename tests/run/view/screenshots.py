"""Takes the screenshots of docs/view.md anew: `python -m tests.run.view.screenshots docs/view`."""

from __future__ import annotations

import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

from bt_runtime import Run, View, load
from bt_runtime.cli.running.view import side_by_side
from bt_runtime.run.view import Feed
from bt_runtime.run.view.listing import serve
from bt_runtime.run.view.page import whole
from bt_runtime.run.view.runs import Runs
from bt_runtime.run.view.watch import RunWatch
from tests.run.view.browser import Browser
from tests.run.view.many import pair, variety
from tests.run.view.scenes import craft_run, depot_run, field_run, house_run, wide_tree


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    live(folder)
    two_thousand(folder)
    many(folder)
    two(folder)
    with tempfile.TemporaryDirectory() as made:
        house, craft = Path(made) / "house.html", Path(made) / "craft.html"
        recorded(house_run(hz=25), house)
        recorded(craft_run(hz=25), craft)
        depot = Path(made) / "depot.html"
        recorded(depot_run(Path(made), hz=40), depot, 6)
        broke = "btr.seek(btr.history.marks.find((mark) => mark.kind === 'bad').moment + 1);"
        door = "btr.goTo([...btr.fold.nodes.values()].find((node) => node.crash).id);"
        still(folder / "node.png", depot, f"{broke} {door}")
        still(folder / "board.png", depot, "btr.seek(Math.floor(btr.history.last * 0.7))", "2")
        still(folder / "recorded.png", house, "btr.seek(66)", dark=True)
        still(folder / "end.png", house, "btr.latest()", "3")
        still(folder / "memory.png", house, "btr.seek(75)", "2")
        field = Path(made) / "field.html"
        recorded(field_run(hz=20), field)
        still(folder / "field.png", field, "btr.seek(Math.floor(btr.history.last * 0.45))", "3")
        still(folder / "craft.png", craft, "btr.latest()", "3")
        still(folder / "small.png", house, "btr.seek(60)", size=(700, 500))
        still(folder / "small_dark.png", house, "btr.seek(88)", "3", size=(700, 500), dark=True)


def live(folder: Path) -> None:
    with house_run(hz=25) as run, Browser() as browser, View(run) as view:
        browser.open(view.url)
        with spinning(run):
            browser.until("btr.fold.tick >= 40")
            browser.screenshot(folder / "live.png")


def two_thousand(folder: Path) -> None:
    with Run(load(wide_tree()), hz=100) as run, Browser() as browser, View(run) as view:
        browser.open(view.url)
        browser.until("btr.fold.nodes.size > 1900")
        with spinning(run):
            browser.until("btr.fold.tick >= 150")
            browser.screenshot(folder / "two_thousand.png")


def many(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as made, variety(Path(made)):
        runs = Runs([Path(made)], panel=["battery"]).start()
        server = serve(runs)
        with Browser(1280, 640) as browser:
            browser.open(server.url)
            browser.until("window.btrRuns && document.querySelectorAll('#rows tr').length >= 8")
            browser.screenshot(folder / "runs.png")
        runs.close()
        server.close()


def two(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as made:
        runs = Runs(pair(Path(made))).start()
        server = serve(runs)
        with Browser(1280, 480) as browser:
            browser.open(side_by_side(server.url, runs.keys.values()))
            browser.until("window.btrTwo && btrTwo.begun && btrTwo.differing.length > 0")
            browser.screenshot(folder / "two.png")
        runs.close()
        server.close()


@contextmanager
def spinning(run: Run):
    thread = threading.Thread(target=run.spin)
    thread.start()
    try:
        yield
    finally:
        run.parts.runner.halt("the picture is taken")
        thread.join()


def recorded(run: Run, file: Path, seconds: float = 30) -> None:
    feed = Feed(most=None)
    with run:
        watch = RunWatch(run, feed)
        run.spin(seconds=seconds)
        watch.end(run.status)
    file.write_text(whole(feed.after(None, most=10**9).events), encoding="utf-8")


def still(out: Path, page: Path, script: str, key: str = "", size: tuple[int, int] = (1280, 800), dark: bool = False):
    with Browser(*size, dark=dark) as browser:
        browser.open(page.as_uri())
        browser.until("window.btr && btr.history.last > 1")
        browser.js(script)
        if key:
            browser.keys(key)
        browser.js("window.later_ = 0; setTimeout(() => (later_ = 1), 600)")
        browser.until("later_")
        browser.screenshot(out)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
