"""All stages from documents to a model file. A stage is skipped when its result exists and is still valid."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bt_lab.distill import checkpoint, documents, gguf_file, parity, pretrained, tokenizer
from bt_lab.distill.checkpoint import LATEST, State
from bt_lab.distill.dataset import is_held_out
from bt_lab.distill.documents import Document
from bt_lab.distill.network import Network
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.size import SIZES, Size
from bt_lab.distill.tokenizer import Tokenizer
from bt_lab.distill.training import Tell, Training
from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.types import Json

_HEARD = 6000  # documents that the tokenizer is trained on
_SAMPLES = 16  # documents that the file is compared on
_POINTS = 16  # points of the training curve stored in the file


@dataclass(frozen=True, slots=True)
class StageOrder:
    """A request for training: the result to make, and its sources."""

    places: Sequence[Path]
    work: Path
    out: Path
    schedule: Schedule
    size: str = "small"
    vocab: int = 2048
    context: int = 2048
    kind: str = "q8_0"
    name: str = ""
    command: str = ""
    init: Path | None = None


class Made(NamedTuple):
    path: Path
    state: State
    parameters: int
    parity: parity.Parity

    def __str__(self) -> str:
        lines = [f"{self.path}: {self.path.stat().st_size / 1e6:.1f} MB, {self.parameters / 1e6:.2f}M parameters"]
        lines.append(f"trained on {self.state.tokens:,} tokens in {self.state.seconds / 60:.1f} minutes")
        looks = [point for point in self.state.curve if "exact" in point]
        if looks:
            last = looks[-1]
            shares = ", ".join(f"{kind} {100 * share:.1f}%" for kind, share in last["exact"].items())
            lines += [f"on what was held back: loss {last['held_loss']}", f"answers exact: {shares}"]
        else:
            lines.append("nothing was held back to judge it by: there were too few documents")
        lines.append(f"against PyTorch: {self.parity}")
        return "\n".join(lines)


def make(order: StageOrder, tell: Tell) -> Made:
    """Runs all stages. After a kill, the same call continues."""
    words = vocabulary(order, tell)
    size = sized(order.size, words.size, order.context)
    training = Training(order.places, order.work, words, size, order.schedule, tell, order.init)
    if training.spent >= 1.0:
        tell("trained already: give more --minutes or --tokens to prolong it, or --fresh to begin anew")
    else:
        training.go()
    return export(order, tell)


def export(order: StageOrder, tell: Tell) -> Made:
    """Exports the latest checkpoint; returns the file and its difference from the network."""
    state, about, weights, _ = checkpoint.load(order.work / LATEST)
    words = tokenizer.load(order.work / "tokenizer.json")
    size = Size(**about["size"])
    network = Network(size)
    network.load_state_dict(weights)
    tell(f"writing {order.out}")
    gguf_file.write(order.out, weights, size, words, order.kind, described(order, state))
    tell("comparing the file with the network")
    found = parity.compare(order.out, network, words, list(islice(samples(order.places), _SAMPLES)))
    return Made(order.out, state, size.parameters, found)


def sized(name: str, vocab: int, context: int) -> Size:
    if name not in SIZES:
        raise BtError(f"there is no size `{name}`", did_you_mean(name, SIZES, f"sizes: {', '.join(SIZES)}"))
    return replace(SIZES[name], vocab=vocab, context=context)


def vocabulary(order: StageOrder, tell: Tell) -> Tokenizer:
    """Returns the tokenizer of this work folder. It is trained once, so that encoded documents and weights stay
    valid."""
    kept = order.work / "tokenizer.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    if order.init is not None and not kept.is_file() and order.init.suffix == pretrained.SUFFIX:
        pretrained.read(order.init).tokenizer.save(kept)
    elif order.init is not None and not kept.is_file():
        beside = order.init.parent / kept.name
        if not beside.is_file():
            raise BtError(f"there is no {kept.name} beside {order.init}", "weights are of no use with other tokens")
        shutil.copyfile(beside, kept)
    if not kept.is_file():
        tell("training the tokenizer")
        tokenizer.train((d.text for d in heard(order.places, order.schedule.seed)), order.vocab).save(kept)
    return tokenizer.load(kept)


def heard(places: Sequence[Path], seed: int) -> Iterator[Document]:
    """Yields documents from all shards, to train the tokenizer."""
    shards = documents.shards(places)
    if not shards:
        raise BtError("there are no documents yet", f"shards are files *{documents.SUFFIX}")
    random.Random(f"{seed}:tokens").shuffle(shards)
    shards = shards[:_HEARD]
    for shard in shards:
        yield from islice(documents.read(shard), max(20, _HEARD // len(shards)))


def samples(places: Sequence[Path]) -> Iterator[Document]:
    """Returns held-out documents; others when there are none."""
    some: list[Document] = []
    for shard in documents.shards(places):
        for document in documents.read(shard):
            if is_held_out(document):
                yield document
            elif len(some) < _SAMPLES:
                some.append(document)
    yield from some


def described(order: StageOrder, state: State) -> Mapping[str, Json]:
    """Returns the metadata for the file."""
    step = max(1, len(state.curve) // _POINTS)
    curve: list[dict[str, Any]] = [p for i, p in enumerate(state.curve) if i % step == 0 or i == len(state.curve) - 1]
    return {
        "name": order.name or order.out.stem,
        "command": order.command,
        "data_digest": state.data,
        "documents": str(state.documents),
        "tokens": str(state.tokens),
        "seed": str(order.schedule.seed),
        "plan": asdict(order.schedule),
        "curve": curve,
    }
