"""What an agent finds around it: the world, working memory, experiences. Each may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.skills.activity import Activity, ended
from bt_runtime.tree.nodes.skill import Done, act
from bt_runtime.types import Digesting, Looking, Observation, Things

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context

DONE, FAILURE = "done", "failure"
RECALL = "recall location of "


class Surroundings:
    """One agent's view of the run's services. `recall` is off for the ablation without working memory."""

    def __init__(self, context: Context, place: str, recall: bool) -> None:
        self.context = context
        self.place = place
        self.world: Any = context.services.world
        self.working: Any = context.services.working_memory if recall else None

    def opening(self) -> str:
        """The first observation of an agent that starts now."""
        text = str(self.world.look().text) if isinstance(self.world, Looking) else ""
        if text and self.working is not None:
            self.working.observe("", text, by=self.place)
        return text

    def sentences(self) -> list[str]:
        """All that can be acted now, in a fixed order; `done` and `failure` come last."""
        found = list(self.world.skills()) if self.world is not None else []
        if self.working is not None:
            found += self.working.skills(self.kinds())
        return [*dict.fromkeys(found), DONE, FAILURE]

    def kinds(self) -> Sequence[str]:
        """What can be recalled: all things that the world has, or what was seen so far; nothing without a memory."""
        if self.working is None:
            return ()
        if isinstance(self.world, Things):
            return self.world.things()
        return sorted({thing.kind for thing in self.working.snapshot().things})

    def act(self, sentence: str) -> Activity:
        """Does it: a recall by memory at once, everything else in the world."""
        if sentence.startswith(RECALL) and self.working is not None:
            said = self.working.answer(sentence)
            if said is not None:
                return Done(ended(Observation(said)))
        if self.world is None:
            return Done(ended(Observation("There is no world to act in.", False, "no world")))
        return act(self.world, sentence, self.context)

    def noticed(self, sentence: str, observation: Observation) -> None:
        if self.working is not None and not sentence.startswith(RECALL):
            self.working.observe(sentence, observation.text, by=self.place)

    def state(self) -> str:
        """What tells one state of the world from another, as far as it can be told."""
        return str(self.world.digest()) if isinstance(self.world, Digesting) else ""
