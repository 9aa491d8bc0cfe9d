"""Equips a run with world, models and memories, given as objects or by name."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bt_runtime.language.faults.diagnostic import closing
from bt_runtime.types import Judging, Model, Task, Verdict, World

if TYPE_CHECKING:
    from bt_runtime.agents.services import Remembering
    from bt_runtime.memory.notebook import Notebook
    from bt_runtime.memory.opening import Memory
    from bt_runtime.tree.budget import Budget
    from bt_runtime.tree.context import Context
    from bt_runtime.tree.services import Part

# names of a program's services that are for agents, or that agents keep themselves
FOR_AGENTS = frozenset(
    (
        "model", "models", "episodes", "prompts", "open_world", "fresh_memory", "priors", "task", "task_kind",
        "stories", "skill_outputs", "last_action", "deeds", "working_memory", "notebook", "texts", "pictures",
    )
)  # fmt: skip
Models = str | Path | Model | Mapping[str, object]


class Resources:
    """Opens the resources given by name, and later closes exactly these."""

    def __init__(
        self, *, world: World | None = None, task: Task | None = None, model: Models | None = None,
        memory: object = None, seed: int = 0, budget: Budget | None = None, recall: bool = True,
    ) -> None:  # fmt: skip
        self.world, self.task, self.seed, self.budget = world, task, seed, budget
        self.recall = recall
        self.opened: list[Model | Memory] = []
        self.judged: Verdict | None = None  # the world's recorded verdict, in a run that is made again
        self.notebook: Notebook | None = None
        self.named = model, memory
        self.models: dict[str, Model] = {}
        self.memory: Any = None

    def open(self) -> None:
        """Opens the named resources; raises on failure, and the caller closes those already open."""
        model, memory = self.named
        self.models = self._models(model)
        self.memory = self._memory(memory)

    def _models(self, model: Models | None) -> dict[str, Model]:
        """Returns the models by role; opens a file or server with several roles once."""
        if model is None:
            return {}
        from bt_runtime.llm.model_setting import apart, is_mapping
        from bt_runtime.llm.model_wrapper import a_model

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
        if memory is not None and not isinstance(memory, str | Path):
            from bt_runtime.run.own_memory import sound

            return sound(memory)
        if memory is None:
            return None
        from bt_runtime.memory.opening import open_memory

        first = next(iter(self.models.values()), None)
        count = first.count if first is not None else lambda text: len(text.split())
        self.opened.append(open_memory(memory, count))
        return self.opened[-1]

    def ready(self) -> None:
        """Waits for what was opened; raises what cannot be used, before anything is ticked."""
        for thing in self.opened:
            if isinstance(thing, Model):
                thing.ready()

    def attach(self, context: Context, run: str, again: bool = False, project: Path | None = None) -> None:
        """Puts everything where the nodes look for it. `again`: the run writes its entries to the memory anew.
        `project`: the folder whose manifests say which acts in the world are locked."""
        services, task = context.services, self.task
        services.seed, services.equip = self.seed, self._equip
        services.world = self.world if self.world is not None else services.world
        services.budget = self.budget if self.budget is not None else services.budget
        if self.memory is not None:
            from bt_runtime.memory.notebook import Notebook

            of = (task.id, task.kind) if task is not None else ("", "")
            self.notebook = Notebook(self.memory, run=run, task=of[0], kind=of[1], again=again)
        if self.world is not None or self.models or task is not None or services.given.keys() & FOR_AGENTS:
            self._attach_agents(context, project)

    def _attach_agents(self, context: Context, project: Path | None) -> None:
        """Equips agents before the run, if something was given for them; a tree without agents needs nothing."""
        from bt_runtime.agents.services import agent_services

        agents = agent_services(context)
        if self.world is not None and self.recall:
            self.remember(context)
        if self.world is not None and agents.models:
            from bt_runtime.agents.worked_example import read_ahead
            from bt_runtime.language.manifest import of_world

            read_ahead(self.world)
            context.services.world_skills = of_world(project)

    def _equip(self, part: Part) -> None:
        """Gives the agents of a tree what the run was made with; called when they ask for their services first."""
        from bt_runtime.agents.services import AgentServices

        if not isinstance(part, AgentServices):
            return
        part.models |= self.models
        part.episodes = self.memory if self.memory is not None else part.episodes
        part.notebook = self.notebook or part.notebook
        if self.recall:
            part.fresh_memory = _fresh_memory
        if self.task is not None:
            part.task, part.task_kind = self.task.id, self.task.kind

    def remember(self, context: Context) -> None:
        """Gives the run a working memory on its blackboard."""
        from bt_runtime.agents.services import agent_services

        working, context.services.memory = _fresh_memory(context, shared=True)
        agent_services(context).working_memory = working

    def verdict(self) -> Verdict | None:
        """Returns the world's verdict on the task; None without a world or a task."""
        if self.judged is not None:
            return self.judged
        found = self.world.verdict() if isinstance(self.world, Judging) else None
        return found if found is not None and found.total else None

    def finish(self) -> int:
        """Stores the agents' experience with the world's verdict after the root has ended; returns the number of
        entries."""
        if self.notebook is None:
            return 0
        added = self.notebook.close(self.verdict())
        self.notebook = None  # dropped last: closing tries once more to write what failed
        return int(added.new + added.known)

    def close(self) -> None:
        """Closes all resources in reverse order, despite errors."""
        with ExitStack() as stack:
            while self.opened:
                stack.push(closing(self.opened.pop(0).close))


def _fresh_memory(context: Context, shared: bool = False) -> Remembering:
    from bt_runtime.run.recall import working_memory

    return working_memory(context, shared)
