"""`python -m tests.journal.tidying FOLDER COUNT`: the arm example is killed in the middle of a motion, of a decision,
and at moments that are drawn; resumed; and what was wrong then. The table stays as it was left."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import mujoco  # noqa: F401  what the processes need is there before they part

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.journal import replay, resume
from bt_runtime.language.project import init
from bt_runtime.types import Question
from tests.journal.doom import process

TRAYS = {"red cube": "left tray", "green cube": "right tray", "blue cube": "right tray"}
LASTING = """

import pickle
from pathlib import Path

_TABLE = Path(__file__).parents[2] / "table"
_made, _stepped = Arm.__init__, Arm.step
_WHOLE = mujoco.mjtState.mjSTATE_INTEGRATION


def _found(self: Arm) -> None:
    _made(self)
    if _TABLE.exists():
        state, self.battery = pickle.loads(_TABLE.read_bytes())
        mujoco.mj_setState(self.model, self.data, state, _WHOLE)
        mujoco.mj_forward(self.model, self.data)
        self.holding = self.carried()


def _left(self: Arm) -> None:
    import numpy

    _stepped(self)
    state = numpy.empty(mujoco.mj_stateSize(self.model, _WHOLE))
    mujoco.mj_getState(self.model, self.data, state, _WHOLE)
    _TABLE.with_suffix(".new").write_bytes(pickle.dumps((state, self.battery)))
    _TABLE.with_suffix(".new").replace(_TABLE)


Arm.__init__, Arm.step = _found, _left
"""


def script(question: Question) -> str:
    """A part for each cube. A part looks, and does what the table wants; after a failure it looks again."""
    prompt = question.prompt
    goal = re.findall(r"^Your task is to: (.*)$", prompt, re.MULTILINE)[-1]
    part = re.fullmatch(r"put the (.*) in the (.*)", goal)
    if part is None or goal.count("tray") > 1:
        return "Expand:\nsequence:\n" + "\n".join(f"- put the {cube} in the {tray}" for cube, tray in TRAYS.items())
    lines = prompt[prompt.rindex("Your task is to: ") :].splitlines()
    acts = [i for i, line in enumerate(lines) if line.startswith("Act: ")]
    told = "\n".join(lines[acts[-1] :]) if acts else ""
    offered = [sentence.strip() for sentence in question.moves.get("Act:") or question.options]
    put = f"put it in the {part[2]}"
    if told.startswith("Act: look"):
        if part[1] not in told.partition("things: ")[2].partition("\n")[0]:
            return "Act: done"
        return f"Act: {put}" if put in offered else f"Act: pick up {part[1]}"
    if told.startswith("Act: pick") and "is held" in told:
        return f"Act: {put}"
    return "Act: look at the table"


def tidy(mode: str, folder: Path, die: str = "") -> dict[str, Any]:
    """`mode`: start it, or resume it. `die`: in the middle of what."""
    model, clock = ScriptedModel(script, polls=3), Manual()
    if mode == "start":
        project = folder / "mine"
        for place, data in init.files("arm"):
            (project / place).parent.mkdir(parents=True, exist_ok=True)
            (project / place).write_bytes(data + (LASTING.encode() if place.name == "arm.py" else b""))
        run = Run(load("tidy", project=project), model=model, clock=clock, journal=folder / "runs")
    else:
        run = resume(next((folder / "runs").glob("*.btr")), model=model, clock=clock)
    with run:
        for _ in range(20_000 if die else 0):
            run.tick()
            if due(run, die):
                os.kill(os.getpid(), signal.SIGKILL)
            if clock.now() < run.parts.context.due < float("inf"):
                clock.advance(run.parts.context.due - clock.now())
        status = run.status if run.status.name in ("SUCCESS", "FAILURE") else run.spin(ticks=20_000)
    arm = next(m for m in sys.modules.values() if str(getattr(m, "__file__", "")).endswith("mine/skills/arm.py")).arm()
    return {"status": status.name, "trays": {cube: arm.tray_of(cube) for cube in TRAYS}}


def due(run: Run, die: str) -> bool:
    agents = [n for n in run.nodes() if getattr(n, "life", None) is not None and not n.children]
    job: Any = agents[-1].job if agents and len(agents[-1].steps) > 1 else None
    if die == "motion":
        arm = getattr(job.deed.node.target, "arm", None) if hasattr(job, "deed") else None
        return arm is not None and bool(arm.carried())
    return job is not None and not hasattr(job, "deed")


def round_of(number: int, folder: Path, moments: int, draw: random.Random) -> dict[str, Any]:
    place = folder / str(number)
    place.mkdir()
    how = ("motion", "decision", "any")[min(number, 2)]
    moment = draw.randint(1, moments) if how == "any" else 0
    came = process(partial(tidy, "start", place, "" if moment else how), place, moment)
    begun = [*(place / "runs").glob("*.btr")]
    if came.killed and begun:
        came = process(partial(tidy, "resume", place), place)
    wrong = [] if came.get("status") == "SUCCESS" and came.get("trays") == TRAYS else [f"came to {dict(came)}"]
    said = process(lambda: {"difference": replay(begun[0]).difference}, place)
    return {"how": how, "wrong": [*wrong, *([said["difference"]] if said["difference"] else [])]}


if __name__ == "__main__":
    where, count = Path(sys.argv[1]), int(sys.argv[2])
    (where / "whole").mkdir()
    whole = process(partial(tidy, "start", where / "whole"), where / "whole")
    for number in range(count):
        print(json.dumps(round_of(number, where, whole["moments"], random.Random(number))), flush=True)
