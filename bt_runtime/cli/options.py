"""Options that plugins add to commands, such as `btr run --ros`. The names of the entry points `bt_runtime.options`
begin with their command, such as `run-ros`: no other command imports them."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from bt_runtime.language.project import plugins

if TYPE_CHECKING:
    from bt_runtime.run.run import Run


COMMANDS = ("run", "fork", "import", "export")


class Opened:
    """What the options of one plugin give to a run."""

    services: Mapping[str, Any] = {}  # services of the run, by name
    clock: Any = None  # the run's clock; None: the machine's

    def attach(self, run: Run) -> None:
        """Is called with the run before its first tick."""
        return


class Options(ABC):
    """Options of a plugin for one command."""

    @abstractmethod
    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def open(self, args: argparse.Namespace, stack: ExitStack) -> Opened | None:
        """For `run`: opens what the arguments ask for; None when they ask for nothing. `stack` closes it after the
        run."""
        return None

    def instead(self, args: argparse.Namespace) -> int | None:
        """For the other commands: does what the arguments ask for, in the command's place, and returns the exit code;
        None when they ask for nothing of this plugin."""
        return None


def installed(command: str) -> list[Options]:
    return [of_entry(entry) for entry in plugins.entries("options") if _command(entry) == command]


def of_entry(entry: plugins.Entry) -> Options:
    if _command(entry) not in COMMANDS:
        hint = f"whoever made it calls it after one of: {', '.join(COMMANDS)}; `run-mine`, for instance"
        raise plugins.PluginFault(f"{entry.said} belong to no command", hint)
    wanted = "an object of a class derived from `Options`"
    options: Options = plugins.load(entry, wanted, lambda found: isinstance(found, Options))
    return options


def _command(entry: plugins.Entry) -> str:
    return entry.name.partition("-")[0]


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    for options in installed(command):
        options.configure(parser)


def opened(args: argparse.Namespace, stack: ExitStack) -> list[Opened]:
    """Opens for a run what the arguments ask of plugins."""
    return [found for options in installed("run") if (found := options.open(args, stack)) is not None]


def instead(args: argparse.Namespace, command: str) -> int | None:
    """Lets the first plugin that the arguments are about do the command; None when none is."""
    return next((code for options in installed(command) if (code := options.instead(args)) is not None), None)
