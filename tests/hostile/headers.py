"""GGUF files whose header lies."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from functools import cache

from tests.hostile.case import Case, File
from tests.hostile.values import TERMINAL

NAME = "model.gguf"
INT, SHORT, BOOL, TEXT, LIST = 4, 6, 7, 8, 9  # kinds of a value, as the format numbers them
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


NAMES = {
    "context_length": 512, "embedding_length": 64, "block_count": 2, "attention.head_count": 4,
    "attention.head_count_kv": 4,
    "vocab_size": 100, "attention.key_length": 16,
}  # fmt: skip
TEXTS = ("abc", TERMINAL, "a\0b", b"\xff\xfe", "", "x" * 1_000_000)


def pairs(dice: random.Random) -> list[bytes]:
    """What every model has, with one to three of them otherwise."""
    kept = {"general.architecture": pair("general.architecture", TEXT, string("llama"))}
    kept |= {f"llama.{name}": number(f"llama.{name}", value) for name, value in NAMES.items()}
    for _ in range(dice.randint(1, 3)):
        key = dice.choice(list(kept))
        kept[key] = otherwise(key, kept[key], dice)
    return list(kept.values())


def otherwise(key: str, was: bytes, dice: random.Random) -> bytes:
    match dice.randrange(11):
        case 0 | 1:
            return number(key, dice.choice(HUGE))
        case 2:
            return pair(key, SHORT, struct.pack("<f", dice.choice(FLOATS)))
        case 3:
            return pair(key, 12, struct.pack("<d", dice.choice(FLOATS)))
        case 4:
            return pair(key, 10, struct.pack("<Q", dice.choice((2**63, 2**64 - 1))))
        case 5:
            return pair(key, TEXT, string(dice.choice(TEXTS)))
        case 6:
            kind, count = dice.choice((INT, SHORT, TEXT, LIST, 99)), dice.choice((0, 1, 10**7, 2**63))
            return pair(key, LIST, struct.pack("<IQ", kind, count))
        case 7:
            return pair(key, LIST, struct.pack("<IQ2f", SHORT, 2, *dice.choices(FLOATS, k=2)))
        case 8:
            return pair(key, dice.choice((13, 99, 2**32 - 1)), b"")
        case 9:
            return was * dice.choice((0, 2, 20_000))
        case _:
            return pair(key, dice.choice((5, BOOL)), struct.pack("<i", -5))


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
            (b"", 0), (b"", 10**7), (b"", 2**63), (one("a", [2**63] * 4, 0, 0), 1), (one("a", [1], 0, 2**64 - 1),
            1), (one("a", [0], 0, 0), 1),
            (one("a", [1], 9999, 0), 1), (string("a") + struct.pack("<I", 2**32 - 1) + b"\1" * 2000, 1),
            (one(TERMINAL, [1] * 4, 0, 0), 1),
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
