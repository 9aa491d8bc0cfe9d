"""Models: the table of the llm layer, on a random 54M-parameter f16 GGUF made on the spot.

One thread for everyone. The machine may be shared: processor time is compared where both sides only compute, otherwise
the least disturbed of several runs in turn.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rows import Row

from bt_lab.run.backend import Local
from bt_lab.run.case import Setup, Strategy, cases
from bt_runtime import Budget as Spending
from bt_runtime.language.emit.dialect import Form, FormField
from bt_runtime.llm import starter
from bt_runtime.llm.decoding.grammar import any_of
from bt_runtime.llm.decoding.plan_grammar import expansion
from bt_runtime.llm.local.model import LocalModel
from bt_runtime.llm.settings import WorkerSettings
from bt_runtime.plugins import Field as SkillField
from bt_runtime.plugins import open_suite
from bt_runtime.skills.phrase import phrase_of
from bt_runtime.types import Grammar, Question
from tests.support.random_models import BENCH, MICRO, make_gguf

ROOT = Path(__file__).parents[2]
PEER = Path(os.environ.get("BTR_PEERS", ROOT / ".cache" / "peer"))  # pip install --target .cache/peer guidance
VERBS = "find,pick up,put down,open,close,turn on,turn off,slice,clean,heat,cool,go to"
THINGS = """apple,bread,bowl,cabinet,carton,chair,counter,cup,desk,drawer,dresser,egg,egg carton,fridge,garbage can,
knife,lamp,lettuce,microwave,mug,pan,plate,pot,shelf,sink,sofa,spoon,stove,table,tomato""".replace("\n", "")
SKILLS = [f" {verb} the {thing}" for verb in VERBS.split(",") for thing in THINGS.split(",")][:350]
PROMPT = 1_500  # tokens
WIDE = 152_000  # tokens of the vocabulary of many models today
FORMS = [
    Form("sequence", "children"),
    Form("fallback", "children"),
    Form("retry", "child", (FormField("times", "integer"),)),
    Form("act", "sentence"),
]
LONG = 600.0


def words(seed: int, count: int) -> str:
    return " ".join(random.Random(seed).choices(THINGS.split(","), k=count))


def prompt(model: LocalModel, seed: int, tokens: int = PROMPT, start: str = "") -> str:
    """A text of about that many tokens."""
    text = start + words(seed, tokens)
    while model.count(text + "\nAct:") > tokens:
        text = text[: int(len(text) * max(0.5, tokens / model.count(text + "\nAct:")))]
        tokens += 1
    return text + "\nAct:"


@contextmanager
def opened(path: Path, **settings: Any) -> Iterator[LocalModel]:
    """Not niced, as its peers are not: the machine may be shared."""
    with LocalModel(WorkerSettings(str(path), **{"threads": 1, "niceness": 0, **settings})) as model:
        model.choose("warm", ["a", "b"]).wait(LONG)
        yield model


@contextmanager
def cached_in(folder: str) -> Iterator[None]:
    """Workers that start inside keep the states of prompts in this folder, and find none of an earlier bench."""
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = folder
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before


def rows() -> Iterable[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = make_gguf(Path(folder) / "bench.gguf", BENCH)
        micro = make_gguf(Path(folder) / "micro.gguf", MICRO)
        for work in (
            exact,
            lambda p: parity(micro),
            greedy,
            slots,
            shared,
            guided,
            together,
            deciding,
            cancel,
            lateness,
        ):
            yield from work(path)
        wide = make_gguf(Path(folder) / "wide.gguf", replace(BENCH, vocab=WIDE))
        yield from guided(wide, f", vocabulary of {WIDE:,}")
        yield from first_plan(wide)


# choosing


def exact(path: Path) -> Iterable[Row]:
    """Cold prompts: the cache folder is empty. The peer runs each prompt once, and the options behind it one by one.

    Then a step further with the same list; then the same prompts after a new start, which finds their states on the
    disk."""
    with tempfile.TemporaryDirectory() as folder, cached_in(folder):
        with opened(path) as model, InProcess(path, flash=True) as plain:
            ours, step, peer, alone = (Spell(pid) for pid in (*[model.pid] * 2, *[os.getpid()] * 2))
            texts = [prompt(model, seed) for seed in range(3)]
            for text in texts:
                with ours:
                    chosen = model.choose(text, SKILLS).wait(LONG).text
                with step:
                    model.choose(f"{text}{chosen}\nYou see the egg.\nAct:", SKILLS).wait(LONG)
                with alone:
                    plain.prompted(text)
                with peer:
                    plain.all_scores(text, [skill + "\n" for skill in SKILLS])
        with opened(path) as model:
            again = Spell(model.pid)
            for text in texts:
                with again:
                    model.choose(text, SKILLS).wait(LONG)
    one_by_one, prompts = peer.processor / 2, alone.processor / 2  # this process was counted twice
    figures = f"ours {ours}, the prompt once and the options one by one {one_by_one * 1e3:.0f} ms"
    yield Row("exact choice of 350, cold prompt", figures, one_by_one / ours.processor, "≥ 3 ×")
    figures = f"ours {ours}, the prompt alone {prompts * 1e3:.0f} ms"
    yield Row(
        "exact choice of 350, cold prompt, against its prompt alone", figures, ours.processor / prompts, "≤ 1.5 ×"
    )
    work = "exact choice of 350, a step later, the same list: seconds of processor"
    yield Row(work, f"ours {step}, cold {ours}", step.processor, "≤ 0.4 s")
    figures = f"ours {again}, cold {ours}"
    yield Row("exact choice of 350, prompt's state on the disk", figures, one_by_one / again.processor, "")


def parity(path: Path) -> Iterable[Row]:
    """Two hundred prompts on a micro model: best-first against every option scored on its own sequence."""
    same = 0
    with opened(path) as model, InProcess(path) as plain:
        for seed in range(200):
            text = words(seed, 20) + "\nAct:"
            scores = plain.all_scores(text, [s + "\n" for s in SKILLS])
            same += model.choose(text, SKILLS).wait(LONG).index == max(range(len(scores)), key=scores.__getitem__)
    yield Row("arg max of brute force, 200 prompts of 350", f"{same} of 200 the same", same, "= 200")


def greedy(path: Path) -> Iterable[Row]:
    """Prompt cached; the peers in a process of their own, asked in turn with ours."""
    with opened(path) as model, tempfile.TemporaryDirectory() as folder:
        text = prompt(model, 7)
        (Path(folder) / "ask.json").write_text(json.dumps({"model": str(path), "prompt": text, "options": SKILLS}))
        chosen = model.choose(text, SKILLS, mode="greedy").wait(LONG)
        yield least(path, model, text, chosen.text)
        for peer, target in (("guidance", "≥ 5 ×"), ("gbnf", "≥ 3 ×")):
            name = {"guidance": "guidance's select", "gbnf": "GBNF in the high-level API"}[peer]
            work = f"greedy choice of 350, cached prompt, against {name}"
            with Peer(peer, folder) as other:
                if other.absent:
                    yield Row(work, f"not run: {other.absent}", None, target)
                    continue
                mine, theirs = Spell(model.pid), Spell(other.process.pid)
                for _ in range(15):
                    with mine:
                        model.choose(text, SKILLS, mode="greedy").wait(LONG)
                    with theirs:
                        other.choose()
            yield Row(work, f"ours {mine}, theirs {theirs}", theirs.processor / mine.processor, target)


def least(path: Path, model: LocalModel, text: str, answer: str) -> Row:
    """What bounds every way of choosing one token after the other: the answer's own tokens, decoded one by one."""
    behind, tokens = model.count(text), model.count(text + answer) - model.count(text)
    ours, bare = Spell(model.pid), Spell(os.getpid())
    with InProcess(path) as plain:
        plain.run([5] * behind, 0, 1)
        for _ in range(15):
            with ours:
                model.choose(text, SKILLS, mode="greedy").wait(LONG)
            with bare:
                for at in range(tokens):
                    plain.run([5], behind + at, 1)
            plain.context.cut(0, behind)
    each = bare.processor / 2  # this process was counted twice
    figures = f"ours {ours}, the answer's {tokens} tokens one by one {each * 1e3:.1f} ms"
    return Row(
        "greedy choice of 350, cached prompt, against decoding its answer", figures, ours.processor / each, "≤ 1.5 ×"
    )


