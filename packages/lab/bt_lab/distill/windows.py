"""Cuts conversations between turns, so that each piece fits a number of tokens. No answer is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bt_lab.distill.chats import Message
from bt_runtime.agents.story import left_out


def pieces(said: Sequence[Message], sizes: Sequence[int], most: int) -> Iterator[list[Message]]:
    """Cuts a conversation. `sizes`: the tokens of each message, with the template's around it. A piece stays too long
    when a single turn does not fit."""
    head = next(number for number, message in enumerate(said) if message["role"] == "assistant")
    fixed, turns = sum(sizes[:head]), [*range(head, len(said), 2)]
    start = 0
    while start < len(turns):
        stop, room = start, most - fixed
        while stop < len(turns) and (stop == start or _size(sizes, turns, start, stop) <= room):
            stop += 1
        last = turns[stop - 1]
        yield [*_opening(said[:head], start), *said[turns[start] : last + 1]]
        start = stop


def _size(sizes: Sequence[int], turns: Sequence[int], start: int, stop: int) -> int:
    return sum(sizes[turns[start] : turns[stop] + 1])


def _opening(head: Sequence[Message], omitted: int) -> list[Message]:
    *before, task = head
    return [*before, {**task, "content": f"{task['content']}\n{left_out(omitted)}".rstrip()}]
