"""The conformance kit: does what a plugin brings keep what its protocol promises? Each check raises Unfit with every
broken promise; our own models, memories, vector stores, worlds, transports and kinds pass the same checks.

    def test_my_world() -> None:
        check_world(SUITE)
"""

from __future__ import annotations

import math
import pickle
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from bt_runtime.journal.folder import journals
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.kinds.kind import Kind
from bt_runtime.language.spec import NodeSpec
from bt_runtime.memory.experience import Experience
from bt_runtime.memory.index import Index
from bt_runtime.memory.vector import pack
from bt_runtime.run.replay.replay import replay
from bt_runtime.run.run import Run, Tree, load
from bt_runtime.skills.worlds.registry import Alone, Suite
from bt_runtime.tree.clock import Manual
from bt_runtime.tree.node import RUNNING, path_of
from bt_runtime.types import Choice, Embedder, Grammar, Job, Model, Observation, Task, World, Writing

if TYPE_CHECKING:
    from bt_runtime.memory.opening import Memory

WAIT = 120.0  # seconds that a job may take
PROMPT = "The bulb is broken. What do you do?\n"
CUP = "put the cup on the shelf"
OPTIONS = (" replace the bulb", " go to sleep", " sing")


class Unfit(AssertionError):
    """Raised with all promises that the checked object broke."""


class KitPromises:
    """Collects broken promises, so that one run of a check tells all of them."""

    def __init__(self, of: object) -> None:
        self.of = of if isinstance(of, str) else type(of).__name__
        self.broken: list[str] = []

    def hold(self, holds: object, promise: str) -> None:
        if not holds:
            self.broken.append(promise)

    @contextmanager
    def step(self, promise: str) -> Iterator[None]:
        """Turns whatever raises inside into a broken promise."""
        try:
            yield
        except Exception as error:
            self.broken.append(f"{promise}: {type(error).__name__}: {error}")

    def refuses(self, call: Callable[[], object], promise: str) -> None:
        """The call must raise a BtError: one line with a way out."""
        try:
            call()
        except BtError:
            return
        except Exception as error:
            self.broken.append(f"{promise}; it raised {type(error).__name__}, which tells a person nothing")
            return
        self.broken.append(promise)

    def end(self) -> None:
        if self.broken:
            lines = "".join(f"\n- {each}" for each in dict.fromkeys(self.broken))
            raise Unfit(f"{self.of} breaks {len(self.broken)} promises:{lines}")


# Models ------------------------------------------------------------------------------------------


def check_model(model: Model) -> None:
    """Checks an open model. It asks about a dozen short questions."""
    kept = KitPromises(model)
    with kept.step("`ready` returns the model"):
        kept.hold(model.ready(WAIT) is model, "`ready` returns the model")
    with kept.step("`choose` answers"):
        first = _answer(kept, model.choose(PROMPT, OPTIONS))
        again = _answer(kept, model.choose(PROMPT, OPTIONS))
        _chosen(kept, first, OPTIONS)
        kept.hold(first.index == again.index, "the same question gives the same choice")
    with kept.step("`decide` answers"):
        moves = {"Think:": (), "Act:": OPTIONS}
        made = _answer(kept, model.decide(PROMPT, moves))
        _chosen(kept, made, ("Think:", *(f"Act:{option}" for option in OPTIONS)))
    _scored(kept, model)
    _written(kept, model)
    with kept.step("a cancelled job is dropped"):
        job = model.choose(PROMPT, OPTIONS)
        job.cancel("no longer needed")
        job.cancel("no longer needed")
        kept.hold(_quiet(job), "a cancelled job gives no answer and raises no error but its own")
        _answer(kept, model.choose(PROMPT, OPTIONS))
    with kept.step("`count` counts"):
        kept.hold(model.count("") >= 0 and model.count(PROMPT) > 0, "`count` gives a number above 0 for a text")
        kept.hold(model.count(PROMPT) == model.count(PROMPT), "`count` gives one text one number")
    with kept.step("`stats` describes the model"):
        kept.hold("model" in model.stats(), "`stats` names the `model`")
    kept.end()


