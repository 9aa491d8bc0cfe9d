"""Teachers as sources of documents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bt_lab.distill import documents
from bt_lab.distill.sources import gathered
from bt_runtime import BtError
from recipes.starter.drills import drills
from recipes.starter.teachers import SHARD, TEACHERS, course, shards

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("teacher", sorted(TEACHERS))
def test_a_course_is_the_same_in_one_go_and_in_parts(teacher: str) -> None:
    whole = list(TEACHERS[teacher](3, 4, 0))
    assert whole == [*TEACHERS[teacher](3, 2, 0), *TEACHERS[teacher](3, 2, 2)]


def test_a_course_is_written_in_shards_and_what_is_there_is_kept(tmp_path: Path) -> None:
    wanted = course(f"drills:{SHARD + 5}", 7)
    made = shards(wanted, tmp_path, str)
    assert [sum(1 for _ in documents.read(path)) for path in made] == [SHARD, 5]
    made[0].write_text(made[1].read_text())
    assert shards(wanted, tmp_path, str) == made
    assert sum(1 for _ in documents.read(made[0])) == 5


def test_a_word_that_is_no_teacher_is_told_with_what_would_be_one() -> None:
    with pytest.raises(BtError, match="no teacher is called `hause`") as fault:
        course("hause:3", 0)
    assert "textcraft" in fault.value.hint
    with pytest.raises(BtError, match="no number of lessons"):
        course("house:many", 0)


def test_the_recipes_own_command_writes_the_shards_that_training_reads(tmp_path: Path) -> None:
    """`python -m recipes.starter`, and `gathered`, of which `btr lab distill --from` is made."""
    asked = [sys.executable, "-m", "recipes.starter", "drills:7", "--seed", "3", "--out", str(tmp_path / "lessons")]
    subprocess.run(asked, cwd=ROOT, check=True, timeout=900)
    (place,) = gathered([str(tmp_path / "lessons")], tmp_path / "work")
    assert [d for shard in documents.shards([place]) for d in documents.read(shard)] == list(drills(3, 7))


def test_every_answer_of_a_drill_about_recipes_stands_above_it() -> None:
    crafted = [
        (drill.text[:start], answer.strip())
        for drill in drills(5, 60)
        for start, end in drill.learn
        if (answer := drill.text[start:end]).startswith(" craft ")
    ]
    assert len(crafted) > 10
    assert all(answer in before for before, answer in crafted)


def test_a_drill_that_counts_stops_when_there_is_enough() -> None:
    counted = 0
    for drill in drills(5, 60):
        for start, end in drill.learn:
            if (answer := drill.text[start:end]).startswith("Think: Made "):
                made, _, wanted = answer.removeprefix("Think: Made ").rstrip(".\n").partition(" of ")
                counted += 1
                assert drill.text[end:].startswith("OK.\nAct: done\n") == (int(made) >= int(wanted))
    assert counted > 10
