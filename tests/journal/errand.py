"""A run that can be killed: a world, and a scripted model that looks only at what it is asked and at the world."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from bt_runtime import Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.journal import resume
from bt_runtime.plugins import open_suite
from bt_runtime.types import Observation, Question, Task

PARTS = 3
SIZE = 4  # actions of one part; the last one goes on to the end


class Site:
    """A world whose deeds stay: its state and what was done are on the disk, whatever becomes of the process."""

    def __init__(self, name: str, folder: Path, lasting: bool) -> None:
        self.inner: Any = open_suite(name).open()
        self.suite, self.folder, self.lasting = name, folder, lasting
        self.instant = not lasting  # a robot takes its time
        self.sentences: list[str] = []  # done so far

    def reset(self, task: Task) -> Observation:
        self.sentences = []
        return self.inner.reset(task)

    def look(self) -> Observation:
        return self.inner.look()

    def skills(self):
        return self.inner.skills()

    def verdict(self):
        return self.inner.verdict()

    def holds(self, fact: str):
        return self.inner.holds(fact)

    def act(self, sentence: str) -> Observation:
        told = self.inner.act(sentence)
        self.sentences.append(sentence)
        if self.lasting:
            self.save()
        with (self.folder / "deeds").open("a") as out:
            out.write(f"{os.getpid()}\t{sentence}\n")
        return told

    def save(self) -> None:
        new = self.folder / "site.new"
        new.write_bytes(self.snapshot())
        new.replace(self.folder / "site")

    def load(self) -> None:
        if (self.folder / "site").exists():
            self.restore((self.folder / "site").read_bytes())

    def snapshot(self) -> bytes:
        return json.dumps({"inner": self.inner.snapshot().decode(), "sentences": self.sentences}).encode()

    def restore(self, snapshot: bytes) -> None:
        found = json.loads(snapshot)
        self.inner.restore(found["inner"].encode())
        self.sentences = found["sentences"]

    def close(self) -> None:
        self.inner.close()


def task_of(name: str, seed: int) -> Task:
    """One with more than a few actions."""
    suite = open_suite(name)
    return suite.tasks(seed, 1, kinds=["depth 2"] if name == "textcraft" else None)[0]


def oracle(name: str, task: Task) -> list[str]:
    """What there is to do, known beforehand."""
    suite = open_suite(name)
    world = suite.open()
    world.reset(task)
    done = []
    for sentence in suite.oracle(world, task):
        done.append(sentence)
        world.act(sentence)
    return done


def script(site: Site, plan: list[str]):
    """An agent that cuts its goal into parts; each part does what is next, by the state of the world alone."""

    def answer(ask: Question) -> str:
        prompt = ask.prompt
        goal = re.findall(r"^Your task is to: (.*)$", prompt, re.MULTILINE)[-1]
        part = re.fullmatch(r"do part (\d) of the work", goal)
        steps = prompt[prompt.rindex("Your task is to: ") :]
        if part is None:
            return "Expand:\nsequence:\n" + "\n".join(f"- do part {i} of the work" for i in range(1, PARTS + 1))
        todo = plan[reached(site, plan) :]
        enough = steps.count("\nAct: ") >= SIZE and int(part[1]) < PARTS
        return "Act: done" if enough or not todo else f"Act: {todo[0]}"

    return answer


def reached(site: Site, plan: list[str]) -> int:
    """How far the plan has been carried out; what was done twice counts once."""
    at = 0
    for sentence in site.sentences:
        if at < len(plan) and sentence == plan[at]:
            at += 1
    return at


def run_errand(mode: str, folder: Path, name: str, seed: int, lasting: bool) -> dict[str, Any]:
    """`mode`: start it, or resume it. What it came to."""
    task = task_of(name, seed)
    site = Site(name, folder, lasting)
    model = ScriptedModel(script(site, oracle(name, task)), polls=2)
    if mode == "start":
        site.reset(task)
        if lasting:
            site.save()
        run = Run(
            load("reactree"), inputs={"goal": task.goal}, world=site, task=task, model=model, journal=folder / "runs",
            seed=seed, memory=folder / "memory.sqlite",
        )  # fmt: skip
    else:
        site.load()
        run = resume(next((folder / "runs").glob("*.btr")), world=site, model=model)
    with run:
        status = run.status if run.status.name in ("SUCCESS", "FAILURE") else run.spin(hz=500, ticks=20_000)
        verdict = site.verdict()
    return {"status": status.name, "met": verdict.met, "total": verdict.total, "ticks": run.parts.engine.count}
