"""The forks of a run among the listed journals, for its time line; each opens beside the run it is of."""

from __future__ import annotations

from collections.abc import Mapping
from glob import escape
from pathlib import Path

from bt_runtime.journal.forked import Forked, forked
from bt_runtime.journal.glance import Glance
from bt_runtime.journal.layout import SUFFIX
from bt_runtime.journal.reading import Recording
from bt_runtime.types import Json


def family(path: Path) -> list[Path]:
    """The journal, the run that it was forked from, and its forks, as they lie in one folder."""
    found = [path, *sorted(path.parent.glob(f"{escape(path.stem)}-fork-*{SUFFIX}"))]
    own = forked(Recording(path).head.get("forked")) if path.suffix == SUFFIX else None
    origin = path.with_name(f"{Path(own.of).name}{SUFFIX}") if own is not None else path
    return [*found, origin] if origin != path and origin.is_file() else found


def branches(one: Glance, glances: Mapping[Path, Glance], keys: Mapping[Path, str]) -> dict[str, Json]:
    """Returns the forks of a run, and what it was forked from itself."""
    forks: list[Json] = [
        _row(each, keys[path], each.forked) for path, each in glances.items()
        if each.forked is not None and each.forked.of == one.name and path in keys
    ]  # fmt: skip
    own = one.forked
    origins = [p for p, each in glances.items() if own is not None and each.name == own.of and p in keys]
    of = _row(glances[origins[0]], keys[origins[0]], own) if own is not None and origins else None
    return {"of": of, "forks": forks}


def _row(one: Glance, key: str, at: Forked) -> Json:
    return {"run": key, "name": one.name, "state": one.state, "tick": at.tick, "decision": at.decision}
