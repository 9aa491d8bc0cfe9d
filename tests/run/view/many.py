"""A folder with a run of each sort: going on, asking, succeeded, failed, stopped, crashed, and not a journal at all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bt_runtime import Person, Run, load, skill
from bt_runtime.clock import Manual
from bt_runtime.journal.folder import journals
from bt_runtime.run.view.listing import serve
from bt_runtime.run.view.runs import Runs
from bt_runtime.run.view.server import Server
from tests.run.view.scenes import HOSTILE

PATROL = """\
version: 1
tree: patrol
blackboard:
  battery: {type: number, default: 0.9}
root:
  repeat:
    times: -1
    child:
      sequence:
        - wait: 0.001
        - set: {battery: "{battery - 0.01}"}
"""
WAITING = "version: 1\ntree: patrol\nblackboard:\n  battery: {type: number, default: 0.9}\nroot: {wait: 1000}\n"
HELLO = "version: 1\ntree: hello\nroot:\n  sequence:\n    - log: hello\n    - %s\n"


@contextmanager
def variety(folder: Path) -> Iterator[dict[str, Run]]:
    """Yields the live runs `patrol` and `forest`. The folder also has `crashed.btr` and `damaged.btr`."""

    @skill("fell the {tree}", confirm=True)
    def fell(tree: str) -> None: ...

    over = [load(HELLO % last) for last in ("succeed:", "fail:")]
    halted = load(WAITING)
    felling = load("version: 1\ntree: forest\nroot: {fell: {tree: oak}}\n", skills=[fell])
    noisy = load("version: 1\ntree: loud\ninputs: {text: string}\nroot:\n  sequence: [{log: '{text}'}, {fail: }]\n")
    for tree in over:
        with Run(tree, journal=folder) as run:
            run.spin(ticks=20)
    with Run(noisy, inputs={"text": HOSTILE}, journal=folder) as run:
        run.spin(ticks=20)
    with Run(halted, journal=folder) as run:
        run.tick()
        run.halt("the operator pressed stop")
    with ExitStack() as stack:
        patrol = stack.enter_context(Run(load(PATROL), journal=folder))
        forest = stack.enter_context(Run(felling, services={"person": Person()}, journal=folder))
        for run in (patrol, forest):
            for _ in range(3):
                run.tick()
            run.parts.journal.settled()
        for suffix in (".btr", ".btr-wal"):  # what a process that was killed leaves: no lock, not closed
            shutil.copy(f"{patrol.parts.journal.path.with_suffix('')}{suffix}", folder / f"crashed{suffix}")
        (folder / "damaged.btr").write_text("this is no journal")
        yield {"patrol": patrol, "forest": forest}


ROUNDS = """\
version: 1
tree: rounds
inputs: {battery: {type: number, minimum: 0, maximum: 1}}
blackboard:
  charge: {type: number, default: 0}
root:
  sequence:
    - set: {charge: "{battery}"}
    - wait: {name: leave, seconds: 0.1}
    - repeat:
        times: 2
        child:
          fallback:
            - sequence:
                name: round
                children:
                  - check: charge > 0.4
                  - wait: {name: shelf, seconds: 0.2}
                  - set: {charge: "{charge - 0.3}"}
            - sequence:
                name: charging
                children:
                  - wait: {name: dock, seconds: 0.5}
                  - set: {charge: 0.9}
    - wait: {name: home, seconds: 0.1}
"""


def pair(folder: Path) -> list[Path]:
    """Two runs of one tree that part after their first round: the second one must charge."""
    for battery in (0.9, 0.6):
        clock = Manual()
        with Run(load(ROUNDS), inputs={"battery": battery}, journal=folder, clock=clock) as run:
            while run.tick().running:
                clock.advance(0.05)
    return journals(folder)


@contextmanager
def listed(folder: Path) -> Iterator[tuple[Server, Runs, Run]]:
    """The list of a folder's runs as `btr view FOLDER` serves it, with a run that goes on."""
    with variety(folder) as live:
        runs = Runs([folder], panel=["battery"]).start()
        server = serve(runs)
        try:
            yield server, runs, live
        finally:
            runs.close()
            server.close()
