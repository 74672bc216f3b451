"""Engines: who makes the blocks of a study. This process, or local processes.

Every engine gives a worker one block at a time, keeps no results, tries a block again when its
worker ended, and after some tries looks for the design that ends workers.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import selectors
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import LinkwrightError
from ..processes.interrupts import lost_interrupts
from .block_worker import (
    WORKER_PROGRAM,
    BlockMaker,
    WorkerSetupError,
    evaluate_range,
    make_block,
)
from .design_evaluation import EvaluatedDesigns, failed_block
from .object_storage import StorageError, StorageFullError
from .study_store import BlockReport, StudyStore

INTERRUPT_GRACE = 0.4
"""Seconds that workers have after Ctrl-C to finish their blocks."""

ReportBlock = Callable[[BlockReport], None]


class WorkerEndedError(LinkwrightError):
    """A worker that ended while it made a block."""


class BlockEngine(Protocol):
    """Something that makes blocks."""

    def run(self, blocks: Iterator[int], report: ReportBlock) -> None:
        """Make blocks, and report each."""


@dataclass(frozen=True)
class SerialEngine:
    """Makes blocks in this process, on all threads of an ensemble."""

    maker: BlockMaker
    retries: int = 3

    def run(self, blocks: Iterator[int], report: ReportBlock) -> None:
        """Make blocks one after the other; Ctrl-C gives up the one at hand."""
        with lost_interrupts() as raise_lost:
            for block in blocks:
                report(self._make(block))
                raise_lost()

    def _make(self, block: int) -> BlockReport:
        for attempt in range(self.retries + 1):
            try:
                return self.maker.make(block)
            except StorageFullError:
                raise
            except LinkwrightError as error:
                if attempt == self.retries:
                    return record_failed_block(self.maker.store, block, attempt + 1, error)
        raise AssertionError


@dataclass(eq=False)
class _LocalWorker:
    """A worker process and the block that it makes."""

    process: subprocess.Popen[bytes]
    block: int | None = None

    def send(self, function: Callable[..., object], *arguments: object) -> None:
        """Ask for a call; a worker that has ended is noticed when its answer is read."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(pickle.dumps((function, arguments)))
            self.process.stdin.flush()

    def read_answer(self) -> Any:
        """Return the answer; raise the worker's error, or that it has ended."""
        assert self.process.stdout is not None
        try:
            good, value = pickle.load(self.process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            code = self.process.wait()
            how = f"signal {-code}" if code < 0 else f"status {code}"
            raise WorkerEndedError(f"its worker ended with {how}") from None
        if not good:
            raise value
        return value

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def start_worker() -> _LocalWorker:
    """Start a worker process, which ends with this one."""
    command = [sys.executable, "-c", WORKER_PROGRAM, json.dumps(sys.path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return _LocalWorker(
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    )


@dataclass(eq=False)
class ProcessEngine:
    """Makes blocks in local processes, each with one block at a time."""

    store: StudyStore
    workers: int
    retries: int = 3
    threads: int = 1
    _failures: Counter[int] = field(default_factory=Counter)

    @property
    def _key(self) -> tuple[str, str]:
        return self.store.storage.address, self.store.recipe.digest

    def run(self, blocks: Iterator[int], report: ReportBlock) -> None:
        """Make blocks; a worker that ends is replaced, and its block made again."""
        pool = [start_worker() for _ in range(self.workers)]
        again: list[int] = []
        try:
            with lost_interrupts() as raise_lost, selectors.DefaultSelector() as waiting:
                for worker in pool:
                    waiting.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
                    self._send_next(worker, blocks, again)
                while any(worker.block is not None for worker in pool):
                    for key, _ in waiting.select(timeout=1.0):
                        worker = key.data
                        if worker.block is None:
                            waiting.unregister(key.fileobj)
                            continue
                        ended = self._collect(worker, again, report)
                        if ended:
                            waiting.unregister(key.fileobj)
                            pool.remove(worker)
                            worker.end()
                            worker = start_worker()
                            pool.append(worker)
                            pipe = worker.process.stdout
                            assert pipe is not None
                            waiting.register(pipe, selectors.EVENT_READ, worker)
                        self._send_next(worker, blocks, again)
                    raise_lost()
        except KeyboardInterrupt:
            self._finish_blocks(pool, report)
            raise
        finally:
            for worker in pool:
                worker.end()

    def _send_next(self, worker: _LocalWorker, blocks: Iterator[int], again: list[int]) -> None:
        """Give a worker its next block; None if all blocks are given."""
        worker.block = again.pop() if again else next(blocks, None)
        if worker.block is not None:
            worker.send(make_block, *self._key, worker.block, self.threads)

    def _collect(self, worker: _LocalWorker, again: list[int], report: ReportBlock) -> bool:
        """Report the block of a worker, or note that it failed; return whether the worker ended."""
        block = worker.block
        assert block is not None
        try:
            report(worker.read_answer())
        except StorageFullError:
            raise
        except LinkwrightError as error:
            self._failures[block] += 1
            if self._failures[block] <= self.retries:
                again.append(block)
            elif isinstance(error, WorkerEndedError):
                report(self._isolate(block, str(error)))
            else:
                report(record_failed_block(self.store, block, self._failures[block], error))
            return isinstance(error, WorkerEndedError)
        return False

    def _isolate(self, block: int, why: str) -> BlockReport:
        """Find the designs that end their workers, and make the others of the block."""
        holder = [start_worker()]

        def evaluate(start: int, stop: int) -> EvaluatedDesigns:
            worker = holder[0]
            worker.send(evaluate_range, *self._key, start, stop, self.threads)
            try:
                found: EvaluatedDesigns = worker.read_answer()
            except WorkerEndedError:
                worker.end()
                holder[0] = start_worker()
                raise
            return found

        try:
            return isolate_designs(self.store, block, evaluate, why)
        finally:
            holder[0].end()

    def _finish_blocks(self, pool: list[_LocalWorker], report: ReportBlock) -> None:
        """Wait a moment for the blocks that workers make after Ctrl-C."""
        end = time.monotonic() + INTERRUPT_GRACE
        with selectors.DefaultSelector() as waiting:
            for worker in pool:
                if worker.block is not None:
                    waiting.register(worker.process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
            while waiting.get_map() and (rest := end - time.monotonic()) > 0:
                for key, _ in waiting.select(timeout=rest):
                    waiting.unregister(key.fileobj)
                    with contextlib.suppress(LinkwrightError):
                        report(key.data.read_answer())


def record_failed_block(
    store: StudyStore, block: int, times: int, error: BaseException
) -> BlockReport:
    """Write a block whose designs all failed; raise if not they, but their worker is the reason."""
    if isinstance(error, StorageError | WorkerSetupError):
        raise error
    if not isinstance(error, LinkwrightError):  # workers call ours so: this is one of the cluster
        why = " ".join(str(error.__cause__ or error).split())
        raise WorkerSetupError(
            f"a worker cannot take part: {type(error).__name__}: {why}",
            remedy="install these versions of Python, dask and linkwright for scheduler and workers"
            f", then 'linkwright study resume {store.storage.address}' continues",
        )
    why = f"the block failed {times} times: {error}"
    return store.write_block(block, failed_block(store.recipe, block, why), 0.0)


def isolate_designs(
    store: StudyStore, block: int, evaluate: Callable[[int, int], EvaluatedDesigns], why: str
) -> BlockReport:
    """Make a block in halves of halves, and record the single designs that end their worker."""
    begin = time.perf_counter()
    start, stop = store.recipe.block_range(block)
    whole = failed_block(store.recipe, block, why)
    pending = [(start, stop)]
    while pending:
        low, high = pending.pop()
        try:
            part = evaluate(low, high)
        except (StorageError, WorkerSetupError):
            raise
        except LinkwrightError:
            if high - low > 1:
                middle = (low + high) // 2
                pending += [(middle, high), (low, middle)]
            continue
        rows = slice(low - start, high - start)
        whole.status[rows] = part.status
        for name, values in part.measures.items():
            whole.measures[name][rows] = values
        for place in range(low - start, high - start):
            whole.messages.pop(place, None)
        whole.messages.update({low - start + k: text for k, text in part.messages.items()})
    assert np.all(whole.status > 0)
    return store.write_block(block, whole, time.perf_counter() - begin)
