"""Runs the real engine in a separate process, with a few games at a time.

A request names the commands that lead to its state. Any worker can therefore answer, by replaying the commands if
necessary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bt_envs.alfworld.game import changing
from bt_envs.alfworld.words import spoken
from bt_envs.alfworld.worker_process import main

KEPT = 8  # games of an engine: as many as agents play at once, in most evaluations


class Engine:
    """TextWorld with ALFWorld's domain and words. It keeps the games that were played last, since to load one takes as
    long as a dozen acts: several agents play in turn, often the same game, each by acts of its own."""

    def __init__(self) -> None:
        from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH

        self.domain, self.grammar = (_text(path) for path in (ALFRED_PDDL_PATH, ALFRED_TWL2_PATH))
        self.games: list[LoadedGame] = []  # the one played last is last
        self.game: LoadedGame | None = None  # the game under way; None after a fault

    def play(self, problem: str, goal: str, done: Sequence[str], act: str | None) -> dict[str, Any]:
        """The state after `done`, and after `act` when there is one."""
        if self.game is None and self.games:
            self.games.pop()
        self.game = self._fit((problem, goal), done)
        self.games.append(self.game)
        return self.game.play(done, act)

    def _fit(self, of: tuple[str, str], done: Sequence[str]) -> LoadedGame:
        """The game with most of these commands behind it and no others, or else one that is set up."""
        on_the_way = [game for game in self.games if game.of == of and game.done == list(done[: len(game.done)])]
        if on_the_way:
            game = max(on_the_way, key=lambda game: len(game.done))
        elif len(self.games) < KEPT:
            return self._loaded(of)
        else:
            game = self.games[0]
        self.games.remove(game)
        return game if game.of == of else self._loaded(of)

    def _loaded(self, of: tuple[str, str]) -> LoadedGame:
        problem, goal = of
        words = self.grammar.replace("UNKNOWN GOAL", spoken(goal))
        return LoadedGame(of, {"pddl_domain": self.domain, "grammar": words, "pddl_problem": problem})


class LoadedGame:
    """One loaded game, and the commands that led to its state."""

    def __init__(self, of: tuple[str, str], told: Mapping[str, str]) -> None:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld import EnvInfos
        from textworld.envs.pddl import PddlEnv

        self.of = of
        self.env = AlfredDemangler(PddlEnv(EnvInfos(won=True, admissible_commands=True)))
        self.env.load(dict(told))
        self.done: list[str] = []
        self.state: Any = None

    def play(self, done: Sequence[str], act: str | None) -> dict[str, Any]:
        if self.state is None or self.done != list(done[: len(self.done)]):
            self.state, self.done = self.env.reset(), []
        for command in [*done[len(self.done) :], *([act] if act is not None else [])]:
            self.state = self.env.step(command)[0]
            self.done.append(command)
        return self._told()

    def _told(self) -> dict[str, Any]:
        state = self.state
        names = {name: info.name for name, info in state["_entity_infos"].items()}
        facts = changing(([fact.name, *(v.name for v in fact.arguments)] for fact in state["_facts"]), names)
        commands = list(state["admissible_commands"])
        return {"text": state.feedback, "won": bool(state["won"]), "commands": commands, "facts": sorted(facts)}


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


if __name__ == "__main__":
    main(Engine)
