"""What the page may say with a command: the type of each argument, and what each command needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError

MOST_NUMBER = 10**9
RELOAD = "reload the page"


def _text(value: Any) -> bool:
    """True for text that a file can hold: no half of a surrogate pair."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _number(value: Any) -> bool:
    return type(value) is int and abs(value) <= MOST_NUMBER


def _node(value: Any) -> bool:
    return isinstance(value, list) and all(type(step) is int and 0 <= step <= MOST_NUMBER for step in value)


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(holds(each) for each in value)


_BY_TYPE: Sequence[tuple[str, Callable[[Any], bool], str]] = (
    ("a text", _text, "path place yaml kind field value section name entry text take form move wish result never"),
    ("a whole number", _number, "version index count line column character n fix times seed at branch"),
    ("true or false", _flag, "whole included write wait run story"),
    ("a node, as a list of positions", _node, "node parent"),
    ("a list of nodes", _list_of(_node), "nodes folded"),
    ("a list of texts", _list_of(_text), "names"),
)
TYPES = {name: (about, holds) for about, holds, names in _BY_TYPE for name in names.split()}
NAMES_A_NODE = {"answer", "ahead"}  # moves of a rehearsal whose `node` is a text: the node's path in the run
NEEDS: Mapping[str, str] = {
    "files": "", "open": "path", "kinds": "path", "new": "name path", "save": "path", "save_all": "path",
    "undo": "path", "redo": "path", "format": "path", "settle": "path take", "picture": "path",
    "text": "path version text", "fix": "path version n", "complete": "path line character", "own": "path line column",
    "add": "path version parent", "delete": "path version nodes", "move": "path version node parent index",
    "copy": "path node", "wrap": "path version node kind", "unwrap": "path version node",
    "swap": "path version node kind", "set": "path version node field value",
    "port": "path version section name value", "skills": "path version names", "head": "path version name value",
    "extract": "path version node name", "inline": "path version node", "skill": "path version node",
    "rename": "path version line column name", "rename_entry": "path version section entry name",
    "rename_tree": "path version name", "rename_skill": "path version node name",
    "ask": "path move", "try": "path move", "run": "path move", "keep": "path line column",
}  # fmt: skip
NEEDS_OF_MOVES = {
    ("ask", "begin"): "wish",
    ("try", "answer"): "node result",
    ("try", "ahead"): "node result",
    ("try", "set"): "entry value",
    ("try", "go"): "at",
    ("try", "chance"): "seed",
    ("try", "check"): "never",
}


def check(command: str, given: Mapping[str, Any]) -> None:
    """Raises a BtError that names the argument which is missing or of another type."""
    move = str(given.get("move", ""))
    needs = f"{NEEDS[command]} {NEEDS_OF_MOVES.get((command, move), '')}".split()
    if command == "keep":
        needs += ["value"] if "entry" in given else ["kind", "yaml"]
    if command == "add" and "yaml" not in given:
        needs.append("kind")
    if command == "rename_tree" and given.get("included"):
        needs.append("node")
    for name in needs:
        if name not in given:
            raise BtError(f"`{command}` needs `{name}`", RELOAD)
    for name, value in given.items():
        about, holds = TYPES.get(name, ("", lambda _: True))
        if command == "try" and name == "node" and move in NAMES_A_NODE:
            about, holds = "the path of a node", _text
        if not holds(value):
            raise BtError(f"`{command}` takes {about} as `{name}`", RELOAD)
