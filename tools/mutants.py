"""Mutation testing: small mistakes are made in the source, and the tests must notice them.

    python tools/mutants.py --count 300 --seed 1        (make mutants COUNT=300 SEED=1)

1. Which tests run which lines is measured once (20 minutes of processor time) and kept in
   out/mutants/coverage. Only files of tests that have changed, or whose sources have, are measured
   again (`coverage_by_test.py`).
2. Mutants are drawn by the seed, from every package, in proportion to the root of its size. Names
   do not enter the draw, so most of a sample outlives a renaming (`mutation_sites.py`).
3. Each mutant is put into a copy of the repository. A process forked from one that has loaded the
   libraries, but not the package, runs the tests of the changed line until the first failure: one
   case of every test function first, those that run few lines first, within a budget of seconds.
   A test that takes five times the processor time that it should also notices.
4. Tests that noticed a mutant are run once more on the true source. What those notice that fail
   there does not count ("unreliable").

Mutants that cannot be noticed are in mutants_equivalent.txt, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutation_sites import Mutant, find_mutants, package_of, walk_sources, without_names

ROOT = Path(__file__).parents[1]
OUT = ROOT / "out" / "mutants"
EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"
FIRST_TESTS, FIRST_SECONDS = 20, 8.0
"""Tests that are run before all others: most mutants end here."""
QUICK_SECONDS = 0.1
"""Tests that take less cost nearly nothing, so that no case of them is put off."""
LIBRARIES = (
    "casadi", "flint", "llvmlite.binding", "numpy", "scipy.integrate", "scipy.linalg",
    "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial.transform", "scipy.interpolate",
    "scipy.special", "xarray", "pydantic", "typer", "rich.console", "jinja2", "sympy", "mpmath",
    "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
    "mujoco", "pinocchio", "heyoka", "hypothesis", "pytest", "_pytest.doctest", "pyarrow",
)  # fmt: skip


# -- drawing -------------------------------------------------------------------------------


def draw_mutants(count: int, seed: int) -> list[Mutant]:
    """The sample: at most one mutant a line, some from every package."""
    ranked: dict[str, list[tuple[str, Mutant]]] = defaultdict(list)
    times: Counter[tuple[str, str]] = Counter()
    for file, text in walk_sources(ROOT):
        for mutant in find_mutants(file, text):
            package = package_of(file)
            times[package, mutant.shape] += 1
            key = f"{seed} {package} {mutant.shape} {times[package, mutant.shape]}"
            ranked[package].append((hashlib.sha1(key.encode()).hexdigest(), mutant))
    total = sum(len(found) ** 0.5 for found in ranked.values())
    drawn: list[Mutant] = []
    for _, found in sorted(ranked.items()):
        lines = set()
        share = round(count * len(found) ** 0.5 / total)
        for _, mutant in sorted(found, key=lambda pair: pair[0]):
            if len(lines) < share and (mutant.file, mutant.line) not in lines:
                lines.add((mutant.file, mutant.line))
                drawn.append(mutant)
    return drawn


# -- tests of a line -----------------------------------------------------------------------


class Coverage:
    """The tests that run each line, from the files that `coverage_by_test` has written."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.breadth: Counter[str] = Counter()
        """How many lines a test runs: one that runs few tells most about each."""
        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path in (OUT / "coverage").glob("*.json"):
            record = json.loads(path.read_text())
            names = [name for name, _ in record["tests"]]
            self.seconds.update(record["tests"])
            for file, lines in record["lines"].items():
                for line, tests in lines.items():
                    self.lines[file][int(line)].update(names[t] for t in tests)
                    self.breadth.update(names[t] for t in tests)

    def tests(self, mutant: Mutant) -> list[str]:
        """Tests of the line, else of its statement; of what is executed on import, the tests of
        its users. Then all others in the same files, which may share what was computed."""
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
        """One case of every test function, then another, …, those that run few lines first; all
        cases of quick tests are among the first."""
        cases: Counter[str] = Counter()
        keyed = []
        for test in sorted(tests, key=lambda t: (self.breadth[t], t)):
            function = test.split("[")[0]
            turn = cases[function] if self.seconds[test] > QUICK_SECONDS else 0
            keyed.append((turn, self.breadth[test], test))
            cases[function] += 1
        return [test for *_, test in sorted(keyed)]


