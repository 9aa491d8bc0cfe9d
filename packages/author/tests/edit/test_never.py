"""What the editor must never do: a claim for each line."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit import arguments
from bt_author.edit.commands import Commands
from bt_author.edit.serving import Editor
from bt_runtime import BtError
from bt_runtime.language.project import trust
from tests.run.view.browser import Browser, missing

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
        - pick: {}
    - wait: 1
"""
ARM = 'version: 1\nskills: arm\nkinds:\n  pick: {sentence: pick, impl: "arm.py:pick"}\n'
CODE = "import pathlib\n\npathlib.Path(__file__).with_suffix('.ran').touch()\n\n\ndef pick(): ...\n"
NODES = "import pathlib\n\nimport py_trees\n\npathlib.Path(__file__).with_suffix('.ran').touch()\n"
NODES += "Mine = py_trees.behaviours.Success\n"
NAMES = sorted(name.removeprefix("do_") for name in dir(Commands) if name.startswith("do_"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for folder in ("trees", "skills"):
        (home / folder).mkdir(parents=True)
    (home / "btr.yaml").write_text("version: 1\n")
    (home / "trees/main.yaml").write_text(TREE)
    (home / "skills/arm.yaml").write_text(ARM)
    (home / "skills/arm.py").write_text(CODE)
    return home


@pytest.fixture
def editor(project: Path) -> Iterator[Editor]:
    with Editor(project, files, sort) as made:
        yield made


def asked(editor: Editor, do: str, /, **given: Any) -> Any:
    path = given.setdefault("path", "trees/main.yaml")
    given.setdefault("version", editor.session.buffer(editor.session.path(path)).version)
    return editor.commands(do, given)


def written(folder: Path) -> dict[str, str]:
    return {str(f.relative_to(folder)): f.read_text() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_no_command_comes_in_without_the_token_or_from_another_site(editor: Editor, project: Path) -> None:
    before, base = written(project), editor.url().partition("/#")[0]
    held = editor.session.buffer(editor.session.path("trees/main.yaml"))
    for name in NAMES:
        body = {"do": name, "path": "trees/main.yaml", "version": held.version, "text": "", "node": [0], "move": "keep"}
        for headers in (
            {"X-Token": "wrong"},
            {},
            {"X-Token": editor.server.token, "Origin": "http://elsewhere.example"},
        ):
            request = urllib.request.Request(
                f"{base}/command", json.dumps(body).encode(), headers=headers, method="POST"
            )
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=60)
            assert refused.value.code == 403, name
            refused.value.close()
    assert held.version == 0 and written(project) == before
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{base}/events?token=wrong", timeout=60)
    refused.value.close()


def test_nothing_outside_of_the_project_is_written(editor: Editor, project: Path) -> None:
    """Neither by a path, nor by a name, nor through a link in the folder."""
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "x.yaml").write_text(TREE)
    (project / "trees/link.yaml").symlink_to(outside / "x.yaml")
    (project / "tests").symlink_to(outside)
    before = written(outside)
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("open", {"path": "trees/link.yaml", "version": 0}),
        ("save", {"path": "../outside/x.yaml", "version": 0}),
        ("new", {"name": "../../outside/y"}),
        ("extract", {"node": [1], "name": "../../outside/y"}),
        ("rename_tree", {"node": [], "name": "../../outside/y"}),
        ("rename_skill", {"node": [1, 1], "name": "../y"}),
    ]
    for do, given in attempts:
        with pytest.raises(BtError):
            asked(editor, do, **given)
    asked(editor, "try", move="begin")
    with pytest.raises((BtError, OSError)):
        asked(editor, "try", move="keep")
    assert written(outside) == before


@pytest.mark.parametrize("do", ["new", "extract", "rename_tree"])
def test_a_link_that_leads_nowhere_takes_a_name(editor: Editor, project: Path, do: str) -> None:
    """No gesture makes a tree there, which saving would refuse after the other files were written."""
    (project / "trees/part.yaml").symlink_to(project.parent / "nowhere.yaml")
    with pytest.raises(BtError, match=r"already|outside"):
        asked(editor, do, node=[1] if do == "extract" else [], name="part")


def test_a_missing_skill_is_not_written_through_a_link(editor: Editor, project: Path) -> None:
    outside = project.parent / "outside"
    (project / "skills").rename(outside)
    (project / "skills").symlink_to(outside)
    asked(editor, "text", text=TREE.replace("wait: 1", "fly: {}"))
    before = written(outside)
    with pytest.raises((BtError, OSError)):
        asked(editor, "skill", node=[2], write=True)
    assert written(outside) == before


def test_nothing_is_written_that_nobody_saved(editor: Editor, project: Path) -> None:
    """Not by a gesture, not by looking, not when the server ends with unsaved texts."""
    before = written(project)
    asked(editor, "set", node=[2], field="seconds", value="5")
    asked(editor, "extract", node=[1], name="part")
    asked(editor, "rename_skill", path="trees/part.yaml", node=[1], name="grip")
    asked(editor, "rename_tree", node=[], name="first")
    asked(editor, "picture", path="trees/first.yaml", form="pdf")
    asked(editor, "text", path="trees/first.yaml", text="")
    with pytest.raises(BtError, match="empty"):
        asked(editor, "save", path="trees/first.yaml")
    editor.close()
    assert written(project) == before


