"""Asks for trust before a command runs code from a folder or a journal: one question, once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language import impls, project
from bt_runtime.language.entry import ELSEWHERE
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.import_policy import read_kinds
from bt_runtime.language.project import importing, real, trust
from bt_runtime.llm.backends import is_file
from bt_runtime.llm.model_setting import apart
from bt_runtime.llm.settings import NAMED_FILES
from bt_runtime.memory.opening import in_file

if TYPE_CHECKING:
    from bt_runtime.language.settings import Settings
    from bt_runtime.run.run import Tree

MOST = 6  # reasons that are shown


def trees(found: Iterable[Tree], settings: Settings) -> None:
    """Asks about the folders of these trees. Raises when the answer is no, or nobody can answer."""
    named(settings["env"], settings["model"], settings["models"])
    wanted: dict[Path, list[str]] = {}
    for tree in found:
        wanted.setdefault(home_of(tree), []).extend(python_of(tree))
    said_elsewhere = settings["model"] and not settings.value("model").source.startswith(project.PROJECT_FILE)
    if settings.file.path is not None and not said_elsewhere:
        models = {name: value for name, (value, _) in settings.file.values.items() if name in ("model", "models")}
        wanted.setdefault(settings.file.path.parent, []).extend(f"questions go to {a}" for a in addresses(models))
    if settings.file.path is not None:
        wanted.setdefault(settings.file.path.parent, []).extend(_kept_elsewhere(settings))
    for folder, reasons in wanted.items():
        if reasons and not trust.knows(folder):
            ask(folder, reasons)


def named(*given: Any) -> None:
    """Asks about `path.py:Name` where the name of a world or a model could stand."""
    asked_about(list(_in_files(given)))


def kinds() -> None:
    """Asks about the kinds of nodes that the project names: they are imported before any tree is read."""
    root = project.find_root()
    asked_about(list(read_kinds(root / project.PROJECT_FILE)) if root is not None else [])


def asked_about(reasons: list[str]) -> None:
    """Asks for trust in the project's folder, or the working directory, when there are reasons to."""
    home = real(project.find_root() or Path.cwd())
    if reasons and not trust.knows(home):
        ask(home, reasons)


def _in_files(given: Any) -> Iterator[str]:
    if isinstance(given, str) and given.lstrip().startswith("{"):
        yield from _in_files(apart(given).where)
    elif isinstance(given, str) and importing.in_file(given):
        yield given
    elif isinstance(given, dict | tuple):
        for each in given.values() if isinstance(given, dict) else given:
            yield from _in_files(each)


def journal(path: Path, head: Mapping[str, Any], tree: Tree | None) -> bool:
    """Asks whether to trust a journal that is to be resumed; True when its present content was already trusted."""
    reasons = [f"questions go to {a}" for a in addresses(head.get("model"))]
    reasons += python_of(tree) if tree is not None else ["Python that its tree names"]
    reasons += _in_files(((head.get("world") or {}).get("suite"), head.get("model")))
    memory = ((head.get("given") or {}).get("memory") or {}).get("name")
    if isinstance(memory, str) and not (in_file(memory) and _at_hand(Path(memory))):
        reasons.append(f"experiences are read from and written to {memory}")
    if not reasons or trust.knows(path.parent):
        return False
    if not trust.knows(path):
        ask(path, reasons)
    now = trust.digest(path)
    return any(entry.digest == now for entry in trust.listed())


def _kept_elsewhere(settings: Settings) -> Iterator[str]:
    """Names the settings of a project file that would write outside the project's folder."""
    for name in ("memory", "runs"):
        value, source = settings[name], settings.value(name).source
        if isinstance(value, str) and source.startswith(project.PROJECT_FILE) and settings.file.path is not None:
            root = real(settings.file.path.parent)
            away = name == "memory" and not in_file(value)
            if away or not real(root / Path(value).expanduser()).is_relative_to(root):
                yield f"{name} is kept in {value}"


def home_of(tree: Tree) -> Path:
    return real(tree.first.project or tree.first.home or Path.cwd())


