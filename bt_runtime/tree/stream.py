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


class Stream:
    """Listeners are told in the order in which they came, in the thread in which something happened.

    One that raises is told of as a notice, once, and is heard no more: neither the run nor the others come to harm.
    """

    def __init__(self) -> None:
        self._listeners: tuple[_Listener, ...] = ()
        self._routes: dict[type[Any], tuple[_Listener, ...]] = {}  # by kind of event, filled as they come
        self._lock = threading.Lock()

    def listen(self, callback: Callable[[Any], object], *kinds: type[Any], vital: bool = False) -> Callable[[], None]:
        """Calls back with each event of these kinds (without any: with all); gives what ends that.

        What a `vital` listener raises is raised where the event happened. The journal is one: a run that says that it
        is recorded must be.
        """
        listener = _Listener(callback, kinds, vital)
        with self._lock:
            self._listeners, self._routes = (*self._listeners, listener), {}

        def undo() -> None:
            listener.gone = True
            with self._lock:
                self._listeners, self._routes = tuple(each for each in self._listeners if each is not listener), {}

        return undo

    @property
    def count(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def wanted(self, kind: type[Any]) -> bool:
        """Does anybody listen to such events?"""
        return bool(self._route(kind))

    def emit(self, event: Event) -> None:
        for listener in self._route(type(event)):
            if listener.gone:
                continue
            try:
                listener.call(event)
            except Exception as error:
                if listener.vital:
                    raise
                self._drop(listener, event, error)

    def _route(self, kind: type[Any]) -> tuple[_Listener, ...]:
        routes = self._routes
        found = routes.get(kind)
        if found is None:
            found = routes[kind] = tuple(each for each in self._listeners if not each.kinds or kind in each.kinds)
        return found

    def _drop(self, listener: _Listener, event: Event, error: Exception) -> None:
        if listener.gone:
            return  # another thread has said so
        listener.gone = True
        with self._lock:
            self._listeners, self._routes = tuple(each for each in self._listeners if each is not listener), {}
        name = getattr(listener.call, "__qualname__", type(listener.call).__qualname__)
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        text = f"the listener `{name}` broke at `{type(event).__name__}` and is heard no more: {what}"
        if self.wanted(Notice):
            self.emit(Notice("", "warning", text))
        else:
            logging.getLogger("bt_runtime").warning(text, exc_info=error)
