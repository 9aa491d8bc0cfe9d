"""Finds out whether a coroutine is inside its own `finally`, where a cancel would cut the clean-up off."""

from __future__ import annotations

import ast
import linecache
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import lru_cache
from types import CodeType, FrameType

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@asynccontextmanager
async def _example() -> AsyncIterator[None]:
    yield


_LEAVING: CodeType = type(_example()).__aexit__.__code__  # the code of every `@asynccontextmanager`


def cleaning_up(work: object) -> bool:
    """True when the coroutine, or one that it awaits, is inside a `finally`; False when its source cannot be read."""
    return any(first <= frame.f_lineno <= last for frame in _frames(work) for first, last in _finallies(frame.f_code))


def _frames(work: object) -> Iterator[FrameType]:
    """Returns the frames of coroutines that await each other, the outermost first."""
    while work is not None:
        frame = getattr(work, "cr_frame", None) or getattr(work, "ag_frame", None) or getattr(work, "gi_frame", None)
        if frame is None:
            return
        yield frame
        if frame.f_code is _LEAVING:
            work = getattr(frame.f_locals.get("self"), "gen", None)  # the generator of the context manager
            continue
        awaits = (getattr(work, name, None) for name in ("cr_await", "ag_await", "gi_yieldfrom"))
        work = next((each for each in awaits if each is not None), None)


@lru_cache(512)
def _finallies(code: CodeType) -> tuple[tuple[int, int], ...]:
    """Returns the line ranges of each `finally` of a function."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = next((node for node in ast.walk(tree) if _is(node, code)), None)
    return tuple(_ranges(found)) if found is not None else ()


def _is(node: ast.AST, code: CodeType) -> bool:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *(each.lineno for each in node.decorator_list)]) == code.co_firstlineno


def _ranges(node: ast.AST) -> Iterator[tuple[int, int]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTION):
            continue
        if isinstance(child, ast.Try | ast.TryStar) and child.finalbody:
            yield child.finalbody[0].lineno, child.finalbody[-1].end_lineno or child.finalbody[-1].lineno
        yield from _ranges(child)
