"""The labels of what a node writes, by its kind. Other kinds write what all their fields are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.language.outputs import Output
from bt_runtime.language.policies.label import NOTHING, UNKNOWN, WORLD, Labels
from bt_runtime.language.policies.policy import Policies
from bt_runtime.policy.ledger import AUTHORED, Ledger
from bt_runtime.policy.origin import names_in
from bt_runtime.tree.node import Node
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree

if TYPE_CHECKING:
    from bt_runtime.language.entry import Entry

LOOKING = (
    "fits",
    "offered",
    "untried",
    "heard",
    "holds",
    "episode",
    "rollback",
)  # kinds that look at the world and at what was heard
CLOSED = ("boolean", "integer", "number")  # types of answers that may be endorsed; numbers with both bounds


class Sources(Protocol):
    ledger: Ledger
    policies: Policies
    assignments: Assignments

    def gives(self, name: str, entry: Entry | None, context: Any, output: str = "") -> Labels: ...


def labels_written(of: Sources, node: Any, name: str) -> Labels:
    """Returns the labels of what this node writes into this entry now."""
    if not isinstance(node, Node) or not ours(node):
        return UNKNOWN
    ledger, values = of.ledger, node.spec.values
    if isinstance(node, SkillNode):
        return given_by(of, node, name)
    if isinstance(node, Subtree):
        given = (values.get("with") or {}).get(name)
        within = ledger.read(node.within, names_in(given))
        return ledger.content(node) | within if given is not None else AUTHORED
    if isinstance(node, ModelNode):
        answer = ledger.answers(node) | ledger.inputs(node)
        return endorsed(of, node, name, answer)
    kind, assigned = node.spec.kind.name, values.get("values")
    if kind == "set" and isinstance(assigned, dict) and name in assigned:
        return of.assignments.label(ledger, node, assigned, name)
    more = ledger.below(node.path) if kind == "for_all" else NOTHING
    if kind in LOOKING:
        more = ledger.seen | {WORLD}
    if kind == "try":
        more = UNKNOWN  # what a failed node says of itself may quote anything
    return ledger.kept(node, ledger.inputs(node) | more)


class Assignments:
    """The labels of what a `set` writes. All its values are computed before the first is written."""

    def __init__(self) -> None:
        self.node: Any = None
        self.labels: dict[str, Labels] = {}

    def label(self, ledger: Ledger, node: Any, assigned: dict[str, Any], name: str) -> Labels:
        if self.node is not node or name == next(iter(assigned)):
            self.node = node
            self.labels = {each: ledger.value(node, value) for each, value in assigned.items()}
        return self.labels[name]


def given_by(of: Sources, node: SkillNode, name: str) -> Labels:
    """Returns the labels of a skill's output: its own, and those of all that the skill was given. A skill that the
    policy endorses checks or cleans what it is given; its outputs count as the author's."""
    skill = node.spec.kind.name
    inputs = of.ledger.kept(node, NOTHING.union(*slots_of(of.ledger, node).values()))
    if skill in of.policies.endorsed:
        return AUTHORED
    output = next((f.name for f in node.written if names_in_entry(node.spec.values[f.name]) == name), "")
    return inputs | of.gives(skill, node.entry, node.context, output)


def names_in_entry(value: Any) -> str:
    """Returns the entry that an output is written to."""
    return str(getattr(value, "text", value)).strip().removeprefix("{").removesuffix("}").strip()


def ours(node: Node) -> bool:
    """True for a kind of this package. What a `py` node or a plugin's kind writes may be made of anything."""
    kind = node.spec.kind
    return not kind.foreign and (kind.family == "skill" or str(kind.impl).startswith("bt_runtime."))


def slots_of(ledger: Ledger, node: SkillNode) -> dict[str, Labels]:
    """Returns the labels of each value that a skill's node is given."""
    return {field.name: ledger.value(node, node.spec.values[field.name]) for field in node.taken}


def endorsed(of: Sources, node: Any, name: str, answer: Labels) -> Labels:
    """Returns the labels of a model's answer. One that the policy endorses counts as chosen by the author, who has
    listed what it can be; choices that are computed keep their own labels."""
    output = (node.spec.values.get("outputs") or {}).get(name) if node.spec.kind.name == "infer" else None
    if output is None or name not in of.policies.endorsed or not closed(output):
        return answer
    return AUTHORED | of.ledger.read(node.scope, names_in(output.choices))


def closed(output: Output) -> bool:
    """True for an answer that can only be one of the values that the author has listed or bounded."""
    if output.choices or output.type == "boolean":
        return True
    return output.type in CLOSED and output.minimum is not None and output.maximum is not None
