"""A user's cases for an `infer` node: a CSV of inputs and right answers, answered one row at a time."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.agents.answers import choices_of
from bt_runtime.language.checks.references import entry_named
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.outputs import Output, chosen, misfit
from bt_runtime.language.spec import ABSENT, NodeSpec, Port, TreeSpec
from bt_runtime.language.values import Computed
from bt_runtime.llm.question import NO_SCORES
from bt_runtime.run.run import Run, Tree
from bt_runtime.types import Json

ODDS = "distribution_of_this_case"  # the entry of those nodes that name none
MOST_CASES, MOST_CELL = 100_000, 100_000  # rows; characters
_LOOK = 0.001  # seconds between two looks at answers that are not there
_WORDS: dict[str, Json] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class OwnCase(NamedTuple):
    line: int
    given: Mapping[str, Json]  # entries
    right: Mapping[str, Json]  # expected answers by output


class Answered(NamedTuple):
    case: OwnCase
    answers: Mapping[str, Json]  # answers by output; empty: none
    odds: Mapping[str, Mapping[str, float]]  # odds by output, for chosen ones
    fault: str = ""


class Judge(NamedTuple):
    """The `infer` node to measure, and its tree."""

    tree: TreeSpec
    node: NodeSpec

    @property
    def outputs(self) -> dict[str, Output]:
        return dict(self.node.values["outputs"])

    @property
    def calibrated(self) -> bool:
        return self.node.values["calibrate"] is True

    def otherwise(self) -> Judge:
        """Returns the judge with `calibrate` inverted."""
        node = NodeSpec(self.node.kind, self.node.span, self.node.file)
        node.values = {**self.node.values, "calibrate": not self.calibrated}
        return self._replace(node=node)


def judge_of(tree: Tree, name: str = "") -> Judge:
    """Finds the `infer` node of this name, or the only one. Raises when there is none or several."""
    found, seen, todo = list[Judge](), set[int](), [tree.spec]
    while todo:
        spec = todo.pop()
        if id(spec) not in seen:
            seen.add(id(spec))
            for node in spec.root.walk():
                todo += [node.subtree] if node.subtree is not None else []
                found += [Judge(spec, node)] if node.kind.name == "infer" and name in ("", node.name) else []
    if len(found) != 1:
        names = ", ".join(sorted(str(each.node.name) for each in found if each.node.name)) or "none has a name"
        which = f" called `{name}`" if name else ""
        raise BtError(
            f"the tree `{tree.name}` has {len(found) or 'no'} `infer` node{'s' * (len(found) > 1)}{which}",
            f"name one: --node NAME ({names})" if found else "a CSV of cases measures a node of that kind",
        )
    return found[0]


# The file ----------------------------------------------------------------------------------------


def read(path: Path, judge: Judge, most: int | None = None) -> list[OwnCase]:
    """Reads a case from each row; columns are entries or outputs. Raises, with the line, for a file that is not
    valid."""
    csv.field_size_limit(MOST_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, strict=True)
            columns = [name or "" for name in rows.fieldnames or ()]
            right = _sound(path, columns, judge)
            return [
                _case(path, rows.line_num, row, right, judge)
                for number, row in enumerate(rows) if number < min(most or MOST_CASES, MOST_CASES)
            ]  # fmt: skip
    except (csv.Error, UnicodeDecodeError) as fault:
        raise BtError(f"{path} is no CSV that can be read: {fault}", "UTF-8, commas, a first line of names") from fault


def _sound(path: Path, columns: Sequence[str], judge: Judge) -> list[str]:
    """Checks the columns; returns those that hold right answers."""
    double = next((name for name in columns if columns.count(name) > 1), None)
    if double is not None or not all(name.isidentifier() for name in columns):
        wrong = double if double is not None else next(name for name in columns if not name.isidentifier())
        raise BtError(f"{path}:1: the column `{wrong}` {'stands there twice' if double else 'names no entry'}",
                      "the first line names entries and outputs, each once")  # fmt: skip
    right = [name for name in judge.outputs if name in columns]
    if not right:
        raise BtError(f"{path}:1: no column is an output of this node", f"its outputs: {', '.join(judge.outputs)}")
    ports, reads = judge.tree.ports, _reads(judge.node)
    known = {name for name, port in ports.items() if port.default is not ABSENT}
    missing = sorted(reads - known - {*columns})
    if missing:
        raise BtError(f"{path}:1: the node reads `{missing[0]}`, which is no column", "give every entry that it reads")
    for name in columns:  # with a slip in it each row would be asked with the entry's default
        if name not in {*ports, *reads, *judge.outputs} and (meant := did_you_mean(name, {*ports} - {*columns})):
            raise BtError(f"{path}:1: the column `{name}` is no entry of `{judge.tree.name}`, and no output", meant)
    return right


def _reads(node: NodeSpec) -> set[str]:
    prompt = node.values["prompt"]
    own = {*prompt.names} if isinstance(prompt, Computed) else set()
    for output in node.values["outputs"].values():
        if isinstance(output.choices, Computed):
            own |= {entry_named(output.choices) or ""} if entry_named(output.choices) else {*output.choices.names}
    return own - {""}


def _case(path: Path, line: int, row: Mapping[Any, Any], right: Sequence[str], judge: Judge) -> OwnCase:
    if None in row or None in row.values():
        raise BtError(f"{path}:{line}: this row has not as many cells as the first", "put text with commas in quotes")
    ports, outputs = judge.tree.ports, judge.outputs
    given = {
        name: _value(path, line, name, text, ports[name].type if name in ports else "string")
        for name, text in row.items()
        if name not in right
    }
    return OwnCase(line, given, {name: _right(path, line, outputs[name], row[name].strip()) for name in right})


def _value(path: Path, line: int, name: str, text: str, type: str) -> Json:
    if type in ("string", "any"):
        return text
    try:
        return _WORDS[text.strip().lower()] if type == "boolean" else json.loads(text)
    except (KeyError, ValueError):
        raise BtError(
            f"{path}:{line}: `{name}` takes a {type}, not {text!r:.60}", "lists and objects as JSON"
        ) from None


def _right(path: Path, line: int, output: Output, text: str) -> Json:
    found: Json = text
    try:
        if output.choices:
            found = text if isinstance(output.choices, Computed) else choices_of(output)[text]
        elif output.type == "boolean":
            found = _WORDS[text.lower()]
        elif output.type != "string":
            found = json.loads(text)
        why = misfit(output, found)
    except (KeyError, ValueError):
        why = "it is none of its values"
    if why:
        raise BtError(
            f"{path}:{line}: `{output.name}` can never be {text!r:.60}: {why}", "as the tree says, or mend it"
        )
    return found


# Answering ---------------------------------------------------------------------------------------


def answers(
    cases: Sequence[OwnCase], judge: Judge, tree: Tree, models: Mapping[str, Any], jobs: int = 4, seed: int = 0,
    told: Callable[[int], None] = lambda done: None,
) -> list[Answered]:  # fmt: skip
    """Returns the answers in the cases' order. One thread ticks `jobs` runs; models answer in one batch."""
    odds = any(chosen(output) for output in judge.outputs.values()) or judge.node.values["votes"] != 1
    plain: frozenset[int] = frozenset()  # those that were asked for once more
    todo, running, found = iter(enumerate(cases)), dict[int, Run](), dict[int, Answered]()
    try:
        while len(found) < len(cases):
            while len(running) < jobs and (at := next(todo, None)) is not None:
                running[at[0]] = _begun(at[1], judge, tree, models, seed, odds)
            if not (ended := [number for number, run in running.items() if not run.tick().running]):
                time.sleep(_LOOK)
            for number in ended:
                run = running.pop(number)
                found[number] = _answered(cases[number], run, judge)
                run.close()
                if NO_SCORES in found[number].fault and number not in plain:  # then without them, all that follow too
                    odds, plain = False, plain | {number}
                    del found[number]
                    running[number] = _begun(cases[number], judge, tree, models, seed, odds)
                told(len(found))
    finally:
        for run in running.values():
            run.close()
    return [found[number] for number in range(len(cases))]


