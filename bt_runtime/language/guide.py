"""A plan in prose for an agent: Markdown with a header that holds its purpose and its scores."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language import project, source
from bt_runtime.language.faults.diagnostic import BtError, Diagnostic, Faults, did_you_mean
from bt_runtime.language.guide_header import CHECK, CODE, MARK, as_yaml
from bt_runtime.language.project import disk
from bt_runtime.language.source import YamlMap as YamlMapping
from bt_runtime.types import Json, Span

SUFFIX = ".md"


class Guide(NamedTuple):
    """A plan and its `header`, keyed by the names of `header.FIELDS`."""

    text: str  # the plan itself; empty where nothing is known yet
    header: Mapping[str, Json] = {}

    def written(self) -> str:
        """The file."""
        return f"{MARK}\n{as_yaml(self.header)}{MARK}\n{self.text.strip()}\n"


class CheckedGuide(NamedTuple):
    guide: Guide
    diagnostics: tuple[Diagnostic, ...]
    source: str  # the whole text, for showing faults


def parse(text: str, name: str = "plan") -> CheckedGuide:
    """Reads a plan; every fault of its header has its place in the file."""
    lines = text.split("\n")
    if lines[0].rstrip() != MARK:
        fault = Diagnostic(CODE, "a plan begins with a header between two lines of ---", name, Span(1, 1, 1, 2),
                           help=f"write:\n{MARK}\nversion: 1\nkind: heat\n{MARK}\n1. …")  # fmt: skip
        return CheckedGuide(Guide(text.strip()), (fault,), text)
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == MARK), None)
    if end is None:
        fault = Diagnostic(CODE, "the header is not closed", name, Span(1, 1, 1, 1 + len(MARK)), help=f"add {MARK}")
        return CheckedGuide(Guide(""), (fault,), text)
    body = "\n".join(lines[end + 1 :]).strip()
    document = source.parse("\n" + "\n".join(lines[1:end]) + "\n", name)  # an empty first line keeps the places
    found = list(document.diagnostics)
    values: dict[str, Json] = {}
    if isinstance(document.root, YamlMapping):
        values, more = CHECK.read(document.root, name)
        found += more
    elif not found:
        found.append(Diagnostic(CODE, "the header is a mapping of what is known of the plan", name, Span(2, 1, 2, 2)))
    return CheckedGuide(Guide(body, values), tuple(found), text)


def read(path: Path, shown: str = "") -> CheckedGuide:
    """Reads a plan's file; one that cannot be read is a fault like any other."""
    name = shown or str(path)
    try:
        return parse(disk.read_text(path), name)
    except (OSError, UnicodeDecodeError) as error:
        fault = Diagnostic(CODE, f"the plan cannot be read: {error}", name, help="is it a text file in UTF-8?")
        return CheckedGuide(Guide(""), (fault,), "")


def sound(path: Path) -> Guide:
    """Returns the plan of a file; raises all of its faults."""
    checked = read(path)
    if checked.diagnostics:
        raise Faults(checked.diagnostics, {str(path): checked.source})
    return checked.guide


def text_of(said: str) -> str:
    """Returns the plan's text for a `guide:` value: one line ending in `.md` names a file, other text is the plan
    itself."""
    said = said.strip()
    if not said.endswith(SUFFIX) or "\n" in said:
        return said
    path = Path(said) if Path(said).is_file() else project.find("guides", said, SUFFIX)
    if path is None:
        known = [f"{name}{SUFFIX}" for name in project.names("guides", SUFFIX)]
        hint = did_you_mean(said, known, "put it into the guides/ of your project")
        raise BtError(f"there is no plan `{said}`", hint)
    return _text(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _text(path: Path, changed: int) -> str:
    """Returns a file's text, cached by path and modification time. Files are read when the tree is built."""
    return sound(path).text
