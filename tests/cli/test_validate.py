from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Btr, tree

GOOD = tree("log: hi")
BAD = tree("sequense:", "  - log: hi")
WARNED = tree("log: hi", head="inputs:\n  unread: {type: string}")


def test_a_sound_file_says_so_on_stderr_and_nothing_on_stdout(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text(GOOD)
    assert btr("validate", "a.yaml") == (0, "", "1 file checked, no faults\n")


def test_all_faults_of_all_files_are_shown_and_exit_1(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text(BAD)
    (here / "b.yaml").write_text(tree("log: {texd: hi}"))
    said = btr("validate", "a.yaml", "b.yaml")
    assert said.code == 1
    assert "error[BT012]" in said.out and "a.yaml:4:3" in said.out
    assert "error[BT013]" in said.out and "b.yaml:4:9" in said.out
    assert said.err == "2 files checked: 2 errors\n"


@pytest.mark.parametrize(
    ("form", "begins"),
    [("full", "error[BT012]: "), ("concise", "a.yaml:4:3: error[BT012]: "), ("github", "::error file=a.yaml,")],
)
def test_output_formats(btr: Btr, here: Path, form: str, begins: str) -> None:
    (here / "a.yaml").write_text(BAD)
    assert btr("validate", "a.yaml", "--output-format", form).out.startswith(begins)


def test_json_is_one_list_of_all_files_even_when_empty(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text(BAD)
    (row,) = json.loads(btr("validate", "--json", "a.yaml").out)
    assert (row["code"], row["span"]["line"]) == ("BT012", 4)
    (here / "a.yaml").write_text(GOOD)
    assert json.loads(btr("validate", "--json", "a.yaml").out) == []


def test_warnings_count_only_when_strict(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text(WARNED)
    assert btr("validate", "a.yaml").code == 0
    assert btr("validate", "a.yaml", "--strict").code == 1


def test_standard_input_is_a_file_called_stdin(btr: Btr) -> None:
    said = btr("validate", "-", stdin=BAD.encode())
    assert said.code == 1
    assert "--> stdin:4:3" in said.out
    assert btr("validate", "-", stdin=b"\xff\xfe\x00").code == 1


def test_nothing_selected_is_exit_5(btr: Btr, here: Path) -> None:
    (here / "notes.yaml").write_text("shopping: [milk]\n")
    said = btr("validate", ".")
    assert said.code == 5
    assert "no tree and no manifest" in said.err


def test_a_folder_selects_trees_manifests_and_the_project_file(btr: Btr, here: Path) -> None:
    for name, text in {
        "btr.yaml": "hz: fast\n", "trees/a.yaml": BAD, "trees/deep/b.yaml": GOOD, "skills/s.yaml": "version: 1\n",
        "envs/e.yaml": "a: b\n", ".hidden/c.yaml": BAD, "memory/m.yaml": "a: b\n",
    }.items():  # fmt: skip
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    rows = json.loads(btr("validate", "--json").out)
    assert {Path(r["file"]).name for r in rows} == {"btr.yaml", "a.yaml", "s.yaml"}


def test_a_fault_in_a_shared_subtree_is_shown_once(btr: Btr, here: Path) -> None:
    (here / "trees").mkdir()
    (here / "trees" / "inner.yaml").write_text(BAD)
    for name in ("a", "b"):
        (here / "trees" / f"{name}.yaml").write_text(tree("tree: inner.yaml"))
    assert len(json.loads(btr("validate", "trees", "--json").out)) == 1


def test_a_missing_file_is_a_usage_error_with_a_near_name(btr: Btr, here: Path) -> None:
    (here / "patrol.yaml").write_text(GOOD)
    said = btr("validate", "patrl.yaml")
    assert said.code == 2
    assert said.err == "error: there is no file patrl.yaml\n  help: did you mean patrol.yaml?\n"


def test_colours_are_as_asked(btr: Btr, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.yaml").write_text(BAD)
    assert "\x1b[" not in btr("validate", "a.yaml").out
    assert "\x1b[" in btr("validate", "a.yaml", "--color", "always").out
    monkeypatch.setenv("BTR_COLOR", "always")
    assert "\x1b[" in btr("validate", "a.yaml").out
    assert "\x1b[" not in btr("validate", "a.yaml", "--color", "never").out


def test_the_format_comes_from_flag_environment_project_in_this_order(
    btr: Btr, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "a.yaml").write_text(BAD)
    (here / "btr.yaml").write_text("output_format: concise\n")
    assert btr("validate", "a.yaml").out.startswith("a.yaml:4:3")
    monkeypatch.setenv("BTR_OUTPUT_FORMAT", "github")
    assert btr("validate", "a.yaml").out.startswith("::error")
    assert btr("validate", "a.yaml", "--output-format", "full").out.startswith("error[")


def test_an_old_schema_of_the_editor_is_noted(btr: Btr, here: Path) -> None:
    """Skills of shipped manifests are in it once a tree names them, and no sooner."""
    for folder in ("trees", "skills"):
        (here / folder).mkdir()
    (here / "btr.yaml").write_text("version: 1\n")
    (here / "trees" / "a.yaml").write_text(GOOD)
    assert "old schema" not in btr("validate").err  # there is none
    btr("config", "schema")
    kinds = json.loads((here / "schemas" / "tree.schema.json").read_text())["definitions"]
    assert "kind_go_to" not in kinds
    assert "old schema" not in btr("validate").err
    (here / "trees" / "a.yaml").write_text(tree("go_to: kitchen", head="skills: [house]"))
    said = btr("validate")
    assert (said.code, said.out) == (0, "") and "`btr config schema` renews it" in said.err
    btr("config", "schema")
    assert "old schema" not in btr("validate").err
    kinds = json.loads((here / "schemas" / "tree.schema.json").read_text())["definitions"]
    assert "kind_go_to" in kinds and "kind_slice_with" not in kinds
    (here / "skills" / "own.yaml").write_text("version: 1\nskills: own\nkinds: {beep: {on_resume: repeat}}\n")
    assert "old schema" in btr("validate").err


def test_what_a_snippet_inserts_and_an_editor_shows_is_allowed() -> None:
    """`times` of a retry: 1 or more, or -1; nothing else is listed as all that is allowed."""
    from bt_runtime.language.emit.generated import schemas

    said = json.dumps(schemas()["tree.schema.json"]["definitions"]["kind_retry"])
    assert '"default": 1' in said and "enum" not in said


def test_fix_writes_what_is_surely_meant_and_nothing_else(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text("# kept\n" + tree("seqence:", "\t- chek: 1 > 0", "\t- retry:", "\t    times: 2"))
    (here / "b.yaml").write_bytes(BAD.replace("hi", "h\xef").encode("latin-1"))
    said = btr("validate", "--fix", "a.yaml", "b.yaml")
    assert said.code == 1 and "a.yaml: 3 mended" in said.err
    assert "error[BT015]" in said.out and "lacks its field `child`" in said.out  # a person says which one
    mended = tree("sequence:", "  - check: 1 > 0", "  - retry:", "      times: 2")
    assert (here / "a.yaml").read_text() == "# kept\n" + mended
    assert b"h\xef" in (here / "b.yaml").read_bytes()


def test_fix_of_standard_input_is_refused(btr: Btr, here: Path) -> None:
    """There is nothing to write into, and who asks for a mend is told so."""
    said = btr("validate", "--fix", "-", stdin=tree("seqence:", "  - log: hi").encode())
    assert said.code == 2 and "--fix writes into files" in said.err


def test_the_form_for_programs_carries_the_fixes(btr: Btr, here: Path) -> None:
    (here / "a.yaml").write_text(BAD)
    (row,) = json.loads(btr("validate", "--json", "a.yaml").out)
    (fix,) = row["fixes"]
    assert fix["title"] == "write `sequence`" and fix["sure"] and fix["edits"][0]["text"] == "sequence"
