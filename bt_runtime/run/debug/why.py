"""Explains a node's status: the chain of statuses and tests that led to it, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from py_trees.behaviour import Behaviour
from py_trees.common import Status

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.run.debug.witness import Witness
from bt_runtime.tree.describe.gist import kind_of, worded
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, TRANSPARENT, Node, path_of, segment_of
from bt_runtime.tree.nodes.parent import Parent

if TYPE_CHECKING:
    from bt_runtime.tree.engine import Engine

MOST = 40  # sentences
DEEP = 32  # reasons within reasons
SEVERAL = 4  # children of one node whose reasons are told
_TESTS = frozenset({"when", "unless", "if", "check", "until", "expr"})
_WORDS = {RUNNING: "is running", SUCCESS: "succeeded", FAILURE: "failed", INVALID: "was not reached, or was skipped"}


def why(engine: Engine, path: str, witness: Witness | None, told: Mapping[Behaviour, str]) -> list[str]:
    """Explains a node. `told`: the debugger's changes to nodes."""
    node = engine.find(path)
    if not engine.count:
        return ["No tick was made yet."]
    return Story(engine, witness, told).of(node)


class Story:
    def __init__(self, engine: Engine, witness: Witness | None, told: Mapping[Behaviour, str]) -> None:
        self.engine, self.context = engine, engine.context
        self.witness, self.told = witness, told
        self.said: list[str] = []
        self.done: set[Behaviour] = set()

    def of(self, node: Behaviour) -> list[str]:
        chain = [node]
        while chain[0].parent is not None:
            chain.insert(0, chain[0].parent)
        shown = [each for each in chain if segment_of(each) != TRANSPARENT]
        steps = ", ".join(f"{path_of(each)} {_WORDS[each.status]}" for each in shown)
        self.say(f"After tick {self.engine.count}: {steps}.")
        first = next((i for i, each in enumerate(chain) if each.status is INVALID), None)
        if first is None:
            self.explain(node)
        elif first == 0:
            self.unstarted(chain[0])
        else:
            self.not_there(chain[first - 1], chain[first])
        return self.said[:MOST]

    def say(self, text: str) -> None:
        if len(self.said) < MOST and text not in self.said:
            self.said.append(text)

    # A node that shows nothing ---------------------------------------------------------------

    def unstarted(self, root: Behaviour) -> None:
        if root in self.told:
            self.say(f"{path_of(root)} {self.told[root]}.")
        elif self.engine.latest is not None:
            self.say(f"The run was halted by {self.engine.latest.by}: {self.engine.latest.reason}.")
        else:
            self.skipped(root)

    def not_there(self, parent: Behaviour, child: Behaviour) -> None:
        """Explains a missing result: `parent` shows a result, `child`, the next node on the path, shows none."""
        for node in (child, parent):
            if node in self.told:
                self.say(f"{path_of(node)} {self.told[node]}.")
                return
        if self.witness is not None and (found := self.witness.halts.get(child)):
            self.say(f"{path_of(child)} was halted at tick {found[0]} by {found[1].by}: {found[1].reason}.")
        if not (isinstance(parent, Parent) and self.passed_by(parent, child)):
            self.skipped(child)

    def passed_by(self, parent: Parent, child: Behaviour) -> bool:
        """Tells why the parent did not come to this child; False when it did."""
        ordered, asked = parent.spec.kind.onward is not None, self.branch(parent)
        at = next(i for i, each in enumerate(parent.children) if each is child)
        others = range(at - 1, -1, -1) if ordered else [i for i in range(len(parent.children)) if i != at]
        for other, place in ((parent.children[i], i) for i in others):
            runs = other.status is RUNNING and (parent.HOLDS or ordered or asked)
            ended = other.status in (SUCCESS, FAILURE) and parent.ended_by(place, other.status) is not None
            if runs or ended:
                chosen = f"was not chosen: {path_of(other)} was"
                turn = f"had no turn: {path_of(other)}{' before it' if ordered else ''} {_WORDS[other.status]}"
                self.say(f"{path_of(child)} {chosen if asked else turn}.")
                self.explain(_inside(other))
                return True
        if ordered or asked or parent.status is RUNNING:
            return asked
        self.say(f"{path_of(parent)} has its result without {path_of(child)}: it {_WORDS[parent.status]}.")
        return True

    def skipped(self, node: Behaviour) -> None:
        """Explains why the node was skipped, or that its result is gone."""
        if node in self.told:
            self.say(f"{path_of(node)} {self.told[node]}.")
        elif isinstance(node, Parent) and self.branch(node):
            self.say(f"So {path_of(node)} is skipped.")
        elif node.children and isinstance(node, Node) and node.spec.kind.onward is not None:
            self.say(f"{path_of(node)} is skipped: so are all its children.")
            for child in node.children[:SEVERAL]:
                self.skipped(child if _is_guard(child) else _inside(child))
        else:
            self.say(f"{path_of(node)} has had no turn since it was reset, or was skipped.")

    # Tests -----------------------------------------------------------------------------------

    def branch(self, node: Node) -> bool:
        """Describes the tests of a conditional node; False when it has none."""
        told = False
        for field in (field.name for field in node.spec.kind.fields if field.asks or field.type == "expression"):
            if field in node.spec.values and hasattr(node.spec.values[field], "names"):
                self.say(self.test(node, field))
                told = True
            elif field in node.spec.places and field in node.spec.asks:
                places = node.spec.places
                asked = node.children[places.index(field) - len(places)]
                self.say(f"The test `{field}` of {path_of(node)} is {path_of(asked)}, which {_WORDS[asked.status]}.")
                self.explain(_inside(asked))
                told = True
        if "updated" in node.spec.values and node.status is not SUCCESS:
            self.say(f"{path_of(node)} waits for a new write of `{node.spec.values['updated']}`.")
            told = True
        return told

    def test(self, node: Node, field: str) -> str:
        """Describes a test, such as: ``when: battery < low`` of /patrol/charge does not hold: `battery` was 0.41 and
        `low` is 0.2."""
        expression = node.spec.values[field]
        read = self.witness.read(node) if self.witness is not None else {}
        names = [name for name in expression.names if not read or name in read]
        values = {name: read[name] if name in read else node.scope.get(name) for name in names}
        try:
            found = expression.evaluate({**dict.fromkeys(expression.names), **values} if read else node.scope)
        except BtError as error:
            said = f"cannot be told ({error.message})"
        else:
            truth = found is True or found is False
            said = ("holds" if found else "does not hold") if truth or field in _TESTS else f"is {worded(found)}"
        fixed = self.fixed(node)
        parts = [f"`{name}` {'is' if name in fixed else 'was'} {worded(value)}" for name, value in values.items()]
        because = f": {', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]}" if parts else ""
        prefix = f"{field}: " if field != "expr" else ""
        return f"`{prefix}{expression.text}` of {path_of(node)} {said}{because}."

    def fixed(self, node: Node) -> frozenset[str]:
        """Names that are given once: the inputs of its tree."""
        try:
            return frozenset(self.engine.growth.owner(node).tree.inputs)
        except BtError:
            return frozenset()

    # A node that shows a result --------------------------------------------------------------

    def explain(self, node: Behaviour, depth: int = 0) -> None:
        if node in self.done or depth > DEEP:
            return
        self.done.add(node)
        place = path_of(node)
        if node in self.told:
            self.say(f"{place} {self.told[node]}.")
        elif (crash := self.crash(node)) is not None:
            self.say(f"{place} broke: {crash}.")
        elif not isinstance(node, Node):
            self.leaf(node)
        elif _is_guard(node):
            self.branch(node)
            self.explain(_inside(node), depth + 1)
        elif node.children:
            self.branch(node)
            self.children(node, depth)
        elif not self.branch(node) or node.status is RUNNING:
            self.leaf(node)

    def crash(self, node: Behaviour) -> str | None:
        if node.status is not FAILURE:
            return None
        place = path_of(node)
        return next((c.message for c in reversed(self.context.crashes) if c.path == place), None)

    def leaf(self, node: Behaviour) -> None:
        said = node.explain() if isinstance(node, Node) else node.feedback_message
        self.say(f"{path_of(node)} ({kind_of(node)}) {_WORDS[node.status]}{f': {said}' if said else ''}.")

    def children(self, node: Node, depth: int) -> None:
        """Describes the children that determined the node's status."""
        place, status, onward = path_of(node), node.status, node.spec.kind.onward
        same = [child for child in node.children if child.status is status]
        if status.name.lower() == onward:
            all_took = (
                "all of its children that took part have" if status is SUCCESS else "none of its children succeeded"
            )
            self.say(f"{place} {_WORDS[status]}: {all_took}.")
            if status is SUCCESS:
                return
        elif same and onward is not None:
            same = same[-1:]
            self.say(f"{place} {_WORDS[status]}, because {path_of(same[0])} {_word(status)}.")
        elif said := node.explain():
            self.say(f"{place} ({kind_of(node)}) {_WORDS[status]}: {said}.")
        live = same or [child for child in node.children if child.status is not INVALID][-1:]
        if not live:
            self.leaf(node)
        for child in live[:SEVERAL]:
            self.explain(_inside(child), depth + 1)


def _is_guard(node: Behaviour) -> bool:
    return isinstance(node, Node) and node.spec.kind.transparent


def _inside(node: Behaviour) -> Behaviour:
    """For a guard whose test passed: the guarded node. A guard whose test failed is itself the reason."""
    while _is_guard(node) and node.children[0].status is not INVALID:
        node = node.children[0]
    return node


def _word(status: Status) -> str:
    return "is" if status is RUNNING else "did" if status is SUCCESS else "has"
