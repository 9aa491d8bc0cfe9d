"""Merges the stories of one form of goals: common steps, optional steps with their condition, and alternatives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from bt_runtime.agents.compile.condition import BROUGHT, OFFERED, SURE, Condition, Sample, separating, several
from bt_runtime.agents.compile.form import base
from bt_runtime.agents.compile.steps import AgentStory, SearchRound, Step, StepMoment

T = TypeVar("T")
FEW = 2  # lives that a branch needs
SHARE = 0.02  # … and the share of those that came there


class StoryRow(NamedTuple):
    """A stretch of a story. `end`: the moment after its last step; `failed`: the story ended there in vain."""

    story: AgentStory
    steps: Sequence[Step]
    end: StepMoment
    failed: bool = False

    def rest(self, at: int) -> StoryRow:
        return self._replace(steps=self.steps[at:])


@dataclass(slots=True)
class Search:
    """A loop over values until an action becomes possible."""

    skill: str
    slot: str
    order: list[str]  # kinds of values, the most promising first
    inner: list[tuple[str, str, int]]  # (skill, slot, how often) of what else was done there
    lives: int
    held: dict[str, tuple[int, int]]  # kind → (how often it was enough, how often it was tried)
    undone: tuple[str, int, int] = ("", 0, 0)  # (another skill, times it was done, times it was not)
    spared: bool = False  # … it was not done where what was searched for was possible already
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
    tries: bool = False  # the search after it tries other values of the same action: it may be done without a reason
    order: list[str] = field(default_factory=list)  # kinds of values, for `each`
    failed: int = 0  # … lives in which none was enough
    repeated: int = 0  # lives in which an act was done with more than one number
    once: int = 0  # lives in which it was done once, though another number was offered
    held: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Alternatives:
    """Alternatives. Each follows when the earlier ones do not apply or have failed; only the last one may have no
    condition."""

    ways: list[tuple[Condition | None, list[Item], int]]
    other: int = 0


@dataclass(slots=True)
class Unless:
    """The rest of a procedure, which is done when a condition holds; the other lives ended here."""

    when: Condition
    items: list[Item]
    count: int
    ended: int


@dataclass(slots=True)
class Gap:
    """A step that some lives did and others did not, and no condition tells why: the agent decides it."""

    step: str
    count: int
    of: int

    def __str__(self) -> str:
        return (
            f"{self.count} of {self.of} times it was `{self.step}` that came next, and nothing that was seen tells when"
        )


Item = Block | Alternatives | Unless | Gap


def merge(stories: Iterable[AgentStory], held_out: frozenset[str]) -> list[Item]:
    """Merges all these stories to one procedure. `held_out`: the runs on which conditions are tested."""
    return _merged([StoryRow(s, s.steps, s.end, s.life.why == "failure") for s in stories], held_out)


def _merged(rows: list[StoryRow], held_out: frozenset[str]) -> list[Item]:
    made: list[Item] = []
    while rows:
        given_up = [row for row in rows if not row.steps and row.failed]
        ended = [row for row in rows if not row.steps and not row.failed]
        going = [row for row in rows if row.steps]
        if not going:
            break
        if ended:
            made.append(_unless(going, ended, given_up, held_out))
            break
        heads = Counter(row.steps[0].key for row in going)
        good = [row for row in going if not row.failed]
        key = next(iter(heads)) if len(heads) == 1 else _join(good or going)
        if key is not None and len(heads) == 1:
            made += _whole(_block(key, going, given_up, 0))
            rows = [row.rest(1) for row in going]
            continue
        if key is None:
            made += _branched(going, held_out)
            break
        through = [row for row in going if any(step.key == key for step in row.steps)]
        cut = [next(i for i, step in enumerate(row.steps) if step.key == key) for row in through]
        after = [row.steps[at] for row, at in zip(through, cut, strict=True)]
        before = [
            StoryRow(row.story, row.steps[:at], row.steps[at].began) for row, at in zip(through, cut, strict=True)
        ]
        made += _before_join(before, after, held_out)
        given_up += [row._replace(steps=()) for row in going if row.failed and row not in through]
        rows = [row.rest(at) for row, at in zip(through, cut, strict=True)] + given_up
    return made


def _before_join(rows: list[StoryRow], after: list[Step], held_out: frozenset[str]) -> list[Item]:
    """Returns what was done before the step that all share: steps that only some did, each for itself, or else ways
    beside each other."""
    each_for_itself = _optional(rows, after, held_out)
    if not any(every(Gap, each_for_itself)):
        return each_for_itself
    beside = _merged(rows, held_out)
    return each_for_itself if any(every(Gap, beside)) else beside


def _unless(going: list[StoryRow], ended: list[StoryRow], given_up: list[StoryRow], held_out: frozenset[str]) -> Item:
    """Returns what those that went on did, behind what tells them from those that ended successfully here."""
    samples = [Sample(row.story, row.steps[0].began, True) for row in going]
    samples += [Sample(row.story, row.end, False) for row in ended]
    heads = {row.steps[0].key: row.steps[0] for row in going}
    when = separating(samples, heads.values() if len(heads) == 1 else (), held_out)
    if when is None:
        return Gap(told(next(iter(heads))) if len(heads) == 1 else "something", len(going), len(samples))
    return Unless(when, _merged([*going, *given_up], held_out), len(going), len(ended))


def _join(rows: list[StoryRow]) -> tuple[str, ...] | None:
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


def _optional(rows: list[StoryRow], after: list[Step], held_out: frozenset[str]) -> list[Item]:
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
            Sample(row.story, step.began if step is not None else row.end, step is not None)
            for row, step in zip(rows, done, strict=True)
        ]
        example = next(step for step in done if step is not None)
        when = separating(samples, (example,), held_out)
        tries = when is None and steps[key] * 2 >= len(rows) and _tries(example, after)
        if when is None and steps[key] < len(rows) and not tries:
            if steps[key] > (1 - SURE) * len(rows):
                made.append(Gap(told(key), steps[key], len(rows)))
            continue  # seldom, and nothing tells when: left out
        with_it = [row._replace(steps=(step,)) for row, step in zip(rows, done, strict=True) if step is not None]
        block = _block(key, with_it, [], len(rows) - len(with_it))
        block.when, block.tries = when, tries
        made += _whole(block)
    return made


def _tries(step: Step, after: list[Step]) -> bool:
    """True for an action of the goal's value that a search goes on with for other values."""
    searched = Counter((each.skill, each.slot) for follower in after for each in follower.search[:1])
    return len(step.values) == 1 and (step.skill, next(iter(step.values))) in searched