def slots(path: Path, tokens: int = PROMPT) -> Iterable[Row]:
    """Ten skills with one slot of twenty fillers each, made anew from their source at every choice; prompt cached."""
    things, verbs = THINGS.split(",")[:20], VERBS.split(",")[:10]
    field = SkillField("thing", "string", "", True)

    def offered() -> list[str]:
        phrases = (phrase_of(verb, f"{verb} the {{thing}}", [field], {"thing": things}) for verb in verbs)
        return [f" {said}" for phrase in phrases if phrase is not None for said, _ in phrase.beginnings()]

    written = offered()
    with opened(path) as model:
        text = prompt(model, 11, tokens)
        model.choose(text, written).wait(LONG)
        plain, filled = Spell(model.pid), Spell(model.pid)
        for _ in range(15):
            with plain:
                model.choose(text, written).wait(LONG)
            with filled:
                model.choose(text, offered()).wait(LONG)
    figures = f"with slots {filled}, written out {plain}"
    yield Row("choice of 200 sentences of skills with slots", figures, filled.processor / plain.processor, "≤ 1.3 ×")


# sharing, batching


def shared(path: Path) -> Iterable[Row]:
    """Two agents over one system text of 1,200 tokens; 300 tokens of its own history each."""
    extra = 0
    with opened(path) as model:
        alone, after = Spell(model.pid), Spell(model.pid)
        for seed in range(4):
            common = prompt(model, 100 + seed, 1_200)
            with alone:
                model.choose(common + words(1, 210) + "\nAct:", SKILLS, mode="greedy").wait(LONG)
            with after:
                second = model.choose(common + words(2, 210) + "\nAct:", SKILLS, mode="greedy")
                second.wait(LONG)
            new = second.spent.prompt - model.count(common)
            extra = max(extra, second.spent.prompt - second.spent.reused - new)
    work = "step after another agent's, 1,200 shared tokens"
    yield Row(work, f"alone {alone}, after {after}", alone.processor / after.processor, "≥ 3 ×")
    yield Row("shared tokens computed again (the boundary)", f"{extra} of 1,200", extra, "≤ 2")


