"""Which facts an action brings and needs, by the words of its sentence. The English that this takes stands here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bt_runtime.language.sentence import Sentence

_TAKE = re.compile(
    r"(?:pick up|take|grab|grasp|lift|fetch) (?:the |a )?\{(\w+)\}(?: (?:from|out of|off) (?:the )?(.+))?"
)
_PUT = re.compile(
    r"(?:put|place|set|lay|load|stow|drop|insert|hang|store|pack|plant|sow|pour|bring|carry) (?:the |a )?(\{\w+\}) "
    r"(into|in|onto|on|at|under|behind|beside) (?:the )?(.+)"
)
_DOWN = re.compile(r"(?:put down|release|let go of) (?:the )?\{(\w+)\}")
_GO = re.compile(r"(?:go|walk|drive|move|travel|fly|navigate) (?:to|into) (?:the )?(\{\w+\}|.+)")
_SWITCH = re.compile(r"(?:turn|switch) (on|off) (?:the )?(.+)|(?:turn|switch) (?:the )?(.+) (on|off)")
_DO = re.compile(
    r"(\w+)(?: (up|out|down|over|back|off|away))? (?:the |a )?(.+?)"
    r"(?: (with|to|by|for|from|into|in|onto|on|at|against) (?:the )?(.+))?"
)
_STATES = {
    "open": "open", "close": "closed", "shut": "closed", "fill": "full", "empty": "empty", "clean": "clean",
    "dry": "dry", "warm": "warm", "heat": "hot", "cool": "cold", "light": "lit", "free": "free",
}  # fmt: skip
_IRREGULAR: dict[str, str] = dict(
    re.findall(
        r"\b(\w+):(\w+)",
        """bend:bent bind:bound bleed:bled bring:brought build:built burn:burnt buy:bought cut:cut dig:dug draw:drawn
        feed:fed find:found give:given grind:ground hang:hung keep:kept lead:led leave:left lend:lent let:let make:made
        mow:mown pay:paid put:put read:read ring:rung saw:sawn say:said see:seen sell:sold send:sent set:set sew:sewn
        shake:shaken show:shown shut:shut sow:sown spin:spun split:split spread:spread sweep:swept take:taken
        teach:taught tell:told throw:thrown wake:woken wear:worn weave:woven wind:wound wring:wrung write:written""",
    )
)
PUT = "what is put "  # how the reason of a placement begins
_LOOKING = frozenset(re.findall(r"\w+", "look check inspect examine read measure count ask see find search watch test"))


class Effect(NamedTuple):
    """What an action brings and needs. `why`: which words tell it."""

    brings: tuple[str, ...]
    needs: tuple[str, ...] = ()
    why: str = ""


def effects(sentence: str) -> Iterator[Effect]:
    """Yields what the sentence may mean, the likeliest first. A sentence that only looks brings nothing."""
    said = sentence.strip().rstrip(".")
    if said.split(" ", 1)[0].lower() in _LOOKING:
        return
    if found := _TAKE.fullmatch(said):
        held, place = f"holding {{{found[1]}}}", _of(found[1], found[2])
        why = "what is taken is held"
        yield Effect((held, *([f"not {place}"] if place else [])), (place,) if place else (), why)
    if found := _PUT.fullmatch(said):
        where = found[2].removesuffix("to")
        yield Effect((f"{found[1]} {where} {_plain(found[3])}",), (), f"{PUT}{found[2]} something is {where} it")
    if found := _DOWN.fullmatch(said):
        yield Effect((f"not holding {{{found[1]}}}",), (f"holding {{{found[1]}}}",), "it is held no longer")
    if found := _GO.fullmatch(said):
        yield Effect((f"at {_plain(found[1])}",), (), "who goes somewhere is there")
    if found := _SWITCH.fullmatch(said):
        what, way = _plain(found[2] or found[3]), found[1] or found[4]
        yield Effect((f"{what} is on" if way == "on" else f"not {what} is on",), (), f"what is switched {way} is {way}")
    if (found := _DO.fullmatch(said)) and not (_GO.fullmatch(said) or _SWITCH.fullmatch(said)):
        yield from _done(*(each or "" for each in found.groups()))


def _done(verb: str, particle: str, what: str, preposition: str, rest: str) -> Iterator[Effect]:
    state = _STATES.get(verb.lower()) if not particle else None
    tail = f" {preposition} {_plain(rest)}" if rest else ""
    if state is not None:
        yield Effect((f"{_plain(what)} is {state}",), (), f"to {verb} something makes it {state}")
    done = " ".join(filter(None, [participle(verb.lower()), particle]))
    are = "are" if re.search(r"^[a-z ]*\b\w+s of \{", what) else "is"
    yield Effect((f"{_plain(what)} {are} {done}{tail}",), (), f"to {verb} something leaves it {done}")


def _of(thing: str, place: str | None) -> str:
    return f"{{{thing}}} in {_plain(place)}" if place else ""


def _plain(text: str) -> str:
    """Without the article before a slot: facts name a value as it is."""
    return re.sub(r"\b(?:the|a|an) (?=\{)", "", text)


def participle(verb: str) -> str:
    """`wash` → washed, `dry` → dried, `stop` → stopped."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]|\w+[aeu]{1,2}el", verb):
        return f"{verb}{verb[-1]}ed"
    return f"{verb}ed"


def sayable(fact: str, params: frozenset[str]) -> bool:
    """True when the fact names parameters alone."""
    return {*Sentence(fact).slots} <= params


_ASKS = re.compile(r"\b(?:needs?|requires?|must|only|once|after|has to|have to|provided|as long as)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_SMALL = frozenset(["is", "are", "the", "a", "an", "of", "in", "on", "at", "not"])


def needed(about: str, fact: str) -> str:
    """Returns the sentence of a description that asks for the fact, by its words; "" when none does."""
    words = {*_WORD.findall(re.sub(r"\{\w+\}", "", fact).lower())} - _SMALL
    for sentence in re.split(r"(?<=[.;!])\s+", about):
        if words and _ASKS.search(sentence) and words <= {*_WORD.findall(sentence.lower())}:
            return sentence.strip()
    return ""
