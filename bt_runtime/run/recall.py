"""Working memory in a run: where it is stored, which facts it notes, and how a manifest's skills use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bt_runtime.agents.services import Remembering
from bt_runtime.memory.notice import Noticing
from bt_runtime.memory.observation import read
from bt_runtime.memory.working import WorkingMemory
from bt_runtime.types import Observation

if TYPE_CHECKING:
    from bt_runtime.memory.notice import Here, Notice, Thing
    from bt_runtime.memory.working import Noticer, Sighting
    from bt_runtime.tree.context import Context


def noticer_of(context: Context) -> Noticer:
    """Returns the function that reads facts from observations: the world's own, else one that reads sentences.

    The function gets the world from the services, where a journal records its answers."""

    def noticer(action: str, text: str, here: Here, known: Mapping[Thing, Sighting]) -> tuple[Sequence[Notice], Here]:
        world = context.services.world
        return (world.notices(action, text), here) if isinstance(world, Noticing) else read(action, text, here, known)

    return noticer


def working_memory(context: Context, shared: bool = False) -> Remembering:
    """Returns a working memory and its actor. `shared`: it is stored on the run's blackboard, else it is an episode's
    own."""
    working = WorkingMemory(context.blackboard.root if shared else {}, noticer=noticer_of(context))
    return Remembering(working, Recaller(working))


class Recaller:
    """Answers recalls as skills: the actor of `impl: memory` in a manifest."""

    instant = True
    STATE = ("working",)

    def __init__(self, working: WorkingMemory) -> None:
        self.working = working

    def act(self, sentence: str) -> Observation:
        said = self.working.answer(sentence)
        return Observation(said) if said is not None else Observation("Nothing is remembered.", False, "no recall")
