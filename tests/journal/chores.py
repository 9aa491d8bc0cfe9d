"""A run that can be killed: skills of every policy, each of which leaves a mark that outlives its process.

The marks are compared with what the policies allow: the reference is a few lines, and knows nothing of journals.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

from bt_runtime import Run, Skill, load, skill
from bt_runtime.journal import Recording, resume
from bt_runtime.skills.skill import kind_of
from bt_runtime.testing import RUNNING, SUCCESS

POLICIES = ("fail", "verify", "repeat", "default")
EXTRA = "sequence: {name: extra, children: [{EXTRA}]}"
folder = Path()  # where the marks are


def leave(policy: str, number: int) -> None:
    """A mark, whole or not at all."""
    file = os.open(folder / "marks", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{policy}-{number}\n".encode())
    os.close(file)


def marks() -> Counter[str]:
    path = folder / "marks"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def chore(policy: str) -> type[Skill]:
    class Chore(Skill):
        left = 0

        def start(self, number: int) -> None:
            leave(policy, number)
            self.left = number % 3

        def poll(self) -> Any:
            self.left -= 1
            return RUNNING if self.left >= 0 else SUCCESS

        def verify(self, number: int) -> bool:
            return f"{policy}-{number}" in marks()

    how: dict[str, Any] = {} if policy == "default" else {"on_resume": policy}
    return skill(f"do_{policy} {{number}}", name=f"do_{policy}", **how)(Chore)  # type: ignore[return-value]


def tree(seed: int) -> tuple[str, str, list[str]]:
    """A tree of chores, one more part that is grafted into it, and what there is to do."""
    draw = random.Random(seed)
    names = [(POLICIES[draw.randrange(4)], n) for n in range(8)]
    each = [f"fallback: [do_{p}: {n}, log: '{p}-{n} was left']" for p, n in names]
    parallel = ", ".join(f"{{{c}}}" for c in each[2:5])
    lines = [each[0], each[1], f"parallel: {{children: [{parallel}]}}", each[5], each[6], "log: the work is done"]
    text = "version: 1\ntree: chores\nroot:\n  sequence:\n" + "".join(f"    - {line}\n" for line in lines)
    return text, EXTRA.replace("EXTRA", each[7]), [f"{p}-{n}" for p, n in names]


def run_chores(mode: str, place: Path, seed: int) -> dict[str, Any]:
    """`mode`: start it, or resume it. What it came to."""
    global folder
    folder = place
    skills = [chore(p) for p in POLICIES]
    text, extra, _ = tree(seed)
    if mode == "start":
        run = Run(load(text, skills=skills), journal=place / "runs")
    else:
        run = resume(next((place / "runs").glob("*.btr")), skills=skills)
    with run:
        if mode == "start":
            run.tick()
            run.insert("/chores", extra)
        if run.status is not SUCCESS:
            run.spin(hz=1000, ticks=20_000)
    return {"status": run.status.name, "ticks": run.parts.engine.count}


def wrong(place: Path, seed: int, kills: int) -> list[str]:
    """What is on the effects' side, or in the journal, and may not be."""
    global folder
    folder = place
    recording = Recording(next((place / "runs").glob("*.btr")))
    _, _, wanted = tree(seed)
    grafted = any(e.kind == "change" for e in recording.events)
    done, found = marks(), []
    doubts = Counter(
        b["sentence"].removeprefix("do_").replace(" ", "-") for _, b in recording.of("in doubt") if b["then"] == "fail"
    )
    lines = Counter(b["text"] for _, b in recording.of("log"))
    policies = {p: kind_of(chore(p)).data["entry"].on_resume for p in POLICIES}
    for name in wanted if grafted else wanted[:-1]:
        policy, count = policies[name.split("-")[0]], done[name]
        if not count and not doubts[name]:
            found.append(f"{name} is lost, and nothing says so")
        if policy == "verify" and count != 1:
            found.append(f"{name} was done {count} times, although it can be verified")
        if count > (1 + kills if policy == "repeat" else 1):
            found.append(f"{name} was done {count} times, with {kills} kills and {policy}")
        if doubts[name] != lines[f"{name} was left"] or doubts[name] > 1:
            found.append(f"{name} failed in doubt {doubts[name]} times, and {lines[f'{name} was left']} lines say so")
    if set(done) - set(wanted):
        found.append(f"nobody wanted {set(done) - set(wanted)}")
    if lines["the work is done"] != 1:
        found.append(f"`the work is done` stands {lines['the work is done']} times in the journal")
    if recording.result != "SUCCESS" or sum(e.kind == "closed" for e in recording.events) != 1:
        found.append(f"the journal says {recording.result or 'nothing'} of the end")
    return found
