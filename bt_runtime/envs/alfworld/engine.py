"""The process that plays games on the real engine: a line of JSON asks, a line of JSON answers.

Started by `pool`. It keeps one game, and where in it it is: a question names the commands that lead to its place, so
that any worker can answer it, by acting them again if need be.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

from bt_runtime.envs.alfworld.game import changing
from bt_runtime.envs.alfworld.words import spoken
from bt_runtime.project import orphan


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


def answer(engine: Any, asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(engine.play(asked["problem"], asked["goal"], asked["done"], asked["act"]))
    except (Exception, SystemExit) as problem:  # its translator leaves by sys.exit
        engine.game = None
        return {"fault": f"{type(problem).__name__}: {problem}"}


def serve(sock: socket.socket, make: Any) -> None:
    """Until the parent goes away."""
    engine = None
    with sock, sock.makefile("rwb") as line:
        while asked := line.readline():
            if engine is None:
                engine = make()
            line.write(json.dumps(answer(engine, json.loads(asked))).encode() + b"\n")
            line.flush()


def main(make: Any = Engine) -> int:
    orphan.heed()
    with redirect_stdout(sys.stderr):
        serve(socket.socket(fileno=int(sys.argv[1])), make)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
