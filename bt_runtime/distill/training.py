"""The training run: batches until the time or the tokens are spent, with checkpoints from which it goes on exactly."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bt_runtime.distill import checkpoint, documents, held, inherited
from bt_runtime.distill.checkpoint import LATEST, STEADY, State
from bt_runtime.distill.crew import ALONE, Crew, hired
from bt_runtime.distill.layout import Row, laid, shared
from bt_runtime.distill.needs import functional, np, torch
from bt_runtime.distill.network import Network, Size
from bt_runtime.distill.optimiser import Optimiser
from bt_runtime.distill.rows import Batch, Rows, gather, packed, shuffled
from bt_runtime.distill.tokenizer import Tokenizer
from bt_runtime.faults.diagnostic import BtError
from bt_runtime.types import Json

Tell = Callable[[str], None]
ROUND, IGNORED = 256, -100


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train. The rate rises, stays, and falls in the last part of the budget, so that a run can be prolonged."""

    minutes: float = 0.0  # 0: as long as the tokens last
    tokens: int = 0
    batch: int = 8192  # tokens of a step
    rate: float = 3e-3
    warm: int = 100  # steps until the rate is reached
    fall: float = 0.25  # of the budget
    echo: float = 0.1  # how much the context counts beside the answers
    decay: float = 0.1
    clip: float = 1.0
    seed: int = 0
    compile: bool = True
    processes: int = 1  # which share a batch
    tell_every: float = 15.0  # seconds
    save_every: float = 60.0
    look_every: float = 180.0  # between two looks at what was held back

    def __post_init__(self) -> None:
        if self.minutes <= 0 and self.tokens <= 0:
            raise BtError("training needs an end", "say how long: --minutes or --tokens")
        if not 0.0 < self.fall <= 1.0:
            raise BtError(f"the rate cannot fall for {self.fall:g} of the budget", "say more than 0, and at most 1")
        if self.processes < 1:
            raise BtError(f"{self.processes} processes train nothing", "one at least: --processes 1")

    @property
    def row(self) -> int:
        """Tokens of a step that one process takes."""
        return self.batch // self.processes

    def spent(self, state: State) -> float:
        """The part of the budget that is used up."""
        by_tokens = state.tokens / self.tokens if self.tokens else 0.0
        by_time = state.seconds / (60 * self.minutes) if self.minutes else 0.0
        return max(by_tokens, by_time)

    def falls(self, state: State) -> bool:
        return self.spent(state) > 1.0 - self.fall

    def rate_at(self, state: State) -> float:
        warm = min(1.0, (state.step + 1) / self.warm)
        return self.rate * warm * min(1.0, max(0.0, (1.0 - self.spent(state)) / self.fall))


def mixes(device: str) -> bool:
    """Is half precision in products quicker? A processor without units for it takes half as long again."""
    return device == "cuda" or bool(torch.cpu.get_capabilities().get("amx_bf16"))


