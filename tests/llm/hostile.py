"""Model servers that mean harm, by name. `Hostile()` serves all modes at once: `server.address("silent")`.

A mode is a function of the request and of the way out; what it does not answer itself is answered soundly, so that
every request kind of an endpoint comes as far as the harm. Payloads are sent in pieces: this side needs little memory.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

KEY = "sk-very-secret-Key+0123456789/="
PAUSE = 0.02  # seconds between two drops of what is slow


class Gone(Exception):
    """The other side has had enough."""


class Ask(NamedTuple):
    path: str
    body: Any
    head: dict[str, str]


class Out:
    """The way back to whoever asked."""

    def __init__(self, sock: socket.socket, over: threading.Event) -> None:
        self.sock, self.over = sock, over

    def raw(self, data: bytes) -> None:
        try:
            self.sock.sendall(data)
        except OSError:
            raise Gone from None

    def head(self, length: object, status: str = "200 OK", more: str = "") -> None:
        said = "" if length is None else f"Content-Length: {length}\r\n"
        self.raw(f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{said}{more}\r\n".encode())

    def json(self, value: Any, status: str = "200 OK") -> None:
        self.bytes(json.dumps(value).encode(), status)

    def bytes(self, data: bytes, status: str = "200 OK") -> None:
        self.head(len(data), status)
        self.raw(data)

    def endless(self, piece: bytes, slow: bool = False) -> None:
        while not self.over.wait(PAUSE if slow else 0):
            self.raw(piece)
        raise Gone

    def many(self, before: bytes, piece: bytes, count: int, after: bytes) -> None:
        """One long body, never whole in memory."""
        self.head(len(before) + len(piece) * count + len(after))
        self.raw(before)
        block = max(1, 65536 // len(piece))
        for start in range(0, count, block):
            self.raw(piece * min(block, count - start))
        self.raw(after)


Mode = Callable[[Ask, Out], object]
MODES: dict[str, tuple[bool, Mode]] = {}  # name → does it pretend to be a llama-server; what it does


def mode(llama: bool = False, at: str = "") -> Callable[[Mode], Mode]:
    """`at`: the end of the paths that it is for; all others are answered soundly."""

    def keep(work: Mode) -> Mode:
        def only(ask: Ask, out: Out) -> object:
            return work(ask, out) if ask.path.endswith(at) else sound(llama, ask, out)

        MODES[work.__name__] = (llama, only)
        return work

    return keep


def sound(llama: bool, ask: Ask, out: Out) -> None:
    """What an honest server would say."""
    content = ask.body.get("content", "") if isinstance(ask.body, dict) else ""
    text = [c for part in content for c in (part if isinstance(part, str) else [part])]
    if ask.path == "/props":
        out.json({"default_generation_settings": {}} if llama else {}, "200 OK" if llama else "404 Not Found")
    elif ask.path == "/tokenize":
        out.json({"tokens": [_token(c) for c in text]}, "200 OK" if llama else "404 Not Found")
    elif ask.path == "/v1/models":
        out.json({"data": [{"id": "m"}]})
    elif ask.path == "/v1/embeddings":
        out.json({"data": [{"index": i, "embedding": [1.0, 2.0]} for i, _ in enumerate(ask.body["input"])]})
    elif ask.path == "/completion":
        top = [{"id": i, "logprob": -2.0} for i in range(127)]
        row = {
            "id": 0,
            "logprob": -2.0,
            "top_logprobs": top,
            "top_probs": [{"id": i, "prob": 0.001} for i in range(127)],
        }
        one = {"content": "left", "completion_probabilities": [row], "tokens_predicted": 1}
        prompts = ask.body.get("prompt")
        out.json([one] * len(prompts) if prompts and isinstance(prompts[0], list) else one)
    else:
        out.json({"choices": [{"text": "left"}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}})


def _token(said: str | int) -> dict[str, Any]:
    return {"id": ord(said), "piece": said} if isinstance(said, str) else {"id": said, "piece": "?"}


# What moves bytes -------------------------------------------------------------------------------


@mode()
def silent(ask: Ask, out: Out) -> None:
    out.over.wait()


@mode()
def hangs_up(ask: Ask, out: Out) -> None:
    raise Gone


@mode()
def resets(ask: Ask, out: Out) -> None:
    out.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raise Gone


@mode()
def drips_head(ask: Ask, out: Out) -> None:
    out.endless(b"H", slow=True)


@mode()
def drips_headers(ask: Ask, out: Out) -> None:
    out.raw(b"HTTP/1.1 200 OK\r\nX: ")
    out.endless(b"a", slow=True)


@mode()
def drips_body(ask: Ask, out: Out) -> None:
    out.head(10**6)
    out.endless(b" ", slow=True)


@mode()
def endless_continue(ask: Ask, out: Out) -> None:
    out.endless(b"HTTP/1.1 100 Continue\r\n\r\n")


@mode()
def slow_continue(ask: Ask, out: Out) -> None:
    out.endless(b"HTTP/1.1 100 Continue\r\n\r\n", slow=True)


@mode()
def endless_headers(ask: Ask, out: Out) -> None:
    out.raw(b"HTTP/1.1 200 OK\r\n")
    out.endless(b"X-A: " + b"a" * 1000 + b"\r\n")


@mode()
def endless_header_line(ask: Ask, out: Out) -> None:
    out.raw(b"HTTP/1.1 200 OK\r\nX-A: ")
    out.endless(b"a" * 4096)


@mode()
def endless_status(ask: Ask, out: Out) -> None:
    out.raw(b"HTTP/1.1 200 ")
    out.endless(b"OK" * 2048)


@mode()
def endless_chunks(ask: Ask, out: Out) -> None:
    out.head(None, more="Transfer-Encoding: chunked\r\n")
    out.endless(b"10000\r\n" + b" " * 65536 + b"\r\n")


@mode()
def tiny_chunks(ask: Ask, out: Out) -> None:
    out.head(None, more="Transfer-Encoding: chunked\r\n")
    out.endless(b"2\r\n[,\r\n" * 4096)


@mode()
def endless_trailers(ask: Ask, out: Out) -> None:
    out.head(None, more="Transfer-Encoding: chunked\r\n")
    out.raw(b"2\r\n{}\r\n0\r\n")
    out.endless(b"X-T: t\r\n")


@mode()
def bad_chunks(ask: Ask, out: Out) -> None:
    out.head(None, more="Transfer-Encoding: chunked\r\n")
    out.raw(b"zz\r\n{}\r\n")
    raise Gone


@mode()
def negative_length(ask: Ask, out: Out) -> None:
    out.head(-5)
    raise Gone


@mode()
def enormous_length(ask: Ask, out: Out) -> None:
    out.head(10**15)
    raise Gone


@mode()
def length_in_words(ask: Ask, out: Out) -> None:
    out.head("many")
    out.raw(b"{}")
    raise Gone


@mode()
def cut_off(ask: Ask, out: Out) -> None:
    out.head(100)
    out.raw(b'{"choices"')
    raise Gone


@mode()
def no_length(ask: Ask, out: Out) -> None:
    out.head(None)
    out.endless(b" " * 65536)


@mode()
def not_http(ask: Ask, out: Out) -> None:
    out.raw(b"SSH-2.0-OpenSSH_9.6 " + ask.head.get("authorization", "").encode() + b"\r\n")
    raise Gone


@mode()
def odd_status(ask: Ask, out: Out) -> None:
    out.raw(b"HTTP/1.1 99999999 \x1b[2J\r\n\r\n")
    raise Gone


@mode()
def redirects(ask: Ask, out: Out) -> None:
    out.head(0, "302 Found", "Location: http://127.0.0.1:1/stolen\r\n")


# What is said -----------------------------------------------------------------------------------


@mode()
def echoes_in_401(ask: Ask, out: Out) -> None:
    import base64
    from urllib.parse import quote

    held = ask.head.get("authorization", "")
    key = held.removeprefix("Bearer ")
    guises = [held, quote(key, safe=""), base64.b64encode(key.encode()).decode(), key.upper(), key.encode().hex()]
    out.json({"you sent": guises, "head": ask.head}, "401 Unauthorized")


@mode(at="completions")
def echoes_in_answer(ask: Ask, out: Out) -> None:
    out.json({"choices": [{"text": "the key is " + ask.head.get("authorization", "")}]})


@mode()
def terminal_in_500(ask: Ask, out: Out) -> None:
    out.bytes(b"\x1b]0;title\x07\x1b[2J\x9b31m</script>", "500 Internal Server Error")


@mode()
def endless_500(ask: Ask, out: Out) -> None:
    out.head(None, "500 Internal Server Error")
    out.endless(b"sorry " * 1000)


def says(name: str, data: bytes, llama: bool = False) -> None:
    def work(ask: Ask, out: Out) -> None:
        out.bytes(data)

    work.__name__ = name
    mode(llama, at="completion" if llama else "completions")(work)


says("nothing", b"")
says("no_json", b"<html>hi")
says("no_utf8", b'{"choices": [{"text": "\xff\xfe"}]}')
says("utf16", '{"choices": [{"text": "left"}]}'.encode("utf-16"))
says("deep_lists", b"[" * 200_000 + b"]" * 200_000)
says("deep_objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000)
says("a_list", b"[1]")
says("null_choices", b'{"choices": null}')
says("no_choices", b'{"choices": []}')
says("choices_of_lists", b'{"choices": [[["text"]]]}')
says("text_of_objects", b'{"choices": [{"text": {"a": 1}}], "usage": [1]}')
says("long_number", b'{"choices": [{"text": "left"}], "usage": {"completion_tokens": ' + b"9" * 5000 + b"}}")
says("lone_surrogate", b'{"choices": [{"text": "left \\ud800 \\u0000"}]}')
says("no_content", b"{}", llama=True)
says("probabilities_of_nothing", b'{"completion_probabilities": [{"top_logprobs": []}], "content": "x"}', llama=True)


@mode(at="completions")
def many_lists(ask: Ask, out: Out) -> None:
    out.many(b'{"choices":[[]', b",[]", 5_000_000, b"]}")


@mode(at="completions")
def many_objects(ask: Ask, out: Out) -> None:
    out.many(b'{"choices":[{}', b',{"":{}}', 1_900_000, b"]}")


@mode(at="completions")
def many_texts(ask: Ask, out: Out) -> None:
    out.many(b'{"choices":[{"text":"left"}', b',"abcdefghij"', 990_000, b"]}")


@mode(at="completions")
def one_long_text(ask: Ask, out: Out) -> None:
    out.many('{"choices":[{"text":"\N{GRINNING FACE}'.encode(), b"abcdefgh", 2_000_000, b'"}]}')


@mode(at="completions")
def sixty_megabytes(ask: Ask, out: Out) -> None:
    out.many(b'{"choices":[[]', b",[]", 20_000_000, b"]}")


@mode(at="completions")
def long_thought(ask: Ask, out: Out) -> None:
    out.json({"choices": [{"text": "left " * 200_000}], "usage": {"completion_tokens": 0}})


@mode(llama=True, at="/completion")
def growing(ask: Ask, out: Out) -> None:
    """Never what was asked for, and always as much as was asked for."""
    asked = int(ask.body.get("n_probs", 1))
    piece = b',{"id":1000000000,"token":"abc","bytes":[97,98,99],"logprob":-1.5}'
    out.many(b'{"content":"x","completion_probabilities":[{"top_logprobs":[' + piece[1:], piece, asked, b"]}]}")


@mode(llama=True, at="/tokenize")
def tokens_none(ask: Ask, out: Out) -> None:
    out.json({"tokens": [] if len(ask.body["content"]) > 1 else [{"id": 1, "piece": "a"}]})


@mode(llama=True, at="/tokenize")
def tokens_same(ask: Ask, out: Out) -> None:
    out.json({"tokens": [{"id": 1, "piece": "a"}]})


@mode(llama=True, at="/tokenize")
def tokens_many(ask: Ask, out: Out) -> None:
    out.many(b'{"tokens":[{"id":1,"piece":"a"}', b',{"id":1,"piece":"a"}', 200_000, b"]}")


@mode(llama=True, at="/tokenize")
def tokens_long(ask: Ask, out: Out) -> None:
    out.json({"tokens": [{"id": ord(c), "piece": c * 400_000} for c in ask.body["content"]]})


@mode(llama=True, at="/tokenize")
def pieces_of_no_bytes(ask: Ask, out: Out) -> None:
    out.json({"tokens": [{"id": 1, "piece": [300, -1, "x"]}]})


@mode(at="/v1/models")
def odd_models(ask: Ask, out: Out) -> None:
    out.json({"data": [{"id": "\x1b[31m" + "m" * 100_000}]})


@mode(at="embeddings")
def unequal_vectors(ask: Ask, out: Out) -> None:
    out.json({"data": [{"embedding": [1.0] * (i + 1)} for i, _ in enumerate(ask.body["input"])]})


@mode(at="embeddings")
def enormous_vectors(ask: Ask, out: Out) -> None:
    out.many(b'{"data":[{"embedding":[1', b",1", 900_000, b"]}]}")


# Every number that is read, and everything that is none -------------------------------------------

NONSENSE = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400, "-1", "5.5", '"x"', '"NaN"', "[]", "[[1]]",
    "{}", "true", "null",
)  # fmt: skip


def _numbers() -> Iterator[tuple[str, bool, str, str]]:
    """Name, flavour, path, and the answer with a hole."""
    row = '{"completion_probabilities": [{"top_logprobs": [{"id": %s, "logprob": %s}]}], "content": "left"}'
    yield "logprob", True, "/completion", row % ("1", "HOLE")
    yield "id", True, "/completion", row % ("HOLE", "-1")
    yield "token", True, "/tokenize", '{"tokens": [{"id": HOLE, "piece": "a"}]}'
    yield (
        "predicted",
        True,
        "/completion",
        '{"content": "left", "tokens_predicted": HOLE, "timings": {"predicted_n": HOLE}}',
    )
    yield "timings", True, "/completion", '{"content": "left", "timings": {"cache_n": HOLE, "prompt_n": HOLE}}'
    yield "all_timings", True, "/completion", '{"content": "left", "timings": HOLE}'
    usage = '{"choices": [{"text": "left"}], "usage": {"prompt_tokens": HOLE, "completion_tokens": HOLE}}'
    yield "usage", False, "/v1/completions", usage
    yield "all_usage", False, "/v1/completions", '{"choices": [{"text": "left"}], "usage": HOLE}'
    yield "vector", False, "/v1/embeddings", '{"data": [{"embedding": [1, HOLE], "index": HOLE}]}'


for _name, _llama, _path, _answer in _numbers():
    for _number, _word in enumerate(NONSENSE):

        def _say(ask: Ask, out: Out, data: bytes = _answer.replace("HOLE", _word).encode()) -> None:
            out.bytes(data)

        _say.__name__ = f"{_name}_{_number}"
        mode(_llama, at=_path)(_say)

NUMBERS = tuple(name for name in MODES if name.rpartition("_")[2].isdigit())
NAMED = tuple(name for name in MODES if name not in NUMBERS)
HEAVY = frozenset(
    {"many_lists", "many_objects", "many_texts", "one_long_text", "sixty_megabytes", "tokens_long", "enormous_vectors"}
)


class Hostile:
    """All modes behind one port of the loopback. Every connection has a thread; `close` ends them all."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.heads: list[dict[str, str]] = []  # of all that came, keys included
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, name="hostile", daemon=True)
        self._thread.start()

    def address(self, mode: str) -> str:
        return f"http://127.0.0.1:{self.port}/{mode}"

    def close(self) -> None:
        self.over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in list(self._open):
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(60)

    def __enter__(self) -> Hostile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while not self.over.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._open.add(sock)
            threading.Thread(target=self._serve, args=(sock,), name="hostile-one", daemon=True).start()

    def _serve(self, sock: socket.socket) -> None:
        try:
            with suppress(Gone, OSError), sock.makefile("rb") as lines:
                while (ask := _read(lines)) is not None:
                    self.heads.append(ask.head)
                    _, name, path = ask.path.split("/", 2)
                    MODES[name][1](ask._replace(path=f"/{path}"), Out(sock, self.over))
        finally:
            self._open.discard(sock)
            sock.close()


def _read(lines: Any) -> Ask | None:
    first = lines.readline()
    if not first:
        return None
    head: dict[str, str] = {}
    while (line := lines.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        head[name.lower()] = value.strip()
    length = int(head.get("content-length", 0))
    body = lines.read(length)
    if len(body) < length:
        return None
    return Ask(first.split()[1].decode(), json.loads(body) if body else None, head)
