"""Finds suites by name: a world with its tasks and its oracle, ours, a plugin's, or `path.py:Name`."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from inspect import signature
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable
from zlib import crc32

from bt_runtime.language import import_policy, project
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.project import importing, plugins
from bt_runtime.types import Json, Task, World

Split = Literal["train", "dev", "eval"]


@runtime_checkable
class Suite(Protocol):
    """A world with its tasks and its oracle. Stateless: everything random comes from `seed`."""

    name: str
    kinds: Sequence[str]  # the kinds of task, in the order that help shows them
    skills: str  # the manifest in skills/ whose sentences this world acts

    def open(self, **options: Any) -> World:
        """Opens a fresh world; an unknown option raises BtError. `data`: a folder of outside data."""

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None, **options: Any
    ) -> list[Task]:
        """Returns tasks, equal for equal arguments. Splits share no task."""

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        """Sentences that reach the goal, one at a time. The caller resets the world and acts each one before
        asking for the next, so an oracle may look at the world as it goes."""


# What a suite may be able to do besides; each is looked for by `isinstance`, and none is needed.


@runtime_checkable
class Rare(Protocol):
    asked_for: Sequence[str]  # more kinds of task, which are made only when they are named


@runtime_checkable
class Outside(Protocol):
    reads_data: Sequence[Literal["open", "tasks"]]  # calls that take `data`, a folder of outside data


@runtime_checkable
class Parted(Protocol):
    splits: Sequence[Split]  # splits of its tasks, if not train and eval


@runtime_checkable
class Wanting(Protocol):
    def wanted(self, task: Task) -> Mapping[str, int]:
        """The kinds of things in a task's goal, in the words for them, with their numbers."""


@runtime_checkable
class Hidden(Protocol):
    def hidden(self, kind: str, options: Mapping[str, str]) -> Sequence[str]:
        """Returns sentences that tell the hidden facts of tasks of this kind, made with these options."""


class Wanted(NamedTuple):
    """A request for tasks. `data`: the folder of outside data."""

    seed: int = 0
    episodes: int = 10
    split: Split = "eval"
    kinds: tuple[str, ...] = ()
    data: str = ""
    options: Mapping[str, Any] = {}  # options of the world's tasks

    def of_data(self, path: Path, folder: str, **options: Any) -> Wanted:
        """Returns the data folder: the folder that holds `folder/` with this file."""
        beside = path.resolve().parent
        data = beside.parent if beside.name == folder else beside
        return self._replace(data=self.data or str(data), options={**self.options, **options})


class Read(NamedTuple):
    """The tasks of a file, and the options with which to open their world."""

    tasks: list[Task]
    world: Mapping[str, Json] = {}


@runtime_checkable
class Reading(Protocol):
    formats: Sequence[str]  # kinds of task files, in words

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        """Returns the tasks of a file; None when this suite does not know its form."""


def check_split(suite: Suite, split: str) -> None:
    """Raises for a split that the suite does not have."""
    known = suite.splits if isinstance(suite, Parted) else ("train", "eval")
    if split not in known:
        raise BtError(f"the world `{suite.name}` has no split `{split}`", f"it has: {', '.join(known)}")


_SHARES: Mapping[Split, range] = {"train": range(6), "dev": range(6, 8), "eval": range(8, 10)}  # shares of ten


def in_split(name: str, split: Split) -> bool:
    """Returns True when a name belongs to this split. The name alone decides, so that the three splits never
    overlap."""
    return crc32(name.encode()) % 10 in _SHARES[split]


Part = Literal["split", "all"]


def shared_out(
    known: Iterable[Any], name_of: Callable[[Any], str], world: str, seed: int, split: Split, part: str, where: object
) -> list[Any]:
    """Selects a split's share of a user's data, chosen by name, in an order decided by the seed. `part="all"`
    selects everything."""
    if part not in get_args(Part):
        raise BtError(f"there is no part `{part}` of it", f"parts: {', '.join(get_args(Part))}")
    own = [each for each in known if part == "all" or in_split(name_of(each), split)]
    if not own:
        raise BtError(f"{where} has nothing of these kinds for {split}", "ask for other kinds or a split")
    Random(f"{world} {split} {seed}").shuffle(own)
    return own


def tasks_of(suite: Suite, wanted: Wanted) -> Read:
    """Returns tasks that the suite makes with the given options."""
    check_split(suite, wanted.split)
    options = {**wanted.options, **({"data": wanted.data} if wanted.data else {})}
    tasks = suite.tasks(wanted.seed, wanted.episodes, wanted.split, list(wanted.kinds) or None, **options)
    return Read(tasks, {"data": wanted.data} if wanted.data and takes_data(suite, "open") else {})


def goal_things(name: str, task: Task) -> Mapping[str, int]:
    """Returns the things in a task's goal, as far as its suite names them."""
    suite = open_suite(name)
    return suite.wanted(task) if isinstance(suite, Wanting) else {}


def takes_data(suite: Suite, call: Literal["open", "tasks"]) -> bool:
    return isinstance(suite, Outside) and call in suite.reads_data


