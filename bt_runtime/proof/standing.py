"""A tree as it stands in a run, and the same tree with a change: the specs from which the model of a graft is made."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.proof.model.build import GRAFT, GROWN, REPLACED
from bt_runtime.proof.model.decorators import Grown, Replaced
from bt_runtime.proof.model.model import Model
from bt_runtime.proof.model.node import BAD, OK, RUN, ModelNode
from bt_runtime.tree.node import INVALID, RUNNING, Node, path_of, segment_of
from bt_runtime.tree.nodes.results import Once
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.nodes.timing import Rate

if TYPE_CHECKING:
    from bt_runtime.run.run import Run
    from bt_runtime.tree.blackboard import Scope


HOLDS = frozenset(
    (
        "sequence",
        "fallback",
        "sequence_with_memory",
        "round_robin",
        "if",
        "try",
        "recovery",
        "retry",
        "repeat",
        "until_failure",
        "invert",
        "force",
        "once",
        "for_each",
        "precondition",
        "skip_unless",
        "delay",
        "rate",
        "episode",
    )
)  # fmt: skip - while a child of theirs runs these tick nothing else, and do not halt it


class Standing:
    """The whole tree of a run, or one that it includes."""

    def __init__(self, run: Run, included: Subtree | None = None) -> None:
        self.run, self.included = run, included
        own = run.spec if included is None else included.spec.subtree or included.spec.again
        assert own is not None
        self.tree: TreeSpec = own
        self.above = "" if included is None else path_of(included)  # what its paths in the run begin with

    @property
    def root(self) -> Behaviour:
        return self.run.root if self.included is None else self.included.children[0]

    @property
    def scope(self) -> Scope:
        if self.included is None:
            return self.run.blackboard
        assert self.included.inner is not None
        return self.included.inner

    @property
    def status(self) -> Any:
        return self.run.status if self.included is None else self.root.status

    def nodes(self) -> Iterable[Behaviour]:
        return self.run.nodes() if self.included is None else self.root.iterate()

    def path(self, node: Behaviour) -> str:
        """The path of a node as the tree's own properties write it."""
        return path_of(node)[len(self.above) :]


class Chain(NamedTuple):
    """The way from the root down to a change, as specs."""

    root: NodeSpec
    specs: list[NodeSpec]
    paths: dict[int, str]  # of the specs: where their nodes stand in the run
    changed: Behaviour | None = None  # the node whose children are other ones after the change
    place: int | None = None  # of a new child there
    old: Behaviour | None = None  # the node that is replaced
    way: tuple[Behaviour, ...] = ()  # the live nodes from the root down to the change
    planned: bool = False  # is it a plan: it comes while the nodes on the way are ticked


def grown(standing: Standing, node: Node, graft: NodeSpec) -> Chain:
    """A plan below the node that asked for it."""
    made = NodeSpec(GRAFT, node.spec.span, node.spec.file)
    made.name = node.spec.name
    made.add(graft, "child")
    paths = {id(made): standing.path(node), id(graft): f"{standing.path(node)}/{graft.name or _free(node)}"}
    return _upward(standing, node, made, Chain(made, [made], paths, planned=True), HOLDS)


def inserted(standing: Standing, parent: Node, index: int | None, graft: NodeSpec) -> Chain:
    """A new child of a node."""
    at = len(parent.children) if index is None else index if index >= 0 else len(parent.children) + 1 + index
    new = _copied(parent.spec)
    new.children = [_spec(each) for each in parent.children]
    new.children.insert(at, graft)
    new.places = ["children"] * len(new.children)
    path = standing.path(parent)
    paths = {id(new): path, id(graft): f"{path}/{graft.name or _free(parent)}", **_paths(standing, parent)}
    chain = Chain(new, [new], paths, parent, at)
    return _upward(standing, parent, new, chain, frozenset())


def replaced(standing: Standing, old: Node, graft: NodeSpec) -> Chain:
    """Other nodes in the place of a node, which is halted."""
    made = NodeSpec(REPLACED, old.spec.span, old.spec.file)
    made.name = graft.name or old.spec.name
    made.add(old.spec, "child")
    made.add(graft, "child")
    parent = old.parent if old is not standing.root else None
    path = standing.path(old)
    path = f"{path.rpartition('/')[0]}/{graft.name or segment_of(old)}"
    paths = {id(made): path, id(graft): path, id(old.spec): f"{path}/(replaced)"}
    chain = Chain(made, [made], paths, parent, None, old)
    return _upward(standing, old, made, chain, frozenset())


def _upward(standing: Standing, node: Behaviour, made: NodeSpec, chain: Chain, holds: frozenset[str]) -> Chain:
    below, way = node, [node]
    while below is not standing.root:
        above: Any = below.parent
        made = _with_child(above, below, made, holds)
        chain.specs.append(made)
        for spec, path in ((id(made), standing.path(above)), *_paths(standing, above).items()):
            chain.paths.setdefault(spec, path)
        below = above
        way.append(above)
    return chain._replace(root=made, way=tuple(reversed(way)))


