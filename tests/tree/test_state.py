"""What a tick leaves behind in each kind of node is declared: a run goes on from it, and nothing else changes."""

from __future__ import annotations

import shutil
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.agents.services import agent_services
from bt_runtime.clock import Manual
from bt_runtime.journal import Recording, resume, state
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.plugins import open_suite
from bt_runtime.run.replay import resume as resuming
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.testing.state_check import undeclared
from bt_runtime.tree.node import path_of
from bt_runtime.types import Choice, Model, Question, Writing
from tests.plugged import plug

STARTED: list[bt.Skill] = []


class Phased(bt.Skill):
    """Runs for two ticks; fails every third time."""

    STATE = ("phase", "starts")
    phase = starts = 0

    def start(self) -> None:
        STARTED.append(self)
        self.phase, self.starts = 0, self.starts + 1

    def poll(self) -> bt.Status:
        self.phase += 1
        return RUNNING if self.phase < 3 else FAILURE if self.starts % 3 == 0 else SUCCESS


@bt.skill("work", on_resume="repeat")
class Work(Phased): ...


@bt.skill("look", instant=True)
def look() -> bool:
    return True


@bt.skill("hold", uses=["arm"], on_resume="repeat")
class Hold(Phased): ...


SKILLS = [Work, look, Hold]


class First(Model):
    """Takes the first option; writes the same line."""

    register = "starter"

    def __init__(self, polls: int) -> None:
        self.polls = polls

    def ask(self, question: Question) -> ScriptedAnswer:
        if question.kind == "write":
            return ScriptedAnswer(Writing("one", "stop", 1), self.polls)
        said = question.alternatives[0]
        return ScriptedAnswer(
            Choice(said, 0, 0.0, 1.0, tuple(-float(i) for i, _ in enumerate(question.alternatives))), 0
        )


