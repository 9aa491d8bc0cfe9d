"""`make gpu-check`: what the runtime does on a machine with a GPU, in some minutes and without a network.

MODEL=FILE.gguf checks that file, else one of a 7B's shape is made (8 GB). GPU_LAYERS=0 runs what can be run on the
processor, on a small file: whether the script works. LLAMA_BIN=FOLDER has llama-server and llama-bench. ONLY=name,name.
Ends with 1 when something is not as it should be; what cannot be checked says why.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bt_runtime.llm import open_model
from bt_runtime.llm.local.header import read_header
from bt_runtime.llm.local.sizing import fit, free_memory
from bt_runtime.llm.settings import WorkerSettings
from tests.gpu.big import SEVEN, SMALL, make

LAYERS: Any = os.environ.get("GPU_LAYERS") or "auto"
DRY = LAYERS == "0"
LLAMA = Path(os.environ.get("LLAMA_BIN") or ".cache/llama-server/build/bin")
ONLY = [name for name in os.environ.get("ONLY", "").split(",") if name]
MARGIN = 1024  # MiB that the memory taken may differ from the estimate
STORY = "You are in a kitchen. You see cabinet 1, counter 1, fridge 1, sink 1.\nAct: go to fridge 1\nIt is closed.\n"
THINGS = (
    "apple,bread,bowl,cup,mug,plate,fork,knife,spoon,pan,pot,egg,lettuce,potato,tomato,cloth,towel,book,pen,key,hat"
)
PLACES = "fridge,microwave,cabinet,drawer,table,counter,sink,shelf,desk,sofa,stove,bed,chair,lamp,bin,box,rack"
OPTIONS = [f" put the {thing} in the {place}" for thing in THINGS.split(",") for place in PLACES.split(",")][:350]
MOVES: dict[str, list[str]] = {"Think:": [], "Act:": OPTIONS[:85], "Expand:": []}
WAIT = 300.0
problems = 0


def tell(check: str, good: bool | None, **figures: Any) -> None:
    """`good`: None for what is only told."""
    global problems
    problems += good is False
    word = {True: "ok     ", False: "PROBLEM", None: "figure "}[good]
    print(word, check, " ".join(f"{name}={value}" for name, value in figures.items()), flush=True)


def skip(check: str, why: str) -> None:
    print("skipped", f"{check}: {why}", flush=True)


def opened(path: Path, **how: Any) -> Any:
    layers = "auto" if LAYERS == "auto" else int(LAYERS)
    return open_model(str(path), **{"gpu_layers": layers, "context": 4096 if DRY else 8192, **how}).ready(WAIT)


def prompt(who: int = 0, times: int = 28) -> str:
    return f"{STORY * (times if not DRY else min(times, 12))}Think: agent {who} begins.\nOK.\n"


def clocked(job: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    value = job().wait(WAIT)
    return value, time.perf_counter() - start


def agents(model: Any, number: int, tokens: int = 16) -> tuple[float, float]:
    """A thought each, then a decision each, all at once: tokens and decisions a second."""
    for who in range(number):
        model.write(prompt(who), max_tokens=1).wait(WAIT)
    start = time.perf_counter()
    wrote = sum(j.wait(WAIT).tokens for j in [model.write(prompt(w), max_tokens=tokens) for w in range(number)])
    middle = time.perf_counter()
    for job in [model.decide(f"{prompt(w)}Think: so.\nOK.\n", MOVES) for w in range(number)]:
        job.wait(WAIT)
    return round(wrote / (middle - start), 1), round(number / (time.perf_counter() - middle), 2)


def used() -> int | None:
    """MiB of the first GPU; None where nobody tells."""
    words = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[0])
    except (OSError, subprocess.CalledProcessError, ValueError, IndexError):
        return None


def offload(path: Path) -> None:
    """All layers go to the GPU where they fit, and take what was estimated."""
    header, before = read_header(path), used()
    with opened(path) as model:
        stats, now = model.stats(), used()
        on = stats["gpu_layers"]
        told = {name: stats[name] for name in ("notes", "load_seconds", "chunk", "room")}
        whole = on == header.layers + 1 and not stats["notes"]
        tell("layers on the GPU", None if DRY else whole, layers=on, of=header.layers + 1, **told)
        if before is None or now is None or DRY:
            skip("memory against the estimate", "nvidia-smi does not tell, or nothing was to go there")
        else:
            sizes = fit(header, WorkerSettings(str(path), context=8192), max(free_memory(), 64 << 30), [64 << 30])
            want = (header.weights + sizes.cache_bytes + sizes.logits_bytes) >> 20
            tell("memory against the estimate", abs(now - before - want) < MARGIN, MiB=now - before, estimate=want)
        _, cold = clocked(lambda: model.decide(prompt(), MOVES))
        _, warm = clocked(lambda: model.decide(prompt(), MOVES))
        tell("a decision, cold and again", None, cold_s=round(cold, 3), again_s=round(warm, 3))
        for mode in ("exact", "greedy"):
            first, one = clocked(lambda mode=mode: model.choose(f"{prompt()}Act:", OPTIONS, mode=mode))
            second, two = clocked(lambda mode=mode: model.choose(f"{prompt()}Act:", OPTIONS, mode=mode))
            tell(
                f"{mode} choice of {len(OPTIONS)}", first.index == second.index, first_s=round(one, 3), s=round(two, 3)
            )


def together(path: Path) -> None:
    """1 to 16 agents in one batch; 8 at least 4 times one on a GPU."""
    found = {}
    with opened(path) as model:
        for number in (1, 2, 4, 8, 16):
            found[number] = agents(model, number)
            tell(f"{number} agents", None, tokens_per_s=found[number][0], decisions_per_s=found[number][1])
    gain = found[8][0] / found[1][0]
    tell("8 agents in one batch against one", None if DRY else gain >= 4, times=round(gain, 2))


def chunks(path: Path) -> None:
    for how in ({}, {"chunk": 512}, {"chunk": 1024}, {"flash": False}):
        with opened(path, **how) as model:
            job = model.write(prompt(times=100), max_tokens=1)
            start = time.perf_counter()
            job.wait(WAIT)
            speed = job.spent.computed / (time.perf_counter() - start)
            tell(f"prefill with {how or 'the defaults'}", None, tokens=job.spent.computed, per_s=round(speed))


def stopping(path: Path) -> None:
    """A cancel lands within a chunk, and a worker that is killed is replaced."""
    with opened(path) as model:
        job = model.write("word " * (1500 if DRY else 5000), max_tokens=1)
        start = time.perf_counter()
        job.cancel("the check")
        model.choose("x", [" a", " b"]).wait(WAIT)
        took = time.perf_counter() - start
        tell("a prompt is cancelled, the next is answered", None if DRY else took < 0.5, seconds=round(took, 3))
        os.kill(model.pid, signal.SIGKILL)
        _, took = clocked(lambda: model.choose("You see an egg.\nAct:", [" a", " b"]))
        tell("a killed worker is replaced", model.stats()["restarts"] == 1, seconds=round(took, 2))


def same(path: Path) -> None:
    """GPU and processor choose the same wherever the margin is above the rounding; `repeatable` is so."""
    if not DRY:
        path = make(path.with_name("small.gguf"), SMALL)
    worst, parted = 0.0, 0
    with opened(path) as one, opened(path, gpu_layers=0) as other:
        for who in range(6):
            ask = f"{prompt(who, 3)}Act:"
            a, b = (model.choose(ask, OPTIONS[:60], mode="scores").wait(WAIT) for model in (one, other))
            worst = max(worst, *(abs(x - y) for x, y in zip(a.scores, b.scores, strict=True)))
            parted += a.index != b.index and b.margin > 0.5
    tell("as the processor", parted == 0 and worst < 1.5, worst_nats=round(worst, 4))
    texts = []
    for _ in range(2):
        with opened(path, repeatable=True) as model:
            texts.append(model.write(prompt(0, 3), max_tokens=24).wait(WAIT).text)
    tell("repeatable: the same in two processes", texts[0] == texts[1])


def server(path: Path) -> None:
    """llama-server beside us, on the same prompts: thoughts of 1 and 8 at once."""
    program, port = LLAMA / "llama-server", 18555
    if not program.is_file():
        skip("llama-server", f"none in {LLAMA} (make llama-server, or LLAMA_BIN=FOLDER)")
        return
    words = [str(program), "-m", str(path), "-ngl", "0" if DRY else "99", "-c", "32768", "-np", "8", "--kv-unified",
             "--port", str(port), "--host", "127.0.0.1", "--no-repack"]  # fmt: skip
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _until_healthy(f"http://127.0.0.1:{port}")
        for number in (1, 8):
            tell(f"llama-server, {number} at once", None, tokens_per_s=_thoughts(port, number))
        with open_model(f"http://127.0.0.1:{port}") as model:
            start = time.perf_counter()
            for job in [model.decide(prompt(who), MOVES) for who in range(8)]:
                job.wait(WAIT)
            tell("8 decisions through llama-server", None, per_s=round(8 / (time.perf_counter() - start), 2))
    finally:
        process.kill()
        process.wait()


def _until_healthy(url: str) -> None:
    for _ in range(600):
        time.sleep(0.2)
        try:
            if urllib.request.urlopen(f"{url}/health", timeout=2).status == 200:
                return
        except OSError:
            continue
    raise RuntimeError("llama-server did not start")


def _thoughts(port: int, number: int, tokens: int = 16) -> float:
    wrote: list[int] = []

    def think(who: int) -> None:
        body = {"prompt": prompt(who), "n_predict": tokens, "temperature": 0, "cache_prompt": True, "ignore_eos": True}
        head = {"Content-Type": "application/json"}
        ask = urllib.request.Request(f"http://127.0.0.1:{port}/completion", json.dumps(body).encode(), head)
        wrote.append(json.load(urllib.request.urlopen(ask, timeout=WAIT))["tokens_predicted"])

    for _ in range(2):  # the first time the prompts are read
        wrote.clear()
        threads = [threading.Thread(target=think, args=(who,)) for who in range(number)]
        start = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return round(sum(wrote) / (time.perf_counter() - start), 1)


def bench(path: Path) -> None:
    program = LLAMA / "llama-bench"
    if not program.is_file():
        skip("llama-bench", f"none in {LLAMA} (LLAMA_BIN=FOLDER)")
        return
    words = [str(program), "-m", str(path), "-ngl", "0" if DRY else "99", "-p", "2048", "-n", "64", "-r", "2"]
    done = subprocess.run([*words, "-ub", "256,512", "-o", "json"], capture_output=True, text=True, timeout=600)
    for row in json.loads(done.stdout or "[]"):
        what = f"pp{row['n_prompt']} tg{row['n_gen']} ub{row['n_ubatch']}"
        tell("llama-bench", None, test=what, per_s=round(row["avg_ts"], 1))


CHECKS = (offload, together, chunks, stopping, same, server, bench)


def gpus() -> list[str]:
    """What llama.cpp was built for and finds; asked in a process of its own, as the worker is one."""
    code = (
        "from bt_runtime.llm.local.llama import begin, devices; begin()\nprint(*[d.name for d in devices() if d.gpu])"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def main() -> int:
    found = gpus()
    print("GPUs that llama.cpp can use:", ", ".join(found) or "none", flush=True)
    if not found and not DRY:
        skip("everything", "no GPU, or llama.cpp was built without one (docs/gpu.md); GPU_LAYERS=0 tries the script")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        given = os.environ.get("MODEL")
        path = Path(given) if given else make(Path(folder) / "big.gguf", SMALL if DRY else SEVEN)
        for check in CHECKS:
            if ONLY and check.__name__ not in ONLY:
                continue
            try:
                check(path)
            except Exception as failure:
                traceback.print_exc()
                tell(check.__name__, False, error=f"{type(failure).__name__}: {failure}"[:300])
    return int(problems > 0)


if __name__ == "__main__":
    raise SystemExit(main())
