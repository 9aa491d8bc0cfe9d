"""What skills have brought in a run by their own words, for facts that nothing else can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from bt_runtime.backchain.step import opposite
from bt_runtime.events import SkillEnded
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.tree.context import Context
from bt_runtime.tree.node import SUCCESS


class Brought:
    """The facts that skills have brought or denied since the run began."""

    STATE = ("facts",)

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


def brought_in(context: Context) -> Brought:
    """The one of the run; it listens from the first time on."""
    whole = context.whole
    return _BROUGHT.get(whole) or _BROUGHT.setdefault(whole, Brought(whole))
