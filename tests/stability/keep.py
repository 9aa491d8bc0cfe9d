"""Keeps files of this version for all later ones: trees, manifests, journals, a memory, an evaluation.

`python -m tests.stability.keep` writes tests/stability/VERSION. A folder that is there is never written again: what a
version has written stays as it was. Run it in a checkout at a place that everybody may know: journals name their files.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bt_runtime as bt
from bt_runtime._version import __version__
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import state
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.memory import Episodes, Notebook
from tests.language.kinds.samples import DOCK, MANIFEST, tree_text

HERE = Path(__file__).parent
VERSION = ".".join(__version__.split(".")[:2])
PATROL = """\
version: 1
tree: patrol
inputs:
  places: {type: list, default: [hall, office]}
blackboard:
  battery: {type: number, default: 0.9, minimum: 0, maximum: 1}
outputs:
  seen: {type: integer, default: 0}
root:
  reactive_fallback:
    - sequence: {name: charge, when: battery < 0.2, children: [log: charging, wait: 1, set: {battery: 1.0}, fail: back]}
    - for_each:
        in: "{places}"
        as: place
        child: {tree: {file: visit, with: {place: "{place}", seen: "{seen}"}}}
"""
VISIT = """\
version: 1
tree: visit
inputs: {place: string}
outputs: {seen: {type: integer, default: 0}}
root:
  timeout:
    seconds: 5
    child: {sequence: [wait: 0.5, log: "in the {place}", set: {seen: "{seen + 1}"}]}
"""
TRIAGE = """\
version: 1
tree: triage
inputs: {message: {type: string, default: my bill is wrong}}
outputs: {team: {type: string, default: ""}}
root:
  infer: {prompt: "A message: {message}", outputs: {team: {choices: [billing, technical]}}}
"""


def main(root: Path) -> None:
    trees, journals = root / "trees", root / "journals"
    for folder in (trees, journals, root / "skills"):
        folder.mkdir(parents=True)
    (root / "btr.yaml").write_text("version: 1\n", "utf-8")
    (root / "skills" / "house.yaml").write_text(MANIFEST, "utf-8")
    (trees / "dock.yaml").write_text(DOCK, "utf-8")
    for kind in shipped_kinds():
        (trees / f"kind_{kind.name}.yaml").write_text(tree_text(kind.example), "utf-8")
    for name, text in (("patrol", PATROL), ("visit", VISIT), ("triage", TRIAGE)):
        (trees / f"{name}.yaml").write_text(text, "utf-8")
    kept(trees / "patrol.yaml", journals, "finished", lambda run: run.spin())
    kept(trees / "patrol.yaml", journals, "grown", grown)
    kept(trees / "patrol.yaml", journals, "stopped", stopped, model=None)
    kept(trees / "triage.yaml", journals, "asked", lambda run: run.spin(), model=ScriptedModel(["billing"]))
    with Episodes.open(root / "memory.sqlite", "hashing") as memory:
        book = Notebook(memory, run="kept", task="tidy up", kind="household")
        book.note("/1", "find the cup", "Act: look around\nYou see cup (1)\nAct: done", "success")
        book.close(verdict=True)
    words = [
        "lab",
        "eval",
        "textcraft",
        "--strategy",
        "oracle:react",
        "--episodes",
        "2",
        "--out",
        str(root / "evaluation"),
    ]
    done = subprocess.run([sys.executable, "-m", "bt_runtime.cli", *words], check=True, capture_output=True, text=True)
    (root / "evaluation.txt").write_text(done.stdout, "utf-8")


def kept(tree: Path, journals: Path, name: str, led: Callable[[bt.Run], object], **given: object) -> None:
    """Writes a journal under a name of its own."""
    made = journals / "made"
    with bt.Run(bt.load(tree), clock=Manual(), journal=made, **given) as run:  # type: ignore[arg-type]
        led(run)
    (path,) = made.glob("*.btr")
    path.rename(journals / f"{name}.btr")
    shutil.rmtree(made)


def grown(run: bt.Run) -> None:
    run.tick()
    run.insert("/patrol", "log: a graft", 0)
    run.tick()
    run.halt("to be looked at")
    run.spin()


def stopped(run: bt.Run) -> None:
    """A run that had kept its state, and was closed amid its way."""
    assert run.parts.journal is not None and run.parts.journal.states is not None
    run.parts.journal.states.next = 0
    for _ in range(4):
        run.tick()
        run.blackboard["battery"] = 0.5
        clock = run.parts.journal.clock.inner
        getattr(clock, "inner", clock).advance(0.2)


if __name__ == "__main__":
    place = HERE / VERSION
    if place.exists():
        sys.exit(f"{place} stands as that version wrote it")
    state.BYTES = 1000
    main(place)
    print(f"kept: {place}")
