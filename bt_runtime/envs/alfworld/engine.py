"""Runs the real engine in a separate process, with one game at a time.

A request names the commands that lead to its state. Any worker can therefore answer, by replaying the commands if
necessary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_runtime.envs.alfworld.game import changing
from bt_runtime.envs.alfworld.words import spoken
from bt_runtime.envs.worker_process import main


class Engine:
    """TextWorld with ALFWorld's domain and words."""

    def __init__(self) -> None:
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from alfworld.info import ALFRED_PDDL_PATH, ALFRED_TWL2_PATH
        from textworld import EnvInfos
        from textworld.envs.pddl import PddlEnv

        self.env = AlfredDemangler(PddlEnv(EnvInfos(won=True, admissible_commands=True)))
        self.domain, self.grammar = (_text(path) for path in (ALFRED_PDDL_PATH, ALFRED_TWL2_PATH))
        self.game: tuple[str, str] | None = None
        self.done: list[str] | None = None
        self.state: Any = None

    def play(self, problem: str, goal: str, done: Sequence[str], act: str | None) -> dict[str, Any]:
        """The state after `done`, and after `act` when there is one."""
        if self.game != (problem, goal):
            self.game, self.done = None, None
            words = self.grammar.replace("UNKNOWN GOAL", spoken(goal))
            self.env.load({"pddl_domain": self.domain, "grammar": words, "pddl_problem": problem})
            self.game = (problem, goal)
        if self.done is None or self.done != list(done[: len(self.done)]):
            self.state, self.done = self.env.reset(), []
        for command in [*done[len(self.done) :], *([act] if act is not None else [])]:
            self.state = self.env.step(command)[0]
            self.done.append(command)
        return self.told()

    def told(self) -> dict[str, Any]:
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
