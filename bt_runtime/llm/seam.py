"""The seam between a prompt and what follows: tokens may merge across it, so both sides are tokenised together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

_STEP, _FAR = 4, 64  # tokens of the prompt's end that are looked at, and at most
_KEPT = 50_000


class Seam(NamedTuple):
    prompt: list[int]  # what every option has before it
    options: list[list[int]]  # what is left of each; together they are the tokens of prompt + option + terminator


class Tailor:
    """Keeps the tokens of options that come again and again behind the same end of a prompt."""

    def __init__(self, tokens: Callable[[str], list[int]], piece: Callable[[int], bytes]) -> None:
        self._tokens, self._piece = tokens, piece
        self._known: dict[tuple[str, str], list[int]] = {}

    def join(self, prompt: Sequence[int], options: Sequence[str]) -> Seam:
        """`options` carry their terminator. The prompt gives back the tokens that would merge with an option."""
        tail, start, lead = self._tail(prompt)
        ends = [self._ends(tail, option)[lead:] for option in options]
        common = len(prompt) - start
        for end in ends:
            same = 0
            while same < min(common, len(end) - 1) and end[same] == prompt[start + same]:
                same += 1
            common = same
        return Seam([*prompt[: start + common]], [end[common:] for end in ends])

    def _tail(self, prompt: Sequence[int]) -> tuple[str, int, int]:
        """A text that tokenises to the end of the prompt, where that end starts, and tokens to skip in front of it."""
        for back in range(min(_STEP, len(prompt) - 1), min(_FAR, len(prompt) - 1) + 1, _STEP):
            start = len(prompt) - back
            try:
                text = b"".join(map(self._piece, prompt[start:])).decode("utf-8")
            except UnicodeDecodeError:
                continue  # the cut is inside a letter
            for anchor in ("", "\n"):  # some tokenisers put a space before a text, but none inside it
                lead = self._tokens(anchor) if anchor else []
                if text and self._tokens(anchor + text) == [*lead, *prompt[start:]]:
                    return anchor + text, start, len(lead)
        return "", len(prompt), 0

    def _ends(self, tail: str, option: str) -> list[int]:
        known = self._known.get((tail, option))
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[tail, option] = self._tokens(tail + option)
        return known
