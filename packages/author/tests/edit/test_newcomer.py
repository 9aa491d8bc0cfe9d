"""Somebody who writes no YAML builds the patrol robot of the docs in the browser: a text that a person would write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.serving import Editor
from bt_runtime.language.source import parse
from bt_runtime.language.tidy import tidy
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
DOCS = (Path(__file__).parents[4] / "docs" / "start-author.md").read_text(encoding="utf-8")
ENTER = "\ue007"
MOST = 60


def block(title: str) -> str:
    found = re.search(rf'```\w+ title="{title}"\n(.*?)```', DOCS, re.DOTALL)
    assert found is not None, title
    return found[1]


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for name in ("rover.yaml", "rover.py"):
        (tmp_path / "skills" / name).write_text(block(f"skills/{name}"))
    with Editor(tmp_path, files, sort) as made:
        yield made


class Hands:
    """A person with mouse and keys; each thing that they do to the tree counts."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.gestures = browser, 0

    def did(self, before: str) -> None:
        self.gestures += 1
        self.browser.until(f"app.state && app.state.version + app.state.path !== {before!r}")

    def now(self) -> str:
        return str(self.browser.js("return app.state ? app.state.version + app.state.path : '';"))

    def named(self, name: str) -> None:
        before = self.now()
        self.browser.click("#new")
        self.browser.keys(name + ENTER)
        self.did(before)

    def add(self, kind: str, *into: int) -> None:
        before = self.now()
        self.browser.js("app.pickPath(arguments[0]); document.getElementById('tree').focus();", list(into))
        self.browser.keys("a" + kind + ENTER)
        self.did(before)

    def fill(self, name: str, value: str, *path: int, tab: str = "node") -> None:
        before = self.now()
        self.browser.js("app.tab(arguments[0]); app.folds = true; app.pickPath(arguments[1]);", tab, list(path))
        self.browser.js("const d = document.querySelector('#panel details'); if (d) d.open = true;")
        self.browser.js(f"const f = document.getElementById('{name}'); f.focus(); if (f.select) f.select();")
        self.browser.keys(value + ENTER)
        self.did(before)

    def pair(self, field: str, entry: str, value: str, *path: int, tab: str = "node") -> None:
        self.browser.js("app.tab(arguments[0]); app.pickPath(arguments[1]);", tab, list(path))
        self.browser.js(f"document.getElementById('{field}').value = '{entry}';")
        if tab == "head":
            self.browser.js(f"document.getElementById('{field}-type').value = 'boolean';")
        before = self.now()
        self.browser.js(f"document.getElementById('{field}-{'value' if tab == 'node' else 'default'}').focus();")
        self.browser.keys(value + ENTER)
        self.did(before)


def test_the_patrol_robot_is_built_without_yaml(browser: Browser, editor: Editor) -> None:
    """At most 60 gestures; the file means what the docs' tree means, in the layout of `btr fmt`, without a fault."""
    browser.open(editor.url())
    browser.until("window.app")
    hands = Hands(browser)
    hands.named("patrol")
    assert browser.js("return app.kindOf('drive').family") == "skill"  # a new tree has the skills of its project
    for entry in ("low", "docked"):
        hands.pair("new-blackboard", entry, "false", tab="head")
    before = hands.now()
    browser.js("document.getElementById('tree').focus(); app.tab('node')")
    browser.keys("s")
    browser.until("document.getElementById('ask').open")
    browser.keys("reactive_fallback" + ENTER)
    hands.did(before)
    hands.add("sequence")
    hands.fill("field-name", "recharge", 0)
    hands.fill("field-when", "low", 0)
    for kind in ("log", "drive", "set", "charge", "set", "fail"):
        hands.add(kind, 0)
    hands.fill("field-text", "the battery is low", 0, 0)
    hands.fill("field-place", "dock", 0, 1)
    for at, value in ((2, "true"), (4, "false")):
        hands.pair("field-values", "docked", value, 0, at)
    hands.fill("field-why", "back to the rounds", 0, 5)
    hands.add("for_each")
    hands.fill("field-name", "rounds", 1)
    hands.fill("field-in", "hall, kitchen", 1)
    hands.fill("field-as", "place", 1)
    before = hands.now()
    browser.js("app.pickPath([1, 0]); document.getElementById('tree').focus();")
    browser.keys("s")
    browser.until("document.getElementById('ask').open")
    browser.keys("drive" + ENTER)
    hands.did(before)
    hands.fill("field-place", "{place}", 1, 0)
    browser.click("#save")
    browser.until("!app.state.unsaved")
    assert browser.js("return [app.state.faults.map((f) => f.message), app.state.text];")[0] == []
    assert hands.gestures <= MOST, hands.gestures
    made = (editor.session.workspace.root / "trees/patrol.yaml").read_text()
    meant = block("trees/patrol.yaml").replace(", about: written by the battery's driver", "")
    meant = meant.replace(", outside: false", "")  # the form of an entry does not ask who else writes it
    assert parse(made).sound().data() == parse(meant).sound().data()
    assert tidy(made) == made


