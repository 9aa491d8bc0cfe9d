"""Run as a process by bench_models: another library makes the same greedy choice, once for every line it is given."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def guidance(ask: dict[str, Any]) -> Callable[[], object]:
    from guidance import models, select

    lm = models.LlamaCpp(ask["model"], n_ctx=4096, n_threads=1, n_threads_batch=1, echo=False, verbose=False)
    lm += ask["prompt"]
    options = [option + "\n" for option in ask["options"]]
    return lambda: lm + select(options, name="choice")


def gbnf(ask: dict[str, Any]) -> Callable[[], object]:
    from llama_cpp import Llama, LlamaGrammar

    lm = Llama(ask["model"], n_ctx=4096, n_threads=1, n_threads_batch=1, verbose=False)
    lines = " | ".join(json.dumps(option + "\n") for option in ask["options"])
    grammar = LlamaGrammar.from_string(f"root ::= {lines}", verbose=False)
    return lambda: lm.create_completion(ask["prompt"], grammar=grammar, max_tokens=24, temperature=0.0)


def main(name: str, file: str) -> None:
    try:
        choose = {"guidance": guidance, "gbnf": gbnf}[name](json.loads(Path(file).read_text()))
        choose()
    except ImportError as absent:
        print(f"{absent}", flush=True)
        return
    print("ready", flush=True)
    for _ in sys.stdin:
        choose()
        print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
