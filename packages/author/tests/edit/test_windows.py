"""What happens around a gesture in a real browser: other writers, a killed server, fingers, a screen reader, small
windows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bt_author.edit.serving import Editor
from bt_runtime.language.project import disk
from packages.author.tests.edit.test_editor_page import TREE, changed, choose, editor, page, point, text, version
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
__all__ = ["editor", "page"]  # fixtures
OUTSIDE = """
  const all = [...document.querySelectorAll('header > *, #toolbar > *, nav > *, #tools > *')];
  const bar = document.getElementById('toolbar'), scrolls = bar.scrollWidth > bar.clientWidth;
  return all.filter((e) => e.offsetParent && !(scrolls && bar.contains(e))).filter((e) => {
    const r = e.getBoundingClientRect(); return r.left < -1 || r.right > innerWidth + 1 || r.bottom > innerHeight + 1;
  }).map((e) => e.id || e.textContent);
"""


def middle(box: dict[str, float], down: float = 0.5) -> tuple[int, int]:
    return int(box["left"] + box["width"] / 2), int(box["top"] + box["height"] * down)


class Pointer:
    """One finger or mouse, moved step by step."""

    def __init__(self, browser: Browser, kind: str) -> None:
        self.browser, self.kind = browser, kind

    def do(self, *steps: dict[str, object]) -> None:
        actions = [{"type": "pointer", "id": self.kind, "parameters": {"pointerType": self.kind}, "actions": [*steps]}]
        self.browser.ask("POST", f"{self.browser.session}/actions", {"actions": actions})

    def drag(self, *points: tuple[int, int]) -> None:
        """In one sequence: chromedriver forgets a finger that is still down after it."""
        start, *rest = ({"type": "pointerMove", "x": x, "y": y, "duration": 40} for x, y in points)
        self.do(
            {**start, "duration": 0}, {"type": "pointerDown", "button": 0}, *rest, {"type": "pointerUp", "button": 0}
        )

    def press(self, x: int, y: int) -> None:
        self.do({"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0})

    def move(self, x: int, y: int) -> None:
        self.do({"type": "pointerMove", "x": x, "y": y, "duration": 40})

    def let_go(self) -> None:
        self.do({"type": "pointerUp", "button": 0})


def settled(browser: Browser) -> None:
    """Two frames later: the tree stands where it will stand."""
    browser.js("window.still_ = 0; requestAnimationFrame(() => requestAnimationFrame(() => (still_ = 1)));")
    browser.until("still_")


@pytest.mark.parametrize("own", [False, True])
def test_a_file_that_is_written_during_a_drag(page: Browser, editor: Editor, own: bool) -> None:
    """A node above is new: the box that was taken is moved, not the one that has its place now. Where the dragged node
    itself was changed, nothing is moved, and the page says so."""
    settled(page)
    file = editor.session.path("trees/main.yaml")
    now, mouse = version(page), Pointer(page, "mouse")
    mouse.press(*middle(point(page, 2)))
    start = middle(point(page, 2))
    mouse.move(start[0] + 15, start[1] + 15)
    written = (
        TREE.replace("- wait: 1", "- wait: 2")
        if own
        else TREE.replace("    - log: one", "    - log: zero\n    - log: one")
    )
    disk.write(file, written)
    page.until(f"app.state.version > {now} && app.state.text === {written!r}")
    settled(page)
    now, first = version(page), point(page, 0)
    mouse.move(*middle(first, 0.1))
    mouse.let_go()
    if own:
        page.until("document.getElementById('notice').textContent.includes('changed meanwhile')")
        assert text(page) == written
    else:
        changed(page, now)
        rows = [row.strip() for row in text(page).splitlines()]
        assert rows.index("- wait: 1") < rows.index("- log: zero") < rows.index("- log: one   # told")


@contextmanager
def process(folder: Path, port: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "bt_runtime.cli", "edit", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env={**os.environ}) as made:
        assert made.stderr is not None
        try:
            found = re.search(r"http\S+", made.stderr.readline())
            assert found is not None
            yield made, found[0]
        finally:
            made.kill()


def test_what_is_typed_while_the_server_is_dead_is_offered_by_the_next_one(browser: Browser, tmp_path: Path) -> None:
    """Killed, not closed; the new one has another token, and the file is as it was."""
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees" / "main.yaml").write_text(TREE)
    ready = "window.app && app.state && app.kinds.length"
    with process(tmp_path, 0) as (server, url):
        browser.open(url)
        browser.until(ready)
        browser.js("localStorage.clear(); app.tab('text')")
        server.kill()
        server.wait()
        browser.js("app.typing.field.value += '# late\\n'; app.typing.typed();")
        browser.until("document.getElementById('notice').textContent.includes('does not answer')")
    browser.console()  # the page has told that nobody answered
    port = int(re.search(r":(\d+)/", url)[1])  # type: ignore[index]
    with process(tmp_path, port) as (_, url):
        browser.open(url)
        browser.until(ready)
        browser.until("document.getElementById('notice').textContent.includes('draft')")
        assert text(browser) == TREE
        browser.click("#notice button")
        browser.until("app.state.text.endsWith('# late\\n')")
        assert (tmp_path / "trees" / "main.yaml").read_text() == TREE, "only Save writes"
        browser.open("about:blank")
        browser.console()


def test_a_finger_moves_a_box_adds_a_kind_and_chooses_several(page: Browser) -> None:
    settled(page)
    now, finger = version(page), Pointer(page, "touch")
    first, last = point(page, 0), point(page, 2)
    finger.drag(middle(last), (middle(last)[0] + 15, middle(last)[1] - 8), middle(first, 0.1))
    changed(page, now)
    assert text(page).index("wait: 1") < text(page).index("log: one")
    settled(page)
    now = version(page)
    choose(page, 0)
    kind = page.js(
        "const r = document.querySelector('[data-kind=\"log\"]'); r.scrollIntoView({ block: 'center' });"
        "const b = r.getBoundingClientRect(); return { left: b.left, top: b.top, width: b.width, height: b.height };"
    )
    finger.drag(middle(kind))
    changed(page, now)
    assert text(page).count("- log:") == 2
    settled(page)
    page.click("#several")
    choose(page, 0)
    finger.drag(middle(point(page, 1)))
    page.until("app.nodes.length === 2")


def test_a_screen_reader_hears_what_is_chosen_done_and_wrong(page: Browser) -> None:
    """The live region has a node's name, a gesture's result, a refusal; boxes have names without the words of a run."""
    heard = "document.getElementById('said').textContent"
    assert page.js("return document.getElementById('said').getAttribute('aria-live')") == "polite"
    choose(page, 0)
    assert page.js(f"return {heard}") == "log one"
    page.keys("\ue015")
    page.until(f"{heard} === 'fallback '")
    now = version(page)
    page.keys("\ue017")
    changed(page, now)
    page.until(f"/^Delete: \\d+ nodes, 0 faults$/.test({heard})")
    page.js("app.act('text', { text: app.state.text.replace('wait: 1', 'wiat: 1') })")
    page.until("document.querySelector('.box.bad')")
    labels = "[...document.querySelectorAll('.box')].map((b) => b.getAttribute('aria-label'))"
    names = page.js(f"app.view.draw(app.fold, 0, null); return {labels}")
    assert "log one" in names and any(name.startswith("wiat") and name.endswith(": at fault") for name in names)
    chosen = "return [...document.querySelectorAll('.box[aria-selected=true]')].length"
    assert page.js(chosen) == 1
    unnamed = page.js(
        "return [...document.querySelectorAll('button, input, select, textarea')].filter((e) => e.offsetParent)"
        ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))"
        ".map((e) => e.outerHTML.slice(0, 80))"
    )
    assert unnamed == []


@pytest.mark.parametrize(("width", "height"), [(853, 533), (390, 844), (768, 1024)])
def test_the_bars_fit_at_half_more_than_full_size_on_a_phone_and_a_tablet(
    page: Browser, width: int, height: int
) -> None:
    """1280 × 800 at 150 % has 853 × 533 pixels of the page."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.protocol("Emulation.setDeviceMetricsOverride", screen)
    try:
        settled(page)
        assert page.js(OUTSIDE) == []
        assert page.js("return document.getElementById('tree').clientHeight") > 120
    finally:
        page.protocol("Emulation.setDeviceMetricsOverride", {**screen, "width": 1280, "height": 800})


def test_a_large_tree_opens_where_it_can_be_read_and_what_is_chosen_is_unfolded(
    editor: Editor, browser: Browser
) -> None:
    """900 nodes: branches are folded, boxes have their full size, and a node that a fault names is shown."""
    branch = "    - sequence:\n" + "        - log: hello\n" * 8
    file = editor.session.path("trees/main.yaml").with_name("big.yaml")
    disk.write(file, "version: 1\ntree: big\nroot:\n  sequence:\n" + branch * 100)
    browser.open(editor.url(file))
    browser.until("window.app && app.state && app.view.places.size && app.view.folded.size === 100")
    assert browser.js("return app.view.at.scale") >= 0.7
    browser.js("app.pickPath([57, 3])")
    settled(browser)
    assert browser.js("return app.view.drawn.get(app.view.chosen)?.group.getAttribute('aria-selected')") == "true"
    browser.open("about:blank")
