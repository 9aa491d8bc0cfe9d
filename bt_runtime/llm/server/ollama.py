"""Ollama, by its own protocol: OpenAI's can neither set the context size nor forbid that a prompt is silently cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime.llm.server import answer
from bt_runtime.llm.server.answer import Unanswered
from bt_runtime.llm.server.chat_server import ChatServer, Exchange, longest, parts
from bt_runtime.llm.server.flavour import Greeting
from bt_runtime.llm.server.request import RequestLine
from bt_runtime.llm.server.served_chat import messages

USUAL_CONTEXT = 8192  # by default; Ollama's own 4,096 silently drops longer prompts


class Ollama(ChatServer):
    flavour = "ollama"

    @classmethod
    def knows(cls, greeting: Greeting) -> bool:
        return any(row.get("owned_by") == "library" for row in greeting.models)

    def takes_messages(self, line: RequestLine) -> bool:
        return True

    def sent(self, line: RequestLine, prompt: str, ask: Mapping[str, Any], most: int, schema: Any = None) -> Exchange:
        options = {name: value for name, value in ask.items() if value not in ([], None)}
        options |= {"num_predict": most, "num_ctx": self.setup.context or USUAL_CONTEXT}
        # it would leave out the oldest without a word; versions that know no such field go on doing so
        whole = {"truncate": False, "shift": False}
        body: dict[str, Any] = {"model": self.name, "stream": False, "options": options, **whole}
        if schema is not None:
            body["format"] = schema
        if self.chat is None:
            said = line.post("/api/generate", {**body, "prompt": prompt, "raw": True})
            text, thought, thinks = answer.text(said, "response", longest(most)), "", False
        else:
            # gpt-oss knows no `false`, and thinks all the same: it is then told how much
            think = self.setup.effort if self.thinks and self.setup.effort else False
            said = line.post("/api/chat", {**body, "messages": messages(prompt), "think": think})
            message = said.get("message")
            if not isinstance(message, dict):
                raise Unanswered("the answer's `message` is not an object", 200)
            text = answer.text(message, "content", longest(most))
            text, _, thought, thinks = parts(message, text, False)
        told = {"prompt_tokens": said.get("prompt_eval_count"), "completion_tokens": said.get("eval_count")}
        return Exchange({**said, "usage": told}, text, said.get("done_reason") == "length", thought, thinks)
