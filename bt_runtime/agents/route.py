"""`route`: a model chooses which child runs, by the children's descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from py_trees import composites
from py_trees.common import Status

from bt_runtime.agents.answers import Odds
from bt_runtime.agents.end import Ending, ended_by
from bt_runtime.agents.judging import JudgingNode
from bt_runtime.agents.kinds.checks import about
from bt_runtime.agents.model_node import Life
from bt_runtime.agents.prompt import Prompt
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.outputs import sound_choices
from bt_runtime.tree.node import FAILURE, INVALID, RUNNING, SUCCESS

if TYPE_CHECKING:
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context


class Route(JudgingNode, composites.Composite):
    fixed = True
    ROUND = ("failed", "left", "tries")
    failed = 0  # children of this round

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        self.places = list(spec.places)
        self.left: list[Any] = []  # children that may still run, the likeliest first

    def step(self) -> Status:
        try:
            if self.status is not RUNNING:
                self.clear(0)
                self.begin()
            status = self.advance() if self.life is not None else self.follow()
        except Exception as error:
            self.conclude(ended_by(error))
            status = self.crash(error)
        return self.finish(status)

    def remove_expansion(self) -> None:
        """No-op: the children are the author's and are kept, unlike an agent's expansion."""

    def result(self) -> Status:
        return self.follow() if self.ending is not None and self.ending.good else FAILURE

    def live(self) -> Life:
        self.afford()
        self.failed, self.left = 0, []
        offered = [child for child, place in zip(self.children, self.places, strict=True) if place == "children"]
        names = self.names(offered)
        lines = [name if name == said else f"{name}: {said}" for name, said in names.items()]
        system = self.instructions(self.spec.values["system"] or "route", {"ways": "\n".join(lines)})
        asks = self.value("sure") or any(self.spec.values.get(name) is not None for name in ("margin", "distribution"))
        odds = yield from self.chosen(Prompt(system, "", f"{self.goal.strip()}\n", "Next:"), [*names], sure=bool(asks))
        self.told(odds, [*names])
        if odds.margin < self.value("sure"):
            unsure = [child for child, place in zip(self.children, self.places, strict=True) if place == "unsure"]
            self.left, self.tries = unsure, 1
            said = f"not sure enough: {odds.margin:.2f}"
            return Ending("done", said) if unsure else Ending("failure", said)
        order = sorted(range(len(offered)), key=lambda i: (-odds.shares[i], i))
        self.left, self.tries = [offered[i] for i in order], self.value("tries")
        return Ending("done", [*names][odds.index])

    tries = 1

    def names(self, offered: list[Any]) -> dict[str, str]:
        """Maps each child's name, or its description where it has none, to the description."""
        named: list[tuple[str, str]] = []
        for child in offered:
            said = " ".join(about(child.spec).split()) if hasattr(child, "spec") else ""
            if not said:
                raise BtError(f"`{child.name}` does not say what it is for", "give it an `about:`")
            named.append((getattr(child.spec, "name", None) or said, said))
        sound_choices([name for name, _ in named], "route")
        return dict(named)

    def told(self, odds: Odds, names: list[str]) -> None:
        values = self.spec.values
        if values.get("margin") is not None:
            self.scope[values["margin"]] = odds.margin
        if values.get("distribution") is not None:
            shares = zip(names, odds.shares, strict=True)
            self.scope[values["distribution"]] = {name: round(share, 6) for name, share in shares}

    def follow(self) -> Status:
        """Runs the chosen child; the next likeliest when that one is skipped, or fails and may be followed."""
        while self.left:
            status: Status = self.left[0].step()
            if status is RUNNING:
                return RUNNING
            del self.left[0]
            if status is SUCCESS:
                return SUCCESS
            self.failed += status is FAILURE
            if self.failed == self.tries:
                return FAILURE
        return FAILURE if self.failed else INVALID
