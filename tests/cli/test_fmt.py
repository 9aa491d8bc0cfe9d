"""`btr fmt`: one layout; comments, order and what the file says stay; twice is as once."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from bt_runtime.cli import main
from bt_runtime.language import source
from bt_runtime.language.tidy import tidy

ROOT = Path(__file__).parents[2]
CROOKED = """\

# top

version:   1
tree: t


skills:
- base
- other   # two
root:
    sequence:
    # about the check
    -   check: a > 1   # why
    -   fallback:
        - log:  "a
            b"
        # inner
        - - x
        - retry:
                times: 3
                child:
                      log: |
                          one
                            two

                          three
    - tree:
       file: door
       with: {a: 1,
          b: 2}
    # the end
# very end
"""
STRAIGHT = """\
# top

version: 1
tree: t

skills:
  - base
  - other   # two
root:
  sequence:
    # about the check
    - check: a > 1   # why
    - fallback:
        - log: "a
            b"
        # inner
        - - x
        - retry:
            times: 3
            child:
              log: |
                  one
                    two

                  three
    - tree:
        file: door
        with: {a: 1,
           b: 2}
    # the end
# very end
"""


def test_a_crooked_text_is_straightened() -> None:
    assert tidy(CROOKED) == STRAIGHT
    assert tidy(STRAIGHT) == STRAIGHT
    assert tidy("\ufeff" + CROOKED.replace("\n", "\r\n")) == "\ufeff" + STRAIGHT.replace("\n", "\r\n")


def test_shipped_files_are_laid_out_so() -> None:
    crooked = [p for folder in ("trees", "skills") for p in sorted((ROOT / folder).rglob("*.yaml"))
               if tidy(p.read_text()) != p.read_text()]  # fmt: skip
    assert crooked == []


def bent(text: str, rng: random.Random) -> str:
    """Other blanks: what it says may change, or it may cease to be YAML."""
    lines = []
    wide = rng.choice([1, 2, 3])
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        indent = (len(line) - len(bare)) * wide // rng.choice([1, 1, 1, 2])
        bare = bare.replace(": ", ":" + " " * rng.randint(1, 3), 1) if rng.random() < 0.2 else bare
        lines += [" " * indent + bare + " " * rng.choice([0, 0, 2]), *([""] if rng.random() < 0.1 else [])]
        lines += [" " * rng.randint(0, 8) + "# said"] if rng.random() < 0.05 else []
    return "\n".join(lines)


@pytest.mark.parametrize("folder", ["trees", "skills", "tests/language/faults"])
def test_it_says_the_same_afterwards_and_twice_is_as_once(folder: str) -> None:
    rng = random.Random(18)
    for path in sorted((ROOT / folder).rglob("*.yaml")):
        try:
            text = path.read_bytes().decode()
        except UnicodeDecodeError:
            continue
        for each in (text, *(bent(text, rng) for _ in range(2))):
            made = tidy(each)
            if made is None:
                continue
            before, after = source.parse(each).root, source.parse(made).root
            assert before is not None and after is not None and before.data() == after.data()
            assert tidy(made) == made
            if not re.search(r"[|>\"']", each):
                assert re.findall(r"(?m)#.*?(?= *$)", each) == re.findall(r"(?m)#.*?(?= *$)", made)


@pytest.mark.parametrize("text", ["", "\n", "# a project\n"])
def test_an_empty_project_file_is_laid_out_already(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`btr validate` finds no fault in it, so that "validate says why" led nowhere."""
    (tmp_path / "btr.yaml").write_text(text)
    assert main(["fmt", str(tmp_path)]) == 0
    assert "cannot be read" not in capsys.readouterr().err and (tmp_path / "btr.yaml").read_text() == text


def test_what_cannot_be_read_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken, crooked = tmp_path / "broken.yaml", tmp_path / "crooked.yaml"
    broken.write_text("root: [\n")
    crooked.write_text(CROOKED)
    assert main(["fmt", "--check", str(broken), str(crooked)]) == 1
    assert crooked.read_text() == CROOKED
    assert main(["fmt", str(broken), str(crooked)]) == 0
    told = capsys.readouterr()
    assert broken.read_text() == "root: [\n" and "cannot be read" in told.err
    assert crooked.read_text() == STRAIGHT and str(crooked) in told.out
    assert main(["fmt", "--check", str(crooked)]) == 0