def together(path: Path) -> Iterable[Row]:
    """Sixteen agents with one system text of 600 tokens, 32 tokens each; with and without flash attention."""
    for flash, how in ((False, "flash=False"), (None, "the default")):
        with opened(path, flash=flash) as model:
            common = prompt(model, 200, 600)
            asks = [common + words(n, 8) for n in range(16)]
            for text in asks:
                model.write(text, max_tokens=1).wait(LONG)
            one, all_ = Spell(model.pid), Spell(model.pid)
            for _ in range(5):
                with one:
                    tokens = sum(model.write(text, max_tokens=32).wait(LONG).tokens for text in asks)
                with all_:
                    for job in [model.write(text, max_tokens=32) for text in asks]:
                        job.wait(LONG)
        slow, fast = tokens / one.processor, tokens / all_.processor
        clock = f"{tokens / all_.clock:.0f} and {tokens / one.clock:.0f} on the clock"
        figures = f"{fast:.0f} tokens/s of processor against {slow:.0f} ({clock})"
        yield Row(f"16 agents in one batch against one after another, {how}", figures, fast / slow, "≥ 3 ×")


def deciding(_path: Path) -> Iterable[Row]:
    """Agents of the starter model, everything counted, against bare calls of llama.cpp for as many new tokens."""
    tasks = open_suite("house").tasks(7, 2, "eval", None)
    setup = Setup("house", seed=7, budget=Spending(decisions=40))
    for jobs in (1, 8):
        with opened(starter()) as model:
            ours = Spell(model.pid)
            with ours:
                named = [Strategy("react", "react"), Strategy("reactree", "reactree")]
                found = list(Local({"default": model}, jobs).outcomes(setup, cases(named, tasks)))
        decisions = sum(outcome.decisions for outcome in found)
        new = sum(outcome.computed for outcome in found) // decisions
        behind = sum(outcome.prompt for outcome in found) // sum(outcome.calls for outcome in found) - new
        with InProcess(starter()) as plain:
            bare = Spell(os.getpid())
            plain.run([5] * behind, 0, 1)
            for _ in range(20):
                with bare:
                    plain.run([5] * new, behind, 1)
                plain.context.cut(0, behind)
        each, least = ours.processor / decisions, bare.processor / 2  # this process was counted twice
        figures = f"{1 / each:.0f} decisions/s of processor; {new} new tokens behind {behind} allow {1 / least:.0f}"
        yield Row(
            f"a decision of the starter model, --jobs {jobs}, against its tokens", figures, each / least, "≤ 2.5 ×"
        )


def guided(path: Path, of: str = "") -> Iterable[Row]:
    """What llguidance takes for a token, against the decode of one token behind the 1,500-token prompt."""
    skills = [s.strip() for s in SKILLS]
    with InProcess(path) as plain:
        for name, grammar in (
            ("a skill of 350", Grammar("lark", f'start: SENTENCE "\\n"\nSENTENCE: {any_of(skills)}\n')),
            ("a plan, depth 3, width 5", expansion(FORMS, skills=skills)),
        ):
            guide, decode = plain.guided(words(1, 1_000), grammar)
            figures = f"{guide * 1e6:.0f} µs a step, decode {decode * 1e3:.1f} ms (processor time)"
            yield Row(f"grammar per token, {name}{of}: % of decode", figures, 100 * guide / decode, "≤ 2 %")


