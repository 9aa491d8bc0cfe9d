"""A tree that grafts include is read once, and again when its file has changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bt_runtime import Faults, Run, load
from bt_runtime.language import kept, source

HEAD = "version: 1\ntree: part\ninputs: {text: {type: string, default: hi}}\nroot:\n"
GRAFT = "tree: {file: part}"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(kept, "_TREES", type(kept._TREES)())
    (tmp_path / "btr.toml").write_text("")
    (tmp_path / "part.yaml").write_text(HEAD + '  log: "{text}"\n')
    whole = tmp_path / "whole.yaml"
    whole.write_text("version: 1\ntree: whole\nroot:\n  sequence: [log: begun]\n")
    return Run(load(whole, project=tmp_path))


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    real = source.read

    def read(path: Path, *more: object) -> object:
        found.append(path.name)
        return real(path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(source, "read", read)
    return found


def test_grafts_that_include_one_tree_read_it_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    read = reads(monkeypatch)
    for _ in range(3):
        run.insert("/whole", GRAFT)
    run.tick()
    assert read == ["part.yaml"]
    assert [each.segment for each in run.parts.engine.root.children] == ["0", "1", "2", "3"]  # type: ignore[attr-defined]
    assert [each.children[0].feedback_message for each in run.parts.engine.root.children[1:]] == ["hi", "hi", "hi"]
    run.close()


def test_a_large_tree_is_read_again_and_fills_no_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "LONGEST", 10)
    read = reads(monkeypatch)
    for _ in range(2):
        run.insert("/whole", GRAFT)
    assert read == ["part.yaml", "part.yaml"]
    run.close()


def test_a_graft_that_includes_the_running_tree_does_not_read_it_again(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reads(monkeypatch)
    run.insert("/whole", "tree: {file: whole}")
    run.tick()
    assert read == []
    assert run.parts.engine.root.children[1].children[0].children[0].feedback_message == "begun"
    run.close()


def test_a_file_that_has_changed_is_read_anew(run: Run, tmp_path: Path) -> None:
    run.insert("/whole", GRAFT)
    (tmp_path / "part.yaml").write_text(HEAD + '  log: "new: {text}"\n')
    run.insert("/whole", GRAFT)
    run.tick()
    assert [each.children[0].feedback_message for each in run.parts.engine.root.children[1:]] == ["hi", "new: hi"]
    (tmp_path / "part.yaml").unlink()
    with pytest.raises(Faults, match="there is no tree"):
        run.insert("/whole", GRAFT)
    run.close()


def test_a_kept_tree_is_checked_against_what_each_graft_gives_it(run: Run) -> None:
    run.insert("/whole", GRAFT)
    with pytest.raises(Faults, match="has no port `tekst`"):
        run.insert("/whole", "tree: {file: part, with: {tekst: hello}}")
    with pytest.raises(Faults, match="text"):
        run.insert("/whole", "tree: {file: part, with: {text: 3}}")
    run.close()


@pytest.mark.parametrize(
    "part",
    [
        HEAD + "  sequence: [log: '{text}', tree: {file: other}]\n",
        HEAD + "  sequence: [log: '{text}', log: '{nobody_writes_it}']\n",
    ],
)
def test_a_tree_that_includes_another_or_has_warnings_is_not_kept(
    part: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.yaml").write_text("version: 1\ntree: other\nroot:\n  log: hi\n")
    (tmp_path / "part.yaml").write_text(part)
    read = reads(monkeypatch)
    run.insert("/whole", GRAFT)
    run.insert("/whole", GRAFT)
    assert read.count("part.yaml") == 2
    run.close()
