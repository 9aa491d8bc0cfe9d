"""A real server of the SDK's first generation, in packages of its own: `make old-mcp` puts them into .cache/mcp-1."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import bt_runtime as bt
from bt_runtime.cli import main

PLACE = Path(os.environ.get("BTR_MCP_1") or Path(__file__).parents[4] / ".cache" / "mcp-1")
START = "import mcp_server_sqlite; mcp_server_sqlite.main()"
TREE = """\
version: 1
tree: t
skills: [sqlite]
blackboard: {said: {type: string}}
root:
  sequence:
    - create_table: {query: "create table cups (colour text)"}
    - write_query: {query: "insert into cups values ('red')"}
    - read_query: {query: "select colour from cups", text: "{said}"}
"""


@pytest.mark.skipif(not (PLACE / "mcp_server_sqlite").is_dir(), reason="needs `make old-mcp`: SDK 1 beside SDK 2")
def test_a_server_of_the_first_sdk_is_imported_and_its_tools_are_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A process with other versions of the SDK: greeted in its own version of the protocol, used, and ended."""
    words = ["env", f"PYTHONPATH={PLACE}", sys.executable, "-c", START, "--db-path", str(tmp_path / "x.db")]
    (tmp_path / "btr.yaml").write_text(f"version: 1\nservers: {{sqlite: {{start: 200, command: {words!r}}}}}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["import", "mcp", "sqlite"]) == 0, capsys.readouterr()
    assert main(["validate"]) == 0, capsys.readouterr()
    with bt.Run(bt.load(TREE, project=tmp_path)) as run:
        assert run.spin(seconds=200) is bt.Status.SUCCESS, [node.feedback_message for node in run.nodes()]
        assert "red" in run.blackboard["said"]
