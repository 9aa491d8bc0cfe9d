"""Python that a tree imports when it is played: asked about first, and allowed for this page only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bt_runtime.language.loader import Loader
from bt_runtime.language.project import trust
from bt_runtime.testing.casting import nodes_of


def python_of(text: str, path: Path, loader: Loader) -> list[str]:
    """Returns the classes that `py` nodes of a tree and of all that it includes would import. Nothing is imported."""
    spec = loader.text(text, str(path), path.parent).sound()
    names = [str(node.values.get("class", "")) for node in nodes_of(spec) if node.kind.name == "py"]
    return sorted({name for name in names if name and not name.startswith("py_trees.")})


class Consent:
    """The folders whose Python somebody allowed to run, until the server ends."""

    def __init__(self) -> None:
        self.agreed: set[Path] = set()

    @contextmanager
    def held(self, home: Path) -> Iterator[None]:
        """Within it, Python of this folder may be imported if that was agreed to; all else is held as before."""
        before = trust.guard
        if home not in self.agreed:
            yield
            return

        def guard(what: str, folder: Path, sends: bool = False) -> None:
            if before is not None and (sends or not folder.is_relative_to(home)):
                before(what, folder, sends)

        trust.guard = guard
        try:
            yield
        finally:
            trust.guard = before
