"""Parses the sentences that recorded runs acted: each is a skill with parameter values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from bt_runtime.agents.compile.form import base
from bt_runtime.agents.compile.trace import Act, Trace
from bt_runtime.language import manifest, project
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.sentence import Sentence
from bt_runtime.skills.worlds.registry import open_suite


class ReadSentence(NamedTuple):
    """A sentence as a skill and its parameter values."""

    skill: str
    values: Mapping[str, str]


class Lexicon:
    """Reads sentences by the manifests of the runs' trees and worlds."""

    def __init__(self, manifests: Iterable[str], given: Iterable[Kind] = ()) -> None:
        self.manifests = tuple(dict.fromkeys(manifests))
        self.given = {kind.name: kind for kind in given if "entry" in kind.data}  # from a program
        self.kinds: dict[str, Kind] = dict(self.given)
        for name in self.manifests:
            path = project.find("skills", name)
            for kind in manifest.read(path).kinds if path is not None else ():
                self.kinds.setdefault(kind.name, kind)
        entries = ((name, kind.data["entry"]) for name, kind in self.kinds.items())
        self.sentences = [(name, Sentence(entry.sentence, entry.types)) for name, entry in entries]
        self._known: dict[str, ReadSentence | None] = {}

    def read(self, sentence: str) -> ReadSentence | None:
        if sentence not in self._known:
            self._known[sentence] = self._read(sentence)
        return self._known[sentence]

    def _read(self, sentence: str) -> ReadSentence | None:
        best: tuple[int, ReadSentence] | None = None
        for name, wanted in self.sentences:
            found = wanted.parse(sentence)
            literal = sum(map(len, wanted.pieces[::2]))
            if found is not None and (best is None or literal > best[0]):
                best = literal, ReadSentence(name, {slot: str(value) for slot, value in found.items()})
        return best[1] if best is not None else None

    def template(self, skill: str) -> str:
        return str(self.kinds[skill].data["entry"].sentence)

    def acted_in(self, skill: str) -> str:
        return str(self.kinds[skill].data["entry"].impl)


def lexicon_of(traces: Iterable[Trace]) -> Lexicon:
    """Returns the skills of the manifests that the trees of these runs list, of their worlds', and those that programs
    gave."""
    names: list[str] = []
    given: list[Kind] = []
    for trace in traces:
        given += trace.given
        names += trace.skills
        if trace.world:
            try:
                names.append(str(open_suite(trace.world).skills))
            except BtError:
                continue
    return Lexicon(filter(None, names), given)


def roles(traces: Iterable[Trace], lexicon: Lexicon) -> dict[str, str]:
    """Returns the slot of each value: that of the acts in which it occurred most often, with and without its number."""
    votes: dict[str, Counter[str]] = {}
    for trace in traces:
        for life in trace.lives:
            for act in life.deeds():
                _count(votes, act, lexicon)
    return {value: min(slots, key=lambda s: (-slots[s], s)) for value, slots in votes.items() if len(value) > 1}


def _count(votes: dict[str, Counter[str]], act: Act, lexicon: Lexicon) -> None:
    for weight, sentences in ((1000, (act.sentence,)), (1, act.offered)):
        for sentence in sentences:
            deed = lexicon.read(sentence)
            for slot, value in deed.values.items() if deed is not None else ():
                if not value.isdigit():
                    for each in {value, base(value)}:
                        votes.setdefault(each, Counter())[slot] += weight
