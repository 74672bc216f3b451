"""Blocks on dask.distributed: a local cluster, a scheduler's address, or a user's own cluster.

The scheduler sees the address of the store and numbers of blocks; results go from the workers to
the store. At most a few tasks for each worker are outstanding. What is done stands in the store, so
that the loss of workers, or of the scheduler, costs the blocks at hand and nothing else.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, LinkwrightError, MissingExtraError
from ..processes.interrupts import lost_interrupts
from .block_engines import ReportBlock, WorkerEndedError, isolate_designs, record_failed_block
from .block_worker import evaluate_range, make_block
from .design_evaluation import EvaluatedDesigns
from .local_cluster import START_SECONDS, LocalStudyCluster
from .object_storage import StorageFullError
from .study_store import BlockReport, StudyStore

if TYPE_CHECKING:
    from distributed import Client, Future

TASKS_PER_WORKER = 2
"""Tasks that a worker has: one at hand, and the next, so that it never waits."""

RECONNECT_SECONDS = 120.0
"""Time during which a lost scheduler is looked for: it may be restarted by hand or by a service."""

MAX_RECONNECTS = 5
"""Connections in a row that are lost before a block is made: then the scheduler is not at work."""

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)
"""What waiting for a scheduler that dies may raise, besides errors of the connection."""

_PAUSE = 0.5
"""Seconds between looks at the cluster."""


def import_distributed() -> Any:
    """Return the package, or say which extra has it."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError(
            "a cluster needs dask.distributed, which is not installed",
            remedy="install linkwright[cluster], or use workers=4 for processes of this machine",
        ) from None
    return distributed


