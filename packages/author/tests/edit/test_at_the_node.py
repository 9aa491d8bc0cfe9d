"""What is done to a node stands at the node, all commands are found by name, and included trees open in tabs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.serving import Editor
from tests.run.view.browser import Browser, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
TREE = """\
version: 1
tree: main
skills: [rover]
about: Patrols.
blackboard: {battery: 0.9}
properties:
  careful: {never: battery < 0.2 and greet is running}
root:
  sequence:
    - tree: {file: part}
    - agent: {goal: tidy up, actions: [look]}
    - log: done
"""
PART = "version: 1\ntree: part\nskills: [rover]\nroot:\n  sequence:\n    - look: {}\n    - greet: {}\n"
ENTER, ESCAPE = "\ue007", "\ue00c"


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    for folder in ("trees", "skills", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "skills" / "rover.yaml").write_text(
        "version: 1\nskills: rover\nkinds:\n  look: {sentence: look around}\n  greet: {sentence: greet}\n"
    )
    (tmp_path / "trees" / "main.yaml").write_text(TREE)
    (tmp_path / "trees" / "part.yaml").write_text(PART)
    (tmp_path / "tests" / "test_main_played.py").write_text("")
    with Editor(tmp_path, files, sort) as made:
        yield made


@pytest.fixture
def page(browser: Browser, editor: Editor) -> Iterator[Browser]:
    browser.open(editor.url(editor.folder / "trees" / "main.yaml"))
    browser.js("localStorage.clear()")
    browser.until("window.app && app.state && app.kinds.length && app.view.places.size")
    yield browser
    browser.open("about:blank")


def chosen(page: Browser, *path: int) -> None:
    page.js("app.pickPath(arguments[0])", list(path))
    page.until(f"app.node && app.node.path.join() === {','.join(map(str, path))!r} && !app.waiting && !app.view.moved")


def test_the_bar_stands_by_the_chosen_box_and_covers_none(page: Browser) -> None:
    """It has what can be done to that node, with its key, and goes while nothing is chosen."""
    covers = """
      const b = document.getElementById('bar').getBoundingClientRect();
      return [...document.querySelectorAll('#tree .box rect')].filter((e) => { const r = e.getBoundingClientRect();
        return r.left < b.right && r.right > b.left && r.top < b.bottom && r.bottom > b.top; }).length;"""
    for path in ((), (0,), (1,), (2,)):
        chosen(page, *path)
        page.until("!document.getElementById('bar').hidden")
        assert page.js(covers) == 0, path
    assert "Delete" in page.js("return document.getElementById('bar').innerText")
    chosen(page)
    assert "Delete" not in page.js("return document.getElementById('bar').innerText")
    page.js("document.getElementById('tree').focus()")
    page.keys(ESCAPE)
    page.until("document.getElementById('bar').hidden && !app.node")


def test_the_panel_tells_of_the_whole_tree_while_nothing_is_chosen(page: Browser) -> None:
    """Ports, entries, properties and tests; a change of the text chooses nothing."""
    page.js("document.getElementById('tree').focus()")
    page.keys(ESCAPE)
    page.until("!app.node")
    told = page.js("return document.getElementById('panel').innerText")
    for words in ("Patrols.", "battery", "careful", "battery < 0.2", "tests/test_main_played.py"):
        assert words in told
    page.js("app.act('head', { name: 'about', value: 'Drives.' })")
    page.until("app.state.unsaved")
    assert page.js("return app.node") is None


def test_a_command_and_a_node_are_found_by_name(page: Browser) -> None:
    page.js("document.getElementById('tree').focus()")
    page.js("document.getElementById('tree').dispatchEvent("
            "new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))")  # fmt: skip
    page.until("document.getElementById('commands').open")
    page.keys("log do" + ENTER)
    page.until("app.node.kind === 'log' && !document.getElementById('commands').open")
    page.js("app.commands()")
    page.keys("add greet" + ENTER)
    page.until("app.node.kind === 'greet' && app.state.text.includes('- greet')")
    names = page.js("return app.allCommands().map(([title]) => title)")
    shown = page.js("return Object.values(GESTURES).filter(([, , , can]) => can(app)).map(([title]) => title)")
    assert set(shown) <= set(names)


def test_an_included_tree_opens_in_a_tab_with_a_way_back(page: Browser) -> None:
    """By double click, and by its key; back at the node that includes it."""
    chosen(page, 0)
    page.js("document.querySelector(`#tree [data-id='${app.view.chosen}'] rect`).dispatchEvent("
            "new MouseEvent('dblclick', { bubbles: true }))")  # fmt: skip
    page.until("app.state.path === 'trees/part.yaml' && app.from")
    assert page.js("return [...document.querySelectorAll('#trees button')].map((b) => b.textContent)") == [
        "main",
        "part",
    ]
    page.keys("b")
    page.until("app.state.path === 'trees/main.yaml' && app.node.path.join() === '0'")
    page.keys("o")
    page.until("app.state.path === 'trees/part.yaml'")
    page.click("#trees button:first-child")
    page.until("app.state.path === 'trees/main.yaml' && app.node.path.join() === '0'")


def test_the_skills_of_an_agent_are_check_boxes(page: Browser) -> None:
    """A checked one stands in the text; without any, the field goes."""
    chosen(page, 1)
    page.click("#field-actions-greet")
    page.until("app.state.text.includes('actions: [look, greet]')")
    page.click("#field-actions-greet")
    page.until("app.state.text.includes('actions: [look]')")
    page.click("#field-actions-look")
    page.until("!app.state.text.includes('actions')")


def test_the_root_stays_in_sight_after_a_node_is_added(page: Browser) -> None:
    """As long as the whole tree can be read."""
    chosen(page)
    for number in range(5, 9):
        page.js("app.add('sequence')")
        page.until(f"app.state.nodes.length === {number} && app.node.path.length && !app.waiting && !app.view.moved")
        frame, root = page.js("""const r = (e) => e.getBoundingClientRect().toJSON();
          return [r(document.getElementById('tree')), r(document.querySelector('#tree-0 rect'))];""")
        assert frame["left"] <= root["left"] and root["right"] <= frame["right"]
        assert frame["top"] <= root["top"] and root["bottom"] <= frame["bottom"]
