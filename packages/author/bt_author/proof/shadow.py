"""A second tree that stands as one of a run does, with a graft in its place: its state is taken over from the run's,
and the change is made by the engine's own splicing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from py_trees.behaviour import Behaviour

from bt_author.proof import parts
from bt_author.proof.board import OUTSIDE
from bt_author.proof.choices import Choices, State
from bt_author.proof.cut import IN_ORDER, with_root
from bt_author.proof.declared import explorable, names_of
from bt_author.proof.explorer import Explorer
from bt_author.proof.options import Options
from bt_author.proof.zone import NO_CLOCKS
from bt_runtime.events import Halt
from bt_runtime.language.kinds.data import UNKNOWN
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec, TreeSpec
from bt_runtime.run.monitoring.standing import Standing
from bt_runtime.skills.activity import Wrapping
from bt_runtime.tree.build import build_nodes
from bt_runtime.tree.changes import Shape
from bt_runtime.tree.node import RUNNING, TRANSPARENT, Node, halt, path_of, segment_of
from bt_runtime.tree.nodes.interlocks import Locked
from bt_runtime.tree.nodes.parent import Chooser
from bt_runtime.tree.nodes.reactive import _Reactive
from bt_runtime.tree.nodes.sequences import _InOrder
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.request import Request
from bt_runtime.tree.state import declared

NOT_THEIRS = frozenset((parts.PART.name, parts.OPEN.name, parts.REST.name, parts.GROWN.name))  # what no run has
WHY = Halt("graft", "another node has its turn")


class Change(NamedTuple):
    """A graft, and where it is to stand: below `node` (a plan), beside its children (at `at`), or in its place."""

    how: str
    node: Node
    graft: NodeSpec
    at: int | None = None

    @property
    def planned(self) -> bool:
        return self.how == "grow"


class Copied:
    """The spec of a standing tree: copies of those nodes on the way down to a change, whose children may be others than
    those that were loaded."""

    def __init__(self, standing: Standing, change: Change | None) -> None:
        self.standing, self.change = standing, change
        self.origins: dict[int, NodeSpec] = {}
        self.kept: set[int] = set()  # specs on the way, which are explored whatever they are
        self.held: list[NodeSpec] = []  # keeps the copies, which are known by their identity
        self.way: list[Any] = []  # live nodes, from the root down to the change
        at: Any = change.node if change is not None else standing.root
        while True:
            self.way.insert(0, at)
            if at is standing.root:
                break
            at = at.parent
        self.tree = with_root(standing.tree, self.node(0))
        self.tree.name = segment_of(standing.root)

    @property
    def apart(self) -> frozenset[int]:
        return frozenset(self.kept)

    def standing_copy(self, live: Any) -> NodeSpec:
        """The spec of a live node under the name that it has now."""
        return self.copy(live.spec, segment_of(live) if segment_of(live) != TRANSPARENT else live.spec.name)

    def copy(self, spec: NodeSpec, name: str | None) -> NodeSpec:
        new = NodeSpec(spec.kind, spec.span, spec.file)
        new.name = name
        new.values, new.subtree, new.again = spec.values, spec.subtree, spec.again
        new.children, new.places = spec.children, spec.places
        self.origins[id(new)] = spec
        self.held.append(new)
        return new

    def node(self, at: int) -> NodeSpec:
        live, last = self.way[at], at + 1 == len(self.way)
        made = self.standing_copy(live)
        self.kept |= {id(made), id(live.spec)}
        if last and self.change is None:
            return made
        if last and self.change is not None and self.change.planned:
            graft = self.change.graft
            return self.grown(live, made, self.copy(graft, graft.name or str(live.born)))
        if last and self.change is not None and self.change.how == "replace":
            self.kept |= {id(each) for each in live.spec.walk()}
            return made
        below = None if last else self.way[at + 1]
        if below is not None and (live.spec.kind.asks or not explorable(type(live))):
            return self.grown(live, made, self.node(at + 1))
        if isinstance(live, Subtree) and live.children:
            child: Any = live.children[0]
            inner = with_root(live.tree, self.node(at + 1) if below is not None else child.spec)
            inner.name = segment_of(child)
            made.subtree, made.again = inner, None
            return made
        made.children = [self.node(at + 1) if child is below else self.standing_copy(child) for child in live.children]
        if len(made.children) != len(live.spec.places):
            made.places = ["children"] * len(made.children)
        if below is not None and self.change is not None and self.change.planned and live.HOLDS:
            self.hold(made, live.children.index(below))
        return made

    def grown(self, live: Any, made: NodeSpec, child: NodeSpec) -> NodeSpec:
        """A node that has grown others, and waits for this one of them."""
        grown = parts.replaced(live.spec, parts.GROWN, made.name or "")
        grown.add(child, "child")
        self.held.append(grown)
        self.kept.add(id(grown))
        return grown

    def hold(self, made: NodeSpec, at: int) -> None:
        """What comes after a plan is not the plan's doing, and nothing else is ticked beside it."""
        place, child = made.places[at], made.children[at]
        if place != "children" or made.kind.name not in IN_ORDER:
            made.children = [each if each is child else self.rest(each) for each in made.children]
            return
        more = [self.rest(each) for each in made.children[at + 1 : at + 2]]
        made.children, made.places = [child, *more], ["children"] * (1 + len(more))

    def rest(self, spec: NodeSpec) -> NodeSpec:
        made = parts.replaced(spec, parts.REST, spec.name or "")
        self.held.append(made)
        self.kept.add(id(made))
        return made


