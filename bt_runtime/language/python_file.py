"""Reads the names and callables of a Python file without running it.

Unknown decorators, foreign base classes and `import *` make the result unknown instead of guessed."""

from __future__ import annotations

import _ast  # the module `ast` takes longer to import than most files to parse
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from bt_runtime.language.project import disk

Syntax: TypeAlias = Any  # a node of Python's own syntax tree, by whatever class
LARGEST = 100_000  # bytes of a file that is looked at: Python's parser is quadratic in an f-string
FARTHEST = 5  # imports that are followed to where a name is defined
_MARKS = frozenset({"skill", "dataclass", "final", "override", "runtime_checkable"})
_PLAIN_BASES = frozenset({"Skill", "object"})
_DYNAMIC = (b"globals(", b"exec(", b"__getattr__", b"setattr(")


class BrokenPython(NamedTuple):
    """A syntax error in a Python file, with its place."""

    message: str
    line: int
    column: int
    text: str


class Callee(NamedTuple):
    """A callable's signature. `takes` is None when its parameters are unknown."""

    form: str  # function, async, generator, class, unknown
    takes: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()
    anything: bool = False  # **kwargs
    cannot: str = ""  # why it is no skill at all


UNKNOWN = Callee("unknown")


class Module(NamedTuple):
    path: Path
    names: dict[str, Syntax]  # name → what it was bound to last
    open: bool  # `import *` or the like may add names


def too_large(path: Path) -> bool:
    try:
        return path.stat().st_size > LARGEST
    except OSError:
        return False


