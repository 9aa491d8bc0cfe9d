"""Puts a world's oracle in the place of a model: it decides for an agent's tree, whose runs then serve as lessons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime.agents.scripted import ScriptedModel
from bt_runtime.agents.story import ACT
from bt_runtime.agents.surroundings import DONE
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.local.header import INSTRUCT
from bt_runtime.skills.worlds.registry import open_suite
from bt_runtime.types import Model, Question, Task, World


class OracleModel(ScriptedModel):
    """Chooses the actions of the suite's oracle, and reports the end. `like`: the model whose prompt format is used."""

    def __init__(self, suite: str, world: World, task: Task, like: Model | None) -> None:
        sentences = iter(open_suite(suite).oracle(world, task))

        def act(question: Question) -> str:
            if question.kind == "decide" and ACT not in question.moves:
                raise BtError(
                    "an oracle acts in sentences, and this tree's agent makes calls (`form: tools`)",
                    "leave `form` out of the tree, or record runs of a model that makes calls",
                )
            return f"{ACT} {next(sentences, DONE)}"

        super().__init__(act)
        self.register = INSTRUCT if like is None else like.register
        self.chat_template = None if like is None else like.chat_template


def in_place(suite: str, world: World, task: Task, models: Mapping[str, Model]) -> dict[str, Model]:
    """Returns the oracle under the name of each of an episode's models."""
    like: Any = next(iter(models.values()), None)
    return {"default": OracleModel(suite, world, task, like)}
