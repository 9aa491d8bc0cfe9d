"""No tick opens a file or a socket, or asks a server what it is: whichever kind of node is ticked."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import bt_runtime as bt
from bt_runtime import Budget
from bt_runtime.agents import ScriptedModel
from bt_runtime.clock import Manual
from bt_runtime.language.kinds.registry import KINDS
from bt_runtime.llm import Answer
from bt_runtime.plugins import open_suite
from tests.agents.asking_nodes import NODES, TREE, answer
from tests.language.kinds.samples import DOCK, tree_text

_WATCHED: dict[int, list[str]] = {}  # thread → what it did in a tick
_FORBIDDEN = ("open", "socket.__new__", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "import")


def _hook(event: str, args: tuple[Any, ...]) -> None:
    seen = _WATCHED.get(threading.get_ident())
    if seen is not None and event in _FORBIDDEN:
        seen.append(f"{event} {args[0]!r}")


sys.addaudithook(_hook)  # for the rest of this process: one look-up while nobody watches


@contextmanager
def watched() -> Iterator[list[str]]:
    seen = _WATCHED[threading.get_ident()] = []
    try:
        yield seen
    finally:
        del _WATCHED[threading.get_ident()]


def opened_in_ticks(run: bt.Run, most: int = 60) -> list[str]:
    found = []
    for _ in range(most):
        with watched() as seen:
            tick = run.tick()
        found += seen
        if not tick.running:
            break
    return found


def test_the_hook_hears_of_files_and_of_sockets(tmp_path: Path) -> None:
    import socket

    with watched() as seen:
        (tmp_path / "a").write_text("b")
        socket.socket().close()
    assert [event.split()[0] for event in seen] == ["open", "socket.__new__"]


@pytest.mark.parametrize("register", ["starter", "instruct"])
@pytest.mark.parametrize("journal", [False, True])
@pytest.mark.parametrize("kind", [kind.name for kind in KINDS])
def test_no_kind_opens_a_file_in_a_tick(kind: str, journal: bool, register: str, tmp_path: Path) -> None:
    """But for the graft of a planner: it loads the tree that the parts of its plan are made of."""
    (tmp_path / "dock.yaml").write_text(DOCK)
    example = next(each.example for each in KINDS if each.name == kind)
    (tmp_path / "t.yaml").write_text(tree_text(example))
    suite = open_suite("house")
    world, model = suite.open(), ScriptedModel(answer)
    model.register = register
    world.reset(suite.tasks(1, 1)[0])
    with bt.Run(
        bt.load(tmp_path / "t.yaml"),
        model=model,
        world=world,
        clock=Manual(),
        journal=tmp_path / "j" if journal else None,
    ) as run:
        found = opened_in_ticks(run)
        assert found == [] if kind != "plan" else not [each for each in found if ".md" in each or "socket" in each]
    world.close()


class Waiting(ScriptedModel):
    """Cannot say how it is asked until its opening has ended."""

    def __init__(self) -> None:
        super().__init__(answer)
        self.job: Answer[bool] | None = Answer()

    def opening(self, wake: Any = None) -> Answer[bool] | None:
        return self.job

    @property
    def chat_template(self) -> None:  # type: ignore[override]
        assert self.job is None or self.job.done


@pytest.mark.parametrize("kind", [kind for kind in NODES if kind not in ("tree_search", "want")])  # want: needs a world
def test_a_node_waits_for_the_opening_of_its_model_as_for_every_job(kind: str) -> None:
    model = Waiting()
    tree = bt.load(TREE.format(kind=kind, node=NODES[kind]))
    with bt.Run(tree, model=model, clock=Manual(), budget=Budget(decisions=3)) as run:
        for _ in range(5):
            assert run.tick().running
        assert not model.asked
        assert model.job is not None
        model.job.finish(True)
        model.job = None
        run.spin(ticks=20)
        assert model.asked and not run.parts.context.crashes


FRESH = """
import sys
heard = None
def hook(event, args):
    if heard is not None and event in ("open", "import", "socket.__new__"):
        heard.append(f"{event} {args[0]}")
sys.addaudithook(hook)
import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.plugins import open_suite
suite = open_suite("house")
world = suite.open()
world.reset(suite.tasks(1, 1)[0])
with bt.Run(bt.load("version: 1\\ntree: t\\nroot:\\n  agent: {goal: tidy, moves: [think, act]}\\n"),
            model=ScriptedModel(["Think: so", "Act: done"]), world=world) as run:
    heard = []
    while run.tick().running:
        pass
    print(heard)
    heard = None
"""


def test_the_first_agent_of_a_process_imports_nothing_in_a_tick() -> None:
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, timeout=900)
    assert (done.stdout, done.stderr) == ("[]\n", "")