def module(path: Path) -> Module | BrokenPython | None:
    """Returns the names of a Python file; None when it is unreadable or too large."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return _read(path, stat.st_mtime_ns, stat.st_size) if stat.st_size <= LARGEST else None


@lru_cache(maxsize=256)
def _read(path: Path, changed: int, size: int) -> Module | BrokenPython | None:
    try:
        data = disk.read(path, LARGEST)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree: Syntax = compile(data, str(path), "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        text = data.decode("utf-8", "replace")
        return BrokenPython(str(error.msg), error.lineno or 1, error.offset or 1, text)
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    names: dict[str, Syntax] = {}
    found = _bind(tree.body, names)
    return Module(path, names, not found or any(word in data for word in _DYNAMIC))


def _bind(body: Sequence[Syntax], names: dict[str, Syntax]) -> bool:
    """Collects the names that statements bind, also within `if` and `try`. Returns False when there may be more."""
    whole = True
    for each in body:
        if isinstance(each, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            names[each.name] = None if each.name in names else each  # two of a name: which one, nobody knows
        elif isinstance(each, (_ast.Import, _ast.ImportFrom)):
            for alias in each.names:
                whole = whole and alias.name != "*"
                names[alias.asname or alias.name.partition(".")[0]] = each
        else:
            for name in _stored(each):
                names[name] = None
            for part in ("body", "orelse", "finalbody"):
                whole = _bind(getattr(each, part, ()), names) and whole
            for part in (*getattr(each, "handlers", ()), *getattr(each, "cases", ())):
                whole = _bind(part.body, names) and whole
    return whole


def _stored(node: Syntax) -> Iterator[str]:
    """Yields the names that a statement assigns."""
    todo = [node]
    while todo:
        each = todo.pop()
        if isinstance(each, _ast.Name) and isinstance(each.ctx, _ast.Store):
            yield each.id
        elif isinstance(each, _ast.AST):
            below = [getattr(each, field, None) for field in each._fields]
            todo.extend(below)
        elif isinstance(each, list):
            todo.extend(e for e in each if not isinstance(e, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)))


def callee(home: Module, name: str, far: int = 0) -> Callee:
    """Returns the signature of a name in the file when called as a skill."""
    node = home.names.get(name)
    if isinstance(node, _ast.ClassDef):
        return _class(node, home)
    if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
        if any(_last(each) == "condition" for each in node.decorator_list):
            return Callee("unknown", cannot=f"`{name}` is marked `@condition`: write `@skill(…, condition=True)`")
        return _function(node) if _plain(node.decorator_list) else UNKNOWN
    if isinstance(node, _ast.ImportFrom) and far < FARTHEST:
        source = _imported(home.path, node)
        said = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        found = module(source) if source is not None else None
        if isinstance(found, Module) and said in found.names:
            return callee(found, said, far + 1)
    return UNKNOWN


def _imported(path: Path, node: Syntax) -> Path | None:
    """Returns the file of `from .place import name`; the file of another import is uncertain."""
    if not node.level:
        return None
    folder = path.parents[node.level - 1] if len(path.parents) >= node.level else None
    if folder is None or not node.module:
        return None
    inner = folder.joinpath(*node.module.split("."))
    return next((p for p in (inner.with_suffix(".py"), inner / "__init__.py") if p.is_file()), None)


def _plain(decorators: Sequence[Syntax]) -> bool:
    return all(_last(each) in _MARKS for each in decorators)


def _last(node: Syntax) -> str:
    """`bt.skill("…")` → skill"""
    inner = node.func if isinstance(node, _ast.Call) else node
    return str(getattr(inner, "attr", None) or getattr(inner, "id", ""))


def _function(node: Syntax, method: bool = False) -> Callee:
    arguments = node.args
    positional = arguments.args[1:] if method and not arguments.posonlyargs else arguments.args
    without = len(arguments.args) - len(arguments.defaults)
    needed = [each.arg for at, each in enumerate(arguments.args) if at < without and each in positional]
    needed += [e.arg for e, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    names = tuple(each.arg for each in (*positional, *arguments.kwonlyargs))
    form = "async" if isinstance(node, _ast.AsyncFunctionDef) else "generator" if _yields(node) else "function"
    if arguments.posonlyargs and not method:
        said = f"`{arguments.posonlyargs[0].arg}` can only be given by its position, and a skill is called by names"
        return Callee(form, cannot=said)
    return Callee(form, names, tuple(needed), arguments.kwarg is not None)


def _yields(node: Syntax) -> bool:
    todo = list(node.body)
    while todo:
        each = todo.pop()
        if isinstance(each, (_ast.Yield, _ast.YieldFrom)):
            return True
        if isinstance(each, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef, _ast.Lambda)):
            continue
        if isinstance(each, _ast.AST):
            todo.extend(getattr(each, field, None) for field in each._fields)
        elif isinstance(each, list):
            todo.extend(each)
    return False


def _class(node: Syntax, home: Module) -> Callee:
    """Returns a class's signature: constructed without arguments, parameters given to `start` or `__call__`."""
    methods = {e.name: e for e in node.body if isinstance(e, (_ast.FunctionDef, _ast.AsyncFunctionDef))}
    bases = [_last(base) for base in node.bases]
    own = [base for base in bases if isinstance(home.names.get(base), _ast.ClassDef)]
    known = (
        not node.keywords and _plain(node.decorator_list) and all(base in _PLAIN_BASES for base in bases) and not own
    )
    making = _function(methods["__init__"], method=True) if "__init__" in methods else None
    if making is not None and making.needs:
        return Callee(
            "class", cannot=f"`{node.name}()` needs {_listed(making.needs)}, and a skill is made with nothing"
        )
    if known and making is None and any(_last(each) == "dataclass" for each in node.decorator_list):
        left = _open_fields(node)
        if left:
            return Callee("class", cannot=f"`{node.name}()` needs {_listed(left)}, and a skill is made with nothing")
    polled = "poll" in methods or "Skill" in bases
    if known and not polled and "__call__" not in methods:
        return Callee("class", cannot=f"`{node.name}` has no `poll`, and cannot be called")
    start = methods.get("start" if polled or not known else "__call__")
    if start is None:
        if known and "Skill" in bases:
            return Callee("class", (), (), True)  # that of Skill takes anything
        return Callee("class", cannot=f"`{node.name}` has no `start`") if known else Callee("class")
    if not _plain(start.decorator_list):
        return Callee("class")
    return _function(start, method=True)._replace(form="class")


def _open_fields(node: Syntax) -> tuple[str, ...]:
    """Returns the dataclass fields without a default."""
    fields = [each for each in node.body if isinstance(each, _ast.AnnAssign) and each.value is None]
    names = [each.target.id for each in fields if isinstance(each.target, _ast.Name) and "ClassVar" not in _names(each)]
    frozen_out = any(k.arg == "init" for d in node.decorator_list if isinstance(d, _ast.Call) for k in d.keywords)
    return () if frozen_out else tuple(names)


def _names(field: Syntax) -> set[str]:
    note = field.annotation
    inner = note.value if isinstance(note, _ast.Subscript) else note
    return {_last(inner), *(["ClassVar"] if isinstance(note, _ast.Constant) and "ClassVar" in str(note.value) else [])}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
