"""Scores of recorded decisions for the page of a run. A child process loads the model; the page's own never does."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.format import visible
from bt_runtime.language.project import child
from bt_runtime.run.view.beside import Command
from bt_runtime.types import Json

WAIT = 600.0  # seconds for one question
_HINT = "choose another decision"


class Scoring:
    """Scores one decision at a time, with the model that was named to `btr view`."""

    def __init__(self, model: str | None) -> None:
        self.model = model
        self.lock = threading.Lock()
        self.asked: subprocess.Popen[bytes] | None = None
        self.over = False

    def of_journal(self, path: Path, command: Command) -> Command:
        """Adds `scores` to the commands of the page of a recorded run."""

        def answered(name: str, given: dict[str, Any]) -> Any:
            return self.scores(path, given) if name == "scores" else command(name, given)

        return answered

    def scores(self, path: Path, given: dict[str, Any]) -> dict[str, Json]:
        step = given.get("step")
        if type(step) is not int or step < 1:
            raise BtError("`scores` needs the number of a decision", 'such as {"step": 3}')
        if self.model is None:
            raise BtError("no model is named: start the page by `btr view RUN --model FILE`", "name the run's model")
        if not self.lock.acquire(blocking=False):
            raise BtError("another decision is being scored", "wait for it")
        try:
            return {"model": self.model, "places": self._scored(path, step)}
        finally:
            self.asked = None
            self.lock.release()

    def _scored(self, path: Path, step: int) -> Json:
        words = [
            "view",
            "prompt",
            str(path.absolute()),
            "--step",
            str(step),
            "--scores",
            "--json",
            "--model",
            str(self.model),
        ]
        pipe = subprocess.PIPE
        self.asked = child.start(
            child.python("bt_runtime.cli", *words), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
        if self.over:
            self.asked.kill()
        try:
            told, fault = self.asked.communicate(timeout=WAIT)
        except subprocess.TimeoutExpired as slow:
            self.asked.kill()
            self.asked.communicate()
            raise BtError(f"the model took longer than {WAIT:.0f} seconds", _HINT) from slow
        if self.asked.returncode:
            raise BtError(visible(fault.decode("utf-8", "replace").strip()[:500]) or "the scores broke off", _HINT)
        places: Json = json.loads(told)
        return places

    def close(self) -> None:
        self.over = True
        asked = self.asked
        if asked is not None:
            asked.kill()
