"""The state of a run: taken between two ticks, compared, put back, for every kind of node."""

from __future__ import annotations

from pathlib import Path
from random import Random
from textwrap import indent
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.agents.services import agent_services
from bt_runtime.clock import Manual
from bt_runtime.language.kinds.registry import shipped_kinds
from bt_runtime.plugins import open_suite
from bt_runtime.testing import FAILURE, RUNNING, SUCCESS
from bt_runtime.testing.state_check import undeclared
from bt_runtime.tree.node import path_of
from bt_runtime.tree.state import NotRestorable, Snapshot, States
from bt_runtime.types import Choice, Model, Question, Writing
from tests.plugged import plug


class Phased(bt.Skill):
    """Runs for two ticks; fails every third time."""

    STATE = ("phase", "starts")
    phase = starts = 0

    def start(self) -> None:
        self.phase, self.starts = 0, self.starts + 1

    def poll(self) -> bt.Status:
        self.phase += 1
        return RUNNING if self.phase < 3 else FAILURE if self.starts % 3 == 0 else SUCCESS


@bt.skill("work")
class Work(Phased): ...


@bt.skill("look", instant=True)
def look() -> bool:
    return True


@bt.skill("hold", uses=["arm"])
class Hold(Phased): ...


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


def run_of(folder: Path, kind: str, body: str = "") -> bt.Run:
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
    tree = bt.load(folder / "t.yaml", skills=[Work, look, Hold], project=folder)
    run = bt.Run(tree, clock=Manual(), world=world, services=services, slow=None)
    if kind == "episode":  # its world is opened in the tick, not in a thread
        agent_services(run.parts.context).open_world = lambda make, **about: ScriptedAnswer(make())
    return run


def step(run: bt.Run, number: int) -> None:
    """A tick, with what the outside writes before it."""
    if number % 4 == 3:
        run.blackboard["battery"] = 0.1 if number % 8 == 3 else 0.9
    run.tick()
    run.parts.context.clock.advance(0.25)  # type: ignore[attr-defined]


def played(run: bt.Run, states: States, steps: range) -> list[Any]:
    """What can be seen after each step: the status, the entries, each node's status and message."""
    found = []
    for number in steps:
        step(run, number)
        nodes = [(path_of(n), n.status, n.feedback_message) for n in run.nodes()]
        state = states.take()
        found.append((run.status, dict(run.parts.context.blackboard.snapshot()), nodes, state.lost or state))
    return found


