"""A test case: a tree's inputs, its skills' results and outside events. It can be written as a pytest test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.outside import entries_of
from bt_runtime.run.debug.script import Act, LaterResult, literal, said
from bt_runtime.run.run import Tree, load
from bt_runtime.testing.promise import Broken, Promises, named
from bt_runtime.testing.trial import Trial
from bt_runtime.testing.waiting import StillRunning
from bt_runtime.tree.node import RUNNING, SUCCESS
from bt_runtime.types import Json

# ("step", n): n ticks when the tree wants them; ("tick", n): now; ("advance", s): the clock moves, then a tick;
# ("set", entry, value); ("halt",)
Move = tuple[Any, ...]
BROKEN = "it broke"  # message of a skill that is made to break


@dataclass(frozen=True)
class Case:
    """A test case. `within`: seconds in which the tree must end after the last move; without it the case lasts
    `seconds`."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    skills: Mapping[str, list[Act]] = field(default_factory=dict)
    doubles: Mapping[str, list[Act]] = field(default_factory=dict)
    moves: tuple[Move, ...] = ()
    within: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Finding:
    """A case in which a tree breaks a promise; as text: the reason, and a test that shows it."""

    why: str
    test: str
    case: Case
    found_by: str = ""
    promises: Mapping[str, list[str]] = field(default_factory=dict)  # never, always, ltl, properties

    def __str__(self) -> str:
        return f"{self.why}\n\n{self.test}"


class Subject:
    """A tree under repeated test, with its promises."""

    def __init__(
        self, tree: str | Path | Tree, never: Any = (), always: Any = (), project: Path | str | None = None,
        ltl: Any = (), properties: Any = (), text: Any = None,
    ) -> None:  # fmt: skip
        self.given = tree if text is None else text
        self.tree = tree if isinstance(tree, Tree) else load(tree, project=project)
        self.never = [never] if isinstance(never, str) else list(never)
        self.always = [always] if isinstance(always, str) else list(always)
        self.ltl, self.properties = list(ltl), list(properties)
        self.promises = Promises(self.never, self.always, self.ltl, named(self.tree.spec, self.properties))
        self.last: Trial | None = None

    def play(self, case: Case) -> tuple[str, Case]:
        """Plays the choices; returns the broken promise in words ("" when none), and the case up to there."""
        done: list[Move] = []
        with self.trial(case) as trial:
            try:
                for move in case.moves:
                    done.append(move)
                    moved(trial, move)
                    if trial.status is not RUNNING and move[0] not in ("set", "halt", "repeats"):
                        break
                else:
                    done.append(("end",))
                    self.end(trial, case)
            except (Broken, StillRunning) as broken:
                return str(broken), replace(case, moves=tuple(done))
            if trial.crashes:
                crash = trial.crashes[0]
                return f"{crash.path} raised {crash.message}", replace(case, moves=tuple(done))
        return "", case

    def end(self, trial: Trial, case: Case) -> None:
        if case.within is not None:
            trial.finish(case.within)
        elif case.seconds:
            trial.go_on(case.seconds, MOST_TICKS)

    def trial(self, case: Case) -> Trial:
        trial = Trial(self.tree, skills=dict(case.skills), substitute=case.doubles, inputs=case.inputs, slow=None)
        trial.hold(self.promises)
        self.last = trial
        return trial

    def known(self) -> None:
        """Raises for a promise about what no case has ever had."""
        if self.last is not None:
            self.promises.known(self.last.run)

    def finding(self, case: Case, found_by: str) -> Finding:
        why, up_to = self.play(case)
        return Finding(why, self.as_test(up_to, found_by), up_to, found_by, self.given_promises)

    @property
    def given_promises(self) -> dict[str, list[str]]:
        return {"never": self.never, "always": self.always, "ltl": self.ltl, "properties": self.properties}

    def as_test(self, case: Case, found_by: str, status: str = "") -> str:
        """Returns the case as a test to paste; it fails until the tree is fixed. `status`: the result that the tree
        must come to, in a case that a person has played."""
        text = isinstance(self.given, str) and "\n" in self.given
        tree = "TREE" if text or isinstance(self.given, Tree) else literal(str(self.given))
        source = self.tree.spec.text if tree == "TREE" else ""
        options = [tree, *(f"{name}={value}" for name, value in self._options(case) if value not in ("{}", "[]"))]
        lines = [f"    with Trial({', '.join(options)}) as trial:"]
        if len(lines[0]) > 110:
            lines = ["    with Trial(", *(f"        {option}," for option in options), "    ) as trial:"]
        body = [f"        {_written(move, case)}" for move in case.moves]
        body += [f"        assert trial.status is {status}"] if status not in ("", "INVALID") else []
        said = " ".join((*lines, "Trial", status))
        names = [n for n in ("FAILURE", "RUNNING", "SUCCESS", "Trial", "after") if n in said]
        head = [f"from bt_runtime.testing import {', '.join(names)}", ""]
        head += [f"TREE = {_quoted(source)}", ""] if source else []
        name = "".join(c if c.isalnum() else "_" for c in self.tree.name).strip("_").lower()
        keeps = f"keeps_{'_and_'.join(self.properties)}" if self.properties else "keeps_its_promises"
        keeps = "as_it_was_played" if status else keeps
        about = f'    """{"Played in" if status else "Found by"} `{found_by}`."""'
        return "\n".join([*head, "", f"def test_{name}_{keeps}():", about, *lines, *body,
                          "        assert not trial.crashes", ""])  # fmt: skip

    def _options(self, case: Case) -> list[tuple[str, str]]:
        skills = {name: acts[0] if len(acts) == 1 else acts for name, acts in case.skills.items()}
        doubles = {name: acts[0] if len(acts) == 1 else acts for name, acts in case.doubles.items()}
        ports = {**entries_of(self.tree.spec), **self.tree.spec.ports}
        inputs = {n: v for n, v in case.inputs.items() if ports[n].required or ports[n].default != v}
        return [
            ("inputs", literal(inputs)),
            ("skills", _mapping(skills)),
            ("substitute", _mapping(doubles)),
            ("never", literal(self.never)),
            ("always", literal(self.always)),
            ("ltl", literal(self.ltl)),
            ("properties", literal(self.properties)),
        ]


