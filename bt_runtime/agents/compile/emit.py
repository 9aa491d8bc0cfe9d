"""Writes a compiled tree: a switch over the form of the goal with a branch for each case, and the agent for other
goals."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from bt_runtime.agents.compile.calls import LEAVE, Calls, InlinedPart, renamed
from bt_runtime.agents.compile.cases import CompiledCase
from bt_runtime.agents.compile.condition import Condition, node_of
from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.procedure import FEW, Alternatives, Block, Gap, Item, Search, Unless
from bt_runtime.agents.compile.steps import (
    ENTRIES,
    FREE,
    IT,
    Step,
    any_number,
    asked,
    entry_of,
    filled,
    numbers_of,
    opened,
    spelled,
)  # fmt: skip
from bt_runtime.agents.compile.supply import Supply, covered, goals_of, node
from bt_runtime.agents.compile.trace import MARK
from bt_runtime.agents.compile.understanding import understood
from bt_runtime.agents.compile.yaml_text import N, scalar, text
from bt_runtime.language.sentence import Sentence
from bt_runtime.language.tidy import tidy

MOST_NODES = 80


@dataclass(slots=True)
class TreeOrigin:
    """The origin of a compiled tree, written into its head."""

    strategy: str
    runs: int
    world: str = ""
    example: str = ""
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # inputs of the agent besides the goal


class TreeWriter:
    def __init__(
        self, name: str, lexicon: Lexicon, cases: list[CompiledCase], source: TreeOrigin, fallback: N | None,
        supply: Supply | None = None, infer: bool = False, parts: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        """`parts`: forms that no agent had as a goal; they are written in place where only one case calls them."""
        self.name, self.lexicon, self.source, self.fallback = name, lexicon, source, fallback
        self.told: dict[str, N] = node(supply, lexicon, name) if supply is not None else {}
        self.forms = dict(zip(self.told, goals_of(supply, lexicon), strict=True)) if supply is not None else {}
        self.calls = Calls(cases, parts)
        self.sure: frozenset[str] = frozenset()  # numbers that an earlier act of the case has found, whatever came
        self.leave: object = None  # values that searches of the present case leave out
        self.cases: list[CompiledCase] = []
        self.made: dict[str, N] = {}
        self.left: list[CompiledCase] = []  # cases left out by the limit of the tree's size
        room = (
            MOST_NODES
            - 6
            - sum(each.count() for each in self.told.values())
            - (fallback.count() if fallback is not None else 0)
        )
        for case in cases:
            if self.forms and any(covered(form, self.forms.values()) for form in case.forms):
                continue
            if case.name in self.calls.once:
                self.cases.append(case)  # this case is written in the tree that calls it
                continue
            self.leave = f"{{{LEAVE}}}" if case.name in self.calls.leaving else None
            self.sure = frozenset()
            made = N("sequence", self.items(case.items), _times(case))
            if made.count() > room:
                self.left.append(case)
                continue
            room -= made.count()
            self.cases.append(case)
            self.made[case.name] = made
        self.understood = understood([case for case in self.cases if case.name in self.made], name) if infer else None
        if self.understood is not None and self.understood.count() > room:
            self.understood = None

    # The whole -------------------------------------------------------------------------------

    @property
    def nodes(self) -> int:
        return self.root().count()

    def root(self) -> N:
        forms: dict[str, object] = dict(self.forms)
        known_forms = {case.name: case.forms for case in self.cases if case.name in self.made}
        forms |= {name: told[0] if len(told) == 1 else told for name, told in known_forms.items()}
        made = {**self.told, **self.made}
        known = N(
            "sequence",
            {
                "name": "known work",
                "children": [
                    N("set", {"given_up": False, "form": ""}),
                    N("fits", {"text": "{goal}", "forms": forms, "form": "form", "slots": IT}),
                    N("switch", {"on": "form", "cases": {name: made[name] for name in forms}}),
                ],
            },
        )
        ways = [each for each in (known, self.understood, self.fallback) if each is not None]
        return N("fallback", ways) if len(ways) > 1 else known

    def text(self) -> str:
        manifests = list(self.lexicon.manifests)
        where = f" in {self.source.world}" if self.source.world else ""
        about = f"Compiled from {self.source.runs} runs of {self.source.strategy}{where}; the agent does the rest."
        given = ", ".join(name for name in self.lexicon.given if self.uses(name))
        head = [
            "# yaml-language-server: $schema=../schemas/tree.schema.json",
            f"{MARK} Comments say how often each part was done. `btr runs compile` keeps edits.",
            "version: 1",
            f"tree: {self.name}",
            f"about: {scalar(about)}",
            *([f"skills: {scalar(manifests)}"] if manifests else []),
            *([f"# Skills that a program gives: bt.load(FILE, skills=[{given}])"] if given else []),
            "inputs:",
            f"  goal: {{type: string, about: {scalar('what to achieve, such as: ' + self.source.example)}}}",
            *([f"  {LEAVE}: {{type: list, default: [], about: where a search does not look}}"] if self.leaves else []),
            *(f"  {name}: {scalar(port)}" for name, port in self.source.inputs.items()),
            "root:",
        ]
        made = "\n".join(head) + "\n" + text(self.root(), 2)
        return tidy(made) or made

    @property
    def leaves(self) -> bool:
        return not self.calls.leaving.isdisjoint(self.made)

    def uses(self, skill: str) -> bool:
        return any(node.kind == skill for made in (*self.told.values(), *self.made.values()) for node in made.every())

    # Parts -----------------------------------------------------------------------------------

    def items(self, items: list[Item]) -> list[N]:
        made: list[N] = []
        for item in items:
            assert not isinstance(item, Gap), item  # a case with a gap is left to the agent
            if isinstance(item, Block):
                made += self.block(item)
            else:
                made += self.choice(item) if isinstance(item, Alternatives) else [self.unless(item)]
        _numbered(made)
        return made

    def choice(self, item: Alternatives) -> list[N]:
        ways = []
        before = self.sure
        for condition, inner, count in item.ways:
            self.sure = before
            test = [self.test(condition)] if condition is not None else []
            children = [*test, *self.items(inner)]
            note = f"{count} times"
            ways.append(N("sequence", children, note) if len(children) > 1 else _noted(children[0], note))
        self.sure = before
        return [N("fallback", ways, f"{item.other} times another way" if item.other else "")]

    def unless(self, item: Unless) -> N:
        test = self.test(item.when)
        made = self.items(item.items)
        inner = made[0] if len(made) == 1 else N("sequence", made)
        note = f"{item.count} times, {item.ended} times it ended here"
        return N("precondition", {"if": test, "else": "skip", "child": inner}, note)

    def block(self, block: Block) -> list[N]:
        before = self.sure
        made = {"act": self.act, "each": self.each, "call": self.call}[block.step.what](block)
        when = block.when
        if when is None:
            return made
        self.sure &= before  # a skipped act has found nothing
        test = self.test(when)
        same = opened(block.step.said) == opened(when.forms[0])
        if len(made) == 2 and made[0].kind == when.what and same:
            test = made.pop(0)  # the search finds what the act needs, or nothing
        inner = made[0] if len(made) == 1 else N("sequence", made)
        return [N("precondition", {"if": test, "else": "skip", "child": inner}, _counted(block))]

    def act(self, block: Block) -> list[N]:
        step = self.known(block.step)
        entry, values = entry_of(step.values), filled(step.values)
        self.sure = self.sure.union(numbers_of(values)).difference(self.stale(entry, values))
        required = [f.name for f in self.lexicon.kinds[step.skill].fields if f.required]
        bare = len(values) == 1 and required == [*values]
        note = "" if block.when is not None else _counted(block)
        node = N(step.skill, next(iter(values.values())) if bare else self.typed(step.skill, values), note)
        if not entry and block.search is None:
            return [node]
        looked: dict[str, object] = {"form": step.said}
        if entry:
            looked["slots"] = entry
        if block.search is not None and self.leave:
            looked["without"] = self.leave
        if block.gave_up:
            looked["on_failure"] = {"given_up": True}
        seen = N("offered", looked, f"{block.gave_up} times there was none" if block.gave_up else "")
        search = self.search(block.search, step.said) if block.search is not None else []
        made = [*search, seen, node]
        if _often(block):
            seen = N("offered", {name: value for name, value in looked.items() if name != "on_failure"})
            again = N("sequence", [seen, N(node.kind, node.value)])
            made.append(N("until_failure", again, f"{block.repeated} times more than one"))
        return made

    def known(self, step: Step) -> Step:
        """Returns an act with those numbers open that no earlier act has found for sure."""
        if numbers_of(step.values) <= self.sure:
            return step
        values = {slot: any_number(value) for slot, value in step.values.items()}
        said = Sentence(self.lexicon.template(step.skill)).say(spelled(values))
        return replace(step, values=values, said=said)

    def stale(self, entry: str, values: Mapping[str, str]) -> set[str]:
        """Returns the numbers of earlier acts that this act's own take the place of."""
        return {each for each in self.sure if entry and each.startswith(f"{{{entry}.")} - numbers_of(values)

    def typed(self, skill: str, values: Mapping[str, str]) -> dict[str, object]:
        types = {f.name: f.type for f in self.lexicon.kinds[skill].fields}
        return {s: int(v) if types.get(s) == "integer" and v.isdigit() else v for s, v in values.items()}

    def search(self, search: Search, wanted: str) -> list[N]:
        where = asked(self.lexicon, search.skill, search.slot)
        chosen: dict[str, object] = {
            "form": where,
            "order": search.order,
            "tried": "tried",
            "next": self.entry(search.slot),
        }
        if search.told:
            chosen["among"] = "{told}"
        there: object = {"form": wanted, "without": self.leave} if self.leave else wanted
        children = [N("invert", N("offered", there)), N("untried", chosen, _held(search.held, search.order))]
        value = f"{{{self.entry(search.slot)}}}"
        children.append(N(search.skill, value))
        for skill, slot, count in search.inner:
            if len(self.lexicon.kinds[skill].data["entry"].types) == 1:
                test = N("offered", asked(self.lexicon, skill, slot).replace(f"<{slot}>", value))
                act = N(skill, value)
                done = {
                    "if": test,
                    "else": "skip",
                    "child": N("fallback", [N("offered", there), act]) if search.spared else act,
                }
                children.append(N("precondition", done, f"{count} times"))
        begin = [N("heard", {"text": "told"})] if search.told else []
        if not search.goes_on:
            named = [f"{{{IT}.{search.slot}}}"] if search.named else []
            begin.append(N("set", {"tried": self.leave or named}))
        loop = N("until_failure", {"name": "search", "child": N("sequence", children)}, f"{search.lives} times")
        return [*begin, loop]

    def entry(self, slot: str) -> str:
        """Returns the entry of a search's value: the slot's name, unless it means something else in this tree."""
        return f"next_{slot}" if slot in ENTRIES or slot in self.source.inputs else slot

    def each(self, block: Block) -> list[N]:
        where = block.step.said
        slot = next(iter(re.findall(r"<(\w+)>", where)), "")
        if not slot or block.step.skill != "fallback":
            return []
        goal = block.step.goals[0].replace(FREE, f"{{{self.entry(slot)}}}")
        chosen = {"form": where, "order": block.order, "tried": "tried", "next": self.entry(slot)}
        part = N("tree", {"file": self.name, "with": {"goal": goal}, "on_success": {"found": True}})
        children = [
            N("check", "not found"),
            N("untried", chosen, _held(block.held, block.order)),
            N("force", {"status": "success", "child": part}),
        ]
        test: object = {"expr": "found", "on_failure": {"given_up": True}} if block.failed else "found"
        return [
            N("set", {"tried": [], "found": False}),
            N("until_failure", {"name": "one after another", "child": N("sequence", children)}, _counted(block)),
            N("check", test),
        ]

    def call(self, block: Block) -> list[N]:
        inside = self.calls.inside(block.step.goals[0]) if len(block.step.goals) == 1 else None
        if inside is not None:
            return self.inside(inside, list(block.step.leave))
        parts = [N("tree", {"file": self.name, "with": self.given(block, goal)}) for goal in block.step.goals]
        control, note = block.step.skill, _counted(block)
        if control == "sequence" or len(parts) == 1:
            parts[0].note = note
            return parts
        fields = {"order": "in_turn", "children": parts} if control == "parallel" else parts
        return [N(control, fields, note)]

    def given(self, block: Block, goal: str) -> dict[str, object]:
        leave = {LEAVE: list(block.step.leave)} if block.step.leave and self.calls.leaves(goal) else {}
        return {"goal": goal, **leave}

    def inside(self, part: InlinedPart, leave: list[str]) -> list[N]:
        """Returns the nodes of a part, where it is called."""
        self.leave, outer = None, self.leave
        made = [renamed(node, part.slots) for node in self.items(part.case.items)]
        self.leave = outer
        return made

    def test(self, condition: Condition) -> N:
        known = [each if numbers_of({"": each}) <= self.sure else opened(each) for each in condition.forms]
        tests = [N(*node_of(condition.what, each)) for each in known]
        return tests[0] if len(tests) == 1 else N("fallback", tests)


def _numbered(siblings: list[N]) -> None:
    """Makes names unique among siblings: `search`, `search 2`."""
    seen = Counter[str]()
    for each in siblings:
        name = each.value.get("name") if isinstance(each.value, dict) else None
        if name is not None:
            seen[name] += 1
            each.value["name"] = name if seen[name] == 1 else f"{name} {seen[name]}"


def _often(block: Block) -> bool:
    """True when an act was done with every number that was offered."""
    return block.repeated > FEW


def _times(case: CompiledCase) -> str:
    return f"{case.lives} times in {case.runs} runs"


def _counted(block: Block) -> str:
    return f"{block.count} times" + (f", {block.other} the other way" if block.other else "")


def _noted(node: N, note: str) -> N:
    node.note = node.note or note
    return node


def _held(held: Mapping[str, tuple[int, int]], order: list[str]) -> str:
    told = [f"{kind} {held[kind][0]} of {held[kind][1]}" for kind in order[:4] if kind in held]
    return "; ".join(told)