def find_users_of_definition(mutant: Mutant) -> list[int] | None:
    """The lines that use what is executed on import, as every test of a command imports everything:
    the body of a function for its defaults; for constants and fields, the lines of functions that
    name them, or of all functions of the file. None inside of functions."""
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
    """Runs the files of tests whose lines are not known, or not any more."""
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
        subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "coverage_by_test", "-p", "no:cacheprovider",
             "-m", "not slow", *stale],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
            stdout=(OUT / "coverage.log").open("w"), stderr=subprocess.STDOUT,
        )  # fmt: skip


# -- running -------------------------------------------------------------------------------


class Workshop:
    """A copy of the repository in which mutants are tried, one after the other."""

    def __init__(self, coverage: Coverage, budget: float) -> None:
        self.coverage, self.budget = coverage, budget
        self.tree = Path(tempfile.mkdtemp(prefix="tree-", dir=OUT))
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout.split("\n")  # fmt: skip
        for name in names:
            if name and (ROOT / name).is_file():
                (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.tree / name)
        for top in ("src", "tests"):  # bytecode stays valid, as the dates of the files do
            for folder in (ROOT / top).rglob("__pycache__"):
                shutil.copytree(folder, self.tree / folder.relative_to(ROOT))

    def try_mutant(self, mutant: Mutant) -> dict[str, object]:
        """The verdict on a mutant: killed (and by which test), timeout, survived, uncovered."""
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
        """The first tests, then the others while the budget lasts."""
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
        """While open, the copy has the mutant. The old date comes back with the old text, and
        with it the old bytecode is valid again."""
        path = self.tree / mutant.file
        path.write_text(mutant.mutated)
        try:
            yield
        finally:
            shutil.copy2(ROOT / mutant.file, path)

    def run_tests(self, tests: Sequence[str], stop_at_first: bool = True) -> tuple[str, str]:
        """Runs tests in a forked process: the verdict, and the tests that failed."""
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
        if code == 99:
            raise RuntimeError((self.tree / "out" / "pytest.log").read_text())
        failed = report.read_text().strip()
        return ("survived", "") if code in (0, 5) else ("killed", failed or f"exit {code}")

    def _become_pytest(
        self, tests: Sequence[str], report: Path, seconds: int, stop_at_first: bool
    ) -> None:
        code = 99
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
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
    """Notes what failed. Hypothesis does not simplify examples: that takes time."""

    def __init__(self, report: Path) -> None:
        self.report = report

    def pytest_configure(self, config: object) -> None:
        from hypothesis import Phase, settings

        found = settings.get_profile("same")
        phases = [Phase.explicit, Phase.generate]
        settings.register_profile("mutants", found, phases=phases, database=None)
        settings.load_profile("mutants")

    pytest_configure.trylast = True  # type: ignore[attr-defined]

    def pytest_runtest_logreport(self, report: object) -> None:
        self._note(report)

    def pytest_collectreport(self, report: object) -> None:
        self._note(report)

    def _note(self, report: object) -> None:
        if report.failed:  # type: ignore[attr-defined]
            with self.report.open("a") as file:
                file.write(f"{report.nodeid}\n")  # type: ignore[attr-defined]


# -- the whole -----------------------------------------------------------------------------


def read_equivalents() -> dict[tuple[str, str], str]:
    """Reasons by file and change: lines 'file: before -> after # reason', names not compared."""
    found = {}
    for line in EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else ():
        if line.strip() and not line.startswith("#"):
            change, reason = line.rsplit(" # ", 1)
            file, shape = change.split(": ", 1)
            found[file, without_names(" ".join(shape.split()))] = reason
    return found


