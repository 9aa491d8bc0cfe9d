"""Compiles recorded runs to a tree: reads, generalises and writes. The same runs give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bt_runtime.agents.compile.cases import CompiledCase, cases, stories_of
from bt_runtime.agents.compile.emit import TreeOrigin, TreeWriter
from bt_runtime.agents.compile.goal import GoalReader
from bt_runtime.agents.compile.lexicon import Lexicon, lexicon_of, roles
from bt_runtime.agents.compile.parting import parted
from bt_runtime.agents.compile.strategy import agent_of
from bt_runtime.agents.compile.supply import Supply, covered, goals_of, supply_of
from bt_runtime.agents.compile.trace import Trace, read
from bt_runtime.language.faults.diagnostic import BtError

HELD_OUT = 5  # every fifth run prunes what the others taught


@dataclass(slots=True)
class Compiled:
    """A compiled tree with its cases and runs."""

    name: str
    text: str
    traces: list[Trace]  # the successful ones
    failed: int
    cases: list[CompiledCase]
    left: list[CompiledCase]  # cases left out by the limit of the tree's size
    unexplained: list[CompiledCase]  # cases without a test for their steps: left to the agent
    by_form: dict[str, int]  # lives by the form of their goal
    nodes: int
    held_out: frozenset[str]
    lexicon: Lexicon
    reader: GoalReader
    alone: int = 0  # runs of the compiled tree that did not ask its agent
    supply: Supply | None = None

    @property
    def known(self) -> int:
        """How many goals that agents had the tree has a case for."""
        return sum(count for form, count in self.by_form.items() if self.does(form))

    def does(self, form: str) -> bool:
        """True when the tree has a case for this form of goals."""
        told = goals_of(self.supply, self.lexicon) if self.supply is not None else ()
        return covered(form, told) or any(form in case.forms for case in self.cases)


def compiled(paths: Iterable[Path], name: str, infer: bool = False) -> Compiled:
    """Compiles these runs. Raises BtError when they hold nothing that can be generalised."""
    return of_traces(list(read(paths)), name, infer)


def of_traces(found: Sequence[Trace], name: str, infer: bool = False) -> Compiled:
    """`infer`: goals in other words are understood by `infer`, before the agent is asked."""
    good = [trace for trace in found if trace.met]
    if not good:
        raise BtError(f"none of {len(found)} runs succeeded", "only what succeeded is compiled")
    traces = sorted((trace for trace in good if trace.lives or not trace.compiled), key=_content)
    if not traces:
        raise BtError(f"{len(good)} runs of a compiled tree did not ask its agent", "compile the runs of its strategy")
    lexicon = lexicon_of(traces)
    if not lexicon.kinds:
        raise BtError(
            "nothing tells what the actions of these runs are",
            "they stand in no manifest, and no program gave them as skills: `btr new skill` writes a manifest",
        )
    reader = GoalReader(roles(traces, lexicon))
    held_out = frozenset(trace.name for at, trace in enumerate(traces) if at % HELD_OUT == HELD_OUT - 1)
    by_form = stories_of(traces, lexicon, reader)
    made = cases(by_form, held_out)
    supply = supply_of(traces, lexicon)
    if not made and supply is None:
        raise BtError(f"{len(traces)} successful runs have nothing in common", "record more of the same kind of work")
    if supply is None and all(case.gap for case in made):
        raise BtError(
            f"no kind of work of these runs is explained; `{made[0].forms[0]}`: {made[0].gap}",
            "let the agent look before it decides: a condition is what the last observation says, or what can be done",
        )
    agent = agent_of(traces, name)
    example = next((each.life.goal for case in made if not case.gap for each in case.stories), traces[0].goal)
    told = TreeOrigin(agent.name, len(traces), traces[0].world, example, agent.inputs)
    counts = {form: len(stories) for form, stories in by_form.items()}

    def written(these: list[CompiledCase], parts: frozenset[str] = frozenset()) -> Compiled:
        known = [case for case in these if not case.gap]
        gone = [case for case in these if case.gap]
        writer = TreeWriter(name, lexicon, known, told, agent.node, supply, infer, parts)
        return Compiled(name, writer.text(), traces, len(found) - len(good), writer.cases, writer.left, gone, counts,
                        writer.nodes, held_out, lexicon, reader, len(good) - len(traces), supply)  # fmt: skip

    whole = written(made)
    if not whole.left:
        return whole
    shared = stories_of(parted(traces, lexicon, reader), lexicon, reader)
    cut = written(cases(shared, held_out), frozenset(shared) - frozenset(counts))
    return max(whole, cut, key=lambda each: each.known)


def _content(trace: Trace) -> tuple[str, ...]:
    """What orders runs: what was done in them, and not what they are called."""
    return (trace.goal, trace.content, *(act.sentence for life in trace.lives for act in life.deeds()), trace.name)