HEAD = """\
version: 1
tree: t
SKILLS
blackboard:
  battery: {type: number, default: 0.5}
  room: {type: string, default: kitchen}
  message: {type: string, default: hello}
  count: {type: integer, default: 0}
  places: {type: list, default: [a, b, c]}
  tried: {type: list, default: []}
  form: any
  it: any
  place: any
  plan: {type: string, default: ""}
  lessons: {type: list, default: []}
  margin: {type: number, default: 0}
  wanted: {type: string, default: ""}
root:
"""
# of kinds whose own example says too little, or names what is not here
BODIES = {
    "sequence": "sequence: [work: {}, hold: {}, log: '{count}']",
    "fallback": "fallback: [invert: {work: {}}, invert: {hold: {}}]",
    "reactive_sequence": "reactive_sequence: [check: battery > 0.2, work: {}, hold: {}]",
    "reactive_fallback": "reactive_fallback: [check: battery < 0.2, work: {}]",
    "sequence_with_memory": "sequence_with_memory: [log: a, work: {}, hold: {}]",
    "parallel": "parallel: {success: 2, children: [work: {}, wait: 0.5, sequence: [wait: 0.7, work: {}], hold: {}]}",
    "for_all": "for_all: {in: '{places}', as: place, child: {sequence: [log: '{place}', work: {}]}}",
    "if": "if: {check: {work: {}}, then: {hold: {}}, else: {wait: 0.5}}",
    "while": "while: {check: battery > 0.2, do: {work: {}}, else: {wait: 1}}",
    "switch": "switch: {on: room, cases: {kitchen: {work: {}}, office: {hold: {}}}, default: {wait: 0.5}}",
    "try": "try: {do: {sequence: [work: {}, check: 'nothing > 1']}, catch: {log: a}, finally: {hold: {}}}",
    "pipeline": "pipeline: [rate: {hz: 1, child: {work: {}}}, hold: {}, wait: 1]",
    "recovery": "recovery: {times: 2, do: {sequence: [work: {}, check: battery > 0.2]}, recover: {hold: {}}}",
    "round_robin": "round_robin: [sequence: [work: {}, fail: no], hold: {}, wait: 0.5]",
    "invert": "invert: {work: {}}",
    "force": "force: {status: failure, child: {work: {}}}",
    "retry": "retry: {times: 3, child: {sequence: [work: {}, check: battery > 0.2]}}",
    "repeat": "repeat: {times: 3, child: {work: {}}}",
    "until_failure": "until_failure: {work: {}}",
    "for_each": "for_each: {in: '{places}', as: place, child: {work: {}}}",
    "timeout": "timeout: {seconds: 0.7, child: {sequence: [work: {}, hold: {}]}}",
    "delay": "delay: {seconds: 0.5, child: {work: {}}}",
    "rate": "rate: {hz: 0.9, child: {work: {}}}",
    "once": "once: {work: {}}",
    "skip_unless": "skip_unless: {updated: battery, child: {work: {}}}",
    "precondition": "precondition: {if: {work: {}}, else: failure, child: {hold: {}}}",
    "check": "check: {updated: battery}",
    "set": "set: {count: '{count + 1}', room: '{\"office\" if count % 2 else \"kitchen\"}'}",
    "unset": "sequence: [set: {message: x}, unset: message]",
    "wait": "wait: {seconds: 1, until: battery > 0.5}",
    "tree": "tree: {file: inner, with: {battery: '{battery}'}}",
    "py": "py: {class: py_trees.behaviours:TickCounter, args: {duration: 2, completion_status: SUCCESS}}",
    "episode": "episode: {world: textcraft, task: {id: a, kind: depth 1, goal: craft stick, data: {goal: stick, "
    "commands: []}}, child: {work: {}}}",
    "agent": "agent: {goal: look around, max_decisions: 3, moves: [think, act]}",
    "tree_search": "tree_search: {goal: look around, width: 2, rounds: 2, max_decisions: 6}",
    "plan": "plan: {goal: look around, leaf: inner, max_invalid: 1}",
    "offered": "offered: {form: open fridge <number>, slots: it}",
    "rollback": "rollback: {sequence: [work: {}, check: battery > 0.2]}",
}
INNER = """\
version: 1
tree: inner
inputs: {battery: {type: number, default: 0.1}, goal: {type: string, default: ""}}
blackboard: {depth: {type: integer, default: 0}}
root:
  sequence: [work: {}, set: {depth: "{depth + 1}"}, hold: {}]
"""
ASKING = frozenset(kind.name for kind in shipped_kinds() if kind.asks or kind.family == "agent")
WORLDLY = ASKING | {"offered", "untried", "heard", "fits", "holds", "rollback"}


def run_of(folder: Path, kind: str, body: str = "", **more: Any) -> bt.Run:
    """A run that repeats this body for ever, beside a running skill."""
    given = next((k.example for k in shipped_kinds() if k.name == kind), "")
    head = HEAD.replace("SKILLS", "skills: [house]" if kind in WORLDLY else "")
    node = body or BODIES.get(kind) or given
    root = f"parallel:\n  - work: {{}}\n  - force:\n      status: success\n      child:\n{indent(node, ' ' * 8)}"
    text = f"{head}  repeat:\n    times: -1\n    child:\n{indent(root, ' ' * 6)}\n"
    for name, written in (("t", text), ("inner", INNER)):
        (folder / f"{name}.yaml").write_text(written)
    (folder / "btr.yaml").write_text("")
    world = services = None
    if kind in WORLDLY:
        suite = open_suite("house")
        world = suite.world() if hasattr(suite, "world") else suite.open()
        world.reset(suite.tasks(1, 1)[0])
        services = {"model": First(polls=1)}
    tree = bt.load(folder / "t.yaml", skills=SKILLS, project=folder)
    run = bt.Run(tree, clock=Manual(), world=world, services=services, slow=None, **more)
    if kind == "episode":  # its world is opened in the tick, not in a thread
        agent_services(run.parts.context).open_world = lambda make, **about: ScriptedAnswer(make())
    return run


def step(run: bt.Run, number: int) -> None:
    """A tick, with what the outside writes before it."""
    if number % 4 == 3:
        run.blackboard["battery"] = 0.1 if number % 8 == 3 else 0.9
    run.tick()
    clock: Any = run.parts.context.clock
    while not isinstance(clock, Manual):
        clock = clock.inner
    clock.advance(0.25)


