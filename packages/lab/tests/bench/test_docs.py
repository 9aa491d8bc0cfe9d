"""The page about evaluation is true: its commands are commands, its labels are the labels, its program runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bt_lab.run.failure import LABELS
from bt_runtime.cli import joined, parser

PAGE = (Path(__file__).parents[4] / "docs" / "eval.md").read_text("utf-8")


@pytest.mark.parametrize("line", re.findall(r"^btr lab eval .*$", PAGE, re.MULTILINE))
def test_a_command_of_the_page_is_one(line: str) -> None:
    words = shlex.split(line)[1:]
    parser(words).parse_args(joined(words))


def test_the_page_tells_every_label_by_what_it_is_told_from() -> None:
    section = PAGE.partition("## Why episodes fail")[2].partition("\n## ")[0]
    named = [row.split("|")[1].strip() for row in section.splitlines() if row.startswith("| ")]
    assert named[1:] == list(LABELS)


def test_every_option_of_the_command_stands_on_the_page_or_is_one_of_the_tasks() -> None:
    words = ["lab", "eval", "textcraft"]
    told = parser(words).parse_args(joined(words))
    options = {f"--{name.replace('_', '-')}" for name in vars(told)} - {"--command", "--run", "--what", "--folders"}
    options -= {"--version", "--color"}
    assert [option for option in sorted(options) if option not in PAGE] == []
