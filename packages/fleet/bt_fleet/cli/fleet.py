"""`btr fleet`: one place to send trees to, for many robots. One module for each word."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any

# word → its sentence and its module here
WORDS: dict[str, tuple[str, str]] = {
    "up": ("start the fleet: its server, and what assigns tasks", "up"),
    "join": ("let this machine's robot take tasks (its agent process)", "join"),
    "send": ("send a tree with its inputs", "send"),
    "ls": ("list tasks, or robots", "ls"),
    "show": ("show one task: who had it, and how it stands", "show"),
    "cancel": ("end a task", "cancel"),
    "settle": ("decide a task that is in doubt", "settle"),
    "halt": ("halt robots, and keep them so", "halt"),
    "release": ("let halted robots go on", "release"),
    "drain": ("let a robot finish, and give it no more tasks", "drain"),
    "places": ("list who holds which place of the map, or free one", "places"),
    "deploy": ("give robots a new version of a tree, some of them first", "deploy"),
    "versions": ("list the versions of trees, and who runs which", "versions"),
    "keys": ("say who may connect: robots, operators, viewers", "keys"),
    "view": ("show robots, tasks and questions on one page", "view"),
    "vda5050": ("do the orders of a master control with this vehicle, by MQTT", "vda5050"),
    "rmf": ("answer Open-RMF's task API", "rmf"),
    "journal": ("fetch the journal of a task's run, or list who did what", "journal"),
    "logs": ("follow what happens to tasks", "logs"),
}


class Word(argparse.ArgumentParser):
    """The parser of one word. Its module is imported when the word is used, so that an agent's process stays small."""

    module = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.module:
            found = import_module(f"bt_fleet.cli.{self.module}")
            self.module = ""
            found.configure(self)
            self.set_defaults(word=found.run)
        return super().parse_known_args(args, namespace)


def configure(parser: argparse.ArgumentParser) -> None:
    words = parser.add_subparsers(dest="what", metavar="WHAT", required=True, parser_class=Word)
    for name, (text, module) in WORDS.items():
        words.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.").module = module


def run(args: argparse.Namespace) -> int:
    return int(args.word(args))