class Alone:
    """Wraps a world without tasks as a suite with one task, which carries only a name. The tree supplies the goal."""

    kinds: Sequence[str] = ()
    skills = ""

    def __init__(self, name: str, make: Callable[..., World]) -> None:
        self.name, self.make = name, make

    def open(self, **options: Any) -> World:
        try:
            signature(self.make).bind(**options)
        except TypeError as error:
            raise BtError(
                f"the world `{self.name}` cannot be opened so: {error}", "give the options that its class takes"
            ) from None
        return self.make(**options)

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None, **options: Any
    ) -> list[Task]:
        no_more_options(self.name, options, ())
        return [Task(self.name, "", "", {})]

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        raise BtError(f"the world `{self.name}` has no suite, and so neither tasks nor an oracle",
                      "register a suite for it: docs/extending.md")  # fmt: skip


# By name -------------------------------------------------------------------------------------------


def suite_names() -> list[str]:
    """Returns the name of every world."""
    return plugins.names("suites", "worlds")


def open_suite(name: str) -> Suite:
    """Returns the suite of a name or of `path.py:Name`: a Suite, or the class of a world."""
    if importing.in_file(name):
        return _fitting(name, import_policy.bring(name)) or _unfit(name)
    entry = plugins.find(name, "suites", "worlds")
    if entry is None:
        known = suite_names()
        hint = did_you_mean(name, known, f"worlds here: {', '.join(known)}")
        if not known:
            hint = "no world is installed: pip install 'bt_runtime[envs]' brings those of the papers"
        raise BtError(f"no world is called `{name}`", hint)
    return of_plugin(entry)


@lru_cache(maxsize=32)
def of_plugin(entry: plugins.Entry) -> Suite:
    """Imports a plugin's suite once: an evaluation opens a world for each of its episodes."""

    def fits(found: object) -> bool:
        return _fitting(entry.name, found) is not None

    suite = _fitting(entry.name, plugins.load(entry, "a suite, or the class of a world", fits))
    assert suite is not None
    return suite


def _fitting(name: str, found: Any) -> Suite | None:
    if isinstance(found, type) and all(hasattr(found, part) for part in ("open", "tasks", "oracle")):
        found = found()
    if isinstance(found, Suite):
        return found
    return Alone(name, found) if callable(found) else None


def _unfit(name: str) -> Suite:
    raise BtError(f"`{name}` is not a suite, nor the class of a world", "docs/extending.md shows both")


# Worlds ----------------------------------------------------------------------------------------------


class Origin(NamedTuple):
    """The name and options with which an equal world can be opened."""

    name: str = ""  # empty: by a program, in a way that nobody knows
    options: Mapping[str, Json] = {}


_opened: dict[int, tuple[weakref.ref[Any], Origin]] = {}  # by the world's identity: it need not be hashable


def open_world(name: str, **options: Any) -> World:
    """`open_world("house", feedback="terse")`: a fresh world, ready for `reset(task)`."""
    world = open_suite(name).open(**options)
    if not isinstance(world, World):
        lacks = ", ".join(part for part in _PARTS if not hasattr(world, part))
        raise BtError(f"what `{name}` opens is not a world: it has no {lacks}", "docs/extending.md shows one")
    key = id(world)
    with suppress(TypeError):  # a world with slots is known by its class
        _opened[key] = weakref.ref(world, lambda gone: _opened.pop(key, None)), Origin(_kept_as(name), options)
    return world


def origin_of(world: Any) -> Origin:
    """Returns how a world was opened. For a world that a program built itself, returns the one suite that its class
    belongs to."""
    known, origin = _opened.get(id(world), (None, Origin()))
    if known is not None and known() is world:
        return origin
    home = type(world).__module__
    names = {entry.name for group in _GROUPS for entry in plugins.entries(group) if _holds(entry, home)}
    return Origin(names.pop()) if len(names) == 1 else Origin()


def _holds(entry: plugins.Entry, module: str) -> bool:
    """True when the module belongs to the suite's own package."""
    own = entry.value.partition(":")[0]
    package = own.rpartition(".")[0] or own
    return module == package or module.startswith(f"{package}.")


def _kept_as(name: str) -> str:
    """Returns the name with a project file's path made relative, so that a journal stays valid in another place."""
    root = (project.find_root() or Path.cwd()).resolve()
    at = Path(importing.whole(name, root)) if importing.in_file(name) else None
    return str(at.relative_to(root)) if at is not None and at.is_relative_to(root) else name


_GROUPS: tuple[plugins.Group, ...] = ("suites", "worlds")
_PARTS = ("reset", "look", "skills", "act", "verdict", "holds", "digest", "snapshot", "restore", "close")


def choose_kinds(known: Sequence[str], asked: Sequence[str] | None) -> Sequence[str]:
    """Returns the requested kinds of task, all when none is named; raises for an unknown kind."""
    for kind in asked or ():
        if kind not in known:
            raise BtError(f"no kind of task is called `{kind}`", did_you_mean(kind, known, _list(known)))
    return list(asked) if asked else known


def no_more_options(world: str, left: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raises for an option that the suite does not know."""
    for name in left:
        raise BtError(f"the world `{world}` has no option `{name}`", _list(known) if known else "it takes none here")


def number_option(name: str, given: object, least: float, whole: bool = False) -> float:
    """Returns an option's value as a number of at least `least`; raises for other values."""
    try:
        number = int(str(given)) if whole else float(str(given))
    except ValueError:
        number = -math.inf
    if not least <= number < math.inf:
        kind = "a whole number" if whole else "a number"
        raise BtError(f"`{name}` is {kind} from {least:g} on, not {given!r:.60}", f"{name}={max(1, least):g}")
    return number


def _list(known: Sequence[str]) -> str:
    return f"known: {', '.join(known)}"