def first_plan(path: Path) -> Iterable[Row]:
    """After a first choice, as an agent makes one before it plans; beside it a later plan of the same length."""
    grammar = expansion(FORMS, skills=[s.strip() for s in SKILLS])
    with opened(path) as model:
        text = prompt(model, 5)
        model.choose(text, SKILLS).wait(LONG)
        took = [timed(lambda: model.write(text, grammar=grammar, max_tokens=24).wait(LONG)) for _ in range(4)]
    figures = f"first {took[0]:.2f} s, later {min(took[1:]):.2f} s (on the clock)"
    yield Row(f"first plan after a choice, vocabulary of {WIDE:,}", figures, took[0] / min(took[1:]), "≤ 1.5 ×")


# not disturbing


def cancel(path: Path) -> Iterable[Row]:
    """From `cancel` to the worker's word that the job is gone, in mid-prefill and in mid-decode."""
    for where, target in (("prefill", "≤ 20 ms"), ("decode", "≤ 20 ms")):
        with opened(path) as model:
            gone: list[float] = []
            hear = model._worker._hear

            def listen(kind: str, *rest: Any, hear: Callable[..., None] = hear, gone: list[float] = gone) -> None:
                if kind == "gone":
                    gone.append(time.perf_counter())
                hear(kind, *rest)

            model._worker._hear = listen  # type: ignore[method-assign]
            text, took, rng = words(3, 900), [], random.Random(0)
            model.write(text, max_tokens=1).wait(LONG)
            for n in range(100):
                ask = f"{n} {words(n, 600)}" if where == "prefill" else text
                job = model.write(ask, max_tokens=400, temperature=1.0)
                time.sleep(0.05 + 0.1 * rng.random())  # anywhere in the middle
                seen, start = len(gone), time.perf_counter()
                job.cancel("bench")
                while len(gone) == seen:
                    time.sleep(0.0002)
                took.append(gone[-1] - start)
        took.sort()
        figures = f"median {took[50] * 1e3:.1f} ms, p99 {took[98] * 1e3:.1f} ms of 100"
        yield Row(f"cancel in mid-{where}, p99 in ms", figures, took[98] * 1e3, target)


def lateness(path: Path) -> Iterable[Row]:
    """The same loop beside an idle and a busy worker, in turn; p99 over all rounds."""
    import py_trees

    leaves = [py_trees.behaviours.Success(name=str(n)) for n in range(48)]
    tree = py_trees.composites.Sequence("root", memory=False, children=leaves)
    polls: list[float] = []
    for background, how in ((False, "niced"), (True, "background=True")):
        late: dict[str, list[float]] = {"idle": [], "busy": []}
        with opened(path, niceness=10, background=background) as model:
            for turn in range(10):
                busy = turn % 2 == 1
                job = model.write(f"{turn} {words(turn, 900)}", max_tokens=4_000, temperature=1.0) if busy else None
                late["busy" if busy else "idle"] += ticks(tree, job, polls, seconds=2.0)
                if job is not None:
                    job.cancel("next turn")
                    model.write("settle", max_tokens=1).wait(LONG)
        idle, busy_late = (sorted(late[k])[int(len(late[k]) * 0.99)] for k in ("idle", "busy"))
        figures = f"idle {idle * 1e3:.2f} ms, busy {busy_late * 1e3:.2f} ms"
        work = f"100 Hz tick of 50 nodes beside a busy worker, {how}: lateness p99"
        yield Row(work, figures, busy_late / idle, "≤ 1.5 ×")
    poll = sorted(polls)[int(len(polls) * 0.99)]
    yield Row("poll of a job, p99 in ms", f"{poll * 1e6:.1f} µs", poll * 1e3, "≤ 0.1 ms")


