"""What an episode is shown of a memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bt_lab.run.readonly_memory import ReadonlyMemory
from bt_runtime.memory import Episodes
from bt_runtime.memory.experience import Experience

pytestmark = pytest.mark.memory
pytest.importorskip("numpy")


@pytest.fixture
def episodes(tmp_path: Path) -> Iterator[Episodes]:
    """One task of two agents, ten words each."""
    told = [("bring the cup to the sink", "root"), ("find the cup", "root/0")]
    with Episodes.open(tmp_path / "memory.db", count=lambda text: len(text.split())) as opened:
        opened.add(
            Experience(goal, f"{goal} {' and so on' * 3}"[:200], "success", task="t", kind="k", run="r", place=place,
                       verdict=True)
            for goal, place in told
        )  # fmt: skip
        yield opened


def shown(shelf: ReadonlyMemory, level: str = "agent") -> list[str]:
    job = shelf.ask("find the cup", 2000, level=level)
    while (found := job.poll()) is None:
        pass
    return [experience.goal for experience in found.taken]


def test_experiences_take_no_more_tokens_than_the_evaluation_allows(episodes: Episodes) -> None:
    assert len(shown(ReadonlyMemory(episodes))) == 2
    assert shown(ReadonlyMemory(episodes, tokens=12)) == ["find the cup"]
    assert shown(ReadonlyMemory(episodes, tokens=5)) == []


def test_the_evaluation_says_of_which_level_they_are_where_it_says_so(episodes: Episodes) -> None:
    """Of agents the nearest comes first; of a task, its agents as they were."""
    assert shown(ReadonlyMemory(episodes))[0] == "find the cup"
    assert shown(ReadonlyMemory(episodes, "task"))[0] == "bring the cup to the sink"
    assert shown(ReadonlyMemory(episodes), "task")[0] == "bring the cup to the sink"


def test_the_evaluation_refuses_experiences_of_goals_that_are_not_alike(episodes: Episodes) -> None:
    """Below the evaluation's similarity nothing is shown, whatever the tree asks for."""
    assert shown(ReadonlyMemory(episodes, similarity=0.9)) == ["find the cup"]
    assert len(shown(ReadonlyMemory(episodes, similarity=0))) == 2