def _place(signatures: Counter[tuple[tuple[str, ...], ...]], key: tuple[str, ...]) -> float:
    found = [(signature.index(key), count) for signature, count in signatures.items() if key in signature]
    return sum(at * count for at, count in found) / sum(count for _, count in found)


def _branched(rows: list[StoryRow], held_out: frozenset[str]) -> list[Item]:
    """Returns alternatives that share no later step; those with a condition first."""
    heads = Counter(row.steps[0].key for row in rows)
    kept = [key for key, count in heads.most_common() if _enough(count, len(rows))]
    other = sum(count for key, count in heads.items() if key not in kept)
    made: dict[tuple[str, ...], tuple[list[Item], int]] = {}
    for key in kept:
        mine = [row for row in rows if row.steps[0].key == key]
        made[key] = _merged(mine, held_out), len(mine)
    whens = {key: _when(key, rows, held_out) for key in kept}
    last = max(made, key=lambda key: (key[0] == "each", whens[key] is None, made[key][1], key), default=None)
    others = [key for key in kept if key != last]
    for key in others:
        if whens[key] is None:
            return [Gap(told(key), made[key][1], len(rows))]
    if last is None or (whens[last] is None and not _rest(last, [whens[key] for key in others])):
        return [Gap(told(last) if last is not None else "something", len(rows) - other, len(rows))]
    ways = [(whens[key], *made[key]) for key in sorted(others, key=lambda key: -made[key][1])]
    return [Alternatives([*ways, (None if last[0] == "each" else whens[last], *made[last])], other)]


