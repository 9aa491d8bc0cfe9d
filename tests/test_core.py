"""What a robot carries: the modules that load, `Run` and ticks of a small tree import. A list by name, so that one more
is added on purpose: everything else is loaded by the first tree, fault or listener that needs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bt_runtime

PACKAGE = Path(bt_runtime.__file__).parent
MOST_MODULES, MOST_LINES = 80, 9_981
# by room; the room itself is meant as well
CORE = """
_version:
events:
language.faults: diagnostic
language: checks checks.entries checks.outcomes checks.references checks.semantic expression expression.error
    expression.expression expression.scope expression.template diagnostics head_schema header kinds kinds.control
    kinds.data kinds.decorators kinds.kind kinds.leaves kinds.navigation kinds.registry kinds.shape loader ports
    reader schema_quick source source.compose source.document source.limits source.node source.pause source.scalar
    source.text spec validate values
language.project: plugins
run: resources run
skills: loop pool resources
tree: adopt blackboard budget build changes clock context engine gates growth inputs node nodes nodes.leaves
    nodes.parent nodes.sequences nodes.subtree request runner services stream watchdog
types:
"""
# … and what a tree with a Python skill, expressions and reactive parts imports besides
MORE = """
language: agent_options checks.types entry expression.call expression.code expression.hole expression.parse
    expression.part
    expression.token expression.value impls sentence
skills: activity answer forms skill
tree: action nodes.conditions nodes.interlocks nodes.reactive nodes.skill
"""
PRINT = """
import sys
print(*sorted(name for name in sys.modules if name.split(".")[0] == "bt_runtime"))
"""
SMALL = """
import bt_runtime as bt

TREE = '''version: 1
tree: t
blackboard: {n: {type: integer, default: 0}}
root:
  sequence: [set: {n: 1}, log: hello, wait: 0.01]
'''
with bt.Run(bt.load(TREE)) as run:
    while run.tick().running:
        pass
assert run.status is bt.Status.SUCCESS
"""
LARGE = """
import bt_runtime as bt

@bt.skill("go to {place}")
class GoTo(bt.Skill):
    def start(self, place: str) -> None:
        self.left = 2

    def poll(self):
        self.left -= 1
        return bt.Status.RUNNING if self.left else bt.Status.SUCCESS

TREE = '''version: 1
tree: t
inputs: {room: {type: string, default: hall}}
blackboard: {battery: {type: number, default: 0.5}}
root:
  reactive_fallback:
    - sequence: {when: battery < 0.2, children: [log: charging, set: {battery: 1.0}]}
    - sequence: [go_to: {place: "{room}"}, log: "in the {room}"]
'''
with bt.Run(bt.load(TREE, skills=[GoTo])) as run:
    while run.tick().running:
        pass
assert run.status is bt.Status.SUCCESS
"""


def listed(rooms: str) -> set[str]:
    found: set[str] = set()
    room = ""
    for word in rooms.split():
        room = word.removesuffix(":") if word.endswith(":") else room
        found.add(f"bt_runtime.{room}" if word.endswith(":") else f"bt_runtime.{room}.{word}")
    return found


def imported(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program + PRINT], capture_output=True, text=True, timeout=900, check=True
    )
    return set(done.stdout.splitlines()[-1].split()) - {"bt_runtime"}


def file_of(module: str) -> Path:
    at = PACKAGE.parent.joinpath(*module.split("."))
    return at / "__init__.py" if at.is_dir() else at.with_suffix(".py")


def test_a_tree_of_set_log_and_wait_imports_what_is_listed_and_nothing_else() -> None:
    assert imported(SMALL) == listed(CORE)


def test_a_skill_in_python_and_expressions_add_what_is_listed_and_nothing_else() -> None:
    assert imported(LARGE) == listed(CORE) | listed(MORE)


def test_the_core_stays_small() -> None:
    modules = {"bt_runtime", *listed(CORE)}
    assert len(modules) <= MOST_MODULES
    assert sum(len(file_of(each).read_text("utf-8").splitlines()) for each in modules) <= MOST_LINES