KINDS = [kind.name for kind in shipped_kinds()]
UNKEPT = {"for_all", "py"}  # grafted nodes, nodes of py_trees


def shown(run: bt.Run) -> list[Any]:
    nodes = [(path_of(n), n.status, n.feedback_message) for n in run.nodes()]
    return [run.status, dict(run.parts.context.blackboard.snapshot()), nodes]


def goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, body: str = "") -> list[int]:
    """Kills a run at several ticks; resumed from its latest state it goes on as one that is played from its start.
    Returns the ticks of those states."""
    monkeypatch.setattr(state, "BYTES", 1)
    monkeypatch.setattr(state, "TIMES", 0.001)
    begins = []
    with run_of(folder, kind, body, journal=folder / "runs") as run:
        path = run.parts.journal.path
        for number in range(12):
            step(run, number)
            run.parts.journal.settled()
            ways, asked = [], 0
            for near in (True, False) if number % 2 else ():
                own = shutil.copytree(path.parent, folder / f"{number} {near}") / path.name
                with monkeypatch.context() as patched:
                    if not near:
                        patched.setattr(resuming, "Recording", lambda path, held=False, near=0: Recording(path, held))
                    STARTED.clear()
                    with resume(own, skills=SKILLS, clock=Manual()) as again:
                        asked += len(STARTED)  # the rest of its last tick was asked anew
                        begun = again.parts.journal.recording.begins
                        ways.append([shown(again)])
                        for later in range(number + 1, number + 9):
                            step(again, later)
                            ways[-1].append(shown(again))
                begins += [begun.tick] if begun is not None and not asked else []
            assert asked or len(ways) < 2 or ways[0] == ways[1], number
    return begins


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WORLDLY | {"episode"}])
def test_a_run_goes_on_from_the_kept_state_of_each_kind_as_from_its_start(
    kind: str, tmp_path: Path, monkeypatch
) -> None:
    assert (len(goes_on(tmp_path, monkeypatch, kind)) >= 2) == (kind not in UNKEPT)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tick_changes_only_what_a_class_declares(kind: str, tmp_path: Path) -> None:
    with run_of(tmp_path, kind) as run:
        for number in range(14):
            assert undeclared(run.parts.engine, lambda number=number: step(run, number)) == []


PLUGIN = """
from bt_runtime.plugins import Field, Kind
from bt_runtime.tree.node import FAILURE, SUCCESS, Node

class Alternating(Node):
    STATE = ("turns",)
    turns = 0

    def update(self):
        self.turns = (self.turns + 1) % 2
        return SUCCESS if self.turns else FAILURE

class Forgetful(Alternating):
    kept = ()

    def update(self):
        self.kept = (*self.kept, 1)
        return super().update() if len(self.kept) % 3 else FAILURE

ALTERNATING = Kind("alternating", "leaf", "Every other time.", (), impl=Alternating)
FORGETFUL = Kind("forgetful", "leaf", "Every other time, and more.", (), impl=Forgetful)
"""


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with a project; two kinds of a plug-in are installed."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "alternating_nodes.py").write_text(PLUGIN)
    kinds = {"alternating": "alternating_nodes:ALTERNATING", "forgetful": "alternating_nodes:FORGETFUL"}
    plug(monkeypatch, site, "alternating-1.0", {"kinds": kinds})
    monkeypatch.delitem(__import__("sys").modules, "alternating_nodes", raising=False)
    return tmp_path


def test_a_kind_of_a_plug_in_that_declares_its_state_is_put_back(plugged: Path, monkeypatch) -> None:
    assert len(goes_on(plugged, monkeypatch, "alternating", "alternating: {}")) >= 2
    with run_of(plugged, "", "alternating: {}") as run:
        assert undeclared(run.parts.engine, run.tick) == []


def test_a_class_that_keeps_what_it_does_not_declare_is_found_and_in_no_kept_state(plugged: Path, monkeypatch) -> None:
    with run_of(plugged, "", "forgetful: {}") as run:
        assert undeclared(run.parts.engine, run.tick) == ["/t/0/1/0: kept of Forgetful"]
    assert goes_on(plugged, monkeypatch, "forgetful", "forgetful: {}") == []
