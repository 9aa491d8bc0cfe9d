"""Model files that somebody made to do harm, or that a disk spoilt: `headers(count, seed)` for a sweep of any length.

Each is a name and the bytes of a file; the first ones are made by hand, the others are a sound header with damage.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Sequence
from itertools import islice

U8, I8, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = 0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12
_CODES = {U8: "B", I8: "b", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}
NUMBERS = (
    "context_length", "block_count", "embedding_length", "attention.head_count", "attention.head_count_kv",
    "attention.key_length", "attention.value_length", "vocab_size",
)  # fmt: skip
_HUGE = (2**31, 2**32, 2**40, 2**62, 2**63, 2**64 - 1)


def text(value: str | bytes) -> bytes:
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def number(key: str, kind: int, value: float) -> bytes:
    return pair(key, kind, struct.pack("<" + _CODES[kind], value))


def texts(key: str, items: list[str] | list[bytes]) -> bytes:
    return pair(key, ARRAY, struct.pack("<IQ", STRING, len(items)) + b"".join(map(text, items)))


def numbers(key: str, kind: int, items: list[float]) -> bytes:
    return pair(key, ARRAY, struct.pack(f"<IQ{len(items)}{_CODES[kind]}", kind, len(items), *items))


def tensor(name: str, shape: list[int], kind: int = 0, offset: int = 0) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def gguf(
    pairs: Sequence[bytes], tensors: Sequence[bytes] = (), counts: tuple[int, int] | None = None, version: int = 3
) -> bytes:
    many = (len(tensors), len(pairs)) if counts is None else counts
    return b"GGUF" + struct.pack("<IQQ", version, *many) + b"".join(pairs) + b"".join(tensors)


_FIGURES = dict(zip(NUMBERS, (512, 2, 64, 4, 2, 16, 16, 8), strict=True))
_TOKENS = ["<unk>", "<s>", "</s>", "a", "b", "<|im_start|>", "<x>", " "]
_TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
SOUND = {
    "general.architecture": pair("general.architecture", STRING, text("llama")),
    "general.name": pair("general.name", STRING, text("a model")),
    **{f"llama.{key}": number(f"llama.{key}", U32, value) for key, value in _FIGURES.items()},
    "tokenizer.ggml.tokens": texts("tokenizer.ggml.tokens", _TOKENS),
    "tokenizer.ggml.token_type": numbers("tokenizer.ggml.token_type", I32, [2, 3, 3, 1, 1, 3, 4, 1]),
    "tokenizer.chat_template": pair("tokenizer.chat_template", STRING, text(_TEMPLATE)),
}  # fmt: skip
TENSORS = [tensor("token_embd.weight", [64, 8]), tensor("output.weight", [64, 8], 0, 2048)]


def sound(**other: bytes) -> bytes:
    """A header with nothing wrong in it, but for what is named (`__` is a dot)."""
    pairs = {**SOUND, **{key.replace("__", "."): value for key, value in other.items()}}
    return gguf(list(pairs.values()), TENSORS) + bytes(4096 + 64)


def headers(count: int = 500, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """The same count and seed give the same files."""
    yield from islice(_all(seed), count)


def _all(seed: int) -> Iterator[tuple[str, bytes]]:
    yield from _counts()
    yield from _fields()
    yield from _lists()
    yield from _tensors()
    whole = sound()
    end = len(whole) - 4096
    yield from ((f"cut at {at}", whole[:at]) for at in range(0, end, 17))
    rng = random.Random(seed)
    while True:
        yield f"damaged {rng.random()}", _damaged(whole, end, rng)


def _counts() -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "magic", b"GGUF"
    yield "other magic", b"ggjt" + bytes(100)
    yield "big-endian", b"GGUF" + struct.pack(">I", 3) + bytes(100)
    for version in (0, 1, 99):
        yield f"version {version}", gguf([], version=version)
    for huge in (10_000, 10_000_000, *_HUGE):
        yield f"{huge} pairs", gguf(list(SOUND.values()), counts=(0, huge))
        yield f"{huge} tensors", gguf(list(SOUND.values()), counts=(huge, len(SOUND)))
        yield f"a key of {huge}", gguf([struct.pack("<Q", huge) + b"x" * 100], counts=(0, 1))
        yield f"a text of {huge}", gguf([text("a") + struct.pack("<IQ", STRING, huge) + b"x" * 100])
        yield f"a list of {huge}", gguf([text("a") + struct.pack("<IIQ", ARRAY, U8, huge) + b"x" * 100])
        yield (
            f"a vocabulary of {huge}",
            sound(tokenizer__ggml__tokens=text("tokenizer.ggml.tokens") + struct.pack("<IIQ", ARRAY, STRING, huge)),
        )
    yield "the same key 5,000 times", gguf([SOUND["general.architecture"]] * 5000)
    yield "the same key twice", sound(again=SOUND["llama.context_length"])
    yield "50,000 keys", gguf([number(f"k{n}", U32, n) for n in range(50_000)])
    yield "a key of 5 MB", gguf([number("k" * 5_000_000, U32, 1)])
    yield "a text of 5 MB", sound(general__license=pair("general.license", STRING, text("x" * 5_000_000)))
    yield (
        "a template of 5 MB",
        sound(tokenizer__chat_template=pair("tokenizer.chat_template", STRING, text("x" * 5_000_000))),
    )


def _fields() -> Iterator[tuple[str, bytes]]:
    inf, nan = float("inf"), float("nan")
    values = [
        (F32, inf), (F32, nan), (F64, -inf), (F64, 1e300), (I32, -5), (I64, -(2**63)), (U64, 2**63),
        (U64, 2**64 - 1), (U32, 2**32 - 1), (U32, 0), (F32, 512.5), (BOOL, True), (I8, -1),
    ]  # fmt: skip
    for key in NUMBERS:
        name = f"llama.{key}"
        for kind, value in values:
            yield f"{key} {value} ({kind})", sound(**{name.replace(".", "__"): number(name, kind, value)})
        for what, made in (
            ("a text", pair(name, STRING, text("abc"))),
            ("texts", texts(name, ["a", "b"])),
            ("empty", numbers(name, U32, [])),
            ("not numbers", numbers(name, F32, [nan, inf])),
            ("negative", numbers(name, I32, [-1, 4])),
            ("one a layer", numbers(name, U32, [4, 2] * 40)),
        ):
            yield f"{key}: {what}", sound(**{name.replace(".", "__"): made})
    names = (b"\x1b]0;pwn\x07\x1b[2J", b"a\0b", b"\xff\xfe", b"", b"x" * 10_000, "٣".encode())
    for given in names:
        for key in ("general.architecture", "general.name", "general.license"):
            yield f"{key} {given[:12]!r}", sound(**{key.replace(".", "__"): pair(key, STRING, text(given))})
    for key in (
        "general.architecture",
        "tokenizer.chat_template",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.token_type",
    ):
        slot = key.replace(".", "__")
        yield f"{key}: a number", sound(**{slot: number(key, F32, nan)})
        yield f"{key}: a text", sound(**{slot: pair(key, STRING, text("x"))})
        yield f"{key}: numbers", sound(**{slot: numbers(key, U32, [1, 2, 3])})
        yield f"{key}: texts", sound(**{slot: texts(key, ["x"])})
        yield f"{key}: a kind that is not there", sound(**{slot: pair(key, 99, b"")})


def _lists() -> Iterator[tuple[str, bytes]]:
    deep = struct.pack("<IQ", ARRAY, 1) * 1000
    yield "lists in lists", gguf([pair("x", ARRAY, deep)])
    yield "a list of nothing known", gguf([pair("x", ARRAY, struct.pack("<IQ", 77, 5))])
    yield "500,000 empty words", sound(tokenizer__ggml__tokens=texts("tokenizer.ggml.tokens", [b""] * 500_000))
    yield (
        "40,000 control tokens",
        sound(
            tokenizer__ggml__tokens=texts("tokenizer.ggml.tokens", [f"<{n}>" for n in range(40_000)]),
            tokenizer__ggml__token_type=numbers("tokenizer.ggml.token_type", I32, [3] * 40_000),
        ),
    )
    yield (
        "40,000 marks without kinds",
        sound(tokenizer__ggml__tokens=texts("tokenizer.ggml.tokens", [f"<a{n}>" for n in range(40_000)])),
    )
    yield (
        "a control token of 1 MB",
        sound(
            tokenizer__ggml__tokens=texts("tokenizer.ggml.tokens", ["x" * 1_000_000]),
            tokenizer__ggml__token_type=numbers("tokenizer.ggml.token_type", I32, [3]),
        ),
    )
    yield (
        "more kinds than tokens",
        sound(tokenizer__ggml__token_type=numbers("tokenizer.ggml.token_type", I32, [3, -1, 2**31 - 1] * 1000)),
    )


def _tensors() -> Iterator[tuple[str, bytes]]:
    pairs = list(SOUND.values())
    for what, made in (
        ("huge", tensor("a", [2**63] * 4)),
        ("eight dimensions", tensor("a", [1] * 8)),
        ("endless dimensions", text("a") + struct.pack("<I", 2**32 - 1) + b"\1" * 64),
        ("far away", tensor("a", [1], 0, 2**64 - 1)),
        ("empty", tensor("a", [0])),
        ("no dimensions", tensor("a", [])),
        ("of an unknown kind", tensor("a", [1], 9999)),
        ("with an endless name", struct.pack("<Q", 2**40) + b"x" * 100),
    ):
        yield f"a tensor: {what}", gguf(pairs, [made]) + bytes(1000)
    yield "20,000 tensors", gguf(pairs, [tensor(f"t{n}", [1]) for n in range(20_000)]) + bytes(1000)


def _damaged(whole: bytes, end: int, rng: random.Random) -> bytes:
    data = bytearray(whole)
    for _ in range(rng.choice([1, 1, 4, 40])):
        at = rng.randrange(4, end)
        blow = rng.randrange(5)
        if blow == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif blow == 1:
            data[at] = rng.randrange(256)
        elif blow == 2:
            data[at : at + 8] = struct.pack("<Q", rng.choice([0, 1, 255, *_HUGE, rng.randrange(2**16)]))
        elif blow == 3:
            del data[at : at + rng.randrange(1, 9)]
        else:
            data[at:at] = rng.randbytes(rng.randrange(1, 9))
    return bytes(data)
