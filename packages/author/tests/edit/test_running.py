"""A run that is started from the editor: the saved tree, with the inputs of its trial, in a process of its own."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from bt_author.cli.lsp import files, sort
from bt_author.edit.serving import Editor
from bt_runtime import BtError

TREE = """\
version: 1
tree: main
inputs: {seconds: number}
root:
  sequence:
    - wait: "{seconds}"
"""
PATH = "trees/main.yaml"


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    (tmp_path / "trees").mkdir()
    (tmp_path / "btr.yaml").write_text("version: 1\n")
    (tmp_path / PATH).write_text(TREE)
    with Editor(tmp_path, files, sort) as made:
        yield made


def asked(editor: Editor, command: str, **given: Any) -> Any:
    return editor.commands(command, {"path": PATH, **given})


def begun(editor: Editor) -> Any:
    said = asked(editor, "run", move="begin")
    while said["state"] == "starting":
        said = asked(editor, "run", move="look", wait=True)
    return said


def commanded(url: str, do: str, **given: Any) -> Any:
    """A command of the run's page."""
    base, _, token = url.partition("#")
    headers = {"X-Token": token}
    body = json.dumps({"do": do, **given}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{base}command", body, headers), timeout=60) as answer:
        return json.load(answer)


def tried(editor: Editor, seconds: str) -> None:
    asked(editor, "try", move="begin")
    asked(editor, "try", move="set", entry="seconds", value=seconds)


def test_the_run_has_the_inputs_of_the_trial_and_one_goes_on_at_a_time(editor: Editor) -> None:
    """The command is shown before; a second Run is answered with the run that goes on; closing ends it."""
    tried(editor, "600")
    assert asked(editor, "run", move="look") == {
        "state": "none",
        "words": "btr run trees/main.yaml --view --set seconds=600",
    }
    first = begun(editor)
    assert first["state"] == "going", first
    live = editor.commands.running.live
    assert begun(editor)["url"] == first["url"] and editor.commands.running.live is live
    assert live is not None
    editor.close()
    assert live.process.poll() is not None


def test_a_run_that_is_over_keeps_its_page_which_leads_back(editor: Editor) -> None:
    """Halted on its page; the page leads to the node in this editor; the next Run is a new process."""
    tried(editor, "600")
    url = begun(editor)["url"]
    commanded(url, "halt")
    live = editor.commands.running.live
    assert live is not None and live.over.wait(60)
    assert asked(editor, "run", move="look")["state"] == "over"
    place = {"file": str(editor.folder / PATH), "line": 6, "column": 7, "row": '    - wait: "{seconds}"'}
    made = commanded(url, "edit", **place)
    base, _, token = editor.server.url.partition("#")
    assert made == {"url": f"{base}?tree={PATH}&at=6:7#{token}", "same": True}
    assert begun(editor)["state"] == "going" and editor.commands.running.live is not live


def test_what_was_tried_in_the_run_is_kept_in_the_editor_that_started_it(editor: Editor) -> None:
    """A written value becomes the default in the text of this editor; no file is written."""
    tried(editor, "600")
    url = begun(editor)["url"]
    commanded(url, "write", scope="", name="seconds", value=500)
    commanded(url, "keep_value", scope="", name="seconds")
    assert "seconds: {type: number, default: 500" in editor.session.buffer(editor.session.path(PATH)).text
    assert (editor.folder / PATH).read_text() == TREE


def test_an_unsaved_or_faulty_tree_is_not_run_and_a_run_that_cannot_begin_says_why(editor: Editor) -> None:
    """Each refusal names its reason."""
    with pytest.raises(BtError, match="there is no move"):
        asked(editor, "run", move="jump")
    failed = begun(editor)
    assert failed["state"] == "ended" and any("seconds" in line for line in failed["lines"])
    version = asked(editor, "open")["version"]
    asked(editor, "text", version=version, text=TREE.replace("main", "other"))
    with pytest.raises(BtError, match="not saved: trees/main"):
        asked(editor, "run", move="begin")
    asked(editor, "text", version=version + 1, text=TREE.replace("wait", "weit"))
    with pytest.raises(BtError, match="at fault"):
        asked(editor, "run", move="begin")


def test_a_page_that_other_machines_reach_starts_no_run(tmp_path: Path) -> None:
    """Also not a run that was begun before."""
    (tmp_path / "main.yaml").write_text(TREE)
    with (
        Editor(tmp_path, files, sort, host="127.0.0.1", anyone=True) as editor,
        pytest.raises(BtError, match="other machines"),
    ):
        editor.commands("run", {"path": "main.yaml", "move": "begin"})


def test_a_command_to_an_editor_that_is_gone_is_told(editor: Editor) -> None:
    """The page of the run stays usable, and says that the editor does not answer."""
    tried(editor, "600")
    url = begun(editor)["url"]
    editor.server.close()
    commanded(url, "write", scope="", name="seconds", value=500)
    with pytest.raises(HTTPError) as refused:
        commanded(url, "keep_value", scope="", name="seconds")
    assert "does not answer" in json.load(refused.value)["error"]
