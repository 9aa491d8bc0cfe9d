"""What the shipped model has learnt stays byte for byte: prompts, the moves and options offered, the forms of plans.

A wayward model answers by the hash of what it is asked, so that one digest covers all questions of an episode, and the
questions that followed from its answers. When a change of these is meant, the starter must be taught anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from bt_runtime import Budget, Run, load
from bt_runtime.agents import ScriptedModel
from bt_runtime.agents.autoplan import CUES, LESSON
from bt_runtime.agents.scripted import ScriptedAnswer
from bt_runtime.cli import main
from bt_runtime.plugins import open_suite
from bt_runtime.skills.worlds.registry import open_world
from bt_runtime.types import Question

STRATEGIES = ("react", "reactree", "adapt", "plan_and_execute", "try_again", "reflexion", "lota")
PARTS = ("find the apple", "take the apple 1 from table 1", "craft 1 stick using 2 planks", "go to fridge 1", "done")
THOUGHTS = ("It is not here.", "apple: table 1. Wants 2.", "The fridge is next")
EXPANSIONS = (
    "sequence: [{0}, {1}]",
    "fallback: [{0}, {1}]",
    "sequence: [{0}, {{act: {1}}}, {0}]",
    "parallel: [{0}, {1}]",
    "sequence: [{0}, {{fallback: [{1}, {0}]}}]",
    "bogus: [{0}]",
)
STEPS = (
    "Step 1: {0}\nStep 2: {1}\nExecution Order: (Step 1 AND Step 2)\n",
    "Step 1: {1}\nStep 2: {0}\nExecution Order: (Step 1 OR Step 2)\n",
    "Step 1: {0}\nStep 2: {1}\nStep 3: {0}\nExecution Order: (Step 1 AND (Step 2 OR Step 3))\n",
    "Step 1: no plan\n",
)
ENDS = ("done", "failure")
AGAIN, ATTEMPT = ("try_again", "reflexion"), 8  # acts of an attempt of these, so that there are several
OF_KIND = {"choose": "options", "decide": "moves", "write": "stop"}  # what else stands in a question


class Wayward:
    """Answers by the hash of the question, and keeps a digest of all questions."""

    def __init__(self, seed: int, plans: tuple[str, ...]) -> None:
        self.seen = sha256(str(seed).encode())
        self.plans = plans

    def __call__(self, ask: Question) -> str:
        told = {name: getattr(ask, name) for name in ("kind", "prompt", OF_KIND[ask.kind])}
        self.seen.update(repr(sorted(told.items())).encode("utf-8", "surrogatepass"))
        draw = int.from_bytes(self.seen.digest()[:8])
        if ask.kind == "choose":
            return one_of(ask.options, draw)
        if ask.kind == "decide":
            # more acts than thoughts: a move counts as often as it has options, up to five
            moves = [move for move, options in ask.moves.items() for _ in range(min(5, len(options)) or 1)]
            move = moves[draw % len(moves)]
            options = ask.moves[move]
            return str(move + (one_of(options, draw // 7) if options else ""))
        forms = THOUGHTS if ask.prompt.endswith("\nThink:") else self.plans
        return forms[draw // 25 % len(forms)].format(PARTS[draw % 5], PARTS[draw // 5 % 5])


class Asked(ScriptedModel):
    """The grammar of an answer, and how it is sampled, belong to the question; but numbered plans are only held to what
    they were taught as: their grammar takes nothing from them (tests/llm/test_plan_lines.py)."""

    def __init__(self, script: Wayward) -> None:
        super().__init__(script)
        self.wayward = script

    def ask(self, question: Question) -> ScriptedAnswer:
        if question.kind == "write":
            lesson = question.prompt.endswith(CUES[LESSON])  # is never sampled by a seed, and is asked without one
            named = ("max_tokens", *(() if lesson else ("seed",)), "stop", "temperature")
            how = {name: getattr(question, name) for name in named}
            told = sorted({**how, "stop": [*question.stop]}.items())
            grammar = () if question.prompt.endswith("# Think:") else tuple(question.grammar or ())
            self.wayward.seen.update(repr((grammar, told)).encode())
        return super().ask(question)


def one_of(options: Sequence[str], draw: int) -> str:
    """Any; an end only once in a while, so that episodes go on."""
    kept = [o for o in options if o.strip() not in ENDS] if draw % 23 else []
    return (kept or options)[draw // 23 % len(kept or options)]


def asked(strategy: str, suite: str, memory: Path | None = None) -> str:
    """The digest of all that a model is asked in three tasks, one of training among them."""
    tree, found, count = load(strategy), [], 0
    for seed, task in enumerate([*open_suite(suite).tasks(11, 2, "eval"), *open_suite(suite).tasks(12, 1, "train")]):
        world = open_world(suite)
        world.reset(task)
        script = Wayward(seed, EXPANSIONS if strategy == "reactree" else STEPS)
        model = Asked(script)
        with Run(
            tree, inputs={"goal": task.goal}, world=world, task=task, model=model, seed=seed,
            memory=memory, budget=Budget(decisions=60),
        ) as run:  # fmt: skip
            for node in run.nodes():
                if strategy in AGAIN and node.spec.kind.name == "agent":
                    node.spec.values["max_steps"] = ATTEMPT
            run.spin(seconds=60)
        count += len(model.asked)
        found.append(script.seen.hexdigest()[:16])
        world.close()
    assert count > 55, "hardly anything was asked"
    return " ".join(found)


@pytest.mark.parametrize("suite", ["house", "textcraft"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_asks_what_it_always_asked(strategy: str, suite: str) -> None:
    """Word for word, whatever was answered before: prompts, options in their order, and how refusals are told."""
    assert asked(strategy, suite) == ASKED[strategy, suite]


@pytest.mark.memory
@pytest.mark.parametrize("strategy", ["reactree", "lota"])
def test_experiences_stand_in_a_prompt_as_they_always_did(strategy: str, tmp_path: Path) -> None:
    """Retrieved by the hashing embedder from the shipped experiences: examples of agents and of whole tasks."""
    pytest.importorskip("faiss")
    memory = tmp_path / "memory.db"
    assert main(["memory", "import", "household", "--embedder", "hashing", "--store", str(memory)]) == 0
    assert asked(strategy, "house", memory) == TOLD[strategy]


ASKED = {
    ("react", "house"): "aae6bde70cd08b7f 74e7d1d12088b2fc 3b2372e65a114a73",
    ("react", "textcraft"): "2d58cf48064d919d 82a82a5d65e5a332 7f367cfde618224c",
    ("reactree", "house"): "87618e3130a6d1ab c618ff35523f8ca0 276dd8e3d7fe9871",
    ("reactree", "textcraft"): "3ff519fb12f00129 765c80c184a82046 bee8dd7c266af807",
    ("adapt", "house"): "c99e198aadf484ca 1be218dd010ff581 89887819d5bf08d7",
    ("adapt", "textcraft"): "d164cdd047c1a5f2 9b136eaca81ae217 47cb7bc8c2e0a98d",
    ("plan_and_execute", "house"): "61c6c9f121cc4509 1cd22144325af562 a81668189b14ee54",
    ("plan_and_execute", "textcraft"): "7de6ae0ab0fac989 176220c075872adc b6198917198804fa",
    ("try_again", "house"): "348f4526fce98a45 de90efc4416c15b7 4a2bc04f34805ccf",
    ("try_again", "textcraft"): "fad02ddad15bf856 d6d8696938a0da89 c13ff440bd584e63",
    ("reflexion", "house"): "6761af4177838ff5 0affee1b8405f82e 627f419792dd539e",
    ("reflexion", "textcraft"): "1e5aca92cb1b1987 9dc3abcf82fe3545 d96da0cce61b06d8",
    ("lota", "house"): "3088e1161a309b1a cfebb9768ae4c202 42ad8b2bf05041a3",
    ("lota", "textcraft"): "a5b6af4559bcdde4 a425e83bae9c49cb 2ba9e07737c67209",
}
TOLD = {
    "reactree": "12bcda8985825ac4 f13bfdfed3618ff6 0e75e3da7c562d4f",
    "lota": "6b2b55ce0ccc108b bc3bd056d5f8ba7a b72329d09ff94b53",
}
