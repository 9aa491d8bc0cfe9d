"""Records what is done to a run. What a node does is a note, because the nodes of a rebuilt run do it again. What
others do, such as a skill, a listener or another thread, is on the tape, and is repeated where it was done."""

from __future__ import annotations

from threading import get_ident
from typing import TYPE_CHECKING

from bt_runtime.events import Halt, Listener, Tick, Unset, Written
from bt_runtime.journal import codec
from bt_runtime.journal.codec import Patches
from bt_runtime.journal.order import AT_END, LISTENER, Caller
from bt_runtime.journal.tape import Tape
from bt_runtime.tree.request import ENDING
from bt_runtime.types import Json, JsonValue

if TYPE_CHECKING:
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.engine import Engine

LONG = 10_000  # characters of a value that a node writes; what others write is kept whole
_PLAIN = (str, bool, type(None))


class Changes:
    def __init__(self, tape: Tape, context: Context, engine: Engine) -> None:
        self.tape, self.context, self.engine = tape, context, engine
        self.patches = Patches(LONG)  # used only by the writing thread
        self.remaking = False  # something that others did is being done again

    def written(self, written: Written) -> None:
        scope, name, value, order, by = written
        if self.tape.caller is not None or not self._by_tree():
            body = {"scope": scope, "name": name, "value": codec.plain(value), "order": order}
            body |= {"by": by} if by else {}
            self._put("write", body, self.context.blackboard.tick_before(written))
        elif getattr(value, "immutable", False) is True:
            self.tape.note("blackboard", lambda: self.patches.of(scope, name, value))
        else:
            self.tape.note("blackboard", {"scope": scope, "name": name, "value": kept(value)})

    def unset(self, unset: Unset) -> None:
        for name in unset.names:
            self.patches.forget(unset.scope, name)
        body: dict[str, Json] = {"scope": unset.scope, "names": list(unset.names)}
        if self._by_node():
            self.tape.note("unset", body)
        else:
            self._put("unset", {**body, "order": unset.sequence}, self.context.blackboard.tick_before(unset))

    def asked(self, how: str, path: str, plan: object = "", index: int | None = None) -> None:
        """Records a requested change of shape. Nodes made in Python cannot be recreated."""
        if not self._by_node():
            text = plan if isinstance(plan, str) else None
            self._put("change", {"how": how, "path": path, "text": text, "index": index})

    def halted(self, tick: Tick) -> None:
        """Records a halt of the whole tree that was asked for within this tick, and made at its end."""
        why: Halt | None = self.engine.held
        if why is not None and any(each is why for _, each in tick.halts):
            self.tape.put("halt", {"by": why.by, "reason": why.reason, "inside": [*AT_END]})

    def heard_by(self, callback: Listener) -> Listener:
        """A program's listener: what it does to the run while the tree is ticked, no node will do again."""

        def heard(event: object) -> object:
            return self.tape.calling(*LISTENER, callback, event) if self._by_tree() else callback(event)

        heard.__qualname__ = getattr(callback, "__qualname__", type(callback).__qualname__)
        return heard

    def _put(self, kind: str, body: dict[str, Json], tick: int | None = None) -> None:
        if self.remaking:
            return
        caller = self._caller()
        self.tape.put(kind, {**body, "inside": [*caller]} if caller else body, tick=None if caller else tick)

    # Who does it -----------------------------------------------------------------------------

    def _by_node(self) -> bool:
        """True when a node's own code does it. A skill, a listener, or another thread answers False."""
        return self.tape.caller is None and self._by_tree()

    def _by_tree(self) -> bool:
        """True where nodes are ticked or halted, in this thread."""
        context = self.context
        if context.ticking and context.blackboard.ticked_here():
            return True
        return bool(context.halting.by) and context.halting_in == get_ident()

    def _caller(self) -> Caller | None:
        """Returns who does something within a tick; None between two ticks."""
        if self.engine.inbox.stepping == ENDING:
            return AT_END
        return (self.tape.caller or LISTENER) if self._inside() else None

    def _inside(self) -> bool:
        """True in the ticking thread, during its tick."""
        return bool(self.context.ticking) and self.context.blackboard.ticked_here()


def kept(value: object) -> JsonValue:
    return codec.bounded(value if type(value) in _PLAIN else codec.plain(value), LONG)