KINDS = [kind.name for kind in shipped_kinds()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_is_put_back_goes_on_as_it_went_on(kind: str, tmp_path: Path) -> None:
    goes_on(kind, tmp_path)


def goes_on(kind: str, folder: Path, body: str = "") -> None:
    with run_of(folder, kind, body) as run:
        states, taken = States(run.parts.engine), list[tuple[int, Snapshot]]()
        for number in range(12):
            step(run, number)
            taken.append((number, states.take()))
        restorable = [(number, state) for number, state in taken if not state.lost]
        assert restorable or kind in ASKING, taken[-1][1].lost
        for number, state in Random(1).sample(restorable, min(5, len(restorable))):
            states.put_back(state)
            assert states.take() == state
            first = played(run, states, range(number + 1, number + 9))
            states.put_back(state)
            assert played(run, states, range(number + 1, number + 9)) == first


@pytest.mark.parametrize("kind", KINDS)
def test_a_tick_changes_only_what_a_class_declares(kind: str, tmp_path: Path) -> None:
    with run_of(tmp_path, kind) as run:
        for number in range(14):
            assert undeclared(run.parts.engine, lambda number=number: step(run, number)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_a_round_s_says_nothing_while_the_node_does_not_run(kind: str, tmp_path: Path) -> None:
    """Values of a running moment are left in nodes that do not run: nothing goes on otherwise."""
    with run_of(tmp_path, kind) as run:
        states, left, taken = States(run.parts.engine), dict[tuple[int, str], Any](), list[tuple[int, Snapshot]]()
        for number in range(12):
            step(run, number)
            taken.append((number, states.take()))
            for at, (node, form) in enumerate(states.shape.ours):
                if node.status is RUNNING:
                    left |= {(at, name): getattr(node, name, None) for name in form.names[form.round :]}
        for number, state in [each for each in taken if not each[1].lost][2::4]:
            states.put_back(state)
            first = [seen[:3] for seen in played(run, states, range(number + 1, number + 7))]
            states.put_back(state)
            for at, (node, form) in enumerate(states.shape.ours):
                for name in form.names[form.round :] if node.status is not RUNNING else ():
                    if getattr(node, name, None) is not None and (at, name) in left:
                        vars(node)[name] = left[at, name]
            assert [seen[:3] for seen in played(run, states, range(number + 1, number + 7))] == first


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


def test_a_kind_of_a_plug_in_that_declares_its_state_is_put_back(plugged: Path) -> None:
    goes_on("alternating", plugged, "alternating: {}")
    with run_of(plugged, "", "alternating: {}") as run:
        assert undeclared(run.parts.engine, run.tick) == []


def test_a_class_that_keeps_what_it_does_not_declare_is_found(plugged: Path) -> None:
    with run_of(plugged, "", "forgetful: {}") as run:
        assert undeclared(run.parts.engine, run.tick) == ["/t/0/1/0: kept of Forgetful"]
    with pytest.raises(AssertionError):
        goes_on("forgetful", plugged, "forgetful: {}")


# Shape -----------------------------------------------------------------------------------------

GROWING = """\
version: 1
tree: t
blackboard: {n: {type: integer, default: 0}}
root:
  repeat: {times: -1, child: {sequence: [work: {}, set: {n: "{n + 1}"}, hold: {}]}}
"""
CHANGES: list[Any] = [
    lambda run: run.insert("/t/0", "sequence: [work: {}, log: new]", 1),
    lambda run: run.replace("/t/0/0", "sequence: [log: other, hold: {}]"),
    lambda run: run.remove("/t/0/2"),
    lambda run: run.replace("/t", "sequence: [work: {}, hold: {}, work: {}, hold: {}]"),
]


@pytest.mark.parametrize("change", range(len(CHANGES)))
def test_nodes_that_came_leave_and_nodes_that_left_come_back(change: int) -> None:
    with bt.Run(bt.load(GROWING, skills=[Work, Hold]), clock=Manual(), slow=None) as run:
        states = States(run.parts.engine)
        for number in range(4):
            step(run, number)
        before, paths = states.take(), [path_of(node) for node in run.nodes()]
        first = played(run, states, range(4, 10))
        states.put_back(before)
        CHANGES[change](run)
        changed = played(run, states, range(4, 10))
        assert [path_of(node) for node in run.nodes()] != paths
        after, nodes = states.take(), run.parts.engine.nodes
        states.put_back(before)
        assert (states.take(), [path_of(node) for node in run.nodes()]) == (before, paths)
        assert run.parts.engine.nodes == len(paths)
        assert played(run, states, range(4, 10)) == first
        states.put_back(after)
        assert (states.take(), run.parts.engine.nodes) == (after, nodes)
        assert changed[-1][3] == after
        step(run, 10)


def test_a_request_that_waits_is_part_of_the_state() -> None:
    with bt.Run(bt.load(GROWING, skills=[Work, Hold]), clock=Manual(), slow=None) as run:
        states = States(run.parts.engine)
        step(run, 0)
        before = states.take()
        request = run.insert("/t/0", "log: new", 0)
        waiting = states.take()
        assert waiting != before
        first = played(run, states, range(1, 4))
        assert request.applied is not None
        states.put_back(waiting)
        assert request.applied is None
        assert [seen[:3] for seen in played(run, states, range(1, 4))] == [seen[:3] for seen in first]


# Comparison ------------------------------------------------------------------------------------

ROUNDS = """\
version: 1
tree: t
blackboard: {on: {type: boolean, default: true}}
root:
  repeat:
    times: -1
    child:
      sequence:
        - parallel: [timeout: {seconds: 9, child: {work: {}}}, wait: 0.5, retry: {times: 3, child: {hold: {}}}]
        - rate: {hz: 1, child: {for_each: {in: [1, 2], as: x, child: {log: "{x}"}}}}
        - try: {do: {fail: no}, catch: {succeed: {}}}
"""


class Steady(bt.Skill):
    STATE = ("phase",)
    phase = 0

    def start(self) -> None:
        self.phase = 0

    def poll(self) -> bt.Status:
        self.phase += 1
        return RUNNING if self.phase < 3 else SUCCESS


def test_a_tree_that_goes_round_comes_back_to_states_that_it_had() -> None:
    """Counts without a limit, moments that have passed and what an earlier round left do not tell states apart."""
    work, hold = bt.skill("work", name="work")(Steady), bt.skill("hold", name="hold")(type("Held", (Steady,), {}))
    with bt.Run(bt.load(ROUNDS, skills=[work, hold]), clock=Manual(), slow=None) as run:
        states, seen = States(run.parts.engine), set[Snapshot]()
        counts = []
        for _ in range(160):
            run.tick()
            run.parts.context.clock.advance(0.25)  # type: ignore[attr-defined]
            seen.add(states.take())
            counts.append(len(seen))
        assert counts[-1] == counts[79], counts[-1]


def test_one_and_true_are_different_states() -> None:
    with bt.Run(bt.load("version: 1\ntree: t\nblackboard: {a: any}\nroot: {wait: 9}\n"), clock=Manual()) as run:
        states, found = States(run.parts.engine), []
        run.tick()
        for value in (1, True, 1.0, [1], [True], {"a": 1}, {"a": 1.0}, "1", None, [], {}):
            run.blackboard["a"] = value
            found.append(states.take())
        assert len(set(found)) == len(found)
        states.put_back(found[5])
        assert run.blackboard["a"] == {"a": 1}


def test_results_of_nodes_that_nobody_asks_for_do_not_tell_states_apart() -> None:
    text = "version: 1\ntree: t\nblackboard: {a: {type: boolean, default: true}}\nroot:\n  sequence: [force: {status: "
    with bt.Run(bt.load(f"{text}success, child: {{check: a}}}}, wait: 9]\n"), clock=Manual()) as run:
        states, every = States(run.parts.engine, shown=()), States(run.parts.engine)
        start = every.take()
        run.tick()
        one, both = states.take(), every.take()
        every.put_back(start)
        run.blackboard["a"] = False
        run.tick()
        run.blackboard["a"] = True
        assert states.take() == one
        assert every.take() != both


# What cannot be put back -----------------------------------------------------------------------


def test_a_running_skill_of_which_nothing_is_declared_is_refused_by_name() -> None:
    @bt.skill("drive")
    class Drive(bt.Skill):
        def start(self) -> None:
            self.left = 3

        def poll(self) -> bt.Status:
            self.left -= 1
            return RUNNING if self.left else SUCCESS

    @bt.skill("count")
    def count() -> Any:
        yield
        yield

    text = "version: 1\ntree: t\nroot:\n  sequence: [log: a, drive: {}, count: {}, log: b]\n"
    with bt.Run(bt.load(text, skills=[Drive, count]), clock=Manual()) as run:
        states, lost = States(run.parts.engine), []
        before = states.take()
        while run.tick().running:
            lost.append(states.take())
        assert [each.lost for each in lost] == [
            ("/t/1: a running skill holds a Drive, whose class declares no STATE",),
        ] * 2 + [("/t/2: a running OfGenerator cannot be taken up again",)] * 2
        with pytest.raises(NotRestorable, match="holds a Drive"):
            states.put_back(lost[0])
        states.put_back(before)
        assert (run.status.name, run.parts.engine.root.status.name) == ("INVALID", "INVALID")


def test_a_foreign_class_is_put_back_when_it_declares_its_state(tmp_path: Path) -> None:
    (tmp_path / "theirs.py").write_text(
        "import py_trees\n\nclass Plain(py_trees.behaviour.Behaviour):\n    n = 0\n\n    def update(self):\n"
        "        self.n += 1\n        return py_trees.common.Status.RUNNING\n\n\n"
        "class Told(Plain):\n    STATE = ('n',)\n"
    )
    (tmp_path / "btr.yaml").write_text("")
    for name in ("Plain", "Told"):
        text = f"version: 1\ntree: t\nroot:\n  py: {{class: 'theirs.py:{name}'}}\n"
        (tmp_path / "t.yaml").write_text(text)
        with bt.Run(bt.load(tmp_path / "t.yaml", project=tmp_path), clock=Manual()) as run:
            states = States(run.parts.engine)
            run.tick()
            before = states.take()
            run.tick()
            if name == "Plain":
                assert before.lost == ("/t: Plain is no node of ours, and its class declares no STATE",)
            else:
                states.put_back(before)
                assert vars(run.parts.engine.root)["n"] == 1


def test_a_snapshot_of_another_run_and_one_inside_a_tick_are_refused() -> None:
    tree = bt.load("version: 1\ntree: t\nroot: {look_inside: {}}\n", skills=[bt.skill(instant=True)(look_inside)])
    with bt.Run(tree, clock=Manual(), strict=False) as one, bt.Run(tree, clock=Manual()) as other:
        LOOKED.append(States(one.parts.engine))
        with pytest.raises(NotRestorable, match="another run"):
            States(other.parts.engine).put_back(LOOKED[0].take())
        one.tick()
        assert "being ticked" in one.parts.context.crashes[-1].message


LOOKED: list[States] = []


def look_inside() -> bool:
    LOOKED[0].take()
    return True
