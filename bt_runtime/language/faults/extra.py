"""The one door to packages that only an extra brings: where one is absent, a person is told which extra."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

from bt_runtime.language.faults.diagnostic import MissingExtra


class Extra:
    """`with Extra("fleet", "a fleet"): import nats` raises MissingExtra when the import fails. `more`: added to the
    way out."""

    def __init__(self, name: str, what: str, more: str = "") -> None:
        self.name, self.what, self.more = name, what, more

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ImportError) and not (error.name or "").startswith("bt_runtime"):
            raise self.missing() from error

    def need(self, *modules: str) -> None:
        """Raises MissingExtra unless all these modules are there; imports none of them."""
        if any(find_spec(module) is None for module in modules):
            raise self.missing()

    def missing(self) -> MissingExtra:
        found = MissingExtra(self.what, self.name)
        found.hint += self.more
        return found


def extra_of(module: str, packages: Iterable[str]) -> str:
    """Returns the extra that brings a module, by the name of its distribution; "" for another one. An extra of a
    package of the workspace has the same name in the runtime's own metadata."""
    import re
    from importlib.metadata import PackageNotFoundError, requires

    for package in packages:
        try:
            listed = requires(package) or []
        except PackageNotFoundError:
            continue
        for line in listed:
            name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
            of = re.search(r"\bextra == ['\"]([\w.-]+)['\"]", line)
            if of is not None and of[1] != "all" and name.replace("-", "_") == module:
                return of[1]
    return ""
