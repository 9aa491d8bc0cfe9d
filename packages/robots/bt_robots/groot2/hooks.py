"""Breakpoints set by a monitor: the run's own debugger holds them, under the monitor's numbers.

Only holding is possible. A result that a monitor would rather see is refused: what a tree decides stays the tree's.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from bt_robots.groot2.protocol import Refusal
from bt_runtime.events import Debugged
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.debugger import debugger_of
from bt_runtime.run.run import Run

MOST_HOOKS = 1000


class Hook(NamedTuple):
    uid: int
    position: int  # 0: before the node begins; 1: after it has ended
    once: bool
    enabled: bool
    path: str = ""
    rule: int = 0  # its breakpoint's number in the debugger; 0: none

    def told(self) -> dict[str, Any]:
        return {
            "enabled": self.enabled, "uid": self.uid, "mode": 0, "once": self.once, "desired_status": "SKIPPED",
            "position": self.position,
        }  # fmt: skip


class Hooks:
    """Breakpoints, changed by the server's thread; the ticking thread reports those reached."""

    def __init__(self, run: Run, allowed: bool, place: Callable[[int], str | None]) -> None:
        self.run, self.allowed, self.place = run, allowed, place
        self.reached: deque[int] = deque()  # uids of reached nodes, until they are told
        self._hooks: dict[int, Hook] = {}
        self._held: set[int] = set()
        self._lock = threading.Lock()
        self._unhear: Callable[[], None] = lambda: None

    def __bool__(self) -> bool:
        return bool(self._hooks)

    def _heard(self, event: Debugged) -> None:
        """Called when the debugger pauses the run, or would pause it if its tree had not just ended."""
        if event.what == "changed" or not event.path:
            return
        uids = [hook.uid for hook in list(self._hooks.values()) if hook.rule and hook.path == event.path]
        self.reached.extend(uids)
        if event.what == "paused":
            self._held.update(uids)

    def insert(self, body: bytes | None) -> None:
        if not self.allowed:
            raise Refusal("breakpoints are off: start the run with --breakpoints")
        told = _parsed(body)
        hooks = [_hook(each, self.place) for each in (told if isinstance(told, list) else [told])]
        with self._lock:
            if len(self._hooks.keys() | {hook.uid for hook in hooks}) > MOST_HOOKS:
                raise Refusal(f"at most {MOST_HOOKS} hooks")
            if not self._hooks:
                self._unhear()
                self._unhear = self.run.listen(self._heard, Debugged)
            for hook in hooks:
                self._drop(hook.uid)
                moment = "after" if hook.position else "before"
                rule = debugger_of(self.run).break_at(hook.path, moment).number if hook.enabled else 0
                self._hooks[hook.uid] = hook._replace(rule=rule)
            self._free()

    def remove(self, body: bytes | None) -> None:
        uid = _uid(_parsed(body))
        with self._lock:
            if uid not in self._hooks:
                raise Refusal("Node ID not found")
            self._drop(uid)
            self._free()

    def unlock(self, body: bytes | None) -> None:
        told = _parsed(body)
        uid = _uid(told)
        if told.get("desired_status", "SKIPPED") not in ("SKIPPED", "IDLE"):
            raise Refusal("a breakpoint here holds the run, and does not replace a result")
        with self._lock:
            hook = self._hooks.get(uid)
            if hook is None:
                raise Refusal("Node ID not found")
            held = uid in self._held
            self._held.discard(uid)
            if hook.once or told.get("remove_when_done") is True:
                self._drop(uid)
            if held and not self._held:
                debugger_of(self.run).resume()

    def clear(self) -> None:
        with self._lock, suppress(BtError):  # the run may be over
            for uid in list(self._hooks):
                self._drop(uid)
            self._free()
        self._unhear()

    def disable(self) -> None:
        """Disables all breakpoints while no client could unlock one."""
        with self._lock, suppress(BtError):
            for hook in list(self._hooks.values()):
                self._drop(hook.uid)
                self._hooks[hook.uid] = hook._replace(enabled=False, rule=0)
            self._free()

    def _drop(self, uid: int) -> None:
        hook = self._hooks.pop(uid, None)
        if hook is not None and hook.rule:
            with suppress(BtError):  # somebody at the debugger's prompt may have cleared it
                debugger_of(self.run).clear(hook.rule)

    def _free(self) -> None:
        """Resumes the run when no breakpoint holds it."""
        kept = {uid for uid in self._held if uid in self._hooks and self._hooks[uid].rule}
        held, self._held = bool(self._held), kept
        if held and not kept:
            debugger_of(self.run).resume()

    def dump(self) -> bytes:
        return json.dumps([hook.told() for hook in self._hooks.values()]).encode()


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


def _hook(told: Any, place: Callable[[int], str | None]) -> Hook:
    uid = _uid(told)
    path = place(uid)
    if path is None:
        raise Refusal("Node ID not found")
    if told.get("mode", 0) != 0:
        raise Refusal("a hook here holds the run, and does not replace a result")
    return Hook(
        uid, 1 if told.get("position") == 1 else 0, told.get("once") is True, told.get("enabled") is not False, path
    )
