"""An action that is about to start, as everything that stands before its start sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bt_runtime.language.entry import SkillEntry
    from bt_runtime.types import Json


class Action:
    """An action that is about to start. A node fills in sentence and parameters when the action may begin."""

    __slots__ = ("by", "context", "entry", "fill", "params", "sentence", "target")

    def __init__(
        self, context: Any, target: object, entry: SkillEntry | None, by: Any, sentence: str = "",
        fill: Callable[[Action], None] | None = None,
    ) -> None:  # fmt: skip
        self.context, self.by, self.fill = context, by, fill  # the node's; `by`: the node or agent that starts it
        self.sentence = sentence
        self.target = target  # the skill, or the world that acts
        self.entry = entry  # the skill's; None: an agent's own sentence
        self.params: dict[str, Json] | None = None  # None: the world acts it by its sentence