def _answer(kept: KitPromises, job: Any) -> Any:
    kept.hold(isinstance(job, Job), f"`ask` returns a Job, not {type(job).__name__}")
    return job.wait(WAIT)


def _chosen(kept: KitPromises, choice: Any, options: Sequence[str]) -> None:
    kept.hold(isinstance(choice, Choice), f"`choose` and `decide` give a Choice, not {type(choice).__name__}")
    inside = 0 <= choice.index < len(options)
    kept.hold(inside and choice.text == options[choice.index], "`text` of a Choice is the option at its `index`")
    kept.hold(math.isnan(choice.logprob) or choice.logprob <= 1e-6, "a log-probability is at most 0, or nan")
    kept.hold(choice.margin >= 0, "the margin to the next option is at least 0")


def _scored(kept: KitPromises, model: Model) -> None:
    with kept.step("`scores` answers"):
        scored = _answer(kept, model.choose(PROMPT, OPTIONS, mode="scores"))
        _chosen(kept, scored, OPTIONS)
        if scored.scores is not None:
            kept.hold(len(scored.scores) == len(OPTIONS), "`scores` has one number for each option")
            best = max(range(len(OPTIONS)), key=lambda at: scored.scores[at])
            kept.hold(best == scored.index, "the chosen option has the highest score")


def _written(kept: KitPromises, model: Model) -> None:
    with kept.step("`write` answers"):
        wrote = _answer(kept, model.write(PROMPT, stop=("\n",), max_tokens=8))
        kept.hold(isinstance(wrote, Writing), f"`write` gives a Writing, not {type(wrote).__name__}")
        kept.hold("\n" not in wrote.text, "a written text ends before the stop")
        kept.hold(wrote.ended in ("stop", "grammar", "length"), "`ended` is stop, grammar or length")
        if model.constrains:
            bound = _answer(kept, model.write(PROMPT, grammar=Grammar("regex", "(yes|no)"), max_tokens=8))
            fits = bound.ended == "length" or re.fullmatch("(yes|no)", bound.text)
            kept.hold(fits, "with `constrains`, what is written keeps to the grammar")


def _quiet(job: Job[Any]) -> bool:
    try:
        job.poll()
    except BtError:
        return True
    except Exception:
        return False
    return True


# Memory ------------------------------------------------------------------------------------------


def check_embedder(embedder: Embedder) -> None:
    """Checks an embedder."""
    kept, texts = KitPromises(embedder), ["put the cup away", "open the window", "put the cup away", ""]
    with kept.step("`embed` answers"):
        vectors = [list(vector) for vector in embedder.embed(texts)]
        kept.hold(len(vectors) == len(texts), "`embed` gives one vector for each text")
        kept.hold(all(len(v) == embedder.dim for v in vectors), "every vector has `dim` numbers")
        lengths = [math.sqrt(math.fsum(x * x for x in v)) for v in vectors]
        kept.hold(all(abs(length - 1) < 1e-3 for length in lengths), "vectors are unit vectors, of an empty text too")
        alone = list(next(iter(embedder.embed(texts[1:2]))))
        near = max((abs(a - b) for a, b in zip(alone, vectors[1], strict=True)), default=0.0)
        kept.hold(near < 1e-4, "a text's vector does not depend on the other texts of its batch")
        kept.hold(vectors[0] == vectors[2], "equal texts have equal vectors")
        kept.hold(len(list(embedder.embed([]))) == 0, "no text gives no vector")
    with kept.step("`fingerprint` names the embedder"):
        named = embedder.fingerprint == embedder.fingerprint and ":" in embedder.fingerprint
        kept.hold(named, "the fingerprint is `NAME:…`, with the name of its entry point, and stays the same")
    kept.end()


