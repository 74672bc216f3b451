"""Which tests run which lines of the source, and so which tests may notice a mutant."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from mutation_sites import Mutant

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "out" / "mutants"
"""The folder of measured coverage, results and copies of the repository."""

QUICK_SECONDS = 0.1
"""Tests that take less than this cost nearly nothing, so all their cases are run early."""


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
        """Return the tests of the line, else of its statement, or, for what is executed on import,
        the tests of its users; then all others in the same files, which may share results."""
        lines = self.lines[mutant.file]
        first, last = mutant.statement
        found: set[str] = set()
        if (users := find_users_of_definition(mutant)) is not None:
            found = set().union(*(lines[k] for k in users))
        found = found or lines[mutant.line]
        found = found or set().union(*(lines[k] for k in range(first, last + 1)))
        files = {test.split("::")[0] for test in found}
        others = {t for t in self.seconds if t.split("::")[0] in files} - found
        return [*self._ordered(found), *self._ordered(others)]

    def _ordered(self, tests: set[str]) -> list[str]:
        """Return one case of every test function, then a second one, …; functions that run few
        lines come first. All cases of quick tests are in the first round."""
        cases: Counter[str] = Counter()
        keyed = []
        for test in sorted(tests, key=lambda t: (self.breadth[t], t)):
            function = test.split("[")[0]
            turn = cases[function] if self.seconds[test] > QUICK_SECONDS else 0
            keyed.append((turn, self.breadth[test], test))
            cases[function] += 1
        return [test for *_, test in sorted(keyed)]


def find_users_of_definition(mutant: Mutant) -> list[int] | None:
    """Return the lines that use what is executed on import; None inside of functions.

    Every test of a command imports everything. Defaults are used by the body of their function,
    constants and fields by the lines of functions that name them, or by all functions of the file.
    """
    tree = ast.parse(mutant.text)
    bodies = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            if mutant.line in body:
                return None
            if node.lineno <= mutant.line < body.start:
                return list(body)
            bodies.append(body)
    inside = sorted({line for body in bodies for line in body})
    first, last = mutant.statement
    names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and first <= node.lineno <= last
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    text = mutant.text.splitlines()
    users = [k for k in inside if names & set(re.findall(r"\w+", text[k - 1]))]
    return users or inside


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
