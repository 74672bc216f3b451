"""Which lines of the package each test runs: a pytest plugin for `tools/mutants.py`.

Every file of tests leaves one JSON file with its tests, how long each took, and the lines that
each ran, in this process and in those that it started. Caches of the package are cleared between
files, so that what a file needs is run by this file.
"""

from __future__ import annotations

import atexit
import functools
import gc
import glob
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import coverage

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "linkwright"
FOLDER = ROOT / "out" / "mutants" / "coverage"
CHILDREN = "MUTANTS_CHILDREN"
"""The variable that names the folder where other processes of the tests leave their lines."""

MAX_CASES = 20
"""Cases of one test function that are measured: most run the same lines."""


def digest(path: Path) -> str:
    """A short digest of a file's content; empty if the file does not exist."""
    return hashlib.sha1(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def record_path(test_file: str) -> Path:
    """Where the lines of a file of tests are kept."""
    return FOLDER / (test_file.replace("/", "-") + ".json")


def _start() -> coverage.Coverage:
    tracer = coverage.Coverage(data_file=None, config_file=False, include=[f"{PACKAGE}/*"])
    tracer.set_option("run:disable_warnings", ["no-data-collected"])
    tracer.start()
    return tracer


class Recorder:
    """Measures the lines of each test, and writes them when the file of tests changes."""

    def __init__(self) -> None:
        self.file = ""
        self.tracer = _start()
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[object]) -> None:
        """Keeps some cases of every test function, from the first to the last."""
        cases: dict[str, list[object]] = defaultdict(list)
        for item in items:
            cases[item.nodeid.split("[")[0]].append(item)  # type: ignore[attr-defined]
        items[:] = [item for found in cases.values() for item in _spread(found)]

    def pytest_runtest_protocol(self, item: object) -> None:
        """Lines from here on belong to this test."""
        test: str = item.nodeid  # type: ignore[attr-defined]
        file = test.split("::")[0]
        if file != self.file:
            self.write()
            self.file = file
        self.tracer.switch_context(test)

    def pytest_runtest_logreport(self, report: object) -> None:
        """Adds up the time of a test; skipped tests count as failed: they tell nothing."""
        self.seconds[report.nodeid] += report.duration  # type: ignore[attr-defined]
        if report.outcome != "passed":  # type: ignore[attr-defined]
            self.failed.add(report.nodeid)  # type: ignore[attr-defined]

    def pytest_sessionfinish(self) -> None:
        """Writes the last file."""
        self.write()

    def write(self) -> None:
        """Writes what the tests of the file that has ended ran, and starts again."""
        self.tracer.stop()
        lines: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        data = self.tracer.get_data()
        for name in data.measured_files():
            for line, tests in data.contexts_by_lineno(name).items():
                lines[name][str(line)].update(t for t in tests if t in self.seconds)
        for path in glob.glob(os.environ[CHILDREN] + "/*"):
            test, ran = json.loads(Path(path).read_text())
            os.unlink(path)
            for name, numbers in ran.items():
                for line in numbers:
                    lines[name][str(line)].add(test)
        if self.file:
            self._save(lines)
        self.seconds.clear()
        self.failed.clear()
        _clear_caches()
        self.tracer = _start()

    def _save(self, lines: dict[str, dict[str, set[str]]]) -> None:
        passed = [t for t in self.seconds if t not in self.failed]
        place = {test: number for number, test in enumerate(passed)}
        record = {
            "digest": digest(ROOT / self.file),
            "sources": {_relative(name): digest(Path(name)) for name in lines},
            "tests": [[test, round(self.seconds[test], 3)] for test in passed],
            "lines": {
                _relative(name): {
                    line: sorted(place[t] for t in tests if t in place)
                    for line, tests in of_file.items()
                }
                for name, of_file in lines.items()
            },
        }
        FOLDER.mkdir(parents=True, exist_ok=True)
        record_path(self.file).write_text(json.dumps(record))


def _spread(cases: list[object]) -> list[object]:
    count = min(len(cases), MAX_CASES)
    return [cases[k * len(cases) // count] for k in range(count)]


def pytest_configure(config: object) -> None:
    """Starts to measure, here and in the processes that the tests will start."""
    children = tempfile.mkdtemp(prefix="mutants-")
    Path(children, "sitecustomize.py").write_text("import coverage_by_test as c; c.follow()\n")
    os.environ[CHILDREN] = tempfile.mkdtemp(dir=children)
    atexit.register(shutil.rmtree, children, ignore_errors=True)
    os.environ["PYTHONPATH"] = os.pathsep.join([children, *filter(None, sys.path)])
    recorder = Recorder()
    config.pluginmanager.register(recorder)  # type: ignore[attr-defined]
    _record_at_exit(lambda: recorder.tracer)


def follow() -> None:
    """Measures this process if a test has started it."""
    if CHILDREN in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
        tracer = _start()
        atexit.register(_leave_lines, tracer)
        _record_at_exit(lambda: tracer)


def _record_at_exit(tracer: object) -> None:
    """Processes made by forking end by `os._exit`; they leave their lines before."""
    end, parent = os._exit, os.getpid()

    def leave(status: int) -> None:
        if os.getpid() != parent:
            _leave_lines(tracer())  # type: ignore[operator]
        end(status)

    os._exit = leave  # type: ignore[assignment]


def _leave_lines(tracer: coverage.Coverage) -> None:
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    folder = os.environ.get(CHILDREN)
    if test and folder and os.path.isdir(folder):
        tracer.stop()
        data = tracer.get_data()
        ran = {name: data.lines(name) for name in data.measured_files()}
        handle, _ = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w") as file:
            json.dump([test, ran], file)


def _clear_caches() -> None:
    """Compiled code is kept: what translates it is run by many files in any case."""
    for thing in gc.get_objects():
        if isinstance(thing, functools._lru_cache_wrapper):
            module = getattr(thing, "__module__", None) or ""
            if module.startswith("linkwright"):
                thing.cache_clear()


def _relative(name: str) -> str:
    return str(Path(name).relative_to(ROOT))
