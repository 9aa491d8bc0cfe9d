"""The version of all wheels: it stands in bt_runtime/_version.py. `python .ci/version.py 1.2.3` writes it everywhere
else as well; without a number it checks that all say the same."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "bt_runtime" / "_version.py"
PROJECTS = [ROOT / "pyproject.toml", ROOT / "envs" / "pyproject.toml", *sorted(ROOT.glob("packages/*/pyproject.toml"))]
OWN = re.compile(r'(?m)^(version = ")[^"]+(")$')
PINNED = re.compile(r'(\bbt_[a-z]+(?:\[[a-z,]+\])?==)[0-9][^"]*')


EXTENSION = [ROOT / "editors" / "vscode" / name for name in ("package.json", "package-lock.json")]
NPM = re.compile(r'(?m)^((?: {2}| {6})"version": ")[^"]+(",)$')  # its own, which stand first


def version() -> str:
    found = re.search(r'__version__ = "([^"]+)"', PLACE.read_text("utf-8"))
    assert found is not None
    return found[1]


def said(project: Path) -> set[str]:
    """Returns the versions of our wheels that a project file names."""
    text = project.read_text("utf-8")
    own = [match[0].split('"')[1] for match in OWN.finditer(text)]
    return {*own, *(match[0].rpartition("==")[2] for match in PINNED.finditer(text))}


def write(number: str) -> None:
    for project in PROJECTS:
        text = OWN.sub(rf"\g<1>{number}\g<2>", project.read_text("utf-8"), count=1)
        project.write_text(PINNED.sub(rf"\g<1>{number}", text), "utf-8")
    for each, count in zip(EXTENSION, (1, 2), strict=True):
        each.write_text(NPM.sub(rf"\g<1>{number}\g<2>", each.read_text("utf-8"), count=count), "utf-8")
    text = PLACE.read_text("utf-8")
    PLACE.write_text(re.sub(r'__version__ = "[^"]+"', f'__version__ = "{number}"', text), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write(sys.argv[1])
    odd = [
        f"{project.relative_to(ROOT)}: {', '.join(sorted(said(project)))}"
        for project in PROJECTS
        if said(project) != {version()}
    ]
    print(*odd or [f"all wheels are {version()}"], sep="\n")
    sys.exit(bool(odd))
