"""Compiles recorded runs to a tree: reads, generalises and writes. The same runs give the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bt_runtime.compile.cases import Case, cases, stories_of
from bt_runtime.compile.emit import Source, Writer
from bt_runtime.compile.goal import Reader
from bt_runtime.compile.lexicon import Lexicon, lexicon_of, roles
from bt_runtime.compile.supply import supply_of
from bt_runtime.compile.trace import Trace, read
from bt_runtime.compile.yaml_text import N
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.language import source
from bt_runtime.language.source import YamlMap

HELD_OUT = 5  # every fifth run prunes what the others taught


@dataclass(slots=True)
class Compiled:
    """A compiled tree with its cases and runs."""

    name: str
    text: str
    traces: list[Trace]  # the successful ones
    failed: int
    cases: list[Case]
    left: list[Case]  # for which there was no room
    by_form: dict[str, int]  # lives by the form of their goal
    nodes: int
    held_out: frozenset[str]
    lexicon: Lexicon
    reader: Reader


def compiled(paths: Iterable[Path], name: str) -> Compiled:
    """Compiles these runs. Raises BtError when they hold nothing that can be generalised."""
    return of_traces(list(read(paths)), name)


def of_traces(found: Sequence[Trace], name: str) -> Compiled:
    traces = sorted((trace for trace in found if trace.met), key=_content)
    if not traces:
        raise BtError(f"none of {len(found)} runs succeeded", "only what succeeded is compiled")
    lexicon = lexicon_of(traces)
    if not lexicon.kinds:
        raise BtError(
            "the actions of these runs stand in no manifest", "write one: `btr new skill`, and list it in the tree"
        )
    reader = Reader(roles(traces, lexicon))
    held_out = frozenset(trace.name for at, trace in enumerate(traces) if at % HELD_OUT == HELD_OUT - 1)
    by_form = stories_of(traces, lexicon, reader)
    made = cases(by_form, held_out)
    supply = supply_of(traces, lexicon)
    if not made and supply is None:
        raise BtError(f"{len(traces)} successful runs have nothing in common", "record more of the same kind of work")
    strategy = traces[0].strategy
    example = next((each.life.goal for case in made[:1] for each in case.stories), traces[0].goal)
    told = Source(strategy, len(traces), traces[0].world, example)
    writer = Writer(name, lexicon, made, told, agent_of(traces[0], name), supply)
    counts = {form: len(stories) for form, stories in by_form.items()}
    return Compiled(name, writer.text(), traces, len(found) - len(traces), writer.cases, writer.left, counts,
                    writer.nodes, held_out, lexicon, reader)  # fmt: skip


def _content(trace: Trace) -> tuple[str, ...]:
    """What orders runs: what was done in them, and not what they are called."""
    return (trace.goal, trace.content, *(act.sentence for life in trace.lives for act in life.deeds()), trace.name)


def agent_of(trace: Trace, name: str) -> N:
    """Returns the runs' strategy as a node, for goals that the tree has no case for. Subgoals return to the tree if it
    knows them."""
    document = source.parse(trace.text, trace.strategy)
    root = document.root.get("root") if isinstance(document.root, YamlMap) else None
    agent = root.get("agent") if isinstance(root, YamlMap) else None
    if isinstance(agent, YamlMap):
        fields = {key.text: value.data() for key, value in agent if key.text not in ("guide", "name")}
        if fields.get("leaf") == trace.strategy:
            fields["leaf"] = name
        return N("agent", {**fields, "goal": "{goal}", "unless": "given_up"}, "what is not known")
    more = {name: value for name, value in trace.inputs.items() if name not in ("goal", "guide") and value is not None}
    inner = {"file": trace.strategy, "with": {"goal": "{goal}", **more}, "unless": "given_up"}
    return N("tree", inner, "what is not known")
