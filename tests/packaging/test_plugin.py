"""The package of docs/extending.md: built, installed beside nothing else, and used as ours is; or not installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.journal import Recording
from bt_runtime.journal.folder import journals
from tests.llm.servers import Double, Said

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text("utf-8")
FILES = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
FOLDERS = [ROOT, ROOT / "envs", *(path for path in (ROOT / "packages").iterdir())]  # of the workspace's wheels
LONGEST = 120  # seconds for one command: a guard against hanging
Done = subprocess.CompletedProcess[str]


def test_each_part_is_one_file_of_as_many_lines_as_the_page_says() -> None:
    """A node kind, a world, a model, a store of vectors, a transport and a command come from outside, at this price."""
    rows = re.findall(r"^\| [^|]+ \| `(\w+\.py)` \| (\d+) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 9
    assert {name: int(lines) for name, lines in rows} == {
        name: FILES[f"greenhouse/{name}"].count("\n") for name, _ in rows
    }


def written(folder: Path, *, project: bool) -> Path:
    """The files of the page: those of the package, or of a project with the same things in it."""
    for name, text in FILES.items():
        place = name.removeprefix("greenhouse/") if project and name.endswith((".yaml", ".md")) else name
        if name != ("pyproject.toml" if project else "btr.yaml"):
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment in which only the wheel is installed; what we need ourselves is found where it is."""
    pytest.importorskip("hatchling")
    pytest.importorskip("pip")
    source, made = written(tmp_path_factory.mktemp("source"), project=False), tmp_path_factory.mktemp("made")
    pip, quiet = [sys.executable, "-m", "pip"], ["-q", "--no-deps", "--no-index", "--disable-pip-version-check"]
    for command in (
        [*pip, "wheel", *quiet, "--no-build-isolation", "--wheel-dir", str(made), str(source)],
        [*pip, "--python", str(made / "env"), "install", *quiet, "--find-links", str(made), "greenhouse"],
    ):
        if "install" in command:
            venv.create(made / "env", symlinks=True)
        subprocess.run(command, check=True, capture_output=True, timeout=LONGEST)
    site = next((made / "env").glob("lib/python*/site-packages"))
    (site / "others.pth").write_text(
        "\n".join([*map(str, FOLDERS), *(p for p in sys.path if p.endswith("site-packages"))])
    )
    return made / "env" / "bin" / "python"


