"""What a monitor is: it shows a run to another program while it runs. `btr run --NAME WHERE` opens the one of that
name, an entry point of the group `bt_runtime.monitors`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project.address import LOOPBACK

if TYPE_CHECKING:
    from bt_runtime.run.run import Run


class Access(NamedTuple):
    """Who may reach a monitor, and what it may do: `--host`, `--anyone`, `--breakpoints`, `--robot`."""

    host: str = LOOPBACK
    anyone: bool = False
    breakpoints: bool = False
    robot: str | None = None


class Monitor(ABC):
    """Makes the monitor of one run. An entry point names an object of a class derived from this."""

    about: ClassVar[str]  # the help of its option
    where: ClassVar[str] = "PORT"  # the placeholder of its option's value
    default: ClassVar[str] = ""  # the value when the option stands alone; "": none, it must be given
    reads_journal: ClassVar[bool] = False  # listens to journal events, even where no journal is written

    @abstractmethod
    def open(self, run: Run, where: str, access: Access) -> AbstractContextManager[object]:
        """Connects the monitor before the first tick; leaving the context ends it. An object with a `url` is told
        to the person."""


def port(where: str, name: str) -> int:
    """Returns the port that the option names."""
    if not where.isdigit() or int(where) > 65535:
        raise BtError(f"--{name} {where}: this is not a port", f"a number from 0 to 65535: `--{name} 9464`")
    return int(where)