def check_vectors(make: Callable[[int], Index], exact: bool = True) -> None:
    """Checks a vector store beside the full product of all vectors. `exact`: it promises every one of the nearest;
    else at least nine of ten."""
    kept, dim, chance = KitPromises(getattr(make, "__name__", "the vector store")), 64, random.Random(7)
    rows = {goal: _unit(chance, dim) for goal in range(3, 1503, 3)}
    goals, blobs = list(rows), [pack(row) for row in rows.values()]
    with kept.step("it takes vectors, and finds the nearest"):
        index = make(dim)
        kept.hold(len(index) == 0 and not index.search(blobs[0], 3), "a new store is empty, and finds nothing")
        index.add(goals[:100], blobs[:100])
        index.add(goals[100:], blobs[100:])
        kept.hold(len(index) == len(goals), "`len` counts the vectors that were added")
        found = wanted = 0
        for goal in goals[::50]:
            hits = index.search(pack(rows[goal]), 10)
            near = _nearest(rows, rows[goal], 10)
            kept.hold(hits[0].goal == goal, "a stored vector is nearest to itself")
            kept.hold([h.score for h in hits] == sorted((h.score for h in hits), reverse=True), "nearest come first")
            found, wanted = found + len({h.goal for h in hits[:10]} & set(near)), wanted + 10
            among = index.search(pack(rows[goal]), 5, goals[::7])
            kept.hold({h.goal for h in among} <= set(goals[::7]), "`within` keeps to the goals that it names")
            kept.hold(len(among) >= 5, "`within` finds as many as were asked for, where there are as many")
        kept.hold(found >= (wanted if exact else 0.9 * wanted), f"{found} of {wanted} nearest vectors were found")
        kept.hold(index.search(blobs[0], 3) == index.search(blobs[0], 3), "the same question has the same answer")
    kept.end()


def _unit(chance: random.Random, dim: int) -> list[float]:
    row = [chance.gauss(0, 1) for _ in range(dim)]
    length = math.sqrt(sum(x * x for x in row))
    return [x / length for x in row]


def _nearest(rows: dict[int, list[float]], query: Sequence[float], count: int) -> list[int]:
    return sorted(rows, key=lambda goal: -sum(a * b for a, b in zip(rows[goal], query, strict=True)))[:count]


def check_memory(open_: Callable[[], Memory]) -> None:
    """Checks an episodic memory. `open_` opens the same one each time; it must be empty at first."""
    kept = KitPromises("the memory")
    cup, window = _experience(CUP, "a"), _experience("open the window", "b")
    lost = _experience("put the plate on the shelf", "c", False)
    memory = open_()
    try:
        with kept.step("`add` stores experiences"):
            added = memory.add([cup, window, lost])
            kept.hold((added.new, added.known) == (3, 0), "`add` counts new experiences")
            kept.hold(memory.add([cup]).known == 1, "an experience that is there already is known, not new")
            kept.hold(memory.add([]).new == 0, "adding nothing adds nothing")
        _recalled(kept, memory)
        with kept.step("`identity` names the memory"):
            name = memory.identity()
            memory.add([_experience("close the door", "d")])
            kept.hold(name and memory.identity() == name, "the identity stays while the memory grows")
        with kept.step("`retell` replaces"):
            memory.retell([_experience("open the window", "b", text="Act: open window twice\n")])
            taken = _taken(memory, "open the window", k=9)
            told = [e.text for e in taken if e.run == "b"]
            kept.hold(told == ["Act: open window twice\n"], "`retell` replaces what the same run has stored")
    finally:
        memory.close()
    with kept.step("what was added is there after another opening"):
        memory = open_()
        try:
            kept.hold(memory.identity() == name, "the identity is the same after another opening")
            kept.hold(_taken(memory, cup.goal, k=1), "what was added is there after another opening")
        finally:
            memory.close()
    kept.end()


def _recalled(kept: KitPromises, memory: Memory) -> None:
    with kept.step("`ask` finds experiences"):
        taken = _taken(memory, CUP, k=1)
        kept.hold([e.goal for e in taken] == [CUP], "the nearest goal comes first")
        everything = {e.run for e in _taken(memory, CUP, k=9)}
        kept.hold("c" not in everything, "an experience whose task was not met is shown to nobody who did not ask")
        kept.hold(not _taken(memory, CUP, 1, 9), "nothing is taken beyond the budget of tokens")
        again = [e.run for e in _taken(memory, CUP, k=9)]
        kept.hold(again == [e.run for e in _taken(memory, CUP, k=9)], "equal questions agree")
        others = {e.run for e in _taken(memory, CUP, k=9, exclude_task="a")}
        kept.hold("a" not in others, "`exclude_task` leaves that task's own experiences out")


