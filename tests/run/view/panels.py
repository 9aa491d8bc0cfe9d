"""Takes pictures of every panel, in light and dark, of trees of 20, 200 and 2,000 nodes:
`python -m tests.run.view.panels FOLDER`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bt_runtime import Run, load
from tests.run.view.browser import Browser
from tests.run.view.scenes import depot_run, wide_tree
from tests.run.view.screenshots import recorded

PANELS = {"node": "1", "board": "2", "world": "3", "log": "4"}
READ = "const n = [...btr.fold.nodes.values()].{}; btr.goTo(n.id)"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        small, middle, large = (Path(made) / f"{name}.html" for name in ("20", "200", "2000"))
        recorded(depot_run(Path(made), hz=40), small, 6)
        recorded(Run(load(wide_tree(14, 12)), hz=50), middle, 2)
        recorded(Run(load(wide_tree(100, 18)), hz=50), large, 2)
        for dark in (False, True):
            tone = "dark" if dark else "light"
            with Browser(1400, 850, dark=dark) as browser:
                for page in (small, middle, large):
                    each(browser, page, lambda name, page=page, tone=tone: folder / f"{page.stem}_{name}_{tone}.png")


def each(browser: Browser, page: Path, out) -> None:
    browser.open(page.as_uri())
    browser.until("window.btr && btr.history.last > 1")
    browser.js("btr.seek(Math.floor(btr.history.last * 0.6))")
    for name, key in PANELS.items():
        browser.keys(key)
        shot(browser, out(name))
    browser.keys("1")
    for name, which in {
        "check": "find((x) => x.kind === 'check' || x.kind === 'wait')",
        "subtree": "find((x) => x.kind === 'tree' || x.kind === 'repeat')",
        "crash": "find((x) => x.crash)",
    }.items():
        if browser.js(f"return Boolean([...btr.fold.nodes.values()].{which})"):
            browser.js(READ.format(which))
            shot(browser, out(name))
    browser.keys("t")
    shot(browser, out("down"))
    browser.keys("z")
    shot(browser, out("down_fit"))
    browser.keys("t")
    browser.keys("z")
    browser.js("const s = document.getElementById('search'); s.value = 'wait'; btr.search('wait')")
    shot(browser, out("search_far"))
    browser.js("btr.nextHit(3)")
    shot(browser, out("search"))


def shot(browser: Browser, file: Path) -> None:
    browser.js("window.later_ = 0; btr.wake(); setTimeout(() => (later_ = 1), 450)")
    browser.until("later_")
    browser.screenshot(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
