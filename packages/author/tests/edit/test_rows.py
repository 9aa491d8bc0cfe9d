"""Each row of the table of gestures: its key and its button do what the row says, and undo gives the first bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.asking import Proposal
from bt_author.edit.serving import Editor
from bt_author.edit.table import gestures
from tests.run.view.browser import Browser, missing

browsed = pytest.mark.skipif(bool(missing()), reason=missing() or "there")
TREE = """\
version: 1
tree: main   # the first
skills: [arm]
blackboard: {a: {type: integer, default: 1}}
root:
  sequence:
    - log: one   # told
    - fallback:
        - check: a > 1
        - succeed: {}
    - tree: part
    - pick: {}
    -   fly: {height: 3}
"""
PART = "version: 1\ntree: part\nroot:\n  wait: 2\n"
ARM = 'version: 1\nskills: arm\nkinds:\n  pick: {sentence: pick, impl: "arm.py:pick"}\n'
KEYS = {"Alt": "\ue00a", "Ctrl": "\ue009", "Shift": "\ue008", "↑": "\ue013", "↓": "\ue015", "Del": "\ue017"}
ENTER = "\ue007"


class Row(NamedTuple):
    node: tuple[int, ...]
    gone: str  # in the text before, and not after
    there: str  # in the text after, and not before
    answer: str = ""  # to the question that the gesture asks
    before: str = ""  # another gesture that comes first


ROWS = {
    "add": Row((0,), "", "    - wait:\n    - fallback:", "wai"),
    "wrap": Row((0,), "", "    - retry:\n", "retry"),
    "unwrap": Row((1,), "    - fallback:\n", "told\n    - check: a > 1\n"),
    "swap": Row((1,), "fallback:", "    - parallel:\n        - check: a > 1", "parallel"),
    "up": Row((1,), "", "  sequence:\n    - fallback:"),
    "down": Row((0,), "", "succeed: {}\n    - log: one   # told\n"),
    "cut": Row((0,), "log: one", ""),
    "copy": Row((0,), "", ""),
    "paste": Row((0,), "", "told\n    - log: one   # told\n", before="copy"),
    "delete": Row((3,), "- pick: {}", ""),
    "extract": Row((1,), "- check: a > 1", "file: branch", "branch"),
    "inline": Row((2,), "- tree: part", "    - wait: 2\n"),
    "rename": Row((0,), "", "name: greeting", "greeting"),
    "everywhere": Row((3,), "- pick: {}", "- grip: {}", "grip"),
    "skill": Row((4,), "skills: [arm]", "skills: [arm, fly]"),
    "format": Row((0,), "    -   fly", "    - fly"),
    "picture": Row((1,), "", "", before="skill"),  # a tree at fault has no picture
    "wish": Row((0,), "log: one", "log: two", "say two"),
    "undo": Row((0,), "log: one", "", before="cut"),
    "redo": Row((0,), "", "", before="undo"),
    "save": Row((0,), "", "", before="cut"),
    "saveall": Row((0,), "", "", before="cut"),
}


ELSEWHERE = {"open", "back", "commands", "run"}  # test_at_the_node.py and test_running.py


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    for folder in ("trees", "skills"):
        (tmp_path / folder).mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    for name, text in (("trees/main.yaml", TREE), ("trees/part.yaml", PART), ("skills/arm.yaml", ARM)):
        (tmp_path / name).write_text(text)
    (tmp_path / "skills/arm.py").write_text("def pick(): ...\n")

    def write(path: Path, text: str, wish: str, told: object) -> Proposal:
        return Proposal(text.replace("log: one", "log: two"), [wish])

    with Editor(tmp_path, files, sort, writer=write) as made:
        yield made


def press(page: Browser, key: str) -> None:
    """The key of a row, such as `Ctrl Shift Z`."""
    *held, last = [KEYS.get(part, part) for part in key.split(" ")]
    last = last.lower() if held and "Shift" not in key else last
    presses = [{"type": "keyDown", "value": each} for each in (*held, last)]
    presses += [{"type": "keyUp", "value": each} for each in (last, *reversed(held))]
    page.ask("POST", f"{page.session}/actions", {"actions": [{"type": "key", "id": "k", "actions": presses}]})


def done(page: Browser, name: str, how: str) -> None:
    """One gesture on its node, by its key or its button; its question is answered."""
    row = ROWS[name]
    state = (
        "localStorage.getItem('btr-edit-clip')" if name == "copy" else "[app.state.version, app.state.unsaved].join()"
    )
    page.js("document.getElementById('tree').focus(); app.pickPath(arguments[0])", list(row.node))
    before = page.js(f"return {state}")
    if how == "key":
        press(page, next(g.key for g in gestures() if g.name == name))
    else:
        if page.js(f"return !!document.querySelector('#bar:not(.all) .rest[data-gesture={name}]')"):
            page.click("#more")
        page.click(f"[data-gesture='{name}'], header #{name}")
    if name == "add":
        page.keys(row.answer + ENTER)
    elif row.answer:
        page.until("document.getElementById('ask').open")
        page.keys(row.answer + ENTER)
    if name in ("skill", "wish"):
        page.until("document.getElementById('changes').open && document.querySelector('#diff .new')")
        page.click("#write")
    elif name == "picture":
        page.until("document.getElementById('picturing').open")
        page.click("#of-branch")
        page.click("#picturing button[value='pdf']")
        page.until("app.pictured")
        return
    page.until(f"{state} !== {json.dumps(before)}")


def test_every_row_has_a_claim() -> None:
    assert set(ROWS) | ELSEWHERE == {gesture.name for gesture in gestures()}


@pytest.fixture
def page(browser: Browser, editor: Editor) -> Iterator[Browser]:
    browser.open(editor.url())
    browser.js("localStorage.clear()")
    browser.until("window.app && app.state && app.kinds.length && app.view.places.size")
    yield browser
    browser.open("about:blank")  # before the server goes


@browsed
@pytest.mark.parametrize("how", ["key", "button"])
@pytest.mark.parametrize("name", list(ROWS))
def test_the_key_and_the_button_of_a_row_do_what_it_says(page: Browser, editor: Editor, name: str, how: str) -> None:
    row, file = ROWS[name], editor.session.path("trees/main.yaml")
    if (name, how) == ("saveall", "button"):
        editor.session.change("other", {editor.session.path("trees/part.yaml"): PART + "# more\n"})
        page.js("return app.open('trees/main.yaml', true)")
    chain = [name]
    while ROWS[chain[0]].before:
        chain.insert(0, ROWS[chain[0]].before)
    for each in chain[:-1]:
        done(page, each, "key")
    before = str(page.js("return app.state.text"))
    done(page, name, how)
    after = str(page.js("return app.state.text"))
    if name == "undo":
        assert after == TREE
    elif name == "redo":
        assert "log: one" not in after
    elif name in ("save", "saveall"):
        assert file.read_text() == after != TREE and not page.js("return app.state.unsaved")
    elif name == "copy":
        assert page.js("return localStorage.getItem('btr-edit-clip')") == "log: one   # told\n" and after == TREE
    elif name == "picture":
        assert "fallback" in page.js("return decodeURIComponent(app.pictured)") and after == before
    else:
        assert row.gone in before and row.there in after
        assert not row.there or row.there not in before
        assert not row.gone or row.gone not in after
        done(page, "undo", "key")
        assert page.js("return app.state.text") == TREE
