"""Run in a process of its own, for llama.cpp: what a family's file makes of a prompt. JSON in, JSON out."""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

from bt_runtime.agents.prompt import agent_prompt
from bt_runtime.agents.story import StoryStep
from bt_runtime.llm import Chat
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.llama import C, Weights, begin
from bt_runtime.llm.local.write import GrammarGuide, allowed_tokens
from bt_runtime.types import Grammar
from tests.llm.families.tokens_story import STEPS, SYSTEM, TODAY

_STEERING = 2 | 8  # llama.cpp: unknown, control


def shown(weights: Weights, token: int) -> str:
    buffer = ctypes.create_string_buffer(256)
    length = C.llama_token_to_piece(weights.vocab, token, buffer, 256, 0, True)
    text = buffer.raw[: max(0, length)].decode("utf-8", "backslashreplace")
    return f"⟦{text}⟧" if not weights.piece(token) else text.replace("\n", "⏎")


class Steering:
    """Which tokens of a prompt steer the model."""

    def __init__(self, weights: Weights, markers: tuple[str, ...]) -> None:
        self.weights, self.markers = weights, {*markers}
        self.known: dict[int, bool] = {}

    def of(self, chat: Chat, says: str) -> list[int]:
        """Whatever says it: the world, the person, the model."""
        steps = [StoryStep("think", says), StoryStep("act", says, says)]
        text = agent_prompt(SYSTEM, says, says, steps, notes=[says]).text(chat)
        return [token for token in self.weights.tokens(text, True, True) if self.steers(token)]

    def steers(self, token: int) -> bool:
        if token not in self.known:
            marked = C.llama_vocab_get_attr(self.weights.vocab, token) & _STEERING
            self.known[token] = bool(marked) or shown(self.weights, token).strip("⟦⟧") in self.markers
        return self.known[token]


def barred(weights: Weights) -> list[str]:
    """The tokens that end what a model writes, and that a complete text under a grammar does not let through."""
    matcher = GrammarGuide(weights).start(Grammar("regex", "[a-z ]+"))
    matcher.consume_tokens(weights.tokens("find the cup"))
    allowed = {*map(int, allowed_tokens(matcher, weights.size))}
    return [shown(weights, token) for token in weights.enders if token not in allowed]


def look(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    header, weights = read_header(path), Weights(path)
    chat = Chat.of(header.chat_template or "", header.markers, header.ends, TODAY)
    text = agent_prompt(SYSTEM, "bring the cup", "You see a table.", STEPS).text(chat)
    tokens = weights.tokens(text, begin=True, special=True)
    corpus = asked["corpus"] + [" ".join(header.markers[n : n + 40]) for n in range(0, len(header.markers), 40)]
    first, steering = weights.first, Steering(weights, header.markers)
    plain = steering.of(chat, "nothing")
    safe = [chat.harmless(said) for said in corpus]
    return {
        "prompt": [shown(weights, token) for token in tokens],
        "text": text,
        "tail": chat.say("S", "U").rpartition("U")[2],
        "begins": sum(token == first for token in tokens),
        "ends": [shown(weights, token) for token in weights.enders],
        "barred": barred(weights) if asked["guided"] else [],
        "leaks": [said for said in corpus if steering.of(chat, said) != plain],
        "miscounted": [said for said in safe if weights.tokens(said) != weights.tokens(said, special=True)],
        "thinks": chat.thinks,
        "turns": chat.turns is not None,
        "names": list(header.ends),
    }


if __name__ == "__main__":
    begin()
    asked = json.loads(sys.stdin.read())
    print(json.dumps({name: look(path, asked) for name, path in asked["paths"].items()}))
