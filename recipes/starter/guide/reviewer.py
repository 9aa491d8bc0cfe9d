"""A teacher that reflects on attempts and rewrites plans: told by the prompt alone, and in words that stand in it.

A summary says what was of no use, and what worked or was found; a flaw, which line of the plan was wrong or missing; a
revision, what the world has shown in the lines of a plan. The new plan is the one before, with what was shown in place
of what was believed.
"""

from __future__ import annotations

import re

from bt_envs.house.rules import PROCESSES
from bt_runtime.agents import autoplan
from recipes.starter.guide import appliance_facts as facts
from recipes.starter.guide.appliance_facts import BRING, FIND, SLOTS, TRY, Guide, Known
from recipes.starter.guide.follower import TREAT, answered, process_of

_PLAN = re.compile(r"The plan was:\n((?:\d+\. .+\n)*)")
_STEPS = re.compile(r"^(?:Think: (.+)|Act: (.+)\n(.*))$", re.MULTILINE)
_DONE = re.compile(rf"^You ({'|'.join(PROCESSES)}) ", re.MULTILINE)
_GOAL = re.compile(r"^Your task is to: (.+)$", re.MULTILINE)
_TASKS = re.compile(r"^The tasks: (.+)$", re.MULTILINE)
_SUMMED = re.compile(r"(No use|Nothing happened|Worked|Found): ([^.]+)\.")
_NOTHING = "none."


class Attempt:
    """What a prompt tells of an attempt under a plan."""

    def __init__(self, prompt: str) -> None:
        goal = _GOAL.search(prompt)
        self.process = process_of(goal[1] if goal else "")
        plan = _PLAN.search(prompt)
        self.guide = Guide(self.process, plan[1] if plan else "")
        self.shown = self._shown(prompt)
        self.known = self.guide.known.merged(self.shown)
        self.worked = _DONE.search(prompt) is not None
        self.reached = "\nThe goal was reached.\n" in prompt
        self.new = facts.sentences(self.process, self.known) != facts.sentences(self.process, self.guide.known)

    def _shown(self, prompt: str) -> Known:
        """What the world has answered, and what was found by it."""
        shown = Known()
        for thought, act, answer in _STEPS.findall(prompt):
            if act:
                treated = TREAT.fullmatch(act)
                told = answered(self.process, treated[4], answer) if treated and treated[1] == self.process else Known()
            else:
                told = Known() if thought.startswith("Step ") else facts.read(self.process, facts.split(thought))
            shown = shown.merged(told)
        return shown

    def summary(self) -> str:
        said = []
        if self.shown.useless:
            said.append(f"No use: {', '.join(self.shown.useless)}.")
        if self.shown.idle:
            said.append(f"Nothing happened: {', '.join(self.shown.idle)}.")
        known = self.known
        if self.worked:
            said.append(f"Worked: {', '.join((known.use, *known.ways()))}.")
        elif self.shown.use:
            said.append(f"Found: {', '.join((known.use, *known.ways()))}.")
        said.append("Done." if self.reached else "Not done.")
        return " ".join(said)

    def flaw(self) -> str:
        """The first line that was wrong; else what is missing."""
        believed, shown = self.guide.known, self.shown
        if believed.use and (believed.use in (*shown.useless, *shown.idle)):
            vain = facts.useless if believed.use in shown.useless else lambda _, place: facts.idle(place)
            return f"Step {self.guide.number['use']} is wrong: {vain(self.process, believed.use)}"
        if not self.new:
            return _NOTHING
        if not believed.use:
            return f"The plan does not say what {PROCESSES[self.process].does}."
        for slot in SLOTS:
            old, new = getattr(believed, slot), getattr(shown, slot)
            if old and new and old != new:
                line = facts.line(self.process, shown, slot)
                return f"Step {self.guide.number[slot]} is wrong: {line}"
        return f"The plan does not say how to use the {believed.use}."

    def revision(self) -> str:
        if not self.new:
            return _NOTHING
        told = self.known if self.known.use else self.shown
        return " ".join(facts.sentences(self.process, told))


def part(prompt: str) -> str:
    """The answer to a prompt that ends with the cue of a summary, a flaw or a revision."""
    attempt = Attempt(prompt)
    if prompt.endswith(autoplan.CUES[autoplan.SUMMARY]):
        return attempt.summary()
    return attempt.flaw() if prompt.endswith(autoplan.CUES[autoplan.FLAW]) else attempt.revision()


def rewritten(prompt: str) -> str:
    """The new plan, for a prompt that asks for one."""
    told = prompt[prompt.rfind("The tasks: ") :]
    tasks = _TASKS.search(told)
    process = process_of(tasks[1] if tasks else "")
    plan = _PLAN.search(told)
    known = Guide(process, plan[1] if plan else "").known
    for block in told.split("\nTask: ")[1:]:
        known = known.merged(_shown(process, block))
    return facts.plan(process, known) or facts.numbered((FIND, TRY, BRING))


def _shown(process: str, block: str) -> Known:
    """By the revision, where there is one; else by the summary."""
    cue, summed = f"\n{autoplan.CUES[autoplan.REVISION]} ", autoplan.CUES[autoplan.SUMMARY]
    if cue in block:
        return facts.read(process, facts.split(block.partition(cue)[2].partition("\n")[0]))
    found = Known()
    for head, words in _SUMMED.findall(block.partition(summed)[2].partition("\n")[0]):
        names = words.split(", ")
        if head in ("Worked", "Found"):
            found = found.using(names[0])
            found = facts.in_words(found, names[1:])
        else:
            for name in names:
                found = found.without(name) if head == "No use" else found.tried(name)
    return found
