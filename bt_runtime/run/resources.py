"""What a run is equipped with: a world, models, memories. Given as objects, or as what a person would name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from bt_runtime.faults.diagnostic import closing
from bt_runtime.llm.front import a_model
from bt_runtime.llm.model_setting import apart, is_mapping
from bt_runtime.types import Judging, Model, Observation, Task, Verdict

if TYPE_CHECKING:
    from bt_runtime.memory.working import Noticer, WorkingMemory
    from bt_runtime.tree.budget import Budget
    from bt_runtime.tree.context import Context

Models = str | Path | Model | Mapping[str, Any]


class Resources:
    """Opens what was only named, when it is told to, and closes just that."""

    def __init__(
        self, *, world: Any = None, task: Task | None = None, model: Models | None = None, memory: Any = None,
        seed: int = 0, budget: Budget | None = None, recall: bool = True,
    ) -> None:  # fmt: skip
        self.world, self.task, self.seed, self.budget = world, task, seed, budget
        self.recall = recall
        self.opened: list[Any] = []
        self.judged: Verdict | None = None  # what the world said when the root ended, of a run that is made again
        self.notebook: Any = None
        self.named = model, memory
        self.models: dict[str, Model] = {}
        self.memory: Any = None

    def open(self) -> None:
        """What cannot be opened is raised; whoever asked closes what was opened by then."""
        model, memory = self.named
        self.models = self._models(model)
        self.memory = self._memory(memory)

    def _models(self, model: Models | None) -> dict[str, Model]:
        """By role; a file or a server that has several roles is opened once."""
        if model is None:
            return {}
        roles = model if isinstance(model, Mapping) and not is_mapping(model) else {"default": model}
        named_so = {role: apart(m).text() if is_mapping(m) else m for role, m in roles.items()}
        given = {str(role): m if isinstance(m, str | Path) else a_model(m) for role, m in named_so.items()}
        named = dict.fromkeys(str(m) for m in given.values() if isinstance(m, str | Path))
        opened = {name: self._model(name) for name in named}
        return {role: m if isinstance(m, Model) else opened[str(m)] for role, m in given.items()}

    def _model(self, name: str) -> Model:
        from bt_runtime.llm import open_model

        model = open_model(name)
        self.opened.append(model)
        return model

    def _memory(self, memory: Any) -> Any:
        if memory is None or not isinstance(memory, str | Path):
            return memory
        from bt_runtime.memory.episodes import Episodes

        first = next(iter(self.models.values()), None)
        count = first.count if first is not None else lambda text: len(text.split())
        self.opened.append(Episodes.open(memory, count=count))
        return self.opened[-1]

    def ready(self) -> None:
        """Waits for what was opened; raises what cannot be used, before anything is ticked."""
        for thing in self.opened:
            if isinstance(thing, Model):
                thing.ready()

    def attach(self, context: Context, run: str, again: bool = False) -> None:
        """Puts everything where the nodes look for it. `again`: what this run has told its memory is told anew."""
        services = context.services
        found = {"world": self.world, "episodes": self.memory, "budget": self.budget, "seed": self.seed}
        services.update({name: value for name, value in found.items() if value is not None})
        services.models |= self.models
        if self.world is not None and self.recall:
            self._working_memory(context)
        if self.recall:
            services.fresh_memory = fresh_memory
        if self.task is not None:
            services.task, services.task_kind = self.task.id, self.task.kind
        if self.memory is not None:
            from bt_runtime.memory.notebook import Notebook

            task, kind = (self.task.id, self.task.kind) if self.task is not None else ("", "")
            self.notebook = Notebook(self.memory, run=run, task=task, kind=kind, again=again)
            services.notebook = self.notebook

    def _working_memory(self, context: Context) -> None:
        from bt_runtime.memory.working import WorkingMemory

        board = cast(Any, _Board(context))
        working = WorkingMemory(board, noticer=noticer_of(context))
        context.services.working_memory, context.services.memory = working, Recaller(working)

    def verdict(self) -> Verdict | None:
        """How the world says the task stands; None without a world or a task."""
        if self.judged is not None:
            return self.judged
        found = self.world.verdict() if isinstance(self.world, Judging) else None
        return found if found is not None and found.total else None

    def finish(self) -> int:
        """The root has ended: what its agents lived through is written, with the world's verdict. Gives how many."""
        if self.notebook is None:
            return 0
        added = self.notebook.close(self.verdict())
        self.notebook = None  # only now: what could not be written is tried once more when the run is closed
        return int(added.new + added.known)

    def close(self) -> None:
        """All of it, in the reverse order; one that breaks does not keep the others open."""
        with ExitStack() as stack:
            while self.opened:
                stack.push(closing(self.opened.pop(0).close))


def noticer_of(context: Context) -> Noticer:
    """What the world says that one notices, else what its sentences say. Asked where nodes find the world, which a
    journal stands before."""
    from bt_runtime.memory.notice import Noticing
    from bt_runtime.memory.observation import read

    def noticer(action: str, text: str, here: Any, known: Any) -> Any:
        world = context.services.world
        return (world.notices(action, text), here) if isinstance(world, Noticing) else read(action, text, here, known)

    return noticer


def fresh_memory(context: Context) -> dict[str, Any]:
    """The working memory of one episode, and what acts on it."""
    from bt_runtime.memory.working import WorkingMemory

    working = WorkingMemory(cast(Any, _Notes()), noticer=noticer_of(context))
    return {"working_memory": working, "memory": Recaller(working)}


class _Notes:
    """A board of one's own."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        return self.kept.get(key)

    def set(self, key: str, value: Any) -> None:
        self.kept[key] = value


class _Board:
    """The run's blackboard, as working memory wants it."""

    def __init__(self, context: Context) -> None:
        self.scope = context.blackboard.root

    def get(self, key: str) -> Any:
        return self.scope.get(key)

    def set(self, key: str, value: Any) -> None:
        self.scope[key] = value


class Recaller:
    """Working memory as something to act on: what `impl: memory` in a manifest means."""

    instant = True

    def __init__(self, working: WorkingMemory) -> None:
        self.working = working

    def act(self, sentence: str) -> Observation:
        said = self.working.answer(sentence)
        return Observation(said) if said is not None else Observation("Nothing is remembered.", False, "no recall")
