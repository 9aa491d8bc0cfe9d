"""The tokens of a text by a file's own vocabulary, without its weights: in a process of its own, for llama.cpp."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import child

_PATIENCE = 60.0  # seconds, on however busy a machine


class Token(NamedTuple):
    number: int
    text: str
    steers: bool  # a control token


def tokens_of(file: str, prompt: str, chat: bool) -> list[Token]:
    """Returns the tokens that a worker would feed. `chat`: the template's markers are control tokens, otherwise
    text."""
    return tokens_of_each(file, [prompt], chat)[0]


def tokens_of_each(file: str, prompts: Sequence[str], chat: bool) -> list[list[Token]]:
    """Returns the tokens of several prompts, each tokenised separately."""
    words, pipe = child.python("bt_runtime.llm.local.tokenizer"), subprocess.PIPE
    with child.start(words, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            said, why = process.communicate(json.dumps([file, [*prompts], chat]).encode(), timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise BtError(f"the vocabulary of {file} is not read after {_PATIENCE:g} s", "try it once more") from None
    try:
        return [[Token(*each) for each in found] for found in json.loads(said)]
    except ValueError:
        last = why.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise BtError(f"the vocabulary of {file} cannot be read: {last}", f"`btr doctor {file}` looks at it") from None


def main() -> None:
    from bt_runtime.llm.local import llama

    file, prompts, chat = json.load(sys.stdin)
    llama.begin()
    weights = llama.Weights(file, vocabulary_only=True)
    found = [weights.tokens(prompt, begin=True, special=chat) for prompt in prompts]
    print(json.dumps([[[n, weights.shown(n), not weights.piece(n)] for n in tokens] for tokens in found]))


if __name__ == "__main__":
    main()
