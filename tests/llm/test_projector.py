"""Pictures by a random projector before a random model: what a picture changes, and what goes on without it.

Untried with trained weights: this holds the way of a picture, not what a model sees in it."""

from __future__ import annotations

import os
import shutil
import signal
import struct
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gguf", reason="test models are made with gguf (the dev extra)")

from bt_runtime import BtError, Run, Status, load
from bt_runtime.journal import replay
from bt_runtime.llm import picture
from bt_runtime.llm.doctor import model_report
from bt_runtime.llm.job import Cancelled
from bt_runtime.llm.settings import find_model
from bt_runtime.types import Question
from tests.llm.conftest import need_llama
from tests.llm.test_states import WAIT
from tests.llm.test_worker import until
from tests.support.projectors import TOKENS, chunk, jpeg, make_projector, png
from tests.support.random_models import MICRO, make_gguf

TREE = """
version: 1
tree: t
root:
  infer:
    prompt: Which room is it?
    picture: photo.png
    distribution: odds
    outputs: {room: {choices: [kitchen, bathroom]}}
"""
HEAD, COLOURED = (struct.pack(">IIBBBBB", 24, 24, 8, kind, 0, 0, 0) for kind in (2, 3))  # PNG's: RGB, a table
OPTIONS = (" apple", " bread", " cup of tea")


@pytest.fixture(scope="module", autouse=True)
def libmtmd() -> Iterator[None]:
    """llama.cpp's own library for pictures: in the installed package, else as `make mtmd` builds it."""
    need_llama()
    spec = find_spec("llama_cpp")
    assert spec is not None and spec.origin is not None
    built = Path(__file__).parents[2] / ".cache" / "mtmd"
    if "MTMD_CPP_LIB" in os.environ or [*Path(spec.origin).parent.glob("lib/*mtmd*")]:
        yield
    else:
        if not [*built.glob("libmtmd.*")]:
            pytest.skip("this llama.cpp was built without libmtmd (make mtmd)")
        os.environ["MTMD_CPP_LIB"] = str(built)
        yield
        del os.environ["MTMD_CPP_LIB"]


