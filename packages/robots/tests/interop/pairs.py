"""One tree twice: as ours and as BehaviorTree.CPP's own, each behind its own publisher, ticked step by step."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import bt_runtime as bt
from bt_robots.groot2.publisher import Groot2

YAML = """version: 1
tree: Main
root:
  sequence:
    name: top
    children:
      - fallback:
          - invert: {child: {succeed: {}}}
          - opened: {name: door}
      - parallel:
          success: 2
          children:
            - steps: {name: left, n: 3}
            - sequence:
                - steps: {name: first, n: 1}
                - steps: {name: second, n: 5}
      - refused: {name: last}
"""
XML = """<root BTCPP_format="4" main_tree_to_execute="Main"><BehaviorTree ID="Main">
  <Sequence name="top">
    <Fallback><Inverter><AlwaysSuccess/></Inverter><opened name="door"/></Fallback>
    <Parallel success_count="2">
      <steps name="left"/>
      <Sequence><steps name="first"/><steps name="second"/></Sequence>
    </Parallel>
    <refused name="last"/>
  </Sequence>
</BehaviorTree></root>"""
ROUND = 7  # ticks until the root has failed
RUNNING = {"left": 3, "first": 1, "second": 5}  # ticks that each takes


@bt.skill
class Steps(bt.Skill):
    def start(self, n: int) -> None:
        self.left = n

    def poll(self) -> bt.Status:
        self.left -= 1
        return bt.Status.RUNNING if self.left >= 0 else bt.Status.SUCCESS


@bt.skill
class Opened(bt.Skill):
    def start(self) -> None: ...

    def poll(self) -> bt.Status:
        return bt.Status.SUCCESS


@bt.skill
class Refused(bt.Skill):
    def start(self) -> None: ...

    def poll(self) -> bt.Status:
        return bt.Status.FAILURE


SKILLS = [Steps, Opened, Refused]


class Side(NamedTuple):
    tick: Callable[[], object]
    port: int


@contextmanager
def ours(**more: Any) -> Iterator[Side]:
    with bt.Run(bt.load(YAML, skills=SKILLS), **more) as run, Groot2(run, 0) as shown:
        yield Side(run.tick, shown.port)


def their_tree(library: Any) -> Any:
    factory, left = library.BehaviorTreeFactory(), dict[str, int]()
    success, failure, running = (getattr(library.NodeStatus, name) for name in ("SUCCESS", "FAILURE", "RUNNING"))

    def start(node: Any) -> Any:
        left[node.name()] = RUNNING[node.name()]
        return poll(node)

    def poll(node: Any) -> Any:
        left[node.name()] -= 1
        return running if left[node.name()] >= 0 else success

    factory.register_simple_stateful_action("steps", start, poll)
    factory.register_simple_action("opened", lambda node: success)
    factory.register_simple_action("refused", lambda node: failure)
    return factory.create_tree_from_text(XML)


@contextmanager
def theirs() -> Iterator[Side]:
    import behaviortreepy as library

    tree, port, publisher = their_tree(library), 0, None
    for port in range(21_667, 21_767, 2):
        try:
            publisher = library.Groot2Publisher(tree, port)
            break
        except Exception:  # taken
            continue
    try:
        yield Side(tree.tick_exactly_once, port)
    finally:
        del publisher


def log(path: Path) -> None:
    """Their log of one round. It leaves without a word: their logger, when it goes, at times waits for ever."""
    import behaviortreepy as library

    tree = their_tree(library)
    logger = library.FileLogger(tree, str(path))
    for _ in range(ROUND):
        tree.tick_exactly_once()
    while not path.read_bytes().endswith(b"\x01\x00\x00"):  # the root is reset: the last of all
        time.sleep(0.05)  # a flush beside their thread's own, on a busy machine, once wrote everything twice
        logger.flush()
    os._exit(0)


if __name__ == "__main__":
    log(Path(sys.argv[1]))
