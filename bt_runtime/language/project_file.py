"""The fields of btr.yaml: one list for their check, their schema and their environment variables."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bt_runtime.language.kinds.shape import DRAFT, Schema, closed
from bt_runtime.language.validate import DocumentCheck
from bt_runtime.types import Json

CODE = "BT060"  # the code of each fault in a project file
LAID_OUT = "# laid out from a journal\n"  # how the project file begins of a run that is made again
Type = Literal[
    "text", "word", "number", "integer", "boolean", "model", "models", "allow", "kinds", "properties", "policies",
    "servers", "names",
]  # fmt: skip


class Setting(NamedTuple):
    name: str  # name in the project file: `--output-format` is `output_format`
    type: Type
    about: str
    default: Json = None
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        return f"BTR_{self.name.upper()}"


SETTINGS: tuple[Setting, ...] = (
    Setting("color", "word", "When to use colours.", "auto", ("auto", "always", "never")),
    Setting("output_format", "word", "How `validate` shows faults.", "full", ("full", "concise", "json", "github")),
    Setting("strict", "boolean", "Warnings count as faults; a node that breaks ends the run.", False),
    Setting("hz", "number", "Ticks a second of `run`; without it, as fast as there is work."),
    Setting("seconds", "number", "The longest that `run` may take."),
    Setting("ticks", "integer", "The most ticks that `run` may take."),
    Setting("slow", "number", "Seconds that a node may hold a tick of `run` before it is named; 0.5 if left open."),
    Setting("log", "word", "From which level on the log is shown.", "info", ("debug", "info", "warning", "error")),
    Setting("robot", "text", "The robot's name in the counters of `run --metrics`; default: the machine's name."),
    Setting("env", "text", "The world in which `run` acts: its name, or path.py:Name."),
    Setting(
        "model", "model",
        "The model of the agents: a GGUF file, an address, a backend, path.py:Name, or a mapping with its settings.",
    ),
    Setting("models", "models", "A mapping of roles to models: `{planner: big.gguf, executor: small.gguf}`."),
    Setting("memory", "text", "The file of the episodic memory."),
    Setting(
        "prompts", "word", "The register of all prompts; each model's own where this is left out.", None,
        ("starter", "instruct"),
    ),
    Setting("runs", "text", "The folder of journals, or `none`; in a project its runs/, elsewhere none."),
    Setting(
        "journal", "word", "Without a record, do skills that may not be repeated wait, or go on?", "required",
        ("required", "best_effort"),
    ),
    Setting("seal", "text", "A file with a secret: `run`, `resume` and `fork` seal finished journals by it."),
    Setting("data", "text", "The folder of outside data sets."),
    Setting(
        "servers", "servers", "MCP servers whose tools may be skills: `{time: {command: [mcp-server-time]}}`.",
    ),
    Setting("kinds", "kinds", "Kinds of nodes of the project's own: `[nodes/blink.py:BLINK]`."),
    Setting("properties", "properties", "What must hold in every tree of the project, by name."),
    Setting("policies", "policies", "Which sources may order what, in every tree of the project: `robot`, or rules."),
    Setting("panel", "names", "Blackboard entries that the list of runs shows: `[battery]`."),
    Setting("allow", "allow", "What a project takes from elsewhere: `{python: [my_package, ../shared_skills]}`."),
)  # fmt: skip


def settings_schema() -> Schema:
    """The schema of a project file."""
    return {
        "$schema": DRAFT,
        "title": "bt_runtime project",
        "description": "The settings of a project (btr.yaml).",
        "type": "object",
        **closed({"version": _VERSION, **{s.name: _schema(s) for s in SETTINGS}}, ()),
    }


def _schema(setting: Setting) -> Schema:
    if setting.type == "word":
        shape, said = {"enum": list(setting.choices)}, f"one of {', '.join(setting.choices)}"
    else:
        shape, said = _SHAPES[setting.type]
    return {**shape, "description": setting.about, "errorMessage": f"`{setting.name}` is {said}"}


_VERSION: Schema = {"enum": [1], "description": "The version of the project file: 1.",
                    "errorMessage": "this runtime reads version 1"}  # fmt: skip
_NAMES: Schema = {"type": "array", "items": {"type": "string", "minLength": 1}}
_PLACES: Schema = {"type": "array", "items": {"type": "string", "pattern": ":"}}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
SAMPLER: dict[str, Schema] = {"top_p": _SHARE, "min_p": _SHARE, "top_k": _COUNT}
CACHE_TYPES = ("f32", "f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
MOST_ADAPTERS = 16  # adapters of one model
_ADAPTER: Schema = {
    "type": ["string", "object"],
    "properties": {"file": {"type": "string", "minLength": 1}, "scale": {"type": "number"}},
    "required": ["file"],
    "additionalProperties": False,
}
# What a model may be told beside its `file` or `server`; `llm/settings.py` says what each means.
MODEL_OPTIONS: dict[str, Schema] = {
    "name": {"type": "string", "minLength": 1},
    "timeout": {"type": "number", "exclusiveMinimum": 0},
    "chat": {"type": "boolean"},
    "turns": {"enum": ["chat", "one"]},
    "context": _COUNT,
    "sampler": {"type": "object", "properties": SAMPLER, "additionalProperties": False},
    "seed": _COUNT,
    "effort": {"enum": ["", "none", "minimal", "low", "medium", "high"]},
    "think_tokens": _COUNT,
    "gpu_layers": {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": -1}]},
    "tensor_split": {"type": "array", "items": {"type": "number", "minimum": 0}, "maxItems": 16},
    "main_gpu": _COUNT,
    "cache_type": {"enum": [*CACHE_TYPES]},
    "lora": {"type": "array", "items": _ADAPTER, "maxItems": MOST_ADAPTERS},
    "mmproj": {"type": "string", "minLength": 1},
    "flash": {"type": "boolean"},
    "threads": _COUNT, "chunk": _COUNT, "room": _COUNT, "lanes": _COUNT, "batches": _COUNT, "keep": _COUNT,
    "width": {"type": "integer", "minimum": 1},
    "repeatable": {"type": "boolean"}, "background": {"type": "boolean"},
    "patience": {"type": "number", "exclusiveMinimum": 0},
    "niceness": {"type": "integer"},
}  # fmt: skip
SERVER_OPTIONS = (
    "name",
    "timeout",
    "chat",
    "turns",
    "context",
    "sampler",
    "seed",
    "effort",
    "think_tokens",
)  # the others are of files
_ADDRESS: Schema = {
    "type": "string",
    "pattern": "^https?://",
    "errorMessage": "a server has an address: http://HOST:PORT",
}
_MODEL: Schema = {
    "type": ["string", "object"],
    "properties": {"file": {"type": "string", "minLength": 1}, "server": _ADDRESS, **MODEL_OPTIONS},
    "additionalProperties": False,
}
_SECRETS: Schema = {  # a secret is named by its variable, and never written into the file
    "type": "object",
    "additionalProperties": {
        "type": "string",
        "pattern": r"^[^$]*\$[A-Za-z_][A-Za-z0-9_]*$",
        "errorMessage": "a secret is named by its variable, never written here: `$TOKEN`",
    },
}
_SERVER: Schema = {
    "type": "object",
    "properties": {
        "command": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        "url": _ADDRESS,
        "env": _SECRETS,
        "headers": _SECRETS,
        "tools": _NAMES,
        "timeout": {"type": "number", "exclusiveMinimum": 0},
        "start": {"type": "number", "exclusiveMinimum": 0},
        "most": {"type": "integer", "minimum": 1000},
    },
    "additionalProperties": False,
    "minProperties": 1,
}
_SHAPES: dict[Type, tuple[Schema, str]] = {
    "text": ({"type": "string"}, "a text"),
    "number": ({"type": "number", "exclusiveMinimum": 0}, "a number above zero"),
    "integer": ({"type": "integer", "exclusiveMinimum": 0}, "a whole number above zero"),
    "boolean": ({"type": "boolean"}, "true or false"),
    "model": (_MODEL, "a text, or a mapping with a `file` or a `server`"),
    "models": ({"type": "object", "additionalProperties": _MODEL}, "a mapping of roles to models"),
    "servers": (
        {"type": "object", "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}, "additionalProperties": _SERVER},
        "a mapping of names to servers, each with a `command` (a list) or a `url`; values of `env` and `headers` name "
        "variables: `$TOKEN`",
    ),
    "kinds": (_PLACES, "names in Python files: `kinds: [nodes/blink.py:BLINK]`"),
    "names": ({**_NAMES, "maxItems": 12}, "at most 12 names of entries: `panel: [battery]`"),
    "properties": ({"type": "object"}, "a mapping of names to what must hold"),
    "policies": ({"type": ["object", "string"]}, "`robot`, or a mapping of rules"),
    "allow": ({"type": "object", "properties": {"python": _NAMES}, "required": ["python"], "maxProperties": 1},
              "packages and folders: `allow: {python: [my_package, ../shared_skills]}`"),
}  # fmt: skip
CHECK = DocumentCheck(settings_schema(), CODE, "a project file")
