"""The house as a suite: our homes, VirtualHome's apartments from a data folder, tasks, and an oracle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple, get_args

from bt_envs.house import files
from bt_envs.house.catalogue import Catalogue, read_catalogue
from bt_envs.house.chores import Chore, can_be_done, make_chore, read_chores
from bt_envs.house.expert import Expert, Knows
from bt_envs.house.goals import conditions
from bt_envs.house.graph import read_graph
from bt_envs.house.home_file import read_home
from bt_envs.house.layout import House
from bt_envs.house.rulebook import Asked, Rulebook, read_rulebook
from bt_envs.house.rules import PROCESSES, Rules, as_data, describe, sentence
from bt_envs.house.start import house_of
from bt_envs.house.steward import Steward
from bt_envs.house.tasks import Errand, fits, make_task, read_errands
from bt_envs.house.wah import CUT_OFF, PARTS, recorded, spoken
from bt_envs.house.world import Feedback, HouseWorld
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.language.project import find, folders
from bt_runtime.skills.worlds.content import read_json
from bt_runtime.skills.worlds.outline import told
from bt_runtime.skills.worlds.registry import Read, Split, Wanted, choose_kinds, no_more_options
from bt_runtime.types import Task, World

# Makes the tasks of one kind, whichever file describes it, in the homes that have what it needs.


@dataclass(frozen=True)
class Maker:
    catalogue: Catalogue
    errands: Mapping[str, Errand]
    chores: Mapping[str, Chore]
    usual: Rules  # rules for chores, by default
    rules: Rules | None
    hint: bool

    def fit(self, kind: str, homes: Iterable[House]) -> list[House]:
        if kind in self.errands:
            return [home for home in homes if fits(self.errands[kind], home)]
        return [home for home in homes if can_be_done(self.chores[kind], self.rules or self.usual, home)]

    def make(self, kind: str, home: House, rng: Random, name: str) -> Task:
        if kind in self.errands:
            return under(self.rules, make_task(self.errands[kind], home, self.catalogue, rng, name))
        chore, rules = self.chores[kind], self.rules or self.usual
        return make_chore(chore, rules, home, self.catalogue, rng, name, self.hint)


def under(rules: Rules | None, task: Task) -> Task:
    """Returns the task in a house with these rules."""
    return task if rules is None else task._replace(data={**task.data, "rules": as_data(rules)})


_ABOUT = ("things", "tasks", "rules")  # the files in envs/house that are no houses


class Content(NamedTuple):
    catalogue: Catalogue
    errands: Mapping[str, Errand]
    rulebook: Rulebook
    chores: Mapping[str, Chore]
    homes: dict[str, House]
    split: dict[str, str]  # home → split


class HouseSuite:
    name = "house"
    kinds: Sequence[str] = ("setup_table", "put_fridge", "put_dishwasher", "prepare_food", "prepare_snack")
    asked_for: Sequence[str] = tuple(PROCESSES)  # kinds that are made only when they are named
    skills = "house"
    formats: Sequence[str] = files.FORMATS
    reads_data: Sequence[Literal["open", "tasks"]] = ("open", "tasks")

    def open(
        self,
        *,
        feedback: Feedback = "full",
        sitting: bool = False,
        rules: Asked = None,
        data: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> World:
        """Opens a world. `feedback`: "full", "detailed" (a refusal is one sentence with the cause) or "terse"
        ("Nothing happens.").
        `sitting`: offers `sit on` too.
        `rules`: the rules for tasks without any, as a number or as the rules themselves.
        `data`: also loads the apartments in `house/` of that folder."""
        no_more_options(self.name, options, ("feedback", "sitting", "rules", "data"))
        if feedback not in get_args(Feedback):
            raise BtError(
                f"feedback is {', '.join(get_args(Feedback))}, not {feedback!r}", "full and detailed give reasons"
            )
        content = load_content()
        homes = {**content.homes, **(apartments(Path(data), content.catalogue) if data else {})}
        own = None if rules is None else content.rulebook.find(rules)
        return HouseWorld(content.catalogue, homes, content.rulebook, feedback, sitting, own)

    def tasks(
        self,
        seed: int,
        count: int,
        split: Split = "train",
        kinds: Sequence[str] | None = None,
        *,
        homes: Sequence[str] | str | None = None,
        source: str = "made",
        part: str = "all",
        rules: Asked = None,
        hint: bool | str = False,
        file: str | os.PathLike[str] | None = None,
        data: str | os.PathLike[str] | None = None,
        **options: Any,
    ) -> list[Task]:
        """Returns up to `count` tasks of the given split and kinds. Each home serves one split; apartments are for
        evaluation.

        `homes`: only these homes; "data" means the apartments of `data`.
        `source`: "made" invents tasks, "wah" reads Watch-And-Help's and "wah_nl" WAH-NL's.
        `file`: reads this file instead of all of `data`.
        `part`: for WAH-NL all, held (for evaluation) or the rest. Held is each fifth training task, and the test
        set.
        `rules`: house rules for clean, heat and cool, as a number of the split's sets or the rules themselves.
        `hint`: the goals name the place of the thing."""
        no_more_options(self.name, options, ("homes", "source", "part", "rules", "hint", "file", "data"))
        content = load_content()
        theirs = apartments(Path(data), content.catalogue) if data and _flats_needed(source, file) else {}
        known = {**content.homes, **theirs}
        usual = self.kinds if rules is None else self.asked_for
        wanted = choose_kinds((*content.errands, *self.asked_for), kinds or usual)
        ruled = None if rules is None else content.rulebook.find(rules, split)
        if source != "made":
            rng = Random(f"house {source} {seed}")
            found = _of_others(source, part, file or data, content, known, rng, count, wanted)
            return [under(ruled, task) for task in found]
        own = [h for h in known.values() if content.split.get(h.name, "eval") == split]
        named = list(theirs) if homes == "data" else [homes] if isinstance(homes, str) else homes
        chosen = [_home(known, name) for name in named] if named else own
        rng = Random(f"house {split} {seed}")
        maker = Maker(
            content.catalogue, content.errands, content.chores, content.rulebook.usual, ruled, hint in (True, "yes")
        )
        able = [(kind, where) for kind in wanted if (where := maker.fit(kind, chosen))]
        if not able:
            raise BtError("none of these homes has what these tasks need", f"homes: {', '.join(known)}")
        number = str(rules).removeprefix(f"{split} ").replace(" ", "-")
        suffix = f"-rules-{number}" if isinstance(rules, int | str) else ""
        made = []
        for i in range(count):
            kind, where = able[i % len(able)]
            made.append(maker.make(kind, rng.choice(where), rng, f"house-{split}-{seed}-{i:04}{suffix}"))
        return made

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        return files.read(self, path, wanted)

    def wanted(self, task: Task) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for condition in conditions(task.data.get("goal", ())):
            if condition.thing:
                found[condition.thing] = found.get(condition.thing, 0) + condition.amount
        return found

    def hidden(self, kind: str, options: Mapping[str, str]) -> Sequence[str]:
        """The rule that tasks of this kind follow, when tasks are made with `rules`."""
        if "rules" not in options:
            return ()
        rules = load_content().rulebook.find(options["rules"])
        return [sentence(kind, rules.of[kind])] if kind in rules.of else describe(rules)

    def oracle(
        self, world: World, task: Task, *, knows: Knows = "seen", told: bool = True, **options: Any
    ) -> Iterator[str]:
        """The oracle's sentences. `knows="all"`: it knows where everything is. `told=False`: it does not know the house
        rules and learns them from refusals."""
        no_more_options(self.name, options, ("knows", "told"))

        def acts() -> Iterator[str]:
            """Builds the expert when the first sentence is requested, after the world's reset."""
            yield from _expert(world, knows, told).run()

        return acts()