def try_all(mutants: Sequence[Mutant], results: Path, jobs: int, budget: float) -> None:
    """Tries mutants in so many processes, which add their verdicts to a file."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    coverage = Coverage()
    workers = []
    for job in range(jobs):
        worker = os.fork()
        if worker:
            workers.append(worker)
            continue
        shop = Workshop(coverage, budget)
        try:
            for mutant in mutants[job::jobs]:
                start = time.monotonic()
                verdict = shop.try_mutant(mutant)
                seconds = round(time.monotonic() - start, 1)
                with results.open("a") as file:
                    file.write(json.dumps([_identity(mutant), verdict, seconds]) + "\n")
                print(f"{seconds:6.1f} s  {verdict['verdict']:9} {mutant.file}:{mutant.line}",
                      flush=True)  # fmt: skip
        finally:
            shutil.rmtree(shop.tree, ignore_errors=True)
            os._exit(0)
    for worker in workers:
        os.waitpid(worker, 0)


def find_unreliable_tests(tests: set[str]) -> set[str]:
    """Tests that fail on the true source when they are run as mutants are."""
    coverage = Coverage()
    shop = Workshop(coverage, 0.0)
    try:
        _, failed = shop.run_tests(sorted(tests & coverage.seconds.keys()), stop_at_first=False)
    finally:
        shutil.rmtree(shop.tree, ignore_errors=True)
    return set(failed.split("\n")) & tests


def _identity(mutant: Mutant) -> str:
    return f"{mutant.file}: {mutant.lines[0]} -> {mutant.lines[1]} @{mutant.line}"


def main() -> None:
    """Draws, tries and prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests a mutant")
    parser.add_argument("--again", action="store_true", help="keep the kills of the last run")
    parser.add_argument("--only", default="", help="pattern of the files")
    parser.add_argument("--no-coverage", action="store_true", help="use what was measured")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if not options.no_coverage:
        measure_coverage()
    results = OUT / f"results-{options.seed}.jsonl"
    if not options.again:
        results.unlink(missing_ok=True)
    drawn = [
        m for m in draw_mutants(options.count, options.seed) if re.search(options.only, m.file)
    ]
    equivalents = read_equivalents()
    reasons = {_identity(m): equivalents.get((m.file, m.shape)) for m in drawn}
    known = _read_results(results)
    open_ones = [
        m for m in drawn
        if not reasons[_identity(m)]
        and known.get(_identity(m), {}).get("verdict") not in ("killed", "timeout")
    ]  # fmt: skip
    try_all(open_ones, results, options.jobs, options.budget)
    known = _read_results(results)
    killers = {str(known[_identity(m)].get("by", "")) for m in open_ones if _identity(m) in known}
    unreliable = find_unreliable_tests(killers - {""})
    for verdict in known.values():
        if verdict.get("by") in unreliable:
            verdict["verdict"] = "unreliable"
    results.write_text("".join(json.dumps([k, v, 0]) + "\n" for k, v in known.items()))
    print_report(drawn, known, reasons)


def _read_results(path: Path) -> dict[str, dict[str, object]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: verdict for name, verdict, _ in map(json.loads, lines)}


def print_report(
    drawn: Sequence[Mutant],
    known: dict[str, dict[str, object]],
    reasons: dict[str, str | None],
) -> None:
    """The table by package, then what survived."""
    kinds = ("killed", "timeout", "survived", "uncovered", "unreliable", "equivalent")
    table: dict[str, Counter[str]] = defaultdict(Counter)
    left = []
    for mutant in drawn:
        name = _identity(mutant)
        verdict = known.get(name, {}).get("verdict", "survived")
        verdict = "equivalent" if reasons[name] else str(verdict)
        for row in (package_of(mutant.file), "total"):
            table[row][verdict] += 1
        if verdict not in ("killed", "timeout", "equivalent"):
            left.append((verdict, mutant))
    print(f"\n{'package':14}{'drawn':>11}" + "".join(f"{kind:>11}" for kind in kinds))
    for package, counts in sorted(table.items(), key=lambda row: row[0] == "total"):
        numbers = (sum(counts.values()), *(counts[kind] for kind in kinds))
        print(f"{package:14}" + "".join(f"{n:11}" for n in numbers))
    total = table["total"]
    dead = total["killed"] + total["timeout"]
    print(f"\n{dead} of {len(drawn) - total['equivalent']} that could be noticed were noticed "
          f"({100 * dead / max(1, len(drawn) - total['equivalent']):.1f} %)")  # fmt: skip
    for verdict, mutant in left:
        print(f"\n{verdict}: {mutant.file}:{mutant.line}\n- {mutant.lines[0]}\n+ {mutant.lines[1]}")


if __name__ == "__main__":
    main()
