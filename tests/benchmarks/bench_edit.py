"""`btr edit` in headless Chromium: from a key to the drawn change, at 500 and 2,000 nodes; a folder of 200 trees."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rows import Row

from bt_runtime.cli.authoring.lsp import files, sort
from bt_runtime.edit.serving import Editor
from tests.view.browser import Browser, missing

TOOK = """
  window.took = null;
  const began = performance.now();
  app.act('set', { node: [3, 4], field: 'text', value: 'said ' + began }).then(() =>
    requestAnimationFrame(() => requestAnimationFrame(() => { window.took = performance.now() - began; })));
"""


def big(nodes: int) -> str:
    branch = "    - sequence:\n" + "        - log: hello\n" * 19
    return f"version: 1\ntree: big\nroot:\n  sequence:\n{branch * (nodes // 20)}"


def project(folder: Path, trees: int, nodes: int) -> Path:
    (folder / "trees").mkdir()
    (folder / "btr.yaml").write_text("version: 1\n")
    for number in range(trees):
        (folder / "trees" / f"t{number:03}.yaml").write_text(big(nodes).replace("big", f"t{number:03}"))
    return folder


def rows() -> Iterator[Row]:
    if why := missing():
        yield Row("a gesture of `btr edit` until it is drawn", why, None, "≤ 100 ms")
        return
    for nodes, most in ((500, 100), (2000, 300)):
        with (
            tempfile.TemporaryDirectory() as name,
            Editor(project(Path(name), 1, nodes), files, sort) as editor,
            Browser() as page,
        ):
            page.open(editor.url())
            page.until("window.app && app.state && app.view.places.size")
            times = []
            for _ in range(9):
                page.js(TOOK)
                page.until("window.took !== null")
                times.append(page.js("return window.took"))
            took = statistics.median(times)
            yield Row(f"a gesture at {nodes:,} nodes until it is drawn", f"{took:.0f} ms", took, f"≤ {most} ms")
    with tempfile.TemporaryDirectory() as name, Browser() as page:
        folder = project(Path(name), 200, 40)
        began = time.perf_counter()
        with Editor(folder, files, sort) as editor:
            page.open(editor.url())
            page.until("window.app && app.state && app.view.places.size")
            took = time.perf_counter() - began
        yield Row("a folder with 200 trees until the first is drawn", f"{took:.2f} s", took, "≤ 2 s")
