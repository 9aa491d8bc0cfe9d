"""What a checkout installs is named in lock files: each file by its hash, none by an address."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / ".ci" / "lock"
TEST = "llm,memory,starter,thor,webshop,author,lsp,mcp,eval,robot,ros,otel,fleet"
DEMO = "demo"
COMPILED = "llama-cpp-python"  # here, by make llama: its wheel has no hash that could be known

pytestmark = pytest.mark.skipif(not LOCKS.is_dir(), reason="the locks are not part of the source distribution")


def locked(name: str) -> dict[str, set[str]]:
    """Project → its versions: one, or one for each range of Pythons."""
    found: dict[str, set[str]] = {}
    for line in re.sub(r"\\\n\s*", "", (LOCKS / f"{name}.txt").read_text(encoding="utf-8")).splitlines():
        entry = re.match(r"([\w.-]+)==(\S+?)( ;.*?)?( --hash=sha256:[0-9a-f]{64})+$", line)
        assert entry, f"{name}.txt: {line[:80]}"
        found.setdefault(entry[1], set()).add(entry[2])
    return found


def asked(extras: str, group: str = "") -> list[Requirement]:
    words = [*filter(None, extras.split(",")), *([f"group:{group}"] if group else [])]
    command = [sys.executable, str(ROOT / ".ci" / "requirements"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [Requirement(text) for text in done.stdout.splitlines()]


@pytest.mark.parametrize(("name", "extras", "group"), [("test", TEST, "dev"), ("demo", DEMO, ""), ("docs", "", "docs")])
def test_what_the_project_asks_for_is_locked_within_its_range(name: str, extras: str, group: str) -> None:
    found = locked(name)
    for requirement in asked(extras, group):
        project = requirement.name.lower().replace("_", "-")
        if project != COMPILED:
            assert project in found, f"{project} is not in {name}.txt: make locks"
            assert all(requirement.specifier.contains(version) for version in found[project]), f"{project}: make locks"


def test_the_makefile_takes_the_locks_for_these_extras() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert (
        f"TEST_EXTRAS ?= {TEST}\n" in text and f"TEST_LOCKED := {TEST}\n" in text and f"DEMO_EXTRAS ?= {DEMO}\n" in text
    )


def test_locks_that_share_an_environment_agree() -> None:
    known = locked("test")
    for name in ("demo", "docs"):
        for project, versions in locked(name).items():
            assert versions == known.get(project, versions), f"{project} of {name}.txt"


def test_llama_is_locked_to_the_version_of_the_extra() -> None:
    (wanted,) = [r for r in asked("llm") if r.name == COMPILED]
    assert wanted.specifier.contains(*locked("llama")[COMPILED])


def test_no_lock_names_where_it_was_fetched() -> None:
    for path in LOCKS.iterdir():
        assert "://" not in path.read_text(encoding="utf-8"), path


def test_what_node_fetches_is_locked_and_executes_nothing() -> None:
    for folder in (ROOT / ".ci" / "editor", ROOT / ".ci" / "pages", ROOT / "editors" / "vscode"):
        packages = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        assert all(each.get("integrity") for path, each in packages.items() if path)
        assert not any("resolved" in each for each in packages.values())
        assert "ignore-scripts=true" in (folder / ".npmrc").read_text(encoding="utf-8").split()


def test_what_serves_work_on_the_project_is_no_extra_of_the_package() -> None:
    read = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert not {"dev", "docs", "bench"} & {*read["project"]["optional-dependencies"]}
    said = subprocess.run(
        [sys.executable, ROOT / ".ci" / "requirements", "group:dev"], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == [*read["project"]["dependencies"], *read["dependency-groups"]["dev"]]


def test_what_a_hosted_runner_fetches_is_named_by_its_hash() -> None:
    used = re.findall(
        r"uses: (\S+)", "".join(each.read_text("utf-8") for each in (ROOT / ".github" / "workflows").glob("*.yml"))
    )
    assert used and [each for each in used if not re.search(r"@[0-9a-f]{40}$", each)] == []