SUITE = HouseSuite()


def _expert(world: World, knows: Knows, told: bool) -> Expert:
    if not isinstance(world, HouseWorld):
        raise BtError("this oracle knows the house only", "open the world with open_world('house')")
    return Expert(world, knows) if world.rules is None else Steward(world, knows, told=told, goal=world.asked)


def load_content() -> Content:
    """Loads the content of envs/house. The project's files take precedence over shipped ones."""
    named: dict[str, Path] = {}
    for place in folders("envs"):
        for path in sorted((place / "house").glob("*.yaml")):
            named.setdefault(path.stem, path)
    return _load(tuple((stem, path, path.stat().st_mtime_ns) for stem, path in sorted(named.items())))


@lru_cache(maxsize=4)
def _load(files: tuple[tuple[str, Path, int], ...]) -> Content:
    """Loads the content, cached by file and modification time; the result is immutable."""
    paths = {stem: path for stem, path, _ in files}
    for stem in _ABOUT:
        if stem not in paths:
            raise BtError(f"envs/house/{stem}.yaml is missing", f"looked beside {find('envs', 'house/things')}")
    catalogue = read_catalogue(paths["things"])
    errands = read_errands(paths["tasks"], catalogue)
    homes: dict[str, House] = {}
    split: dict[str, str] = {}
    for stem, path in paths.items():
        if stem not in _ABOUT:
            home, own = read_home(path, catalogue)
            homes[home.name], split[home.name] = home, own
    rulebook, chores = read_rulebook(paths["rules"], catalogue), read_chores(paths["rules"], catalogue)
    return Content(catalogue, errands, rulebook, chores, homes, split)


