"""Reads texts token by token under grammars with a file's own tokenizer; a process of its own, as a model has.

    python -m packages.author.tests.sentence.token_check FILE < [[grammar, text], …]

Prints, for each text, how many tokens it has, and at which one the grammar refused it (-1: nowhere).
"""

from __future__ import annotations

import json
import sys

from bt_runtime.llm.local import llama
from bt_runtime.llm.local.write import GrammarGuide
from bt_runtime.types import Grammar


def main() -> None:
    llama.begin()
    weights = llama.Weights(sys.argv[1], vocabulary_only=True)
    guide = GrammarGuide(weights)
    found = []
    for grammar, text in json.load(sys.stdin):
        matcher = guide.start(Grammar("lark", grammar))
        tokens = weights.tokens(text)
        refused = -1
        for at, token in enumerate(tokens):
            if not matcher.consume_token(token):
                refused = at
                break
        if refused < 0 and not matcher.is_accepting():
            refused = len(tokens)
        found.append([len(tokens), refused])
        guide.done(Grammar("lark", grammar), matcher)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
