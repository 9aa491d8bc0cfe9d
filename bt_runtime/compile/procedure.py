"""Merges the stories of one form of goals: common steps, optional steps with their condition, and alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bt_runtime.compile.condition import Condition, Sample, separating, several
from bt_runtime.compile.form import base
from bt_runtime.compile.steps import Moment, Step, Story, Try

FEW = 2  # lives that a branch needs
SHARE = 0.02  # … and the share of those that came there


class Row(NamedTuple):
    """The rest of a story, from one of its steps on."""

    story: Story
    steps: Sequence[Step]


@dataclass(slots=True)
class Search:
    """A loop over values until an action becomes possible."""

    skill: str
    slot: str
    order: list[str]  # kinds of values, the most promising first
    inner: list[tuple[str, str, int]]  # (skill, slot, how often) of what else was done there
    lives: int
    held: dict[str, tuple[int, int]]  # kind → (how often it was enough, how often it was tried)
    told: bool = False  # the values stood in what was told last
    named: bool = False  # a goal names values of these kinds, and those were never tried
    goes_on: bool = False  # an earlier search of the same story was for such values, and none was tried twice


@dataclass(slots=True)
class Block:
    step: Step
    count: int  # lives in which it was done
    other: int = 0  # lives that came there and did something else
    search: Search | None = None
    gave_up: int = 0  # lives that ended here because nothing was found
    when: Condition | None = None
    order: list[str] = field(default_factory=list)  # of `each`: kinds of values
    failed: int = 0  # … lives in which none was enough
    repeated: int = 0  # lives in which an act was done with more than one number
    once: int = 0  # lives in which it was done once, though another number was offered
    held: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Choice:
    """Alternatives. Each follows when the earlier ones do not apply or have failed; the last one has no condition."""

    ways: list[tuple[Condition | None, list[Item], int]]
    other: int = 0


Item = Block | Choice


def merge(stories: Iterable[Story], held_out: frozenset[str]) -> list[Item]:
    """Merges all these stories to one procedure. `held_out`: the runs on which conditions are tested."""
    return _merged([Row(s, s.steps) for s in stories], held_out)


def _merged(rows: list[Row], held_out: frozenset[str]) -> list[Item]:
    made: list[Item] = []
    while rows:
        gone = [row for row in rows if not row.steps]
        given_up = [row for row in gone if row.story.life.why == "failure"]
        going = [row for row in rows if row.steps]
        if not going:
            break
        heads = Counter(row.steps[0].key for row in going)
        good = [row for row in going if row.story.life.why != "failure"]
        key = next(iter(heads)) if len(heads) == 1 else _join(good or going)
        if key is not None and len(heads) == 1:
            made.append(_block(key, going, given_up, len(gone) - len(given_up)))
            rows = [Row(row.story, row.steps[1:]) for row in going]
            continue
        if key is None:
            made += _branched(going, held_out)
            break
        through = [row for row in going if any(step.key == key for step in row.steps)]
        cut = [next(i for i, step in enumerate(row.steps) if step.key == key) for row in through]
        before = [Row(row.story, row.steps[:at]) for row, at in zip(through, cut, strict=True)]
        after = [row.steps[at] for row, at in zip(through, cut, strict=True)]
        made += _optional(before, after, held_out)
        given_up += [Row(row.story, ()) for row in going if row.story.life.why == "failure" and row not in through]
        rows = [Row(row.story, row.steps[at:]) for row, at in zip(through, cut, strict=True)] + given_up
    return made


def _join(rows: list[Row]) -> tuple[str, ...] | None:
    """Returns the step that nearly all stories share first."""
    places: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        for at, key in enumerate(dict.fromkeys(step.key for step in row.steps)):
            places.setdefault(key, []).append(at)
    most = max(map(len, places.values()), default=0)
    common = [key for key, found in places.items() if len(found) >= max(0.9 * len(rows), most)]
    return min(common, key=lambda key: (sum(places[key]) / len(places[key]), key), default=None)


def _enough(count: int, of: int) -> bool:
    return count >= FEW and count >= SHARE * of


def _optional(rows: list[Row], after: list[Step], held_out: frozenset[str]) -> list[Item]:
    """Returns the steps that only some stories do before the shared one."""
    signatures = Counter(tuple(step.key for step in row.steps) for row in rows)
    steps = Counter(key for signature in signatures.elements() for key in dict.fromkeys(signature))
    order = sorted(steps, key=lambda key: (_place(signatures, key), key))
    made: list[Item] = []
    for key in order:
        if steps[key] < FEW:
            continue
        done = [next((step for step in row.steps if step.key == key), None) for row in rows]
        samples = [
            Sample(row.story, (step or follower).began, step is not None)
            for row, step, follower in zip(rows, done, after, strict=True)
        ]
        example = next(step for step in done if step is not None)
        when = separating(samples, (example,), held_out)
        certain = when is not None and when.right == when.of and steps[key] > FEW
        if not (certain or (_enough(steps[key], len(rows)) and (when is not None or steps[key] * 2 >= len(rows)))):
            continue
        with_it = [Row(row.story, (step,)) for row, step in zip(rows, done, strict=True) if step is not None]
        block = _block(key, with_it, [], len(rows) - len(with_it))
        block.when = when
        made.append(block)
    return made


def _place(signatures: Counter[tuple[tuple[str, ...], ...]], key: tuple[str, ...]) -> float:
    found = [(signature.index(key), count) for signature, count in signatures.items() if key in signature]
    return sum(at * count for at, count in found) / sum(count for _, count in found)


def _branched(rows: list[Row], held_out: frozenset[str]) -> list[Item]:
    """Returns alternatives that share no later step; those with a condition first."""
    heads = Counter(row.steps[0].key for row in rows)
    kept = [key for key, count in heads.most_common() if _enough(count, len(rows))]
    other = sum(count for key, count in heads.items() if key not in kept)
    made: dict[tuple[str, ...], tuple[list[Item], int]] = {}
    for key in kept:
        mine = [row for row in rows if row.steps[0].key == key]
        made[key] = _merged(mine, held_out), len(mine)
    if len(made) < 2:
        return next(iter(made.values()))[0] if made else []
    last = max(made, key=lambda key: (key[0] == "each", made[key][1], key))  # what searches everywhere, else the usual
    ways: list[tuple[Condition | None, list[Item], int]] = []
    for key in (key for key in kept if key != last):
        samples = [Sample(row.story, row.steps[0].began, row.steps[0].key == key) for row in rows]
        example = next(row.steps[0] for row in rows if row.steps[0].key == key)
        ways.append((separating(samples, (example,), held_out), *made[key]))
    ways.sort(key=lambda way: (way[0] is None, -way[2]))
    return [Choice([*ways, (None, *made[last])], other)]


def _block(key: tuple[str, ...], rows: list[Row], given_up: list[Row], other: int) -> Block:
    steps = [row.steps[0] for row in rows]
    block = Block(steps[0], len(rows), other, gave_up=len(given_up))
    block.repeated = sum(step.times > 1 for step in steps)
    block.once = sum(step.times == 1 and several(row.story, step) for row, step in zip(rows, steps, strict=True))
    if steps[0].what == "each":
        block.held = _tally((step.tries, step.hit) for step in steps)
        block.order = _ordered(block.held)
        named = Counter(base(value) for step in steps for value in step.tries)
        block.order += [
            kind for kind, _ in sorted(named.items(), key=lambda k: (-k[1], k[0])) if kind not in block.order
        ]
        block.failed = sum(not step.hit for step in steps)
    searched = [(row.steps[0].search, True) for row in rows if row.steps[0].search]
    missing = [(row.story.missing, False) for row in given_up if row.story.missing]
    if _enough(len(searched), len(rows)):
        block.search = search = _search([*searched, *missing], len(searched))
        of_goals = {base(row.story.goal.slots.get(search.slot, "")) for row in rows}
        search.named = bool(of_goals & {*search.order})
        search.goes_on = all(_goes_on(row, search) for row in rows if row.steps[0].search)
        if search.goes_on:
            kinds = Counter(base(value) for row in rows for value in _before(row, search))
            search.order += [kind for kind, _ in kinds.most_common() if kind not in search.order]
    return block


def _goes_on(row: Row, search: Search) -> bool:
    """True when the story has searched so before, among other values."""
    earlier = {*_before(row, search)}
    return bool(earlier) and not earlier & {t.value for t in row.steps[0].search}


def _before(row: Row, search: Search) -> list[str]:
    """Returns the values that earlier searches of this kind have tried in the story."""
    at = next(i for i, step in enumerate(row.story.steps) if step is row.steps[0])
    tries = (t for step in row.story.steps[:at] for t in step.search)
    return [t.value for t in tries if (t.skill, t.slot) == (search.skill, search.slot)]


def _search(found: list[tuple[tuple[Try, ...], bool]], lives: int) -> Search:
    main = Counter((each.skill, each.slot) for tries, _ in found for each in tries).most_common(1)[0][0]
    inner = Counter(one for tries, _ in found for each in tries for one in dict.fromkeys(each.inner))
    kinds = [(tuple(each.value for each in tries), tries[-1].value if hit else "") for tries, hit in found]
    held = _tally(kinds)
    moments = [(each.value, tries[0].moment.heard) for tries, hit in found if hit for each in tries]
    told = sum(value in heard for value, heard in moments) >= 0.9 * len(moments)
    rounds = sum(len(tries) for tries, _ in found)
    kept = [(skill, slot, count) for (skill, slot), count in inner.most_common() if _enough(count, rounds)]
    return Search(*main, _ordered(held), kept, lives, held, told)


def _tally(found: Iterable[tuple[Sequence[str], str]]) -> dict[str, tuple[int, int]]:
    hits: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    for values, hit in found:
        for value in values:
            tried[base(value)] += 1
            if value == hit:
                hits[base(value)] += 1
                break
    return {kind: (hits[kind], count) for kind, count in tried.items()}


def _ordered(held: dict[str, tuple[int, int]]) -> list[str]:
    """Orders alternatives by how often each succeeded, with a prior, so that a single success does not win."""
    whole = sum(count for _, count in held.values())
    prior = sum(hits for hits, _ in held.values()) / max(1, whole)
    rate = {kind: (hits + 4 * prior) / (count + 4) for kind, (hits, count) in held.items()}
    kept = [kind for kind, (hits, count) in held.items() if hits or _enough(count, whole)]
    return sorted(kept, key=lambda kind: (-rate[kind], -held[kind][0], kind))


def moments(rows: Iterable[Row]) -> list[Moment]:
    return [row.steps[0].began for row in rows if row.steps]


def blocks(items: Iterable[Item]) -> Iterator[Block]:
    """Yields every block of a procedure."""
    for item in items:
        if isinstance(item, Block):
            yield item
        else:
            for _, inner, _ in item.ways:
                yield from blocks(inner)
