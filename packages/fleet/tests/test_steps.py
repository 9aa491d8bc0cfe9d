"""docs/fleet.md is true: its project, its commands and its program, one after the other, on this machine's loopback."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="the extra fleet is not installed")

from bt_fleet.cli.join import lacks
from bt_fleet.server.server import free_port
from bt_runtime.language.project import child, trust

WHOLE = (Path(__file__).parents[3] / "docs" / "fleet.md").read_text("utf-8")
PAGE = WHOLE.partition("\n## Keys")[0]  # what follows is typed in other tests
FILES = re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```$', PAGE, re.MULTILINE | re.DOTALL)
SHELL = [block.splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]
PROGRAM = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
STAYS = ("btr fleet up", "btr fleet join")  # what runs until it is ended


class Laptop:
    """Types the page's lines: one that stays is awaited until it says that it is there, all others to their end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port("127.0.0.1")
        url = f"nats://127.0.0.1:{self.port}"
        self.environment = child.environment(BTR_FLEET=url, BTR_TRUST=str(folder))
        self._stay: list[subprocess.Popen[str]] = []

    def words(self, line: str) -> list[str]:
        import shlex

        words = shlex.split(line, comments=True)
        if line.startswith("btr fleet up"):
            words += ["--port", str(self.port), "--sync", "1m"]
        words = [self.environment["BTR_FLEET"] if word == "nats://station:4222" else word for word in words]
        words = [str(self.folder) if word == "/srv/robot" else word for word in words]
        return [sys.executable, "-P", "-m", "bt_runtime.cli", *words[1:]]

    def typed(self, line: str) -> str:
        if line.startswith(STAYS):
            process = subprocess.Popen(self.words(line), cwd=self.folder, env=self.environment, stderr=subprocess.PIPE,
                                       text=True)  # fmt: skip
            self._stay.append(process)
            assert process.stderr is not None
            said = process.stderr.readline()
            assert "the fleet is up" in said or "connected" in said, said
            return said
        done = subprocess.run(self.words(line), cwd=self.folder, env=self.environment, capture_output=True, text=True,
                              timeout=60)  # fmt: skip
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def close(self) -> None:
        for process in reversed(self._stay):
            process.terminate()
        for process in self._stay:
            process.wait(30)
            assert process.stderr is not None
            process.stderr.close()


@pytest.fixture
def laptop(tmp_path: Path):
    for name, text in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    made = Laptop(tmp_path)
    yield made
    made.close()


def test_the_first_steps_of_the_page(laptop: Laptop, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one laptop: up, join, and each line that sends work or looks at it. The notes say what the robots did."""
    begin, send = SHELL[:2]
    for line in begin:
        laptop.typed(line)
    said = {line.split("#")[0].strip(): laptop.typed(line) for line in send}
    notes = (laptop.folder / "notes.txt").read_text().split()
    assert sorted(notes) == ["hello", "low", "mine"]
    assert "success by r2" in next(text for line, text in said.items() if "--to r2" in line)
    assert "sent before" in said["btr fleet send note --set text=hello --id first"]
    assert said['btr fleet halt --all --reason "a person is in the cell"'] == "halted: r1 r2\n", "there are no others"
    shown = laptop.typed("btr runs show first.btr")
    assert "hello" in shown
    monkeypatch.setenv("BTR_FLEET", laptop.environment["BTR_FLEET"])
    program = PROGRAM[0].replace("Fleet()", f"Fleet({laptop.environment['BTR_FLEET']!r})")
    exec(compile(program, "docs/fleet.md", "exec"), {"__name__": "page"})


def test_a_robot_without_a_project_says_so(laptop: Laptop) -> None:
    """`join` names what is missing, at once; `send --wait` says why a task waits, and goes on when it is mended."""
    (laptop.folder / "btr.yaml").unlink()
    join = "btr fleet join --robot r1 --project ."
    done = subprocess.run(laptop.words(join), cwd=laptop.folder, env=laptop.environment, capture_output=True, text=True,
                          timeout=60)  # fmt: skip
    assert (done.returncode != 0, "has no btr.yaml" in done.stderr) == (True, True)
    (laptop.folder / "btr.yaml").touch()
    laptop.typed("btr fleet up")
    laptop.typed(join)
    words = laptop.words("btr fleet send other --set text=late --id late --wait")
    with subprocess.Popen(words, cwd=laptop.folder, env=laptop.environment, stderr=subprocess.PIPE, text=True) as sent:
        assert sent.stderr is not None
        assert any("late waits: r1: there is no tree `other` in its project" in line for line in sent.stderr)
        tree = (laptop.folder / "trees" / "note.yaml").read_text()
        (laptop.folder / "trees" / "other.yaml").write_text(tree.replace("tree: note", "tree: other"))
        assert any("success by r1" in line for line in sent.stderr)
        assert sent.wait(60) == 0


def test_what_a_robots_project_lacks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project without trees, and one whose Python is not trusted, are told before the robot joins."""
    monkeypatch.setattr(trust, "knows", lambda folder: False)
    (tmp_path / "btr.yaml").touch()
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "cell.py").touch()
    none, foreign = lacks(tmp_path, versions=False)
    assert "there are no trees" in none
    assert f"btr trust {tmp_path}" in foreign
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "note.yaml").touch()
    (tmp_path / "skills" / "cell.py").unlink()
    assert [*lacks(tmp_path, versions=False)] == []


def test_three_machines_of_the_page(laptop: Laptop) -> None:
    """The station listens for other machines, a robot names it, and so does whoever sends."""
    for line in SHELL[2]:
        laptop.typed(line)


def test_what_the_page_names_is_there() -> None:
    """Every word of `btr fleet` stands on the page."""
    from bt_fleet.cli.fleet import WORDS

    assert [word for word in WORDS if f"fleet {word}" not in WHOLE and f"`{word} " not in WHOLE] == []
