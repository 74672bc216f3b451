"""Which tests run which lines of the source, and so which tests may notice a mutant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from mutation_sites import Mutant

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "out" / "mutants"
"""The folder of measured coverage, results and copies of the repository."""


class LineCoverage:
    """The tests that run each line, from the files that `coverage_by_test` has written."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.breadth: Counter[str] = Counter()
        """How many lines a test runs; a test that runs few lines shows most about each."""
        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path in (OUTPUT / "coverage").glob("*.json"):
            record = json.loads(path.read_text())
            names = [name for name, _ in record["tests"]]
            self.seconds.update(record["tests"])
            for file, lines in record["lines"].items():
                for line, tests in lines.items():
                    self.lines[file][int(line)].update(names[t] for t in tests)
                    self.breadth.update(names[t] for t in tests)

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests of the line; else of its statement, else of the body or, at the top of a
        module, of the module; then all others in the same files, which may share results."""
        lines = self.lines[mutant.file]
        first, last = mutant.statement
        found = lines[mutant.line] or set().union(*(lines[k] for k in range(first, last + 1)))
        if not found:
            found = _tests_of_definition(mutant, lines)
        files = {test.split("::")[0] for test in found}
        others = {t for t in self.seconds if t.split("::")[0] in files} - found
        return [*self._ordered(found), *self._ordered(others)]

    def _ordered(self, tests: set[str]) -> list[str]:
        """Return one case of every test function, then another, …; first those with few lines."""
        cases: Counter[str] = Counter()
        keyed = []
        for test in sorted(tests, key=lambda t: (self.breadth[t], t)):
            function = test.split("[")[0]
            keyed.append((cases[function], self.breadth[test], test))
            cases[function] += 1
        return [test for *_, test in sorted(keyed)]


def _tests_of_definition(mutant: Mutant, lines: dict[int, set[str]]) -> set[str]:
    """Return the tests of the function, class or module to which a default, field or constant
    belongs: these are set before any test runs."""
    text = mutant.text.splitlines()
    first, last = mutant.statement
    head = text[first - 1]
    indent = len(head) - len(head.lstrip())
    inside_function = any(
        line.strip() and len(line) - len(line.lstrip()) < indent and line.lstrip().startswith("def")
        for line in text[:first]
    ) and not _is_class_level(text, first, indent)
    if head.lstrip().startswith(("def ", "async def ")):
        after = (k for k in range(last + 1, len(text) + 1) if _ends_body(text[k - 1], indent))
        end = next(after, len(text))
        return set().union(*(lines[k] for k in range(last, end + 1)))
    return set() if inside_function else set().union(*lines.values())


def _ends_body(line: str, indent: int) -> bool:
    """Return whether a line stands outside of a body that has more than this indentation."""
    return bool(line.strip()) and len(line) - len(line.lstrip()) <= indent and line.strip() != ")"


def _is_class_level(text: Sequence[str], first: int, indent: int) -> bool:
    """Return whether the nearest line above with less indentation opens a class."""
    for line in reversed(text[: first - 1]):
        if line.strip() and len(line) - len(line.lstrip()) < indent:
            return line.lstrip().startswith("class")
    return True


def measure_coverage() -> None:
    """Run the files of tests whose lines are not known, or have changed since."""
    from coverage_by_test import digest, record_path

    stale = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        file = str(path.relative_to(ROOT))
        kept = record_path(file)
        record = json.loads(kept.read_text()) if kept.exists() else {}
        if record.get("digest") != digest(path) or any(
            digest(ROOT / name) != known for name, known in record["sources"].items()
        ):
            stale.append(file)
    if stale:
        print(f"measuring the lines of {len(stale)} files of tests …", flush=True)
        folders = [str(ROOT / "src"), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
        plugins = ["-p", "coverage_by_test", "-p", "no:cacheprovider"]
        subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, "-m", "not slow", *stale],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
            stdout=(OUTPUT / "coverage.log").open("w"),
            stderr=subprocess.STDOUT,
        )
