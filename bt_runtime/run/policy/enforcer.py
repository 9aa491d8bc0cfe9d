"""Holds a run to its policies: follows the labels of its values, and refuses what they may not order.

`Services.policy` is asked before each start of a skill, each offer to an agent and each plan; events of the run tell
what was written. A world names the source of its text by an attribute `label`: `outside` for pages that strangers
write, `world` without one. Results of `impl: mcp/…` are `outside`. A policy's own `labels` take precedence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.model_node import ModelNode
from bt_runtime.events import AgentEnded, GoalTaken, Grown, Labelled, Line, Tick, Unset, Written
from bt_runtime.language.policies.label import (
    AUTHOR,
    LABELS,
    MEMORY,
    MODEL,
    NOTHING,
    OPERATOR,
    OUTSIDE,
    UNKNOWN,
    WORLD,
    Labels,
    labels_of,
    said,
)
from bt_runtime.language.policies.policy import Policies
from bt_runtime.language.sentence import Sentence, spoken
from bt_runtime.run.policy.ledger import Ledger
from bt_runtime.run.policy.origin import working_node
from bt_runtime.run.policy.start import Start
from bt_runtime.run.policy.writes import Assignments, labels_of_name, labels_written, slots_of
from bt_runtime.tree.node import path_of
from bt_runtime.tree.nodes.skill import SkillNode
from bt_runtime.types import Json

if TYPE_CHECKING:
    from bt_runtime.language.entry import SkillEntry
    from bt_runtime.language.kinds.kind import Kind
    from bt_runtime.run.policy.start import Start
    from bt_runtime.run.run import Run

# The skills of a run by name and by sentence: those of its trees, and those that the project's world carries out.


class Skills:
    def __init__(self) -> None:
        self.kinds: dict[str, Kind] = {}

    def know(self, kinds: Iterable[Kind]) -> None:
        for kind in kinds:
            if "entry" in kind.data:
                self.kinds.setdefault(kind.name, kind)

    def named(self, name: str) -> Kind | None:
        return self.kinds.get(name)

    def meant(self, sentence: str) -> Kind | None:
        """Returns the world's skill that a sentence starts."""
        for kind in self.kinds.values():
            entry = kind.data["entry"]
            if entry.impl == "world" and Sentence(entry.sentence, entry.types).parse(sentence) is not None:
                return kind
        return None


# The question to a person before a skill with `confirm` starts under a policy.
#
# Its first line says where the decision and each value came from, and holds nothing else. Values stand in the second
# line within quotation marks, without line breaks, quotation marks and marks that nobody sees, and cut.

MOST = 120  # characters of a value


def question(start: Start, params: Mapping[str, Json] | None) -> str:
    """Returns the question. `params`: None where only the sentence is known, which is quoted as a whole."""
    sources = [
        f"decided from {said(start.control)}",
        *(f"{n} from {said(of)}" for n, of in start.slots.items()),
    ]
    if params is None or start.entry is None:
        action = f"do {quoted(start.sentence)}"
    else:
        action = Sentence(start.entry.sentence).say({n: quoted(spoken(of)) for n, of in params.items()})
    return f"Sources: {', '.join(sources)}.\nMay I {action}? (yes or no)"


def quoted(value: str) -> str:
    """Returns a text within quotation marks, on one line and cut."""
    line = " ".join(value.split()).replace('"', "'")
    shown = "".join(mark if mark.isprintable() else f"\\u{ord(mark):04x}" for mark in line[:MOST])
    more = f" … and {len(line) - MOST:,} characters" if len(line) > MOST else ""
    return f'"{shown}"{more}'


PAGE = "page"  # the source name of what a person writes on the page
# who writes from outside the tree; anybody else, such as another robot, may write what is made of anything
WRITERS = {"": frozenset((WORLD,)), PAGE: frozenset((OPERATOR,))}
LOOKS = ("infer", "route")  # kinds that see nothing of the world but what their fields say


