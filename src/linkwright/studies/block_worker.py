"""What a worker does: it makes one block after the other and writes each into the store itself.

A task is the address of the store and the number of a block. The worker reads the recipe from the
store, derives and compiles the mechanism for its own machine, and returns counts, not results.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from ..errors import FileError, LinkwrightError
from ..readings.llvm.code_cache import lock_code_cache
from .design_evaluation import EvaluatedDesigns, evaluate_designs
from .measures import MeasureFunction, find_functions
from .study_store import BlockReport, StudyStore, worker_name

WORKER_PROGRAM = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from linkwright.processes import end_with_parent; end_with_parent(); "
    "from linkwright.studies.block_worker import serve_blocks; serve_blocks()"
)
"""The program of a local worker process."""


class WorkerSetupError(LinkwrightError):
    """A worker that cannot open the study: no design is the reason."""


@contextmanager
def our_errors() -> Iterator[None]:
    """Raise all errors as ours: those of others come from a cluster that cannot run our code."""
    try:
        yield
    except LinkwrightError:
        raise
    except Exception as error:
        raise LinkwrightError(f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, eq=False)
class BlockMaker:
    """Makes blocks of one study in this process; `threads` is the number of its threads."""

    store: StudyStore
    functions: Mapping[str, MeasureFunction]
    threads: int | None = 1

    @cached_property
    def is_prepared(self) -> bool:
        """Compile the study's code; the first process of a machine does, the others find it."""
        recipe = self.store.recipe
        with lock_code_cache(f"study-{recipe.digest[:24]}"):
            evaluate_designs(recipe, self.functions, 0, 1, threads=self.threads)
        return True

    def evaluate(self, start: int, stop: int) -> EvaluatedDesigns:
        """Return the measures of some designs."""
        assert self.is_prepared
        return evaluate_designs(
            self.store.recipe, self.functions, start, stop, threads=self.threads
        )

    def make(self, block: int) -> BlockReport:
        """Make a block, and write it."""
        with our_errors():
            assert self.is_prepared
            begin = time.perf_counter()
            found = self.evaluate(*self.store.recipe.block_range(block))
            return self.store.write_block(block, found, time.perf_counter() - begin)


_MAKERS: dict[tuple[str, str, int], BlockMaker] = {}
"""Studies that this process works on."""

MAX_KEPT_STUDIES = 4

_PREPARING = threading.Lock()
"""Held by the thread that opens and compiles a study: workers of dask may have several threads."""


def open_maker(address: str, digest: str, threads: int) -> BlockMaker:
    """Return what makes blocks of the study at an address, which must have the digest."""
    key = address, digest, threads
    with _PREPARING:
        maker = _MAKERS.get(key)
        if maker is None:
            store, functions = _open_study(address, digest)
            while len(_MAKERS) >= MAX_KEPT_STUDIES:
                _MAKERS.pop(next(iter(_MAKERS)))
            maker = BlockMaker(store, functions, threads)
            assert maker.is_prepared
            _MAKERS[key] = maker
    return maker


def _open_study(address: str, digest: str) -> tuple[StudyStore, dict[str, MeasureFunction]]:
    """Return the study at an address with its functions; say which worker has no access to them."""
    try:
        store = StudyStore.open(address)
        if store.recipe.digest != digest:
            raise FileError("holds another study than this worker was asked for", where=address)
        return store, find_functions(store.recipe.measures, {})
    except LinkwrightError as error:
        place = f"{error.where}: " if error.where else ""
        raise WorkerSetupError(
            f"the worker {worker_name()} cannot take part: {place}{error.what}",
            remedy="all workers need this store, the modules of its measures (PYTHONPATH) and this "
            f"version; then 'linkwright study resume {address}' continues",
        ) from None


def make_block(address: str, digest: str, block: int, threads: int) -> BlockReport:
    """Make a block of the study at an address: the task of a worker anywhere."""
    with our_errors():
        return open_maker(address, digest, threads).make(block)


def evaluate_range(
    address: str, digest: str, start: int, stop: int, threads: int
) -> EvaluatedDesigns:
    """Return the measures of some designs, to find those that end their worker."""
    with our_errors():
        return open_maker(address, digest, threads).evaluate(start, stop)


def serve_blocks() -> None:
    """Call what the parent process asks for until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what libraries print is not an answer
        while True:
            try:
                function, arguments = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            answer: tuple[bool, object]
            try:
                with our_errors():
                    answer = True, function(*arguments)
            except LinkwrightError as error:
                answer = False, error
            pickle.dump(answer, answers)
            answers.flush()
