"""`btr demo --engine`: runs a shipped tree, and inserts another round into it while it ticks."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import time
from pathlib import Path

from bt_runtime.cli.running.result import CutShort, result
from bt_runtime.cli.running.result import show as printed
from bt_runtime.cli.running.watch import watched
from bt_runtime.events import Tick
from bt_runtime.language.project import packaged, shown_path
from bt_runtime.language.settings import Settings
from bt_runtime.run.run import Run, load
from bt_runtime.tree.request import Request

TREE = "night_watch.yaml"
ROUNDS = "/night_watch/rounds"
GROWN = """\
sequence:
  name: attic
  children:
    - log: {text: "a noise: the attic was grafted in while the tree ticks", level: warning}
    - tree: {file: visit, with: {room: attic, speed: 0.4, found: "{found}"}}
    - set: {total: "{total + found}"}
"""
NEXT = """
What you saw: {tree}
A reactive tree: its battery is looked at again at every tick, and comes first.
Each room is a subtree with a scope of its own. The attic was put in between
two ticks, after the same checks that every plan goes through.

Try next:
  btr view render night_watch               the same tree as text; or svg, dot, mermaid
  btr run battery --set battery=0.9    another tree, with a value of yours
  btr init my_robot                    a project to start from
"""


def show(args: argparse.Namespace) -> int:
    """Plays the engine's part of the demo, without model or world."""
    settings = Settings({"color": args.color})
    path = packaged("trees") / TREE
    print(f"btr demo --engine: {path}", file=sys.stderr)
    started = time.monotonic()
    with Run(load(path)) as made:
        cut = CutShort(made)
        made.listen(Attic(made).tick, Tick)
        with watched(made, settings, args.plain):
            made.spin()
        end = result(made, time.monotonic() - started, cut.path)
        printed(end, as_json=False)
    if end.exit == 0:
        print(NEXT.format(tree=path) + at_hand(), file=sys.stderr)
    return end.exit


def at_hand() -> str:
    """Returns how to reach `btr` if `make demo` has just installed it outside the shell's path."""
    script = Path(sys.prefix, "bin", "activate")
    if shutil.which("btr") or not script.is_file():
        return ""
    return f"\n`btr` is not on your path yet:  . {shlex.quote(shown_path(script))}\n"


class Attic:
    """Asks for one more round, once, when the last of the shipped ones has begun."""

    asked: Request | None = None

    def __init__(self, run: Run) -> None:
        self.run = run

    def tick(self, tick: Tick) -> None:
        if self.asked is None and self.run.parts.engine.find(f"{ROUNDS}/office").status.name == "RUNNING":
            self.asked = self.run.insert(ROUNDS, GROWN, index=-2)  # before the line that says all is quiet
