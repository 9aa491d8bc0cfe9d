"""Experiences for a prompt: retrieved for the goal by a job, whole, most similar first, within a token budget."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from bt_runtime.diagnose import BtError

if TYPE_CHECKING:
    from bt_runtime.agents.growing import Growing


def examples(node: Growing) -> Generator[Any, Any, tuple[str, ...]]:
    """The texts of the experiences that this node is shown. A memory that fails costs the examples, not the run."""
    values = node.spec.values
    episodes: Any = node.context.service("episodes")
    if episodes is None or not values["examples"]:
        return ()
    seed = int(node.context.service("seed") or 0)
    task = str(node.context.service("task") or "")
    kind = str(node.context.service("task_kind") or "")
    try:
        if values["select"] == "semantic":
            job = episodes.ask(
                node.goal, values["example_tokens"], values["examples"], level=values["level"], seed=seed,
                exclude_task=task or None,
            )  # fmt: skip
        else:
            job = episodes.select(
                values["select"], node.goal, kind, values["example_tokens"], values["examples"], seed=seed,
                exclude_task=task or None,
            )  # fmt: skip
        found = yield job
    except BtError as error:
        node.tell("retrieval failed", why=error.message)
        return ()
    node.tell("retrieval", why=found.why())
    return tuple(experience.text for experience in found.taken)
