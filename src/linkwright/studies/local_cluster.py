"""A dask cluster of this machine: a scheduler in this process, and workers that it starts.

Unlike dask's own LocalCluster, workers do not import the user's script again, so that a script
needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

_WORKER_PROGRAM = (
    "from linkwright.processes import end_with_parent; end_with_parent(); "
    "import sys; from distributed.cli.dask_worker import main; main(sys.argv[1:])"
)

START_SECONDS = 120
"""Time in which workers must come: they import packages, on a busy machine."""


@dataclass(eq=False)
class LocalStudyCluster:
    """A scheduler and its worker processes; those that end are started again by `revive`."""

    workers: int
    scheduler: Any = None
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, distributed: Any) -> str:
        """Start scheduler and workers, and return the address."""
        self.scheduler = distributed.LocalCluster(
            n_workers=0,
            processes=False,
            dashboard_address="127.0.0.1:0",  # any port: others may have clusters
            silence_logs=50,
            host="127.0.0.1",
            protocol="tcp://",
        )
        self.processes = [self._start_worker() for _ in range(self.workers)]
        return str(self.scheduler.scheduler_address)

    def _start_worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
        address = str(self.scheduler.scheduler_address)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-c", _WORKER_PROGRAM, address, *options]
        silent = subprocess.DEVNULL
        return subprocess.Popen(
            command, env=environment, stdin=silent, stdout=silent, stderr=silent
        )

    def revive(self) -> None:
        """Start workers again that have ended."""
        for k, process in enumerate(self.processes):
            if process.poll() is not None:
                self.processes[k] = self._start_worker()

    def kill(self) -> None:
        """End workers at once; what they began is made again."""
        for process in self.processes:
            process.kill()

    def close(self) -> None:
        """End workers and scheduler."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self.scheduler is not None:
            self.scheduler.close(timeout=5)
