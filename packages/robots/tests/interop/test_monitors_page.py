"""Every command of docs/monitors.md does what the page says."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[4] / "docs" / "monitors.md").read_text("utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def free() -> int:
    """A port beside which the next is free too."""
    while True:
        with socket.socket() as one, socket.socket() as two:
            one.bind(("127.0.0.1", 0))
            try:
                two.bind(("127.0.0.1", one.getsockname()[1] + 1))
            except OSError:
                continue
            return int(one.getsockname()[1])


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split()[3])
def test_the_commands_of_the_page_work_together(block: str, tmp_path: Path) -> None:
    """The first runs a tree, the others look at it; only ports and how long the tree runs are others here."""
    pytest.importorskip("zmq")
    first, *others = [line.removeprefix("$ ") for line in block.splitlines()]
    port, own = str(free()), str(Path(sys.executable).parent)
    words = [sys.executable, "-m", "bt_runtime.cli", *first.split()[1:], "--set", "count=60"]
    words = [port if word == "9464" else word for word in words] + ([port] if words[-3] == "--groot2" else [])
    words = [w for w in words if w != port]
    at = words.index("--groot2" if "--groot2" in words else "--metrics")
    words.insert(at + 1, port)
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as run:
        try:
            assert run.stderr is not None and any(port in line for line in run.stderr)
            for line in others:
                name, *rest = line.replace("9464", port).split()
                tool = shutil.which(name, path=f"{own}:/usr/bin:/bin") or shutil.which(name)
                if tool is None:
                    pytest.skip(f"{name} is not installed")
                asked = [tool, *rest, *(["--port", port] if name == "btview" else [])]
                done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=True)
                assert re.search(r"RUNNING|SUCCESS|frames|bt_ticks_total\{.*\} \d", done.stdout), done.stdout
        finally:
            run.kill()


def test_the_python_of_the_page_runs() -> None:
    pytest.importorskip("zmq")
    names: dict[str, object] = {"__name__": "page"}
    for text in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(text, "docs/monitors.md", "exec"), names)


def test_there_are_commands() -> None:
    assert len(BLOCKS) == 2
