"""The labels of what a node writes, by its kind. Other kinds write what all their fields are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.language.outputs import Output
from bt_runtime.language.policies.label import NOTHING, UNKNOWN, WORLD, Labels
from bt_runtime.language.policies.policy import Policies
from bt_runtime.language.policies.within import names_in
from bt_runtime.run.policy.ledger import AUTHORED, Ledger
from bt_runtime.tree.node import Node
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree

if TYPE_CHECKING:
    from bt_runtime.events import Written
    from bt_runtime.language.entry import SkillEntry
    from bt_runtime.tree.blackboard import Scope

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

    def gives(self, name: str, entry: SkillEntry | None, context: Any, output: str = "") -> Labels: ...


def labels_written(of: Sources, node: Any, written: Written) -> Labels:
    """Returns the labels of what this node writes into this entry now. The event names the entry at its home; the node
    may know it by other names, and by several."""
    if not isinstance(node, Node) or not ours(node):
        return UNKNOWN
    if isinstance(node, Subtree):
        return passed_in(of, node, written)
    names = [name for name in names_of(node) if is_home(node.scope, name, written)]
    return NOTHING.union(*(labels_of_name(of, node, name) for name in names or ("",)))


def is_home(scope: Scope, name: str, written: Written) -> bool:
    """True when a write to this name in this scope goes to the entry that was written."""
    home, at = scope.home(name, writing=True)
    return (home.path, at) == (written.scope, written.name)


def names_of(node: Node) -> list[str]:
    """Returns a node's own names of the entries whose labels differ from each other."""
    values = node.spec.values
    if isinstance(node, SkillNode):
        return [name_in_entry(values[field.name]) for field in node.written]
    kind, named = node.spec.kind.name, values.get("values" if node.spec.kind.name == "set" else "outputs")
    return [*named] if kind in ("set", "infer") and isinstance(named, dict) else []


def labels_of_name(of: Sources, node: Node, name: str) -> Labels:
    """Returns the labels of what a node writes to one of its own names; "": to any other entry."""
    ledger = of.ledger
    if isinstance(node, SkillNode):
        return given_by(of, node, name)
    if isinstance(node, ModelNode):
        return endorsed(of, node, name, ledger.answers(node) | ledger.inputs(node))
    kind = node.spec.kind.name
    if kind == "set" and name:
        return of.assignments.label(ledger, node, node.spec.values["values"], name)
    more = ledger.below(node.path) if kind == "for_all" else NOTHING
    if kind in LOOKING:
        more = ledger.seen | {WORLD}
    if kind == "try":
        more = UNKNOWN  # the message of a failed node may quote anything
    return ledger.kept(node, ledger.inputs(node) | more)


def passed_in(of: Sources, node: Subtree, written: Written) -> Labels:
    """Returns the labels of what a subtree writes: an input that is not shared, or the default of a port."""
    given = node.spec.values.get("with") or {}
    if node.inner is None or written.scope != node.inner.path or written.name not in given:
        return AUTHORED
    return of.ledger.content(node) | of.ledger.read(node.within, names_in(given[written.name]))


class Assignments:
    """The labels of what a `set` writes. All its values are computed before the first is written."""

    def __init__(self) -> None:
        self.at: tuple[Any, int] = (None, 0)  # the node, and the tick
        self.labels: dict[str, Labels] = {}

    def label(self, ledger: Ledger, node: Node, assigned: dict[str, Any], name: str) -> Labels:
        at = (node, node.context.blackboard.begun)
        if self.at != at:
            self.at, self.labels = at, {}
        if not self.labels or name == next(iter(assigned)):  # labels of several starts in one tick are joined
            before = self.labels
            self.labels = {n: ledger.value(node, of) | before.get(n, NOTHING) for n, of in assigned.items()}
        return self.labels[name]


def given_by(of: Sources, node: SkillNode, name: str) -> Labels:
    """Returns the labels of a skill's output: its own, and those of all that the skill was given. A skill that the
    policy endorses checks or cleans what it is given; its outputs count as the author's."""
    skill = node.spec.kind.name
    inputs = of.ledger.kept(node, NOTHING.union(*slots_of(of.ledger, node).values()))
    if skill in of.policies.endorsed:
        return AUTHORED
    named = [f.name for f in node.written if name_in_entry(node.spec.values[f.name]) == name]
    return inputs.union(*(of.gives(skill, node.entry, node.context, output) for output in named or ("",)))


def name_in_entry(value: Any) -> str:
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
