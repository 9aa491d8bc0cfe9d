"""Drafts a tree for a sentence: the model writes, faults go back to it for some rounds, and what is sound is played
with scripted skills. Nothing is written to the disk."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bt_author.mcp import resources
from bt_author.mcp.tools import fault_rows, scripted
from bt_author.sentence.canonical import canonical
from bt_author.sentence.grammar import whole_tree
from bt_author.sentence.proving import proved
from bt_runtime.language import manifest, project
from bt_runtime.language.faults.diagnostic import BtError, Faults
from bt_runtime.language.kinds.kind import Kind, Registry
from bt_runtime.language.kinds.registry import registry_of
from bt_runtime.language.loader import Checked, Loader
from bt_runtime.language.outside import written
from bt_runtime.language.project import disk
from bt_runtime.language.spec import TreeSpec
from bt_runtime.language.tidy import tidy
from bt_runtime.llm.decoding.grammar import check
from bt_runtime.run.check_file import gathered, mended
from bt_runtime.run.run import Tree, load
from bt_runtime.types import Grammar, Model

ROUNDS = 3
MOST_TOKENS = 1_500  # tokens of one draft
MOST_EXAMPLES = 3
MOST_EXAMPLE = 2_500  # characters of one
MOST_TEXT = 50_000  # characters of an answer that are looked at
MOST_REQUEST = 2_000
SECONDS = 3_600.0  # seconds of the tree's clock for one play
LEFT_OUT = frozenset({"py"})  # kinds that a model may not write: they name code
NAME = "draft"


class DraftedTree(NamedTuple):
    """A sound tree. `questions`: what is open; `story`: what happened when it was played."""

    text: str
    spec: TreeSpec
    rounds: int
    questions: list[str]
    story: list[str]


class Refused(BtError):
    """No round gave a sound tree. `text`: the last draft; `faults`: what is wrong with it."""

    def __init__(self, message: str, text: str, faults: Sequence[str], unknown: Sequence[str] = ()) -> None:
        hint = "say it in other words, or take a larger model"
        if unknown:
            hint = f"skills that are missing: {', '.join(unknown)}; a stub: btr new skill {unknown[0]}"
        super().__init__(message, hint)
        self.text, self.faults, self.unknown = text, list(faults), list(unknown)


class Author:
    """Writes trees of one project with one model."""

    def __init__(
        self, model: Model, root: Path, agents: bool = False, told: Callable[[str], object] = str,
        tokens: int = MOST_TOKENS, seconds: float | None = None,
    ) -> None:  # fmt: skip
        """`tokens`: of one draft; `seconds`: until a draft has to be there."""
        self.model, self.root, self.told = model, root, told
        self.tokens, self.seconds = tokens, seconds
        self.manifests = _own_manifests(root)
        skills = tuple(kind for name in self.manifests for kind in manifest.read(self.path_of(name)).kinds)
        kinds = [k for k in registry_of(root) if k.name not in LEFT_OUT and (agents or not k.asks)]
        self.registry = Registry((*kinds, *skills))
        self.skills = skills
        self.grammars: dict[str, Grammar | None] = {}  # grammars by the tree's name

    def path_of(self, name: str) -> Path:
        path = project.find("skills", name, root=self.root)
        if path is None:
            raise BtError(f"there is no manifest `{name}`", "look into skills/")
        return path

    def grammar(self, name: str) -> Grammar:
        return whole_tree(list(self.registry), self.manifests, name)

    # Rounds ----------------------------------------------------------------------------------

    def draft(self, request: str, name: str = NAME, rounds: int = ROUNDS, old: str = "") -> DraftedTree:
        """A sound tree for a request, or the tree `old` changed by it. Raises Refused, in words, after so many
        rounds."""
        grammar, faults, text = self._grammar(name), "", ""
        shown: list[str] = []
        for number in range(1, rounds + 1):
            text = self.cleaned(self._written(self.prompt(request, name, text, faults, old), grammar))
            spec, text, shown = self.checked(text)
            if spec is not None:
                story, kept = self.played(text), proved(load(text, project=self.root))
                shown = [story.fault] if story.fault else kept.faults
                if not shown:
                    return DraftedTree(text, spec, number, self.questions(spec) + kept.questions, story.lines)
            faults = "\n".join(shown)
            self.told(f"round {number}: {len(shown)} fault{'s' if len(shown) != 1 else ''}: {shown[0]}")
        raise Refused(f"no sound tree after {rounds} rounds:\n{faults}", text, shown, unknown_in(text, self.registry))

    def _written(self, prompt: str, grammar: Grammar | None) -> str:
        job = self.model.write(prompt, grammar=grammar, max_tokens=self.tokens, stop=("\n\n\n",))
        try:
            return job.wait(self.seconds).text
        except TimeoutError as late:
            job.cancel("it took too long")
            raise Refused(f"no draft within {self.seconds:g} s", "", []) from late

    def _grammar(self, name: str) -> Grammar | None:
        """None where grammars cannot be had: the answer is checked all the same."""
        if name not in self.grammars:
            grammar = self.grammar(name)
            try:
                check(grammar)
            except BtError:
                self.grammars[name] = None
            else:
                self.grammars[name] = grammar
        return self.grammars[name]

    def cleaned(self, text: str) -> str:
        """Only the YAML of an answer: without a fence, and without what was said around it."""
        text = text[:MOST_TEXT].replace("\r\n", "\n")
        fenced = re.search(r"```(?:ya?ml)?\n(.*?)(?:```|\Z)", text, re.DOTALL)
        text = fenced[1] if fenced else text
        begin = re.search(r"^(version|tree|about|skills|inputs|outputs|blackboard|root) *:", text, re.MULTILINE)
        return (text[begin.start() :] if begin else text).rstrip() + "\n"

    def _loaded(self, text: str) -> Checked:
        return Loader(self.root).text(text, NAME, self.root / "trees")

    def checked(self, text: str) -> tuple[TreeSpec | None, str, list[str]]:
        """The tree after sure fixes, its text, and its faults."""
        made, _ = mended(text, NAME, self._loaded)
        found = self._loaded(made)
        errors = [fault for fault in gathered([found])[0] if fault.severity == "error"]
        if found.tree is None or errors:
            return None, made, [fault_rows.line(fault) for fault in errors] or ["this is no tree"]
        wild = [node.kind.name for node in found.tree.root.walk() if node.kind.name in LEFT_OUT]
        if wild:
            return None, made, [f"`{wild[0]}` may not be written by a model: it names code"]
        return found.tree, tidy(made) or made, []

    # What is asked ---------------------------------------------------------------------------

    def prompt(self, request: str, name: str, before: str = "", faults: str = "", old: str = "") -> str:
        wanted = request.strip()[:MOST_REQUEST]
        if old:
            task = f"The tree `{name}`:\n```yaml\n{old}```\nChange it, and leave the rest as it is: {wanted}"
        else:
            task = f"Write the tree `{name}` for this request: {wanted}"
        parts = [
            resources.language().partition("Way of working")[0].rstrip(),
            f"Skills of this project:\n{self.skill_lines()}",
            *(f"An example:\n```yaml\n{text}```" for text in self.examples()),
            task,
        ]
        if before:
            parts.append(f"Your last draft:\n```yaml\n{before}```\nIts faults:\n{faults}\nWrite the whole tree again.")
        return "\n\n".join([*parts, ""])

    def skill_lines(self) -> str:
        return "\n".join(f"- {_signature(kind)}: {kind.about}" for kind in self.skills) or "- none"

    def examples(self) -> list[str]:
        """Some of the project's own trees, the shortest first, in the layout of the grammar."""
        found: list[str] = []
        paths = sorted((self.root / "trees").rglob("*.yaml"), key=lambda path: path.stat().st_size)
        for path in paths[: 2 * MOST_EXAMPLES]:
            try:
                text = canonical(disk.read_text(path), self.registry)
            except (OSError, BtError):
                continue
            if len(text) <= MOST_EXAMPLE and len(found) < MOST_EXAMPLES:
                found.append(text)
        return found

    # What is found ---------------------------------------------------------------------------

    def played(self, text: str) -> _Story:
        """Plays the tree once with skills that succeed; a crash or an endless run is a fault for the model."""
        tree: Tree = load(text, project=self.root)
        try:
            found = scripted.play(tree, {}, _inputs(tree.spec), [], {}, SECONDS)
        except Faults as faults:
            return _Story(str(faults), [])
        except BtError as error:
            return _Story("", [f"not played: {error.message}"])
        lines = [f"{found.status.lower()} after {found.seconds:g} s of its time, {found.ticks} ticks", *found.story]
        return _Story(f"played with scripted skills: {found.crashes[0]}" if found.crashes else "", lines)

    def questions(self, spec: TreeSpec) -> list[str]:
        """What a person has to say before it runs."""
        open = [f"which value has the input `{port.name}`?" for port in spec.inputs.values() if port.required]
        own = written(spec)
        outside = [port.name for port in spec.entries.values() if port.name not in own]
        return [*open, *(f"who writes the entry `{name}`? no node does" for name in outside)]


class _Story(NamedTuple):
    fault: str
    lines: list[str]


def _own_manifests(root: Path) -> list[str]:
    home = root / "skills"
    return sorted(path.relative_to(home).with_suffix("").as_posix() for path in home.rglob("*.yaml"))


def _signature(kind: Kind) -> str:
    takes = ", ".join(
        f"{f.name}: {'|'.join(map(str, f.choices)) or f.type}" for f in kind.fields if not f.writes
    )  # fmt: skip
    gives = ", ".join(f.name for f in kind.fields if f.writes)
    return f"{kind.name}({takes})" + (f" -> {gives}" if gives else "")


def _inputs(spec: TreeSpec) -> dict[str, object]:
    samples = {"integer": 1, "number": 1.0, "boolean": True, "list": [], "object": {}}
    ports = [port for port in spec.inputs.values() if port.required]
    return {port.name: port.choices[0] if port.choices else samples.get(port.type, "something") for port in ports}


def unknown_in(text: str, registry: Registry) -> list[str]:
    """Names that stand where kinds stand, and that no kind or skill has."""
    names = dict.fromkeys(re.findall(r"^ *- ([a-z_]\w*):", text, re.MULTILINE))
    return [name for name in names if registry.get(name) is None][:5]
