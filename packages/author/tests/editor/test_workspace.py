"""The workspace of `btr serve lsp`: what `validate` says, kept up to date a file at a time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bt_author.lsp.text import Position, Text
from bt_author.lsp.workspace import Workspace
from bt_runtime import Diagnostic
from bt_runtime.language.loader import Loader
from bt_runtime.language.project.selection import select
from bt_runtime.run import check_file
from packages.author.tests.editor.project import MAIN, PART, shown, workspace, written

ROOT = Path(__file__).parents[4]
Said = set[tuple[str, object]]


def said(space: Workspace) -> Said:
    return {(str(path), fault) for path, document in space.documents.items() if path.is_relative_to(space.root)
            for fault in map(plain, space.faults(document))}  # fmt: skip


def plain(fault: Diagnostic) -> tuple[object, ...]:
    return fault.code, fault.message, fault.span, fault.label, fault.severity


@pytest.mark.parametrize("folder", ["trees", "skills", "guides", "tests/language/faults/language"])
def test_it_says_of_every_file_what_validate_says(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / folder)
    space = workspace(ROOT / folder)
    list(space.diagnostics())
    faults, _ = check_file.gathered([check_file.check(file) for file in select([str(ROOT / folder)])])
    theirs = {(str(Path(fault.file).resolve()), plain(fault)) for fault in faults}
    assert said(space) == {each for each in theirs if Path(each[0]).is_relative_to(ROOT / folder)}


def test_after_any_edits_it_knows_what_one_that_starts_anew_knows(tmp_path: Path) -> None:
    """Ports that come and go, trees that include one another, manifests that change, files that vanish."""
    rng = random.Random(18)
    root = written(tmp_path)
    names = [f"t{n}" for n in range(6)]
    for name in names:
        (root / f"trees/{name}.yaml").write_text(PART.replace("tree: part", f"tree: {name}"))
    space = workspace(root)
    list(space.diagnostics())
    manifest = (root / "skills/depot.yaml").read_text()
    for _ in range(60):
        name = rng.choice(names)
        path = root / f"trees/{name}.yaml"
        if rng.random() < 0.1:
            path.unlink(missing_ok=True)
        elif rng.random() < 0.1:
            path = root / "skills/depot.yaml"
            path.write_text(manifest.replace("go_to", rng.choice(["go_to", "walk"])))
        else:
            included = "".join(f"    - tree: {{file: {rng.choice(names)}, with: {{room: hall}}}}\n" for _ in range(2))
            port = rng.choice(["room: string", "room: integer", "hall: string"])
            text = PART.replace("tree: part", f"tree: {name}").replace("room: string", port)
            path.write_text(text.replace("root:", "skills: [depot]\nroot:") + rng.choice(["", included]))
        space.changed_on_disk([path])
        space.settle()
        list(space.diagnostics())
    fresh = workspace(root)
    list(fresh.diagnostics())
    assert said(space) == said(fresh)


def test_a_keystroke_looks_at_its_own_file_and_at_those_that_depend_on_what_changed(tmp_path: Path) -> None:
    root = written(tmp_path)
    space = workspace(root)
    list(space.diagnostics())
    part = (root / "trees/part.yaml").resolve()
    space.opened(part, PART)
    space.settle()
    space.edited(part, Text(PART.replace("in {room}", "inside {room}")))
    space.check(part)
    assert not space.queue
    space.edited(part, Text(PART.replace("room: string", "room: integer")))
    space.check(part)
    assert list(space.queue) == [(root / "trees/main.yaml").resolve()]
    space.settle()
    told = dict(space.diagnostics())
    assert [fault.code for fault in told[(root / "trees/main.yaml").resolve()]] == ["BT021"]


def test_a_projects_python_is_not_run_before_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bt_runtime.cli import _guard
    from bt_runtime.language.project import trust

    root = written(tmp_path)
    (root / "btr.yaml").write_text("version: 1\nkinds: [kinds.py:KIND]\n")
    (root / "kinds.py").write_text(f"open({str(root / 'ran')!r}, 'w').close()\nKIND = 1\n")
    monkeypatch.setenv("BTR_TRUST", "")
    monkeypatch.setattr(trust, "guard", _guard("lsp"))
    workspace(root)
    assert not (root / "ran").exists()


def test_places_are_counted_as_the_protocol_counts_them() -> None:
    """In UTF-16, over line breaks that only YAML knows, behind a byte order mark."""
    text = Text("\ufeffa: \U0001f916 b\r\nc: x\u2028d: e\n")
    assert text.position(text.source.index("b")) == Position(0, 7)
    assert text.offset(Position(0, 7)) == text.source.index("b")
    assert text.position(text.source.index("d:")) == Position(1, 5)
    assert text.at(3, 1) == text.source.index("d:")
    assert text.place(text.source.index("e")) == (3, 4)
    for at in range(len(text.source)):
        if text.source[at] != "\n":  # within \r\n there is no place
            assert text.offset(text.position(at)) == at
    assert text.changed(Position(0, 4), Position(0, 6), "robot").source.startswith("\ufeffa: robot b")


def test_a_large_project_file_by_file_is_as_the_loader_has_it(tmp_path: Path) -> None:
    root = written(tmp_path)
    space = workspace(root)
    document = shown(space, root / "trees/main.yaml", MAIN.replace("battery > 0.2", "batery > 0.2"))
    (root / "trees/main.yaml").write_text(document.text.source)
    theirs = [plain(fault) for fault in Loader(root).file(root / "trees/main.yaml").diagnostics]
    assert [plain(fault) for fault in space.faults(document)] == theirs


def test_a_file_of_a_project_below_the_workspace_has_the_skills_of_its_project(tmp_path: Path) -> None:
    """The editor opened the folder above two projects: each tree knows its own manifests, and no other's."""
    for name in ("one", "two"):
        for folder in ("trees", "skills"):
            (tmp_path / name / folder).mkdir(parents=True)
        (tmp_path / name / "btr.yaml").write_text("")
        (tmp_path / name / "skills" / "own.yaml").write_text(
            f"version: 1\nskills: own\nabout: A.\nkinds:\n  go_{name}: "
            "{sentence: go, on_resume: repeat, impl: world}\n"
        )
        head = "version: 1\ntree: t\nskills: [own]\nroot:\n"
        (tmp_path / name / "trees" / "t.yaml").write_text(f"{head}  go_{name}: {{}}\n")
    space = workspace(tmp_path)
    space.scan()
    space.settle()
    assert {path: faults for path, faults in space.diagnostics() if faults} == {}


def test_a_default_is_shown_as_it_is_written_in_yaml() -> None:
    """`false` and "text", and not Python's False and 'text'."""
    from bt_author.lsp.describe import field_about
    from bt_runtime.plugins import Field

    assert "default `false`" in field_about(Field("yield", "boolean", "About.", default=False))
