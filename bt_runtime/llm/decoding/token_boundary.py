"""The boundary between a prompt and what follows: tokens may merge across it, so both sides are tokenised together."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bt_runtime.llm.decoding.choice import Trie

_STEP, _FAR = 4, 64  # tokens of the prompt's end that are looked at, and at most
_TEXTS, _CHOICES = 50_000, 64  # how many of each are remembered


class Boundary(NamedTuple):
    prompt: list[int]  # tokens before every option
    trie: Trie  # tokens of the options behind `prompt`, with their terminator


class BoundaryFinder:
    """Finds token boundaries, and caches options that repeat after an equal end of a prompt."""

    def __init__(
        self,
        tokens: Callable[[str], list[int]],
        piece: Callable[[int], bytes],
        coming: Callable[[Sequence[str]], None] = lambda texts: None,
        step: int = _STEP,
    ) -> None:
        """`coming` is told which texts will be tokenised next. `step`: how many tokens of the prompt's end are examined
        first."""
        self._tokens, self._piece, self._coming, self._step = tokens, piece, coming, step
        self._texts: dict[str, list[int]] = {}
        self._choices: OrderedDict[tuple[str, tuple[str, ...]], tuple[int, Trie]] = OrderedDict()

    def join(self, prompt: Sequence[int], options: Sequence[str]) -> Boundary:
        """Returns the prompt's tokens without those that would merge with an option. `options` include their
        terminator."""
        tail, start, lead = self._tail(prompt)
        key = tail, tuple(options)
        known = self._choices.get(key)
        if known is None:
            self._coming([tail + option for option in options])
            known = self._sew(prompt[start:], [self._ends(tail + option)[lead:] for option in options])
            self._choices[key] = known
            if len(self._choices) > _CHOICES:
                self._choices.popitem(last=False)
        kept, trie = known
        return Boundary([*prompt[: start + kept]], trie)

    def _sew(self, before: Sequence[int], ends: Sequence[Sequence[int]]) -> tuple[int, Trie]:
        """Returns how many final tokens of the prompt all options keep, and the trie of the rest."""
        kept = len(before)
        for end in ends:
            same = 0
            while same < min(kept, len(end) - 1) and end[same] == before[same]:
                same += 1
            kept = same
        return kept, Trie([end[kept:] for end in ends])

    def _tail(self, prompt: Sequence[int]) -> tuple[str, int, int]:
        """Returns a text whose tokens are the prompt's end, the position where that end starts, and the number of
        tokens to skip before it."""
        for back in range(min(self._step, len(prompt) - 1), min(_FAR, len(prompt) - 1) + 1, self._step):
            start = len(prompt) - back
            try:
                text = b"".join(map(self._piece, prompt[start:])).decode("utf-8")
            except UnicodeDecodeError:
                continue  # the cut is inside a letter
            for anchor in ("", "\n"):  # some tokenisers put a space before a text, but none inside it
                lead = self._ends(anchor) if anchor else []
                if text and self._ends(anchor + text) == [*lead, *prompt[start:]]:
                    return anchor + text, start, len(lead)
        return "", len(prompt), 0

    def _ends(self, text: str) -> list[int]:
        known = self._texts.get(text)
        if known is None:
            if len(self._texts) >= _TEXTS:
                self._texts.clear()
            known = self._texts[text] = self._tokens(text)
        return known
