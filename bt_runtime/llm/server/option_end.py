"""The ends of an option on a server: a line break, or a token that ends a turn. Their probabilities add up, as for
local files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.llm.server.rollout import TokenRow

# The texts by which llama.cpp knows a token that ends what a model writes.
KNOWN = (
    "</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "<end_of_turn>",
    "<turn|>", "<|end_of_text|>", "<EOT>", "[EOS]", "<｜end▁of▁sentence｜>", "<end_of_utterance>",
)  # fmt: skip


class OptionEnd(NamedTuple):
    """The tokens that end an option. `newline`: the line break's token, or -1. `others`: equivalent tokens."""

    newline: int = -1
    others: tuple[int, ...] = ()

    def needed(self, tokens: Sequence[int]) -> list[int]:
        """The tokens whose probabilities determine those of `tokens`."""
        return [*tokens, *self.others] if self.newline in tokens else [*tokens]

    def summed(self, tokens: Sequence[int], logprobs: Sequence[float]) -> list[float]:
        """The log-probabilities of `tokens`, from those that `needed` named."""
        found = [*logprobs[: len(tokens)]]
        if self.newline in tokens and self.others:
            at = tokens.index(self.newline)
            found[at] = min(0.0, _sum([found[at], *logprobs[len(tokens) :]]))
        return found

    def of(self, row: TokenRow) -> TokenRow:
        """Reads one position of an answer and adds up the probabilities of all ends. An end that the server did not
        report gets its upper bound; the line break's log-probability is then unknown if that could change it."""
        if not self.others:
            return row
        own = row.logprob if row.token == self.newline else row.likely.get(self.newline, row.least)
        told = [row.likely[token] for token in self.others if token in row.likely]
        missing = len(self.others) - len(told)
        sure, most = _sum([own, *told]), _sum([own, *told, *[row.least] * missing])
        likely = {**row.likely, self.newline: min(0.0, most)}
        if row.token != self.newline:
            return row._replace(likely=likely)
        return row._replace(likely=likely, logprob=min(0.0, sure), exact=most - sure <= NOTHING)


NOTHING = 0.01  # nats that do not matter


def _sum(logprobs: Sequence[float]) -> float:
    top = max(logprobs)
    if top == -math.inf:
        return top
    return top + math.log(sum(math.exp(each - top) for each in logprobs))