@pytest.fixture(scope="module")
def mmproj(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(make_projector(tmp_path_factory.mktemp("projectors") / "mmproj.gguf", MICRO.width))


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two random pictures and a grey one, under their digests."""
    folder, files = tmp_path_factory.mktemp("pictures"), []
    for data in (png(1), png(2), jpeg()):
        files.append(folder / picture.of(data).file)
        files[-1].write_bytes(data)
    return files


def asked(*files: Path, before: str = "", mode: Any = "scores") -> Question:
    marks = " ".join(f"[picture {file.stem}]" for file in files)
    prompt = f"You see pictures.{before}\n{marks}\nWhat is it?\nteam:"
    return Question("choose", prompt, options=OPTIONS, mode=mode, pictures=tuple(map(str, files)))


def scores(model: Any, question: Question) -> list[float]:
    return list(model.ask(question).wait(WAIT).scores)


def apart(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("lanes", [1, 4])
def test_another_picture_gives_other_scores_and_the_same_one_the_same(open_model, mmproj, shown, lanes):
    """Whatever was asked between, and with nothing reused; without its file the mark is text. The order counts."""
    model, bare = open_model(mmproj=mmproj, lanes=lanes), open_model(mmproj=mmproj, repeatable=True)
    one, two, grey = (asked(file) for file in shown)
    first = scores(model, one)
    assert apart(first, scores(model, two)) > 0.05 and apart(first, scores(model, grey)) > 0.05
    assert apart(first, scores(model, one)) < 1e-2
    assert apart(first, scores(bare, one)) < 1e-2
    assert scores(bare, one) == scores(bare, one)
    assert apart(first, scores(model, one._replace(pictures=()))) > 0.05
    both, swapped = scores(model, asked(*shown[:2])), scores(model, asked(*shown[1::-1]))
    assert apart(both, swapped) > 0.05
    assert apart(both, scores(bare, asked(*shown[:2]))) < 1e-2


def test_text_and_pictures_keep_their_order(open_model, mmproj, shown):
    """What stands before a picture is shared by prompts with other pictures; from the picture on nothing is."""
    model, bare = open_model(mmproj=mmproj, lanes=1, chunk=7), open_model(mmproj=mmproj, repeatable=True)
    long = " Put the cup on the table, then go to the sink." * 6
    jobs = [model.ask(asked(file, before=long)) for file in (*shown, shown[0])]
    found = [list(job.wait(WAIT).scores) for job in jobs]
    assert [apart(mine, scores(bare, asked(f, before=long))) < 1e-2 for mine, f in zip(found, shown, strict=False)]
    assert apart(found[0], found[3]) < 1e-2
    again = model.ask(asked(shown[1], before=long))
    again.wait(WAIT)
    assert again.spent.reused >= again.spent.prompt - 8, "the picture's embeddings are in the cache"
    text = model.ask(asked(before=long))
    text.wait(WAIT)
    assert text.spent.reused < again.spent.reused - TOKENS, "a prompt without the picture shares the text alone"


@pytest.mark.parametrize("kind", ["choose", "decide", "write"])
def test_every_question_may_show_a_picture(open_model, mmproj, shown, kind):
    """An exact choice is the likeliest of all scores; moves and texts are answered behind a picture, too."""
    model = open_model(mmproj=mmproj, lanes=1)
    if kind == "choose":
        all_of_them = scores(model, asked(shown[0]))
        assert model.ask(asked(shown[0], mode="exact")).wait(WAIT).index == all_of_them.index(max(all_of_them))
    elif kind == "decide":
        moves = {"Think:": (), "Act:": OPTIONS}
        assert model.ask(asked(shown[0])._replace(kind="decide", moves=moves, mode="exact")).wait(WAIT).text
    else:
        written = [
            model.ask(asked(file)._replace(kind="write", options=(), max_tokens=12)).wait(WAIT) for file in shown
        ]
        assert all(each.tokens == 12 for each in written) and written[0].text != written[1].text


def test_cancel_and_a_killed_worker(open_model, mmproj, shown):
    """A cancelled job leaves the others; after kill -9 the same picture gives the same scores."""
    model = open_model(mmproj=mmproj, lanes=1)
    jobs = [model.ask(asked(file, before=f" {n}")) for n, file in enumerate(shown * 3)]
    jobs[0].cancel("another goal")
    with pytest.raises(Cancelled):
        jobs[0].wait(WAIT)
    before = [list(job.wait(WAIT).scores) for job in jobs[1:]]
    os.kill(model.pid, signal.SIGKILL)
    after = [scores(model, asked(file, before=f" {n}")) for n, file in enumerate(shown * 3)][1:]
    assert max(map(apart, before, after)) < 1e-2
    assert model.stats()["restarts"] == 1


def test_a_broken_picture_is_refused_and_the_worker_lives(open_model, mmproj, shown, tmp_path):
    """A file that changed, is cut, is gone, or that only the decoder finds wrong: a fault each, and no death."""
    model = open_model(mmproj=mmproj, lanes=1)
    cut, gone, other = tmp_path / shown[0].name, tmp_path / f"{'0' * 32}.png", tmp_path / shown[1].name
    other.write_bytes(png(9))
    cut.write_bytes(shown[0].read_bytes()[:-20])
    sly = png(1).replace(chunk(b"IHDR", HEAD), chunk(b"IHDR", COLOURED))  # whole, but without its table of colours
    odd = tmp_path / picture.of(sly).file
    odd.write_bytes(sly)
    for file, words in (
        (cut, "cut off or damaged"),
        (gone, "cannot be read"),
        (other, "was changed"),
        (odd, "cannot be decoded"),
    ):
        with pytest.raises(BtError, match=words):
            model.ask(asked(file)).wait(WAIT)
    assert scores(model, asked(shown[0])) and model.stats()["restarts"] == 0


def test_what_is_no_projector_of_the_model_is_refused_when_it_is_opened(open_model, mmproj, micro, tmp_path):
    """A missing file, a model, another width, a cut file, an audio projector: each with its name and a way out."""
    wide, cut = make_projector(tmp_path / "wide.gguf", 128), tmp_path / "cut.gguf"
    cut.write_bytes(Path(mmproj).read_bytes()[:-4000])
    deaf = tmp_path / "deaf.gguf"
    deaf.write_bytes(Path(mmproj).read_bytes().replace(b"has_vision_encoder", b"has_audiox_encoder"))
    for file, words in (
        (tmp_path / "no.gguf", "there is no projector"), (micro, "is no projector, but a model"),
        (wide, "n_embd = 64.*n_embd = 128"), (cut, r"cut\.gguf"), (deaf, "reads no pictures"),
    ):  # fmt: skip
        with pytest.raises(BtError, match=f"(?s){words}") as fault:
            open_model(mmproj=str(file))
        assert fault.value.hint


def test_the_states_of_prompts_on_disk_hold_text_alone(open_model, mmproj, shown, tmp_path, monkeypatch):
    """What stands for a picture is numbered at each start: the next start takes the text before it from disk."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    large = make_gguf(tmp_path / "large.gguf", replace(MICRO, context=4096))
    one, two = (asked(file, before=" Put the cup on the table, then go to the sink." * 40) for file in shown[:2])
    with open_model(large, mmproj=mmproj, lanes=1, chunk=8, keep=16) as model:
        scores(model, one)
        until(lambda: [*tmp_path.rglob("*.state")])
    with open_model(large, mmproj=mmproj, lanes=1, chunk=8, keep=16) as model:
        job = model.ask(two)
        found = list(job.wait(WAIT).scores)
        assert 256 <= job.spent.reused <= job.spent.prompt - TOKENS, "the picture is computed anew"
    assert apart(found, scores(open_model(large, mmproj=mmproj, lanes=1, chunk=8, keep=0), two)) < 1e-2


def test_the_doctor_names_the_projector(micro, mmproj):
    told = [str(each) for each in model_report(f"{{file: {micro}, mmproj: {mmproj}}}", test=False)]
    assert any("mmproj.gguf: its projector" in line for line in told)


def test_a_run_asks_a_model_with_its_projector(micro, mmproj, shown, tmp_path, monkeypatch):
    """`infer` in a project whose btr.yaml names both files: pictures change the distribution, and a replay is equal."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BTR_MODEL", raising=False)
    monkeypatch.chdir(tmp_path)
    settings = f"{{file: {micro}, mmproj: near.gguf, chat: false, threads: 1}}"
    (tmp_path / "btr.yaml").write_text(f"model: {settings}\n")
    shutil.copy(mmproj, tmp_path / "near.gguf")
    found = []
    for file in shown[:2]:
        shutil.copy(file, tmp_path / "photo.png")
        with Run(load(TREE), model=find_model(root=tmp_path), journal=tmp_path / "runs") as run:
            assert run.spin(seconds=WAIT) is Status.SUCCESS
            found.append(run.blackboard["odds"]["room"])
            path = run.parts.journal.path
        assert replay(path).same
    assert apart([*found[0].values()], [*found[1].values()]) > 1e-4
