"""The outcome of one episode: one line of results.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bt_runtime.types import Json


@dataclass(slots=True)
class Outcome:
    strategy: str
    task: str
    number: int  # number of the case
    kind: str = ""
    goal: str = ""
    depth: int = 0  # depth by the kind, else the number of subgoals
    seed: int = 0
    success: bool = False  # the goal was reached, by the world's verdict
    met: int = 0
    total: int = 0
    status: str = ""  # the tree's status; "": it did not end by itself
    steps: int = 0  # actions in the world, and questions to working memory
    decisions: int = 0
    calls: int = 0  # jobs of a model
    written: int = 0  # tokens of texts
    prompt: int = 0  # tokens of all prompts together
    reused: int = 0  # prompt tokens taken from the cache
    computed: int = 0  # tokens run through the model, answers included
    model_seconds: float = 0.0
    seconds: float = 0.0  # seconds of the run's clock, waiting included
    ticks: int = 0
    agents: int = 0  # agent nodes that lived
    k: int = 0  # agents above one another, at most: ADaPT's k_max
    invalid: int = 0  # acts that were none of what could be done, and were not done
    refused: int = 0  # acts that the world refused, and plans that could not be used
    overflow: bool = False  # a prompt was longer than the model can read
    label: str = ""  # why it failed
    error: str = ""  # error that broke the episode: no failure of the strategy
    decided: str = ""  # digest of all that was decided, thought and planned
    ends: list[dict[str, str]] = field(default_factory=list)  # path, goal, why, detail
    experiences: list[dict[str, Json]] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"{self.strategy}\0{self.task}"

    @property
    def mistaken(self) -> bool:
        """True when the tree succeeded although the goal was not reached."""
        return self.status == "SUCCESS" and not self.success

    @property
    def subgoals(self) -> float:
        """The share of subgoals that are met."""
        return min(self.met, self.total) / self.total if self.total else 0.0

    def to_json(self) -> dict[str, Json]:
        return {name: value for name, value in asdict(self).items() if name != "experiences" or value}


_KNOWN = frozenset(f.name for f in fields(Outcome))


def from_json(line: Mapping[str, Any]) -> Outcome:
    """Reads an outcome; unknown fields of later versions are ignored."""
    return Outcome(**{name: value for name, value in line.items() if name in _KNOWN})
