"""Defines the possible house rules and draws sets of them. A rule of the evaluation never occurs in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from bt_envs.house.catalogue import Catalogue, Furniture
from bt_envs.house.rules import CHECK, PROCESSES, Rule, Rules, Way, read_rules, ways
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.content import Content, read_yaml
from bt_runtime.skills.worlds.registry import Split

Asked = int | str | Mapping[str, Any] | None


@dataclass(frozen=True)
class Rulebook:
    usual: Rules
    appliances: Mapping[str, tuple[str, ...]]  # process → appliances, the most likely first
    taps: Mapping[str, str]
    rules: Mapping[Split, Mapping[str, tuple[Rule, ...]]]  # split → process → every rule it may have
    catalogue: Catalogue

    def find(self, asked: Asked, split: Split = "train") -> Rules:
        """Returns the rules for a request. None selects the usual rules, and a number a set of the given split.

        `train 3` and `eval 3` name the split themselves. A mapping holds the rules as a task stores them."""
        if asked is None:
            return self.usual
        if isinstance(asked, Mapping):
            return read_rules(asked, self.catalogue, self.taps)
        named, _, number = str(asked).rpartition(" ")
        if isinstance(asked, bool) or not number.isdecimal() or named not in ("", "train", "eval"):
            raise BtError(f"no house rules are called `{asked}`", "give a number, `train 3`, `eval 3`, or the rules")
        of: Split = "train" if named == "train" else "eval" if named == "eval" else split
        return self.draw(int(number), of)

    def draw(self, seed: int, split: Split) -> Rules:
        """Draws a set of rules. Consecutive seeds use all rules of a process before one repeats, so that sets differ as
        much as possible. No appliance does two things in one house."""
        of = _set(split, tuple(self.rules[split].items()), seed)
        open_while_on = {rule.place for rule in of.values() if rule.way[1:] == ("open", "turned on")}
        able = sorted(set(self._lockable()) - open_while_on)
        rng = Random(f"house rules {split} {seed}")
        return Rules(of, tuple(sorted(rng.sample(able, rng.randint(0, min(2, len(able)))))))

    def _lockable(self) -> list[str]:
        known = (self.catalogue.furniture[name] for names in self.appliances.values() for name in names)
        return [furniture.name for furniture in known if furniture.opens and furniture.switch]


_Found = tuple[tuple[str, tuple[Rule, ...]], ...]  # processes with their rules; the last one is asked about


@lru_cache(maxsize=256)
def _turn(split: Split, found: _Found, turn: int) -> tuple[Rule, ...]:
    """Orders the rules of the last process for this turn: each once, and none that shares an appliance with the
    others."""
    *before, (process, rules) = found
    order = Random(f"{split} {process} {turn}").sample(rules, len(rules))
    sets = (_set(split, tuple(before), turn * len(rules) + i) for i in range(len(rules)))
    taken = [{rule.place for rule in of.values()} for of in sets]
    seat: dict[int, int] = {}  # of a rule: its place in the turn

    def seated(i: int, tried: set[int]) -> bool:
        for at in (*range(i, len(order)), *range(i)):
            if at not in tried and order[at].place not in taken[i]:
                tried.add(at)
                if at not in seat or seated(seat[at], tried):
                    seat[at] = i
                    return True
        return False

    unseated = [i for i in range(len(order)) if not seated(i, set())]
    at_seat = {i: order[at] for at, i in seat.items()}
    free = {i: next((rule for rule in order if rule.place not in taken[i]), order[i]) for i in unseated}
    return tuple((at_seat | free)[i] for i in range(len(order)))


def _set(split: Split, found: _Found, seed: int) -> dict[str, Rule]:
    turns = ((i, process, *divmod(seed, len(rules))) for i, (process, rules) in enumerate(found))
    return {process: _turn(split, found[: i + 1], turn)[at] for i, process, turn, at in turns}


def read_rulebook(path: Path, catalogue: Catalogue) -> Rulebook:
    content = read_yaml(path, CHECK)
    taps = {name: str(tap) for name, tap in content.data.get("taps", {}).items()}
    listed, held_out = content.data["appliances"], content.data["held_out"]
    named = [*(("taps", name) for name in taps), *(("held_out", name) for name in held_out)]
    places: list[tuple[str, tuple[str | int, ...]]] = [(name, (part, name)) for part, name in named]
    places += [(tap, ("taps", name)) for name, tap in taps.items()]
    places += [(str(name), ("appliances", of, i)) for of, names in listed.items() for i, name in enumerate(names)]
    for name, at in places:
        content.known(name, catalogue.furniture, "things.yaml", *at)
    kept = {
        name: [_way(name, i, text, catalogue.furniture[name], taps, content) for i, text in enumerate(texts)]
        for name, texts in held_out.items()
    }
    split_up: dict[Split, dict[str, tuple[Rule, ...]]] = {"train": {}, "eval": {}}
    for process in PROCESSES:
        every = [Rule(n, way, taps.get(n, "")) for n in listed[process] for way in ways(catalogue.furniture[n], taps)]
        split_up["eval"][process] = tuple(r for r in every if r.way in kept.get(r.place, ()))
        split_up["train"][process] = tuple(r for r in every if r.way not in kept.get(r.place, ()))
        if not all(of[process] for of in split_up.values()):
            message = f"`{process}` has no rule for one of the splits"
            raise content.fault(message, "hold out some ways, not all", "appliances", process)
    appliances = {process: tuple(listed[process]) for process in PROCESSES}
    try:
        usual = read_rules(content.data["usual"], catalogue, taps)
    except BtError as error:
        raise content.fault(error.message, error.hint, "usual") from None
    return Rulebook(usual, appliances, taps, split_up, catalogue)


def _way(name: str, i: int, text: str, furniture: Furniture, taps: Mapping[str, str], content: Content) -> Way:
    """Parses a way to use an appliance: `inside, open, turned off`."""
    for way in ways(furniture, taps):
        if ", ".join(filter(None, way)) == text:
            return way
    message = f"`{text}` is no way to use a {name}"
    raise content.fault(message, "such as `inside, open, turned off`", "held_out", name, i)