def btr(python: Path, folder: Path, *words: str, code: int = 0, **more: str) -> Done:
    env = {k: v for k, v in os.environ.items() if not k.startswith("BTR_")} | {"XDG_STATE_HOME": str(folder), **more}
    command = [str(python), "-P", "-m", "bt_runtime.cli", *words]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_what_somebody_else_s_wheel_brings_is_run_resumed_shown_and_evaluated(python: Path, tmp_path: Path) -> None:
    """A world with its manifest, tree and prompt, a model backend and a node kind, all by installed metadata."""
    told = json.loads(btr(python, tmp_path, "doctor", "--json").stdout)
    mine = [check["said"] for check in told if check["name"] == "plugin"]
    assert mine == [f"{what} `{name}` of greenhouse 1.0" for what, name in (
        ("the suite", "greenhouse"), ("the model", "first"), ("the server flavour", "trellis"), ("the nodes", "pick"),
        ("the skills", "greenhouse"), ("the content", "greenhouse"), ("the embedder", "letters"),
        ("the vector store", "every"), ("the memory", "shelf"), ("the connection", "wire"), ("the monitor", "diary"),
        ("the command", "plants"),
    )]  # fmt: skip
    named = ("run", "tend", "--env", "greenhouse", "--task", "all", "--model", "first", "--runs", "runs")
    begun = btr(python, tmp_path, *named, "--ticks", "2", code=4)
    assert "the finest is the orchid" in begun.stderr
    again = ("runs", "resume", "last", "--runs", "runs")
    assert "questions go to first" in btr(python, tmp_path, *again, code=2).stderr  # nobody knows where it sends them
    assert "SUCCESS" in btr(python, tmp_path, *again, BTR_TRUST=str(tmp_path)).stdout
    btr(python, tmp_path, "view", "last", "--runs", "runs", "--html", "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert '"pick"' in page
    assert all(plant in page.rpartition("Wet: ")[2][:40] for plant in ("fern", "ivy", "orchid", "cactus"))
    asked = ("lab", "eval", "greenhouse", "--strategy", "tend", "--model", "first", "--episodes", "4", "--out", "m")
    btr(python, tmp_path, *asked)
    rows = [json.loads(line) for line in (tmp_path / "m" / "results.jsonl").read_text("utf-8").splitlines()]
    assert [row["success"] for row in rows] == [True] * 4


def test_its_memory_monitor_connection_and_command_are_used_by_their_names(python: Path, tmp_path: Path) -> None:
    """Each is one file of the package, and an option or a word of the command line from then on."""
    assert btr(python, tmp_path, "plants", "--upper").stdout == "FERN, IVY, ORCHID, CACTUS\n"
    assert "plants" in btr(python, tmp_path, "plant", code=2).stderr
    assert "--diary [FILE]" in btr(python, tmp_path, "run", "--help").stdout
    named = ("run", "tend", "--env", "greenhouse", "--task", "all", "--model", "first", "--runs", "runs")
    more = ("--diary", "day.txt", "--ros", "wire", "--memory", "shelf:north")
    btr(python, tmp_path, *named, *more)
    assert "pick SUCCESS" in (tmp_path / "day.txt").read_text("utf-8")
    assert "no connection is called `wir`" in btr(python, tmp_path, *named, "--ros", "wir", code=2).stderr
    (journal,) = journals(tmp_path / "runs")
    assert Recording(journal).head["given"]["memory"] == {"name": "shelf:north", "identity": "shelf-north"}
    taught = {"goal": "water it", "text": "Act: it\n", "end": "success"}
    (tmp_path / "taught.jsonl").write_text(json.dumps(taught) + "\n")

    def memory(action: str, *words: str, code: int = 0) -> Done:
        return btr(python, tmp_path, "memory", action, *words, "--store", "memory.sqlite", code=code)

    memory("import", "taught.jsonl")
    assert "letters:1" in memory("reembed", "--embedder", "letters").stdout
    memory("reembed", "--vectors", "every")
    assert "water it" in memory("search", "water it", "--failed").stdout
    assert "no vector store is called `ever`" in memory("reembed", "--vectors", "ever", code=2).stderr
    assert "nothing is to be changed" in memory("reembed", code=2).stderr


def test_each_part_passes_the_conformance_kit(python: Path, tmp_path: Path) -> None:
    program = "from greenhouse.tests import test_everything_holds as test; test()"
    command = [str(python), "-P", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LONGEST)
    assert done.returncode == 0, done.stderr


def test_a_plugin_s_model_is_looked_at_and_shown_as_ours(python: Path, tmp_path: Path) -> None:
    """The doctor lets it choose once, and `view prompt` shows what it is asked; one of a folder is asked by neither
    unless the folder is trusted."""
    told = [check["said"] for check in json.loads(btr(python, tmp_path, "doctor", "first", "--json").stdout)]
    assert "asked as a base model" in told and any(said.startswith("it chose one of two in ") for said in told)
    named = ("view", "prompt", "tend", "--env", "greenhouse", "--model", "first")
    assert "which is the finest?" in btr(python, tmp_path, *named).stdout
    assert "tells no log-probabilities" in btr(python, tmp_path, *named, "--scores", code=2).stderr
    own = written(tmp_path / "own", project=True)
    report = btr(python, own, "doctor", "greenhouse/model.py:First", "--json", code=1).stdout
    assert "it chose one of two" not in report and "was not asked" in report


def trellis(path: str, body: dict[str, Any]) -> Said:
    """A server of the page's flavour: it takes the options as a list, and names the first one."""
    if path == "/v1/models":
        return 200, {"data": [{"id": "vine-1b", "owned_by": "trellis"}]}
    if path != "/v1/chat/completions" or "response_format" in body:
        return 404, {"error": {"message": "Not Found"}}
    text = body.get("choices", ["fine"])[0]
    return 200, {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


def test_a_server_of_an_installed_flavour_is_known_by_it_and_asked_as_it_says(python: Path, tmp_path: Path) -> None:
    with Double(trellis) as double:
        told = json.loads(btr(python, tmp_path, "doctor", double.address, "--json").stdout)
        assert any("answers: trellis" in check["said"] for check in told)
        named = ("run", "tend", "--env", "greenhouse", "--task", "all", "--model", double.address, "--runs", "runs")
        assert "the finest is the orchid" in btr(python, tmp_path, *named).stderr
        assert ["orchid", "fern"] in [body.get("choices") for _, body in double.asked]
        assert {body["model"] for _, body in double.asked} == {"vine-1b"}


def test_the_same_files_in_a_project_need_no_installing_but_its_trust(tmp_path: Path) -> None:
    """`path.py:Name` stands for the kind, the world and the model, and nothing of it is imported unless it may be."""
    folder, python = written(tmp_path / "project", project=True), Path(sys.executable)
    refused = btr(python, folder, "run", "tend", code=2)
    assert "greenhouse/nodes.py:PICK" in refused.stderr and "not trusted" in refused.stderr
    assert "not trusted" in btr(python, folder, "validate", "trees/tend.yaml", code=1).stdout
    trusted = {"BTR_TRUST": str(folder)}
    btr(python, folder, "validate", "--strict", **trusted)
    btr(python, folder, "run", "tend", "--ticks", "2", code=4, **trusted)
    assert "SUCCESS" in btr(python, folder, "runs", "resume", "last", **trusted).stdout
