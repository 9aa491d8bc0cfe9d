"""Arguments of a foreign class in YAML: enums and policies by name, callables by import path."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from pathlib import Path
from types import UnionType

from bt_runtime.language.faults.diagnostic import BtError, did_you_mean
from bt_runtime.types import Json

Imported = Callable[[str, Path], object]  # module:Name → the object
_PLAIN = (str, int, float, bool, list, dict, tuple, set, object)


def arguments(made: type, given: Mapping[str, Json], imported: Imported, folder: Path) -> dict[str, typing.Any]:
    """Converts each argument to its parameter's annotation. Raises BtError."""
    try:
        hints = typing.get_type_hints(inspect.getattr_static(made, "__init__"))
    except Exception:  # an annotation that names what is not there: then nothing is known of it
        hints = {}
    return {name: _argument(name, hints.get(name), value, imported, folder) for name, value in given.items()}


def _argument(name: str, hint: object, value: Json, imported: Imported, folder: Path) -> object:
    if isinstance(value, dict) and list(value) == ["py"]:
        return imported(str(value["py"]), folder)
    wanted = _alternatives(hint)
    classes = [w for w in wanted if inspect.isclass(w) and w not in _PLAIN]
    if isinstance(value, str) and str not in wanted:
        words: dict[str, Callable[[], object]] = {}
        for each in classes:
            words |= _named(each)
        if value in words:
            return words[value]()
        if any(w is Callable or typing.get_origin(w) is Callable for w in wanted):
            return imported(value, folder)
        if words:
            hint = did_you_mean(value, words)
            raise BtError(f"`{name}` takes {' or '.join(words)}, not `{value}`", hint)
    if isinstance(value, dict) and dict not in wanted and len(classes) == 1 and not issubclass(classes[0], Mapping):
        made, inner = classes[0], value
        for below in made.__subclasses__():  # a policy: {SuccessOnAll: {synchronise: false}}
            if list(value) == [below.__name__] and isinstance(of_policy := value[below.__name__], dict):
                made, inner = below, of_policy
        return made(**arguments(made, inner, imported, folder))
    if isinstance(value, list):
        items = next((typing.get_args(w) for w in wanted if typing.get_origin(w) in (list, tuple)), ())
        return [_argument(name, items[0] if items else None, each, imported, folder) for each in value]
    return value


def _alternatives(hint: object) -> list[object]:
    if typing.get_origin(hint) in (typing.Union, UnionType):
        return [each for part in typing.get_args(hint) for each in _alternatives(part)]
    return [hint]


def _named(wanted: type) -> dict[str, Callable[[], object]]:
    """Maps words to enum members, or to subclasses created without arguments."""
    if issubclass(wanted, Enum):
        return {member.name: partial(wanted, member.value) for member in wanted}
    return {below.__name__: below for below in wanted.__subclasses__()}
