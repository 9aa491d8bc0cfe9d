"""The expressions inside a value of a spec, and the entries that they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bt_runtime.language.checks.references import asked


def expressions_in(value: Any) -> Iterator[Any]:
    """Yields each expression and template in a value, in mappings and lists as well."""
    if hasattr(value, "evaluate"):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from expressions_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from expressions_in(each)


def names_in(value: Any) -> Iterator[str]:
    """Yields the entries that a value reads, those inside `exists` included."""
    for each in expressions_in(value):
        yield from filter(None, each.names)
        yield from asked(each)
