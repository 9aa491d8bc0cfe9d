"""Properties in a run: those of its tree and of the trees that it includes are watched after each tick. Each plan, and
what a person grafts, is held against them before it is spliced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from py_trees.behaviour import Behaviour

from bt_runtime.events import Grown, Line, PlanRefused, Tick
from bt_runtime.language.nodes import walk
from bt_runtime.language.properties.property import Property
from bt_runtime.language.spec import NodeSpec
from bt_runtime.run.monitoring.grafts import GraftAnswer, Grafts, PropertyPast, prover
from bt_runtime.run.monitoring.monitor import PropertyMonitor, Sight
from bt_runtime.run.monitoring.standing import Standing
from bt_runtime.tree.changes import unguarded
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS, Node
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.tree.request import Refused, Request

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

MOST_SAID = 220  # characters of a story that a model reads


class Watched:
    """A tree in a run with the monitors of its properties."""

    def __init__(self, standing: Standing, properties: tuple[Property, ...]) -> None:
        self.standing = standing
        self.properties = properties
        self.monitors = [PropertyMonitor(each) for each in properties]
        self.checks: Grafts | None = None

    @property
    def grafts(self) -> Grafts:
        if self.checks is None:
            self.checks = prover()(self.standing, self.properties)
        return self.checks

    def anew(self) -> None:
        """Begins again: an included tree was started anew."""
        self.monitors = [PropertyMonitor(each) for each in self.properties]

    @property
    def past(self) -> dict[str, PropertyPast]:
        return {each.property.name: PropertyPast(each.left, each.clock.begun, each.clock.due) for each in self.monitors}


class WatchedProperties(Protocol):
    """Properties that somebody else looks at after each tick."""

    all: list[Property]

    def monitors_of(self, run: Run) -> list[PropertyMonitor]: ...


class Watch:
    """The watch over one run. `violations` are the properties that were broken, each with how."""

    def __init__(self, run: Run, promises: WatchedProperties | None = None) -> None:
        """`promises`: what grafts are held against in place of the tree's own properties; it is watched by others."""
        self.run, self.promises = run, promises
        self.whole = Watched(Standing(run), run.parts.tree.spec.properties if promises is None else tuple(promises.all))
        self.included: dict[Subtree, Watched] = {}
        self.running: set[Subtree] = set()
        self.violations: dict[str, str] = {}
        if any(spec.kind.asks for spec in walk(run.parts.tree.spec)):
            self.whole.grafts  # noqa: B018 - made before the first tick
        self.ends = [run.listen(self.ticked, Tick), run.listen(self.grown, Grown)] if promises is None else []
        if promises is None:
            self.grown(None)
        growth: Any = run.parts.engine.growth
        growth.review, growth.consider = self.review, self.consider

    @property
    def monitors(self) -> list[PropertyMonitor]:
        return self.whole.monitors

    @property
    def grafts(self) -> Grafts:
        return self.whole.grafts

    def end(self) -> None:
        """Watches no more."""
        for end in self.ends:
            end()
        growth: Any = self.run.parts.engine.growth
        growth.review = lambda node, spec, text: None
        growth.consider = lambda change, spec: None

    # After a tick ----------------------------------------------------------------------------

    def grown(self, event: Grown | None) -> None:
        """Looks for included trees with properties of their own."""
        for node in self.run.nodes() if event is None else event.root.iterate():
            own = properties_of(node)
            if own and isinstance(node, Subtree) and node not in self.included:
                self.included[node] = Watched(Standing(self.run, node), own)

    def ticked(self, tick: Tick) -> None:
        self.look(self.whole, tick.status in (SUCCESS, FAILURE))
        if not self.included:
            return
        changed = {node for node, _ in tick.changes}
        for node, watched in list(self.included.items()):
            if node.parent is None and node is not self.run.parts.engine.root:
                del self.included[node]  # the node has left the tree
            elif node.status is RUNNING or node in self.running or (node in changed and node.status is not INVALID):
                self.follow(node, watched)

    def follow(self, node: Subtree, watched: Watched) -> None:
        if node not in self.running:
            watched.anew()
        self.running.add(node)
        over = node.status is not RUNNING
        if node.status is not INVALID and node.children:
            self.look(watched, over)
        if over:
            self.running.discard(node)

    def look(self, watched: Watched, over: bool) -> None:
        sight = Sight(self.run, standing=watched.standing)
        for monitor in watched.monitors:
            name = f"{watched.standing.above}: {monitor.property.name}".removeprefix(": ")
            if name in self.violations:
                continue
            why = monitor.look(sight, over)
            if why:
                self.violations[name] = why
                self.broken(monitor, why, watched.standing)

    def broken(self, monitor: PropertyMonitor, why: str, standing: Standing) -> None:
        of = f" of {standing.above}" if standing.above else ""
        text = f"the property {monitor.property!r}{of} is broken, {why}"
        self.run.parts.context.emit(Line(standing.above or f"/{self.run.parts.tree.spec.name}", "error", text))
        if monitor.property.on_violation == "halt" and self.run.status is RUNNING:
            self.run.halt(text, f"property {monitor.property.name}", for_good=True)

    # Before a graft --------------------------------------------------------------------------

    def above(self, node: Behaviour) -> Iterator[Watched]:
        """The trees with properties in which a node stands, the innermost first."""
        at: Behaviour | None = node
        while at is not None:
            below, at = at, at.parent
            if isinstance(at, Subtree) and at in self.included and below in at.children:
                yield self.included[at]
        if self.whole.properties:
            yield self.whole

    def past(self, watched: Watched) -> dict[str, PropertyPast]:
        if self.promises is not None:
            watched.monitors = self.promises.monitors_of(self.run)
        return watched.past

    def review(self, node: Node, graft: NodeSpec, text: str) -> None:
        """Raises Refused for a plan that would break a property, or that is not decided in its time."""
        for watched in self.above(node):
            for answer in watched.grafts.check(node, graft, self.past(watched)):
                why, hint = self.verdict(answer, watched.standing, node.path, "a plan")
                if why:
                    self.run.parts.context.emit(PlanRefused(node.path, ["property"], text))
                    raise Refused(why, hint)

    def consider(self, change: Request, graft: NodeSpec) -> None:
        """Raises Refused for nodes of a person that would break a property, unless the tree may break it anyway."""
        place = self.run.parts.engine.find(change.path)
        if not change.text or not isinstance(place, Node):
            return
        inner = unguarded(place) if change.how == "insert" else place
        if not isinstance(inner, Node) or change.how not in ("insert", "replace"):
            return
        for watched in self.above(inner):
            if change.how == "insert":
                answers = watched.grafts.insertion(inner, change.index, graft, self.past(watched))
            else:
                answers = watched.grafts.replacement(inner, graft, self.past(watched))
            for answer in answers:
                why, hint = self.verdict(answer, watched.standing, change.path, "the change")
                if why:
                    raise Refused(why, hint)

    def verdict(self, answer: GraftAnswer, standing: Standing, path: str, what: str) -> tuple[str, str]:
        """Why a graft is refused, and what to do; "" when it is not."""
        property = answer.property
        of = f"{property!r}{f' of {standing.above}' if standing.above else ''}"
        if answer.story == "":
            return "", ""
        if answer.anyway:
            self.told(path, f"{what} was not held against {of}: without it the tree may break that as well")
            return "", ""
        if answer.story is not None:
            story = answer.story if len(answer.story) <= MOST_SAID else f"{answer.story[: MOST_SAID - 1]}…"
            return f"it may break {of}: {story}", "plan another way" if what == "a plan" else "graft something else"
        if property.undecided == "allow":
            self.told(path, f"{what} was not decided in its time, and is allowed: {of}")
            return "", ""
        return f"it was not decided in its time whether {what} keeps {of}", self.grafts.hint

    def told(self, path: str, text: str) -> None:
        self.run.parts.context.emit(Line(path, "warning", text))


def properties_of(node: Behaviour) -> tuple[Property, ...]:
    """The own properties of an included tree; those of manifests and of the project are the whole tree's."""
    if not isinstance(node, Subtree):
        return ()
    tree = node.spec.subtree or node.spec.again
    return tuple(each for each in tree.properties if each.origin == "tree") if tree is not None else ()


def watch(run: Run) -> None:
    """Begins to watch a run of trees with properties."""
    if run.parts.tree.spec.watched:
        run.parts.extensions[Watch] = Watch(run)