def test_no_code_of_a_skill_runs_while_somebody_edits(editor: Editor, project: Path) -> None:
    asked(editor, "open")
    asked(editor, "kinds")
    asked(editor, "complete", line=9, character=10)
    asked(editor, "rename_skill", node=[1, 1], name="grip")
    asked(editor, "try", move="begin")
    asked(editor, "try", move="chance", seed=1)
    asked(editor, "try", move="keep")
    asked(editor, "save_all")
    assert not list(project.rglob("*.ran"))


def test_trying_a_tree_with_python_of_the_folder_asks_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `btr edit` runs it, in a folder that nobody trusts: the names come first; after a yes the tree is played, and
    the trust check of everything else is as before."""
    (project / "trees/nodes.py").write_text(NODES)
    (project / "trees/mine.yaml").write_text('version: 1\ntree: mine\nroot:\n  py: {class: "nodes.py:Mine"}\n')
    monkeypatch.setattr(trust, "guard", refusing := _refuses)
    with Editor(project, files, sort) as editor:
        for _ in range(2):
            assert asked(editor, "try", path="trees/mine.yaml", move="begin") == {"asks": ["nodes.py:Mine"]}
        assert asked(editor, "try", path="trees/mine.yaml", move="tick") == {"asks": ["nodes.py:Mine"]}
        assert not list(project.rglob("*.ran"))
        told = asked(editor, "try", path="trees/mine.yaml", move="begin", run=True)
        assert list(project.rglob("*.ran")) and told["moves"] == 0
        assert asked(editor, "try", path="trees/mine.yaml", move="tick")["status"] == "success"
        assert trust.guard is refusing


def _refuses(what: str, folder: Path, sends: bool = False) -> None:
    raise BtError(f"{folder} names {what}", "")


@pytest.mark.skipif(bool(missing()), reason=missing() or "there")
def test_no_keystroke_is_lost_when_the_server_dies(browser: Browser, project: Path) -> None:
    """What was typed, changed or not saved while no server answered is offered by the next one at that address."""
    with Editor(project, files, sort) as first:
        port = first.server.port
        browser.open(first.url())
        browser.js("localStorage.clear()")
        browser.until("window.app && app.state && app.view.places.size")
        browser.js("app.act('set', { node: [0], field: 'name', value: 'first' })")
        browser.until("app.state.unsaved")
        unsaved = browser.js("return app.state.text")
    browser.js("app.pickPath([2]); app.tab('node')")
    browser.js("const f = document.getElementById('field-seconds'); f.focus(); f.select();")
    browser.keys("7\ue007")
    browser.until("localStorage.getItem('btr-edit-unsent:trees/main.yaml')")
    with Editor(project, files, sort, port=port) as second:
        browser.open(second.url())
        browser.until("window.app && app.state && document.querySelector('#notice button')")
        assert browser.js("return app.state.text") == TREE
        browser.click("#notice button")
        browser.until("app.state.text.includes('wait: 7')")
        assert browser.js("return app.state.text") == unsaved.replace("wait: 1", "wait: 7")
        browser.js("app.tab('text')")
    typed = browser.js("return app.state.text") + "# typed while nobody answered\n"
    browser.js("app.typing.field.value = arguments[0];", typed)
    browser.js("app.typing.typed()")
    browser.until("localStorage.getItem('btr-edit-draft:trees/main.yaml')")
    with Editor(project, files, sort, port=port) as third:
        browser.open(third.url())
        browser.until("window.app && app.state && document.querySelector('#notice button')")
        browser.click("#notice button")
        browser.until("app.state.text.endsWith('# typed while nobody answered\\n')")
        assert browser.js("return app.state.text") == typed
        browser.open("about:blank")
    browser.console()  # refused connections are what this is about


ODD = [
    None, True, -1, 0, 1, 2, 10**30, 1.5, "", "x", "/", "trees/main.yaml", "../x.yaml", [], [0], [1], [1, 0], [[0]],
    ["a"], {}, {"a": 1}, "\ud800", "a" * 5000, [1e308], "{x", "- a: [", "0", [0, 1, "x"], "sequence", "root", "message",
    "begin", "tick", "answer", "look", "inputs", "a", "svg",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
def test_arguments_of_any_kind_are_refused_in_words_and_never_break_a_command(editor: Editor, seed: int) -> None:
    """Whatever is wrong is the caller's, and named; any other exception would be a fault of ours."""
    assert set(arguments.NEEDS) == set(NAMES)
    random = Random(seed)
    for _ in range(400):
        name = random.choice([name for name in NAMES if name != "own"])
        given = {key: random.choice(ODD) for key in arguments.NEEDS[name].split()}
        given |= {key: random.choice(ODD) for key in random.sample(sorted(arguments.TYPES), random.randint(0, 3))}
        held = editor.session.buffer(editor.session.path("trees/main.yaml"))
        for key, right in {"path": "trees/main.yaml", "version": held.version}.items():
            if random.random() < 0.9:
                given[key] = right
        with suppress(BtError):
            editor.commands(name, given)
