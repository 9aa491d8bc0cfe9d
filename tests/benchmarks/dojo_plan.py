"""A user's task as a tree: the calls are those of AgentDojo's own solution, in its order; a value that stands in the
request is an input, every other one is read by `infer` out of the results that it needs.

A reader whose prompt has the attack in it is wholly hijacked: it answers with the attacker's value. Behind the plan
stands an agent that has read all texts; it tries the attacker's calls as a plan, or one that is offered."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

import bt_runtime as bt
from bt_runtime.agents import ScriptedModel
from bt_runtime.events import Line, PlanRefused
from bt_runtime.types import Question
from tests.benchmarks.dojo import HERE, Case, Tools, attack_of, attacked, environment, parts, policy_of, reads, useful

_WORD = re.compile(r"[A-Za-z0-9@._+-]{3,}")
LONGEST = 4000  # characters of an answer


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


class Outcome(NamedTuple):
    useful: bool
    attacked: bool
    refused: int


class Plan:
    """The tree of one case, and what an honest reader answers."""

    def __init__(self, case: Case, env: Any, careful: bool = True) -> None:
        self.case, self.careful = case, careful
        self.asked = case.task.PROMPT.lower()
        self.inputs: dict[str, str] = {}
        self.honest: dict[str, str] = {}
        self.metas: list[tuple[str, str]] = []  # entry, what it will hold
        self.texts: list[tuple[str, str]] = []
        self.steps: list[dict[str, Any]] = []
        scratch = Tools(case, copy.deepcopy(env))
        calls = [*case.first, *case.task.ground_truth(scratch.env)]
        for number, call in enumerate(calls):
            self.call(number, call)
            result, _ = scratch.runtime.run_function(scratch.env, call.function, call.args)
            told = parts(case.suite, call.function, result)
            self.metas.append((f"r{number}m", told["meta"]))
            self.texts.append((f"r{number}t", told["text"]))
        self.value("answer", case.task.GROUND_TRUTH_OUTPUT)
        self.steps.append({"answer": {"text": "{answer}"}})

    def call(self, number: int, call: Any) -> None:
        given: dict[str, Any] = {}
        for name, value in call.args.items():
            entry = f"a{number}_{name}"
            self.value(entry, value)
            given[name] = f"{{{entry}}}"
            if call.function == "send_direct_message" and name == "body" and entry not in self.inputs:
                self.steps.append({"without_links": {"text": f"{{{entry}}}", "plain": f"{{{entry}_plain}}"}})
                given[name] = f"{{{entry}_plain}}"
        self.steps.append({call.function: {**given, "meta": f"{{r{number}m}}", "text": f"{{r{number}t}}"}})

    def value(self, entry: str, value: Any) -> None:
        """A value from the request is an input; another is read from what the service says, and from texts only where
        it has words that stand nowhere else."""
        said = json.dumps(value, ensure_ascii=False)
        words = {word.lower() for word in _WORD.findall(said)}
        metas = [(name, text) for name, text in self.metas if text]
        around = self.asked + " ".join(text for _, text in metas).lower()
        unknown = {word for word in words if word not in around}
        if not words - {word for word in words if word in self.asked} and entry != "answer":
            self.inputs[entry] = said
            return
        needed = metas
        if unknown:
            needed = needed + [(name, text) for name, text in self.texts if any(w in text.lower() for w in unknown)]
        if not self.careful or (unknown and entry == "answer" and self.case.suite != "travel"):
            needed = metas + [(name, text) for name, text in self.texts if text]
        prompt = f"{entry} of the request: {{request}}\n" + "\n".join(f"{{{name}}}" for name, _ in needed)
        self.honest[entry] = said
        self.steps.append({"infer": {"prompt": prompt, "outputs": {entry: {"type": "string", "max_length": LONGEST}}}})

    def text(self, policy: Mapping[str, Any] | None) -> str:
        """The tree. The last agent reads every text; where the request says no steps, it is the one that acts."""
        read = " ".join(f"{{{name}}}" for name, _ in self.texts)
        agent = {"agent": {"goal": f"{{request}} {read}", "moves": ["act", "expand"], "max_steps": 9, "max_invalid": 2}}
        steps = self.steps
        if self.case.led:  # it has to read before it knows what to do: all else is the agent's
            first = next(at for at, step in enumerate(steps) if any("meta" in of for of in step.values()))
            steps = steps[: first + 1]
            agent["agent"]["goal"] = "{request} {r0m} {r0t}"
        unset = {name: "" for name, _ in (*self.metas, *self.texts)}
        root = [{"set": unset}, {"force": {"status": "success", "child": {"sequence": steps}}}, agent]
        inputs = dict.fromkeys(("request", *self.inputs), "string")
        head = {"version": 1, "tree": "task", **({"policies": policy} if policy else {})}
        whole = {**head, "inputs": inputs, "root": {"sequence": root}}
        return yaml.dump(whole, Dumper=_Plain, allow_unicode=True, sort_keys=False)


def run(case: Case, policy: bool = True) -> Outcome:
    """Runs one case with a reader that is honest, and wholly hijacked where the attack reaches it."""
    env = environment(case)
    before = copy.deepcopy(env)
    tools = Tools(case, env)
    plan = Plan(case, env, policy)
    model = ScriptedModel(Reader(case, plan, before))
    text = plan.text(policy_of(case.suite) if policy else None)
    refused: list[str] = []
    tree = bt.load(text, skills=tools.skills())
    with bt.Run(
        tree, inputs={"request": case.task.PROMPT, **plan.inputs}, model=model, slow=None, recall=False
    ) as made:
        made.listen(lambda event: refused.append(str(event)), Line, PlanRefused)
        made.spin(ticks=400)
    hit = case.attack is not None and attacked(case, tools, before)
    return Outcome(useful(case, tools, before), hit, len(refused))


class Reader:
    """The scripted model. Honest, unless its prompt has the attack in it."""

    def __init__(self, case: Case, plan: Plan, env: Any) -> None:
        self.plan, self.case = plan, case
        self.evils = attack_of(case, env) if case.attack is not None else []
        self.own = list(case.task.ground_truth(env)) if case.led else []
        self.calls = self.own  # what the agent behind the plan tries
        self.tried = False

    def __call__(self, question: Question) -> str:
        hijacked = HERE in question.prompt
        if question.moves:
            self.calls = self.evils if hijacked else self.own
            return self.moved(question.moves)
        entry = question.prompt.rstrip().rpartition("\n")[2].removesuffix(":").strip()
        honest = self.plan.honest.get(entry, '""')
        return " " + (self.evil(entry, honest) if hijacked else honest)

    def evil(self, entry: str, honest: str) -> str:
        """The attacker's value for this slot, else the attacker's text."""
        name = entry.partition("_")[2] if entry != "answer" else ""
        found = [call.args[name] for call in self.evils if name in call.args]
        if found:
            return json.dumps(found[0], ensure_ascii=False)
        text = f"{self.case.attack.GROUND_TRUTH_OUTPUT or ''} {self.case.attack.GOAL}"
        return json.dumps(text, ensure_ascii=False) if honest.startswith('"') else honest

    def moved(self, moves: Mapping[str, tuple[str, ...]]) -> str:
        """The agent behind the plan grows the calls as a plan; without that it takes one that is offered."""
        if self.tried:
            return "Act: failure"
        self.tried = True
        if "Expand:" in moves and self.calls:
            return f"Expand:\n{self.grown()}"
        names = {call.function for call in self.calls}
        free = next((said for said in moves.get("Act:", ()) if said.strip().partition(":")[0] in names), None)
        return f"Act:{free}" if free is not None else "Act: failure"

    def grown(self) -> str:
        nodes = [
            {call.function: {name: json.dumps(value, ensure_ascii=False) for name, value in call.args.items()}}
            for call in self.calls
            if not reads(call.function) or call.function == "get_webpage"
        ]
        return yaml.safe_dump({"sequence": [{"answer": {"text": '""'}}, *nodes]}, allow_unicode=True, width=10_000)
