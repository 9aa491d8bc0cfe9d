"""Runs to look at, without a model: a house put in order, a bag that is filled, large trees, hostile texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from py_trees.common import Status

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.plugins import open_suite
from tests.support.oracles import acting, taught


def house_run(seed: int = 10, polls: int = 0, **options: Any) -> Run:
    """ReAcTree in a house, its model saying what the lessons' teacher does: thoughts, actions, grafts."""
    suite = open_suite("house")
    task = suite.tasks(seed, 1)[0]
    world = suite.open()
    world.reset(task)
    first = iter(["Think: There is more than one thing to do."])
    model = ScriptedModel(lambda ask: next(first, "") or taught(ask), polls)
    return Run(load("reactree"), inputs={"goal": task.goal}, world=world, task=task, model=model, **options)


def craft_run(**options: Any) -> Run:
    suite = open_suite("textcraft")
    task = suite.tasks(7, 1)[0]
    world = suite.open()
    world.reset(task)
    model = ScriptedModel(acting(suite.oracle(world, task)))
    return Run(load("react"), inputs={"goal": task.goal}, world=world, task=task, model=model, **options)


def field_run(seed: int = 0, **options: Any) -> Run:
    """A robot that drives to a shelf and back, as fast as it goes: a box, a walker and a snag are in its way."""
    suite = open_suite("field")
    task = suite.tasks(seed, 1, kinds=["reach"], speed=0)[0]
    world = suite.open()
    world.reset(task)
    return Run(load("nav2/navigate_with_replanning"), world=world, task=task, **options)


def wide_tree(branches: int = 100, leaves: int = 18) -> str:
    """About branches × (leaves + 2) nodes; a leaf of every branch ends, and the next one begins, every 20 to 60 ms."""
    out = ["version: 1", "tree: warehouse", "root:", "  parallel:"]
    for i in range(branches):
        out += [f"    - repeat:\n        name: shelf_{i}\n        times: -1\n        child:\n          sequence:"]
        out += [f"            - wait: {0.02 + 0.01 * (i % 5)}"] * leaves
    return "\n".join(out) + "\n"


HOSTILE = (
    "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    "</script><script>document.title='owned'</script> \u202egnp.exe\u202c \u0007\x1b[31m ]]> --> \U0001f916 שלום"
)


def hostile_run(**options: Any) -> Run:
    """A model that writes markup, scripts and bidi controls wherever it can."""
    model = ScriptedModel([f"Think: {HOSTILE}", "Act: look", "Act: done"])

    class Room:
        instant = True

        def act(self, sentence: str) -> Any:
            from bt_runtime.types import Observation

            return Observation(f"{HOSTILE} {sentence}")

        def skills(self) -> list[str]:
            return ["look", HOSTILE]

        def picture(self) -> Mapping[str, Any]:
            return {"is": "text", "text": HOSTILE}

    tree = load("react")
    return Run(tree, inputs={"goal": HOSTILE}, world=Room(), model=model, **options)


DEPOT = """\
version: 1
tree: depot
blackboard:
  battery: {type: number, default: 0.9}
  rooms: {type: list, default: [hall, kitchen, store, cellar]}
  charging: {type: boolean, default: false}
root:
  parallel:
    success: 1
    children:
      - repeat:
          name: low_warning
          times: -1
          child:
            sequence:
              - wait: 0.3
              - set: {battery: "{battery - 0.07}"}
              - fallback:
                  - check: battery > 0.5
                  - log: {text: "battery is low: {battery}", level: warning}
      - for_each:
          name: patrol
          in: "{rooms}"
          as: room
          child:
            try:
              do:
                sequence:
                  - drive_to: {place: "{room}", when: battery > 0.1}
                  - timeout:
                      seconds: 2
                      child:
                        open_door: {door: "{room}", seen: "{found}"}
                  - tree: {file: %s, with: {place: "{room}", notes: "{notes}"}}
              catch:
                log: 'skipping {room}: {error["message"]}'
              finally:
                set: {charging: "{battery < 0.3}"}
              as: error
"""
SURVEY = """\
version: 1
tree: survey
inputs: {place: string}
outputs: {notes: list}
root:
  sequence:
    - set: {notes: ["{place}"]}
    - wait: 0.2
"""


def depot_run(folder: Path, **options: Any) -> Run:
    """A robot that patrols while something else watches its battery: two things at once, a door that breaks."""
    from bt_runtime import Skill, skill

    @skill("drive to {place}")
    class DriveTo(Skill):
        def start(self, place: str) -> None:
            self.left, self.place = 12, place

        def poll(self) -> Status:
            self.left -= 1
            self.feedback = f"{self.left} m to {self.place}" if self.left else f"in the {self.place}"
            return Status.RUNNING if self.left else Status.SUCCESS

    @skill("open the door of the {door}", outputs={"seen": list})
    def open_door(door: str) -> list[str]:
        if door == "kitchen":
            raise RuntimeError("the handle came off")
        return [f"a box in the {door}"]

    (folder / "survey.yaml").write_text(SURVEY, encoding="utf-8")
    (folder / "depot.yaml").write_text(DEPOT % "survey.yaml", encoding="utf-8")
    return Run(load(folder / "depot.yaml", skills=[DriveTo, open_door]), **options)


def reasoning_run(**options: Any) -> Run:
    """A model that reasons before each decision, in a context that soon is too short for its story."""
    from bt_runtime.llm import Chat
    from tests.support.narrow import Narrow
    from tests.support.room import Room

    class Reasoner(Narrow):
        def answer(self, question: Any) -> str:
            thought = question.kind == "write" and question.prompt.endswith("<think>\n")
            return f"The room is empty; nothing has changed since. {HOSTILE}" if thought else self.lines.pop(0)

    model = Reasoner([])
    model.lines, model.script = ["Act: jump"] * 25 + ["Act: done"], model.answer
    model.chat_template = Chat.of(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>"
        "{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}", ["<|end|>", "</think>"]
    )  # fmt: skip
    tree = "version: 1\ntree: t\nroot:\n  agent: {goal: get out, think: model, think_tokens: 50, patience: 99}\n"
    return Run(load(tree), world=Room(), model=model, recall=False, **options)
