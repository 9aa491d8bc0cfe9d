"""Rebuilds a recorded run: the same tree from the recorded texts, with the same answers, tick by tick."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bt_runtime.agents.rewording import reword
from bt_runtime.journal import codec, sources
from bt_runtime.journal.reading import Recording
from bt_runtime.journal.tape import Difference
from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.import_policy import policy_of
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.loader import Loader
from bt_runtime.language.project.importing import ImportFault, resolve
from bt_runtime.run.debug import redo as debugging
from bt_runtime.run.debug.debugger import debugger_of
from bt_runtime.run.run import Run, Tree
from bt_runtime.tree.budget import Budget

TEXT = "trees/of the run.yaml"  # file for a tree that came as text, in a project laid out again


@contextmanager
def laid_out(recording: Recording) -> Iterator[tuple[Path, Path]]:
    """Writes the recorded files to a temporary project; yields the tree's file in it."""
    head = recording.head
    with tempfile.TemporaryDirectory(prefix="bt-journal-") as made:
        folder = Path(made)
        sources.lay_out(head["files"], folder, plain_policies(head.get("policies")))
        root = next((f["place"] for f in head["files"] if f["origin"] == head["root"]), TEXT)
        if root == TEXT:
            (folder / TEXT).parent.mkdir(parents=True, exist_ok=True)
            (folder / TEXT).write_text(head["text"], encoding="utf-8")
        yield folder, folder / root


def plain_policies(kept: object) -> str:
    """The recorded policies of the project as JSON of one line; nothing else of a project file gets through."""
    if not kept:
        return ""
    try:
        return json.dumps(json.loads(str(kept)))
    except ValueError:
        raise BtError("the journal's policies cannot be read", "it is damaged") from None


@contextmanager
def recorded_tree(recording: Recording) -> Iterator[tuple[Path, Tree]]:
    """Yields the folder of the recorded files, and their tree, checked; its skills need no implementation, and nothing
    that it names is imported."""
    with laid_out(recording) as (folder, file):

        def loader() -> Loader:
            made = Loader(folder)
            made.registry = registry_of(project.find_root()).with_kinds(sources.kinds_of(recording.head["kinds"]))
            made.imports = False
            return made

        first = loader()
        checked = first.file(file)
        yield folder, Tree(checked.sound(), loader, tuple(checked.diagnostics), first)


class Imports:
    """The imports of a replay: py_trees' nodes, and Python from a project on this machine, but never from a journal."""

    def __init__(self, laid_out: Path, here: Path | None) -> None:
        self.laid_out, self.here = laid_out.resolve(), here

    def __call__(self, reference: str, folder: Path) -> Any:
        home = reference.rpartition(":")[0]
        if home.partition(".")[0] == "py_trees" and not home.endswith(".py"):
            return resolve(reference, project.packaged("trees"))
        place = folder.resolve()
        if self.here is not None and place.is_relative_to(self.laid_out):
            own = self.here / place.relative_to(self.laid_out)
            refusal = policy_of(self.here).refusal(reference, own)
            if refusal is None and (not home.endswith(".py") or (own / home).is_file()):
                return resolve(reference, own)
        raise ImportFault(
            f"`{reference}` is Python of the recorded run's project, and a journal's own is never run",
            "replay it in the folder of that project",
        )


def without_effects(recording: Recording, stack: ExitStack) -> dict[str, Any]:
    """The tree and the services of a run that only repeats its journal: it calls no skill, and runs none of the
    journal's Python. `stack` keeps the tree's files."""
    folder, tree = stack.enter_context(recorded_tree(recording))
    return {
        "tree": tree,
        "services": {"scripted_skills": Everything(), "imports": Imports(folder, project.find_root())},
    }


def given(recording: Recording) -> dict[str, Any]:
    """Returns the arguments that the run was made with, except its services."""
    head = recording.head
    budget = codec.full(head["budget"])
    return {
        "inputs": codec.full(head["inputs"]), "seed": head["seed"], "recall": head["recall"], "strict": head["strict"],
        "budget": Budget(*budget) if budget is not None else None, "hz": head["hz"],
    }  # fmt: skip


class Everything:
    """Stands for any skill, whose recorded answers are replayed."""

    def get(self, name: str) -> Any:
        return _never


def _never(**params: Any) -> None:
    raise BtError("a skill of a replayed run is never called", "this is a bug of bt_runtime, please report it")


def outside(run: Run) -> None:
    """Applies the outside changes before the next tick."""
    assert run.parts.journal is not None
    tape = run.parts.journal.tape
    tape.again = lambda kind, body: _again(run, kind, body)
    while (found := tape.outside()) is not None:
        event, body = found
        _again(run, event.kind, body)
    if not tape.live:  # calls of other threads within the next tick
        run.parts.engine.inbox.late.append(tape.end_stepping)


def _again(run: Run, kind: str, body: dict[str, Any]) -> None:
    assert run.parts.journal is not None
    changes = run.parts.journal.changes
    before, changes.remaking = changes.remaking, True
    try:
        redo(run, kind, body)
    finally:
        changes.remaking = before


def redo(run: Run, kind: str, body: dict[str, Any]) -> None:
    """Repeats one recorded change from outside the tree."""
    if kind == "write":
        scope = run.parts.context.blackboard.scopes.get(body["scope"])
        if scope is None:
            raise Difference(
                run.parts.engine.count, f"there is no scope {body['scope']!r} to write {body['name']!r} into"
            )
        run.parts.context.blackboard.write(scope, {body["name"]: codec.full(body["value"])}, str(body.get("by") or ""))
    elif kind == "unset":
        home = run.parts.context.blackboard.scopes.get(body["scope"])
        if home is not None:  # None: the scope was removed with its entries
            for name in body["names"]:
                home.remove(name)
    elif kind == "forked":
        reword(run.parts.context, {str(name): str(text) for name, text in dict(body.get("prompts") or {}).items()})
    elif kind == "halt":
        run.parts.engine.halt(body["reason"], body["by"])
    elif kind == "change":
        if body["how"] == "remove":
            run.remove(body["path"])
        elif body["text"] is None:
            raise Difference(run.parts.engine.count, f"at {body['path']} nodes made in Python were grafted: give YAML")
        else:
            _grafted(run, body)
    elif kind == "debug":
        try:
            debugging.redo(debugger_of(run), body)
        except BtError as error:
            raise Difference(
                run.parts.engine.count, f"the debugger's `{body['do']}` is refused: {error.message}"
            ) from error
    elif kind == "late":
        world: Any = run.parts.context.services.world
        if world is not None and world.inner is not None and not world.lasting:
            world.inner.act(body["sentence"])


def _grafted(run: Run, body: dict[str, Any]) -> None:
    path, text, index = body["path"], body["text"], body["index"]
    try:
        if body["how"] == "insert":
            run.insert(path, text, index)
        elif body["how"] == "replace":
            run.replace(path, text)
        else:
            run.parts.engine.growth.graft(body["how"], path, text, index)
    except BtError:
        return  # refused in the recorded run too
