"""The services of a resumed run: those that its journal names or needs; others only on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.agents.recorded import models
from bt_runtime.journal import sources
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.store import JournalLimits
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.model_setting import apart
from bt_runtime.memory.opening import in_file, open_memory
from bt_runtime.memory.store import Store
from bt_runtime.run.replay.dry import Brake

ANYWAY = "put back what it had, or go on all the same: `btr runs resume RUN --changed`, `resume(run, changed=True)`"


class CannotResume(BtError):
    """Raised when a run cannot continue from its journal."""


class Offer(NamedTuple):
    """What the caller of `resume` gave; None: what the run had."""

    model: Any = None
    memory: Any = None
    world: Any = None
    services: Mapping[str, Any] = {}
    skills: tuple[Any, ...] = ()
    clock: Any = None
    limits: JournalLimits | None = None
    changed: bool = False  # what differs from the run's is taken
    brake: Brake | None = None  # the run goes on without effects


class Lack(NamedTuple):
    """Something that is missing, or that differs from the run's."""

    what: str
    way_out: str = ANYWAY
    final: bool = False  # nothing can go on, even with `changed`


def refit(recording: Recording, offer: Offer) -> dict[str, Any]:
    """`model` and `memory` for the run; raises before anything is opened when they are not what the run had."""
    head = recording.head
    had: dict[str, Any] = head.get("given") or {}
    roles, lacks = _models(head, had.get("models") or {}, offer.model)
    lacks += _memory(had.get("memory"), offer.memory)
    lacks += _around(head, had, offer)
    lacks += map(Lack, sources.changed_code(had.get("code") or ()))
    lacks += map(Lack, sources.changed_files(head["files"]))
    refuse(recording.name, lacks, offer.changed)
    return {"model": roles or None, "memory": memory_of(had, offer.memory)}


def refit_memory(recording: Recording, offer: Offer) -> dict[str, Any]:
    """The same for a run that has ended, which asks no model."""
    had: dict[str, Any] = recording.head.get("given") or {}
    refuse(recording.name, list(_memory(had.get("memory"), offer.memory)), offer.changed)
    return {"memory": memory_of(had, offer.memory)}


def refuse(name: str, lacks: list[Lack], changed: bool) -> None:
    lacks = sorted((k for k in lacks if k.final or not changed), key=lambda lack: not lack.final)
    if lacks:
        said = "; ".join(lack.what for lack in lacks)
        raise CannotResume(
            f"{name} cannot be resumed with the model or world of its first part: {said}", lacks[0].way_out
        )


def offered(recording: Recording, part: str, name: str) -> None:
    """Raises for another model or memory of a fork that cannot be opened, or that nobody would ask."""
    if not recording.head.get("models"):
        raise BtError(f"{recording.name} asks no model, and no memory", f"leave the {part} out")
    if part == "memory" and in_file(name) and not Path(name).is_file():
        raise BtError(f"there is no memory {name}", "name a file that is there")
    if part == "model" and models.identified(name).get("digest") == "":
        raise BtError(f"there is no model {name}", "name a file that is there")


def memory_of(had: Mapping[str, Any], given: Any) -> Any:
    return given if given is not None else (had.get("memory") or {}).get("name")


def _models(head: Mapping[str, Any], had: Mapping[str, Any], given: Any) -> tuple[dict[str, Any], list[Lack]]:
    """For each role that the run had, and what is amiss."""
    offered = models.by_role(given)
    found, lacks = {}, []
    for role in dict.fromkeys([*had, *(head.get("models") or {})]):
        was = had.get(role) or {"object": "not named in the journal"}
        now = offered.get(role, offered.get("default"))
        found[role] = now if now is not None else _found(was)
        lack = _model(f"its model `{role}`" if role != "default" else "its model", was, now)
        lacks += [lack] if lack is not None else []
    return found, lacks


def _found(was: Mapping[str, Any]) -> str | None:
    """Resolves a model's name."""
    if "name" not in was or apart(was["name"]).how:
        return was.get("name")
    return str(models.file_of(was["name"]) or was["name"])


def _model(called: str, was: Mapping[str, Any], given: Any) -> Lack | None:
    if given is not None:
        now = models.identified(given)
        if "name" in now and now.get("digest") == "":
            return Lack(f"there is no model {now['name']}", "name a file that is there", final=True)
        same = "digest" if now.get("digest") else "name" if "name" in now else "object"
        if now[same] == was.get(same):
            return None
        return Lack(f"{called} was {was.get('name') or was['object']}, not {now.get('name') or now['object']}")
    if "name" not in was:
        hint = "give it again: `resume(run, model=…)`; or another: `btr runs resume RUN --model FILE --changed`"
        return Lack(f"{called} was made by a program ({was['object']})", hint, final=True)
    place = models.file_of(was["name"])
    digest = models.file_digest(was["name"]) if place is not None else ""
    if place is None or digest == was["digest"]:
        return None
    if digest:
        return Lack(f"{called}, {place}, has changed")
    hint = "put it back, or name another one: `btr runs resume RUN --model FILE --changed`"
    return Lack(f"{called}, {place}, is not there any more", hint, final=True)


def _memory(was: Mapping[str, Any] | None, given: Any) -> Iterator[Lack]:
    if was is None:
        if given is not None:
            yield Lack("it had no memory")
    elif "object" in was:
        if given is None:
            hint = "give it again: `resume(run, memory=…)`; or another: `btr runs resume RUN --memory FILE --changed`"
            yield Lack(f"its memory was made by a program ({was['object']})", hint, final=True)
        elif sources.class_name(given) != was["object"]:
            yield Lack(f"its memory was another one ({was['object']})")
    elif given is not None and not isinstance(given, str | Path):
        yield Lack(f"its memory was {was['name']}")
    else:
        yield from _named(str(given or was["name"]), was)


def _named(name: str, was: Mapping[str, Any]) -> Iterator[Lack]:
    if in_file(name) and not Path(name).is_file():
        yield Lack(f"its memory, {name}, is not there any more")
        return
    memory: Any = Store(Path(name), readonly=True) if in_file(name) else open_memory(name, len)
    try:
        if was["identity"] and memory.identity() != was["identity"]:
            yield Lack(f"{name} is another memory than the one it had")
    finally:
        memory.close()


def _around(head: Mapping[str, Any], had: Mapping[str, Any], offer: Offer) -> Iterator[Lack]:
    for name, kind in (had.get("services") or {}).items():
        given = offer.services.get(name)
        if given is None:
            hint = f"give it again: `resume(run, services={{{name!r}: …}})`"
            yield Lack(f"`{name}` was given by a program ({kind})", hint)
        elif sources.class_name(given) != kind:
            yield Lack(f"`{name}` was another one ({kind})")
    world = head.get("world")
    if world is not None and offer.world is not None:
        was = sources.short(str(world["class"]).rpartition(":")[2])
        if sources.class_name(offer.world) != was:
            yield Lack(f"its world was {was}, not {sources.class_name(offer.world)}")