class RunEnforcer:
    """The enforcer of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ledger = Ledger()
        self.assignments = Assignments()
        self.skills = Skills()
        self.skills.know(run.parts.tree.spec.registry.skills())
        self.skills.know(run.parts.context.services.world_skills)
        self.policies = Policies(run.parts.tree.spec.policies)
        listen = run.parts.context.stream.listen
        listen(self.wrote, Written, vital=True)
        listen(self.unset, Unset, vital=True)
        listen(self.began, GoalTaken, vital=True)
        listen(self.grown, Grown, vital=True)
        listen(self.ended, AgentEnded, vital=True)
        listen(self.ticked, Tick)
        for name in run.blackboard.entries:
            given = frozenset((OPERATOR if name in run.parts.given else AUTHOR,))
            self.ledger.label(("", name), self.policies.entry(name) or given)

    # What is told ----------------------------------------------------------------------------

    def wrote(self, event: Written) -> None:
        node = working_node()
        if node is None:
            person = event.by == PAGE
            declared = None if person else self.policies.entry(event.name)
            self.ledger.write(event, declared or WRITERS.get(event.by, UNKNOWN))
        else:
            self.ledger.written = (event.scope, event.name)
            labels = labels_written(self, node, event)
            self.ledger.written = None
            self.ledger.write(event, labels)
            self.tell()  # told within the tick: no tick follows the last one

    def unset(self, event: Unset) -> None:
        self.ledger.forget(event.scope, event.names)

    def began(self, event: GoalTaken) -> None:
        agent = working_node()
        if isinstance(agent, ModelNode):
            sees = agent.context.services.world is not None and agent.spec.kind.name not in LOOKS
            self.ledger.begin(agent, self.world(agent.context) if sees else NOTHING)

    def grown(self, event: Grown) -> None:
        """Takes in the policies of trees that a plan includes."""
        spec = getattr(event.root, "spec", None)
        trees = [tree for node in spec.walk() if (tree := node.subtree) is not None] if spec is not None else []
        for tree in trees:
            self.skills.know(tree.registry.skills())
            more = [each for each in tree.policies if each not in self.policies.all]
            self.policies = Policies((*self.policies.all, *more))

    def ended(self, event: AgentEnded) -> None:
        """An answer that equals what stands in its entry is not written: its labels are added all the same."""
        node = working_node()
        if isinstance(node, ModelNode) and "outputs" in node.spec.values and event.why != "cancelled":
            for name in node.spec.values["outputs"]:
                if name in node.scope:
                    home, at = node.scope.home(name)
                    now = self.ledger.entry(node.scope, name)
                    self.ledger.label((home.path, at), now | labels_of_name(self, node, name))

    def ticked(self, tick: Tick) -> None:
        self.tell()

    def tell(self) -> None:
        """Tells listeners which labels have changed."""
        for path, name, labels in self.ledger.told():
            self.run.parts.context.emit(Labelled(path, name, [each for each in LABELS if each in labels]))

    # Where things come from ------------------------------------------------------------------

    def world(self, context: Any) -> Labels:
        """Returns the labels of what the world shows."""
        world = context.services.world
        own = getattr(world, "label", WORLD)
        return self.policies.world or (frozenset((own,)) if own in LABELS else UNKNOWN)

    def gives(self, name: str, entry: SkillEntry | None, context: Any, output: str = "") -> Labels:
        """Returns the labels of what a skill answers, besides those of what it was given."""
        declared = self.policies.gives(name, output) if name else None
        if declared is not None and (output or not self.policies.parted(name)):
            return declared
        return self.usual(entry, context) | (declared or NOTHING)

    def usual(self, entry: SkillEntry | None, context: Any) -> Labels:
        """Returns the labels of what a skill answers that no policy speaks of."""
        impl = entry.impl if entry is not None else "world"
        if impl.startswith("mcp/"):
            return frozenset((OUTSIDE,))
        if impl == "memory":
            return self.ledger.seen
        return self.world(context) if impl in ("world", "world/skill") else frozenset((WORLD,))

    # What is asked ---------------------------------------------------------------------------

    def refusal(self, by: Any, entry: SkillEntry | None, sentence: str) -> str:
        """Returns why the action may not start; "" when it may. From then on `by`, the node that starts it or the agent
        that chose it, has heard what the action gives."""
        if by is None:
            return self.told("", sentence, "nobody knows who started it")
        start = self.start(by, entry, sentence)
        why = start.refusal(self.policies)
        if why:
            return self.told(path_of(by), sentence, why)
        if isinstance(by, SkillNode):
            self.ledger.kept(by, NOTHING.union(*start.slots.values()))
        gives = self.gives(start.name, entry, by.context)
        labels = gives.union(*start.slots.values())
        if start.name:
            self.ledger.given[start.name] = self.ledger.given.get(start.name, NOTHING) | labels
        if start.agent is not None:
            self.ledger.hear(start.agent, labels)
        self.tell()
        return ""

    def told(self, path: str, action: str, why: str) -> str:
        text = f"The policy does not allow it: {why}."
        self.run.parts.context.emit(Line(path, "warning", f"{action}: {text}"))
        return text

    def start(self, by: Any, entry: SkillEntry | None, sentence: str) -> Start:
        """Returns an action with the labels of its decision and its values."""
        ledger = self.ledger
        if isinstance(by, SkillNode):
            slots = slots_of(ledger, by)
            chosen = by.parent if isinstance(by.parent, ModelNode) and by not in by.parent.children else None
            for slot, source in by.entry.agent_options.sources.items() if chosen is not None else ():
                slots[slot] = slots.get(slot, NOTHING) | self.source(chosen, source)
            return Start(by.spec.kind.name, by.entry, sentence, ledger.control(by), slots, chosen)
        kind, labels = self.skills.meant(sentence), ledger.answers(by)
        entry = kind.data["entry"] if kind is not None else entry
        slots = dict.fromkeys(Sentence(entry.sentence).slots if entry is not None else (), labels)
        return Start(kind.name if kind is not None else "", entry, sentence, labels, slots, by)

    def question(self, by: Any, entry: SkillEntry | None, sentence: str, params: Mapping[str, Json] | None) -> str:
        """Returns the question to the person: the sources of the decision and of each value, then the action."""
        return question(self.start(by, entry, sentence), params)

    def offers(self, agent: Any, name: str, sentence: str) -> bool:
        """True when the agent may choose this skill, or this sentence of the world, now."""
        labels = self.ledger.answers(agent)
        kind = self.skills.named(name) if name else self.skills.meant(sentence)
        entry = kind.data["entry"] if kind is not None else None
        slots = dict.fromkeys(Sentence(entry.sentence).slots if entry is not None else (), labels)
        if entry is not None:
            for slot, source in entry.agent_options.sources.items():
                slots[slot] = labels | self.source(agent, source)
        start = Start(kind.name if kind is not None else "", entry, sentence, labels, slots, agent)
        if start.refusal(self.policies):
            return False
        self.ledger.hear(agent, NOTHING.union(*slots.values()) - {MODEL} if slots else NOTHING)
        return True

    def source(self, agent: Any, source: str) -> Labels:
        """Returns the labels of what fills a slot."""
        skill, dot, _ = source.partition(".")
        if dot:
            return self.ledger.given.get(skill, NOTHING)
        if source in agent.scope:
            return self.ledger.entry(agent.scope, source)
        return NOTHING.union(*self.ledger.given.values()) | self.world(agent.context)

    def objection(self, agent: Any) -> str:
        """Returns why the agent may not grow a plan now; "" when it may."""
        self.ledger.hear(agent, self.ledger.inputs(agent))  # a plan is given what its entries hold now
        allowed, labels = self.policies.plans, self.ledger.answers(agent)
        if allowed is None or labels <= allowed:
            return ""
        return f"The policy does not allow plans that were made of {said(labels - allowed)}"

    def recalled(self, agent: Any, labels: Iterable[str]) -> None:
        """Tells that an agent was shown experiences. One that does not say where it came from may come from anywhere,
        unless the policy vouches for the memory."""
        for each in labels:
            known = labels_of(each.split(",")) if each else self.policies.memory or UNKNOWN - {OPERATOR}
            self.ledger.hear(agent, known | {MEMORY})

    def labels(self, agent: Any) -> str:
        """Returns the labels of an agent's story, for its memory."""
        found = self.ledger.heard(agent)
        return ",".join(each for each in LABELS if each in found)

    def heard(self, agent: Any, labels: Iterable[str]) -> None:
        """Tells that an agent has read something with these labels."""
        self.ledger.hear(agent, frozenset(labels))


def enforce(run: Run) -> None:
    """Begins to hold a run to its policies, if its trees have any."""
    if run.parts.tree.spec.policies:
        run.parts.extensions[RunEnforcer] = made = RunEnforcer(run)
        run.parts.context.services.policy = made
