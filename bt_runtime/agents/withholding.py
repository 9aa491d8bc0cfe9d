"""What an agent is not offered: `done` before anything was done, and an act that has just changed nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bt_runtime.agents.kinds.checks import EARLY, IDLE, WITHHELD
from bt_runtime.agents.planner import telling
from bt_runtime.agents.surroundings import DONE
from bt_runtime.language.sentence import Sentence

Known = tuple[str, tuple[bool | None, ...]]  # the world's digest, and whether the act's effects hold


class Withholding:
    """What one agent is not offered: only `done` and acts that are known to lead nowhere."""

    STATE = ("agent", "early", "idles", "idle", "meant")

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        withheld = agent.value("withhold") if agent.spec.values.get("withhold") is not None else None
        if withheld is None:
            brings = any(kind.data["entry"].brings for kind in agent.actions.kinds)
            withheld = WITHHELD if brings and agent.register.fitted else ()
        self.early, self.idles = EARLY in withheld, IDLE in withheld
        self.idle: set[str] = set()
        self.meant: list[list[str]] | None = None  # part of the goal → facts that it may mean

    def offered(self, sentences: Sequence[str]) -> list[str]:
        left = [said for said in sentences if said not in self.idle] if self.idle else [*sentences]
        return [said for said in left if said != DONE] if self.early and self.too_early() else left

    def too_early(self) -> bool:
        """True when nothing was done, and each fact fails that a part of the goal may mean."""
        if any(step.move != "think" for step in self.agent.steps):
            return False
        if self.meant is None:
            self.meant = self.meanings()
        facts = self.agent.actions.facts
        facts.forget()
        return any(part and all(facts.holds(fact, {}) is False for fact in part) for part in self.meant)

    def meanings(self) -> list[list[str]]:
        bring = any(kind.data["entry"].brings for kind in self.agent.actions.kinds)
        found: list[list[str]] = telling().meanings(self.agent) if bring else []
        return found

    def before(self, begun: str) -> Known | None:
        """What is known of the world before an act."""
        if not self.idles:
            return None
        phrase, params = self.agent.actions.begun.get(begun, (None, {}))
        kind = next((k for k in self.agent.actions.kinds if phrase is not None and k.name == phrase.skill), None)
        brings = kind.data["entry"].brings if kind is not None else ()
        facts = self.agent.actions.facts
        facts.forget()
        told = tuple([facts.holds(fact, params) for fact in brings if params.keys() >= {*Sentence(fact).slots}])
        return self.agent.around.state(), told

    def after(self, begun: str, before: Known | None, ok: bool) -> None:
        """Keeps the act back when it is known to have changed nothing; anything else lets all acts be offered again."""
        now = self.before(begun)
        if now is None or before is None:
            return
        digest = now[0] and now[0] == before[0]
        facts = ok and now[1] and None not in now[1] and now[1] == before[1]
        if digest or (facts and not now[0]):
            self.idle.add(begun)
        else:
            self.idle.clear()
