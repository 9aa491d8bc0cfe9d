"""Ways to carry out a manifest's skill, brought by installed distributions: `impl: ros/action`.

An entry point `ros` in the group `bt_runtime.impls` names a mapping: `action` → what is here, with keys of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError, nearest
from bt_runtime.language.kinds.shape import Schema
from bt_runtime.language.project import plugins

WANTED = "a mapping of names to an Implementation each"
WITHIN = "SERVER/TOOL"  # the name of a way whose skills are named within it: `mcp/time/convert`
_NAME = re.compile(r"(?!world/)[^\W\d]\w*/(?:[^\W\d]\w*|[^\W\d]\w*/[A-Za-z0-9_.\-]{1,128})")


class Implementation(NamedTuple):
    """`make`, `check` and `reasons` are module:Name, imported when they are needed.

    make: called with the kind and the run's context, gives what is started: a Skill, a function, … (of an `instant`
    one a plain function). check: called with the kind, gives what is wrong with it: key, message, way out.
    reasons: called with pairs of an `impl` and the folder of its manifest, gives what running them starts or sends, for
    the question about trust.
    """

    about: str
    make: str
    keys: Mapping[str, Schema] = {}
    required: tuple[str, ...] = ()
    check: str = ""
    instant: bool = False
    reasons: str = ""


def named_so(impl: str) -> bool:
    """True for a name of the form `ros/action` or `mcp/time/convert`."""
    return _NAME.fullmatch(impl) is not None


def find(impl: str) -> Implementation:
    """Raises when nothing of that name is installed."""
    home, _, name = impl.partition("/")
    entry = plugins.find(home, "impls")
    if entry is None:
        close = nearest(home, plugins.names("impls"))
        raise BtError(f"nothing that is installed does `{impl}`", f"did you mean `{close}/{name}`?" if close else
                      f"there is: {', '.join(sorted(f'{each}/…' for each in plugins.names('impls')))}")  # fmt: skip
    found = of_plugin(entry)
    way = found.get(WITHIN if "/" in name else name)
    if way is None:
        close = nearest(name, found)
        hint = f"did you mean `{home}/{close}`?" if close else f"it has: {', '.join(f'{home}/{n}' for n in found)}"
        raise BtError(f"`{home}` has no `{name}`", hint)
    return way


@lru_cache(maxsize=16)
def of_plugin(entry: plugins.Entry) -> Mapping[str, Implementation]:
    def fits(found: object) -> bool:
        return isinstance(found, Mapping) and all(isinstance(each, Implementation) for each in found.values())

    ways: Mapping[str, Implementation] = plugins.load(entry, WANTED, fits)
    return ways


def keys_of(impls: Iterable[str]) -> dict[str, Schema]:
    """Returns the manifest keys of these implementations. Unavailable ones are skipped: naming one reports it."""
    keys: dict[str, Schema] = {}
    for impl in sorted(set(impls)):
        try:
            keys |= {key: schema for key, schema in find(impl).keys.items() if key not in keys}
        except BtError:
            continue
    return keys


def every(ours: bool = False) -> Iterator[str]:
    """Yields the names of all installed ways."""
    for entry in plugins.entries("impls"):
        if entry.ours or not ours:
            try:
                yield from (f"{entry.name}/{name}" for name in of_plugin(entry))
            except BtError:
                continue
