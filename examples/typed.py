"""A program as a user writes it, with all its types: `make types` checks it strictly, and a test runs it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.events import Feedback, Tick
from bt_runtime.journal import Recording, replay, resume
from bt_runtime.testing import FAILURE, SUCCESS, run_tree

TREE = """\
version: 1
tree: patrol
inputs: {places: {type: list, default: [hall, office]}}
blackboard: {battery: {type: number, default: 0.9}}
outputs: {seen: {type: integer, default: 0}}
root:
  reactive_fallback:
    - sequence: {when: battery < 0.2, children: [drive: {place: dock}, set: {battery: 1.0}, fail: back to the patrol]}
    - for_each:
        in: "{places}"
        as: place
        child: {sequence: [drive: {place: "{place}"}, look: {seen: "{seen}"}]}
"""


@bt.skill("drive to the {place}", on_resume="repeat")
class Drive(bt.Skill):
    left = 0

    def start(self, place: str) -> None:
        self.left = 3
        self.feedback = f"on the way to the {place}"

    def poll(self) -> bt.Status:
        self.left -= 1
        return bt.Status.RUNNING if self.left else bt.Status.SUCCESS

    def cancel(self) -> None:
        self.left = 0


@bt.skill("look", outputs={"seen": int})
def look() -> dict[str, int]:
    return {"seen": 1}


def ticked(folder: Path) -> int:
    """Ticks from a loop of its own; returns how many ticks a resumed run has."""
    said: list[str] = []
    numbers: list[int] = []
    tree = bt.load(TREE, skills=[Drive, look])
    with bt.Run(tree, inputs={"places": ["hall"]}, clock=Manual(), journal=folder) as run:
        run.listen(lambda event: said.append(event.text) if isinstance(event, Feedback) else None, Feedback)
        run.listen(lambda event: numbers.append(event.number) if isinstance(event, Tick) else None, Tick)
        tick = run.tick()
        run.blackboard["battery"] = 0.1
        run.insert("/patrol", "log: a graft", 0)
        while tick.running and len(numbers) < 5:
            tick = run.tick()
        run.halt("enough")
    assert said and numbers == sorted(numbers)
    (path,) = folder.glob("*.btr")
    assert replay(path).same and Recording(path).name == run.parts.name
    with resume(path, skills=[Drive, look], clock=Manual()) as again:
        count: int = again.tick().number
    return count


async def awaited() -> bt.Status:
    async with bt.Run(bt.load(TREE, skills=[Drive, look])) as run:
        return await run.aspin()


def tried() -> None:
    text = "version: 1\ntree: t\nroot:\n  sequence: [drive: {place: hall}, drive: {place: office}]\n"
    trial = run_tree(text, skills={"drive(place)": [2, FAILURE]})
    assert trial.status is FAILURE and trial.status is not SUCCESS
    assert trial.skills["drive"].starts == [{"place": "hall"}, {"place": "office"}]


def asked() -> str:
    text = (
        "version: 1\ntree: t\noutputs: {team: {type: string, default: ''}}\nroot:\n  infer: {prompt: hello, outputs: "
    )
    with bt.Run(bt.load(text + "{team: {choices: [a, b]}}}\n"), model=ScriptedModel(["b"])) as run:
        run.spin()
        return str(run.outputs["team"])


def main() -> None:
    with TemporaryDirectory() as folder:
        print("ticks after the resume:", ticked(Path(folder)))
    print("awaited:", asyncio.run(awaited()).name)
    tried()
    print("the model said", asked())
    try:
        bt.load("version: 1\ntree: t\nroot:\n  lock: hi\n")
    except bt.Faults as faults:
        print(len(faults.diagnostics), "fault, as it should be")
    except bt.BtError:
        raise


if __name__ == "__main__":
    main()
