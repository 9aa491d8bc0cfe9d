"""A large file in the editor: what depends on the whole file is gathered once for each version of its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_author.lsp import entries, navigate
from bt_author.lsp.outline import MOST_SYMBOLS, OutlineEntry, outline
from bt_author.lsp.server import PATIENCE, made
from bt_author.lsp.text import Text
from bt_author.lsp.wire import uri
from bt_author.lsp.workspace import Workspace
from packages.author.tests.editor.project import workspace

HEAD = "version: 1\ntree: t\ninputs: {who: string}\nroot:\n  sequence:\n"


def large(folder: Path, count: int) -> tuple[Workspace, Path]:
    (folder / "trees").mkdir()
    (folder / "btr.yaml").write_text("version: 1\n")
    path = folder / "trees/t.yaml"
    path.write_text(HEAD + '    - log: "{who}"\n' * count)
    return workspace(folder), path


def test_entries_are_gathered_once_for_each_version_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    space, path = large(tmp_path, 300)
    gathered: list[object] = []
    usage = entries.usage
    monkeypatch.setattr(entries, "usage", lambda root: gathered.append(root) or usage(root))
    for version in (1, 2):
        document = space.documents[path]
        for at in range(len(HEAD), len(document.text.source), 190):
            navigate.hover(space, document, at)
            navigate.references(space, document, at)
        assert len(gathered) == version
        space.edited(path, Text(document.text.source + "    - log: more\n"))
        space.check(path)


def test_a_place_is_looked_for_only_among_those_of_its_line(tmp_path: Path) -> None:
    space, path = large(tmp_path, 50)
    found = space.documents[path].entries()
    assert found is not None and [len(found.on(line)) for line in (3, 5, 6, 55)] == [1, 0, 1, 1]
    assert len(found.named("who")) == 51


def counted(symbols: list[OutlineEntry]) -> int:
    return sum(1 + counted(each.below) for each in symbols)


@pytest.mark.parametrize("count", [10, 60_000 // 10])
def test_an_outline_is_cut_and_says_so(count: int, tmp_path: Path) -> None:
    space, path = large(tmp_path, count)
    found = outline(space.documents[path])
    cut = count > MOST_SYMBOLS
    assert counted(found) <= MOST_SYMBOLS + 1
    assert [each.name for each in found if not each.below][-1] != "…"
    inner = found[-1].below[0].below  # the nodes of the sequence
    assert (inner[-1].name == "…" and f"more than {MOST_SYMBOLS}" in inner[-1].detail) is cut


def test_a_file_that_takes_long_to_check_is_not_checked_before_an_answer(tmp_path: Path) -> None:
    space, path = large(tmp_path, 5)
    server = made(lambda folder: [], lambda path: "tree")
    server.spaces[space.root] = space
    space.edited(path, Text(HEAD + "    - log: other\n"))
    server.waiting[path] = None  # type: ignore[assignment]
    server.took[path] = 2 * PATIENCE
    found = server.document(uri(path), PATIENCE)
    assert found is not None and found[1].spec is None and path in server.waiting
    assert "other" in found[1].text.source