def test_a_guard_is_on_its_box_and_is_tried_with_a_slider(browser: Browser, editor: Editor) -> None:
    """A sensor is a slider; the tree is ticked when it moves, and what the guard stands for runs."""
    text = (
        "version: 1\ntree: guarded\nskills: [rover]\nblackboard:\n"
        "  battery: {type: number, default: 0.9, minimum: 0, maximum: 1, outside: true}\n"
        "  armed: {type: boolean, default: false}\n"
        "root:\n  reactive_fallback:\n"
        "    - sequence: {name: recharge, when: battery < 0.2, children: [charge: {}]}\n"
        "    - drive: {place: hall}\n"
    )
    (editor.session.workspace.root / "trees" / "guarded.yaml").write_text(text)
    browser.open(f"{editor.url().replace('#', '?tree=trees/guarded.yaml#')}")
    browser.until("window.app && app.state && app.view.places.size")
    said = browser.js("return [...document.querySelectorAll('[role=treeitem]')].map((b) => b.textContent);")
    assert any("recharge" in each and "when battery < 0.2" in each for each in said), said
    label = "return [...document.querySelectorAll('[role=treeitem]')].map((b) => ['aria-level', 'aria-posinset', "
    label += "'aria-setsize', 'aria-expanded'].map((name) => b.getAttribute(name)));"
    assert browser.js(label)[:3] == [["1", "1", "1", "true"], ["2", "1", "2", "true"], ["3", "1", "1", None]]
    browser.js("app.tab('try'); return app.tried('begin');")
    browser.js("return app.tried('tick');")
    order = browser.js("return [...document.querySelectorAll('#panel [id^=try-]')].map((e) => [e.id, e.type]);")
    assert order[:2] == [["try-battery", "range"], ["try-armed", "checkbox"]]
    browser.js("const s = document.getElementById('try-battery'); s.value = 0.1; s.dispatchEvent(new Event('change'));")
    browser.until("app.told.board.battery === '0.1'")
    asks = "return app.told.nodes.filter((n) => n[4]).map((n) => n[5]);"
    assert browser.js(asks) == ["/guarded/recharge/0"]


def test_a_new_node_is_at_fault_until_its_fields_are_filled_and_the_first_has_the_focus(
    browser: Browser, editor: Editor
) -> None:
    browser.open(editor.url())
    browser.until("window.app")
    hands = Hands(browser)
    hands.named("fresh")
    hands.add("drive")
    browser.until("document.activeElement && document.activeElement.id === 'field-place'")
    assert browser.js("return app.state.faults.some((f) => f.node === app.view.chosen && f.severity === 'error');")
    before = hands.now()
    browser.keys("hall" + ENTER)
    hands.did(before)
    assert not browser.js("return app.state.faults.some((f) => f.node === app.view.chosen);")
