"""Documents that nobody would write on purpose: real ones, bent at random. The same seed gives the same document."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

SEEDS: tuple[str, ...] = (
    """\
version: 1
tree: tidy_up
about: Bring the cups to the sink, but never ignore the battery.
inputs:
  room: {type: string, default: kitchen}
  low: {type: number, default: 0.2}
outputs:
  cups: {type: integer}
blackboard: {battery: number}
root:
  reactive_fallback:
    - sequence:
        - check: battery < low
        - log: "going to the dock from {room}"
    - retry:
        times: 3
        child:
          sequence:
            name: fetch
            children:
              - log: {text: "every cup of {room}", level: info}
              - set: {cups: "{cups + 1}"}
              - wait: {seconds: 0.5, until: cups >= 3}
""",
    """\
version: 1
tree: patrol
inputs: {rooms: {type: list}, speed: {type: number, default: 1.5}}
root:
  sequence_with_memory:
    - for_each:
        in: rooms
        as: room
        child:
          timeout:
            seconds: 30
            child:
              switch:
                on: room
                cases:
                  kitchen: {log: cook}
                  "2": {log: two}
                default: {fail: {why: "no {room}"}}
    - parallel:
        success: 2
        order: in_turn
        children: [succeed: {}, invert: {fail: {}}, {check: "speed > 1 and not (speed > 9)"}]
""",
    """\
# anchors, quotes and long texts
version: 1
tree: text
root:
  sequence:
    - log: &hello "hello \\"you\\" \\x07"
    - log: *hello
    - if:
        condition: true
        then: {log: 'it''s'}
        else:
          log: |
            two
            lines
    - log: >-
        folded
        text
    - while: {condition: 1 < 0x10, child: {wait: 1e-1}}
    - try: {do: {fail: ~}, catch: {log: "{error['path']}"}}
""",
)

# divided by ¦, which is no sign of YAML
_SIGNS = (
    "{¦}¦[¦]¦:¦,¦-¦?¦&¦*¦!¦|¦>¦'¦\"¦#¦%¦@¦`¦\t¦\n¦\r¦ ¦\\¦/¦<¦=¦+¦.¦~¦$¦(¦)¦_¦0¦1¦é¦漢¦😀¦\x00¦\x1b¦\x7f"
    "¦\x85¦\xa0¦\u2028¦\ufeff¦\ufffe"
    "¦: ¦- ¦? ¦\n- ¦\n  ¦\n\t¦\r\n¦---\n¦...\n¦--- ¦%YAML 1.2\n¦%TAG ! x\n¦<<: *a¦&a ¦*a"
    "¦!!str ¦!!python/object:os.system ¦!x "
    "¦!<x> ¦|2\n¦>+\n¦''¦\"\"¦{}¦[]¦{{¦}}¦{room}"
)
_WORDS = (
    "null¦true¦on¦~¦.inf¦.nan¦-1¦0¦1e999¦0x¦0o17¦1_0¦2024-01-01¦1:2¦version¦tree¦root¦children¦child¦name¦sequence¦fallback¦retry"
    "¦times¦check¦set¦log¦with¦inputs¦type¦default¦number¦string¦when¦unless¦on_success¦on_halt¦file¦x.yaml"
    "¦battery < ¦ and "
    "¦ or not ¦exists(¦) if ¦ else ¦[0]¦['a']¦9**9**9¦'a'*10**9¦__class__¦lambda: 0"
)
_HEAPS = (
    "[" * 50,
    "- " * 50,
    "{a: " * 50,
    "[" * 1100,
    "- " * 1100,
    "(" * 50,
    "not " * 50,
    " " * 300,
    "a" * 3000,
    "9" * 80,
)
_PIECES = (*_SIGNS.split("¦"), *_WORDS.split("¦"), *_HEAPS)
_BYTES = tuple(map(bytes.fromhex, ["ff", "c3", "e9", "80", "eda080", "f4908080", "00", "fffe", "c080"]))

Change = Callable[[str, random.Random], str]


def _insert(text: str, dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(_PIECES) + text[at:]


def _replace(text: str, dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(_PIECES) + text[at + dice.randint(1, 8) :]


def _delete(text: str, dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + text[at + dice.randint(1, 12) :]


def _cut(text: str, dice: random.Random) -> str:
    return text[: dice.randint(0, len(text))]


def _copy(text: str, dice: random.Random) -> str:
    """A piece of the text once more, somewhere else."""
    start, at = dice.randint(0, len(text)), dice.randint(0, len(text))
    return text[:at] + text[start : start + dice.randint(1, 80)] + text[at:]


def _swap(text: str, dice: random.Random) -> str:
    """One word for another one of the same text."""
    words = text.split()
    if len(words) < 2:
        return text
    old, new = dice.sample(words, 2)
    return text.replace(old, new, dice.choice((1, 1, 1, -1)))


def _lines(text: str, dice: random.Random) -> str:
    """A line lost, doubled, moved, or indented otherwise."""
    lines = text.split("\n")
    at = dice.randrange(len(lines))
    match dice.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines.insert(dice.randrange(len(lines)), lines.pop(at))
        case 3:
            lines[at] = " " * dice.randint(0, 5) + lines[at]
        case _:
            lines[at] = lines[at][dice.randint(1, 4) :]
    return "\n".join(lines)


_CHANGES: tuple[Change, ...] = (_insert, _insert, _replace, _replace, _delete, _copy, _swap, _lines, _lines, _cut)


def mutate(text: str, dice: random.Random) -> str | bytes:
    """The text with one to six changes; sometimes as bytes that are no UTF-8."""
    for _ in range(dice.randint(1, 6)):
        text = dice.choice(_CHANGES)(text, dice)[:200_000]
    if dice.random() > 0.05:
        return text
    data = text.encode("utf-8", "surrogatepass")
    at = dice.randint(0, len(data))
    return data[:at] + dice.choice(_BYTES) + data[at:]


def documents(count: int, seed: int = 0, seeds: Sequence[str] = SEEDS) -> Iterator[str | bytes]:
    """So many mutated documents. A failing one is found again by its number: the last of `documents(number + 1)`."""
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        yield mutate(dice.choice(seeds), dice)
