"""An open memory that a program gives to its run: it answers as a memory does, or is refused."""

from __future__ import annotations

from typing import Any

from bt_runtime.language.faults.diagnostic import BtError


def sound(given: Any) -> Any:
    """Returns the memory unchanged, or raises an error that says what a memory is: before the run, which would lose
    its experiences at its end."""
    lacks = [name for name in ("add", "ask") if not callable(getattr(given, name, None))]
    if lacks:
        raise BtError(
            f"{type(given).__name__} is not a memory: it has no `{lacks[0]}`",
            'name its file (`memory="memory.sqlite"`), or give one that is open: `Episodes.open(FILE)`',
        )
    added = given.add(())  # no experience: it only tells how it answers
    if not all(isinstance(getattr(added, word, None), int) for word in ("new", "known")):
        raise BtError(
            f"`add` of {type(given).__name__} returns {added!r:.60}, which does not say what was added",
            "return an object with the numbers `new` and `known`",
        )
    return given
