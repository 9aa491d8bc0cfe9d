"""The node `holds`, and what skills have brought in a run by their own words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from py_trees.common import Status

from bt_runtime.agents.actions import listed
from bt_runtime.agents.facts import Facts
from bt_runtime.backchain.step import opposite
from bt_runtime.events import SkillEnded
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import FAILURE, SUCCESS, Node

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope


class Brought:
    """The facts that skills have brought or denied since the run began."""

    def __init__(self, context: Context) -> None:
        self.facts: dict[str, bool] = {}
        self.kinds: dict[str, Kind] = {}
        context.stream.listen(self.hear, SkillEnded)

    def know(self, kinds: Sequence[Kind]) -> None:
        self.kinds.update((kind.name, kind) for kind in kinds if kind.data["entry"].brings)

    def hear(self, event: Any) -> None:
        if event.status is not SUCCESS:
            return
        for kind in self.kinds.values():
            entry = kind.data["entry"]
            params = Sentence(entry.sentence, entry.types).parse(event.sentence)
            if params is None:
                continue
            for template in entry.brings:
                sentence = Sentence(template)
                if params.keys() >= {*sentence.slots}:
                    fact = sentence.say(params)
                    self.facts[fact], self.facts[opposite(fact)] = True, False


_BROUGHT: WeakKeyDictionary[Context, Brought] = WeakKeyDictionary()


class Holds(Node):
    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        whole = context.whole
        self.brought = _BROUGHT.get(whole) or _BROUGHT.setdefault(whole, Brought(whole))
        self.told: Facts | None = None

    def update(self) -> Status:
        if self.told is None:
            kinds = listed(self)  # type: ignore[arg-type]
            self.brought.know(kinds)
            self.told = Facts(self, kinds)
        fact = str(self.value("fact"))
        self.told.forget()
        known = self.told.holds(fact, {})
        if known is None:
            known = self.brought.facts.get(fact)
        if known is None:
            known = bool(self.value("otherwise"))
            self.feedback_message = "nothing can tell"
        else:
            self.feedback_message = ""
        return SUCCESS if known else FAILURE
