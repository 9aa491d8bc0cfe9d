"""The released ReAcTree trajectories."""

from __future__ import annotations

import io
import os
import re
import tarfile
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bt_runtime import BtError
from bt_runtime.memory import WorkingMemory, reactree

Make = Callable[..., Any]

DATA = Path(os.environ.get("BTR_DATA") or Path(__file__).parents[2] / "../shared/data") / "reactree"
data = pytest.mark.skipif(not DATA.is_dir(), reason=f"no trajectories at {DATA}; set BTR_DATA")

ROOT = """Your task is to: Put the cup on the table.
Wash the plate.
You are in the house, and there are 2 rooms: kitchen (1), bedroom (1).
Think: Two things to do.
OK.
Expand:
- control flow: sequence
- subgoals: move the cup, wash the plate"""
LEAF = """Your primary goal is to: Put the cup on the table.
Your task is to: move the cup
You are in the house.
Act: go to table 1
You arrive at the table (1).
Act: {}"""


def packed(path: Path, files: dict[str, str | bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            raw = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
    return path


def test_files_become_experiences(tmp_path: Path) -> None:
    """Goal, ending, task, kind, run and place come out of text and name; nothing is dropped without a word."""
    base = "resource/wah/em_llm/reactree_wm/text_traj/007"
    archive = packed(
        tmp_path / "x.tar.gz",
        {
            f"{base}/7_setup_table_dec001_depth01.txt": ROOT,
            f"{base}/7_setup_table_dec003_depth03.txt": LEAF.format("done"),
            f"{base}/7_setup_table_dec009_depth03.txt": LEAF.format("failure") + "\n",
            f"{base}/7_setup_table_dec011_depth03.txt": LEAF.format("look") + "\nMax steps",
            "resource/wah/sys_prompt/reactree.txt": "You are a robot",
            f"{base}/notes.txt": "no goal here",
            f"{base}/bytes.txt": b"\xff\xfe",
            f"{base}/image.png": b"\x89PNG",
        },
    )
    imported = reactree.read([archive])
    assert imported.ends == {"expand": 1, "success": 1, "failure": 2}
    assert [Path(name).name for name, _ in imported.refused] == ["bytes.txt", "notes.txt"]
    assert (imported.files, len(imported.prompts)) == (7, 1)
    root = imported.experiences[0]
    assert root.goal == "Put the cup on the table.\nWash the plate."
    assert (root.namespace, root.task, root.kind, root.run, root.place, root.verdict) == (
        "wah/reactree_wm", "7_setup_table", "setup_table", "llm", "dec001_depth01", True,
    )  # fmt: skip


def test_a_whole_task_comes_back_in_order(tmp_path: Path, remember: Make) -> None:
    """At the level of tasks one root brings all agents of its run, in the order of the tree."""
    names = ["7_setup_table_dec001_depth01", "7_setup_table_dec002_depth03", "7_setup_table_dec010_depth03"]
    for name, text in zip(names, [ROOT, LEAF.format("done"), LEAF.format("failure")], strict=True):
        (tmp_path / f"{name}.txt").write_text(text)
    memory = remember(*reactree.read([tmp_path]).experiences)
    found = memory.retrieve("put the cup on the table", namespace=None, level="task", failed=True)
    assert [e.end for e in found.taken] == ["expand", "success", "failure"]


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    """Missing, broken and oversized archives are errors in words."""
    broken = tmp_path / "broken.tar.gz"
    whole = packed(tmp_path / "whole.tar.gz", {"a/em_llm/react/b.txt": LEAF * 500}).read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    large = packed(tmp_path / "large.tar.gz", {"a.txt": b"x" * (2 << 20)})
    for path, words in ((tmp_path / "none", "cannot read"), (broken, "cannot read"), (large, "has 2097152 bytes")):
        with pytest.raises(BtError, match=words):
            reactree.read([path])


@pytest.mark.data
@data
def test_all_released_files_are_accounted_for(remember: Make) -> None:
    """2,122 files: 2,118 trajectories with known endings, 4 prompts; a second import adds nothing."""
    imported = reactree.read([DATA / "wah_human_and_em_trajectories.tar.gz"])
    assert (imported.files, len(imported.prompts), imported.refused) == (2122, 4, [])
    assert imported.ends == {"success": 1119, "failure": 109, "expand": 890}
    memory = remember(embedder="hashing")
    assert sum(memory.add(imported.experiences)) == 2118
    assert memory.add(imported.experiences).new == 0
    kept = Counter(e.uid for e in memory.store.each())
    assert set(kept) == {e.uid for e in imported.experiences}


@pytest.mark.data
@data
def test_our_working_memory_recalls_what_theirs_did() -> None:
    """Fed with the released observations, at least 96 of 100 recalls are those of the released working memory."""
    same = asked = 0
    for name in ("wah_human_and_em_trajectories.tar.gz", "alfred_human_and_em_trajectories.tar.gz"):
        for e in reactree.read([DATA / name]).experiences:
            if not e.namespace.endswith("/react_wm"):
                continue
            memory = WorkingMemory({})
            rows = e.text.split("\n")
            memory.observe("", next(row for row in rows if row.startswith("You are in the house")))
            for row, answer in pairwise(rows):
                if not row.startswith("Act: "):
                    continue
                ours = memory.answer(row[5:])
                if ours is None:
                    memory.observe(row[5:], answer)
                else:
                    asked += 1
                    theirs = re.sub(r"\((\d+)\)", r"\1", answer).strip()
                    same += theirs == ours.replace(", but not when you looked there again", "")
    assert asked > 1000
    assert same / asked >= 0.96
