"""A skill as a job, for a node that chose it at run time: started, polled and cancelled as by a skill's own node."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from bt_runtime.language import ports
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.spec import NodeSpec
from bt_runtime.skills.activity import BareActivity
from bt_runtime.skills.answer import EndedAnswer
from bt_runtime.skills.crash import crash_of
from bt_runtime.skills.words import raised
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, Node
from bt_runtime.types import Json


def instant(kind: Kind) -> bool:
    """True for a condition: a skill that answers within the tick."""
    return "entry" in kind.data and bool(kind.data["entry"].instant)


def test(kind: Kind) -> bool:
    """True for a skill that only tests whether something holds."""
    return "entry" in kind.data and bool(kind.data["entry"].test)


class Deed(BareActivity):
    """One start of a skill by a node. Only the owner polls the skill's node, which is not its child.

    Locks, and what takes its time to stop, are its node's own affair."""

    wakes = True  # the node itself asks for its next tick

    def __init__(self, kind: Kind, owner: Node, params: Mapping[str, Json], target: Any = None) -> None:
        """Prepares a start. `target`: an earlier start's object, so that one object serves one node."""
        spec = NodeSpec(kind, owner.spec.span, owner.spec.file)
        taken = [f for f in kind.fields if not f.writes]
        spec.values = {
            f.name: params.get(f.name, f.default) for f in taken if f.name in params or f.default is not None
        }
        self.kind, self.params = kind, dict(params)
        module, _, name = str(kind.impl).partition(":")
        made = kind.impl if isinstance(kind.impl, type) else getattr(import_module(module), name)
        self.node: Any = made(spec, owner.inside, owner.scope)
        self.node.parent, self.node.segment, self.node.target = owner, kind.name, target
        self.node.chosen = True

    def poll(self) -> EndedAnswer | None:
        node = self.node
        try:
            if node.status is not RUNNING:
                self.check()
                done: EndedAnswer | None = node.answered() if instant(self.kind) else None
                if done is not None:
                    return done
                node.initialise()
            node.status = node.update()
        except BaseException as error:
            why = raised(crash_of(error))
            node.status = FAILURE
            with suppress(Exception):
                node.terminate(FAILURE)  # the skill may have begun to move something
            return EndedAnswer(FAILURE, None, why)
        if node.status is RUNNING:
            return None
        node.terminate(node.status)
        found: EndedAnswer | None = node.last
        return found or EndedAnswer(node.status, None, node.feedback_message)

    def check(self) -> None:
        for name, value in self.node.spec.values.items():
            field = self.kind.field(name)
            assert field is not None
            ports.check(field, value)

    def cancel(self, reason: str) -> None:
        node = self.node
        if node.status is RUNNING:
            node.terminate(INVALID)
        node.status = INVALID