def _taken(memory: Memory, goal: str, budget: int | None = None, k: int = 5, **how: Any) -> list[Any]:
    job, end = memory.ask(goal, budget, k, **how), time.monotonic() + WAIT
    while (found := job.poll()) is None:
        if time.monotonic() > end:
            raise TimeoutError(f"no answer within {WAIT:g} s")
        time.sleep(0.001)
    assert isinstance(found.why(), str)
    return list(found.taken)


def _experience(goal: str, run: str, met: bool = True, text: str = "Act: it\n") -> Experience:
    return Experience(goal, text, "success", task=run, kind="t", run=run, place="/t", verdict=met, tokens=4, when=1.0)


# Worlds ------------------------------------------------------------------------------------------


def check_world(suite: Suite | type[World], tasks: int = 2, acts: int = 200, **options: Any) -> None:
    """Checks a suite, or the class of a world. `options` go to `open` and `tasks`."""
    of: Suite = suite if isinstance(suite, Suite) else Alone(suite.__name__, suite)
    kept = KitPromises(of.name)
    with kept.step("`tasks` gives tasks"):
        found, same = (of.tasks(5, tasks, "train", **options) for _ in range(2))
        kept.hold(found and [t.id for t in found] == [t.id for t in same], "the same seed gives the same tasks")
        others = {t.id for t in of.tasks(5, tasks, "eval", **options)}
        kept.hold(isinstance(of, Alone) or not {t.id for t in found} & others, "splits share no task")
        for task in found:
            _world(kept, of, task, acts, options)
    kept.end()


def _world(kept: KitPromises, suite: Suite, task: Task, acts: int, options: dict[str, Any]) -> None:
    with kept.step("a world opens, and begins a task"):
        world, other = suite.open(**options), suite.open(**options)
        try:
            begun, equal = world.reset(task), other.reset(task)
            kept.hold(isinstance(begun, Observation), "`reset` gives an Observation")
            kept.hold(begun == equal and list(world.skills()) == list(other.skills()), "equal tasks begin equally")
            before = world.digest()
            world.look()
            kept.hold(world.digest() == before, "`look` changes nothing")
            _odd(kept, world)
            kept.hold(world.holds("no such fact at all") in (True, False, None), "`holds` gives True, False or None")
            _restored(kept, world)
            _solved(kept, suite, task, world, acts, options)
        finally:
            world.close()
            world.close()
            other.close()
    with kept.step("a world can be pickled"):
        pickle.loads(pickle.dumps(suite.open(**options))).close()


def _odd(kept: KitPromises, world: World) -> None:
    with kept.step("an act that cannot be done is an Observation, not an exception"):
        for sentence in ("", "no such act at all", "x" * 5000, "{place}", "go to\x00"):
            seen = world.act(sentence)
            told = isinstance(seen, Observation) and not seen.ok
            kept.hold(told, "an act that cannot be done gives an Observation with `ok=False`")


def _restored(kept: KitPromises, world: World) -> None:
    with kept.step("`snapshot` and `restore`"):
        taken, digest, offered = world.snapshot(), world.digest(), list(world.skills())
        kept.hold(isinstance(taken, bytes), "`snapshot` gives bytes")
        for sentence in islice(iter(offered), 3):
            world.act(sentence)
        world.restore(taken)
        kept.hold(world.digest() == digest, "`restore` gives the state back: the digest is the one before")
        kept.hold(list(world.skills()) == offered, "`restore` gives the state back: the same acts are offered")


