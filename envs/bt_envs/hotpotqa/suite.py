"""HotpotQA as a suite: invented encyclopedias, or a file with questions and paragraphs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from bt_envs.hotpotqa import files, invent
from bt_envs.hotpotqa.files import Question
from bt_envs.hotpotqa.wiki import Page, Wiki
from bt_envs.hotpotqa.world import HotpotQA
from bt_envs.index_file import place_of
from bt_envs.sources import Source, whole
from bt_runtime.skills.worlds.registry import Read, Split, Wanted, choose_kinds, no_more_options, shared_out
from bt_runtime.types import Task, World


class HotpotSuite:
    name = "hotpotqa"
    kinds: Sequence[str] = ("bridge", "comparison")
    skills = "hotpotqa"
    splits: Sequence[Split] = ("train", "dev", "eval")
    formats: Sequence[str] = ("HotpotQA's questions with their paragraphs",)
    reads_data: Sequence[Literal["open", "tasks"]] = ("open", "tasks")

    def open(
        self, *, data: str | os.PathLike[str] | None = None, wording: str = "react", index: str = "", **options: Any
    ) -> World:
        """Opens a world. `data`: a file of questions, or its folder. `index`: the folder of the search index, by
        default the user's cache."""
        no_more_options(self.name, options, ("data", "wording", "index"))
        outside = files.file_of(Path(data)) if data else None

        theirs = partial(wiki_at, outside, outside.stat().st_mtime_ns, index) if outside else None
        return HotpotQA(Source(invent.wiki, theirs), wording)

    def tasks(
        self, seed: int, count: int, split: Split = "train", kinds: Sequence[str] | None = None,
        *, data: str | os.PathLike[str] | None = None, part: str = "split", **options: Any,
    ) -> list[Task]:  # fmt: skip
        """Returns up to `count` tasks. Each split has its own questions of `data`, chosen by id; `part="all"` takes
        them all.

        Without `data`, questions are invented; an invented encyclopedia belongs to one split."""
        no_more_options(self.name, options, ("data", "part"))
        chosen = choose_kinds(self.kinds, kinds)
        if data:
            known = read(path := files.file_of(Path(data)), path.stat().st_mtime_ns)
            fit = (question for question in known if question.kind in chosen)
            own = shared_out(fit, lambda question: str(question.id), self.name, seed, split, part, path)
            return [_task(q.id, q, {}) for q in own[:count]]
        made = [invent.question(split, seed, chosen[i % len(chosen)], i) for i in range(count)]
        return [_task(f"hotpotqa-{q.id}", q, {"invented": f"{split}-{seed}"}) for q in made]

    def read(self, path: Path, wanted: Wanted) -> Read | None:
        return whole(self, path, wanted) if files.is_ours(path) else None

    def wanted(self, task: Task) -> Mapping[str, int]:
        return {str(title): 1 for title in task.data.get("titles", ())}

    def oracle(self, world: World, task: Task, **options: Any) -> Iterator[str]:
        no_more_options(self.name, options, ())
        for title in task.data["titles"]:
            yield f"search[{title}]"
        if isinstance(world, HotpotQA) and world.says(str(task.data["answer"])):
            yield f"lookup[{task.data['answer']}]"
        yield f"finish[{task.data['answer']}]"


SUITE = HotpotSuite()


@lru_cache(maxsize=4)
def read(path: Path, changed: int) -> tuple[Question, ...]:
    return tuple(q._replace(pages=()) for q in files.questions(path))


@lru_cache(maxsize=4)
def wiki_at(path: Path, changed: int, index: str) -> Wiki:
    pages: Iterator[Page] = (page for q in files.questions(path) for page in q.pages)
    return Wiki.at(place_of(path, index, "hotpotqa"), pages)


def _task(name: str, asked: Question, more: Mapping[str, str]) -> Task:
    data = {"question": asked.text, "answer": asked.answer, "titles": list(asked.titles), **more}
    return Task(name, asked.kind, asked.text, data)