@dataclass(eq=False)
class DaskEngine:
    """Makes blocks on a cluster: "local", an address, a cluster or a client."""

    store: StudyStore
    cluster: object
    workers: int = 1
    retries: int = 3
    threads: int = 1
    _failures: Counter[int] = field(default_factory=Counter)
    _owned: list[Any] = field(default_factory=list)
    _lost: int = 0
    _seen: float = 0.0
    _address: str = ""

    def __post_init__(self) -> None:
        """Check that dask is there."""
        self.distributed = import_distributed()

    @property
    def _key(self) -> tuple[str, str]:
        return self.store.storage.address, self.store.recipe.digest

    def _connect(self) -> Client:
        """Return a client of the cluster; clusters and clients of users stay theirs."""
        distributed, given = self.distributed, self.cluster
        self._seen = time.monotonic()
        if isinstance(given, distributed.Client):
            return self._check_client(given)
        if given == "local":
            local = LocalStudyCluster(self.workers)
            self._owned.append(local)
            given = self.cluster = local.start(distributed)
        try:
            client = distributed.Client(given, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError, *_CANCELLED) as error:
            raise LinkwrightError(
                f"the cluster {given!r} does not answer: {error}",
                remedy="give the address of a scheduler, tcp://host:8786, or a cluster object",
            ) from None
        self._owned.append(client)
        self._address = client.scheduler.address
        return client

    def _check_client(self, client: Client) -> Client:
        """Return a client of the user, if its calls wait and its scheduler is there."""
        if client.asynchronous:
            raise ArgumentError(
                "an asynchronous client cannot be used",
                where="cluster",
                remedy="give distributed.Client(address) without asynchronous=True",
            )
        if client.status != "running" or client.scheduler is None:
            raise ArgumentError(
                f"the client is {client.status}", where="cluster", remedy="connect a new client"
            )
        self._address = client.scheduler.address
        return client

    def _count_workers(self, client: Client) -> int:
        """Return the number of workers, which may be none for some time, but not for ever.

        Workers of a local cluster that ended are started again. An adaptive cluster starts workers
        when there are tasks.
        """
        for one in self._owned:
            if isinstance(one, LocalStudyCluster):
                one.revive()
        count = len(client.scheduler_info(n_workers=-1)["workers"])
        if count:
            self._seen = time.monotonic()
        elif time.monotonic() > self._seen + START_SECONDS:
            raise LinkwrightError(
                f"the cluster has had no workers for {START_SECONDS} seconds",
                remedy=f"start workers, then 'linkwright study resume {self._key[0]}'",
            )
        return count

    def run(self, blocks: Iterator[int], report: ReportBlock) -> None:
        """Make all blocks."""
        pending: dict[Any, int] = {}
        again: list[int] = []
        try:
            client = self._connect()
            with lost_interrupts() as raise_lost, _quiet_client():
                while True:
                    try:
                        self._submit(client, blocks, again, pending)
                        if not pending:
                            return
                        self._collect(client, again, pending, report)
                    except (_ConnectionLostError, OSError, *_CANCELLED):
                        again += self._unfinished(pending)
                        pending.clear()
                        client = self._reconnect(client)
                    raise_lost()
        except KeyboardInterrupt:
            for one in self._owned:
                if isinstance(one, LocalStudyCluster):
                    one.kill()
            raise
        finally:
            for future in pending:
                _ignore_errors(future.cancel)
            for one in reversed(self._owned):
                _ignore_errors(one.close)
            self._owned.clear()

    def _submit(
        self, client: Client, blocks: Iterator[int], again: list[int], pending: dict[Any, int]
    ) -> None:
        """Keep as many tasks outstanding as workers can use, not more."""
        self._check_connection(client)
        count = max(1, self._count_workers(client)) * TASKS_PER_WORKER
        while len(pending) < count:
            if not again:
                again += itertools.islice(blocks, 1)
            if not again:
                return
            block = again[-1]
            name = f"block-{self._key[1][:12]}-{block}-{self._failures[block]}-{time.time_ns()}"
            future = client.submit(
                make_block, *self._key, block, self.threads, key=name, pure=False, retries=0
            )
            pending[future] = again.pop()

    def _collect(
        self, client: Client, again: list[int], pending: dict[Any, int], report: ReportBlock
    ) -> None:
        """Wait for a task, and report those that have ended."""
        for future in self._wait(client, list(pending)):
            if future.status in ("cancelled", "lost"):
                self._check_connection(client)
                again.append(pending.pop(future))
                continue
            self._take(future, pending[future], again, report)
            del pending[future]
            future.release()
            self._lost = 0

    def _wait(self, client: Client, futures: list[Any]) -> list[Any]:
        """Wait for a moment, and return the tasks that have ended."""
        try:
            with client.as_current():
                self.distributed.wait(futures, timeout=_PAUSE, return_when="FIRST_COMPLETED")
        except (TimeoutError, self.distributed.TimeoutError):
            self._check_connection(client)
        return [one for one in futures if one.done()]

    def _take(self, future: Future[Any], block: int, again: list[int], report: ReportBlock) -> None:
        """Report a block, or try it again."""
        error = future.exception()
        if error is None:
            report(future.result())
            return
        if isinstance(error, StorageFullError):
            raise error
        self._failures[block] += 1
        if self._failures[block] <= self.retries:
            again.append(block)
        elif isinstance(error, self.distributed.KilledWorker):
            report(self._isolate(future.client, block))
        else:
            report(record_failed_block(self.store, block, self._failures[block], error))

    def _isolate(self, client: Any, block: int) -> BlockReport:
        """Find the designs that end their workers, and make the others of the block."""

        def evaluate(start: int, stop: int) -> EvaluatedDesigns:
            task = client.submit(
                evaluate_range, *self._key, start, stop, self.threads, pure=False, retries=0
            )
            while not self._wait(client, [task]):
                self._count_workers(client)
            try:
                found: EvaluatedDesigns = task.result()
            except self.distributed.KilledWorker as error:
                raise WorkerEndedError(str(error)) from None
            return found

        return isolate_designs(self.store, block, evaluate, "its worker ended again and again")

    # -- a scheduler that goes and comes back ----------------------------------------------------

    def _check_connection(self, client: Client) -> None:
        """Raise if the scheduler is gone."""
        if client.status not in ("running", "connecting") or client.scheduler is None:
            raise _ConnectionLostError("the scheduler is gone")
        if client.status == "connecting":
            raise _ConnectionLostError("the study is trying to reach the scheduler")

    def _unfinished(self, pending: dict[Any, int]) -> list[int]:
        """Return outstanding blocks that are not in the store."""
        return [block for block in pending.values() if self.store.read_marker(block) is None]

    def _reconnect(self, old: Client) -> Client:
        """Return a client of the restarted scheduler."""
        if old is self.cluster:  # a client of the user, which stays theirs
            self.cluster = getattr(old, "cluster", None) or self._address
        if old in self._owned:
            self._owned.remove(old)
            _ignore_errors(lambda: old.close(timeout=1))
        resume = f"'linkwright study resume {self._key[0]}'"
        self._lost += 1
        if self._lost > MAX_RECONNECTS:
            raise LinkwrightError(
                f"the connection to {self._address} was lost {self._lost} times in a row",
                remedy=f"look at the log of the scheduler, then {resume}",
            )
        time.sleep(_PAUSE * 2**self._lost)
        end = time.monotonic() + RECONNECT_SECONDS
        while True:
            try:
                return self._connect()
            except LinkwrightError:
                if time.monotonic() > end:
                    raise LinkwrightError(
                        f"the scheduler {self._address} has not come back",
                        remedy=f"restart it, then {resume}",
                    ) from None
                time.sleep(_PAUSE)


class _ConnectionLostError(LinkwrightError):
    """The scheduler does not answer."""


@contextlib.contextmanager
def _quiet_client() -> Iterator[None]:
    """Keep dask from printing tracebacks about a scheduler that is gone: the study says it."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(before)


def _ignore_errors(close: Callable[[], object]) -> None:
    """Close something whose scheduler may be gone; dask then raises whatever it waited for."""
    with contextlib.suppress(Exception, *_CANCELLED):
        close()
