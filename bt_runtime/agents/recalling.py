"""Retrieves experiences for a prompt: whole ones, the most similar first, within a token budget. Retrieval is a job."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

from bt_runtime.agents.kinds.checks import ANOTHER, PLANNED
from bt_runtime.agents.planner import telling
from bt_runtime.agents.services import EpisodeSource, FoundEpisodes, agent_services
from bt_runtime.agents.worked_example import ExampleShape, fitted, shipped
from bt_runtime.events import RetrievalFailed, Retrieved
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.model_wrapper import counting

if TYPE_CHECKING:
    from bt_runtime.agents.model_node import ModelNode
    from bt_runtime.types import Job


# as `select:` on a node calls them → as the memory does
_SELECTIONS = {"task": "task_specific", "random": "random"}

MOST, MOST_PLANNED = 5, 3  # experiences where `examples` is a word; examples of a planner or of another trade


def examples(node: ModelNode, shape: ExampleShape | None = None) -> Generator[Any, Any, tuple[str, ...]]:
    """The texts shown to this node: experiences, else worked examples of its world, else those that a planner makes of
    its skills or those of another trade, in its own moves and form of plans. A model that was trained on fixed prompts
    gets the retrieved texts unchanged."""
    found, first = (yield from _retrieved(node)), node.spec.values["examples"] == PLANNED
    if shape is None or not (node.register.fitted or first):
        return found
    fit = [text for each in found if (text := fitted(each, shape)) is not None] if node.register.fitted else [*found]
    if first:
        fit = [*planned(node, shape), *fit]
    fit = fit or shipped(str(node.manual().get("examples", "")), shape, most(node)) or planned(node, shape)
    return (yield from _fitting(fit, int(node.spec.values["example_tokens"]), node))


def most(node: ModelNode) -> int:
    """How many experiences the node is shown at most."""
    count = node.spec.values["examples"]
    return MOST if count in (PLANNED, ANOTHER) else int(count)


def planned(node: Any, shape: ExampleShape) -> list[str]:
    """Examples that a planner makes: of acts, of plans where the node writes those alone, one plan where it may write
    some; from what the node's skills need and bring or, with `examples: another`, from those of a made-up trade."""
    if not any(kind.data["entry"].brings for kind in node.actions.kinds):
        return []
    made = telling().examples(node, min(MOST_PLANNED, most(node)))
    plans = [each.expansion() for each in made if len(each.acts) > 1]
    if shape.form:
        texts = plans
    elif "expand" in shape.moves:
        texts = [*plans[:1], *(each.story() for each in made[bool(plans) :])]
    else:
        texts = [each.story() for each in made]
    return [text for each in texts if (text := fitted(each, shape)) is not None]


def _retrieved(node: ModelNode) -> Generator[Any, Any, tuple[str, ...]]:
    """Retrieves experiences for the node. When the memory fails, the run goes on without examples."""
    values = node.spec.values
    episodes = agent_services(node.context).episodes
    if episodes is None or not most(node):
        return ()
    try:
        found = yield _similar(node, episodes) if values["select"] == "semantic" else _selected(node, episodes)
    except BtError as error:
        node.context.emit(RetrievalFailed(node.path, error.message))
        return ()
    node.context.emit(Retrieved(node.path, found.why()))
    if (policy := node.context.services.policy) is not None:
        policy.recalled(node, [str(getattr(each, "labels", "")) for each in found.taken])
    if values["select"] == "semantic":
        return tuple(experience.text for experience in found.taken)
    taken = [experience.text for experience in found.taken[: most(node)]]
    return (yield from _fitting(taken, int(values["example_tokens"]), node))


def _about(node: ModelNode) -> dict[str, Any]:
    return {"seed": node.context.services.seed, "exclude_task": agent_services(node.context).task or None}


def _similar(node: ModelNode, episodes: EpisodeSource) -> Job[FoundEpisodes]:
    values = node.spec.values
    return episodes.ask(
        node.goal, values["example_tokens"], most(node), level=values["level"],
        similarity=float(values["similarity"]), **_about(node),
    )  # fmt: skip


def _selected(node: ModelNode, episodes: EpisodeSource) -> Job[FoundEpisodes]:
    """`task`: tasks of this one's kind; `random`: one of every kind."""
    values = node.spec.values
    count = most(node) if values["select"] == "task" else 1
    kind = agent_services(node.context).task_kind
    how = _SELECTIONS[values["select"]]
    return episodes.select(how, count, goal=node.goal, kind=kind, **_about(node))


def _fitting(found: Sequence[str], budget: int, node: ModelNode) -> Generator[Any, Any, tuple[str, ...]]:
    """Takes whole experiences in order until the token budget is spent."""
    counts = (yield counting(node.model(), found, node.context.wake)) if found else ()
    spent = itertools.accumulate(counts)
    return tuple(text for text, tokens in zip(found, spent, strict=True) if tokens <= budget)
