"""Work whose steps are told where it is done: a told action needs a list of parts, which are got or made before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bt_runtime.agents.compile.lexicon import Lexicon
from bt_runtime.agents.compile.trace import Act, Trace
from bt_runtime.agents.compile.yaml_text import N

_SLOT = re.compile(r"\{(\w+)\}")
_NUMBERED = re.compile(r"\d+ \S")
BREAK = ", "
SURE = 0.9
LEAST = 10  # actions that must have been told so


class Supply(NamedTuple):
    """`make` is told with what it needs in `parts`; one part is what follows the first words of `get`."""

    make: str  # a skill
    parts: str  # name of the parameter with the list
    amount: str  # names of the parameters for amount and product
    item: str
    get: str  # the skill that gets a part that need not be made
    told: int  # actions of `make` that observations named literally …
    made: int  # … of all
    got: int  # parts that were got
    built: int  # … and that were made
    runs: int


def supply_of(traces: Sequence[Trace], lexicon: Lexicon) -> Supply | None:
    """The supply that these runs show, if any does in nine of ten cases."""
    for make in lexicon.kinds:
        slots = _SLOT.findall(lexicon.template(make))
        if len(slots) == 3 and lexicon.acted_in(make) == "world":
            for get in lexicon.kinds:
                found = _shown(traces, lexicon, make, slots, get)
                if found is not None:
                    return found
    return None


def _shown(traces: Sequence[Trace], lexicon: Lexicon, make: str, slots: list[str], get: str) -> Supply | None:
    head, _, tail = lexicon.template(get).partition("{")
    if get == make or not head.strip() or not tail.endswith("}"):
        return None
    told = made = got = built = parts = runs = 0
    for trace in traces:
        lines = {line.strip() for line in trace.look.splitlines()}
        acts = [act for life in trace.lives for act in life.deeds() if act.succeeded]
        done: set[str] = set()
        runs += any(_is(lexicon, act, make) for act in acts)
        for act in acts:
            deed = lexicon.read(act.sentence)
            if deed is not None and deed.skill == make:
                made += 1
                told += act.sentence in lines
                needs = deed.values[slots[2]].split(BREAK)
                got += sum(f"{head}{need}" in done for need in needs)
                built += sum(f"{head}{need}" not in done and _item(need) in done for need in needs)
                parts += len(needs)
                done.add(deed.values[slots[1]])
            done.add(act.sentence)
    if made < LEAST or told < SURE * made or got + built < SURE * 0.8 * parts or not got:
        return None
    return Supply(make, slots[2], slots[0], slots[1], get, told, made, got, built, runs)


def _is(lexicon: Lexicon, act: Act, skill: str) -> bool:
    deed = lexicon.read(act.sentence)
    return deed is not None and deed.skill == skill


def _item(need: str) -> str:
    return need.partition(" ")[2] if _NUMBERED.match(need) else need


def goals_of(supply: Supply, lexicon: Lexicon) -> tuple[str, str]:
    """The forms of goals that it does: for so many, and for one."""
    head = lexicon.template(supply.make).partition("{")[0].strip()
    return f"{head} <number> <{supply.item}>", f"{head} <{supply.item}>"


def node(supply: Supply, lexicon: Lexicon, tree: str) -> dict[str, N]:
    """The cases of a supply: one for a number of things, one for a thing."""
    template = lexicon.template(supply.make)
    head = template.partition("{")[0].strip()
    first = lexicon.template(supply.get).partition("{")[0]
    told = _SLOT.sub(lambda found: f"<{found[1]}>", template)
    told = told.replace(f"<{supply.amount}>", "<number>").replace(f"<{supply.item}>", f"{{it.{supply.item}}}")
    slots = _SLOT.findall(lexicon.template(supply.get))
    part = {"text": "{need}", "forms": {"one": f"<number> <{slots[-1]}>"}, "slots": "part"}
    fill = {slots[0]: "{part.number}", slots[-1]: f"{{part.{slots[-1]}}}"}
    get = N("sequence", [N("offered", f"{first}{{need}}"), N("fits", part), N(supply.get, fill)], f"{supply.got} times")
    make = N("tree", {"file": tree, "with": {"goal": f"{head} {{need}}"}}, f"{supply.built} times")
    each = {"in": f"{{split(told.{supply.parts}, '{BREAK}')}}", "as": "need", "child": N("fallback", [get, make])}
    done = {supply.amount: "{told.number}", supply.item: f"{{it.{supply.item}}}"}
    done[supply.parts] = f"{{told.{supply.parts}}}"
    note = f"{supply.told} of {supply.made} times it was told so"
    rounds = N("sequence", [N("for_each", each), N(supply.make, done)])
    again = {"times": "{(it.number + told.number - 1) // told.number}", "child": rounds}
    many = N("sequence", [N("heard", {"form": told, "of": "look", "slots": "told"}, note), N("repeat", again)])
    one = N("tree", {"file": tree, "with": {"goal": f"{head} 1 {{it.{supply.item}}}"}})
    return {f"{head}_many": many, f"{head}_one": one}


def covered(form: str, forms: Iterable[str]) -> bool:
    """True when a form of a case begins as those that a supply does."""
    return any(form.startswith(f"{each.partition(' <')[0]} ") for each in forms)