def ticks(tree: Any, job: Any, polls: list[float], seconds: float) -> list[float]:
    late, due = [], time.perf_counter() + 0.01
    for _ in range(int(seconds * 100)):
        time.sleep(max(0.0, due - time.perf_counter()))
        late.append(time.perf_counter() - due)
        tree.tick_once()
        if job is not None:
            start = time.perf_counter()
            job.poll()
            polls.append(time.perf_counter() - start)
        due += 0.01
    return late


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Spell:
    """Processor and wall-clock time of repeated work here and in another process: the machine may be shared."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.runs: list[tuple[float, float]] = []

    def __enter__(self) -> Spell:
        self.start = self._processor(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.runs.append((self._processor() - self.start[0], time.perf_counter() - self.start[1]))

    def _processor(self) -> float:
        tasks = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return time.process_time() + sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    @property
    def processor(self) -> float:
        return statistics.median(run[0] for run in self.runs)

    @property
    def clock(self) -> float:
        return statistics.median(run[1] for run in self.runs)

    def __str__(self) -> str:
        return f"{self.processor * 1e3:.1f} ms of processor ({self.clock * 1e3:.0f} on the clock)"


class InProcess:
    """llama.cpp in this process, for what is compared with. `sequences`: few where each holds a large state."""

    def __init__(self, path: Path, flash: bool = False, sequences: int = 256) -> None:
        from bt_runtime.llm.local.context import SequenceCache, TokenFeed
        from bt_runtime.llm.local.llama import Weights, begin

        begin()
        self.feed = TokenFeed
        self.weights = Weights(str(path))
        self.context = SequenceCache(self.weights, 4096, 512, 1, flash=flash, sequences=sequences)

    def __enter__(self) -> InProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()
        self.weights.close()

    def run(self, tokens: list[int], start: int, want: int, seq: int = 0) -> list[Any]:
        rows: list[Any] = []
        for at in range(0, len(tokens), 512):
            part = tokens[at : at + 512]
            wanted = max(0, min(len(part), at + len(part) - (len(tokens) - want)))
            feed = self.feed(part, start + at, (seq,), wanted)
            rows += [row.copy() for row in self.context.decode([feed])[0]]
        return rows

    def prompted(self, text: str) -> None:
        """The prompt alone."""
        self.context.clear()
        self.run(self.weights.tokens(text, begin=True), 0, 1)

    def all_scores(self, text: str, options: list[str]) -> list[float]:
        """Every option on a sequence of its own, behind one prompt."""
        from bt_runtime.llm.local.branches import logprobs

        before = self.weights.tokens(text, begin=True)
        self.context.clear()
        (after,) = self.run(before, 0, 1)
        scores = []
        for option in options:
            tokens = self.weights.tokens(text + option, begin=True)[len(before) :]
            self.context.copy(0, 1, len(before))
            rows = [after, *self.run(tokens[:-1], len(before), len(tokens) - 1, seq=1)]
            scores.append(sum(logprobs(row, [token])[0] for row, token in zip(rows, tokens, strict=True)))
            self.context.cut(1)
        return scores

    def guided(self, text: str, grammar: Any) -> tuple[float, float]:
        """Mean processor seconds of a step, forced tokens included: the grammar's part, and the decode."""
        import numpy as np

        from bt_runtime.llm.local.write import GrammarGuide, pick

        guide, dice = GrammarGuide(self.weights), np.random.default_rng(0)
        tokens = self.weights.tokens(text, begin=True)[:PROMPT]
        self.context.clear()
        (row,) = self.run(tokens, 0, 1)
        guided = decoded = 0.0
        at, steps = len(tokens), 0
        matcher = guide.start(grammar)
        for turn in range(13):
            if turn == 1:  # after the first answer: what is worked out of a grammar once, stays
                guided, decoded, steps = 0.0, 0.0, 0
            matcher.reset()
            while not matcher.is_stopped() and at < 4_000:
                start = time.thread_time()
                np.argmax(row)  # what is taken without a grammar as well: not counted, here and in `pick`
                free = time.thread_time() - start
                token = pick(row, matcher, Question("write"), dice)
                matcher.consume_token(token)
                forced = [] if matcher.is_stopped() else matcher.compute_ff_tokens()
                matcher.consume_tokens(forced)
                middle = time.thread_time()
                (row,) = self.run([token, *forced], at, 1)
                row = row + dice.standard_normal(len(row), dtype=np.float32)  # or it would write the same each time
                guided += middle - start - free * 2
                decoded += time.thread_time() - middle
                at, steps = at + 1 + len(forced), steps + 1
        return guided / steps, decoded / steps


class Peer:
    """Another library in a process of its own: makes its choice once for every line."""

    def __init__(self, name: str, folder: str) -> None:
        path = [str(PEER)] if name == "guidance" else []
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([*path, str(ROOT)])}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "peers.py"), name, str(Path(folder) / "ask.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=env,
        )
        word = self._line()
        self.absent = "" if word == "ready" else word or "it ended without a word"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def choose(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        self._line()

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
