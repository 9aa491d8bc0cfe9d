"""Decodes bytes to text; reports unreadable files, bytes that are not UTF-8, and characters that YAML forbids."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from bt_runtime.language.faults.diagnostic import Diagnostic, nearest
from bt_runtime.language.source.limits import Limits
from bt_runtime.types import Span

# libyaml's own idea of a line; whoever shows a line must cut the text the same way.
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_COMMON = bytes([0x09, 0x0A, 0x0D, *range(0x20, 0x7F)])  # characters of most files
_BINARY = 20  # with so many foreign characters a file is no text


class Places:
    """Converts a text's offsets to lines and columns, counted from 1. Ask in rising order."""

    def __init__(self, text: str) -> None:
        self._breaks = LINE_BREAK.finditer(text)
        self._next = next(self._breaks, None)
        self._line, self._start = 1, 0

    def span(self, start: int, length: int = 1) -> Span:
        while self._next and self._next.end() <= start:
            self._line, self._start = self._line + 1, self._next.end()
            self._next = next(self._breaks, None)
        column = start - self._start + 1
        return Span(self._line, column, self._line, column + length)


def load(path: Path, name: str, limits: Limits) -> bytes | Diagnostic:
    """Reads the bytes of a regular file. Never opens a file that could block, and never reads more than the limit."""

    def fault(message: str, help: str) -> Diagnostic:
        return Diagnostic("BT001", message, name, help=help)

    from bt_runtime.language.project import disk

    try:
        return disk.read(path, limits.size)
    except disk.FileTooLarge as error:
        return too_large(name, error.size, limits)
    except disk.Irregular:
        return fault("this is not a regular file", "copy its content to a file first")
    except FileNotFoundError:
        near = _neighbour(path)
        return fault("there is no such file", f"did you mean `{near}`?" if near else "check the path")
    except NotADirectoryError:
        return fault("a part of this path is not a folder", "check the path")
    except IsADirectoryError:
        return fault("this is a folder", "name a file inside it")
    except PermissionError:
        return fault("this file may not be read", "check its permissions (ls -l)")
    except OSError as reason:
        return fault(f"this file cannot be read: {reason.strerror}", "check the path and the disk")


def too_large(name: str, size: int, limits: Limits) -> Diagnostic:
    return Diagnostic(
        "BT003",
        f"{size:,} bytes are too many, at most {limits.size:,} are read",
        name,
        help="split it into subtrees, one file each",
    )


class Decoded(NamedTuple):
    text: str  # every foreign character in it replaced
    faults: list[Diagnostic]  # one for each of those
    readable: bool = True  # whether it is worth looking for YAML in it


def decode(data: bytes, name: str) -> Decoded:
    wide = _wide_encoding(data)
    if wide:
        at = Span(1, 1, 1, 1)
        fault = Diagnostic("BT002", f"this is {wide}, not UTF-8", name, at, help="save the file as UTF-8")
        return Decoded("", [fault], readable=False)
    return clean(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"), name)


def clean(text: str, name: str) -> Decoded:
    """Checks a text that is decoded already."""
    if text.isascii() and not text.encode("ascii").translate(None, _COMMON):
        return Decoded(text, [])
    foreign = re.compile("[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
    found = foreign.search(text)
    if not found:
        return Decoded(text, [])
    places = Places(text)
    faults: list[Diagnostic] = []
    for match in foreign.finditer(text, found.start()):
        faults.append(_foreign(match[0], name, places.span(match.start())))
        if len(faults) > _BINARY:
            faults = [faults[0]._replace(message="this is not text", help="is this the right file?")]
            return Decoded(foreign.sub("\ufffd", text), faults, readable=False)
    return Decoded(foreign.sub("\ufffd", text), faults)


def _foreign(character: str, name: str, span: Span) -> Diagnostic:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        message, help = f"the byte 0x{code - 0xDC00:02X} is not UTF-8", "save the file as UTF-8"
    elif code == 0:
        message, help = "a NUL character", "delete it"
    elif 0xD800 <= code <= 0xDFFF:
        message, help = f"half of a character (U+{code:04X})", "delete it, or write the whole character"
    else:
        message, help = f"the control character U+{code:04X}", f'delete it, or write it as "\\x{code:02x}" in quotes'
        if code > 0xFF:
            help = f'delete it, or write it as "\\u{code:04x}" in quotes'
    return Diagnostic("BT002", message, name, span, help=help)


def _wide_encoding(data: bytes) -> str | None:
    if data.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        return "UTF-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16"
    head = data[:64]
    # letters with a NUL beside each: UTF-16 without its mark
    if len(head) >= 4 and (not any(head[1::2]) or not any(head[0::2])) and any(head):
        return "UTF-16"
    return None


def _neighbour(path: Path) -> str | None:
    try:
        names = sorted(entry.name for entry in os.scandir(path.parent))[:1000]
    except OSError:
        return None
    return nearest(path.name, names)
