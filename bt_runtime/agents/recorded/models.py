"""The models of a recorded run: their names, the format of their prompts, and their recorded answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from bt_runtime.agents.services import agent_services
from bt_runtime.journal import parts
from bt_runtime.journal.opening import shaped
from bt_runtime.journal.recordable import Given, Recordable
from bt_runtime.journal.sources import class_name
from bt_runtime.journal.store import safe
from bt_runtime.journal.taped import TapedJob
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import real
from bt_runtime.language.project.file_digest import digest
from bt_runtime.llm.backends import is_file
from bt_runtime.llm.chat.chat import chat_of, keep, recalled
from bt_runtime.llm.local import gemma
from bt_runtime.llm.model_setting import Named, adapters, apart, is_mapping
from bt_runtime.llm.model_wrapper import counting
from bt_runtime.llm.settings import GEMMA, NAMED_FILES, find_model, with_adapter, without_adapter
from bt_runtime.types import Json, JsonValue, Model, Question, Wake

_OFFERED = {"choose": "options", "decide": "moves"}


class Models(parts.JournalPart):
    """Keeps each role's model by name and digest, or as the object to be given again, and its prompt format."""

    def kept(self, run: Recordable, given: Given) -> parts.Kept:
        agents = agent_services(run.context)
        named = {role: identified(found) for role, found in by_role(given.get("model")).items()}
        asked = {role: _asked(each, agents.prompts) for role, each in agents.models.items()}
        names = {role: found.get("name") or f"object: {found['object']}" for role, found in named.items()}
        return parts.Kept({"models": asked, "model": names}, {"models": named})

    def check(self, head: Mapping[str, Json]) -> None:
        shaped(head, {"models": {str: {"template": str | dict | None}}})

    def wrap(self, run: Recordable, tape: parts.Taping, head: Mapping[str, Json]) -> None:
        if head["models"]:
            agents = agent_services(run.context)
            agents.models = {
                role: TapedModel(tape, role, agents.models.get(role), kept) for role, kept in head["models"].items()
            }
            agents.prompts = ""  # each model has the register that it was recorded in


MODELS = Models()


class TapedModel(Model):
    """A model whose answers are recorded. `inner` is None during a pure replay."""

    def __init__(self, tape: parts.Taping, name: str, inner: Model | None, kept: Mapping[str, Json]) -> None:
        self.tape, self.name, self.inner = tape, name, inner
        self.chat_template, self.constrains = recalled(kept["template"]), bool(kept.get("constrains", True))
        self.register = str(kept.get("register", "starter"))  # the register of recordings that do not tell one
        self.sees = bool(kept.get("sees", False)) if inner is None else inner.sees

    @property
    def live(self) -> Model:
        """The real model, used after the recorded part."""
        assert self.inner is not None, "a replay asks no model"
        return self.inner

    def ask(self, question: Question) -> TapedJob[Json]:
        texts = {"prompt": safe(question.prompt or "\n".join(question.texts))}
        offered = _OFFERED.get(question.kind)
        if offered is not None:
            texts["offered"] = json.dumps({offered: getattr(question, offered)})
        about: dict[str, JsonValue] = {
            "what": question.kind,
            "model": self.name,
            "path": question.by,
            **({"aside": True} if question.aside else {}),
        }
        job = TapedJob(self.tape, ("ask", "answer"), about, texts, lambda: self.live.ask(question), lambda a: a)
        job.wakes = False  # a recording does not tell whether the model's job woke the tree
        return job

    def counting(self, texts: Sequence[str], wake: Wake | None = None) -> TapedJob[Sequence[int]]:
        about: dict[str, JsonValue] = {"way": "count", "goal": " ".join(str(len(text)) for text in texts)}
        job: TapedJob[Sequence[int]] = TapedJob(
            self.tape, ("seek", "found"), about, {}, lambda: counting(self.live, texts, wake), lambda counts: counts,
        )  # fmt: skip
        job.wakes = False
        return job

    def stats(self) -> Mapping[str, Json]:
        return dict(self.inner.stats()) if self.inner is not None else {"model": self.name}


def by_role(given: object) -> dict[str, object]:
    """Returns the models by role, in any accepted form."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or is_mapping(given):
        given = {"default": given}
    return {str(role): apart(each).text() if is_mapping(each) else each for role, each in given.items()}


def identified(given: object) -> dict[str, str]:
    """Returns a model's name and its file's digest; for a model made by a program, its class."""
    if not isinstance(given, str | Path):
        return {"object": class_name(given)}
    where, how = apart(find_model(str(given)))
    if not is_file(where):
        return {"name": Named(where, how).text()}
    path = real(Path(where))
    name = without_adapter(Named(_word(path) or str(path), how)).text()
    return {"name": name, "digest": file_digest(name)}


def file_of(name: str) -> Path | None:
    """Returns a model's file; None for a model without a file."""
    where = with_adapter(apart(name)).where
    return NAMED_FILES[where]() if where in NAMED_FILES else Path(where) if is_file(where) else None


def file_digest(name: str) -> str:
    """Returns the digest of the model's file, adapters and projector; "" when one of them is missing."""
    where, how = with_adapter(apart(name))
    files = [file_of(where) or Path(where), *(Path(adapter.file) for adapter in adapters(how.get("lora", ())))]
    files += [Path(str(how["mmproj"]))] if how.get("mmproj") else []
    found = [digest(path) for path in files]
    if len(found) == 1 or "" in found:
        return min(found)
    from hashlib import sha256

    return sha256(" ".join(found).encode()).hexdigest()[:32]


def _word(path: Path) -> str:
    """Returns the word that names this file on every machine; "" when there is none."""
    for word, find in NAMED_FILES.items():
        if word == GEMMA and path.name != gemma.FILE:
            continue  # finding Gemma's file would put it together first
        with suppress(BtError):  # the model is not installed
            if path == real(find()):
                return word
    return ""


def _asked(model: Model, register: str) -> dict[str, JsonValue]:
    """Returns the format and the register of a model's prompts."""
    kept: dict[str, JsonValue] = {"template": keep(chat_of(model)), "register": register or model.register}
    kept |= {"sees": True} if model.sees else {}
    return kept if model.constrains else {**kept, "constrains": False}