def _when(key: tuple[str, ...], rows: list[StoryRow], held_out: frozenset[str]) -> Condition | None:
    samples = [Sample(row.story, row.steps[0].began, row.steps[0].key == key) for row in rows]
    example = next(row.steps[0] for row in rows if row.steps[0].key == key)
    return separating(samples, (example,), held_out)


def _rest(key: tuple[str, ...], others: list[Condition | None]) -> bool:
    """True when a way may be taken wherever no other applies: it searches everywhere, or the others are told by what
    can be done or was brought, which is so or not. What is told may be anything."""
    return key[0] == "each" or all(when is not None and when.what in (OFFERED, BROUGHT) for when in others)


def told(key: tuple[str, ...]) -> str:
    """Returns a step as a report names it."""
    return " ".join(key[1:]).replace("it.", "")


def _whole(block: Block) -> Iterator[Item]:
    """Yields a block, and what it does in some lives only without a reason."""
    yield block
    if block.repeated > FEW and block.once:
        yield Gap(f"{told(block.step.key)} again", block.repeated, block.repeated + block.once)
    skill, count, undone = block.search.undone if block.search is not None else ("", 0, 0)
    if undone:
        yield Gap(f"{skill} in a search", count, count + undone)


def _block(key: tuple[str, ...], rows: list[StoryRow], given_up: list[StoryRow], other: int) -> Block:
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


def _goes_on(row: StoryRow, search: Search) -> bool:
    """True when the story has searched so before, among other values."""
    earlier = {*_before(row, search)}
    return bool(earlier) and not earlier & {t.value for t in row.steps[0].search}


def _before(row: StoryRow, search: Search) -> list[str]:
    """Returns the values that earlier searches of this kind have tried in the story."""
    at = next(i for i, step in enumerate(row.story.steps) if step is row.steps[0])
    tries = (t for step in row.story.steps[:at] for t in step.search)
    return [t.value for t in tries if (t.skill, t.slot) == (search.skill, search.slot)]


def _search(found: list[tuple[tuple[SearchRound, ...], bool]], lives: int) -> Search:
    main = Counter((each.skill, each.slot) for tries, _ in found for each in tries).most_common(1)[0][0]
    inner = Counter(one for tries, _ in found for each in tries for one in dict.fromkeys(each.inner))
    kinds = [(tuple(each.value for each in tries), tries[-1].value if hit else "") for tries, hit in found]
    held = _tally(kinds)
    moments = [(each.value, tries[0].moment.heard) for tries, hit in found if hit for each in tries]
    told = sum(value in heard for value, heard in moments) >= 0.9 * len(moments)
    rounds = sum(len(tries) for tries, _ in found)
    kept = [(skill, slot, count) for (skill, slot), count in inner.most_common() if _enough(count, rounds)]
    undone, spared = _undone(found, kept)
    return Search(*main, _ordered(held), kept, lives, held, undone, spared, told)


def _undone(
    found: list[tuple[tuple[SearchRound, ...], bool]], kept: list[tuple[str, str, int]]
) -> tuple[tuple[str, int, int], bool]:
    """Returns which action of a search was left out most often for no reason, and whether one was for a reason."""
    worst, spared = ("", 0, 0), False
    for skill, slot, count in kept:
        rounds = [(hit and at == len(tries), (skill, slot) in each.could and (skill, slot) not in each.inner)
                  for tries, hit in found for at, each in enumerate(tries, 1)]  # fmt: skip
        undone = sum(left and not last for last, left in rounds)
        worst = max(worst, (skill, count, undone), key=lambda each: each[2])
        spared = spared or any(left and last for last, left in rounds)
    return worst, spared


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


def moments(rows: Iterable[StoryRow]) -> list[StepMoment]:
    return [row.steps[0].began for row in rows if row.steps]


def every(kind: type[T], items: Iterable[Item]) -> Iterator[T]:
    """Yields every item of a kind in a procedure, such as a Gap: what nothing tells when to do."""
    for item in items:
        if isinstance(item, kind):
            yield item
        for inner in _inner(item):
            yield from every(kind, inner)


def _inner(item: Item) -> list[list[Item]]:
    ways = [inner for _, inner, _ in item.ways] if isinstance(item, Alternatives) else []
    return [item.items] if isinstance(item, Unless) else ways