def _of_others(
    source: str,
    part: str,
    data: str | os.PathLike[str] | None,
    content: Content,
    known: dict[str, House],
    rng: Random,
    count: int,
    kinds: Sequence[str],
) -> list[Task]:
    """Returns up to `count` tasks of WAH or WAH-NL, in an order decided by the seed."""
    if source not in ("wah", "wah_nl"):
        raise BtError(f"tasks come from made, wah or wah_nl, not `{source}`", "source='made' needs no data")
    if part not in PARTS:
        raise BtError(f"the parts are {', '.join(PARTS)}, not `{part}`", "part='held' is for evaluation")
    if data is None:
        raise BtError(f"`{source}` is outside data", "name its folder: --data DIR, or BTR_DATA")
    place = Path(data) / "wah" if (Path(data) / "wah").is_dir() else Path(data)
    flats = {name: home for name, home in known.items() if name not in content.homes}
    found: Iterator[Task]
    if source == "wah":
        paths = files.of_forms(place, *(("recorded", "episode") if place.is_file() else ("recorded",)))
        found = recorded(paths, content.catalogue, content.errands, rng)
    else:
        paths = files.of_forms(place, "spoken", "spoken, with graphs")
        found = spoken(paths, content.catalogue, content.errands, flats, rng, part)
    if not paths:
        raise BtError(
            f"there are no tasks of `{source}` in {place}{told(place)}", "give the folder that holds `wah/`, or a file"
        )
    tasks = list(found)
    rng.shuffle(tasks)
    return [task for task in tasks if task.kind in kinds][:count]


def _flats_needed(source: str, file: str | os.PathLike[str] | None) -> bool:
    """True when tasks need the data folder's apartments; tasks of others bring their own."""
    return file is None or (source == "wah_nl" and files.form_of(Path(file)) == "spoken")


def apartments(data: Path, catalogue: Catalogue) -> dict[str, House]:
    """Returns VirtualHome's apartments: one graph, or every graph of a folder (in its `house/`, if it has one)."""
    place = data / "house" if (data / "house").is_dir() else data
    found = {}
    for path in files.of_forms(place, "graph"):
        name = path.name.partition(".")[0].removesuffix("_graph")
        graph = read_json(path, CUT_OFF)
        whole = read_graph(graph.get("init_graph", graph), catalogue, name)
        found[name] = house_of(whole.data["house"], catalogue)
    if not found:
        raise BtError(f"no apartments in {place}", "they are graphs such as TestScene1_graph.json.gz")
    return found


def _home(known: dict[str, House], name: str) -> House:
    if name not in known:
        raise BtError(f"no home is called `{name}`", did_you_mean(name, known, f"homes: {', '.join(known)}"))
    return known[name]
