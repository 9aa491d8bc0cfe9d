"""A version of a tree: its file, the trees that it includes and its skills' manifests, signed.

Its name is the digest of what is in it. A robot takes it only with a signature that it trusts, and checks the tree as
if a person had written it. The robot's `btr.yaml` stays its own. Python is no part of a version, and a version names
no Python that the robot's project does not name already, unless the robot's project says that it takes code."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bt_fleet.server.keys import Key, public_of, verified
from bt_runtime.language.faults.diagnostic import BtError
from bt_runtime.language.project import PROJECT_FILE, disk, real

MOST = 6 * 2**20  # bytes of one version, below what the server takes in one message
_PLAIN = frozenset({".yaml", ".yml", ".md", ".txt", ".json", ".jsonl", ".j2"})
_CODE = ".py"
_LEFT = (".fleet", "runs", ".git", ".venv", "__pycache__", "fleet")  # of a project: not what a run reads
TAKES_CODE = "takes-code"  # a file in a robot's `.fleet` folder: versions may bring Python


class Terms(NamedTuple):
    """What is signed beside the content."""

    tree: str  # the name under which robots run it
    number: int  # seconds since 1970 at the signing; always more than that of the version before
    before: str = ""  # the digest of the version that it replaces: robots may go back to that one

    def signed(self, digest: str) -> bytes:
        return json.dumps({**self._asdict(), "digest": digest}, sort_keys=True, separators=(",", ":")).encode()


class Bundle(NamedTuple):
    tree: str  # the path of its file
    files: Mapping[str, str]  # path in the project → text

    @property
    def body(self) -> bytes:
        return json.dumps({"tree": self.tree, "files": self.files}, sort_keys=True, separators=(",", ":")).encode()

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:32]

    @property
    def code(self) -> list[str]:
        return [path for path in self.files if path.endswith(_CODE)]

    def sealed(self, key: Key, terms: Terms) -> bytes:
        """Returns what is stored: the version, what holds of it, and who vouches for both."""
        signature = key.sign(terms.signed(self.digest))
        seal = {"signature": signature, "by": public_of(key.seed), "terms": terms._asdict()}
        data = json.dumps(seal).encode() + b"\n" + self.body
        if len(data) > MOST:
            raise BtError(f"the version of {self.tree} has {len(data) / 2**20:.1f} MiB", "at most 6 are stored")
        return data


def made(tree: str | Path, project: Path, code: bool = False) -> Bundle:
    """Checks a tree and returns its version. Raises Faults for a tree with faults."""
    from bt_runtime.run.run import load

    project = project.resolve()
    loaded = load(_file(tree, project), project=project)
    files = {path: text for path, text in loaded.first.files.items() if path.is_relative_to(project)}
    found = {path.relative_to(project).as_posix(): text for path, text in files.items() if path.suffix != _CODE}
    if code:
        sources = (p for p in project.rglob(f"*{_CODE}") if not _left(p.relative_to(project)))
        found |= {path.relative_to(project).as_posix(): disk.read_text(path) for path in sources}
    first = Path(loaded.spec.file).resolve()
    return Bundle(first.relative_to(project).as_posix(), dict(sorted(found.items())))


def opened(data: bytes, digest: str, trusted: Collection[str] | None) -> tuple[Bundle, Terms]:
    """Reads a stored version; raises BtError unless it is the one that was named, signed by somebody trusted. `trusted`
    None: by anybody."""
    seal, _, body = data.partition(b"\n")
    try:
        said, signed = json.loads(body), json.loads(seal)
        bundle = Bundle(str(said["tree"]), {str(path): str(text) for path, text in said["files"].items()})
        by, signature = str(signed["by"]), str(signed["signature"])
        if "terms" not in signed:
            raise BtError(f"the version {digest} was signed without a number and its tree's name", "deploy it again")
        given = signed["terms"]
        terms = Terms(str(given["tree"]), int(given["number"]), str(given["before"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BtError(f"the version {digest} cannot be read: {error}", "deploy it again") from error
    if trusted is not None and by not in trusted:
        raise BtError(f"the version {digest} is signed by {by}, whom this robot does not trust", "join --signed-by KEY")
    if not verified(by, terms.signed(digest), signature) or bundle.body != body or bundle.digest != digest:
        raise BtError(f"the version {digest} is not what {by} has signed", "it was changed: deploy it again")
    for path in bundle.files:
        if PurePosixPath(path).name.casefold() == PROJECT_FILE:
            raise BtError(f"the version {digest} brings a {PROJECT_FILE}: a robot keeps its own", "deploy it again")
        if not _inside(path):
            raise BtError(f"the version {digest} has a file `{path:.80}`", "its files lie in the project, as text")
    return bundle, terms


def unpacked(bundle: Bundle, project: Path, to: Path, code: bool = False) -> Path:
    """Lays a version over a copy of the robot's project, and checks it; returns the tree's file. What is refused
    leaves nothing there."""
    if bundle.code and not code:
        raise BtError(f"the version brings Python ({bundle.code[0]})", f"this project takes none: .fleet/{TAKES_CODE}")
    if not (to / bundle.tree).is_file():
        draft = to.with_name(f"{to.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        try:
            _laid(bundle, project, draft)
            _checked(bundle, project, draft, code)
            shutil.rmtree(to, ignore_errors=True)
            draft.rename(to)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return to / bundle.tree


def _laid(bundle: Bundle, project: Path, draft: Path) -> None:
    shutil.copytree(project, draft, ignore=lambda folder, inside: [n for n in inside if n in _LEFT], symlinks=True)
    (draft / PROJECT_FILE).touch()  # what is written stays below it, links followed
    for path, text in bundle.files.items():
        target = draft / path
        disk.folder(target.parent)
        disk.write(target, [text])


def _checked(bundle: Bundle, project: Path, draft: Path, code: bool) -> None:
    from bt_fleet.versions import code_names
    from bt_runtime.run.run import load

    loaded = load(draft / bundle.tree, project=draft)
    for path in bundle.files:
        if path not in bundle.code and real(draft / path) not in loaded.first.files:
            raise BtError(f"the version brings {path}, which its tree does not read", "deploy the tree again")
    if code:
        return
    more = sorted(code_names.of_tree(loaded, draft) - code_names.of_project(project))
    if more:
        raise BtError(
            f"the version names Python that this robot's project does not name: `{more[0]:.80}`",
            f"install it with the robot's project, which takes no code (.fleet/{TAKES_CODE})",
        )


def _file(tree: str | Path, project: Path) -> Path:
    for candidate in (Path(tree), project / tree, project / "trees" / f"{tree}.yaml"):
        if candidate.is_file():
            return candidate
    raise BtError(f"there is no tree `{tree}` in {project}", "name its file")


def _left(path: Path) -> bool:
    return any(part in _LEFT for part in path.parts)


def _inside(path: str) -> bool:
    parts = PurePosixPath(path)
    safe = not parts.is_absolute() and ".." not in parts.parts and "\\" not in path and not path.startswith(".")
    return safe and parts.suffix in _PLAIN | {_CODE} and not any(part in _LEFT for part in parts.parts)
