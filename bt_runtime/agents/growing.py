"""Shared by agents and planners: asks for a plan, parses it, checks it, and grafts it below."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

from py_trees import composites
from py_trees.behaviour import Behaviour

from bt_runtime.agents.actions import Actions, known_skills
from bt_runtime.agents.expansion import Situation, as_yaml, objections
from bt_runtime.agents.model_node import ModelNode, above, goal_of
from bt_runtime.agents.plan_text import Group, Unreadable, goals, read_plan
from bt_runtime.agents.planner import Planner, planner_of, telling
from bt_runtime.agents.story import Family
from bt_runtime.events import Expanded, PlanRefused
from bt_runtime.language.emit.dialect import Form, PlanLimits, forms
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.guide import text_of
from bt_runtime.llm.decoding.plan_grammar import expansion
from bt_runtime.llm.decoding.plan_lines import listed, numbered
from bt_runtime.tree.budget import Budget
from bt_runtime.tree.node import computed
from bt_runtime.tree.nodes.parent import Composite
from bt_runtime.tree.nodes.subtree import Subtree
from bt_runtime.types import TASK, Grammar, Question

if TYPE_CHECKING:
    from bt_runtime.language.kinds.kind import Registry
    from bt_runtime.language.spec import NodeSpec
    from bt_runtime.tree.blackboard import Scope
    from bt_runtime.tree.context import Context

_FACTS = r"[^\n]{1,300}"  # facts that an agent wants to hold
MOST_SAID = 300  # characters of one objection that go back to the model
_AFTER = ("\nOK.", "\nAct:", f"\n{TASK}")  # ends of a plan that no grammar holds
UNUSABLE, CUT_OFF = "This plan cannot be used: ", "The plan was cut off: make it shorter."


class PlanGrowing(ModelNode):
    """Grows plans below a node. `plans`: those made since the last observation; `warned`: the mild objections already
    raised."""

    ROUND: ClassVar[tuple[str, ...]] = ("actions", "plans", "warned")
    actions: Actions
    beside = False  # its plan may hold its own goal beside other parts

    def __init__(self, spec: NodeSpec, context: Context, scope: Scope) -> None:
        super().__init__(spec, context, scope)
        telling()  # loaded now, so that no tick opens a file
        self.plans: list[Group] = []
        self.warned: set[str] = set()

    @property
    def budget(self) -> Budget:
        v, steps = self.value, "max_steps" in self.spec.values
        return Budget(
            steps=v("max_steps") if steps else Budget().steps, decisions=v("max_decisions"), tokens=v("max_tokens"),
            seconds=v("seconds") or Budget().seconds, depth=v("max_depth"), width=v("max_width"),
            levels=v("max_levels"), invalid=v("max_invalid"),
        )  # fmt: skip

    def plan(self, prompt: str, form: str = "dialect") -> Generator[Any, Any, tuple[str, str]]:
        """Asks for a plan and grafts it. Gives its text, and why it was refused ("" when it was not)."""
        values, held = self.spec.values, self.model().constrains
        planner = planner_of(self)
        if planner is not None and not planner.mends:
            form = "facts"
        wrote = yield from self.asked(Question(
            "write", prompt, grammar=self.grammar(form) if held else None, stop=_stops(form, held),
            max_tokens=min(600, int(values["max_tokens"])), temperature=self.temperature,
            seed=self.seed(),
        ))  # fmt: skip
        text = wrote.text.strip("\n")
        if wrote.ended == "length":
            return text, CUT_OFF
        try:
            if planner is None:
                yield from self.graft_plan(text, form)
            elif planner.mends:
                yield from self.graft_made(planner, self.goal, text)
            else:
                yield from self.graft_made(planner, text.strip())
        except Faults as faults:
            return text, _said("; ".join(d.message for d in faults.diagnostics if d.severity == "error"))
        except BtError as error:
            return text, _said(f"{error.message}. {error.hint}".strip())
        return text, ""

    def graft_plan(self, text: str, form: str = "dialect") -> Generator[Any, Any, None]:
        plan = read_plan(text, [kind.name for kind in self.actions.kinds], form)
        against = objections(plan, self.situation())
        if against:
            self.warned |= {o.code for o in against if o.mild}
            self.context.emit(PlanRefused(self.path, [o.code for o in against], text))
            raise Unreadable("; ".join(o.text for o in against))
        values = self.spec.values
        given = {name: computed(value, self.scope) for name, value in values["with"].items()}
        whole = as_yaml(plan, str(values["leaf"]), given, self.kinds())
        yield from self.grow(whole, self.actions.kinds)
        self.whole.nodes += len(list(goals(plan)))
        self.plans.append(plan)
        self.context.emit(Expanded(self.path, text, whole))

    def graft_made(self, planner: Planner, goal: str, proposed: str = "") -> Generator[Any, Any, None]:
        """Grafts what a planner makes, within the same budgets and through the same door as a model's plan."""
        at = self.situation()
        if at.depth > at.budget.depth:
            raise BtError(
                f"no further expansion: {at.budget.depth:g} agents stand above one another already",
                "act, or let the node above plan",
            )
        made = planner.plan(self, goal, proposed)
        if at.nodes + made.steps > at.budget.nodes:
            raise BtError(
                f"the run may have {at.budget.nodes:g} planned parts, and would have {at.nodes + made.steps}",
                "name fewer facts at once",
            )
        yield from self.grow(made.text, known_skills(self))
        self.whole.nodes += made.steps
        self.context.emit(Expanded(self.path, proposed or made.told, made.text))

    def situation(self) -> Situation:
        agents = self.agents_above()
        earlier = [p for node in (self, *agents) if isinstance(node, PlanGrowing) for p in node.plans]
        return Situation(
            self.goal, (self.goal, *(a.goal for a in agents)), len(agents) + 1, self.whole.nodes, self.budget,
            tuple(earlier), frozenset(self.warned), self.beside,
        )  # fmt: skip

    def grammar(self, form: str = "dialect") -> Grammar:
        """The grammar of the plans that this node may grow. The budget limits their size."""
        budget, world = self.budget, self.context.services.world
        limits = PlanLimits(int(budget.levels), int(budget.width), int(budget.length))
        if form == "facts":
            return Grammar("regex", _FACTS)
        if form != "dialect":
            return numbered(limits) if form == "steps" else listed(limits)
        known, skilled = _written(self.context.growth.registry(self))
        acts = tuple(world.skills()) if skilled and world is not None else ()
        subgoals = bool(self.spec.values["leaf"])
        if not self.actions.kinds:
            return expansion(known, limits, acts, subgoals)
        offer, allowed = self.actions.planned(), tuple(self.actions.let(acts))
        return expansion([*known, *offer.leaves], limits, [*allowed, *offer.sentences], subgoals, offer.open)

    def plans_acts(self) -> bool:
        """True when its plans may hold `act:` nodes: the tree or the world has skills to choose from."""
        world = self.context.services.world
        skilled = _written(self.context.growth.registry(self)).skilled
        return bool(self.actions.kinds) or (skilled and world is not None and bool(world.skills()))

    def kinds(self) -> Registry:
        """The kinds that a plan's leaves may have: the tree's skills, or the allowed ones."""
        own = bool(self.actions.kinds) or self.actions.names is not None
        return self.actions.registry() if own else self.context.growth.registry(self)

    def guide(self) -> str:
        """The written plan to follow: this node's own, else that of the agent it is a part of."""
        for node in (self, *self.agents_above()):
            said = str(node.value("guide")) if isinstance(node, PlanGrowing) else ""
            if said.strip():
                return text_of(said)
        return ""


