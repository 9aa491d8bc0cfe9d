"""The one stream of a run's events: who listens, to what, and what becomes of a listener that breaks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from bt_runtime.events import Event, Notice


class _Listener:
    __slots__ = ("call", "gone", "kinds", "vital")

    def __init__(self, call: Callable[[Any], object], kinds: tuple[type[Any], ...], vital: bool) -> None:
        self.call, self.kinds, self.vital = call, kinds, vital
        self.gone = False


class _Routes(dict[type[Any], tuple[_Listener, ...]]):
    """By kind of event who listens to it: found out when one of that kind comes first."""

    def __init__(self, listeners: tuple[_Listener, ...]) -> None:
        self.listeners = listeners

    def __missing__(self, kind: type[Any]) -> tuple[_Listener, ...]:
        found = self[kind] = tuple(each for each in self.listeners if not each.kinds or kind in each.kinds)
        return found


class Stream:
    """Listeners are told in the order in which they came, in the thread in which something happened.

    One that raises is told of as a notice, once, and is heard no more: neither the run nor the others come to harm.
    """

    def __init__(self) -> None:
        self.routes = _Routes(())  # another object as soon as somebody comes or goes
        self._lock = threading.Lock()

    def listen(self, callback: Callable[[Any], object], *kinds: type[Any], vital: bool = False) -> Callable[[], None]:
        """Calls back with each event of these kinds (without any: with all); gives what ends that.

        What a `vital` listener raises is raised where the event happened. The journal is one: a run that says that it
        is recorded must be.
        """
        listener = _Listener(callback, kinds, vital)
        with self._lock:
            self.routes = _Routes((*self.routes.listeners, listener))

        def undo() -> None:
            self._forget(listener)

        return undo

    @property
    def count(self) -> int:
        """How many listen."""
        return len(self.routes.listeners)

    def wanted(self, kind: type[Any]) -> bool:
        """Does anybody listen to such events?"""
        return bool(self.routes[kind])

    def emit(self, event: Event) -> None:
        for listener in self.routes[type(event)]:
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
        text = f"the listener `{name}` broke at `{type(event).__name__}` and is heard no more: {what}"
        if self.wanted(Notice):
            self.emit(Notice("", "warning", text))
        else:
            logging.getLogger("bt_runtime").warning(text, exc_info=error)