def _with_child(parent: Any, child: Behaviour, made: NodeSpec, holds: frozenset[str]) -> NodeSpec:
    """The spec of a live node with this spec in place of one child's."""
    spec: NodeSpec = parent.spec
    at = next(i for i, each in enumerate(parent.children) if each is child)
    if isinstance(parent, Subtree):
        new = _copied(spec)
        new.subtree, new.again = tree_of(parent.tree, made), None
        return new
    if not spec.children or spec.kind.name in holds:
        new = NodeSpec(GROWN, spec.span, spec.file)
        new.name = spec.name
        new.values = {"ends": _ends(parent, at)}
        new.add(made, "child")
        return new
    new = _copied(spec)
    if len(spec.children) == len(parent.children):
        new.children[at] = made
        return new
    new.children = [made if each is child else _spec(each) for each in parent.children]
    new.places = ["children"] * len(new.children)
    return new


def _ends(parent: Any, at: int) -> tuple[int, int]:
    """What a live node that holds its place returns when its child at this place succeeds, and when it fails. RUN: it
    goes on with another part, or with another round."""
    kind, last = parent.spec.kind.name, at + 1 == len(parent.children)
    if kind in ("sequence", "sequence_with_memory"):
        return OK if last else RUN, BAD
    if kind == "fallback":
        return OK, BAD if last else RUN
    if kind == "invert":
        return BAD, OK
    if kind == "force":
        forced = OK if parent.spec.values["status"] == "success" else BAD
        return forced, forced
    if kind == "until_failure":
        return RUN, OK
    rounds = kind in ("retry", "repeat") and not 0 <= parent.times <= parent.count + 1
    return RUN if rounds and kind == "repeat" else OK, RUN if rounds and kind == "retry" else BAD


def _paths(standing: Standing, parent: Behaviour) -> dict[int, str]:
    """Where the children of a live node stand."""
    return {id(_spec(child)): standing.path(child) for child in parent.children if isinstance(child, Node)}


def _free(parent: Node) -> str:
    """The segment of a new child without a name."""
    return str(getattr(parent, "born", len(parent.children)))


def _spec(node: Any) -> NodeSpec:
    found: NodeSpec = node.spec
    return found


def _copied(spec: NodeSpec) -> NodeSpec:
    new = NodeSpec(spec.kind, spec.span, spec.file)
    new.name, new.values, new.subtree, new.again = spec.name, spec.values, spec.subtree, spec.again
    new.children, new.places = list(spec.children), list(spec.places)
    return new


def tree_of(tree: TreeSpec, root: NodeSpec) -> TreeSpec:
    """The same tree with another root."""
    new = TreeSpec(tree.name, tree.file, "", Path(tree.folder), tree.registry)
    new.inputs, new.outputs, new.entries, new.root = tree.inputs, tree.outputs, tree.entries, root
    return new


# The nodes of a run beside those of a model ---------------------------------------------------


class Nobody:
    """Stands for a node that is not there yet."""

    status = INVALID
    children: tuple[Any, ...] = ()


_FORGOTTEN: dict[tuple[str, type], Any] = {("result", Once): None, ("due", Rate): -math.inf}  # with another child


class Changed:
    """A live node as it will be after the change of its children."""

    def __init__(self, live: Any, chain: Chain) -> None:
        self.live, self.old, self.at_new = live, chain.old, chain.place
        self.children = list(live.children)
        if chain.place is not None:
            self.children.insert(chain.place, Nobody())

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.live, name)
        if self.at_new is not None and name in ("at", "reached") and isinstance(found, int):
            return found + (self.at_new < found or (self.at_new == found and name == "at" and self.runs(found)))
        if self.old is not None and name in ("active", "runner") and found is self.old:
            return None
        if self.old is not None and name == "seen" and self.live.active is self.old:
            return 0
        if self.old is not None and (name, type(self.live)) in _FORGOTTEN:
            return _FORGOTTEN[name, type(self.live)]
        if self.old is not None and name == "results":
            return {node: result for node, result in found.items() if node is not self.old}
        return found

    def runs(self, at: int) -> bool:
        """Whether the node whose turn it is runs; it keeps its turn."""
        return any(each.status is RUNNING for each in self.live.children[at : at + 1])


def paired(model: Model, root: Behaviour, chain: Chain | None = None) -> dict[ModelNode, Any]:
    """The model's nodes with those of the run, from the root down as far as both have them."""
    found: dict[ModelNode, Any] = {}
    todo: list[tuple[ModelNode, Any]] = [(model.root, root)]
    while todo:
        node, live = todo.pop()
        if isinstance(live, Nobody):
            continue
        if isinstance(node, Replaced):
            todo.append((node.children[0], live))
            continue
        below = next_on(chain, live)
        if chain is not None and live is chain.changed:
            live = Changed(live, chain)
        found[node] = live
        if isinstance(node, Grown):
            todo += [(node.children[0], below)] if below is not None else []
        else:
            todo += _with_lives(node, live.children, found)
    return found


def next_on(chain: Chain | None, live: Behaviour) -> Behaviour | None:
    """The child of a live node on the way down to a change; None when it is not on the way, or the last on it."""
    way = chain.way if chain is not None else ()
    return next((below for node, below in pairwise(way) if node is live), None)


def _with_lives(node: ModelNode, lives: Sequence[Any], found: dict[ModelNode, Any]) -> Iterator[tuple[ModelNode, Any]]:
    """Yields a node's children with their live nodes. One that stands for several is paired with that which runs."""
    counts = [getattr(child, "merged", 1) for child in node.children]
    if sum(counts) != len(lives):
        return
    at = 0
    for child, count in zip(node.children, counts, strict=True):
        own = lives[at : at + count]
        at += count
        if count == 1:
            yield child, own[0]
        else:
            found[child] = next((each for each in own if each.status is RUNNING), own[0])
