"""The pictures of a recorded run: the tape keeps their marks, a folder beside the journal their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bt_runtime.agents.pictures import Pictures
from bt_runtime.agents.services import agent_services
from bt_runtime.journal import parts
from bt_runtime.journal.folder import pictures_of
from bt_runtime.journal.recordable import Recordable
from bt_runtime.journal.taped import TapedJob
from bt_runtime.llm import picture
from bt_runtime.types import Job, Json, Wake


class PicturesPart(parts.JournalPart):
    """Puts the tape before a run's pictures; a replay reads marks, and no file."""

    def wrap(self, run: Recordable, tape: parts.Taping, head: Mapping[str, Json]) -> None:
        if not head.get("models"):
            return
        inner = Pictures(pictures_of(tape.path) if tape.path is not None else None)
        agent_services(run.context).pictures = TapedPictures(tape, inner)


PICTURES = PicturesPart()


class TapedPictures:
    def __init__(self, tape: parts.Taping, inner: Pictures) -> None:
        self.tape, self.inner = tape, inner

    def take(self, named: str, wake: Wake | None = None) -> Job[str]:
        def read(kept: Mapping[str, Any]) -> str:
            mark = str(kept["texts"][0])
            self.inner.taken.update(picture.marks(mark))
            return mark

        job: TapedJob[str] = TapedJob(
            self.tape, ("seek", "found"), {"way": "picture", "goal": named}, {},
            lambda: self.inner.take(named, wake), read, lambda mark: {"texts": [mark], "why": "a picture"},
        )  # fmt: skip
        job.wakes = wake is not None
        return job

    def files(self, prompt: str) -> tuple[str, ...]:
        return self.inner.files(prompt) if self.tape.goes_on else ()
