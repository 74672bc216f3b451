"""The mutation fuzzer: `python -m tests.fuzz.run --cases 10000 --seed 1`.

Every case is a kind of file and a number; with the seed these give the same mutation again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .targets import TARGETS

ROOT = Path(__file__).parents[2]


@dataclass
class Tally:
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, int, str, str]] = field(default_factory=list)

    def __str__(self) -> str:
        total = sum(self.counts.values())
        verdicts = ("clean", "traceback", "hang", "memory", "silent")
        shown = ", ".join(f"{name} {self.counts[name]}" for name in verdicts)
        lines = [f"{total} cases with seed {self.seed}: {shown}"]
        lines += [
            f"{kind} {seed}: {verdict}\n{what}" for kind, seed, verdict, what in self.failures
        ]
        return "\n".join(lines)


class Worker:
    def __init__(self) -> None:
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.fuzz.worker"]
        return subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def try_case(self, kind: str, seed: int) -> tuple[str, str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps([kind, seed]) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            _, _, verdict, what = json.loads(line)
            return verdict, what
        ended = self.process.wait()
        self.close()
        self.process = self._start()
        if ended == -signal.SIGPROF:
            return "hang", "it took too long"
        return "memory", f"its process ended with status {ended}"

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()


def fuzz(cases: int, seed: int, workers: int = 1) -> Tally:
    """So many cases, of all kinds alike."""
    kinds = list(TARGETS)
    wanted = [(kinds[k % len(kinds)], seed * 1_000_000 + k // len(kinds)) for k in range(cases)]
    tally = Tally(seed)

    def share(k: int) -> None:
        worker = Worker()
        try:
            for kind, number in wanted[k::workers]:
                verdict, what = worker.try_case(kind, number)
                tally.counts[verdict] += 1
                if verdict != "clean":
                    tally.failures.append((kind, number, verdict, what))
        finally:
            worker.close()

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(share, range(workers)))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    tally = fuzz(given.cases, given.seed, given.workers)
    print(tally)
    sys.exit(int(bool(tally.failures)))


if __name__ == "__main__":
    main()
