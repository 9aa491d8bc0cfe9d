"""GGUF files whose header lies."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from functools import cache

from tests.hostile.case import Case, File
from tests.hostile.values import TERMINAL

NAME = "model.gguf"
INT, TEXT, LIST, LONG, SHORT, BOOL = 4, 8, 9, 10, 6, 7
HUGE = (0, 1, 5, 2**31 - 1, 2**32 - 1)
FLOATS = (0.0, -1.0, float("nan"), float("inf"), -float("inf"), 1e38)


def string(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + value


def number(key: str, value: int) -> bytes:
    return pair(key, INT, struct.pack("<I", value))


def file(pairs: list[bytes], tensors: bytes = b"", *, count: int | None = None, of: int = 0, version: int = 3) -> bytes:
    return (
        b"GGUF" + struct.pack("<IQQ", version, of, len(pairs) if count is None else count) + b"".join(pairs) + tensors
    )


def pairs(dice: random.Random) -> list[bytes]:
    """What every model has, with one of them otherwise."""
    names = (
        "context_length",
        "embedding_length",
        "block_count",
        "attention.head_count",
        "attention.head_count_kv",
        "vocab_size",
        "attention.key_length",
    )
    kept = {"general.architecture": pair("general.architecture", TEXT, string("llama"))}
    kept |= {
        name: number(f"llama.{name}", value) for name, value in zip(names, (512, 64, 2, 4, 4, 100, 16), strict=True)
    }
    for _ in range(dice.randint(1, 3)):
        name = dice.choice(list(kept))
        key = name if name.startswith("general") else f"llama.{name}"
        kept[name] = dice.choice((
            lambda: number(key, dice.choice(HUGE)),
            lambda: pair(key, SHORT, struct.pack("<f", dice.choice(FLOATS))),
            lambda: pair(key, 12, struct.pack("<d", dice.choice(FLOATS))),
            lambda: pair(key, 5, struct.pack("<i", -5)),
            lambda: pair(key, LONG, struct.pack("<Q", dice.choice((2**63, 2**64 - 1)))),
            lambda: pair(key, TEXT, string(dice.choice(("abc", TERMINAL, "a\0b", b"\xff\xfe", "", "x" * 1_000_000)))),
            lambda: pair(key, BOOL, b"\x05"),
            lambda: pair(key, LIST, struct.pack("<IQ", dice.choice((INT, SHORT, TEXT, LIST, 99)), dice.choice((0, 1, 10**7, 2**63)))),
            lambda: pair(key, LIST, struct.pack("<IQ2f", SHORT, 2, *dice.choices(FLOATS, k=2))),
            lambda: pair(key, dice.choice((13, 99, 2**32 - 1)), b""),
            lambda: kept[name] * dice.choice((2, 20_000)),
            lambda: b"",
        ))()  # fmt: skip
    return list(kept.values())


def tensors(dice: random.Random) -> tuple[bytes, int]:
    def one(name: str, sizes: list[int], kind: int, offset: int) -> bytes:
        return (
            string(name)
            + struct.pack("<I", len(sizes))
            + struct.pack(f"<{len(sizes)}Q", *sizes)
            + struct.pack("<IQ", kind, offset)
        )

    return dice.choice(
        (
            (b"", 0), (b"", 10**7), (b"", 2**63), (one("a", [2**63] * 4, 0, 0), 1), (one("a", [1], 0, 2**64 - 1), 1), (one("a", [0], 0, 0), 1),
            (one("a", [1], 9999, 0), 1), (string("a") + struct.pack("<I", 2**32 - 1) + b"\1" * 2000, 1), (one(TERMINAL, [1] * 4, 0, 0), 1),
        )
    )  # fmt: skip


@cache
def heavy() -> tuple[bytes, ...]:
    """A few that take long to make."""
    words = struct.pack("<IQ", TEXT, 5_000_000) + bytes(8 * 5_000_000)
    return (
        file([pair("tokenizer.ggml.tokens", LIST, words)]),
        file([number(f"k{i}", 1) for i in range(500_000)]),
        file([string("k" * 60_000_000) + struct.pack("<I", INT) + bytes(4)]),
        file([pair("x", LIST, struct.pack("<IQ", LIST, 1) * 5000)]),
    )


def data(dice: random.Random) -> bytes:
    shape, of = tensors(dice)
    made = file(
        pairs(dice),
        shape,
        of=of,
        count=dice.choice((None,) * 6 + (0, 2, 10**7, 2**64 - 1)),
        version=dice.choice((3,) * 8 + (0, 1, 2, 99)),
    )
    if dice.random() < 0.3:
        bent = bytearray(made)
        for _ in range(dice.choice((1, 4, 40))):
            bent[dice.randrange(min(len(bent), 4000))] ^= 1 << dice.randrange(8)
        made = bytes(bent)
    return made[: dice.randrange(len(made))] if dice.random() < 0.1 else made


THINGS = (
    File(NAME, b"/dev/zero", "link"),
    File(NAME, kind="pipe"),
    File(NAME, kind="folder"),
    File(NAME),
    File(NAME, NAME.encode(), "link"),
)
DOCTOR = 12  # every so manieth is loaded too, which takes a process of its own


def cases(seed: int, count: int) -> Iterator[Case]:
    for number in range(count):
        dice = random.Random(f"headers/{seed}/{number}")
        if number < len(THINGS):
            made = THINGS[number]
        elif 0 <= number - 100 < 4:
            made = File(NAME, heavy()[number - 100])
        else:
            made = File(NAME, data(dice))
        yield Case(f"headers/{seed}/{number}/read", (NAME,), (made,), call="tests.hostile.calls:header")
        if number % DOCTOR == 1:
            yield Case(f"headers/{seed}/{number}/doctor", ("doctor", NAME), (made,), executes=True)
