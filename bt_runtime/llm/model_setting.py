"""The mapping that describes a model: `{file: FILE, context: 16384}`, `{server: ADDRESS, name: MODEL}`.

btr.yaml holds it as YAML, Python as a dict, --model and BTR_MODEL as a text that begins with `{`."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bt_runtime.language import source
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project_file import CODE, MODEL_OPTIONS, MOST_ADAPTERS, SERVER_OPTIONS
from bt_runtime.language.validate import DocumentCheck

_CHECK = DocumentCheck({"type": "object", "properties": MODEL_OPTIONS}, CODE, "a model")
_EXAMPLE = "write `{file: FILE.gguf, context: 16384}`, or `{server: http://127.0.0.1:8080, name: MODEL}`"


class Named(NamedTuple):
    where: str  # a file, an address, a backend
    how: Mapping[str, Any] = {}

    def text(self) -> str:
        """Returns the setting as one text, valid wherever a model's name is."""
        if not self.how:
            return self.where
        place = "server" if self.where.startswith(("http://", "https://")) else "file"
        return json.dumps({place: self.where, **self.how}, ensure_ascii=False)


class Adapter(NamedTuple):
    """LoRA weights of a fine-tuning, added to the model's own with this scale."""

    file: str
    scale: float = 1.0


def adapters(given: Any) -> tuple[Adapter, ...]:
    """`[FILE, {file: FILE, scale: 0.5}]`"""
    try:
        listed = [each if isinstance(each, Mapping) else {"file": str(each)} for each in map(_plain, given)]
        found = tuple(Adapter(str(each["file"]), float(each.get("scale", 1.0))) for each in listed)
        if isinstance(given, str) or any({*each} - {*Adapter._fields} for each in listed):
            raise ValueError
    except (TypeError, KeyError, ValueError):
        raise BtError(f"lora is {given!r:.80}", "write `lora: [FILE.gguf, {file: FILE.gguf, scale: 0.5}]`") from None
    if len(found) > MOST_ADAPTERS or not all(math.isfinite(each.scale) for each in found):
        raise BtError(f"lora is {given!r:.80}", f"at most {MOST_ADAPTERS} files, each with a number as its scale")
    return found


def is_mapping(given: object) -> bool:
    """True for a mapping that describes one model, and not models by role."""
    return isinstance(given, Mapping) and bool({"file", "server"} & {*given})


def apart(given: object) -> Named:
    """The model's name and its options. Raises for a mapping without a name, or with an unknown option."""
    if isinstance(given, Path):
        return Named(str(given))
    if isinstance(given, str):
        if not given.lstrip().startswith("{"):
            return Named(given)
        given = source.parse(given, "the model").sound().data()
    if not isinstance(given, Mapping):
        raise BtError(f"a model is named by a text or a mapping, this is {given!r:.80}", _EXAMPLE)
    how = {str(name): _plain(value) for name, value in given.items()}
    places = [name for name in ("file", "server") if name in how]
    if len(places) != 1 or not isinstance(how[places[0]], str) or not how[places[0]]:
        raise BtError("a model is either a `file` or a `server`", _EXAMPLE)
    where = how.pop(places[0])
    if (places[0] == "server") != where.startswith(("http://", "https://")):
        raise BtError(
            f"`{places[0]}: {where}` is the wrong key: `server` takes an address with http://, `file` takes a path",
            _EXAMPLE,
        )
    for name in how:
        if name not in MODEL_OPTIONS:
            near = difflib.get_close_matches(name, MODEL_OPTIONS, 1)
            hint = f"did you mean `{near[0]}`?" if near else f"it is one of {', '.join(MODEL_OPTIONS)}"
            raise BtError(f"a model has no setting `{name}`", hint)
        if places[0] == "server" and name not in SERVER_OPTIONS:
            raise BtError(f"`{name}` is for a file; a server is given it where it is started", _EXAMPLE)
        if places[0] == "file" and name in ("name", "timeout", "effort", "think_tokens"):
            raise BtError(f"`{name}` is for a server; a file has none", _EXAMPLE)
        if how[name] is not None and (why := _CHECK.complaint(name, how[name])):
            raise BtError(f"`{name}` of the model {where}: {why}", "docs/models.md has a table of all settings")
    return Named(where, {name: value for name, value in how.items() if value is not None})


def _plain(value: Any) -> Any:
    """Returns a value as a file would hold it."""
    if isinstance(value, Adapter):
        return value._asdict()
    return str(value) if isinstance(value, Path) else [*map(_plain, value)] if isinstance(value, tuple) else value
