"""What the papers claim, as data: the evaluations that each claim needs, and the figures that show whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.run.case import Strategy
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.kinds.shape import Schema, closed
from bt_runtime.skills.worlds.content import TEXT, TEXTS, by_name, check_of, read_yaml
from bt_runtime.skills.worlds.registry import Split
from bt_runtime.types import Json
from recipes.results.learnt import HOW

OURS = Path(__file__).with_name("claims.yaml")
ANY = (0, 1_000_000)


class Lessons(NamedTuple):
    """Train tasks of one strategy, whose successes are shown to it afterwards."""

    suite: str
    strategy: Strategy
    episodes: int
    budget: int


class Plan(NamedTuple):
    """A plan that AutoPlan writes on train tasks, which a strategy then follows."""

    suite: str
    batch: int
    iterations: int
    validation: int
    steps: int  # acts of an attempt
    world: Mapping[str, Json] = {}


class Recording(NamedTuple):
    """Train tasks of one strategy with a journal of each, of which something is made."""

    suite: str
    strategy: Strategy
    episodes: int
    budget: int
    seed: int = 0
    kinds: tuple[str, ...] = ()
    options: Mapping[str, Json] = {}
    extra: str = ""
    simulated: bool = False


class Evaluation(NamedTuple):
    suite: str
    strategies: tuple[Strategy, ...]
    budget: int  # decisions of a whole episode
    share: float = 1.0  # of the tasks that are asked for: the first ones
    kinds: tuple[str, ...] = ()
    options: Mapping[str, Json] = {}  # of the world's tasks
    recall: bool = True
    free: bool = False
    lessons: str = ""
    level: str = ""
    example_tokens: int = 0
    data: str = ""  # needs this folder of the outside data
    split: Split = "eval"
    world: Mapping[str, Json] = {}  # options of the world
    plan: str = ""  # what the strategies are guided by
    extra: str = ""  # needs that one
    recording: str = ""  # what the strategy is made of …
    learnt: str = ""  # … and how: a compiled tree, or a baseline in the place of the model
    simulated: bool = False  # the clock too: nothing waits for real time


class Figure(NamedTuple):
    """One number: of one strategy, or of one against another. `of`, `against`, `also`: (evaluation, strategy)."""

    name: str
    of: tuple[str, str]
    measure: str
    against: tuple[str, str] | None = None
    depth: tuple[int, int] = ANY
    against_depth: tuple[int, int] | None = None  # other tasks: no pairs
    among: str = "all"
    like: tuple[str, str] | None = None  # only the tasks that this one had too
    target: Mapping[str, float] = {}
    kind: str = ""  # only tasks of this kind
    paper: float | None = None  # what stands in the paper's table, in percent
    share: bool = False  # with `against`: its mean as a share of the other's
    also: tuple[tuple[str, str], ...] = ()  # without `against`: counted together with `of`


class Claim(NamedTuple):
    name: str
    claim: str
    paper: str
    about: str
    figures: tuple[Figure, ...]
    picture: Mapping[str, tuple[str, str]] = {}  # legend → (evaluation, strategy)
    named_only: bool = False  # takes long: looked at only when it is named
    world: str = ""  # of a table of strategies: the world that it is of, as a heading
    beside: str = ""  # whether the paper's figure and ours are of the same thing, and why not
    comparable: str = ""  # the claim whose figures stand beside the paper's instead
    chose: bool = False  # the shipped weights were chosen on tasks of these rows

    @property
    def needs(self) -> list[str]:
        """Its evaluations, in the order of its figures."""
        sides = [side for f in self.figures for side in (f.against, f.like, f.of, *f.also) if side]
        return list(dict.fromkeys(name for name, _ in (*sides, *self.picture.values())))


class Claims(NamedTuple):
    lessons: Mapping[str, Lessons]
    evaluations: Mapping[str, Evaluation]
    claims: Mapping[str, Claim]
    plans: Mapping[str, Plan] = {}
    recordings: Mapping[str, Recording] = {}

    def chosen(self, names: Sequence[str]) -> list[Claim]:
        """All, or those that are named."""
        for name in names:
            if name not in self.claims:
                hint = did_you_mean(name, self.claims, f"claims: {', '.join(self.claims)}")
                raise BtError(f"there is no claim `{name}`", hint)
        return [claim for name, claim in self.claims.items() if name in names or not (names or claim.named_only)]

    def needed(self, claims: Iterable[Claim]) -> list[str]:
        """Evaluations in the order of the claims: one that is cut off has finished the first ones."""
        return list(dict.fromkeys(name for claim in claims for name in claim.needs))

    def dealt(self, names: Sequence[str], hands: int) -> list[list[str]]:
        """For so many processes, about as much work for each. What shares lessons or a plan stays together."""
        together: dict[str, list[str]] = {}
        for name in names:
            found = self.evaluations[name]
            together.setdefault(found.lessons or found.plan or found.recording or name, []).append(name)
        dealt: list[list[str]] = [[] for _ in range(hands)]
        for own in sorted(together.values(), key=self._work, reverse=True):
            min(dealt, key=self._work).extend(own)
        return [[name for name in names if name in hand] for hand in dealt]

    def _work(self, names: Iterable[str]) -> float:
        """Decisions that they may take, for each task that is asked for."""
        found = [self.evaluations[name] for name in names]
        return sum(each.share * len(each.strategies) * each.budget for each in found)


_COUNT: Schema = {"type": "integer", "minimum": 0}
_SPAN: Schema = {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2}
_YES: Schema = {"type": "boolean"}
_STRATEGY = {"type": "object",
             **closed({"name": TEXT, "tree": TEXT, "inputs": {"type": "object"}, "oracle": {"type": "boolean"}},
                    ("name", "tree"))}  # fmt: skip
_LESSONS = closed(_LESSON := {"suite": TEXT, "strategy": _STRATEGY, "episodes": _COUNT, "budget": _COUNT}, _LESSON)
_EVALUATION = closed({
    "suite": TEXT, "strategies": {"type": "array", "items": _STRATEGY}, "budget": _COUNT, "share": {"type": "number"},
    "kinds": TEXTS, "options": {"type": "object"}, "recall": _YES, "free": _YES, "lessons": TEXT, "level": TEXT,
    "example_tokens": _COUNT, "data": TEXT, "split": TEXT, "world": {"type": "object"}, "plan": TEXT, "extra": TEXT,
    "recording": TEXT, "learnt": {"enum": list(HOW)}, "simulated": _YES,
}, ("suite", "strategies", "budget"))  # fmt: skip
_FIGURE = closed({
    "name": TEXT, "of": TEXT, "measure": TEXT, "against": TEXT, "depth": _SPAN, "against_depth": _SPAN, "among": TEXT,
    "like": TEXT, "target": by_name({"type": "number"}), "kind": TEXT, "paper": {"type": "number"}, "share": _YES,
    "also": TEXTS,
}, ("name", "of", "measure"))  # fmt: skip
_CLAIM = closed({
    "claim": TEXT, "paper": TEXT, "about": TEXT, "picture": by_name(TEXT), "named_only": _YES, "world": TEXT,
    "beside": {"type": "string", "pattern": "^(not )?comparable: "}, "comparable": TEXT, "chose": _YES,
    "figures": {"type": "array", "items": {"type": "object", **_FIGURE}},
}, ("claim", "paper", "about", "figures"))  # fmt: skip
_PLAN = closed(
    _WRITTEN := {"suite": TEXT, **dict.fromkeys(("batch", "iterations", "validation", "steps"), _COUNT),
                 "world": {"type": "object"}},
    _WRITTEN,
)  # fmt: skip
_RECORDING = closed({**_LESSON, "seed": _COUNT, "kinds": TEXTS, "options": {"type": "object"}, "extra": TEXT,
                     "simulated": _YES}, _LESSON)  # fmt: skip
_PARTS = {"lessons": _LESSONS, "plans": _PLAN, "recordings": _RECORDING, "evaluations": _EVALUATION, "claims": _CLAIM}
CHECK = check_of("what is claimed", {n: by_name({"type": "object", **each}) for n, each in _PARTS.items()}, _PARTS)


def read_claims(path: Path = OURS) -> Claims:
    found = read_yaml(path, CHECK).data
    lessons = {
        name: Lessons(each["suite"], _strategy(each["strategy"]), each["episodes"], each["budget"])
        for name, each in found["lessons"].items()
    }
    evaluations = {name: _evaluation(each) for name, each in found["evaluations"].items()}
    claims = {name: _claim(name, each) for name, each in found["claims"].items()}
    plans = {name: Plan(**each) for name, each in found["plans"].items()}
    recordings = {name: _recording(each) for name, each in found["recordings"].items()}
    return Claims(lessons, evaluations, claims, plans, recordings)


def _recording(each: Mapping[str, Any]) -> Recording:
    return Recording(**{**each, "strategy": _strategy(each["strategy"]), "kinds": tuple(each.get("kinds", ()))})


def _strategy(each: Mapping[str, Any]) -> Strategy:
    return Strategy(each["name"], each["tree"], each.get("inputs", {}), oracle=each.get("oracle", False))


def _evaluation(each: Mapping[str, Any]) -> Evaluation:
    strategies = tuple(_strategy(s) for s in each["strategies"])
    return Evaluation(**{**each, "strategies": strategies, "kinds": tuple(each.get("kinds", ()))})


def _claim(name: str, each: Mapping[str, Any]) -> Claim:
    picture = {legend: _side(named) for legend, named in each.get("picture", {}).items()}
    figures = tuple(_figure(figure) for figure in each["figures"])
    more = {key: each[key] for key in ("named_only", "world", "beside", "comparable", "chose") if key in each}
    return Claim(name, each["claim"], each["paper"], each["about"], figures, picture, **more)


def _figure(each: Mapping[str, Any]) -> Figure:
    spans = {key: (each[key][0], each[key][1]) for key in ("depth", "against_depth") if key in each}
    sides = {key: _side(each[key]) for key in ("of", "against", "like") if key in each}
    also = tuple(_side(named) for named in each.get("also", ()))
    return Figure(**{**each, **spans, **sides, "also": also})


def _side(named: str) -> tuple[str, str]:
    evaluation, _, strategy = named.partition("/")
    return evaluation, strategy
