"""A copy of the repository in which mutants are tried, and the processes that run their tests."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutant_coverage import OUTPUT, ROOT, LineCoverage
from mutation_sites import Mutant

FIRST_TESTS, FIRST_SECONDS = 20, 8.0
"""Tests that are run before all others: most mutants end here."""

LOG_TAIL = 300
"""Characters of pytest's output that are kept where pytest itself failed."""
_FAILED_START = 99
"""Exit status of a process that could not run pytest; pytest itself uses 0 to 5."""

_MEMORY_LIMIT = 16 << 30
"""Bytes that the tests of a mutant may use: endless growth ends as a failure."""


class Workshop:
    """A copy of the repository in which mutants are tried, one after the other."""

    def __init__(self, coverage: LineCoverage, budget: float) -> None:
        self.coverage, self.budget = coverage, budget
        self.tree = Path(tempfile.mkdtemp(prefix="tree-", dir=OUTPUT))
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")
        for name in names:
            if name and (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        for top in ("src", "tests"):  # bytecode stays valid, as the dates of the files do
            for folder in (ROOT / top).rglob("__pycache__"):
                shutil.copytree(folder, self.tree / folder.relative_to(ROOT))

    def try_mutant(self, mutant: Mutant) -> dict[str, object]:
        """Return the verdict on a mutant: killed (with the test), timeout, survived, uncovered."""
        with self.mutated(mutant):
            tests = self.coverage.tests(mutant)
            if not tests:
                return {"verdict": "uncovered"}
            for stage in self.stages(tests):
                verdict, by = self.run_tests(stage)
                if verdict != "survived":
                    break
        return {"verdict": verdict, "by": by}

    def stages(self, tests: Sequence[str]) -> Iterator[list[str]]:
        """Yield the first tests, then the others while the budget lasts."""
        spent, stage, limit = 0.0, [], (FIRST_TESTS, FIRST_SECONDS)
        for test in tests:
            if stage and (spent > limit[1] or len(stage) >= limit[0]):
                if limit[1] == self.budget:
                    break
                yield stage
                stage, limit = [], (10**9, self.budget)
            stage.append(test)
            spent += self.coverage.seconds[test]
        if stage:
            yield stage

    @contextlib.contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Put the mutant into the copy while the context lasts; then restore the old text with its
        old date, so that the old bytecode stays valid."""
        path = self.tree / mutant.file
        path.write_text(mutant.mutated)
        try:
            yield
        finally:
            shutil.copy2(ROOT / mutant.file, path)

    def run_tests(self, tests: Sequence[str], stop_at_first: bool = True) -> tuple[str, str]:
        """Run tests in a forked process; return the verdict, and the tests that failed."""
        nominal = sum(self.coverage.seconds[t] for t in tests)
        report = self.tree / "out" / "failed.txt"
        report.parent.mkdir(exist_ok=True)
        report.write_text("")
        child = os.fork()
        if child == 0:
            self._become_pytest(tests, report, int(30 + 5 * nominal), stop_at_first)
        deadline = time.monotonic() + 120 + 30 * nominal
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)  # what it has left behind
        code = os.waitstatus_to_exitcode(status)
        if code in (-signal.SIGKILL, -signal.SIGXCPU):
            return "timeout", ""
        if code == _FAILED_START:
            return "broken", (self.tree / "out" / "pytest.log").read_text()[-LOG_TAIL:]
        failed = report.read_text().strip()
        return ("survived", "") if code in (0, 5) else ("killed", failed or f"exit {code}")

    def _become_pytest(
        self, tests: Sequence[str], report: Path, seconds: int, stop_at_first: bool
    ) -> None:
        """Run pytest in this process, which is a fork, and end it."""
        code = _FAILED_START
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_LIMIT, _MEMORY_LIMIT))
            log = os.open(self.tree / "out" / "pytest.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            for number in (1, 2):
                os.dup2(log, number)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.chdir(self.tree)
            sys.path[:0] = [str(self.tree), str(self.tree / "src")]
            os.environ["PYTHONPATH"] = str(self.tree / "src")
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            os.environ["LINKWRIGHT_CACHE"] = tempfile.mkdtemp(dir=self.tree / "out")
            import pytest

            words = ["-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
            words += [*(["-x"] if stop_at_first else []), *tests]
            code = int(pytest.main(words, plugins=[_Failures(report)]))
        except BaseException as error:
            print(repr(error), flush=True)
        finally:
            sys.stdout.flush()
            os._exit(code)


class _Failures:
    """A plugin that notes failed tests, and keeps Hypothesis from simplifying examples, which takes
    time."""

    def __init__(self, report: Path) -> None:
        self.report = report

    def pytest_configure(self, config: object) -> None:
        """Load a profile of Hypothesis without simplification."""
        from hypothesis import Phase, settings

        found = settings.get_profile("same")
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", found, phases=phases, database=None)
        settings.load_profile("mutants")

    pytest_configure.trylast = True  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: object) -> None:
        """Note a test that failed."""
        self._note(report)

    def pytest_collectreport(self, report: object) -> None:
        """Note a file that could not be loaded."""
        self._note(report)

    def _note(self, report: object) -> None:
        """Write the name of what failed."""
        if report.failed:  # type: ignore[attr-defined]
            with self.report.open("a") as file:
                file.write(f"{report.nodeid}\n")  # type: ignore[attr-defined]
