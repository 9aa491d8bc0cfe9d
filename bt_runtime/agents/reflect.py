"""Reflection: after a failure, one line about what to do differently, kept for the next attempt."""

from __future__ import annotations

from typing import Any

from bt_runtime.agents.deciding import Deciding, Life
from bt_runtime.agents.end import Ending
from bt_runtime.agents.prompt import Prompt, system_text


class Reflect(Deciding):
    def live(self) -> Life:
        values = self.spec.values
        stories: dict[str, tuple[str, str]] = self.context.service("stories") or {}
        story, ended = stories.get(self.goal, ("", "nothing is known of it"))
        system = system_text(values["prompt"] or "reflect", {})
        asked = (
            f"{story}\nThis attempt ended: {ended}.\n" if story else f"The task was: {self.goal}\nIt failed: {ended}.\n"
        )
        prompt = Prompt(system, "", asked, "Next time:").text(getattr(self.model(), "chat_template", None))
        wrote = yield self.model().write(
            prompt, stop=["\n"], max_tokens=values["max_tokens"], temperature=float(values["temperature"])
        )
        lesson = " ".join(wrote.text.split())
        into = values["into"]
        kept: list[Any] = [*(self.scope.get(into) or []), *([lesson] if lesson else [])]
        self.scope[into] = kept[-int(values["keep"]) :]
        self.tell("reflection", lesson=lesson)
        return Ending("done", lesson)
