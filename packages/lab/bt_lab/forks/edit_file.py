"""A file of edits for `btr runs fork --sweep`: each is one change, or several, from a moment of a recorded run on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.agents.rewording import checked, named
from bt_runtime.journal.reading import Recording
from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.language.placed import DataPlaces
from bt_runtime.language.ports import PortFault, check
from bt_runtime.language.project import disk
from bt_runtime.language.source import YamlMap
from bt_runtime.language.spec import TreeSpec
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.run.debug.pattern import matches
from bt_runtime.run.replay.fork import Edits
from bt_runtime.run.replay.refit import offered
from bt_runtime.run.replay.strategy import instead
from bt_runtime.types import Json

RESULTS = ("success", "failure", "running")
_TEXT: Schema = {"type": "string", "minLength": 1}
_EDIT: Schema = {
    "type": "object",
    "minProperties": 1,
    **closed(
        {
            "name": _TEXT,
            "set": {"type": "object", "minProperties": 1},
            "force": {"type": "object", "minProperties": 1, "additionalProperties": {"enum": [*RESULTS]}},
            "replace": {"type": "object", "minProperties": 1, "additionalProperties": _TEXT},
            "prompt": {"type": "object", "minProperties": 1, "additionalProperties": _TEXT},
            "strategy": _TEXT,
            "model": _TEXT,
            "memory": _TEXT,
        },
        (),
    ),
}
_FILE: Schema = {
    "type": "object",
    **closed(
        {"version": {"enum": [1]}, "edits": {"type": "array", "minItems": 1, "items": _EDIT}}, ("version", "edits")
    ),
}
_CHECK = DocumentCheck(_FILE, "edits", "a file of edits")


class NamedEdit(NamedTuple):
    name: str
    edits: Edits
    size: int  # entries, results, models and memories that differ, and the lines of the nodes that take a place


class _Reader:
    """Reads one file. Each fault names its line and column."""

    def __init__(self, path: Path, root: YamlMap, tree: TreeSpec, recording: Recording) -> None:
        self.path, self.places = path, DataPlaces(root, str(path))
        self.ports: Mapping[str, Any] = {**tree.entries, **tree.inputs}
        self.tree, self.recording = tree, recording

    def fault(self, at: tuple[str | int, ...], message: str, hint: str, key: bool = False) -> BtError:
        """A fault of the value at this place of the data; `key`: of its name."""
        node = self.places.at(at[:-1] if key else at)
        span = self.places.pairs(node)[str(at[-1])][0].span if key and isinstance(node, YamlMap) else node.span
        return BtError(f"{self.path}:{span.line}:{span.column}: {message}", hint)

    def edits(self, data: list[dict[str, Any]]) -> Iterator[NamedEdit]:
        names: set[str] = set()
        for number, given in enumerate(data):
            name = str(given.get("name") or _described(given))
            if name in names:
                raise self.fault(("edits", number), f"there are two edits `{name}`", "give each a `name` of its own")
            names.add(name)
            yield self.edit(name, number, given)

    def edit(self, name: str, number: int, given: Mapping[str, Any]) -> NamedEdit:
        entries = dict(given.get("set", {}))
        for entry, value in entries.items():
            self.fits(("edits", number, "set", entry), entry, value)
        replaced = self.replaced(number, given)
        for node in given.get("force", {}):
            self.stands(("edits", number, "force", node), node)
        prompts = {each: self.prompt(("edits", number, "prompt", each), each, file)
                   for each, file in given.get("prompt", {}).items()}  # fmt: skip
        self.services(number, given)
        edits = Edits(
            given.get("model"), given.get("memory"), None, entries, tuple(given.get("force", {}).items()), replaced,
            prompts,
        )  # fmt: skip
        lines = sum(1 for _, text in replaced for line in text.splitlines() if line.partition("#")[0].strip())
        size = len(entries) + len(edits.forced) + lines + len(prompts) + ("model" in given) + ("memory" in given)
        if not size:
            hint = "write set, force, replace, prompt, strategy, model, memory"
            raise self.fault(("edits", number), f"`{name}` changes nothing", hint)
        return NamedEdit(name, edits, size)

    def replaced(self, number: int, given: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Paths, and the texts of the nodes that take a place; a strategy takes the root's."""
        found = []
        for node, file in given.get("replace", {}).items():
            self.stands(("edits", number, "replace", node), node)
            found.append((node, self.text(("edits", number, "replace", node), file)))
        if "strategy" in given:
            with self.at(("edits", number, "strategy")):
                found.append(instead(self.tree, given["strategy"]))
        return tuple(found)

    def prompt(self, at: tuple[str | int, ...], name: str, file: str) -> str:
        with self.at(at):
            named(name)
        text = self.text(at, file)
        checked(text, str(self.path.parent / file))
        return text

    def stands(self, at: tuple[str | int, ...], node: str) -> None:
        """Raises when the run never had such a node."""
        paths = [row.path for row in self.recording.nodes]
        if not any(matches(node, path) for path in paths):
            hint = did_you_mean(node, paths, "`btr runs show RUN` names its nodes")
            raise self.fault(at, f"{self.recording.name} has no node {node}", hint, key=True)

    def services(self, number: int, given: Mapping[str, Any]) -> None:
        """Raises for a model or a memory that cannot be opened, or that nobody would ask."""
        for part in (part for part in ("model", "memory") if part in given):
            with self.at(("edits", number, part)):
                offered(self.recording, part, given[part])

    @contextmanager
    def at(self, at: tuple[str | int, ...]) -> Iterator[None]:
        """Gives a fault its place in the file."""
        try:
            yield
        except BtError as error:
            raise self.fault(at, error.message, error.hint) from None

    def fits(self, at: tuple[str | int, ...], entry: str, value: Json) -> None:
        if entry not in self.ports:
            hint = did_you_mean(entry, self.ports, f"it has: {', '.join(self.ports) or 'none'}")
            raise self.fault(at, f"`{self.tree.name}` has no input and no entry `{entry}`", hint, key=True)
        try:
            check(self.ports[entry], value)
        except PortFault as fault:
            raise self.fault(at, fault.message, f"`{entry}` is declared in the tree `{self.tree.name}`") from None

    def text(self, at: tuple[str | int, ...], file: str) -> str:
        path = self.path.parent / file
        if not path.is_file():
            raise self.fault(at, f"there is no file {path}", "name it from the folder of the file of edits")
        return disk.read_text(path)


def read(path: Path, tree: TreeSpec, recording: Recording) -> list[NamedEdit]:
    """Reads the edits in the order of the file. Raises for a file that is not valid, or does not fit the run."""
    document = source.read(path)
    for problem in document.diagnostics:
        raise BtError(f"{path}{_at(problem.span)}: {problem.message}", problem.label or problem.help)
    if not isinstance(document.root, YamlMap):
        raise BtError(f"{path} is no file of edits", "it begins with `version: 1`, and has `edits:`")
    for _, fault in _CHECK.faults(document.root, str(path)):
        raise BtError(f"{path}{_at(fault.span)}: {fault.message}", fault.label or fault.help)
    data: Any = document.root.data()
    return list(_Reader(path, document.root, tree, recording).edits(data["edits"]))


def _at(span: Any) -> str:
    return f":{span.line}:{span.column}" if span is not None else ""


def _described(given: Mapping[str, Any]) -> str:
    said = [
        f"{key}={value}" for part in ("set", "force", "replace", "prompt") for key, value in given.get(part, {}).items()
    ]
    said += [str(given[part]) for part in ("strategy", "model", "memory") if part in given]
    return " ".join(said) or "nothing"
