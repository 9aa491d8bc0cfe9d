"""The pages for people are true: their trees are sound, and their Python runs."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest

from bt_runtime import Run, load
from bt_runtime.language import manifest, source
from bt_runtime.language.emit.dialect import expansion_schema
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.language.loader import Loader

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    name: (DOCS / f"{name}.md").read_text("utf-8")
    for name in ("language", "skills", "embedding", "architecture", "infer")
}
BLOCK = re.compile(r"^```(yaml|python)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


GENERATED = ("api", "faults", "results")  # and docs/nodes/
MOST_WORDS = 45_000
# Blocks of code, and the table that `bt_author.edit.table` writes.
FENCE = re.compile(
    r"^( *)(```|~~~).*?^\1\2 *$|^<!-- gestures -->.*?^<!-- end of gestures -->$", re.MULTILINE | re.DOTALL
)


def words(text: str) -> int:
    """The words of a page outside its blocks of code and generated parts, tables included."""
    return sum(any(sign.isalnum() for sign in word) for word in FENCE.sub("", text).split())


def blocks(language: str, *notes: str) -> list[tuple[str, str]]:
    """(page, text) of the blocks with one of these notes; a note with a slash stands for any path."""
    return [
        (page, body)
        for page, text in PAGES.items()
        for found, note, body in BLOCK.findall(text)
        if found == language and note in notes
    ]


def write_files(page: str, root: Path) -> list[Path]:
    """The files that the page shows, as a project."""
    (root / "btr.yaml").write_text("version: 1\n")
    shown = [(note, body) for _, note, body in BLOCK.findall(PAGES[page]) if "/" in note]
    for name, body in shown:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(body)
    return [root / name for name, _ in shown]


@pytest.mark.parametrize(("page", "text"), blocks("yaml", ""))
def test_a_tree_of_a_page_is_sound(page: str, text: str, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    assert [str(d) for d in Loader(tmp_path).text(text, folder=tmp_path).diagnostics] == []


@pytest.mark.parametrize(("page", "text"), blocks("yaml", "node"))
def test_a_node_of_a_page_is_sound(page: str, text: str) -> None:
    """Its entries are those of a tree that the page does not show, so warnings about them are none."""
    tree = "version: 1\ntree: t\nroot:\n" + "".join(f"  {line}\n" for line in text.splitlines())
    found = [d for d in Loader().text(tree).diagnostics if d.code not in ("BT023", "BT024")]
    assert [str(d) for d in found] == []


@pytest.mark.parametrize("page", ["language", "skills"])
def test_the_files_of_a_page_are_sound(page: str, tmp_path: Path) -> None:
    assert write_files(page, tmp_path)
    for path in write_files(page, tmp_path):
        if path.suffix == ".yaml":
            checked = manifest.read(path) if path.parent.name == "skills" else Loader(tmp_path).file(path)
            assert [str(d) for d in checked.diagnostics] == []


def test_the_expansion_that_is_shown_is_in_the_dialect() -> None:
    shown = blocks("yaml", "expansion")
    assert shown
    for _, text in shown:
        assert jsonschema.Draft7Validator(expansion_schema(shipped_kinds())).is_valid(source.parse(text).sound().data())


@pytest.mark.parametrize("page", [page for page in PAGES if blocks("python", "") and "```python\n" in PAGES[page]])
def test_the_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From top to bottom, as a reader would try it, in a project with the files that the page shows."""
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for number, (_, text) in enumerate(b for b in blocks("python", "") if b[0] == page):
        exec(compile(text, f"docs/{page}.md block {number}", "exec"), names)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: str(path.relative_to(DOCS)))
def test_a_link_leads_to_a_page(path: Path) -> None:
    for target in LINK.findall(path.read_text("utf-8")):
        assert target.startswith("http") or (path.parent / target).exists(), target


def test_every_example_is_of_a_sort_that_is_tested() -> None:
    tested = {("yaml", ""), ("yaml", "node"), ("yaml", "expansion"), ("python", "")}
    shown = {(language, note) for text in PAGES.values() for language, note, _ in BLOCK.findall(text)}
    assert {(language, note) for language, note in shown if "/" not in note} <= tested


def test_the_path_that_the_language_page_names_is_right() -> None:
    _, text = next(block for block in blocks("yaml", "") if "keep_charged" in block[1])
    path = re.search(r"stands at `(/keep_charged[^`]+)`", PAGES["language"])
    assert path
    run = Run(load(text))
    assert type(run.parts.engine.find(path[1])).__name__ == "Wait"


def test_the_language_page_leads_to_every_kind_of_node() -> None:
    assert [
        kind.name for kind in shipped_kinds() if f"[`{kind.name}`](nodes/{kind.name}.md)" not in PAGES["language"]
    ] == []


def test_every_file_that_the_architecture_page_names_is_there() -> None:
    root = DOCS.parent
    homes = [root, root / "bt_runtime", root / "envs", *root.glob("packages/*")]
    named = re.findall(r"(?:`|→ )((?:[a-z_]+/)+(?:[a-z_]+\.py)?)", PAGES["architecture"])
    assert len(named) > 15
    rooms = [name.removeprefix("bt_runtime/") for name in named]
    assert [name for name in rooms if not any((home / name).exists() for home in homes)] == []


def test_the_pages_that_people_write_stay_short() -> None:
    """All together, and the page of results and the README of each package take one page."""
    pages = {path.stem: words(path.read_text("utf-8")) for path in DOCS.glob("*.md") if path.stem not in GENERATED}
    assert sum(pages.values()) <= MOST_WORDS
    assert words((DOCS / "results.md").read_text("utf-8")) <= 1_600
    wheels = [DOCS.parent / "envs" / "README.md", *DOCS.parent.glob("packages/*/README.md")]
    assert len(wheels) == 6
    assert [path for path in wheels if words(path.read_text("utf-8")) > 400] == []
