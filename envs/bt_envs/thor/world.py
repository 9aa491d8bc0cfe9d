"""The AI2-THOR world: sentences are acted in the library's process or in this one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bt_envs.alfred.room import check_containment, from_json, place
from bt_envs.thor.episode import Episode, ViewName
from bt_envs.thor.goals import TYPES, Goal
from bt_envs.thor.library import Build
from bt_envs.thor.link import Link
from bt_envs.thor.rooms import read_room
from bt_envs.thor.stage import Frame, Gone, SceneStage
from bt_runtime.language.closing import Closing
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.skills.worlds.manual import manual
from bt_runtime.types import Json, Observation, Task, Verdict

# Prepares a task's data for a stage: the room with its things placed, and the goal.


def setup_of(task: Task) -> dict[str, Json]:
    """Returns the set-up. `room` is a room file's name or a whole room; `where` moves things before the task begins."""
    try:
        given, where = task.data["room"], dict(task.data.get("where") or {})
        goal = Goal(**task.data["goal"])
        room = read_room(given) if isinstance(given, str) else from_json(given)
        strange = {*where, *where.values()} - {thing.id for thing in room.things}
        if strange:
            raise ValueError(f"not in the room: {', '.join(sorted(map(str, strange)))}")
        room = place(room, where)
        check_containment(room.things)
    except (KeyError, TypeError, ValueError) as fault:
        raise BtError(f"task {task.id} is no thor task: {fault!r}", "btr lab tasks thor") from fault
    if goal.type not in TYPES:
        raise BtError(f"task {task.id} is of no ALFRED type: {goal.type!r}", f"one of {', '.join(TYPES)}")
    return {"room": room.to_json(), "kind": room.scene, "goal": goal.to_json(), "scene": task.data.get("scene")}


NO_TASK = Observation("There is no task yet: reset comes first.", False, "no task")


RULES = (
    "- You hold one thing at most, and act on what you stand near.",
    "- What you put down goes on or in whatever you went to last; what is closed has to be opened first.",
    "- Running water cleans what is in the sink, a microwave that is closed and on heats, a closed fridge cools.",
    "- Slicing takes a knife in the hand.",
)


class Thor(Closing):
    """The AI2-THOR world. `through="library"` plays in the real library, `"scene"` in this process; sentences are
    equal."""

    instant = False  # an action may take seconds: call it off the tick

    def __init__(self, view: ViewName = "partial", through: str = "library", build: Build | None = None) -> None:
        self.view: ViewName = view
        self.through = through
        self.build = build or Build()
        self._setup: dict[str, Json] = {}
        self._deeds: list[str] = []  # acted since the reset: acting them again leads here again
        self._episode: Episode | None = None
        self._link: Link | None = None
        self._lost = ""  # why there is no simulator any more
        self._owed: list[str] | None = None  # deeds to act before anything else: this world was unpickled

    def _start(self) -> None:
        if self.through == "scene":
            self._episode = self._episode or Episode(SceneStage(), self.view)
        elif self._link is None:
            self._link = Link(self.build, self.view)
        self._lost = ""

    def _ask(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        if self._owed is not None:
            deeds, self._owed = self._owed, None
            self._start()
            self._begin(deeds)
        if self._episode is not None:
            return getattr(self._episode, method)(*arguments)
        if self._link is None:
            raise Gone(self._lost or "it was closed")
        try:
            return self._link.call(method, *arguments, timeout=timeout)
        except Gone as gone:
            self._link, self._lost = None, str(gone)
            raise

    def _lament(self) -> Observation:
        text = f"The simulator is gone: {self._lost}. A reset starts it again."
        return Observation(text, False, self._lost)

    def reset(self, task: Task) -> Observation:
        """Starts a simulator when there is none; raises BtError when none can be started."""
        setup = setup_of(task)
        self._start()
        self._setup, self._deeds, self._owed = setup, [], None
        return self._begin([])

    def _begin(self, deeds: Sequence[str]) -> Observation:
        patience = self.build.start_timeout + self.build.step_timeout * len(deeds)
        try:
            seen: Observation = self._ask("replay", self._setup, list(deeds), timeout=patience)
        except Gone:
            return self._lament()
        self._deeds = list(deeds)
        return seen

    def act(self, sentence: str) -> Observation:
        seen, done = self._told("act", sentence)
        if done:
            self._deeds.append(sentence)
        return seen

    def look(self) -> Observation:
        """Describes the scene for an agent that starts now; changes nothing."""
        return self._told("look")[0]

    def _told(self, method: str, *arguments: Any) -> tuple[Observation, bool]:
        """Returns an observation in any case, and whether the simulator gave it."""
        if not self._setup:
            return NO_TASK, False
        try:
            return self._ask(method, *arguments), True
        except Gone:
            return self._lament(), False
        except BtError as fault:
            return Observation(f"{fault.message}.", False, fault.message), False

    def skills(self) -> Sequence[str]:
        found: list[str] = self._quietly("skills", [])
        return found

    def holds(self, fact: str) -> bool | None:
        answer: bool | None = self._quietly("holds", None, fact)
        return answer

    def verdict(self) -> Verdict:
        found: Verdict = self._quietly("verdict", Verdict(0, 0))
        return found

    def survey(self) -> Mapping[str, Any]:
        """The full state of the room, for oracles and viewers; empty when there is none."""
        found: Mapping[str, Any] = self._quietly("survey", {})
        return found

    def frame(self) -> Frame | None:
        """The current picture: the camera's, or the view from above; None when frames were not requested."""
        found: Frame | None = self._quietly("frame", None)
        return found

    def _quietly(self, method: str, otherwise: Any, *arguments: Any) -> Any:
        if not self._setup:
            return otherwise
        try:
            return self._ask(method, *arguments)
        except (Gone, BtError):
            return otherwise

    def digest(self) -> str:
        return ""  # the state is the simulator's

    def snapshot(self) -> bytes:
        return json.dumps({"setup": self._setup, "deeds": self._deeds}, sort_keys=True).encode()

    def restore(self, snapshot: bytes) -> None:
        """Restores a state by repeating its actions, because Unity cannot save a scene."""
        self._setup, deeds = _saved(snapshot)
        self._deeds, self._owed = [], None
        if self._setup:
            self._start()
            self._begin(deeds)

    def manual(self) -> Mapping[str, Json]:
        return manual("thor_full" if self.view == "full" else "thor", RULES)

    def close(self) -> None:
        """Closes the world; a second call is harmless, and a reset reopens it."""
        if self._link is not None:
            self._link.close()
        if self._episode is not None:
            self._episode.close()
        self._link, self._episode, self._lost = None, None, "it was closed"

    def __getstate__(self) -> dict[str, Any]:
        return {"view": self.view, "through": self.through, "build": self.build, "snapshot": self.snapshot()}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restores a pickled world; the simulator starts on the first use, in the original's state."""
        Thor.__init__(self, state["view"], state["through"], state["build"])
        self._setup, self._deeds = _saved(state["snapshot"])
        self._owed = list(self._deeds) if self._setup else None


def _saved(snapshot: bytes) -> tuple[dict[str, Json], list[str]]:
    try:
        saved = json.loads(snapshot)
        setup, deeds = dict(saved["setup"]), [str(deed) for deed in saved["deeds"]]
        if setup:
            from_json(setup["room"])
            Goal(**setup["goal"])
            str(setup["kind"])
        return setup, deeds
    except (ValueError, KeyError, TypeError) as fault:
        raise BtError("this is no snapshot of a thor world", "use what snapshot() gave") from fault
