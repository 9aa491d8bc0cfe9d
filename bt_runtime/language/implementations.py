"""Checks the Python that a manifest or a tree names, without running it: it exists and takes the right arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, did_you_mean, nearest
from bt_runtime.language.import_policy import CODE as REFUSED
from bt_runtime.language.import_policy import FREE, ImportPolicy, places
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.project import real, shown_path
from bt_runtime.language.spec import NodeSpec
from bt_runtime.types import Span

CODE = "BT050"


class Spots(NamedTuple):
    """The places of a skill's parts in its manifest."""

    impl: Span
    params: dict[str, Span]


class CheckedFiles(NamedTuple):
    """The result of a check of Python files: faults, and the texts of the faulty files."""

    faults: list[Diagnostic]
    sources: dict[str, str]


def of_nodes(nodes: Iterable[NodeSpec], import_policy: ImportPolicy, folder: Path) -> CheckedFiles:
    """Returns the faults in the Python that a tree's own `py` nodes name."""
    found = CheckedFiles([], {})
    for node in nodes:
        name = str(node.values["class"])
        refusal = import_policy.refusal(name, folder)
        span = node.given["class"].span if "class" in node.given else node.span
        if refusal is not None:
            found.faults.append(Diagnostic(REFUSED, refusal.message, node.file, span, help=refusal.hint))
        elif not name.startswith(FREE):
            more = missing(name, folder, node.file, span)
            found.faults.extend(more.faults)
            found.sources.update(more.sources)
    return found


def faults_of(kinds: Iterable[Kind], spots: Mapping[str, Spots], file: str) -> CheckedFiles:
    """Returns the faults in the Python of one manifest's skills."""
    found = CheckedFiles([], {})
    for kind in kinds:
        spot = spots.get(kind.name)
        if spot is not None:
            found.faults.extend(_skill(kind, spot, file, found.sources))
    return found


def missing(reference: str, folder: Path, file: str, span: Span) -> CheckedFiles:
    """Returns the faults of a lone reference, such as the class of a `py` node."""
    found = CheckedFiles([], {})
    found.faults.extend(fault for fault, _ in _look(reference, folder, file, span, found.sources) if fault)
    return found


def _skill(kind: Kind, spot: Spots, file: str, sources: dict[str, str]) -> Iterator[Diagnostic]:
    entry = kind.data["entry"]
    for fault, target in _look(entry.impl, Path(entry.folder), file, spot.impl, sources):
        if fault is not None:
            yield fault
        elif target is not None:
            yield from _fit(kind, target, spot, file)


def _look(
    reference: str, folder: Path, file: str, span: Span, sources: dict[str, str]
) -> Iterator[tuple[Diagnostic | None, tuple[object, str] | None]]:
    """Returns a diagnostic, or the module and its name; nothing when it cannot be known."""
    from bt_runtime.language import python_file
    from bt_runtime.language.project.importing import split

    try:
        home, name = split(reference)
    except BtError as error:
        yield Diagnostic(CODE, error.message, file, span, help=error.hint), None
        return
    path, fault = _file(home, folder, file, span) if home.endswith(".py") else _module(home, file, span)
    if path is None:
        if fault is not None:
            yield fault, None
        return
    module = python_file.module(path)
    if isinstance(module, python_file.BrokenPython):
        sources[shown_path(path)] = module.text
        place = Span(module.line, module.column, module.line, module.column + 1)
        yield Diagnostic(CODE, f"this is not Python: {module.message}", shown_path(path), place), None
    elif module is None and home.endswith(".py") and python_file.too_large(path):
        message = f"`{home}` holds more than {python_file.LARGEST:,} bytes: whether it has `{name}` is not checked"
        help = "split it into modules that it imports"
        yield Diagnostic(CODE, message, file, span, "", help, "warning"), None
    elif module is not None:
        first = name.partition(".")[0]
        if first in module.names:
            yield None, (module, name)
        elif not module.open:
            label = did_you_mean(first, module.names)
            yield (
                Diagnostic(CODE, f"`{home}` has no `{first}`", file, span, label, "name a function or class in it"),
                None,
            )


def _file(home: str, folder: Path, file: str, span: Span) -> tuple[Path | None, Diagnostic | None]:
    path = real(folder / home)
    if path.is_file():
        return path, None
    beside = [each.name for each in path.parent.glob("*.py")] if path.parent.is_dir() else []
    label = did_you_mean(path.name, beside)
    help = "a path.py:Name is relative to the folder of the file that names it"
    return None, Diagnostic(CODE, f"there is no file `{home:.80}`", file, span, label, help)


def _module(home: str, file: str, span: Span) -> tuple[Path | None, Diagnostic | None]:
    """Returns the file of a module. A module that is not installed is a warning only: the tree may run on another
    machine."""
    top, *inner = home.split(".")
    found = places(top)
    if found is None:
        help = "it must be installed, or on the path, where the tree runs"
        return None, Diagnostic(CODE, f"there is no module `{top}` here", file, span, "", help, "warning")
    for at, part in enumerate(inner):
        folders = [each for each in found if each.is_dir()]
        found = [p for each in folders for p in (each / part, each / f"{part}.py") if p.exists()]
        if not found:
            if not folders or any(list(each.glob(f"{part}.*")) for each in folders):
                return None, None
            said = ".".join((top, *inner[:at]))
            return None, Diagnostic(CODE, f"there is no module `{part}` in `{said}`", file, span)
    files = [each / "__init__.py" if each.is_dir() else each for each in found]
    return next((each for each in files if each.suffix == ".py" and each.is_file()), None), None


def _fit(kind: Kind, target: tuple[object, str], spot: Spots, file: str) -> Iterator[Diagnostic]:
    """Checks the callable: its form, and that its parameters fit the manifest's."""
    from bt_runtime.language.python_file import Module, callee

    module, name = target
    if "." in name or not isinstance(module, Module):
        return
    called = callee(module, name)
    if called.cannot:
        yield Diagnostic(CODE, called.cannot, file, spot.impl, help="docs/skills.md shows the forms a skill may have")
        return
    if kind.data["entry"].instant and called.form in ("async", "generator", "class"):
        message = f"`{name}` cannot be instant: it is {'a class' if called.form == 'class' else f'{called.form}'}"
        help = "what is instant is a plain function, which answers when it returns"
        yield Diagnostic(CODE, message, file, spot.impl, help=help)
    if called.takes is None:
        return
    params = [field.name for field in kind.fields if not field.writes]
    takes = f"it takes {', '.join(called.takes) or 'nothing'}"
    meant: set[str] = set()
    for unknown in () if called.anything else [p for p in params if p not in called.takes]:
        close = nearest(unknown, [each for each in called.takes if each not in params])
        meant |= {close} if close else set()
        label = f"did you mean `{close}`?" if close else ""
        yield Diagnostic(
            CODE, f"`{name}` takes no `{unknown}`", file, spot.params.get(unknown, spot.impl), label, takes
        )
    for lacking in [n for n in called.needs if n not in params and n not in meant]:
        help = f"add it to `params`, or give it a default in Python; {takes}"
        yield Diagnostic(CODE, f"`{name}` needs `{lacking}`, which is not among `params`", file, spot.impl, help=help)
