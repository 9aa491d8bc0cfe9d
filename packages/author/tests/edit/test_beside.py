"""From a run to the file: the editor opens at the node, and what was tried is kept there as a change of its text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_author.edit import own_editor
from bt_author.edit.beside import Beside
from bt_author.edit.draft import Draft
from bt_author.edit.keep import replace_node, set_default
from bt_author.edit.lines import Untouchable
from bt_runtime import BtError, Run, View, load
from bt_runtime.clock import Manual
from bt_runtime.journal import folder as journals
from bt_runtime.language.kinds.registry import registry_of
from tests.run.view.browser import Browser, missing

TREE = """\
# what it does
version: 1
tree: main
blackboard:
  a: {type: integer, default: 1}   # a number
  room:
    type: string   # where
    default: hall
root:
  sequence:
    # first it waits
    - wait: 100   # long
    - fallback: [{check: a > 1}, {log: "x"}]
      # at the end
"""
KINDS = registry_of(None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / "trees/main.yaml").write_text(TREE)
    return tmp_path


@pytest.fixture
def run(project: Path) -> Iterator[Run]:
    with Run(load(project / "trees/main.yaml"), clock=Manual(), journal=project / "runs") as made:
        made.tick()
        yield made


@pytest.fixture
def view(run: Run) -> Iterator[View]:
    with Beside() as beside, View(run) as made:
        beside.of_run(made)
        yield made


def editors(view: View) -> dict[Path, Any]:
    return dict(view.extra["edit"].__self__.editors)  # type: ignore[attr-defined]


def text_of(view: View, project: Path) -> str:
    [editor] = editors(view).values()
    return str(editor.session.buffer(project / "trees/main.yaml").text)


def test_the_editor_opens_at_the_node_and_none_starts_unasked(view: View, project: Path) -> None:
    """A line that moved since the run is found again; a line that is gone is told."""
    assert editors(view) == {}
    place = {"file": str(project / "trees/main.yaml"), "line": 12, "column": 7, "row": "    - wait: 100   # long"}
    opened = view.command("edit", place)
    assert "?tree=trees/main.yaml&at=12:7#" in opened["url"] and opened["same"]
    (project / "trees/main.yaml").write_text(f"# one more\n{TREE}")
    assert "at=13:7#" in view.command("edit", place)["url"]
    (project / "trees/main.yaml").write_text(TREE.replace("100", "5"))
    assert not view.command("edit", place)["same"] and len(editors(view)) == 1


def test_edited_yaml_is_kept_in_the_file_with_its_comments(view: View, project: Path) -> None:
    """The file itself is written when somebody saves it; undo takes it back."""
    view.command("replace", {"path": "/main/0", "text": "wait: 2   # shorter\n"})
    [change] = view.feed.picture().latest["hold"]["changes"]
    assert change["edited"]
    view.command("keep", {"which": change["number"]})
    assert text_of(view, project) == TREE.replace("wait: 100   # long", "wait: 2   # shorter")
    assert (project / "trees/main.yaml").read_text() == TREE
    view.command("undo", {"which": change["number"]})
    with pytest.raises(BtError, match="not in force"):
        view.command("keep", {"which": change["number"]})


def test_a_written_value_is_kept_as_the_default_or_taken_back(view: View, run: Run, project: Path) -> None:
    view.command("write", {"scope": "", "name": "room", "value": "kitchen"})
    view.command("write", {"scope": "", "name": "room", "value": "cellar"})
    [row] = view.feed.picture().latest["written"]["rows"]
    assert row["text"] == 'room was "hall", and "cellar" was written'
    view.command("keep_value", {"scope": "", "name": "room"})
    assert text_of(view, project) == TREE.replace("default: hall", "default: cellar")
    view.command("unwrite", {"scope": "", "name": "room"})
    assert run.blackboard["room"] == "hall" and view.feed.picture().latest["written"]["rows"] == []


def test_a_page_that_other_machines_reach_opens_no_editor(run: Run, project: Path) -> None:
    with Beside() as beside, View(run, anyone=True) as view:
        beside.of_run(view)
        with pytest.raises(BtError, match="other machines"):
            view.command("edit", {"file": str(project / "trees/main.yaml"), "line": 1, "column": 1})
        assert not beside.editors


def test_a_recorded_run_opens_the_file_that_it_was_made_of(run: Run, project: Path, monkeypatch: Any) -> None:
    """The journal names the file as it was called; where it lay is in its head."""
    monkeypatch.chdir(project.parent)
    [journal] = journals.journals(project / "runs")
    with Beside() as beside:
        command = beside.of_journal(journal, lambda name, given: {"other": name})
        place = {"file": "trees/main.yaml", "line": 12, "column": 7, "run": "1"}
        assert "at=12:7#" in command("edit", place)["url"] and command("why", {}) == {"other": "why"}
        with pytest.raises(BtError, match="no file"):
            command("edit", {"file": "/etc/passwd", "line": 1, "column": 1})


def test_a_replaced_node_keeps_what_stands_around_it() -> None:
    draft = Draft(TREE, KINDS)
    made = replace_node(draft, 13, 7, "fallback", "sequence:\n  - log: y   # why\n").text
    assert made == TREE.replace(
        'fallback: [{check: a > 1}, {log: "x"}]\n', "sequence:\n        - log: y   # why\n"
    )  # the comment below stays
    inner = replace_node(draft, 13, 19, "check", "{check: a > 2}\n").text
    assert "        - check: a > 2\n" in inner and '        - log: "x"\n' in inner
    with pytest.raises(Untouchable, match="has changed"):
        replace_node(draft, 12, 7, "log", "log: y")


def test_a_default_is_set_where_the_entry_is_declared() -> None:
    draft = Draft(TREE, KINDS)
    assert set_default(draft, "a", 7).text == TREE.replace("default: 1}", "default: 7}")
    assert "  b: {type: boolean, default: true}\n" in set_default(draft, "b", True).text
    plain = Draft(TREE.replace("{type: integer, default: 1}", "integer"), KINDS)
    assert "  a: {type: integer, default: 7}   # a number" in set_default(plain, "a", 7).text
    bare = Draft(TREE.replace("    default: hall\n", ""), KINDS)
    assert 'default: "no"\n' in set_default(bare, "room", "no").text


def test_the_own_editor_is_one_with_a_window_or_a_link(tmp_path: Path, monkeypatch: Any) -> None:
    """A program of a terminal is never started; the words of a known one lead to the line."""
    program = tmp_path / "code"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/said.part\nmv {tmp_path}/said.part {tmp_path}/said\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("VISUAL", raising=False)
    file = tmp_path / "a b.yaml"
    monkeypatch.setenv("EDITOR", "vi")
    assert own_editor.opened(file, 3, 5) == {"link": f"vscode://file{tmp_path}/a%20b.yaml:3:5"}
    monkeypatch.setenv("EDITOR", "code --wait")
    assert own_editor.words(file, 3, 5) == [str(program), "--wait", "--goto", f"{file}:3:5"]
    assert own_editor.opened(file, 3, 5) == {"started": "code"}


@pytest.mark.skipif(bool(missing()), reason=missing() or "there")
def test_the_page_of_a_run_leads_to_the_node_in_the_editor(browser: Browser, view: View, project: Path) -> None:
    """`E` opens the file at the chosen node; a replacement has a Keep beside it, and the editor shows it unsaved."""
    browser.open(view.url)
    browser.until("window.btr && btr.history.head.latest.editor && btr.fold.nodes.size > 3")
    browser.js("window.open = (url) => { btr.opened = url; }")
    browser.js("const f = btr.fold; btr.choose([...f.nodes.keys()].find((id) => f.path(id) === '/main/0'))")
    browser.until("document.querySelector('[data-open]')")
    browser.keys("E")
    browser.until("btr.opened && btr.opened.includes('at=12:7')")
    view.command("replace", {"path": "/main/0", "text": "wait: 2\n"})
    browser.until("document.querySelector('#debug .list button[title^=Keep]')")
    browser.js("btr.opened = ''")
    browser.click("#debug .list button[title^=Keep]")
    browser.until("btr.opened")
    browser.open(str(browser.js("return btr.opened")))
    browser.until("window.app && app.state && app.node && app.node.kind === 'wait'")
    assert browser.js("return [app.state.unsaved, app.state.text.includes('wait: 2\\n')]") == [True, True]
    browser.open("about:blank")
