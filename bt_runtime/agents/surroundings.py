"""An agent's surroundings: the world, working memory, experiences. Each may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.services import agent_services
from bt_runtime.skills.activity import Activity, Done
from bt_runtime.skills.answer import ended
from bt_runtime.tree.nodes.skill import act
from bt_runtime.types import Digesting, Looking, Observation, Things

if TYPE_CHECKING:
    from bt_runtime.agents.actions import Actions
    from bt_runtime.language.entry import SkillEntry
    from bt_runtime.tree.context import Context

DONE, FAILURE = "done", "failure"
RECALL = "recall location of "


class Surroundings:
    """One agent's view of the run's services. `recall` is off for the ablation without working memory."""

    def __init__(self, context: Context, place: str, recall: bool, actions: Actions | None = None) -> None:
        self.context = context
        self.actions = actions
        self.place = place
        self.world: Any = context.services.world
        self.working: Any = agent_services(context).working_memory if recall else None

    def opening(self) -> str:
        """The first observation of an agent that starts now."""
        text = str(self.world.look().text) if isinstance(self.world, Looking) else ""
        if text and self.working is not None:
            self.working.observe("", text, by=self.place)
        return "\n".join([*([text] if text else []), *self.actions.around_us()]) if self.actions is not None else text

    def sentences(self) -> list[str]:
        """Returns all sentences that can be acted now, in a fixed order; `done` and `failure` come last.

        One that ends with a blank is only the beginning of a sentence.
        """
        found = list(self.world.skills()) if self.world is not None else []
        if self.actions is not None:
            found = [*self.actions.let(found), *self.actions.sentences()]
        if self.working is not None:
            found += self.working.skills(self.kinds())
        return [*dict.fromkeys(found), DONE, FAILURE]

    def kinds(self) -> Sequence[str]:
        """The kinds that can be recalled: all in the world, or those seen so far; none without a memory."""
        if self.working is None:
            return ()
        if isinstance(self.world, Things):
            return self.world.things()
        return sorted({thing.kind for thing in self.working.snapshot().things})

    def act(self, sentence: str, written: str = "") -> Activity:
        """Acts a sentence: memory answers a recall at once, a skill listed by the tree does its own, the world does the
        rest.

        `written`: how a sentence goes on that was only begun.
        """
        if self.actions is not None and self.actions.knows(sentence):
            return self.actions.do(sentence, written)
        if sentence.startswith(RECALL) and self.working is not None:
            said = self.working.answer(sentence)
            if said is not None:
                return Done(ended(Observation(said)))
        if self.world is None:
            return Done(ended(Observation("There is no world to act in.", False, "no world")))
        by = self.actions.node if self.actions is not None else None
        return act(self.world, sentence, self.context, self.entry_of(sentence), by)

    def entry_of(self, sentence: str) -> SkillEntry | None:
        """The entry for this sentence in the manifests of the trees around the agent."""
        return self.actions.entry_of(sentence) if self.actions is not None else None

    def noticed(self, sentence: str, observation: Observation) -> None:
        if self.working is not None and not sentence.startswith(RECALL):
            self.working.observe(sentence, observation.text, by=self.place)

    def state(self) -> str:
        """Returns a key that is different for different states of the world, as far as the world reports its state."""
        return str(self.world.digest()) if isinstance(self.world, Digesting) else ""
