"""Properties of a tree in its run: watched after each tick, and held against each plan before it is grafted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bt_runtime.events import Line, PlanRefused, Tick
from bt_runtime.language.spec import NodeSpec
from bt_runtime.proof.graft import Grafts
from bt_runtime.proof.model.build import walk
from bt_runtime.proof.monitor import Monitor, Sight
from bt_runtime.tree.node import FAILURE, RUNNING, SUCCESS, Node
from bt_runtime.tree.request import Refused

if TYPE_CHECKING:
    from bt_runtime.run.run import Run

MOST_SAID = 220  # characters of a story that a model reads


class Watch:
    """The watch over one run. `violations` are the properties that were broken, each with how."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.monitors = [Monitor(each) for each in run.spec.properties]
        self.violations: dict[str, str] = {}
        grows = any(spec.kind.asks for spec in walk(run.spec, 1))
        self.grafts = Grafts(run, run.spec.properties) if grows else None
        self.end_of_listening = run.listen(self.ticked, Tick)
        if self.grafts is not None:
            self.guard(self.review)

    def end(self) -> None:
        """Watches no more."""
        self.end_of_listening()
        self.guard(lambda node, spec, text: None)

    def guard(self, review: Callable[[Node, NodeSpec, str], None]) -> None:
        """Calls this with each plan before it is grafted."""
        growth: Any = self.run.growth
        growth.review = review

    def ticked(self, tick: Tick) -> None:
        sight = Sight(self.run)
        for monitor in self.monitors:
            name = monitor.property.name
            if name in self.violations:
                continue
            why = monitor.look(sight, tick.status in (SUCCESS, FAILURE))
            if why:
                self.violations[name] = why
                self.broken(monitor, why)

    def broken(self, monitor: Monitor, why: str) -> None:
        text = f"the property {monitor.property!r} is broken, {why}"
        self.run.context.emit(Line(f"/{self.run.spec.name}", "error", text))
        if monitor.property.on_violation == "halt" and self.run.status is RUNNING:
            self.run.halt(text, f"property {monitor.property.name}", for_good=True)

    def review(self, node: Node, graft: NodeSpec, text: str) -> None:
        """Raises Refused for a plan that would break a property, or that is not decided in its time."""
        assert self.grafts is not None
        left = {monitor.property.name: monitor.left for monitor in self.monitors}
        for answer in self.grafts.check(node, graft, left):
            property = answer.property
            if answer.story is None and property.undecided == "allow":
                self.run.context.emit(
                    Line(node.path, "warning", f"a plan was not decided in its time, and is allowed: {property!r}")
                )
            elif answer.story is None:
                self.refuse(
                    node, text, f"it was not decided in its time whether the plan keeps {property!r}", "make it smaller"
                )
            elif answer.story:
                story = answer.story if len(answer.story) <= MOST_SAID else f"{answer.story[: MOST_SAID - 1]}…"
                self.refuse(node, text, f"it may break {property!r}: {story}", "plan another way")

    def refuse(self, node: Node, text: str, why: str, hint: str) -> None:
        self.run.context.emit(PlanRefused(node.path, ["property"], text))
        raise Refused(why, hint)


def watch(run: Run) -> None:
    """Begins to watch a run whose tree has properties."""
    if run.spec.properties:
        run.extensions[Watch] = Watch(run)
