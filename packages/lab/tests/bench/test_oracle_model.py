"""`btr lab eval --strategy oracle`: a world's oracle in the place of an agent's model, whose runs are lessons."""

from __future__ import annotations

import json
from pathlib import Path

from bt_runtime.cli import main


def test_an_oracles_runs_solve_their_tasks_and_are_rows(tmp_path: Path, capsys):
    """Without a model: every task is solved in the tree that was named, and each journal is one row."""
    out = tmp_path / "oracle"
    which = ["--strategy", "oracle,oracle:reactree", "--episodes", "2", "--split", "train"]
    assert main(["lab", "eval", "house", *which, "--journals", "--out", str(out)]) == 0
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert {row["strategy"] for row in rows} == {"oracle", "oracle-reactree"}
    assert all(row["success"] for row in rows) and len(rows) == 4
    assert main(["runs", "export", "--format", "sft", "--runs", str(out / "runs"), "-o", str(tmp_path / "sft")]) == 0
    taught = [json.loads(line) for line in (tmp_path / "sft").read_text().splitlines()]
    assert len(taught) == 4
    assert all(row["messages"][-1]["content"] == "Act: done" for row in taught)
