"""Made-up encyclopedias, a small one for each question that takes two pages (`questions.yaml` has the words)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from bt_envs.hotpotqa.wiki import Page
from recipes.starter import data, words

_MOST_PAGES = 8
_YEARS = range(1300, 1990)
_SPLIT, _LATER = 0.25, 0.3  # how often a question is said the other way round
_ONE_SEES = ("bridge", "bridge", "bridge", "first", "first", "same")


class Hop(NamedTuple):
    """What is looked up on one page: the question, as an agent asks itself, and what it says then."""

    page: str
    ask: str
    told: str
    value: str
    find: str = ""  # the same as a step of a plan


class Asked(NamedTuple):
    text: str
    hops: tuple[Hop, Hop]
    answer: str
    judged: str  # what the answer follows from
    bridge: bool = True  # the first page leads to the second; else two are compared


class Entry(NamedTuple):
    name: str
    sort: str  # work, firm, person, town
    facts: Mapping[str, str]


def made_by(role: str, page: str, who: str) -> Hop:
    return Hop(page, f"who is the {role}?", f"The {role} is {who}.", who, f"the {role} of {page}")


def hop(fact: str, page: str, value: str) -> Hop:
    """Anything else that a page tells."""
    ask, told, find = {
        "home": ("where born?", "Born in {v}.", "where {x} was born"),
        "born": ("when born?", "Born in {v}.", "when {x} was born"),
        "trade": ("what trade?", "The trade is {v}.", "the trade of {x}"),
        "river": ("which river?", "The river is {v}.", "the river of {x}"),
        "founded": ("when founded?", "Founded in {v}.", "when {x} was founded"),
    }[fact]
    return Hop(page, ask, told.format(v=value), value, find.format(x=page))


def bridged(text: str, first: Hop, second: Hop) -> Asked:
    return Asked(text, (first, second), second.value, second.told)


def compared(text: str, first: Hop, second: Hop, later: bool = False) -> Asked:
    """Two years."""
    low, high = sorted((first, second), key=lambda each: int(each.value))
    judged = f"{high.value} is after {low.value}." if later else f"{low.value} is before {high.value}."
    first, second = (each._replace(told=f"{each.page}: {each.value}.") for each in (first, second))
    return Asked(text, (first, second), (high if later else low).page, f"{second.told} {first.told} {judged}", False)


def alike(text: str, first: Hop, second: Hop) -> Asked:
    same = first.value == second.value
    said = f"{second.told} The other: {first.value}. {'The same' if same else 'Not the same'}."
    return Asked(text, (first, second), "yes" if same else "no", said, False)


# Encyclopedias -------------------------------------------------------------------------------------------


class Maker:
    """One question with its pages."""

    def __init__(self, rng: Random) -> None:
        self.rng, self.words = rng, data.read("hotpotqa/questions")
        self.known: set[str] = set()
        self.years = iter(rng.sample(_YEARS, 200))
        self.entries: list[Entry] = []
        self.rivers = [self.name() for _ in range(3)]
        self.asked = self._asked()
        while len(self.entries) < _MOST_PAGES:
            rng.choice((self.town, self.person, self.work, self.firm))()

    def _asked(self) -> Asked:
        sort = self.rng.choice(_ONE_SEES)
        return {"bridge": self._bridge, "first": self.first, "same": self._same}[sort]()

    def _bridge(self) -> Asked:
        choose, words = self.rng.choice, self.words
        if self.rng.random() < 0.4:
            who = self.person()
            home = self._entry(who.facts["home"])
            fact = choose(("river", "founded"))
            whose = choose(words["homes"]).format(x=who.name)
            said = choose(words["asks"][fact]).format(np=whose)
            if fact == "founded" and self.rng.random() < _SPLIT * 2:
                said = choose(words["asks"]["split"]).format(x=who.name)
            return bridged(said, hop("home", who.name, home.name), hop(fact, home.name, home.facts[fact]))
        thing = choose((self.work, self.work, self.firm))()
        role, did = thing.facts["role"], thing.facts["did"]
        whose = choose(words["founders" if thing.sort == "firm" else "people"]).format(x=thing.name, role=role, did=did)
        who = self._entry(thing.facts["by"])
        fact = choose(("home", "born", "trade"))
        said = choose(words["asks"][fact]).format(np=whose)
        return bridged(said, made_by(role, thing.name, who.name), hop(fact, who.name, who.facts[fact]))

    def first(self, facts: Sequence[str] = ("born", "founded")) -> Asked:
        """Which of two is first, or last."""
        fact = self.rng.choice(facts)
        one, two = (self.person() if fact == "born" else self.town() for _ in range(2))
        later = self.rng.random() < _LATER
        said = self.rng.choice(self.words["lasts" if later else "firsts"][fact]).format(a=one.name, b=two.name)
        first, second = (hop(fact, each.name, each.facts[fact]) for each in (one, two))
        return compared(said, first, second, later)

    def _same(self) -> Asked:
        fact = self.rng.choice(("home", "home", "home", "trade", "river"))
        one, two = (self.town() if fact == "river" else self.person() for _ in range(2))
        if self.rng.random() < 0.5:
            changed = two._replace(facts={**two.facts, fact: one.facts[fact]})
            self.entries[self.entries.index(two)] = two = changed
        said = self.rng.choice(self.words["sames"][fact]).format(a=one.name, b=two.name)
        return alike(said, *(hop(fact, each.name, each.facts[fact]) for each in (one, two)))

    # entries -------------------------------------------------------------------------------------

    def town(self) -> Entry:
        return self._add(self.name(), "town", founded=self.year(), river=self.rng.choice(self.rivers))

    def person(self) -> Entry:
        towns = [each.name for each in self.entries if each.sort == "town"]
        home = self.rng.choice(towns) if towns and self.rng.random() < 0.3 else self.town().name
        trade = self.rng.choice(self.words["trades"].split())
        return self._add(f"{self.name()} {self.name()}", "person", born=self.year(), home=home, trade=trade)

    def work(self) -> Entry:
        role = self.rng.choice(("author", *self.words["roles"]))
        did, made, sorts = self.words["roles"][role]
        facts = {"role": role, "did": did, "made": made, "genre": self.rng.choice(sorts), "year": self.year()}
        return self._add(self._title("titles"), "work", by=self.person().name, **facts)

    def firm(self) -> Entry:
        facts = {"role": "founder", "did": "founded", "made": self.rng.choice(self.words["makes"]), "year": self.year()}
        return self._add(self._title("firms"), "firm", by=self.person().name, **facts)

    def _add(self, name: str, sort: str, **facts: str) -> Entry:
        self.entries.append(made := Entry(name, sort, facts))
        return made

    def _entry(self, name: str) -> Entry:
        return next(each for each in self.entries if each.name == name)

    def _title(self, of: str) -> str:
        look, thing, other = (self.rng.choice(each).title() for each in (words.LOOKS, words.THINGS, words.THINGS))
        trade = self.rng.choice(self.words["trades"].split()).title()
        said = self.rng.choice(self.words[of])
        return str(said.format(n=self.name(), o=self.name(), look=look, thing=thing, other=other, trade=trade))

    def name(self) -> str:
        """None comes twice."""
        choose, lists = self.rng.choice, self.words
        while True:
            if self.rng.random() < 0.25:
                name = choose(lists["halves"].split()) + choose(lists["tails"].split())
            else:
                middle = "".join(self.rng.choices(lists["middles"].split(), k=choose((0, 1, 1, 2))))
                name = choose(lists["starts"].split()) + middle + choose(lists["ends"].split())
            if name not in self.known:
                self.known.add(name)
                return str(name)

    def year(self) -> str:
        return str(next(self.years))

    # pages ---------------------------------------------------------------------------------------

    def pages(self) -> Iterator[Page]:
        for entry in self.entries:
            count = self.rng.choice((0, 0, 0, 1, 1, 2))
            told = [*self.rng.choice(self.words["pages"][entry.sort])]
            told += self.rng.sample(self.words["more"][entry.sort], count)
            said = self._said(entry)
            yield Page(entry.name, tuple(each.format(**said) for each in told))

    def _said(self, entry: Entry) -> dict[str, Any]:
        facts = entry.facts
        return {
            "x": entry.name, "v": facts.get("by", ""), "did": facts.get("did", ""), "made": facts.get("made", ""),
            "m": facts.get("made", ""), "g": facts.get("genre", ""), "j": facts.get("trade", ""),
            "t": facts.get("home", ""), "r": facts.get("river", ""), "n": str(self.rng.randint(2, 60)),
            "y": facts.get("year") or facts.get("born") or facts.get("founded"), "z": self.year(),
            "p": f"{self.name()} {self.name()}", "o": self.name(),
        }  # fmt: skip
