"""Breakpoints that a monitor sets: the run is held between two ticks, after the one in which the node began.

Only holding is possible. A result that a monitor would rather see is refused: what a tree decides stays the tree's.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from bt_runtime.interop.groot2.protocol import Refusal

MOST_HOOKS = 1000
LOOK = 0.1  # seconds between two looks at whether the holding has lost its sense


class Hook(NamedTuple):
    uid: int
    position: int  # 0 before, 1 after: both hold after the tick
    once: bool
    enabled: bool

    def told(self) -> dict[str, Any]:
        return {
            "enabled": self.enabled, "uid": self.uid, "mode": 0, "once": self.once, "desired_status": "SKIPPED",
            "position": self.position,
        }  # fmt: skip


class Hooks:
    """Asked by the thread that ticks, changed by the one that serves."""

    def __init__(self, allowed: bool) -> None:
        self.allowed = allowed
        self.reached: deque[int] = deque()  # by uid, until it is told
        self._hooks: dict[int, Hook] = {}
        self._held: set[int] = set()
        self._changed = threading.Condition()

    def __bool__(self) -> bool:
        return bool(self._hooks)

    def hold(self, touched: Collection[int], over: Callable[[], bool]) -> None:
        """Waits when one of these nodes has an enabled hook, until all that hold are freed."""
        with self._changed:
            self._held = {uid for uid in touched if uid in self._hooks and self._hooks[uid].enabled}
            self.reached.extend(self._held)
            while self._held and not over():
                self._changed.wait(LOOK)
            self._held = set()

    def insert(self, body: bytes | None, known: Collection[int]) -> None:
        if not self.allowed:
            raise Refusal("breakpoints are off: start the run with --breakpoints")
        told = _parsed(body)
        hooks = [_hook(each, known) for each in (told if isinstance(told, list) else [told])]
        with self._changed:
            if len(self._hooks.keys() | {hook.uid for hook in hooks}) > MOST_HOOKS:
                raise Refusal(f"at most {MOST_HOOKS} hooks")
            for hook in hooks:
                self._hooks[hook.uid] = hook
            self._free()

    def remove(self, body: bytes | None) -> None:
        uid = _uid(_parsed(body))
        with self._changed:
            if self._hooks.pop(uid, None) is None:
                raise Refusal("Node ID not found")
            self._free()

    def unlock(self, body: bytes | None) -> None:
        told = _parsed(body)
        uid = _uid(told)
        if told.get("desired_status", "SKIPPED") not in ("SKIPPED", "IDLE"):
            raise Refusal("a breakpoint here holds the run, and does not replace a result")
        with self._changed:
            hook = self._hooks.get(uid)
            if hook is None:
                raise Refusal("Node ID not found")
            if hook.once or told.get("remove_when_done") is True:
                del self._hooks[uid]
            self._held.discard(uid)
            self._changed.notify_all()

    def clear(self) -> None:
        with self._changed:
            self._hooks.clear()
            self._free()

    def disable(self) -> None:
        """As long as nobody is there who could unlock one."""
        with self._changed:
            self._hooks = {uid: hook._replace(enabled=False) for uid, hook in self._hooks.items()}
            self._free()

    def dump(self) -> bytes:
        return json.dumps([hook.told() for hook in self._hooks.values()]).encode()

    def _free(self) -> None:
        self._held = {uid for uid in self._held if uid in self._hooks and self._hooks[uid].enabled}
        self._changed.notify_all()


def _parsed(body: bytes | None) -> Any:
    if body is None:
        raise Refusal("must be 2 parts message")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal("the second part is not JSON") from None


def _uid(told: Any) -> int:
    uid = told.get("uid") if isinstance(told, dict) else None
    if not isinstance(uid, int) or isinstance(uid, bool):
        raise Refusal("a hook has a `uid`")
    return uid


def _hook(told: Any, known: Collection[int]) -> Hook:
    uid = _uid(told)
    if uid not in known:
        raise Refusal("Node ID not found")
    if told.get("mode", 0) != 0:
        raise Refusal("a hook here holds the run, and does not replace a result")
    return Hook(uid, 1 if told.get("position") == 1 else 0, told.get("once") is True, told.get("enabled") is not False)
