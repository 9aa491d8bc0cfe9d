"""Makes a foreign node: any py_trees behaviour, by its import path, around existing children."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_trees import blackboard, composites, decorators
from py_trees.behaviour import Behaviour

from bt_runtime.language import project
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults
from bt_runtime.language.project.importing import ImportFault
from bt_runtime.tree.node import computed
from bt_runtime.tree.nodes.arguments import Imported, arguments
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope


def foreign(spec: NodeSpec, children: list[Behaviour], folder: Path, imported: Imported, scope: Scope) -> Behaviour:
    """Makes a py_trees behaviour from its import path."""
    reference = str(spec.values["class"])
    ours = reference.startswith("py_trees.")  # py_trees' own nodes need no trust

    def fault(message: str, help: str = "") -> Faults:
        return Faults([Diagnostic("BT046", message, spec.file, spec.span, help=help)])

    try:
        found = imported(reference, project.packaged("trees") if ours else folder)
    except ImportFault as error:
        raise fault(error.message, error.hint) from error
    if not (isinstance(found, type) and issubclass(found, Behaviour)):
        raise fault(f"`{reference}` is not a py_trees behaviour class")
    given = spec.values.get("args") or {}
    if not isinstance(given, dict):
        raise fault("`args` are fixed when the tree is built, so they cannot hold templates")
    try:
        args = {"name": spec.name or reference.rpartition(":")[2], **arguments(found, given, imported, folder)}
    except BtError as error:
        raise fault(error.message, error.hint) from error
    except Exception as error:
        raise fault(f"`args` of `{reference}` cannot be made: {type(error).__name__}: {error}") from error
    if issubclass(found, decorators.Decorator):
        if len(children) != 1:
            raise fault(f"`{reference}` is a decorator: it takes one child, not {len(children)}")
        args["child"] = children[0]
    elif children and not issubclass(found, composites.Composite):
        raise fault(f"`{reference}` takes no children")
    try:
        node: Behaviour = found(**args)
    except Exception as error:
        raise fault(f"`{reference}` cannot be made: {type(error).__name__}: {error}") from error
    if isinstance(node, composites.Composite) and not isinstance(node, decorators.Decorator):
        for child in children:
            node.add_child(child)
    if "give" in spec.values or "take" in spec.values:
        _bridge(node, spec.values.get("give") or {}, spec.values.get("take") or {}, scope)
    made: Any = node
    made.made_of = spec  # the spec, for its line and column
    return node


def _bridge(foreign: Any, give: dict[str, Json], take: dict[str, Json], scope: Scope) -> None:
    """Copies entries to py_trees' blackboard before each tick of the node, and back after it."""
    tick, theirs = foreign.tick, blackboard.Blackboard
    taken: dict[str, Any] = {}

    def ticked() -> Iterator[Behaviour]:
        for name, value in give.items():
            theirs.set(name, computed(value, scope))
        yield from tick()
        for entry, value in take.items():
            key = str(computed(value, scope))
            if theirs.exists(key) and (entry not in taken or theirs.get(key) is not taken[entry]):
                scope[entry] = taken[entry] = theirs.get(key)

    foreign.tick = ticked