class _Written(NamedTuple):
    forms: tuple[Form, ...]  # forms of control nodes in a plan
    skilled: bool


_KNOWN: WeakKeyDictionary[Registry, _Written] = WeakKeyDictionary()


def _written(registry: Registry) -> _Written:
    """Returns what a plan with these kinds is written with. Made once for each registry, whose kinds do not change."""
    if registry not in _KNOWN:
        known = tuple([f._replace(fields=()) for f in forms(registry) if f.shape in ("children", "sentence")])
        _KNOWN[registry] = _Written(known, bool(registry.skills()))
    return _KNOWN[registry]


def _stops(form: str, held: bool) -> tuple[str, ...]:
    if form == "facts":
        return ("\n",)
    return ("\n\n",) if held else _AFTER


def _said(text: str) -> str:
    short = text if len(text) <= MOST_SAID else text[: MOST_SAID - 1] + "…"
    return UNUSABLE + short


def family_of(node: ModelNode) -> Family | None:
    """The family that the nearest expansion above gives this node: the goal above, its siblings, and how they are
    joined."""
    below: Behaviour = node
    for parent in above(node):
        if isinstance(parent, ModelNode) and parent.grows:
            return (
                None if isinstance(below, composites.Composite) else Family(parent.goal, (goal_of(below),), "sequence")
            )
        if isinstance(parent, Composite) and (planner := _planner_of(parent)) is not None:
            return Family(planner.goal, tuple(goal_of(c) for c in parent.children), parent.spec.kind.name)
        below = parent
    return None


def _planner_of(control: Behaviour) -> ModelNode | None:
    """The agent whose expansion this control node belongs to; None in an author's tree."""
    nearest = next(
        (n for n in above(control) if isinstance(n, Subtree) or (isinstance(n, ModelNode) and n.grows)), None
    )
    return nearest if isinstance(nearest, ModelNode) else None