def _solved(kept: KitPromises, suite: Suite, task: Task, world: World, acts: int, options: dict[str, Any]) -> None:
    if isinstance(suite, Alone):
        return  # it has no goal of its own, so no oracle reaches it
    with kept.step("the oracle reaches the goal"):
        world.reset(task)
        for sentence in islice(suite.oracle(world, task), acts):
            seen = world.act(sentence)
            kept.hold(seen.ok, f"what the oracle says can be done: {sentence!r}: {seen.why or seen.text}")
        kept.hold(world.verdict().reached, f"the oracle reaches the goal of {task.id}: {task.goal!r}")


# Connections -------------------------------------------------------------------------------------


class _Qos(NamedTuple):
    """The quality of service as `bt_robots.ros.transport.Qos` has it; the runtime does not import that package."""

    reliable: bool = True
    latched: bool = True
    depth: int = 1


def check_transport(transport: Any, seconds: float = 20.0) -> None:
    """Checks an open connection to ROS (`bt_robots.ros.transport.Transport`), by what it sends to itself."""
    kept, topic, kind = KitPromises(transport), "/conformance/words", "std_msgs/msg/String"
    with kept.step("a message that is published arrives"):
        heard: list[Any] = []
        end = transport.subscribe(topic, kind, heard.append)
        publish = transport.publisher(topic, kind)
        _until(lambda: publish({"data": "hello"}) is None and bool(heard), seconds)
        kept.hold(heard and heard[0]["data"] == "hello", "a message that is published arrives, as a mapping")
        end()
    with kept.step("a latched message reaches who comes later"):
        transport.publisher("/conformance/latched", kind, _Qos())({"data": "kept"})
        late: list[Any] = []
        end = transport.subscribe("/conformance/latched", kind, late.append, _Qos())
        _until(lambda: bool(late), seconds)
        kept.hold(late and late[0]["data"] == "kept", "a latched message reaches who subscribes later")
        end()
    kept.refuses(lambda: transport.publisher(topic, "no_package/msg/Nothing"), "an unknown type is refused at once")
    with kept.step("a server that is not there is not ready"):
        service = transport.service("/conformance/nobody", "std_srvs/srv/Trigger")
        kept.hold(service.ready() is False, "a service without a server is not ready")
    kept.end()


def _until(true: Callable[[], bool], seconds: float) -> None:
    """Waits until it is true, and no longer than so many seconds."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.01)


# Kinds -------------------------------------------------------------------------------------------


def check_kind(kind: Kind, text: str = "", ticks: int = 30, **how: Any) -> None:
    """Checks a kind of node by its example, or by a tree's `text` that has one. `how` goes to `Run`: a model, a world.

    The tree is run twice with a journal and a clock that jumps, halted while it runs, and replayed."""
    kept = KitPromises(kind.name)
    kept.hold(kind.about.strip().endswith("."), "its description is a sentence")
    kept.hold(all(field.about.strip() for field in kind.fields), "each of its fields has a description")
    root = "".join(f"  {line}\n" for line in kind.example.splitlines())
    with kept.step("its example loads"):
        tree = load(text or f"version: 1\ntree: t\nroot:\n{root}")
        kept.hold(kind.name in {node.kind.name for node in _every(tree.spec.root)}, "its example has one of its nodes")
        with TemporaryDirectory() as folder:
            for halted_at in (ticks, 1):
                _played(kept, tree, Path(folder) / str(halted_at), halted_at, how)
    kept.end()


def _every(node: NodeSpec) -> Iterator[NodeSpec]:
    yield node
    for child in node.children:
        yield from _every(child)


def _played(kept: KitPromises, tree: Tree, folder: Path, ticks: int, how: Mapping[str, Any]) -> None:
    clock = Manual()
    with kept.step("its example runs, and is halted"):
        with Run(tree, clock=clock, journal=folder, strict=True, **how) as run:
            for _ in range(ticks):
                tick = run.tick()
                if not tick.running:
                    break
                clock.advance(1.0 if tick.due == math.inf else max(0.0, tick.due - clock.now()))
            run.halt("the check is over")
            still = [path_of(node) for node in run.nodes() if node.status is RUNNING]
            kept.hold(not still, f"after a halt nothing runs, and {', '.join(still)} does")
        (journal,) = journals(folder)
        found = replay(journal)
        kept.hold(found.same, f"a replay is the run: {found.difference}")
