"""Doubles of servers, written from the references of their interfaces: what each is asked is kept, and looked at."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Said = tuple[int, Any]
Talk = Callable[[str, dict[str, Any]], Said]


class Double:
    """`talk`: what is answered to a path and a body. `refuse`, `breaks`: what happens to the next questions first."""

    def __init__(self, talk: Talk) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.bytes = 0
        self.refuse: list[tuple[int, dict[str, str]]] = []
        self.breaks: list[str] = []
        double = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.reply(*talk(self.path, {}))

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(raw)
                double.asked.append((self.path, body))
                double.bytes += len(raw)
                if double.refuse:
                    status, headers = double.refuse.pop(0)
                    self.reply(status, {"error": "not now"}, headers)
                elif double.breaks:
                    self.broken(double.breaks.pop(0))
                else:
                    self.reply(*talk(self.path, body))

            def broken(self, how: str) -> None:
                if how == "cut":
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
                    self.wfile.flush()
                else:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True

            def reply(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
                data = json.dumps(body).encode()
                double.bytes += len(data)
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def last(self, path: str) -> dict[str, Any]:
        return [body for at, body in self.asked if at == path][-1]


def completion(path: str, body: dict[str, Any]) -> Said:
    """Anything with `/v1/completions`, and no chat."""
    if path == "/v1/models":
        return 200, {"object": "list", "data": [{"id": "base-1b", "object": "model"}]}
    if path != "/v1/completions":
        return 404, {"error": {"message": "Not Found"}}
    return 200, {"choices": [{"text": " I go on.", "finish_reason": "stop"}], "usage": {"completion_tokens": 4}}


def vllm(path: str, body: dict[str, Any]) -> Said:
    """vLLM: chat that goes on with the last message, structured outputs, log-probabilities."""
    if path == "/v1/models":
        return 200, {"data": [{"id": "Qwen/Qwen2.5-7B-Instruct", "owned_by": "vllm"}]}
    if path != "/v1/chat/completions":
        return 404, {"detail": "Not Found"}
    structured = body.get("structured_outputs") or {}
    if "choice" in structured:
        text = structured["choice"][1]
        tokens = [(text[:4], -0.1, {text[:4]: -0.1, "dance": -2.5}), (text[4:], -0.2, {text[4:]: -0.2, " x": -3.0})]
        content = [
            {"token": t, "logprob": p, "top_logprobs": [{"token": o, "logprob": q} for o, q in top.items()]}
            for t, p, top in tokens
        ]
        choice = {"message": {"role": "assistant", "content": text}, "logprobs": {"content": content}}
    elif "regex" in structured:
        choice = {"message": {"role": "assistant", "content": "left"}}
    else:
        choice = {"message": {"role": "assistant", "content": " I look for it."}}
    return 200, {
        "choices": [{**choice, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 5},
    }


def ollama(path: str, body: dict[str, Any]) -> Said:
    """Ollama: models by name, chat with a format, no log-probabilities; a model for embeddings stands first."""
    if path == "/v1/models":
        names = ["nomic-embed-text:latest", "qwen2.5:7b-instruct", "llama3.1:latest"]
        return 200, {"data": [{"id": name, "owned_by": "library"} for name in names]}
    if path != "/api/chat":
        return 404, "404 page not found"
    if "embed" in body["model"]:
        return 400, {"error": f'"{body["model"]}" does not support chat'}
    form = body.get("format")
    text = json.dumps({"choice": form["properties"]["choice"]["enum"][1]}) if form else " I look for it."
    return 200, {
        "message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop",
        "prompt_eval_count": 11, "eval_count": 5,
    }  # fmt: skip


def openai(path: str, body: dict[str, Any]) -> Said:
    """A server with OpenAI's chat, which refuses what it does not know."""
    if path == "/v1/models":
        return 200, {"data": [{"id": "gpt-x", "owned_by": "somebody"}]}
    if path != "/v1/chat/completions":
        return 404, {"error": {"message": "Not Found"}}
    known = {"model", "messages", "max_tokens", "temperature", "top_p", "seed", "stop", "response_format"}
    if more := {*body} - known:
        return 400, {"error": {"message": f"Unrecognized request arguments: {', '.join(sorted(more))}"}}
    form = body.get("response_format")
    options = form["json_schema"]["schema"]["properties"]["choice"]["enum"] if form else []
    text = json.dumps({"choice": options[1]}) if options else "I look for it."
    return 200, {
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"completion_tokens": 5},
    }
