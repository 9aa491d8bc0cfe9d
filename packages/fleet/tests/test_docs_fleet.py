"""What docs/fleet-keys.md shows is done, on loopback, as it stands there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("nats", reason="needs the fleet extra")
pytest.importorskip("nacl", reason="needs the fleet extra")
pytest.importorskip("cryptography", reason="needs the fleet extra")

from bt_fleet.server.server import free_port
from bt_runtime.language.project import child
from packages.fleet.tests.threads import until

PAGE = (Path(__file__).parents[3] / "docs" / "fleet-keys.md").read_text("utf-8")
BLOCK = re.compile(r"^```(sh|yaml) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif("FLEET_STEPS" not in os.environ, reason="a dozen processes: make fleet ONLY=steps")
def test_each_step_of_the_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, a server with TLS, a robot with its own key, a task with shared entries and a lock by a signed version."""
    port = free_port("127.0.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "btr").write_text(f'#!/bin/sh\nexec {sys.executable} -m bt_runtime.cli "$@"\n')
    (tmp_path / "bin" / "btr").chmod(0o755)
    for name, value in {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "BTR_FLEET": f"tls://127.0.0.1:{port}",
        "BTR_TRUST": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"),
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    for name in ("robot/btr.yaml", "robot/skills/hall.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("version: 1\n" if name.endswith("yaml") else "def ride() -> None: ...\n")
    for _, note, body in (block for block in BLOCK.findall(PAGE) if block[0] == "yaml"):
        (tmp_path / note).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / note).write_text(body)
    shutil.copytree(tmp_path / "robot", tmp_path / "new")
    running: list[subprocess.Popen[bytes]] = []
    said = ""
    try:
        for _, note, body in (block for block in BLOCK.findall(PAGE) if block[0] == "sh"):
            for line in body.splitlines():
                words = ["sh", "-c", line.replace("btr fleet up", f"btr fleet up --port {port}")]
                if note == "background":
                    log = (tmp_path / f"{len(running)}.log").open("wb")
                    running.append(child.start(words, cwd=tmp_path, stdout=log, stderr=log, start_new_session=True))
                    log.close()
                    word = ("the fleet is up", "connected")[len(running) - 1]
                    file = tmp_path / f"{len(running) - 1}.log"
                    until(lambda word=word, file=file: word in file.read_text())
                    continue
                done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=900)
                logs = "".join(file.read_text() for file in sorted(tmp_path.glob("*.log")))
                assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}{logs}"
                said += done.stdout + done.stderr
    finally:
        for process in reversed(running):
            os.killpg(process.pid, signal.SIGTERM)
            child.end(process, patience=10.0, group=True)
    assert "robot r8 is revoked\nthe server has read its keys again" in said
    assert "success by r7" in said
    assert re.search(r"gate +[0-9a-f]{32} +tried +0 of 1 failed +r7", said)
    assert "ann deploys" in said or "deploys" in said
