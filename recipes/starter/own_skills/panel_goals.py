"""What is asked for on a panel: a goal in other words than the skills', and the teacher's way to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from recipes.starter.own_skills.panels import Act, Panel, Trade, start, the

NOTHING = "nothing"
_SHAPES: tuple[tuple[str, int], ...] = (
    ("one", 4), ("two", 4), ("three", 3), ("every", 5), ("if", 5), ("else", 3), ("if_state", 3), ("find", 4),
    ("those", 4), ("tell", 4), ("ask", 1),
)  # fmt: skip
_NEEDS, _INTRO = 0.3, 0.25
_LEAST, _MOST = 4, 14  # skills that are listed


def make_panel(rng: Random, held: bool = False) -> Panel:
    """`held`: of a trade that no lesson has."""
    shape = rng.choices([name for name, _ in _SHAPES], [often for _, often in _SHAPES])[0]
    trade = Trade(rng, held)
    trade.panel.shape = shape
    goal = _MAKERS[shape](trade, rng)
    trade.panel.goal = _polished(trade, goal, rng)
    _decoys(trade, rng)
    rng.shuffle(trade.panel.skills)
    return trade.panel


# Thoughts ------------------------------------------------------------------------------------------------


def _to_do(acts: Sequence[str]) -> str:
    return f"Think: to do: {', then '.join(acts)}."


def _carried_out(trade: Trade, acts: Sequence[str], done: Sequence[str] = (), rest: str = "") -> list[str]:
    """Each act, and behind it what is done and what is left. What another act is needed for is tried, and again."""
    lines, ready = [], list(done)
    for at, said in enumerate(acts):
        need = trade.panel.needs.get(said)
        if need is not None and need.said not in ready:
            again = f"Think: {need.lacks.rstrip('.')}, so first: {need.said}, then again: {said}."
            lines += [f"Act: {said}", _low(again), f"Act: {need.said}"]
            ready.append(need.said)
            lines.append(
                f"Think: done: {', '.join(ready)}; left: {', '.join([*acts[at:], *([rest] if rest else [])])}."
            )
        ready.append(said)
        left = ", ".join([*acts[at + 1 :], *([rest] if rest else [])]) or NOTHING
        lines += [f"Act: {said}", f"Think: done: {', '.join(ready)}; left: {left}."]
    return lines


def _low(thought: str) -> str:
    """The sentence goes on, so `The` begins it no more."""
    return thought.replace("Think: The ", "Think: the ", 1)


def _wants(trade: Trade, stages: Sequence[Sequence[str]]) -> None:
    """What is to be done, with what it needs before it."""
    panel, wanted, ready = trade.panel, [], set[str]()
    for stage in stages:
        for said in stage:
            need = panel.needs.get(said)
            if need is not None and need.said not in ready:
                wanted.append([need.said])
                ready.add(need.said)
        wanted.append(list(stage))
    panel.wanted = wanted


# Goals ---------------------------------------------------------------------------------------------------


def _draw(trade: Trade, rng: Random, count: int) -> list[tuple[str, str, Act]]:
    """Different acts on different things."""
    drawn: dict[str, tuple[str, str]] = {}
    for verb, thing in rng.sample(trade.acts, len(trade.acts)):
        drawn.setdefault(thing, (verb, thing))
    chosen = list(drawn.values())[:count]
    for verb, thing in chosen:
        trade.add(verb, thing)
        opposite = trade.opposite(verb)
        if opposite and rng.random() < 0.7:
            trade.add(opposite, thing)
    return [(verb, thing, trade.act(verb, thing)) for verb, thing in chosen]


def _needing(trade: Trade, rng: Random, acts: Sequence[tuple[str, str, Act]]) -> None:
    """At times one of them answers that something else has to be done first."""
    named = {thing for _, thing, _ in acts}
    free = [(verb, thing) for verb, thing in trade.acts if thing not in named and trade.opposite(verb)]
    if rng.random() >= _NEEDS or not free:
        return
    verb, thing = rng.choice(free)
    need = trade.act(verb, thing)
    trade.add(verb, thing)
    if rng.random() < 0.6:
        trade.add(trade.opposite(verb), thing)
    said = rng.choice(acts)[2].said
    trade.panel.needs[said] = need
    trade.panel.answers[said] = rng.choice(trade.words["lacks"]).format(m=need.lacks)


def _one(trade: Trade, rng: Random) -> str:
    acts = _draw(trade, rng, 1)
    _needing(trade, rng, acts)
    act = acts[0][2]
    _wants(trade, [[act.said]])
    trade.panel.lines = [_to_do([act.said]), *_carried_out(trade, [act.said]), "Act: done"]
    return _asks(trade, "one", act, rng)


def _asks(trade: Trade, form: str, act: Act, rng: Random, **given: str) -> str:
    words: str = rng.choice(trade.words[form])
    return words.format(do=act.do, it=act.it, x=act.x, part=act.part, **given)


def _two(trade: Trade, rng: Random) -> str:
    return _several(trade, rng, 2, *(("then", True) if rng.random() < 0.6 else ("both", False)))


def _three(trade: Trade, rng: Random) -> str:
    return _several(trade, rng, 3, *(("thrice", True) if rng.random() < 0.5 else ("three", False)))


def _several(trade: Trade, rng: Random, count: int, form: str, ordered: bool) -> str:
    acts = _draw(trade, rng, count)
    _needing(trade, rng, acts)
    said = [act.said for _, _, act in acts]
    _wants(trade, [[each] for each in said] if ordered else [said])
    if not ordered and trade.panel.needs:  # what is needed may come between
        _wants(trade, [[each] for each in said])
    trade.panel.lines = [_to_do(said), *_carried_out(trade, said), "Act: done"]
    given: dict[str, str] = {}
    for letter, (_, _, act) in zip("abc", acts, strict=False):
        given |= {letter: act.do, f"x{letter}": act.x, f"p{letter}": act.part, f"i{letter}": act.it}
    return str(rng.choice(trade.words[form]).format(**given))


def _every(trade: Trade, rng: Random) -> str:
    """The same with all of a kind, with all but one, or with those that are named."""
    which, other = rng.sample(trade.treats, 2)
    listed = rng.random() < 0.7
    trade.add_treat(which, listed)
    if rng.random() < 0.6:
        trade.add_treat(other, listed)
    things, form = trade.things, rng.random()
    if not listed or form < 0.2:
        chosen = rng.sample(things, rng.randint(1, min(3, len(things))))
        x = " and ".join(filter(None, [", ".join(map(the, chosen[:-1])), the(chosen[-1])]))
    elif form < 0.6 or len(things) < 3:
        chosen = list(things)
        x = rng.choice(trade.words["all_two" if len(things) == 2 else "all"]).format(n=trade.many, k=trade.kind)
    else:
        apart = rng.choice(things)
        chosen = [thing for thing in things if thing != apart]
        x = rng.choice(trade.words["but"]).format(n=trade.many, k=trade.kind, a=the(apart))
    act = Act("", which[0].format(x=x), which[0].format(x="them"), x, which[1])
    said = [trade.treat(which, thing).said for thing in chosen]
    _wants(trade, [said])
    before = _look(trade, act.do) if listed else []
    trade.panel.lines = [*before, _to_do(said), *_carried_out(trade, said), "Act: done"]
    return _asks(trade, "many", act, rng)


def _look(trade: Trade, what: str) -> list[str]:
    listing = trade.add_list()
    return [f"Think: first: {listing}, then: {what}.", f"Act: {listing}"]


# Conditions ----------------------------------------------------------------------------------------------


def _gauge(trade: Trade, rng: Random) -> tuple[str, str, float, str]:
    """One that can be read, beside another: its name, its sentence, what it says, and its unit."""
    chosen, *others = rng.sample(trade.own["gauges"], len(trade.own["gauges"]))
    for other in others:
        if rng.random() < 0.5:
            trade.add_gauge(other, rng.randint(*other[2:]))
    name, unit, low, high = chosen
    value = rng.randint(low, high) if rng.random() < 0.8 else round(rng.uniform(low, high), 1)
    return name, trade.add_gauge(chosen, value), value, unit


def _limited(trade: Trade, rng: Random) -> tuple[str, str, str]:
    """A condition on a gauge: in the goal, how it is read, and what follows from what is read."""
    name, read, value, unit = _gauge(trade, rng)
    trade.panel.outcome = rng.random() < 0.5
    above = rng.random() < 0.5
    gap = max(1, round(abs(value) * rng.choice((0.05, 0.2, 0.5, 0.8))))
    limit = round(value) - gap if above == trade.panel.outcome else round(value) + gap
    if limit <= 0:
        limit, above = round(value) + gap, not trade.panel.outcome
    word = "above" if above else "below"
    cond = rng.choice(trade.words[word]).format(g=name, n=limit, u=unit)
    said = f"the {name} is {value:g}, which is {'' if trade.panel.outcome else 'not '}{word} {limit}"
    return cond, read, said


def _if(trade: Trade, rng: Random) -> str:
    return _conditional(trade, rng, _limited(trade, rng), otherwise=False)


def _else(trade: Trade, rng: Random) -> str:
    return _conditional(trade, rng, _limited(trade, rng), otherwise=True)


def _if_state(trade: Trade, rng: Random) -> str:
    """By how one of a kind is."""
    which = rng.choice(trade.treats)
    _, _, bad, good = which
    thing = rng.choice(trade.things)
    trade.panel.outcome = rng.random() < 0.5
    states = {each: rng.choice((bad, good)) for each in trade.things}
    states[thing] = bad if trade.panel.outcome else good
    check = trade.add_check(states, False)(thing)
    cond, said = f"{the(thing)} is {bad}", f"{the(thing)} is {states[thing]}"
    said += "" if trade.panel.outcome else f", not {bad}"
    return _conditional(trade, rng, (cond, check, said), otherwise=rng.random() < 0.4)


def _conditional(trade: Trade, rng: Random, told: tuple[str, str, str], otherwise: bool) -> str:
    cond, read, said = told
    acts = _draw(trade, rng, 2 if otherwise else 1)
    _needing(trade, rng, acts)
    act = acts[0][2]
    other = acts[1][2] if otherwise else None
    follows = act if trade.panel.outcome else other
    trade.panel.reads = [read]
    _wants(trade, [[follows.said]] if follows else [])
    first = f"Think: first: {read}; if {cond}: {act.said}; if not: {other.said if other else NOTHING}."
    then = f"Think: {said}, so to do: {follows.said if follows else NOTHING}."
    rest = _carried_out(trade, [follows.said]) if follows else []
    trade.panel.lines = [first, f"Act: {read}", then, *rest, "Act: done"]
    given = {"other": other.do} if other else {}
    return _asks(trade, "else" if other else "if", act, rng, cond=cond, **given)


# One after another ---------------------------------------------------------------------------------------


def _find(trade: Trade, rng: Random) -> str:
    """One of the kind is so."""
    return _searched(trade, rng, 1)


def _those(trade: Trade, rng: Random) -> str:
    """Any number of them are so, or none."""
    return _searched(trade, rng, None)


def _searched(trade: Trade, rng: Random, count: int | None) -> str:
    which, other = rng.sample(trade.treats, 2)
    bad, good = which[2:]
    so = set(rng.sample(trade.things, rng.randint(0, len(trade.things)) if count is None else count))
    listed = rng.random() < 0.7
    trade.add_treat(which, listed)
    if rng.random() < 0.5:
        trade.add_treat(other, listed)
    check = trade.add_check({thing: bad if thing in so else good for thing in trade.things}, listed)
    form = rng.choice(trade.words["those" if count is None else "that"])
    x = form.format(bad=bad, k=trade.kind, n=trade.many)
    act = Act("", which[0].format(x=x), which[0].format(x="it"), x, which[1])
    lines = _look(trade, act.do) if listed else []
    things = list(trade.things)
    lines.append(f"Think: to check: {', '.join(things)}.")
    for at, thing in enumerate(things):
        left = f"to check: {', '.join(things[at + 1 :])}" if things[at + 1 :] and not (count and thing in so) else ""
        lines.append(f"Act: {check(thing)}")
        trade.panel.reads.append(check(thing))
        if thing not in so:
            lines.append(f"Think: {the(thing)} is {good}, not {bad}; left: {left or NOTHING}.")
            continue
        said = trade.treat(which, thing).said
        lines += [f"Think: {the(thing)} is {bad}, so next: {said}.", f"Act: {said}"]
        lines.append(f"Think: done: {said}; left: {left or NOTHING}.")
        if count:
            break
    trade.panel.lines = [*lines, "Act: done"]
    _wants(trade, [[trade.treat(which, thing).said for thing in things if thing in so]])
    if count is None:
        return _asks(trade, "many", act, rng) + ("" if listed else f": {', '.join(map(the, things))}")
    goal = _asks(trade, "find", act, rng, bad=bad, k=trade.kind, n=trade.many)
    return goal if listed else f"{goal} ({', '.join(things)})"


# Messages ------------------------------------------------------------------------------------------------


def _tell(trade: Trade, rng: Random) -> str:
    """What was read is told to somebody."""
    name, read, value, unit = _gauge(trade, rng)
    people = list(dict.fromkeys(trade.person() for _ in range(rng.choice((1, 1, 2, 3)))))
    message = trade.add_message(people)
    who = rng.choice(people)
    said = message(who, f"the {name} is {value:g} {unit}")
    trade.panel.reads = [read]
    last = _draw(trade, rng, 1)[0][2] if rng.random() < 0.25 else None
    acts = [said, *([last.said] if last else [])]
    _wants(trade, [[each] for each in acts])
    tail = f", then {last.said}" if last else ""
    first = f"Think: first: {read}, then tell {who}{tail}."
    then = f"Think: the {name} is {value:g} {unit}, so next: {said}."
    trade.panel.lines = [first, f"Act: {read}", then, *_carried_out(trade, acts), "Act: done"]
    goal = str(rng.choice(trade.words["tell"]).format(who=who, g=name))
    return f"{goal}{' Then' if goal.endswith('?') else ', then'} {last.do}" if last else goal


def _ask(trade: Trade, rng: Random) -> str:
    name, read, value, unit = _gauge(trade, rng)
    trade.panel.reads = [read]
    then = f"Think: the {name} is {value:g} {unit}; left: {NOTHING}."
    trade.panel.lines = [f"Think: to do: {read}.", f"Act: {read}", then, "Act: done"]
    return str(rng.choice(trade.words["ask"]).format(g=name))


_MAKERS: dict[str, Callable[[Trade, Random], str]] = {
    "one": _one, "two": _two, "three": _three, "every": _every, "if": _if, "else": _else, "if_state": _if_state,
    "find": _find, "those": _those, "tell": _tell, "ask": _ask,
}  # fmt: skip


# Around it -----------------------------------------------------------------------------------------------


def _decoys(trade: Trade, rng: Random) -> None:
    """Other skills of the trade: gauges, messages and acts on one of a kind where none is wanted, then close ones."""
    shape = trade.panel.shape
    if shape in ("one", "two", "three", "every", "find", "those"):
        if rng.random() < 0.5:
            gauge = rng.choice(trade.own["gauges"])
            trade.add_gauge(gauge, rng.randint(*gauge[2:]))
        if rng.random() < 0.25:
            trade.add_message([trade.person()])
    elif shape != "if_state" and rng.random() < 0.4:
        trade.add_treat(rng.choice(trade.treats), False)
    wanted = rng.randint(_LEAST, _MOST)
    known = " ".join(trade.sentences)
    close = [(verb, thing) for verb, thing in trade.acts if thing in known or verb in known]
    others = [each for each in trade.acts if each not in close]
    for verb, thing in [*rng.sample(close, len(close)), *rng.sample(others, len(others))]:
        if len(trade.panel.skills) >= wanted:
            return
        if rng.random() < 0.7:
            trade.add(verb, thing)


def _polished(trade: Trade, goal: str, rng: Random) -> str:
    """With a sentence before it that is of no matter, and how it ends."""
    goal += "" if goal[-1] in "?.)" else rng.choice(trade.words["ends"][: 7 if " if " in goal or ":" in goal else None])
    if rng.random() < _INTRO:
        return f"{rng.choice(trade.words['intros'])} {start(goal) if rng.random() < 0.8 else goal}"
    return start(goal) if rng.random() < 0.6 else goal
