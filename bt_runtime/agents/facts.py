"""Decides whether a sentence of a skill's `needs` or `brings` holds: by the world, then a condition, then an entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.services import agent_services
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence, spoken
from bt_runtime.tree.node import SUCCESS
from bt_runtime.tree.nodes.deed import Deed, instant
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.node import Node

_NOT = "not "
ABSENT = object()
ANY = ""  # in place of a skill's name: the skill that gave it last


class Facts:
    """The facts available to the asking node. `kinds`: the skills of its tree, conditions included."""

    def __init__(self, node: Node, kinds: Iterable[Kind]) -> None:
        self.node = node
        self.conditions = [k for k in kinds if instant(k)]
        self.known: dict[str, bool | None] = {}  # facts known at this moment

    def forget(self) -> None:
        """Drops the cached facts at the start of a new decision."""
        self.known.clear()

    def all(self, facts: Iterable[str], params: Mapping[str, Json]) -> bool | None:
        """Returns False when one of the facts does not hold, None when one of them is unknown."""
        answers = [self.holds(fact, params) for fact in facts]
        return False if False in answers else None if None in answers else True

    def holds(self, fact: str, params: Mapping[str, Json]) -> bool | None:
        sentence = Sentence(fact)
        if not params.keys() >= {*sentence.slots}:
            return None
        said = sentence.say(params)
        if said not in self.known:
            told = self.told(said)
            if told is None and said.startswith(_NOT):
                opposite = self.told(said.removeprefix(_NOT))
                told = None if opposite is None else not opposite
            self.known[said] = told
        return self.known[said]

    def told(self, said: str) -> bool | None:
        ask = getattr(self.node.context.services.world, "holds", None)
        told = ask(said) if ask is not None else None
        if told is None:
            told = self.by_condition(said)
        return told if told is not None else by_entry(said, self.looked_up)

    def looked_up(self, name: str) -> Any:
        """The value of an entry, else a skill's latest output of that name."""
        found = entry(self.node.scope, name, ABSENT)
        return agent_services(self.node.context).skill_outputs.get((ANY, name), ABSENT) if found is ABSENT else found

    def by_condition(self, said: str) -> bool | None:
        for kind in self.conditions:
            entry = kind.data["entry"]
            params = Sentence(entry.sentence, entry.types).parse(said)
            if params is not None and _allowed(kind, params):
                return self.asked(kind, params)
        return None

    def asked(self, kind: Kind, params: Mapping[str, Json]) -> bool | None:
        deed = Deed(kind, self.node, params)
        done = deed.poll()
        if done is None:  # the test did not answer at once
            deed.cancel("a condition answers at once")
            return None
        return done.status is SUCCESS


def _allowed(kind: Kind, params: Mapping[str, Json]) -> bool:
    """False where a value is none of its slot's choices: the sentence is another condition's."""
    chosen = [(field.choices, params[field.name]) for field in kind.fields if field.choices and field.name in params]
    return all(value in choices for choices, value in chosen)


def by_entry(said: str, look_up: Callable[[str], Any]) -> bool | None:
    """Looks a fact up in entries: `gripper empty` is the entry `gripper_empty`; `holding cup 1` compares or searches
    the entry `holding`."""
    said_words = said.split()
    for count in range(len(said_words), 0, -1):
        value = look_up("_".join(said_words[:count]))
        if value is ABSENT:
            continue
        rest = " ".join(said_words[count:])
        if not rest:
            return value if isinstance(value, bool) else None
        if isinstance(value, list | tuple | dict):
            return rest in map(spoken, value)
        return None if isinstance(value, bool) else value is not None and spoken(value) == rest
    return None


def entry(scope: Scope, name: str, default: Any = None) -> Any:
    """Returns an entry as the tree sees it, or as an enclosing tree does."""
    at: Scope | None = scope
    while at is not None:
        if name in at:
            return at.get(name)
        at = at.parent
    return scope.board.root.get(name, default)
