"""Tokenises texts by a file's vocabulary, without loading its weights, in a child process that imports llama.cpp."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import child

_PATIENCE = 60.0  # seconds, on however busy a machine


class VocabularyToken(NamedTuple):
    number: int
    text: str
    steers: bool  # a control token
    size: int = 0  # bytes of the text; 0 of a control token


def tokens_of(file: str, prompt: str, chat: bool) -> list[VocabularyToken]:
    """Returns the tokens that a worker would feed. `chat`: the template's markers are control tokens, otherwise
    text."""
    return tokens_of_each(file, [prompt], chat)[0]


def tokens_of_each(file: str, prompts: Sequence[str], chat: bool) -> list[list[VocabularyToken]]:
    """Returns the tokens of several prompts, each tokenised separately."""
    words, question = child.python("bt_runtime.llm.local.tokenizer"), json.dumps([file, [*prompts], chat]).encode()
    try:
        done = child.answer(words, question, _PATIENCE, stderr=subprocess.PIPE)
        return [[VocabularyToken(*token) for token in tokens] for tokens in json.loads(done.stdout)]
    except TimeoutError:
        raise BtError(f"the vocabulary of {file} is not read after {_PATIENCE:g} s", "try again") from None
    except ValueError:
        why = child.last_line(done.stderr)
        raise BtError(
            f"the vocabulary of {file} cannot be read: {why}", f"`btr doctor {file}` names the cause"
        ) from None


def main() -> None:
    from bt_runtime.llm.local import llama

    file, prompts, chat = json.load(sys.stdin)
    llama.begin()
    weights = llama.Weights(file, vocabulary_only=True)
    found = [weights.tokens(prompt, begin=True, special=chat) for prompt in prompts]
    print(
        json.dumps(
            [[[n, weights.shown(n), not weights.piece(n), len(weights.piece(n))] for n in tokens] for tokens in found]
        )
    )


if __name__ == "__main__":
    main()
