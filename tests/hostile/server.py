"""Servers that a model's address may lead to. The first part of the path is the way in which it is hostile.

`python -m tests.hostile.server` prints its port and serves until its standard input ends.
"""

from __future__ import annotations

import http.server
import json
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.hostile.values import TERMINAL

MB = 2**20
DRIP = 0.2
NAN = float("nan")


def text(answer: Any, **more: Any) -> bytes:
    return json.dumps(
        {
            "choices": [{"text": answer, "finish_reason": "stop", "message": {"content": answer}}],
            "content": answer,
            **more,
        }
    ).encode()


def odds(*pairs: tuple[Any, Any]) -> bytes:
    top = [{"id": token, "token": "a", "logprob": odd, "bytes": [97]} for token, odd in pairs]
    told = [{"id": 1, "token": "a", "logprob": -1.0, "top_logprobs": top}]
    shown = {"content": told, "top_logprobs": [{str(token): odd for token, odd in pairs}]}
    return json.dumps(
        {
            "content": "x",
            "completion_probabilities": told,
            "choices": [{"text": "x", "message": {"content": "x"}, "logprobs": shown}],
        }
    ).encode()


PICTURES = text("😀" * MB)
LISTS = b'{"choices":[' + b"[]," * 8_000_000 + b"[]]}"


def echo(handler: Handler) -> bytes:
    return json.dumps({"error": "bad key", "you_sent": dict(handler.headers)}).encode()


# what a model's question is answered with: (status, body)
ANSWERS: dict[str, Callable[[Handler, dict[str, Any]], tuple[int, bytes]]] = {
    "page": lambda h, ask: (200, b"<html>welcome"),
    "empty": lambda h, ask: (200, b""),
    "no_utf8": lambda h, ask: (200, b'{"choices":[{"text":"\xff\xfe"}]}'),
    "deep": lambda h, ask: (200, b"[" * 200_000 + b"]" * 200_000),
    "list": lambda h, ask: (200, b"[1]"),
    "null": lambda h, ask: (200, b'{"choices":null}'),
    "no_choice": lambda h, ask: (200, b'{"choices":[]}'),
    "wrong_types": lambda h, ask: (200, b'{"choices":[{"text":{"a":1},"message":[]}],"usage":[1],"content":7}'),
    "usage": lambda h, ask: (200, text("done", usage={"prompt_tokens": "NaN", "completion_tokens": 1e308})),
    "long_number": lambda h, ask: (
        200,
        b'{"choices":[{"text":"done"}],"usage":{"completion_tokens":' + b"9" * 5000 + b"}}",
    ),
    "terminal": lambda h, ask: (200, text(TERMINAL)),
    "terminal_error": lambda h, ask: (500, TERMINAL.encode()),
    "echo_401": lambda h, ask: (401, echo(h)),
    "echo_200": lambda h, ask: (200, text("key is " + h.headers.get("Authorization", ""))),
    "busy": lambda h, ask: (503, b'{"error":"loading"}'),
    "teapot": lambda h, ask: (418, b""),
    "too_many": lambda h, ask: (429, b"{}"),
    "long_text": lambda h, ask: (200, text("think " * 200_000)),
    "one_megabyte": lambda h, ask: (200, text("\n - " * 250_000)),
    "spaces": lambda h, ask: (200, text("x" + "\n " * 10_000 + "y")),
    "megabytes": lambda h, ask: (200, PICTURES),
    "lists": lambda h, ask: (200, LISTS),
    "surrogate": lambda h, ask: (200, b'{"choices":[{"text":"\\ud800 done"}],"content":"\\ud800"}'),
    "nothing": lambda h, ask: (200, text("")),
    "nonsense": lambda h, ask: (200, text("zzz")),
    "control_tokens": lambda h, ask: (200, text("<|im_end|><|im_start|>system\n</s><｜end▁of▁sentence｜>")),
    "plan": lambda h, ask: (200, text("Expand:\nsequence:\n" + "- go on\n" * 20_000)),
    "yaml_plan": lambda h, ask: (200, text("root:\n  py: {class: 'os:system'}\n  tree: {file: ../../../x}\n")),
    "nan": lambda h, ask: (200, odds((1, NAN), (2, NAN))),
    "all_nan": lambda h, ask: (200, odds(*((i, NAN) for i in range(200)))),
    "infinite": lambda h, ask: (200, odds((1, float("inf")), (2, -float("inf")))),
    "positive": lambda h, ask: (200, odds(*((i, 5.0) for i in range(127)))),
    "text_odds": lambda h, ask: (200, odds(("x", "high"), (None, None))),
    "growing": lambda h, ask: (200, odds(*((10**9 + i, -1.0) for i in range(int(ask.get("n_probs") or 1))))),
    "no_odds": lambda h, ask: (200, b'{"completion_probabilities":[],"content":"x"}'),
}


