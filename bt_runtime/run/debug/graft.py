"""Hot replacement: puts edited YAML in the place of a node, and can undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bt_runtime.events import Halt
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.run.debug.rule import short
from bt_runtime.tree.node import Node, segment_of
from bt_runtime.tree.request import Request

if TYPE_CHECKING:
    from bt_runtime.tree.engine import Engine
    from bt_runtime.tree.growth import Growth

MOST_TEXT = 64_000  # characters of edited YAML


class Replaced(NamedTuple):
    number: int
    was: str  # the path of the node that stood there
    path: str  # … and where its successor stands
    spec: NodeSpec  # the spec that stood there before
    edited: str  # the YAML that stands there now

    def text(self) -> str:
        return f"{self.was} is replaced by edited YAML"


def replace(engine: Engine, growth: Growth, path: str, spec: NodeSpec, text: str, number: int, by: str) -> Replaced:
    """Replaces a node at once, completely or not at all."""
    old = engine.find(path)
    if not isinstance(old, Node):
        raise BtError(
            f"{path} was built in Python: the debugger could not restore it afterwards", "replace a node above it"
        )
    request = Request("replace", path, text=text, name=spec.name or "", why=_why(path, by))
    _made(engine, growth.stand(request, spec))
    segment = spec.name or segment_of(old)
    return Replaced(number, path, f"{path.rpartition('/')[0]}/{segment}", old.spec, text)


def put_back(engine: Engine, growth: Growth, made: Replaced) -> str:
    try:
        engine.find(made.path)
    except BtError:  # removed together with a node above it
        return f"{made.text()} (it has gone already)"
    segment = made.was.rpartition("/")[2]
    why = Halt("debugger", f"{made.path}: what stood there is put back")
    _made(engine, growth.stand(Request("replace", made.path, name=segment, why=why), made.spec))
    return made.text()


def checked(growth: Growth, tree: TreeSpec, path: str, text: str) -> NodeSpec:
    """Checks a replacement text; returns its faults as for a file."""
    short(path, "a path")
    if len(text) > MOST_TEXT:
        raise BtError(f"{len(text):,} characters are too many", f"a replacement has at most {MOST_TEXT:,}")
    return growth.checked(path, text, tree)


def _made(engine: Engine, request: Request) -> None:
    engine.settle()
    if request.poll() is None:
        request.cancel("it was not made")
        raise BtError(f"{request.path} could not be replaced", "try again between two ticks")


def _why(path: str, by: str) -> Halt:
    if by:
        return Halt("watch", f"{by} was edited: {path} is replaced")
    return Halt("debugger", f"{path} was replaced by edited YAML")
