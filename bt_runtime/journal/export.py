"""`btr runs export --format NAME`: formats for recorded runs come as plugins (entry points `bt_runtime.exports`)."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from bt_runtime.journal.reading import Recording
from bt_runtime.language.project import plugins


class Export(ABC):
    """A format in which recorded runs are written."""

    many = False  # True: it is made of any number of runs, all of them where none is named
    unit = "records"  # the noun of what `write` counts
    text = False  # True: it may go to standard output

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Adds the format's own options; each says in its help to which format it belongs."""
        return

    @abstractmethod
    def write(self, recordings: Sequence[Recording], path: Path, args: argparse.Namespace) -> int:
        """Writes the file and returns how many units it holds. `path` is `-` for standard output only if `text`."""


def of_entry(entry: plugins.Entry) -> Export:
    wanted = "an object of a class derived from `Export`"
    export: Export = plugins.load(entry, wanted, lambda found: isinstance(found, Export))
    return export