def _begun(case: OwnCase, judge: Judge, tree: Tree, models: Mapping[str, Any], seed: int, odds: bool) -> Run:
    """Starts a run of the node alone."""
    of, node = judge.tree, NodeSpec(judge.node.kind, judge.node.span, judge.node.file)
    own = {name: value for name, value in judge.node.values.items() if name not in ("holds", "margin", "distribution")}
    node.values = {**own, "distribution": ODDS} if odds else own
    alone = TreeSpec(of.name, of.file, of.text, of.folder, of.registry)
    alone.root = node
    ports = {name: port for name, port in of.ports.items() if name in case.given or port.default is not ABSENT}
    alone.entries = {**ports, **{name: ports.get(name, Port(name, "any")) for name in case.given}}
    return Run(Tree(alone, tree.loader, (), tree.first, tree.kinds), inputs=case.given, seed=seed,
               services={"models": dict(models)})  # fmt: skip


def _answered(case: OwnCase, run: Run, judge: Judge) -> Answered:
    board = run.blackboard
    if run.status.name != "SUCCESS":
        crash = next(iter(run.parts.context.crashes), None)
        return Answered(case, {}, {}, crash.message if crash is not None else run.parts.engine.root.feedback_message)
    odds: Any = board.get(ODDS) or {}
    return Answered(case, {name: board[name] for name in judge.outputs}, odds)


def rows(found: Sequence[Answered]) -> Iterator[dict[str, Json]]:
    """Yields the answers as stored rows."""
    for each in found:
        yield {"line": each.case.line, "given": dict(each.case.given), "right": dict(each.case.right),
               "answers": dict(each.answers), "odds": {name: dict(odds) for name, odds in each.odds.items()},
               "fault": each.fault}  # fmt: skip
