"""Makes documents from a memory: each experience follows the system text of the agent that made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from bt_lab.distill.documents import Document
from bt_runtime.agents.growing import CUT_OFF, UNUSABLE
from bt_runtime.agents.plan_text import CONTROLS
from bt_runtime.agents.prompt import agent_prompt, system_text
from bt_runtime.agents.story import ACT, EXPAND, OPENINGS
from bt_runtime.agents.surroundings import RECALL
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.store import Store

_MOVE = re.compile(rf"^(?:{'|'.join(map(re.escape, OPENINGS))})", re.MULTILINE)
_PLAN_LINE = re.compile(rf"(?:{'|'.join(CONTROLS)}):|\s*- |\s+\S")


def told(path: Path) -> Iterator[Document]:
    """Documents from the stored experiences of tasks that succeeded."""
    store = Store(path, readonly=True)
    try:
        found = [e for e in store.each() if is_worth(e)]
    finally:
        store.close()
    expanding = {_group(e) for e in found if f"\n{EXPAND}\n" in e.text}
    recalling = {_group(e) for e in found if f"\n{ACT} {RECALL}" in e.text}
    for experience in found:
        group = _group(experience)
        yield from _document(experience, expanding=group in expanding, recalling=group in recalling)


def is_worth(experience: Experience) -> bool:
    """True for an experience to learn from. In a task that succeeded every end counts, giving up too; without a
    verdict, the agent's success."""
    return experience.verdict is True or (experience.verdict is None and experience.end != "failure")


def _group(experience: Experience) -> tuple[str, str, str]:
    """Groups experiences: agents of one run share a prompt, as do agents that never expanded or never asked their
    memory."""
    return experience.namespace, experience.task, experience.run


def _document(experience: Experience, expanding: bool, recalling: bool) -> Iterator[Document]:
    """Builds the text that the prompt builder writes, with the moves and the memory of that run's agents."""
    text = experience.text.rstrip("\n") + "\n"
    first = _MOVE.search(text)
    if first is None:
        return
    moves = ["think", "act", *(["expand"] if expanding else [])]
    system = system_text("agent", {"moves": moves, "recall": recalling})
    whole = agent_prompt(system, "", "")._replace(task=text).text()
    before = len(whole) - len(text)
    spans = [(before + start, before + end) for start, end in answers(text)]
    if spans:
        yield Document(experience.kind or experience.namespace, whole, tuple(spans))


def answers(text: str) -> Sequence[tuple[int, int]]:
    """Returns the spans that the agent wrote: lines that begin with a move, and the plan of an expansion unless it was
    refused."""
    spans, at, lines = [], 0, text.splitlines(keepends=True)
    number = 0
    while number < len(lines):
        start, line = at, lines[number]
        at, number = at + len(line), number + 1
        if not _MOVE.match(line):
            continue
        if line.rstrip() == EXPAND:
            while number < len(lines) and _PLAN_LINE.match(lines[number]):
                at, number = at + len(lines[number]), number + 1
            if number < len(lines) and lines[number].startswith((UNUSABLE, CUT_OFF)):
                continue
        spans.append((start, at))
    return spans
