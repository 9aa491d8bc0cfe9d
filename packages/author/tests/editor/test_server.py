"""`btr serve lsp` as an editor starts it: one process, messages over its standard streams."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from packages.author.tests.editor.lsp import PATIENCE, Server
from packages.author.tests.editor.project import MAIN, PART, written

pytest.importorskip("pygls", reason="needs the lsp extra")
COMMAND = [sys.executable, "-m", "bt_runtime.cli", "serve", "lsp", "--stdio"]


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = written(tmp_path_factory.mktemp("project"))
    noisy = "import os\nprint('hello')\nos.write(1, b'noise')\nKINDS = ()\n"
    (folder / "kinds.py").write_text(noisy)  # a trusted project's, which prints when it is imported
    (folder / "btr.yaml").write_text("version: 1\nkinds: [kinds.py:KINDS]\n")
    running = Server(COMMAND, folder)
    yield running
    running.close()
    assert running.process.returncode == 0


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """As an editor applies them, counting in UTF-16."""
    units = text.encode("utf-16-le")
    lines = [0, *(at + 2 for at in range(0, len(units), 2) if units[at : at + 2] == b"\n\0")]

    def place(where: dict[str, int]) -> int:
        return lines[where["line"]] + 2 * where["character"]

    for edit in sorted(edits, key=lambda e: place(e["range"]["start"]), reverse=True):
        start, end = place(edit["range"]["start"]), place(edit["range"]["end"])
        units = units[:start] + edit["newText"].encode("utf-16-le") + units[end:]
    return units.decode("utf-16-le")


def at(text: str, word: str) -> dict[str, int]:
    before = text[: text.index(word)]
    line = before.rpartition("\n")[2]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def test_faults_are_told_while_typing_and_mended_by_their_fix(editor: Server) -> None:
    text = MAIN.replace('log: "at', 'lgo: "\U0001f916 at')
    uri = editor.open("trees/main.yaml", text)
    fault = next(d for d in editor.told(uri, 1) if d["code"] == "BT012")
    assert fault["range"]["start"] == at(text, "lgo") and "did you mean `log`?" in fault["message"]
    where = {"textDocument": {"uri": uri}, "range": fault["range"], "context": {"diagnostics": [fault]}}
    action = editor.ask("textDocument/codeAction", where)[0]
    mended = applied(text, action["edit"]["changes"][uri])
    editor.change(uri, 2, mended)
    assert [d["code"] for d in editor.told(uri, 2)] == []
    start = at(mended, "count > 0")
    editor.change(uri, 3, "cuont", {"start": start, "end": {**start, "character": start["character"] + 5}})
    codes = {d["code"] for d in editor.told(uri, 3)}
    assert codes == {"BT023", "BT024"}
    start = at(mended, "at {place}")  # behind a character of two units
    editor.change(uri, 4, "", {"start": start, "end": {**start, "character": start["character"] + 2}})
    uri_part = editor.open("trees/part.yaml", PART)
    editor.change(uri_part, 2, PART.replace("room: string", "hall: string"))
    assert "BT022" in {d["code"] for d in editor.told(uri)}
    for each in (uri, uri_part):
        editor.tell("textDocument/didClose", {"textDocument": {"uri": each}})


def test_the_other_files_of_the_project_are_told_too(editor: Server) -> None:
    path = editor.folder / "trees" / "other.yaml"
    path.write_text(PART.replace("log:", "lgo:"))
    editor.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 1}]})
    assert [d["code"] for d in editor.told(path.as_uri())] == ["BT012"]
    path.unlink()
    editor.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 3}]})
    assert editor.told(path.as_uri()) == []


def test_it_answers(editor: Server) -> None:
    uri = editor.open("trees/main.yaml", MAIN)
    item = editor.completions("trees/main.yaml", MAIN + "    - ", MAIN.count("\n"), 6)["go_to"]
    assert item["insertTextFormat"] == 2 and "${1:" in item["textEdit"]["newText"] and "go to {place}" in str(item)
    editor.change(uri, 2, MAIN)
    place = at(MAIN, "go_to")
    assert "go to {place}" in editor.about("hover", uri, **place)["contents"]["value"]
    found = [Path(each["uri"]).name for each in editor.about("definition", uri, **place)]
    assert found == ["depot.yaml", "depot.py"]
    everywhere = editor.about("references", uri, **at(MAIN, "battery >"), context={"includeDeclaration": True})
    assert len(everywhere) == 3
    place = at(MAIN, "part, with")
    moved = editor.about("rename", uri, **place, newName="chamber")["documentChanges"]
    assert moved[-1]["kind"] == "rename" and moved[-1]["newUri"].endswith("/trees/chamber.yaml")
    assert editor.about("prepareRename", uri, **place)["start"] == place
    symbols = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [s["name"] for s in symbols] == ["version", "tree", "skills", "inputs", "blackboard", "root"]
    lenses = editor.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
    assert [each["command"]["title"] for each in lenses] == ["run", "1 file of tests"]
    crooked = MAIN.replace("    - check: count", "    -   check:   count")
    editor.change(uri, 3, crooked)
    options = {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}}
    assert applied(crooked, editor.ask("textDocument/formatting", options)) == MAIN
    editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_a_renaming_that_cannot_be_is_refused_in_words(editor: Server) -> None:
    uri = editor.open("trees/main.yaml", MAIN)
    with pytest.raises(AssertionError, match="is an entry of this tree already"):
        editor.about("rename", uri, **at(MAIN, "battery >"), newName="place")


@pytest.mark.parametrize("text", [
    "\ufeff" + MAIN, MAIN.replace("\n", "\r\n"), MAIN.replace("  ", "\t"), MAIN.replace("log", "log\u2028\x85"),
    "\0\x07",
    "- " * 2000, "{" * 3000, "a: &a [*a, *a]\n", "\U0001f916" * 100, ": : :\n-\n? ", "root:\n  log: |\n    a\n  b\n",
], ids=range(11))  # fmt: skip
def test_no_text_is_too_odd(text: str, editor: Server) -> None:
    uri = editor.open("trees/odd.yaml", text)
    editor.told(uri, 1)
    for line in (0, 5, 10_000):
        for method in ("completion", "hover", "definition"):
            editor.about(method, uri, line, 7)
    editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    editor.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
    editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})


def test_files_of_others_and_texts_without_a_file_are_left_alone(editor: Server) -> None:
    (editor.folder / "mkdocs.yml").write_text("nav: [a]\n")
    for uri in ((editor.folder / "mkdocs.yml").as_uri(), "untitled:Untitled-1"):
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": "nav: [a]\n"}
        editor.tell("textDocument/didOpen", {"textDocument": document})
        assert editor.about("completion", uri, 0, 0)["items"] == []


def test_it_ends_when_the_editor_is_gone(tmp_path: Path) -> None:
    running = Server(COMMAND, written(tmp_path), stderr=subprocess.DEVNULL)
    assert running.process.stdin and running.process.stdout
    running.process.stdin.close()
    running.process.wait(timeout=PATIENCE)
    running.reader.join(timeout=PATIENCE)
    running.process.stdout.close()


def test_it_says_how_it_is_started_and_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "pygls.py").write_text("raise ImportError('no')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(COMMAND, input="", capture_output=True, text=True, timeout=PATIENCE, env=environment)
    assert ended.returncode == 2 and "pip install 'bt_runtime[lsp]'" in ended.stderr and not ended.stdout
