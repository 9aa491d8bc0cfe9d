"""`btr fleet`: one place to send trees to, for many robots. One module for each word."""

from __future__ import annotations

import argparse
from importlib import import_module

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
    "deploy": ("give robots a new version of a tree, some of them first", "deploy"),
    "versions": ("list the versions of trees, and who runs which", "versions"),
    "keys": ("say who may connect: robots, operators, viewers", "keys"),
    "view": ("show robots, tasks and questions on one page", "view"),
    "vda5050": ("take orders of a master control by MQTT, and tell it states", "vda5050"),
    "rmf": ("answer Open-RMF's task API", "rmf"),
    "journal": ("fetch the journal of a task's run, also of one that goes on", "journal"),
    "logs": ("follow what happens to tasks", "logs"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    words = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name, (text, module) in WORDS.items():
        sub = words.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        found = import_module(f"bt_runtime.cli.fleet.{module}")
        found.configure(sub)
        sub.set_defaults(word=found.run)


def run(args: argparse.Namespace) -> int:
    return int(args.word(args))
