"""The child process of a `worker_pool`, which plays episodes: it reads requests and writes replies as lines of JSON."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any, NoReturn, Protocol

from bt_runtime.language.project import orphan


class GameEngine(Protocol):
    game: Any  # the game under way; None: the next question sets one up

    def play(self, problem: str, goal: str, done: Sequence[str], act: str | None) -> Mapping[str, Any]:
        """Returns the state after `done`, and after `act` when there is one."""


def answer(engine: GameEngine, asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return dict(engine.play(asked["problem"], asked["goal"], asked["done"], asked["act"]))
    except (Exception, SystemExit) as problem:  # an engine may leave by sys.exit
        engine.game = None
        return {"fault": f"{type(problem).__name__}: {problem}"}


def serve(sock: socket.socket, make: Callable[[], GameEngine]) -> None:
    """Answers requests until the parent closes the socket."""
    engine = None
    with sock, sock.makefile("rwb") as line:
        while asked := line.readline():
            engine = make() if engine is None else engine
            line.write(json.dumps(answer(engine, json.loads(asked))).encode() + b"\n")
            line.flush()


def main(make: Callable[[], GameEngine]) -> NoReturn:
    """Serves requests. The command's last argument is the number of the socket."""
    orphan.heed()
    with redirect_stdout(sys.stderr):
        serve(socket.socket(fileno=int(sys.argv[1])), make)
    sys.stderr.flush()
    os._exit(0)