def begun(handler: Handler, *headers: tuple[str, str]) -> None:
    handler.send_response(200)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()


def drip(handler: Handler) -> None:
    begun(handler, ("Content-Length", "100000"))
    while True:
        handler.sent(b" ", DRIP)


def slow_header(handler: Handler) -> None:
    for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 10**6:
        handler.sent(bytes([byte]), DRIP)


def many_headers(handler: Handler) -> None:
    handler.sent(b"HTTP/1.1 200 OK\r\n")
    for number in range(100_000):
        handler.sent(b"X-%d: %s\r\n" % (number, b"a" * 1000))


def long_header(handler: Handler) -> None:
    handler.sent(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        handler.sent(b"a" * 65536)


def go_on(handler: Handler) -> None:
    while True:
        handler.sent(b"HTTP/1.1 100 Continue\r\n\r\n", 0.001)


def chunks(handler: Handler) -> None:
    begun(handler, ("Transfer-Encoding", "chunked"))
    while True:
        handler.sent(b"10000\r\n" + b" " * 65536 + b"\r\n")


def slow_chunks(handler: Handler) -> None:
    begun(handler, ("Transfer-Encoding", "chunked"))
    while True:
        handler.sent(b"1\r\n \r\n", DRIP)


def big_body(handler: Handler) -> None:
    begun(handler, ("Content-Length", str(1 << 40)))
    while True:
        handler.sent(b" " * 65536)


def negative_length(handler: Handler) -> None:
    begun(handler, ("Content-Length", "-5"))
    handler.sent(b'{"choices":[{"text":"done"}]}')


def half(handler: Handler) -> None:
    begun(handler, ("Content-Length", "100"))
    handler.sent(b'{"choices"')


def dropped(handler: Handler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def silent(handler: Handler) -> None:
    while True:
        time.sleep(DRIP)
        if handler.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b"":
            return


def no_http(handler: Handler) -> None:
    handler.sent(b"220 mail.example ESMTP\r\n" + bytes(range(256)) * 40)


def redirect(handler: Handler) -> None:
    handler.send_response(302)
    handler.send_header("Location", f"http://127.0.0.1:{handler.server.server_address[1]}/nonsense/v1/completions")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


STREAMS: tuple[Callable[[Handler], None], ...] = (
    drip, slow_header, many_headers, long_header, go_on, chunks, slow_chunks, big_body, negative_length, half,
    dropped, silent, no_http, redirect,
)  # fmt: skip
BY_NAME = {each.__name__: each for each in STREAMS}
MODES = (*ANSWERS, *BY_NAME)
LLAMA = frozenset(
    {"nan", "all_nan", "infinite", "positive", "text_odds", "growing", "no_odds"}
)  # need what llama-server tells of tokens


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def sent(self, data: bytes, wait: float = 0.0) -> None:
        self.wfile.write(data)
        self.wfile.flush()
        time.sleep(wait)

    def told(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.sent(body)

    def do_GET(self) -> None:
        self.answered({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.answered(json.loads(body or b"{}"))

    def answered(self, ask: dict[str, Any]) -> None:
        _, mode, *rest = self.path.split("/")
        path = "/".join(rest)
        try:
            if path == "props":
                known = {"default_generation_settings": {"n_ctx": 4096}, "chat_template": ""}
                self.told(200 if mode in LLAMA else 404, json.dumps(known if mode in LLAMA else {}).encode())
            elif path == "tokenize":
                self.told(
                    200, json.dumps({"tokens": [{"id": ord(c), "piece": c} for c in ask.get("content", "")]}).encode()
                )
            elif path == "v1/models":
                self.told(200, b'{"data":[{"id":"m"}]}')
            elif mode in BY_NAME:
                BY_NAME[mode](self)
                self.close_connection = True
            else:
                self.told(*ANSWERS[mode](self, ask))
        except OSError:
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        pass


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
