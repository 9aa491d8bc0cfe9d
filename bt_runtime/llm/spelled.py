"""The tokens of a text by a file's own vocabulary, without its weights: in a process of its own, for llama.cpp."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import NamedTuple

from bt_runtime.faults.diagnostic import BtError
from bt_runtime.project import child

_PATIENCE = 60.0  # seconds, on however busy a machine


class Token(NamedTuple):
    number: int
    text: str
    steers: bool  # a control token


def tokens_of(file: str, prompt: str, chat: bool) -> list[Token]:
    """As a worker would feed them. `chat`: its template's signs are control tokens, else they are letters."""
    words, pipe = child.python("bt_runtime.llm.spelled"), subprocess.PIPE
    with child.start(words, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            said, why = process.communicate(json.dumps([file, prompt, chat]).encode(), timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise BtError(f"the vocabulary of {file} is not read after {_PATIENCE:g} s", "try it once more") from None
    try:
        return [Token(*each) for each in json.loads(said)]
    except ValueError:
        last = why.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise BtError(f"the vocabulary of {file} cannot be read: {last}", f"`btr doctor {file}` looks at it") from None


def main() -> None:
    from bt_runtime.llm import llama

    file, prompt, chat = json.load(sys.stdin)
    llama.begin()
    weights = llama.Weights(file, vocabulary_only=True)
    found = weights.tokens(prompt, begin=True, special=chat)
    print(json.dumps([[n, weights.shown(n), not weights.piece(n)] for n in found]))


if __name__ == "__main__":
    main()
