"""The strategy of the runs as a node of the compiled tree: it does what the tree has no case for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bt_runtime.agents.compile.trace import Trace
from bt_runtime.agents.compile.yaml_text import N
from bt_runtime.language import source

NOTE = "what is not known"
_UNLESS = {"unless": "given_up"}
_DROPPED = ("guide", "name")
_GIVEN = ("goal", "guide")


class StrategyAgent(NamedTuple):
    """The node that works at unknown goals, the name of the strategy, and the inputs that the node reads."""

    node: N
    name: str
    inputs: Mapping[str, Mapping[str, Any]] = {}  # name → its declaration


def agent_of(traces: Sequence[Trace], name: str) -> StrategyAgent:
    """Returns the strategy of these runs. Subgoals that it plans return to the compiled tree called `name`.

    Runs of a compiled tree tell its strategy only where no other run does."""
    trace = next((each for each in traces if not each.compiled), traces[0])
    told = _data(trace)
    root, declared = told.get("root"), told.get("inputs")
    if trace.compiled and isinstance(root, dict):
        return _copied(next(iter(root.values()))[-1], declared, trace, name)._replace(name=_named(told))
    if isinstance(root, dict) and ([*root] == ["agent"] or trace.strategy in _leaves(root)):
        return _copied(root, declared, trace, name)
    more = {key: value for key, value in trace.inputs.items() if key not in _GIVEN and value is not None}
    inner = {"file": trace.strategy, "with": {"goal": "{goal}", **more}, **_UNLESS}
    return StrategyAgent(N("tree", inner, NOTE), trace.strategy)


def _copied(root: Mapping[str, Any], declared: Any, trace: Trace, name: str) -> StrategyAgent:
    """Returns a strategy's nodes, and its inputs with the values that the run was given as their defaults."""
    made = _node(_returned(root, trace.strategy, name))
    fields = {"children": made.value} if isinstance(made.value, list) else dict(made.value)
    ports = {key: port for key, port in declared.items() if key not in _GIVEN} if isinstance(declared, dict) else {}
    inputs = {key: _declared(port, trace.inputs.get(key)) for key, port in ports.items() if key in str(root)}
    return StrategyAgent(N(made.kind, {**fields, **_UNLESS}, NOTE), trace.strategy, inputs)


def _data(trace: Trace) -> dict[str, Any]:
    root = source.parse(trace.text, trace.strategy).root
    data: Any = root.data() if root is not None else None
    return data if isinstance(data, dict) else {}


def _named(told: Mapping[str, Any]) -> str:
    """Returns the strategy that a compiled tree names in its head: `Compiled from 9 runs of adapt; …`."""
    return str(told.get("about") or "").partition(" runs of ")[2].split(";")[0].split(" in ")[0]


def _declared(port: Any, given: Any) -> dict[str, Any]:
    """Returns an input's declaration, with the value that the runs were given as its default."""
    told = dict(port) if isinstance(port, dict) else {}
    return told if given is None else {**told, "default": given}


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*([value["leaf"]] if "leaf" in value else []), *(x for each in value.values() for x in _leaves(each))]
    return [x for each in value for x in _leaves(each)] if isinstance(value, list) else []


def _returned(value: Any, strategy: str, name: str) -> Any:
    """Replaces the strategy by the compiled tree as what becomes of a part."""
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key not in _DROPPED}
        return {
            key: name if key == "leaf" and each == strategy else _returned(each, strategy, name)
            for key, each in kept.items()
        }
    return [_returned(each, strategy, name) for each in value] if isinstance(value, list) else value


def _node(data: Mapping[str, Any]) -> N:
    kind, value = next(iter(data.items()))
    if isinstance(value, list):
        return N(kind, [_node(each) for each in value])
    if isinstance(value, dict):
        made = dict(value)
        if isinstance(made.get("children"), list):
            made["children"] = [_node(each) for each in made["children"]]
        if isinstance(made.get("child"), dict):
            made["child"] = _node(made["child"])
        return N(kind, made)
    return N(kind, value)
