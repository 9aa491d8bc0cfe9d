"""Fine-tunes adapters of a model's file from recorded runs, rows or lessons, in plain torch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bt_lab.distill import called, chats, checkpoint, lora, pretrained, windows
from bt_lab.distill.checkpoint import LATEST, State
from bt_lab.distill.documents import Document, digest, write
from bt_lab.distill.file_tokenizer import FileTokenizer
from bt_lab.distill.gemma import Gemma, GemmaSize
from bt_lab.distill.network import Network
from bt_lab.distill.rows import Row, rows_of
from bt_lab.distill.schedule import Schedule
from bt_lab.distill.torch_imports import torch
from bt_lab.distill.training import Tell, Training
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.local.header import read_header
from bt_runtime.types import Json

LICENCE = ("general.license", "general.license.link")  # an adapter has its base's


@dataclass(frozen=True, slots=True)
class Order:
    """A request for fine-tuning: the model, the sources, and the adapter's file."""

    base: Path
    sources: Sequence[Path]
    work: Path
    out: Path
    schedule: Schedule
    context: int = 1536  # tokens of a row at most
    rank: int = 8
    alpha: float = 16.0
    layers: int = 0  # the last ones that get adapters; 0: all
    command: str = ""


class Finetuning(Training):
    """A training run that changes only the adapters of a finished network; a checkpoint holds only them."""

    def __init__(self, order: Order, shard: Path, tokenizer: FileTokenizer, tell: Tell) -> None:
        self.order = order
        size, self.finished = pretrained.read_any(order.base, order.context)
        super().__init__([shard], order.work, tokenizer, size, order.schedule, tell)

    def _network(self) -> Network:
        network = Gemma(self.size) if isinstance(self.size, GemmaSize) else self._llama()
        network.load_state_dict(self.finished)
        self.finished = {}
        lora.adapt(network, self.order.rank, self.order.alpha, self.schedule.seed, self.order.layers)
        return network

    def _llama(self) -> Network:
        return Network(self.size, None, tied="output.weight" not in self.finished)

    def _optimiser(self) -> Any:
        return Adam([weight for weight in self.network.parameters() if weight.requires_grad])

    def _about(self) -> dict[str, Json]:
        return {**super()._about(), "rank": self.order.rank, "alpha": self.order.alpha, "layers": self.order.layers}

    def _kept(self) -> dict[str, Any]:
        return lora.learnt(self.network)

    def _restore(self, weights: dict[str, Any]) -> None:
        self.network.load_state_dict(weights, strict=False)


class Adam:
    """AdamW with the interface of `optimiser.Optimiser`."""

    def __init__(self, weights: Sequence[Any]) -> None:
        self.inner = torch.optim.AdamW(weights, betas=(0.9, 0.99), weight_decay=0.0)

    def step(self, rate: float) -> None:
        for group in self.inner.param_groups:
            group["lr"] = rate
        self.inner.step()
        self.inner.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Any]:
        return {"0": self.inner.state_dict()}

    def restore(self, state: dict[str, Any]) -> None:
        self.inner.load_state_dict(state["0"])


def make(order: Order, tell: Tell) -> State:
    """Trains, and writes the adapter. Killed at any moment, the same call goes on."""
    header = read_header(order.base)
    template = header.chat_template
    chat = Chat.of(template, header.markers, header.ends) if template else None
    tokenizer = FileTokenizer(order.base, header.vocab, chat is not None)
    rows = [row for source in order.sources for row in rows_of(source)]
    shard = lessons(order, rows, chat, tokenizer, tell)
    training = Finetuning(order, shard, tokenizer, tell)
    if training.spent >= 1.0:
        tell("trained already: give more --minutes or --tokens to prolong it, or --fresh to begin anew")
    else:
        training.go()
    state, about, weights, _ = checkpoint.load(order.work / LATEST)
    told = {
        "base": header.path.name, "tokens": state.tokens, "documents": state.documents, "command": order.command,
        "prompts": prompts(rows),
        **{key: told for key in LICENCE if isinstance(told := header.about.get(key), str)},
    }  # fmt: skip
    lora.write(order.out, weights, training.size, float(about["alpha"]), told)
    return state


def prompts(rows: Sequence[Row]) -> str:
    """The register that most rows were asked in: the model with the adapter is asked in it."""
    return Counter(str(row["prompts"]) for row in rows).most_common(1)[0][0]


def lessons(order: Order, rows: Sequence[Row], chat: Chat | None, tokenizer: FileTokenizer, tell: Tell) -> Path:
    """Writes the rows as a shard, named by its content's digest."""
    documents = list(rendered(rows, chat, tokenizer, order.context))
    if not documents:
        raise BtError("there is nothing to learn in these runs", "only what succeeded is taught")
    whole = len(rows)
    tell(f"{whole:,} conversations, in {len(documents):,} rows of at most {order.context:,} tokens")
    path = order.work / "rows" / f"lessons-{digest(*(d.text for d in documents))[:12]}.jsonl"
    if not path.is_file():
        write(path, documents)
    return path


def rendered(rows: Sequence[Row], chat: Chat | None, tokenizer: FileTokenizer, most: int) -> Iterator[Document]:
    """Renders the rows in the model's chat format, cut between turns."""
    sizes = iter(tokenizer.count([_text(message) for row in rows for message in row["messages"]]))
    for row in rows:
        said = row["messages"]
        around = 8 if chat is not None else 1  # tokens of a template around a message, rather too many
        tools = {"tools": row["tools"]} if row.get("tools") else {}
        told = [next(sizes) + around for _ in said]
        told[0] += sum(tokenizer.count([json.dumps(tools)])) if tools else 0
        for piece in windows.pieces(said, told, most) if any(m["role"] == "assistant" for m in said) else ():
            shown = called.rendered({"messages": piece, **tools}, chat) if tools else chats.rendered(piece, chat)
            if shown["spans"]:  # a piece may hold untaught steps only
                yield Document(str(row.get("tree", "")), shown["text"], tuple(tuple(span) for span in shown["spans"]))


def _text(message: chats.Message) -> str:
    return str(message["content"]) if "content" in message else json.dumps(message["tool_calls"])
