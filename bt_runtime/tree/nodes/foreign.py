"""A foreign node: any py_trees behaviour, by its import path, around children that are made already."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py_trees import composites, decorators
from py_trees.behaviour import Behaviour

from bt_runtime import project
from bt_runtime.faults.diagnostic import Diagnostic, Faults
from bt_runtime.project.importing import ImportFault

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec


def foreign(spec: NodeSpec, children: list[Behaviour], folder: Path, imported: Callable[[str, Path], Any]) -> Behaviour:
    """A py_trees behaviour by its import path."""
    reference = str(spec.values["class"])
    if reference.startswith("py_trees."):
        folder = project.packaged("trees")  # the library's own nodes are nobody's Python but ours

    def fault(message: str, help: str = "") -> Faults:
        return Faults([Diagnostic("BT046", message, spec.file, spec.span, help=help)])

    try:
        found = imported(reference, folder)
    except ImportFault as error:
        raise fault(error.message, error.hint) from error
    if not (isinstance(found, type) and issubclass(found, Behaviour)):
        raise fault(f"`{reference}` is no py_trees behaviour class")
    given = spec.values.get("args") or {}
    if not isinstance(given, dict):
        raise fault("`args` are fixed when the tree is built, so they cannot hold templates")
    args = {"name": spec.name or reference.rpartition(":")[2], **given}
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
    return node