class Shadow(Explorer):
    """`copied`: the spec of the standing tree. After it is made its first state is the present of the run, with the
    change. `live`: the node of the run beside each of its nodes."""

    def __init__(
        self, standing: Standing, copied: Copied, property: Property, options: Options, change: Change | None
    ) -> None:
        self.standing, self.change = standing, change
        super().__init__(copied.tree, property, options)
        self.way = copied.way
        self.live: dict[int, Any] = {}  # number → node of the run
        self.beside: dict[int, Any] = {}  # node of the run, by identity → node here
        self.source.choices = t = Choices(State((), NO_CLOCKS, (), True))
        self.board.begin(t)
        self._pair()
        self._load()
        if change is not None and change.planned:
            self._turn()
            self.graft = self.beside[id(change.node)]
        elif change is not None:
            self._change(change)

    def _pair(self) -> None:
        todo: list[tuple[Any, Any]] = [(self.root, self.standing.root)]
        while todo:
            node, live = todo.pop()
            self.live[self.numbers[node]] = live
            self.beside[id(live)] = node
            if isinstance(node, parts.Part | parts.Rest):
                continue
            if isinstance(node, Subtree) and live.children and not node.children:
                self.context.growth.requests[node].made()  # type: ignore[attr-defined]
            places = {segment_of(child): child for child in live.children}
            todo += [(child, places[name]) for child in node.children if (name := segment_of(child)) in places]
            self._merged(node, live)

    def _merged(self, node: Any, live: Any) -> None:
        """A part that stands for several is beside that which runs."""
        if len(node.children) == len(live.children):
            return
        last = None
        for child in live.children:
            last = next((each for each in node.children if segment_of(each) == segment_of(child)), last)
            if last is not None:
                self.beside.setdefault(id(child), last)
                if child.status is RUNNING and isinstance(last, parts.Part):
                    self.live[self.numbers[last]] = child

    # The present -----------------------------------------------------------------------------

    def _load(self) -> None:
        self._load_entries()
        ticked = {id(live) for live in self.way} if self.change is not None and self.change.planned else set[int]()
        for number, live in self.live.items():
            node = self.all[number]
            node.status = RUNNING if id(live) in ticked else live.status
            if node.spec.kind.name not in NOT_THEIRS:
                self._load_node(node, live)
        self.context.services.starts.clear()
        self.context.services.starts.update(self.standing.run.parts.context.whole.services.starts)
        for scope in self.scopes:
            self.board.touched.add(scope)

    def _load_entries(self) -> None:
        board, standing = self.board, self.standing
        live = standing.run.parts.context.blackboard
        top = board.root.entries
        top.clear()
        for name in standing.scope:
            value = standing.scope[name]
            top[name] = OUTSIDE if name in board.outside else value if self.kept(name) else UNKNOWN
        board.inputs.clear()
        for path, scope in board.scopes.items():
            there = live.scopes.get(f"{standing.above}{path}")
            if path and there is not None:
                scope.entries.clear()
                scope.entries.update({n: v if self.kept(n) else UNKNOWN for n, v in there.entries.items()})

    def _load_node(self, node: Any, live: Any) -> None:
        cls: Any = type(node)
        if isinstance(node, SkillNode):
            if live.status is RUNNING:
                self._resume(node, live)
            return
        times, stamps = declared(cls, "TIMES"), declared(cls, "STAMPS")
        if isinstance(node, _InOrder):
            node.reached = len(node.children)  # any of them may show a result
        fewer = len(node.children) != len(live.children)
        for name in (*names_of(cls, "STATE"), *(names_of(cls, "ROUND") if node.status is RUNNING else ())):
            value = getattr(live, name)
            if name in times:
                value = self._time(value)
            elif name in stamps:
                value = int(live.scope.stamp(str(live.spec.values.get("updated", ""))) <= value)
            elif name in ("at", "reached") and fewer and isinstance(value, int):
                value = self._place(node, live, value)
            elif name == "crashes_before":
                value = 0
            elif name == "asked":
                value = self.context.growth.requests.get(node) if value is not None else None  # type: ignore[attr-defined]
            else:
                value = self._mapped(value)
            setattr(node, name, value)

    def _time(self, when: float) -> Any:
        left = when - self.standing.run.parts.context.clock.now()
        return self.source.now() + max(0.001, left) if 0 < left < 1e9 else when if left > 0 else -float("inf")

    def _place(self, node: Any, live: Any, at: int) -> int:
        """The place here of the child that stands there at a place."""
        if at >= len(live.children):
            return len(node.children)
        child = self.beside.get(id(live.children[at]))
        return next((n for n, each in enumerate(node.children) if each is child), 0)

    def _mapped(self, value: Any) -> Any:
        """A value with the nodes here in place of those of the run."""
        if isinstance(value, Behaviour):
            return self.beside.get(id(value))
        if isinstance(value, dict):
            return {
                self._mapped(key): self._mapped(each) for key, each in value.items() if self._mapped(key) is not None
            }
        return type(value)(map(self._mapped, value)) if value.__class__ in (list, tuple) else value

    def _resume(self, node: SkillNode, live: Any) -> None:
        """Starts a skill that runs in the run, as far as it has begun there."""
        try:
            node.initialise()
        except Exception:
            node.activity = node.form_of(node.target)(node.target, {}, self.context.wake, None, False)
        here, there = node.activity, live.activity
        while isinstance(here, Wrapping):
            while isinstance(there, Wrapping) and type(there) is not type(here):
                there = there.inner
            begun = not isinstance(there, Wrapping) or not there.pending
            if not begun:
                return
            self._begin(here)
            here, there = here.inner, there.inner if isinstance(there, Wrapping) else there

    def _begin(self, here: Any) -> None:
        if not here.pending:
            return
        here.begin(here.start())
        if isinstance(here, Locked):
            here.hold = self.context.resources.take(here.uses, "") if here.uses else None

    # The change ------------------------------------------------------------------------------

    def _turn(self) -> None:
        """The nodes on the way are being ticked: each has the next one in its turn, and one that had it is halted."""
        for live, below in pairwise(self.way):
            node, child = self.beside[id(live)], self.beside[id(below)]
            self._give_turn(node, child)

    def _give_turn(self, node: Any, child: Any) -> None:
        name = "active" if isinstance(node, Chooser) else "runner" if isinstance(node, _Reactive) else ""
        place = next(n for n, each in enumerate(node.children) if each is child)
        if name:
            before = getattr(node, name)
            if before is not None and before is not child:
                halt(before, self.context, WHY)
            setattr(node, name, child)
        elif hasattr(node, "at"):
            node.at = place
        elif hasattr(node, "reached"):
            node.reached = max(node.reached, place)

    def _change(self, change: Change) -> None:
        node = self.beside[id(change.node)]
        path = path_of(node)
        shape = Shape(self.root, self.context, 1 << 20, 1 << 20)
        scope = node.scope if change.how == "replace" else self._scope_below(node)
        tree = self._tree_of(change.node)

        def make(place: str) -> Behaviour:
            above, _, segment = place.rpartition("/")
            spec = self.cut.node(change.graft, place, 0, tree)
            spec.name = spec.name or segment
            return build_nodes(spec, self.context, scope, segment, above, tree.folder)

        request = Request(change.how, path, make, change.at, name=change.graft.name or "")  # type: ignore[arg-type]
        shape._make(request)
        self.root = shape.root
        before = {id(node): self.live[number] for number, node in enumerate(self.all) if number in self.live}
        self._renumber()
        self.live = {number: before[id(node)] for number, node in enumerate(self.all) if id(node) in before}

    def _scope_below(self, node: Any) -> Any:
        return node.inner if isinstance(node, Subtree) and node.inner is not None else node.scope

    def _tree_of(self, node: Node) -> TreeSpec:
        tree: TreeSpec = self.standing.run.parts.engine.growth.owner(node).tree
        return tree

    def _renumber(self) -> None:
        self._find()
        self._atoms()
        self._show()
        self._slots()

    def begin(self, still: Mapping[str, int], past: Sequence[tuple[bool, float | None]]) -> State:
        """Returns the state from which the graft is looked at. `still`: what nodes and skills outside show. `past`: for
        each clock of a property, whether it has been looked at before, and when it is due."""
        for reader in self.atoms:
            reader.still = dict(still)
        now = self.standing.run.parts.context.clock.now()
        for clock, (begun, due) in zip(self.clocks, past, strict=False):
            clock.begun = begun
            if due is not None:
                clock.due = self.source.now() + max(0.001, due - now)
        self.start = self.present(State((), NO_CLOCKS, (), True), range(len(self.slots)), True)
        return self.start