MOST_TICKS = 3_000  # ticks of a case that need not end


def moved(trial: Trial, move: Move) -> None:
    match move:
        case ("step", times):
            trial.step(times)
        case ("tick", times):
            trial.tick(times)
        case ("advance", seconds):
            trial.advance(seconds)
        case ("set", entry, value):
            trial.board[entry] = value
        case ("halt",):
            trial.run.halt("the test halts it")
        case ("repeats", ticks):
            trial.repeats(ticks)
        case _:
            raise BtError(f"{move!r} is no move", "moves: tick, set, halt, …, as `btr fuzz` writes them")


def _written(move: Move, case: Case) -> str:
    match move:
        case ("set", entry, value):
            return f"trial.board[{literal(entry)}] = {literal(value)}"
        case ("halt",):
            return 'trial.run.halt("the test halts it")'
        case ("end",):
            return f"trial.finish({case.within:g})" if case.within is not None else f"trial.go_on({case.seconds:g})"
        case (what, number):
            return f"trial.{what}({number!r})"
    raise BtError(f"{move!r} is no move", "moves: tick, set, halt, …, as `btr fuzz` writes them")


def _mapping(scripts: Mapping[str, Act]) -> str:
    return "{" + ", ".join(f"{literal(name)}: {said(act)}" for name, act in scripts.items()) + "}"


def _quoted(text: str) -> str:
    plain = "\\" not in text and '"""' not in text and not text.endswith('"')
    return f'"""\\\n{text}"""' if plain else repr(text)


def played(polls: int, result: Act) -> Act:
    """Returns the act that runs for `polls` ticks before its result; None: it runs for ever."""
    if result is None:
        return RUNNING
    if not polls:
        return result
    return polls if result is SUCCESS else LaterResult(polls, result)
