"""A run's event stream: routes events to listeners and handles failing listeners."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable

from bt_runtime.events import Event, EventType, Listener, Notice


class _Listener:
    __slots__ = ("call", "gone", "kinds", "vital")

    def __init__(self, call: Listener, kinds: tuple[EventType, ...], vital: bool) -> None:
        self.call, self.kinds, self.vital = call, kinds, vital
        self.gone = False


class _Routes(dict[EventType, tuple[_Listener, ...]]):
    """Maps each event type to its listeners, filled in when the type first occurs."""

    def __init__(self, listeners: tuple[_Listener, ...]) -> None:
        self.listeners = listeners

    def __missing__(self, kind: EventType) -> tuple[_Listener, ...]:
        found = self[kind] = tuple(each for each in self.listeners if not each.kinds or kind in each.kinds)
        return found


class Stream:
    """Calls the listeners in the order of registration, in the thread where the event happened.

    A listener that raises is removed and reported once, as a notice; the run and the other listeners go on.
    """

    def __init__(self) -> None:
        self.routes = _Routes(())  # another object as soon as somebody comes or goes
        self._lock = threading.Lock()

    def listen(
        self, callback: Listener, *kinds: EventType, vital: bool = False, first: Iterable[Event] = ()
    ) -> Callable[[], None]:  # fmt: skip
        """Calls back with each event of these kinds, or of all; returns a function that ends this.

        A `vital` listener's exception is raised where the event occurred, as the journal needs: a recorded run must
        be recorded. `first`: earlier events, delivered at once."""
        listener = _Listener(callback, kinds, vital)
        with self._lock:
            self.routes = _Routes((*self.routes.listeners, listener))
        for event in first:
            if not kinds or type(event) in kinds:
                self.emit(event, (listener,))

        def undo() -> None:
            self._forget(listener)

        return undo

    def changed(self) -> None:
        """Makes the engine look anew, before its next tick, for whom it notes what happens."""
        with self._lock:
            self.routes = _Routes(self.routes.listeners)

    @property
    def count(self) -> int:
        """Returns the number of listeners."""
        return len(self.routes.listeners)

    def wanted(self, kind: EventType) -> bool:
        """True when a listener wants events of this type."""
        return bool(self.routes[kind])

    def emit(self, event: Event, to: tuple[_Listener, ...] | None = None) -> None:
        for listener in self.routes[type(event)] if to is None else to:
            if listener.gone:
                continue
            try:
                listener.call(event)
            except Exception as error:
                if listener.vital:
                    raise
                self._drop(listener, event, error)

    def _forget(self, listener: _Listener) -> None:
        listener.gone = True
        with self._lock:
            self.routes = _Routes(tuple(each for each in self.routes.listeners if each is not listener))

    def _drop(self, listener: _Listener, event: Event, error: Exception) -> None:
        if listener.gone:
            return  # another thread has said so
        self._forget(listener)
        name = getattr(listener.call, "__qualname__", type(listener.call).__qualname__)
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        text = f"the listener `{name}` raised at `{type(event).__name__}` and was removed: {what}"
        if self.wanted(Notice):
            self.emit(Notice("", "warning", text))
        else:
            logging.getLogger("bt_runtime").warning(text, exc_info=error)