def python_of(tree: Tree) -> list[str]:
    """Lists the Python that the tree imports: for its nodes, and for every skill that its agents may choose. Also
    the servers that it starts."""
    return list(dict.fromkeys((*_python_of(tree), *_servers_of(tree))))


def _servers_of(tree: Tree) -> Iterator[str]:
    """The servers that skills of the tree's manifests are done by, such as MCP's: starting one is running code."""
    entries = {
        (entry.impl, Path(entry.folder))
        for spec in filter(None, (tree.spec, *tree.first.loaded.values()))
        for kind in spec.registry
        if (entry := kind.data.get("entry")) is not None and impls.named_so(entry.impl)
    }
    for impl, folder in sorted(entries):
        with suppress(BtError):  # the check of the tree says what is missing
            if named := impls.find(impl).reasons:
                yield from _function(named)(iter([(impl, folder)]))


def _function(reference: str) -> Callable[[Iterator[tuple[str, Path]]], Iterator[str]]:
    module, _, name = reference.partition(":")
    found: Callable[[Iterator[tuple[str, Path]]], Iterator[str]] = getattr(import_module(module), name)
    return found


def _python_of(tree: Tree) -> Iterator[str]:
    for spec in filter(None, (tree.spec, *tree.first.loaded.values())):
        for node in spec.root.walk():
            name = str(node.values.get("class", "")) if node.kind.name == "py" else ""
            if name and not name.startswith("py_trees."):
                yield name
        for kind in spec.registry:
            entry = kind.data.get("entry")
            if entry is None or entry.impl in (*ELSEWHERE, "python") or impls.named_so(entry.impl):
                continue
            if not project.shipped(Path(entry.folder), "skills"):
                yield entry.impl


def addresses(named: Any) -> list[str]:
    """The model addresses that are not on this machine."""
    if isinstance(named, dict):
        return [a for value in named.values() for a in addresses(value)]
    if isinstance(named, str):
        named = apart(named).where
    if not isinstance(named, str) or named in NAMED_FILES or importing.in_file(named) or is_file(named):
        return []
    return [named] if trust.beyond(named) else []


def _at_hand(path: Path) -> bool:
    """Returns True for a path in the working directory, its project, or the default folder of memories."""
    from bt_runtime.memory.place import default_store

    near = [Path.cwd(), default_store().parent, *filter(None, [project.find_root()])]
    return any(real(path).is_relative_to(real(folder)) for folder in near)


def ask(place: Path, reasons: list[str]) -> None:
    """Asks one question and stores the answer."""
    what = "journal" if place.is_file() else "folder"
    shown, more = reasons[:MOST], len(reasons) - MOST
    told = [f"  {visible(reason)}" for reason in shown] + ([f"  and {more} more"] if more > 0 else [])
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise refused(place, f"the {what} {place} is not trusted, and this would run or send:", told)
    lines = [
        f"You have not said yet that you trust the {what} {visible(str(place))}.",
        "This would run or send:",
        *told,
    ]
    print("\n".join(lines), file=sys.stderr)
    print("Trust it, now and later? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise BtError(f"{place} is not trusted: nothing of it was run", "look at it first; btr validate runs nothing")
    trust.remember(place)


def refused(place: Path, said: str, told: Iterable[str] = ()) -> BtError:
    way = f"look at it, then: btr trust {place}   (or for one command: {trust.VARIABLE}={place})"
    return BtError("\n".join([said, *(line.strip() for line in told)]), way)


def known(what: str, folder: Path, sends: bool = False) -> None:
    """The trust check of commands that run trees: raises for a folder that is not trusted."""
    home = real(folder)
    if project.shipped(home, "trees", "skills"):
        return
    root = project.find_root(home) or home
    if not trust.knows(root) and not trust.knows(home):
        raise refused(root, f"{root} is not trusted, and names {what}")


def never(what: str, folder: Path, sends: bool = False) -> None:
    """The guard of all other commands."""
    if sends:
        known(what, folder, sends)
        return
    raise BtError(f"this command runs nothing of a folder, and {folder} names {what}", "btr run would")
