"""The labels of a run: those of its entries, its agents, and what its skills gave.

A label is joined from all that a value was made of. What is not known has all labels."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.agents.services import agent_services
from bt_runtime.language.policies.label import AUTHOR, MODEL, NOTHING, UNKNOWN, Labels
from bt_runtime.language.policies.within import names_in
from bt_runtime.language.values import is_entry
from bt_runtime.run.policy.origin import assisted, by_assistant, decided_by, read_by, written_by

if TYPE_CHECKING:
    from bt_runtime.events import Written
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.types import Json

FORGETFUL = ("agent", "tree_search", "infer", "route")  # kinds that read of other agents only what their fields say
AUTHORED = frozenset((AUTHOR,))
MODELLED = frozenset((MODEL,))


class Ledger:
    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], Labels] = {}  # (scope, entry)
        self.agents: WeakKeyDictionary[ModelNode, Labels] = WeakKeyDictionary()
        self.nodes: WeakKeyDictionary[Any, Labels] = WeakKeyDictionary()  # labels of what a node was made of
        self.given: dict[str, Labels] = {}  # skill → what it has given so far
        self.seen: Labels = NOTHING  # labels of everything that agents have read: memory, stories
        self.news: dict[tuple[str, str], Labels] = {}  # labels given since the latest tick
        self.written: tuple[str, str] | None = None  # the entry whose write is being labelled
        self.lock = threading.Lock()

    # Entries ---------------------------------------------------------------------------------

    def write(self, written: Written, labels: Labels) -> None:
        self.label((written.scope, written.name), labels)

    def label(self, place: tuple[str, str], labels: Labels) -> None:
        with self.lock:
            if self.entries.get(place) != labels:
                self.entries[place] = self.news[place] = labels

    def forget(self, scope: str, names: Iterable[str]) -> None:
        with self.lock:
            for name in names:
                self.entries.pop((scope, name), None)

    def entry(self, scope: Scope, name: str) -> Labels:
        """Returns the labels of what stands in an entry now."""
        home, at = scope.home(name)
        found = self.entries.get((home.path, at))
        if found is not None:
            return found
        if (home.path, at) == self.written:  # the first write here: a reader before it saw the parent's entry, or none
            return self.entry(home.parent, at) if home.open and home.parent is not None else NOTHING
        return UNKNOWN if at in home.entries else NOTHING

    def read(self, scope: Scope, names: Iterable[str]) -> Labels:
        return NOTHING.union(*(self.entry(scope, name) for name in names))

    # Nodes -----------------------------------------------------------------------------------

    def content(self, node: Any) -> Labels:
        """Returns the labels of what is written in a node itself."""
        agent = written_by(node)
        if agent is None:
            return MODELLED if by_assistant(node.spec) else AUTHORED
        return self.answers(agent)

    def control(self, node: Any) -> Labels:
        """Returns the labels of the decisions that let a node run. Guards and tests of an author's tree do not count:
        what they let pass is the author's choice."""
        own = MODELLED if assisted(node) else AUTHORED
        return own.union(*(self.answers(agent) for agent in decided_by(node)))

    def value(self, node: Any, value: Json) -> Labels:
        """Returns the labels of one value of a node. An author's `{entry}` has those of the entry alone."""
        content = self.content(node)
        own = NOTHING if content == AUTHORED and is_entry(value) else content
        return own | self.read(node.scope, names_in(value))

    def inputs(self, node: Any) -> Labels:
        """Returns the labels of all that a node's fields are made of."""
        return self.content(node) | self.read(node.scope, read_by(node))

    def kept(self, node: Any, labels: Labels) -> Labels:
        """Adds to what a node was made of, and returns all of it: it may write what it read some ticks ago."""
        found = self.nodes[node] = self.nodes.get(node, NOTHING) | labels
        return found

    def below(self, path: str) -> Labels:
        """Returns the labels of all entries in scopes at or below this path."""
        with self.lock:
            return NOTHING.union(*(of for (scope, _), of in self.entries.items() if scope.startswith(path)))

    # Agents ----------------------------------------------------------------------------------

    def begin(self, agent: ModelNode, labels: Labels) -> None:
        """Notes an agent's start: it has read its own fields, and nothing else yet."""
        self.agents[agent] = NOTHING
        self.hear(agent, self.inputs(agent) | labels)

    def hear(self, agent: ModelNode, labels: Labels) -> None:
        """Adds what an agent has read; the agents that it is a part of may read it too."""
        with self.lock:
            self.seen |= labels
            for each in (agent, *decided_by(agent)):
                before = self.agents.get(each, NOTHING)
                if not labels <= before:
                    self.agents[each] = self.news[each.path, ""] = before | labels

    def heard(self, agent: ModelNode) -> Labels:
        """Returns the labels of all that an agent has read."""
        found = self.agents.get(agent)
        labels = UNKNOWN if found is None else found
        values = agent.spec.values
        recalls = values.get("recall") and agent_services(agent.context).working_memory is not None
        told = recalls or values.get("inform") == "last_action" or agent.spec.kind.name not in FORGETFUL
        return labels | self.seen if told else labels

    def answers(self, agent: ModelNode) -> Labels:
        """Returns the labels of what an agent's model says now."""
        return self.heard(agent) | {MODEL}

    def told(self) -> list[tuple[str, str, Labels]]:
        """Returns what has changed since the last call."""
        with self.lock:
            news, self.news = self.news, {}
        return [(path, name, labels) for (path, name), labels in news.items()]
