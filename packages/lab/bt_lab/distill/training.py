"""The training run: batches until the time or the tokens are spent, with checkpoints from which it continues
exactly."""

from __future__ import annotations

import math
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from bt_lab.distill import checkpoint, documents, held_out, pretrained
from bt_lab.distill.checkpoint import LATEST, STEADY, State
from bt_lab.distill.collate import Row, collated
from bt_lab.distill.dataset import Dataset, gather
from bt_lab.distill.ddp import ALONE, ProcessGroup, launched
from bt_lab.distill.network import ALIKE, Network, Piece
from bt_lab.distill.optimiser import Optimiser
from bt_lab.distill.packing import Batch, packed, shared, shuffled
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.size import Size
from bt_lab.distill.tokenizer import Coder
from bt_lab.distill.torch_imports import functional, np, torch
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.types import Json

Tell = Callable[[str], None]
ROUND, IGNORED = 256, -100


def mixes(device: str) -> bool:
    """True when half-precision products are faster here; without hardware support they take 1.5 times as long."""
    able = torch.cpu.get_capabilities()
    return device == "cuda" or bool(able.get("amx_bf16") or able.get("avx512_bf16"))


class Training:
    """A training run in its work folder. `go` trains until the budget is spent; a new object continues the stored
    run."""

    def __init__(
        self,
        places: Sequence[Path],
        folder: Path,
        tokenizer: Coder,
        size: Size,
        schedule: Schedule,
        tell: Tell,
        init: Path | None = None,
    ) -> None:
        self.places, self.folder, self.tokenizer, self.size = places, folder, tokenizer, size
        self.schedule, self.tell, self.init, self.group = schedule, tell, init, ALONE
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.mixed = mixes(self.device)
        torch.manual_seed(schedule.seed)
        self.network = self._network().to(self.device)
        self.averaging: Any = self.network  # in a group: the network whose gradients are the mean of all
        self.optimiser = self._optimiser()
        self.state = State()
        self.about = self._about()
        if (folder / LATEST).is_file():
            self._go_on()
        elif init is not None:
            self.network.load_state_dict(self._weights_of(init))
            tell(f"the weights are those of {init}")
        self.told = self.saved = self.looked = self.start = self.state.seconds
        self.told_tokens = self.state.tokens
        self.began = time.monotonic() - self.state.seconds
        self.recent: list[Any] = []  # losses
        self.heard = ""  # digest of the documents that were told of
        if schedule.compile and compiles(tell):
            self.network.compile()

    # what is trained, and how; fine-tuning (finetune.py) trains adapters of a finished network

    def _network(self) -> Network:
        return Network(self.size, self.schedule.seed)

    def _about(self) -> dict[str, Json]:
        """What a checkpoint must agree with."""
        return {"size": asdict(self.size), "tokenizer": self.tokenizer.digest}

    def _optimiser(self) -> Any:
        return Optimiser(self.network, self.schedule.rate, self.schedule.decay)

    def _kept(self) -> dict[str, Any]:
        """The weights that a checkpoint holds."""
        found: dict[str, Any] = self.network.state_dict()
        return found

    def _restore(self, weights: dict[str, Any]) -> None:
        self.network.load_state_dict(weights)

    def _weights_of(self, path: Path) -> Any:
        """Returns the weights of a checkpoint, or of a file exported from one."""
        if path.suffix != pretrained.SUFFIX:
            return self._checkpoint(path)[1]
        found = pretrained.read(path)
        if replace(found.size, context=self.size.context) != self.size:  # positions are turned, none is a weight
            raise BtError(f"{path} is of another size", f"its size is {found.size}: take the same --size")
        return found.weights

    def _checkpoint(self, path: Path) -> tuple[State, Any, Any]:
        state, about, weights, optimiser = checkpoint.load(path)
        if about != self.about:
            other = "size" if about["size"] != self.about["size"] else "tokenizer"
            raise BtError(f"{path} is of another {other}", "take the same --size and --vocab, or another work folder")
        return state, weights, optimiser

    def _go_on(self) -> None:
        """Restores the run. A prolonged run continues from before its learning-rate decay."""
        steady = self.folder / STEADY
        state, weights, optimiser = self._checkpoint(self.folder / LATEST)
        if state.fallen and not self.schedule.falls(state) and steady.is_file():
            state, weights, optimiser = self._checkpoint(steady)
        self._restore(weights)
        if optimiser:  # a checkpoint that travelled has none
            self.optimiser.restore(optimiser)
        self.state = state
        self.tell(f"going on at step {state.step:,}, token {state.tokens:,}")

    @property
    def spent(self) -> float:
        return self.schedule.spent(self.state)

    @property
    def over(self) -> bool:
        """True when the time budget, or the current slice of it, is spent."""
        longest = 60 * self.schedule.slice
        return self.spent >= 1.0 or 0.0 < longest <= self.state.seconds - self.start

    def go(self) -> State:
        """Trains until the budget or a slice of it is spent, in the planned number of processes."""
        given = self.places, self.folder, self.tokenizer, self.size, self.schedule
        with launched(self.schedule.processes, _follow, *given) as group:
            try:
                self.learn(group)
            finally:  # also when it is interrupted
                self._save()
        return self.state

    def learn(self, group: ProcessGroup) -> None:
        """Trains as one process of a group; each round has a batch for each rank."""
        self.group, state = group, self.state
        self.averaging = group.averaging(self.network, self._passed)
        self.began, self.start = time.monotonic() - state.seconds, group.broadcast(lambda: state.seconds)
        while not self.over:
            rows, batches, state.batch = group.broadcast(self._epoch)
            rounds = len(batches) // group.count
            for batch in batches[group.rank : rounds * group.count : group.count][state.batch :]:
                with undivided():
                    loss = self._step(rows, batch)
                    state.batch += 1
                if group.leads:
                    self.recent.append(loss)
                    self._now_and_then(rows)
                if self.over:
                    break
            else:
                state.epoch, state.batch, state.shards = state.epoch + 1, 0, []

    def _passed(self, network: Any) -> Any:
        """Returns a small number that depends on all weights, to compare the processes."""
        return network(torch.zeros(ALIKE, dtype=torch.int64, device=self.device), [Piece(ALIKE)]).sum()

    def _epoch(self) -> tuple[Dataset, list[Batch], int]:
        rows, batches = self.epoch()
        return rows, batches, self.state.batch

    def epoch(self) -> tuple[Dataset, list[Batch]]:
        """Yields this epoch's batches, from the shards that exist when it begins."""
        state = self.state
        paths = [Path(path) for path, _ in state.shards]
        if not paths or _told_apart(paths) != state.shards:
            if paths:
                self.tell("these are not the documents of the checkpoint: an epoch of those that are there begins")
            paths = documents.shards(self.places)
            state.shards, state.batch = _told_apart(paths), 0
        rows = gather(paths, self.tokenizer, self.size.context, self.folder / "rows", self.tell)
        data = documents.digest(*sorted(told for _, told in state.shards))
        order = np.flatnonzero(~rows.held).tolist()
        if not order:
            raise BtError("there are too few documents to learn from", "give more of them")
        order = [order[i] for i in shuffled(len(order), f"{self.schedule.seed}:{state.epoch}")]
        longest, room = int(rows.lengths.max()), self.schedule.row
        if longest > room:
            raise BtError(
                f"a document of {longest:,} tokens is longer than the {room:,} that a process takes in a step",
                "give a larger --batch or a smaller --context",
            )
        batches = packed(order, rows.lengths.tolist(), room, shared(rows, order))
        if len(batches) < self.schedule.processes:
            raise BtError("there are too few documents for so many processes", "give more of them, or --processes 1")
        if data == self.heard:
            return rows, batches
        state.data, state.documents, self.heard = data, len(rows), data
        self.tell(
            f"epoch {state.epoch + 1}: {len(rows):,} documents in {len(paths)} shards, {len(rows.tokens):,} tokens, "
            f"{int(rows.learn.sum()):,} to be learnt; {int(rows.held.sum())} documents held back, {rows.cut} cut; "
            f"{rows.torn} answers begin inside a token"
        )
        return rows, batches

    def _step(self, rows: Dataset, batch: Batch) -> Any:
        """Makes one optimiser step. The loss stays on its device, because reading it would wait."""
        state, group = self.state, self.group
        answers, seen = self._gradients(rows, batch)
        seconds = time.monotonic() - self.began if group.leads else 0.0
        loss, seen, seconds = group.sums(answers, seen, seconds)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.schedule.clip)
        self.optimiser.step(self.schedule.rate_at(state))
        state.step, state.tokens, state.seconds = state.step + 1, state.tokens + int(seen), seconds
        return loss / group.count

    def _gradients(self, rows: Dataset, batch: Batch) -> tuple[Any, int]:
        """Adds the gradients of a batch; returns its loss and its number of tokens."""
        row = collated(rows, batch, self.schedule.row)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.mixed):
            hidden = self.averaging(torch.from_numpy(row.tokens).to(self.device), row.pieces)
            answers, context = self._losses(hidden, row)
        (answers + self.schedule.echo * context).backward()
        return answers.detach(), row.seen

    def _losses(self, hidden: Any, row: Row) -> tuple[Any, Any]:
        """Returns the losses of the answers and of the surrounding text."""
        answers = self._loss(hidden, row, np.flatnonzero(row.learn))
        return answers, self._loss(hidden, row, np.flatnonzero(row.around)) if self.schedule.echo else 0.0

    def _loss(self, hidden: Any, row: Row, places: Any) -> Any:
        if not len(places):
            return torch.zeros(())
        spare = -len(places) % ROUND  # few shapes: for every new one the kernels would be made anew
        before = torch.from_numpy(np.pad(row.before[places], (0, spare))).to(self.device)
        targets = torch.from_numpy(np.pad(row.tokens[places], (0, spare), constant_values=IGNORED)).to(self.device)
        return functional.cross_entropy(self.network.logits(hidden[before]).float(), targets, ignore_index=IGNORED)

    def _now_and_then(self, rows: Dataset) -> None:
        """Reports, evaluates and saves, each when it is due; all of them at the end."""
        state, schedule, end = self.state, self.schedule, self.over
        if schedule.falls(state) and not state.fallen:
            self._save()  # still at the full rate: from here a longer run goes on
            shutil.copyfile(self.folder / LATEST, self.folder / STEADY)
            state.fallen = True
        if end or state.seconds - self.told >= schedule.tell_every:
            self._tell()
        if end or state.seconds - self.looked >= schedule.look_every:
            self.looked = state.seconds
            self._look(rows)
        if end or state.seconds - self.saved >= schedule.save_every:
            self.saved = state.seconds
            self._save()

    def _tell(self) -> None:
        state = self.state
        loss = float(torch.stack([torch.as_tensor(loss) for loss in self.recent]).mean())
        if not math.isfinite(loss):
            raise BtError("the loss is no longer a number", "go on from an earlier checkpoint with a lower --rate")
        pace = (state.tokens - self.told_tokens) / max(1e-6, state.seconds - self.told)
        left = state.seconds * max(0.0, 1.0 - self.spent) / max(1e-6, self.spent)
        state.curve.append({"step": state.step, "tokens": state.tokens, "loss": round(loss, 4)})
        self.tell(
            f"step {state.step:,}  {state.tokens / 1e6:.2f}M tokens  loss {loss:.4f}  {pace:,.0f} tokens/s  "
            f"{100 * self.spent:.0f}%, about {left / 60:.1f} min left"
        )
        self.recent.clear()
        self.told, self.told_tokens = state.seconds, state.tokens

    def _look(self, rows: Dataset) -> None:
        chosen = held_out.chosen(rows)
        if not chosen:
            return
        with torch.autocast(self.device, torch.bfloat16, enabled=self.mixed):
            found = held_out.scores(self.network, rows, chosen, self.schedule.row, self.device)
        for kind, score in found.items():
            self.tell(
                f"  held back: {kind or 'all'}: loss {score.loss:.4f}, "
                f"{score.right} of {score.answers} answers exact ({100 * score.exact:.1f}%)"
            )
        self.state.curve.append(
            {
                "step": self.state.step,
                "tokens": self.state.tokens,
                "held_loss": round(found[""].loss, 4),
                "exact": {kind or "all": round(score.exact, 4) for kind, score in found.items()},
            }
        )

    def _save(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = self._kept(), self.optimiser.state()
        checkpoint.save(self.folder / LATEST, self.state, self.about, *kept)


def _follow(
    group: ProcessGroup, places: Sequence[Path], folder: Path, tokenizer: Coder, size: Size, schedule: Schedule
) -> None:
    """The loop of the other processes of a group; they receive their weights from rank 0."""
    Training(places, folder, tokenizer, size, schedule, _silently).learn(group)


@contextmanager
def undivided() -> Iterator[None]:
    """Delays Ctrl-C until a step is complete: no run could continue from half a step."""
    if threading.current_thread() is not threading.main_thread():  # which alone hears it
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        signal.raise_signal(signal.SIGINT)


def _silently(text: str) -> None:
    """No-op: rank 0 reports for all."""


def _told_apart(paths: Sequence[Path]) -> list[tuple[str, str]]:
    return [(str(path), documents.digest(path.read_bytes()) if path.is_file() else "") for path in paths]


def compiles(tell: Tell) -> bool:
    """True when torch finds a compiler; training without one is only slower."""
    try:
        torch.compile(lambda x: x * 2 + 1)(torch.ones(8))
    except Exception as fault:  # whatever the compiler says, it cannot be used
        tell(f"not compiled, so slower: {str(fault).splitlines()[0]}")
        return False
    return True
