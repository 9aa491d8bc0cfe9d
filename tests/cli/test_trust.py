"""What a folder brings is run by few commands, from within the project only, and after a person has said yes once."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bt_runtime import BtError, Faults, Run, load
from bt_runtime.cli import COMMANDS, RUNNING
from bt_runtime.language.project import child, trust
from tests.support.shadows import SHADOWS

PAYLOAD = "import pathlib\nimport py_trees\n(pathlib.Path({mark!r}) / 'EXECUTED').write_text(__name__)\n"
SKILLS = "version: 1\nskills: s\nkinds:\n  go: {impl: 's.py:go'}\n"
TREE = "version: 1\ntree: t\nskills: [s]\nroot:\n  sequence: [go: {}, py: 's.py:Node']\n"
CODE = PAYLOAD + "def go():\n    return True\nclass Node(py_trees.behaviours.Success):\n    pass\n"


@pytest.fixture
def project(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with Python, which nobody has said yes to; whatever of it is executed leaves a trace beside it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("BTR_TRUST")
    root = tmp_path / "project"
    for folder in ("trees", "skills"):
        (root / folder).mkdir(parents=True)
    (root / "btr.yaml").write_text("version: 1\nseconds: 5\n")
    (root / "skills" / "s.yaml").write_text(SKILLS)
    (root / "trees" / "t.yaml").write_text(TREE)
    for folder in ("trees", "skills"):
        (root / folder / "s.py").write_text(CODE.format(mark=str(tmp_path)))
    for name in SHADOWS:
        (root / f"{name}.py").write_text(PAYLOAD.format(mark=str(tmp_path)))
    monkeypatch.chdir(root)
    return root


def executed(root: Path) -> bool:
    return (root.parent / "EXECUTED").exists()


# Which command runs what -------------------------------------------------------------------------------

WORDS: dict[str, list[list[str]]] = {
    "init": [["--list"], ["new"]],
    "validate": [[], ["trees/t.yaml"], ["skills/s.yaml"]],
    "memory": [["list"], ["stats"], ["path"]],
    "view": [["last", "-o", "page.html"], ["nothing"]],
    "view top": [["last", "--once"]],
    "runs": [["list"], ["show", "last"], ["export", "last"]],
    "view render": [["t"], ["t", "--format", "svg"]],
    "config schema": [[], ["--one", "tree"]],
    "explain": [[], ["BT049"], ["go"], ["kinds"]],
    "fmt": [["trees/t.yaml"], ["--check"]],
    "lab finetune": [["--base", "nothing.gguf", "--from", "nothing", "--out", "x.gguf"]],
    "edit": [["nothing"]],  # served in packages/author/tests/edit
    "serve lsp": [["--help"]],  # spoken to in packages/author/tests/editor, also in a folder that is not trusted
    "serve mcp": [["--help"]],  # spoken to in packages/author/tests/mcp, also in a folder that is not trusted
    "attach": [["nothing"]],
    "import": [["nothing.xml", "--out", "new"]],
    "export": [["t", "--format", "btcpp"]],
    "view diff": [["t", "trees/t.yaml"], ["t", "btr:door"]],
    "skills": [["suggest"]],
    "plan": [["near x", "--skills", "s"], ["near x", "--skills", "house", "--out", "new.yaml"]],
    "new": [["test", "t"], ["skill", "new"], ["tree", "parts/new"]],
    "fleet": [["ls", "--server", "nats://127.0.0.1:1"], ["send", "t", "--server", "nats://127.0.0.1:1"]],
    "trust": [["--list"]],
    "config": [[]],
    "doctor": [[]],
    "lab": [[], ["nothing"]],
    "serve": [[], ["nothing"]],
    "config completion": [["bash"]],
}


def test_every_command_runs_trees_or_is_tried_here() -> None:
    """A new command has to be put into one of the two, and into the table of docs/trust.md."""
    assert WORDS.keys() | RUNNING == COMMANDS.keys()
    assert not WORDS.keys() & RUNNING
    page = (Path(__file__).parents[2] / "docs" / "trust.md").read_text("utf-8")
    runs, _, nothing = page.partition("## Commands that run nothing")
    told = [set(re.findall(r"^\| `btr ([a-z]+(?: [a-z]+)?)", part, re.MULTILINE)) for part in (runs, nothing)]
    assert told == [RUNNING, set(WORDS)]


@pytest.mark.parametrize("command", sorted(WORDS))
def test_a_command_that_runs_no_trees_executes_nothing_of_a_folder(command, project, btr, monkeypatch) -> None:
    """Trusted or not: of the project, its manifests, its journal and of modules that lie about, nothing is imported."""
    monkeypatch.chdir(project)
    with Run(load("version: 1\ntree: r\nroot:\n  log: hello\n"), journal=project / "runs") as run:
        run.spin()
    trust.remember(project)
    for words in WORDS[command]:
        said = btr(command, *words)
        assert "internal error" not in said.err
        assert not executed(project), (command, words)


def test_the_doctor_and_the_worker_of_a_model_find_no_module_in_the_folder(project) -> None:
    """As a person starts it: a process of its own, which starts others."""
    words = [sys.executable, "-P", "-m", "bt_runtime.cli", "doctor", "starter"]
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=900, env=child.environment())
    assert "bt_runtime" in done.stdout
    assert not executed(project)


# Asked once --------------------------------------------------------------------------------------------


def test_a_folder_that_nobody_has_said_yes_to_is_refused_with_the_way_out(project, btr) -> None:
    said = btr("run", "t")
    assert said.code == 2
    assert "is not trusted" in said.err and "s.py:go" in said.err
    assert f"btr trust {project}" in said.err and "BTR_TRUST=" in said.err
    assert not executed(project)


@pytest.mark.parametrize("way", ["trust", "environment", "above"])
def test_once_trusted_it_runs_without_a_question(project, btr, monkeypatch, way) -> None:
    if way == "environment":
        monkeypatch.setenv("BTR_TRUST", str(project))
    else:
        assert btr("trust", *([project.parent] if way == "above" else [])).code == 0
    said = btr("run", "t")
    assert (said.code, executed(project)) == (0, True), said.err


def test_trust_is_listed_and_taken_back(project, btr) -> None:
    assert btr("trust").out == f"trusted: {project}\n"
    assert btr("trust", "--list").out == f"{project}\n"
    assert btr("trust", "--remove").code == 0
    assert btr("trust", "--list").out == ""
    assert btr("trust", "--remove").code == 2
    assert btr("run", "t").code == 2
    assert not executed(project)


def test_the_store_is_the_persons_own_and_not_a_folders(project, monkeypatch) -> None:
    """Nothing that lies in a folder says that it is trusted; a relative path in the environment would."""
    (project / "trust.json").write_text(f'{{"folders": {{"{project}": ""}}}}')
    assert not trust.knows(project)
    trust.remember(project)
    assert trust.place().is_relative_to(project.parent / "state")
    assert trust.place().stat().st_mode & 0o077 == 0
    monkeypatch.setenv("BTR_TRUST", ".")
    with pytest.raises(BtError, match="not an absolute path"):
        trust.knows(project)


def test_a_folder_without_python_is_never_asked_about(project, btr) -> None:
    (project / "trees" / "plain.yaml").write_text(
        "version: 1\ntree: plain\nroot:\n  sequence: [log: hello, py: 'py_trees.behaviours:Success']\n"
    )
    assert btr("run", "plain").code == 0
    assert not executed(project)


def test_a_project_that_was_made_here_is_trusted(project, btr) -> None:
    assert btr("init", "../mine").code == 0
    assert trust.knows(project.parent / "mine")


def test_an_address_that_a_folder_names_is_not_asked_before_the_folder_is_trusted(project, btr) -> None:
    (project / "btr.yaml").write_text("version: 1\nmodel: http://models.invalid:8000\n")
    said = btr("run", "react", "--env", "house")
    assert said.code == 2 and "questions go to http://models.invalid:8000" in said.err
    assert "is not trusted" in btr("doctor").out


@pytest.mark.parametrize("line", ["memory: ../elsewhere.sqlite", "runs: /tmp/elsewhere"])
def test_nothing_is_written_where_a_folder_says_beyond_itself_before_it_is_trusted(project, btr, line) -> None:
    (project / "btr.yaml").write_text(f"version: 1\n{line}\n")
    (project / "trees" / "plain.yaml").write_text("version: 1\ntree: plain\nroot: {log: hello}\n")
    said = btr("run", "plain")
    assert said.code == 2 and f"{line.partition(':')[0]} is kept in" in said.err
    assert not (project.parent / "elsewhere.sqlite").exists()


def test_the_python_interface_asks_nobody(project) -> None:
    with Run(load("t", project=project)) as run:
        run.spin()
    assert executed(project)


@pytest.mark.parametrize(("answer", "runs"), [("y", True), ("n", False), ("", False)])
def test_at_a_terminal_there_is_one_question_and_its_answer_is_kept(project, answer, runs) -> None:
    def once(said: str) -> tuple[int, str]:
        master, slave = pty.openpty()
        words = [sys.executable, "-P", "-m", "bt_runtime.cli", "run", "t", "--plain"]
        environment = child.environment(NO_COLOR="1")
        process = child.start(words, environment, cwd=project, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        os.write(master, f"{said}\n".encode())
        heard = b""
        try:
            while part := os.read(master, 65536):
                heard += part
        except OSError:  # the other side is closed
            pass
        os.close(master)
        return process.wait(60), heard.decode()

    code, heard = once(answer)
    assert heard.count("Trust it, now and later?") == 1
    assert (code, executed(project)) == ((0, True) if runs else (2, False))
    if runs:
        assert "Trust it" not in once("")[1]


# From within the project only ----------------------------------------------------------------------------

OUTSIDE = [
    "../../x.py:f", "/tmp/x.py:f", "os:system", "subprocess:run", "posix:system", "builtins:exec", "os.path:join",
    "yaml:load", "pytest:main",
]  # fmt: skip


@pytest.mark.parametrize("reference", OUTSIDE)
def test_python_from_elsewhere_is_refused_when_it_is_loaded(project, btr, reference) -> None:
    """By `validate` too, at the place where it is named; for skills and for `py` nodes, in trees and in grafts."""
    (project.parent / "x.py").write_text(PAYLOAD.format(mark=str(project.parent)))
    (project / "skills" / "bad.yaml").write_text(f"version: 1\nskills: bad\nkinds:\n  go: {{impl: '{reference}'}}\n")
    (project / "trees" / "skill.yaml").write_text("version: 1\ntree: skill\nskills: [bad]\nroot:\n  go: {}\n")
    (project / "trees" / "node.yaml").write_text(f"version: 1\ntree: node\nroot:\n  py: '{reference}'\n")
    trust.remember(project)
    for name, line in (("skill", "skills/bad.yaml:4:"), ("node", "trees/node.yaml:4:")):
        for words in (("validate", f"trees/{name}.yaml"), ("run", name)):
            said = btr(*words)
            assert said.code in (1, 2)
            assert "BT049" in said.out + said.err and line in said.out + said.err and "allow" in said.out + said.err
    assert "BT049" in btr("validate", "skills/bad.yaml").out
    with Run(load("version: 1\ntree: t\nroot:\n  sequence: [wait: 1]\n")) as run, pytest.raises(Faults, match="BT049"):
        run.replace("/t/0", f"py: '{reference}'\n")
    assert not executed(project)


def test_a_link_out_of_the_project_is_outside(project, btr) -> None:
    (project.parent / "x.py").write_text(CODE.format(mark=str(project.parent)))
    (project / "skills" / "s.py").unlink()
    (project / "skills" / "s.py").symlink_to(project.parent / "x.py")
    trust.remember(project)
    assert "BT049" in btr("run", "t").err
    assert not executed(project)


def test_what_the_project_file_allows_is_allowed(project, btr, monkeypatch) -> None:
    """Folders by their paths and packages by their names; nothing else comes with them."""
    shared, package = project.parent / "shared", project.parent / "site" / "their_package"
    for folder in (shared, package):
        folder.mkdir(parents=True)
    (shared / "x.py").write_text("def f():\n    return True\n")
    (package / "__init__.py").write_text("def f():\n    return True\n")
    monkeypatch.syspath_prepend(str(package.parent))
    kinds = "  one: {impl: '../../shared/x.py:f'}\n  two: {impl: 'their_package:f'}\n"
    (project / "skills" / "both.yaml").write_text(f"version: 1\nskills: both\nkinds:\n{kinds}")
    tree = "version: 1\ntree: both\nskills: [both]\nroot:\n  sequence: [one: {}, two: {}]\n"
    (project / "trees" / "both.yaml").write_text(tree)
    trust.remember(project)
    assert btr("run", "both").err.count("BT049") == 2
    (project / "btr.yaml").write_text("version: 1\nallow: {python: [their_package, ../shared]}\n")
    said = btr("run", "both")
    assert said.code == 0, said.err
    assert "their_package" in btr("config").out


@pytest.mark.parametrize("allow", ["all", "[os]", "{python: os}", "{python: [1]}", "{pythn: [a]}"])
def test_what_cannot_be_meant_by_allow_is_a_fault(project, btr, allow) -> None:
    (project / "btr.yaml").write_text(f"version: 1\nallow: {allow}\n")
    assert "BT060" in btr("validate", "btr.yaml").out


def test_a_package_installed_from_the_project_belongs_to_it_and_its_virtual_environment_does_not(
    project, btr, monkeypatch
) -> None:
    for place in ("src/of_ours", ".venv/lib/site-packages/of_theirs"):
        (project / place).mkdir(parents=True)
        (project / place / "__init__.py").write_text("def f():\n    return True\n")
        monkeypatch.syspath_prepend(str((project / place).parent))
    for name in ("of_ours", "of_theirs"):
        (project / "skills" / f"{name}.yaml").write_text(
            f"version: 1\nskills: {name}\nkinds:\n  go: {{impl: '{name}:f'}}\n"
        )
        (project / "trees" / f"{name}.yaml").write_text(
            f"version: 1\ntree: {name}\nskills: [{name}]\nroot:\n  go: {{}}\n"
        )
    trust.remember(project)
    assert btr("run", "of_ours").code == 0
    assert "BT049" in btr("run", "of_theirs").err