class Training:
    """A run in its work folder. `go` trains until the budget is spent; a new one goes on where the last one stopped."""

    def __init__(
        self,
        places: Sequence[Path],
        folder: Path,
        tokenizer: Tokenizer,
        size: Size,
        plan: Plan,
        tell: Tell,
        init: Path | None = None,
    ) -> None:
        self.places, self.folder, self.tokenizer, self.size = places, folder, tokenizer, size
        self.plan, self.tell, self.init, self.crew = plan, tell, init, ALONE
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.mixed = mixes(self.device)
        torch.manual_seed(plan.seed)
        self.network = Network(size, plan.seed).to(self.device)
        self.optimiser = Optimiser(self.network, plan.rate, plan.decay)
        self.state = State()
        self.about: dict[str, Json] = {"size": asdict(size), "tokenizer": tokenizer.digest}
        if (folder / LATEST).is_file():
            self._go_on()
        elif init is not None:
            self.network.load_state_dict(self._inherited(init))
            tell(f"the weights are those of {init}")
        self.told = self.saved = self.looked = self.state.seconds
        self.told_tokens = self.state.tokens
        self.began = time.monotonic() - self.state.seconds
        self.recent: list[Any] = []  # losses
        self.heard = ""  # digest of the documents that were told of
        if plan.compile and compiles(tell):
            self.network.compile()

    def _inherited(self, path: Path) -> Any:
        """The weights of a checkpoint, or of a file that was made of one."""
        if path.suffix != inherited.SUFFIX:
            return self._checkpoint(path)[1]
        found = inherited.read(path)
        if found.size != self.size:
            raise BtError(f"{path} is of another size", f"its size is {found.size}: take the same --size and --context")
        return found.weights

    def _checkpoint(self, path: Path) -> tuple[State, Any, Any]:
        state, about, weights, optimiser = checkpoint.load(path)
        if about != self.about:
            other = "size" if about["size"] != self.about["size"] else "tokenizer"
            raise BtError(f"{path} is of another {other}", "take the same --size and --vocab, or another work folder")
        return state, weights, optimiser

    def _go_on(self) -> None:
        """Everything as it was. A run that is prolonged goes on from before its rate fell."""
        steady = self.folder / STEADY
        state, weights, optimiser = self._checkpoint(self.folder / LATEST)
        if state.fallen and not self.plan.falls(state) and steady.is_file():
            state, weights, optimiser = self._checkpoint(steady)
        self.network.load_state_dict(weights)
        self.optimiser.restore(optimiser)
        self.state = state
        self.tell(f"going on at step {state.step:,}, token {state.tokens:,}")

    @property
    def spent(self) -> float:
        return self.plan.spent(self.state)

    def go(self) -> State:
        """Train until the budget is spent, in as many processes as planned."""
        given = self.places, self.folder, self.tokenizer, self.size, self.plan, self.init
        with hired(self.plan.processes, _follow, *given) as crew:
            try:
                self.learn(crew)
            finally:  # also when it is interrupted
                self._save()
        return self.state

    def learn(self, crew: Crew) -> None:
        """As one of a crew: of every round of batches the one at its place."""
        self.crew, state = crew, self.state
        self.began = time.monotonic() - state.seconds
        while self.spent < 1.0:
            rows, batches, state.batch = crew.heard(self._epoch)
            rounds = len(batches) // crew.count
            for batch in batches[crew.place : rounds * crew.count : crew.count][state.batch :]:
                loss = self._step(rows, batch)
                state.batch += 1
                if crew.leads:
                    self.recent.append(loss)
                    self._now_and_then(rows)
                if self.spent >= 1.0:
                    break
            else:
                state.epoch, state.batch, state.shards = state.epoch + 1, 0, []

    def _epoch(self) -> tuple[Rows, list[Batch], int]:
        rows, batches = self.epoch()
        return rows, batches, self.state.batch

    def epoch(self) -> tuple[Rows, list[Batch]]:
        """What there is to learn in this epoch, and its batches: the shards that are there when it begins."""
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
        order = [order[i] for i in shuffled(len(order), f"{self.plan.seed}:{state.epoch}")]
        longest = int(rows.lengths.max())
        if longest > self.plan.row:
            raise BtError(
                f"a document of {longest:,} tokens is longer than the {self.plan.row:,} that a process takes in a step",
                "give a larger --batch or a smaller --context",
            )
        batches = packed(order, rows.lengths.tolist(), self.plan.row, shared(rows, order))
        if len(batches) < self.plan.processes:
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

    def _step(self, rows: Rows, batch: Batch) -> Any:
        """One step of the optimiser; the loss is left where it was computed, asking for it would wait."""
        row = laid(rows, batch, self.plan.row)
        with torch.autocast(self.device, torch.bfloat16, enabled=self.mixed):
            hidden = self.network(torch.from_numpy(row.tokens).to(self.device), row.pieces)
            answers, context = self._losses(hidden, row)
        (answers + self.plan.echo * context).backward()
        state, crew = self.state, self.crew
        seconds = time.monotonic() - self.began if crew.leads else 0.0
        loss, seen, seconds = crew.joined(self.network.parameters(), answers.detach(), row.seen, seconds)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.plan.clip)
        self.optimiser.step(self.plan.rate_at(state))
        state.step, state.tokens, state.seconds = state.step + 1, state.tokens + int(seen), seconds
        return loss / crew.count

    def _losses(self, hidden: Any, row: Row) -> tuple[Any, Any]:
        """Of the answers, and of what stands around them."""
        answers = self._loss(hidden, row, np.flatnonzero(row.learn))
        return answers, self._loss(hidden, row, np.flatnonzero(row.around)) if self.plan.echo else 0.0

    def _loss(self, hidden: Any, row: Row, places: Any) -> Any:
        if not len(places):
            return torch.zeros(())
        spare = -len(places) % ROUND  # few shapes: for every new one the kernels would be made anew
        before = torch.from_numpy(np.pad(row.before[places], (0, spare))).to(self.device)
        targets = torch.from_numpy(np.pad(row.tokens[places], (0, spare), constant_values=IGNORED)).to(self.device)
        return functional.cross_entropy(self.network.logits(hidden[before]).float(), targets, ignore_index=IGNORED)

    def _now_and_then(self, rows: Rows) -> None:
        """Tell, look at what was held back, keep a checkpoint: each when its time has come, all at the end."""
        state, plan, end = self.state, self.plan, self.spent >= 1.0
        if plan.falls(state) and not state.fallen:
            self._save()  # still at the full rate: from here a longer run goes on
            shutil.copyfile(self.folder / LATEST, self.folder / STEADY)
            state.fallen = True
        if end or state.seconds - self.told >= plan.tell_every:
            self._tell()
        if end or state.seconds - self.looked >= plan.look_every:
            self.looked = state.seconds
            self._look(rows)
        if end or state.seconds - self.saved >= plan.save_every:
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

    def _look(self, rows: Rows) -> None:
        chosen = held.chosen(rows)
        if not chosen:
            return
        with torch.autocast(self.device, torch.bfloat16, enabled=self.mixed):
            found = held.scores(self.network, rows, chosen, self.plan.row, self.device)
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
        kept = self.network.state_dict(), self.optimiser.state()
        checkpoint.save(self.folder / LATEST, self.state, self.about, *kept)


def _follow(
    crew: Crew, places: Sequence[Path], folder: Path, tokenizer: Tokenizer, size: Size, plan: Plan, init: Path | None
) -> None:
    """What another process of the crew does."""
    Training(places, folder, tokenizer, size, plan, _silently, init).learn(crew)


def _silently(text: str) -> None:
    """The first process has told it."""


def _told_apart(paths: Sequence[Path]) -> list[tuple[str, str]]:
    return [(str(path), documents.digest(path.read_bytes()) if path.is_file() else "") for path in paths]


def compiles(tell: Tell) -> bool:
    """Whether there is a compiler that torch can use; without one it is slower, not worse."""
    try:
        torch.compile(lambda x: x * 2 + 1)(torch.ones(8))
    except Exception as fault:  # whatever the compiler says, it cannot be used
        tell(f"not compiled, so slower: {str(fault).splitlines()[0]}")
        return False
    return True
