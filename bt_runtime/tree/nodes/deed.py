"""A skill as a job, for a node that has chosen it: started, polled and cancelled as its own node would do it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime.language import ports
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.spec import NodeSpec
from bt_runtime.skills.activity import Ended
from bt_runtime.skills.words import raised
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, Node
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.types import Json


class Deed(SkillNode):
    """Stands below its owner without being a child: only its owner's life polls it. Good for any number of starts."""

    wakes = True  # it says itself when it is to be looked at again
    done: Ended | None = None

    def __init__(self, kind: Kind, owner: Node) -> None:
        spec = NodeSpec(kind, owner.spec.span, owner.spec.file)
        super().__init__(spec, owner.inside, owner.scope)
        self.parent, self.segment = owner, kind.name

    def of(self, params: Mapping[str, Json]) -> Deed:
        """Made ready for its next start."""
        kind = self.spec.kind
        taken = [f for f in kind.fields if not f.writes]
        self.params = dict(params)
        self.spec.values = {
            f.name: params.get(f.name, f.default) for f in taken if f.name in params or f.default is not None
        }
        self.done, self.status = None, INVALID
        return self

    def poll(self) -> Any:
        try:
            if self.status is not RUNNING:
                self.begin()
            self.status = self.update()
        except Exception as error:
            self.status, self.activity = FAILURE, None
            return Ended(FAILURE, None, raised(error))
        if self.status is RUNNING:
            return None
        return self.done or Ended(self.status, None, self.feedback_message)

    def begin(self) -> None:
        for name, value in self.spec.values.items():
            field = self.spec.kind.field(name)
            assert field is not None
            ports.check(field, value)
        self.initialise()

    def keep(self, done: Ended) -> None:
        """What it gave goes to whoever asked for it."""
        self.done = done

    def cancel(self, reason: str) -> None:
        if self.status is RUNNING:
            self.terminate(INVALID)
        self.status = INVALID
