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
import contextlib
import hashlib
import importlib
import json
import os
import re
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from mutant_coverage import OUTPUT, ROOT, LineCoverage, measure_coverage
from mutant_workshop import Workshop
from mutation_sites import Mutant, find_mutants, package_of, walk_sources, without_names

EQUIVALENT = ROOT / "tools" / "mutants_equivalent.txt"
"""Mutants that cannot be noticed, with reasons."""

LIBRARIES = (
    "casadi", "flint", "llvmlite.binding", "numpy", "scipy.integrate", "scipy.linalg",
    "scipy.optimize", "scipy.sparse.linalg", "scipy.spatial.transform", "scipy.interpolate",
    "scipy.special", "xarray", "pydantic", "typer", "rich.console", "jinja2", "sympy", "mpmath",
    "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg",
    "mujoco", "pinocchio", "heyoka", "hypothesis", "pytest", "_pytest.doctest", "pyarrow",
)  # fmt: skip
"""Libraries that are loaded once; the processes that run tests are forked afterwards."""


def draw_mutants(count: int, seed: int) -> list[Mutant]:
    """Return the sample: at most one mutant for each line, some from every package."""
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


def read_equivalents() -> dict[tuple[str, str], str]:
    """Return reasons by file and change, from lines 'file: before -> after # reason'; names are not
    compared."""
    found = {}
    for line in EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else ():
        if line.strip() and not line.startswith("#"):
            change, reason = line.rsplit(" # ", 1)
            file, shape = change.split(": ", 1)
            found[file, without_names(" ".join(shape.split()))] = reason
    return found


def try_all(mutants: Sequence[Mutant], results: Path, jobs: int, budget: float) -> None:
    """Try mutants in several processes, which add their verdicts to a file."""
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    coverage = LineCoverage()
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
                    file.write(json.dumps([_mutant_name(mutant), verdict, seconds]) + "\n")
                place = f"{mutant.file}:{mutant.line}"
                print(f"{seconds:6.1f} s  {verdict['verdict']:9} {place}", flush=True)
        finally:
            shutil.rmtree(shop.tree, ignore_errors=True)
            os._exit(0)
    for worker in workers:
        os.waitpid(worker, 0)


def find_unreliable_tests(tests: set[str]) -> set[str]:
    """Return tests that fail on the true source when they are run as mutants are."""
    coverage = LineCoverage()
    shop = Workshop(coverage, 0.0)
    try:
        _, failed = shop.run_tests(sorted(tests & coverage.seconds.keys()), stop_at_first=False)
    finally:
        shutil.rmtree(shop.tree, ignore_errors=True)
    return set(failed.split("\n")) & tests


def _mutant_name(mutant: Mutant) -> str:
    """Return the file, the change and the line."""
    return f"{mutant.file}: {mutant.lines[0]} -> {mutant.lines[1]} @{mutant.line}"


def main() -> None:
    """Draw mutants, try them, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=300, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--budget", type=float, default=40.0, help="seconds of tests a mutant")
    parser.add_argument("--again", action="store_true", help="keep the kills of the last run")
    parser.add_argument("--only", default="", help="pattern of the files")
    parser.add_argument("--no-coverage", action="store_true", help="use what was measured")
    options = parser.parse_args()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    if not options.no_coverage:
        measure_coverage()
    results = OUTPUT / f"results-{options.seed}.jsonl"
    if not options.again:
        results.unlink(missing_ok=True)
    drawn = [
        m for m in draw_mutants(options.count, options.seed) if re.search(options.only, m.file)
    ]
    equivalents = read_equivalents()
    reasons = {_mutant_name(m): equivalents.get((m.file, m.shape)) for m in drawn}
    known = _read_results(results)
    untried = [
        m
        for m in drawn
        if not reasons[_mutant_name(m)]
        and known.get(_mutant_name(m), {}).get("verdict") not in ("killed", "timeout")
    ]
    try_all(untried, results, options.jobs, options.budget)
    known = _read_results(results)
    killers = {
        str(known[_mutant_name(m)].get("by", "")) for m in untried if _mutant_name(m) in known
    }
    unreliable = find_unreliable_tests(killers - {""})
    for verdict in known.values():
        if verdict.get("by") in unreliable:
            verdict["verdict"] = "unreliable"
    results.write_text("".join(json.dumps([k, v, 0]) + "\n" for k, v in known.items()))
    print_report(drawn, known, reasons)


def _read_results(path: Path) -> dict[str, dict[str, object]]:
    """Return verdicts by the names of mutants."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: verdict for name, verdict, _ in map(json.loads, lines)}


def print_report(
    drawn: Sequence[Mutant],
    known: dict[str, dict[str, object]],
    reasons: dict[str, str | None],
) -> None:
    """Print the table by package, then the mutants that survived."""
    kinds = (
        "killed", "timeout", "survived", "uncovered", "unreliable", "equivalent", "broken",
        "untried",
    )  # fmt: skip
    table: dict[str, Counter[str]] = defaultdict(Counter)
    left = []
    for mutant in drawn:
        name = _mutant_name(mutant)
        verdict = known.get(name, {}).get("verdict", "untried")
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
    noticeable = len(drawn) - total["equivalent"]
    share = 100 * dead / max(1, noticeable)
    print(f"\n{dead} of {noticeable} that could be noticed were noticed ({share:.1f} %)")
    for verdict, mutant in left:
        print(f"\n{verdict}: {mutant.file}:{mutant.line}\n- {mutant.lines[0]}\n+ {mutant.lines[1]}")


if __name__ == "__main__":
    main()
