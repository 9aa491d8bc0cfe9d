"""`pytest --btr-cov`: reports which nodes of the project's trees the tests reached, and with which results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.language import project
from bt_runtime.language.loader import Loader
from bt_runtime.language.project import disk
from bt_runtime.testing import coverage

SENT = "btr_cov"  # key under which a worker of pytest-xdist hands over


class TreeCoverage:
    """Collects while the session lasts; with pytest-xdist each worker does, and the controller adds up."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.coverage = coverage.current = coverage.Coverage()
        self.found: list[coverage.Covered] | None = None
        self.faults: list[str] = []

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self.coverage.add(getattr(node, "workeroutput", {}).get(SENT, ()))

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output[SENT] = self.coverage.data()  # before xdist's own, which sends it
        result = yield
        if output is None and session.exitstatus == pytest.ExitCode.OK and self.short():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        files = self.files()
        terminalreporter.section("trees that these tests have run")
        for line in (*coverage.table(files), *self.faults):
            terminalreporter.write_line(line)
        page = self.config.getoption("btr_cov_page")
        if page:
            lines = (json.dumps(event, separators=(",", ":")) + "\n" for event in coverage.events(files))
            disk.write(Path(page), lines)
            terminalreporter.write_line(f"in colours: btr view {page}")
        if self.short():
            least = self.config.getoption("btr_cov_fail_under")
            text = f"{coverage.percent(files):.1f} % of the results were seen, and {least:g} % are asked for"
            terminalreporter.write_line(f"FAIL {text}", red=True)

    def pytest_unconfigure(self) -> None:
        coverage.current = None

    def short(self) -> bool:
        least = self.config.getoption("btr_cov_fail_under")
        return least is not None and coverage.percent(self.files()) < least

    def files(self) -> list[coverage.Covered]:
        if self.found is None:
            self.found = [each for path in self.paths() if (each := self.read(path)) is not None]
        return self.found

    def read(self, path: Path) -> coverage.Covered | None:
        checked = Loader(project.find_root(path.parent)).file(path)
        if checked.tree is None:
            self.faults.append(f"{path} is at fault, and cannot be counted: btr validate {path}")
            return None
        return coverage.covered(checked.tree, self.coverage.seen)

    def paths(self) -> list[Path]:
        """The trees to report: the named ones; by default the project's, and others of it that were run."""
        asked = [Path(each) for each in self.config.getoption("btr_cov") if each]
        root = self.config.rootpath.resolve()
        if not asked:
            asked = [(project.find_root(root) or root) / "trees"]
            asked += [Path(p.file) for p in self.coverage.seen if Path(p.file).is_relative_to(root)]
        files = [file for each in asked for file in ([each] if each.is_file() else sorted(each.rglob("*.yaml")))]
        return list(dict.fromkeys(file.resolve() for file in files))
