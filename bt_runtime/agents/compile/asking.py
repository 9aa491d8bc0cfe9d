"""The nodes with which a compiled tree asks: about its goal, possible actions, earlier tries, and the last
observation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from py_trees.common import Status

from bt_runtime.agents.actions import Actions
from bt_runtime.agents.compile.condition import heard_texts
from bt_runtime.agents.compile.form import GoalForm, base, form
from bt_runtime.agents.facts import ANY
from bt_runtime.agents.services import agent_services
from bt_runtime.agents.surroundings import RECALL
from bt_runtime.events import Acting, SkillEnded
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import FAILURE, SUCCESS, Node
from bt_runtime.types import Json, Looking, Observation

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope


class Ear:
    """The last observation. Observations of a tree's own actions go into working memory, as an agent's do."""

    STATE = ("text", "begun", "agents")

    def __init__(self, context: Context) -> None:
        self.context, self.text, self.begun = context, "", False
        self.agents: set[str] = set()  # sentences that agents are acting: they notice what they see themselves
        context.stream.listen(self.hear, Acting, SkillEnded)

    def begin(self) -> None:
        """Looks around once, as an agent does at its start."""
        world = self.context.services.world
        if not self.begun and isinstance(world, Looking):
            self.notice("", str(world.look().text))
        self.begun = True

    def hear(self, event: Any) -> None:
        if isinstance(event, Acting):
            self.agents.add(event.sentence)
            return
        answer = event.value if isinstance(event.value, Observation) else None
        self.text = answer.text if answer is not None else event.feedback or _plainly(event.value)
        if event.sentence in self.agents:
            self.agents.discard(event.sentence)
            return
        if isinstance(event.value, Mapping):  # what a skill gave fills the slots of others, as after an agent's own
            given = agent_services(self.context).skill_outputs
            given.update({(ANY, str(name)): value for name, value in event.value.items()})
        if answer is not None and answer.ok:
            if not event.sentence.startswith(RECALL):
                self.notice(event.sentence, self.text)
            agent_services(self.context).did(event.sentence, self.text, event.sentence.startswith(RECALL))

    def notice(self, sentence: str, text: str) -> None:
        memory = agent_services(self.context).working_memory
        if memory is not None:
            memory.observe(sentence, text)


def _plainly(value: Any) -> str:
    """Formats outputs as an agent reads them: one line each."""
    return "\n".join(f"{name}: {each}" for name, each in value.items()) if isinstance(value, Mapping) else ""


_EARS: WeakKeyDictionary[Context, Ear] = WeakKeyDictionary()


class _Looking(Node):
    STATE, CACHES = ("ear",), ("actions",)

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        whole = context.whole
        self.ear = _EARS.get(whole) or _EARS.setdefault(whole, Ear(whole))
        self.actions: Actions | None = None

    def give(self, values: Mapping[str, Json]) -> None:
        """Writes what the node was asked for, all at once."""
        named = {self.spec.values[field]: value for field, value in values.items() if field in self.spec.values}
        if named:
            self.scope.update(named)

    def agents_above(self) -> Iterator[Any]:
        """Returns None: a node that the author wrote has no whitelist of agents above it."""
        return iter(())

    def offers(self, wanted: GoalForm) -> Iterator[dict[str, Json]]:
        """Returns the slot values of the possible actions of this form."""
        for sentence in self.sentences():
            found = wanted.read(sentence)
            if found is not None:
                yield found

    def sentences(self) -> list[str]:
        world: Any = self.context.services.world
        if world is not None:
            return list(map(str, world.skills()))
        self.actions = self.actions or Actions(self)  # type: ignore[arg-type]
        return self.actions.sentences()


class Fits(_Looking):
    def update(self) -> Status:
        self.ear.begin()
        said = " ".join(str(self.value("text")).split())
        best: tuple[int, str, dict[str, Json]] | None = None
        for name, given in self.value("forms").items():
            for each in given if isinstance(given, list | tuple) else (given,):
                wanted = form(str(each))
                slots = wanted.read(said)
                if slots is not None and (best is None or wanted.literal > best[0]):
                    best = wanted.literal, name, slots
        if best is None:
            self.feedback_message = "no form fits"
            return FAILURE
        self.feedback_message = best[1]
        self.give({"form": best[1], "slots": best[2]})
        return SUCCESS


class Offered(_Looking):
    def update(self) -> Status:
        wanted = str(self.value("form"))
        without = {str(each) for each in self.value("without") or ()} if "without" in self.spec.values else set()
        found = next((each for each in self.offers(form(wanted)) if not _stand(without, each)), None)
        if found is None:
            return FAILURE
        self.give({"slots": found})
        return SUCCESS


class Untried(_Looking):
    def update(self) -> Status:
        rank = {str(each): at for at, each in reversed(list(enumerate(self.value("order"))))}
        before = list(self.scope.get(self.spec.values["tried"]) or ())
        among = str(self.value("among") or "") if "among" in self.spec.values else None
        tried = set(map(str, before))
        found = dict.fromkeys(str(next(iter(each.values()), "")) for each in self.offers(form(str(self.value("form")))))
        left = [each for each in found if not {each, base(each)} & tried and base(each) in rank]
        left = [each for each in left if among is None or stands(each, among)]
        if not left:
            return FAILURE
        chosen = min(left, key=lambda each: rank[base(each)])
        self.feedback_message = chosen
        self.give({"next": chosen, "tried": [*before, chosen]})
        return SUCCESS


class Heard(_Looking):
    def update(self) -> Status:
        wanted = str(self.value("form"))
        for text in self.texts():
            slots = form(wanted).read(text) if wanted else {}
            if slots is not None:
                self.give({"text": text, "slots": slots})
                return SUCCESS
        return FAILURE

    def texts(self) -> Sequence[str]:
        world = self.context.services.world
        if self.spec.values["of"] == "answer":
            return heard_texts(self.ear.text) if self.value("form") else (self.ear.text,)
        shown = str(world.look().text).splitlines() if isinstance(world, Looking) else []
        return [" ".join(line.split()) for line in shown]


def _stand(without: set[str], slots: Mapping[str, Json]) -> bool:
    """True when one of these values, or the kind of one, is in a slot."""
    return any(not {str(each), base(str(each))}.isdisjoint(without) for each in slots.values())


def stands(value: str, text: str) -> bool:
    """True when a value stands in a text as whole words."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
