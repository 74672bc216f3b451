"""Going on with studies: who makes blocks, and which of them are missing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, FileError, LinkwrightError
from ..mechanism import Mechanism
from ..number_checks import check_whole_number
from .block_engines import BlockEngine, ProcessEngine, SerialEngine
from .block_worker import BlockMaker
from .dask_engine import DaskEngine, import_distributed
from .measures import MeasureFunction, find_functions
from .study_progress import StudyProgress
from .study_result import Study
from .study_store import StudyStore

MAX_PASSES = 4
"""Passes over the blocks: another resume that finds a damaged block removes its marker, perhaps
just after this one made the block again."""


@dataclass(frozen=True)
class WorkerChoice:
    """Who makes the blocks.

    Attributes
    ----------
    workers : int
        Number of local workers; 1 is this process itself.
    cluster : object
        None, "local", "processes", the address of a scheduler, or a cluster or client of dask.
    retries : int
        The number of times that a block is tried again.
    """

    workers: int = 1
    cluster: object = None
    retries: int = 3

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_whole_number(self.workers, "workers", 1)
        check_whole_number(self.retries, "retries", 0)

    @property
    def is_serial(self) -> bool:
        """Whether this process makes the blocks."""
        return self.workers == 1 and self.cluster is None

    @property
    def threads(self) -> int | None:
        """The threads of each worker: all of the machine for this process, else one."""
        return None if self.is_serial else 1

    @property
    def block_workers(self) -> int:
        """The workers that blocks must suffice for: a cluster or client of dask knows its own."""
        known: Any = getattr(self.cluster, "scheduler_info", None)
        if callable(known):  # a client, which else tells of five workers at most
            known = known(n_workers=-1)
        found = known.get("workers", ()) if isinstance(known, Mapping) else ()
        return max(self.workers, len(found))

    def engine(self, store: StudyStore, functions: Mapping[str, MeasureFunction]) -> BlockEngine:
        """Return the engine."""
        if self.is_serial:
            return SerialEngine(BlockMaker(store, functions, self.threads), self.retries)
        hidden = [one for one in store.recipe.measures if not one.text and not one.is_importable]
        if hidden:
            raise ArgumentError(
                f"workers cannot import the function {hidden[0].function} of {hidden[0].module}",
                where=f"measure '{hidden[0].name}'",
                remedy="put it into a module, or use workers=1",
            )
        if not store.storage.is_shared:
            raise ArgumentError(
                "workers need a store that they can reach; "
                f"results in {store.storage.address} end with their process",
                remedy="give store= a folder that all workers share, or an address (s3://…)",
            )
        if self.cluster == "processes" or (self.cluster is None and not _has_distributed()):
            return ProcessEngine(store, self.workers, self.retries)
        cluster = "local" if self.cluster is None else self.cluster
        return DaskEngine(store, cluster, self.workers, self.retries)


def _has_distributed() -> bool:
    try:
        import_distributed()
    except LinkwrightError:
        return False
    return True


def resume_study(
    store: str | Path,
    mechanism: Mechanism | None = None,
    *,
    measure: Mapping[str, MeasureFunction] | None = None,
    workers: int = 1,
    cluster: object = None,
    retries: int = 3,
    retry_failed: bool = False,
    progress: bool | None = None,
) -> Study:
    """Continue a study that was stopped or killed, from its store alone.

    Blocks whose checksums do not hold are made again. Several processes may do this at the same
    time; each makes blocks that are not there yet.

    Parameters
    ----------
    store : str or Path
        The folder or address.
    mechanism : Mechanism, optional
        If given, it must be that of the study.
    measure : mapping, optional
        Functions of measures that cannot be imported, by name.
    workers, cluster, retries, progress
        Those of `study`.
    retry_failed : bool
        Make blocks with failed designs again.

    Returns
    -------
    Study
        The results.

    Examples
    --------
    >>> import linkwright as lw, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> arm, measure = lw.gallery("elbow"), {"end": "q1[-1]"}
    >>> _ = lw.study(arm, {"m2": [1.0, 2.0]}, measure, t=0.1, samples=3, store=folder)
    >>> lw.studies.resume_study(folder).is_complete
    True
    """
    opened = StudyStore.open(store, mechanism)
    opened.write_metadata()
    functions = find_functions(opened.recipe.measures, measure or {})
    if retry_failed:
        for number in opened.marked_blocks():
            if (opened.read_marker(number) or {}).get("failed"):
                opened.storage.remove(opened.marker_key(number))
    choice = WorkerChoice(workers, cluster, retries)
    return run_study(opened, functions, choice, progress=progress)


def load_study(store: str | Path) -> Study:
    """Return the results of a study as far as they are computed.

    Parameters
    ----------
    store : str or Path
        The folder or address.

    Returns
    -------
    Study
        The results.

    Examples
    --------
    >>> import linkwright as lw, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> arm, measure = lw.gallery("elbow"), {"end": "q1[-1]"}
    >>> _ = lw.study(arm, {"m2": [1.0, 2.0]}, measure, t=0.1, samples=3, store=folder)
    >>> lw.studies.load_study(folder).data["end"].shape
    (2,)
    """
    return Study(StudyStore.open(store))


def run_study(
    store: StudyStore,
    functions: Mapping[str, MeasureFunction],
    choice: WorkerChoice,
    *,
    progress: bool | None = None,
) -> Study:
    """Make the blocks that a store lacks."""
    recipe, done = store.recipe, store.sound_blocks()
    if len(done) == recipe.block_count:
        return Study(store)
    engine = choice.engine(store, functions)
    with StudyProgress(recipe.mechanism.name, store.summary(), progress) as watch:
        for _ in range(MAX_PASSES):
            engine.run(_missing_blocks(store, done), watch.add)
            done = store.marked_blocks()
            if len(done) == recipe.block_count:
                return Study(store)
    raise FileError(
        f"{recipe.block_count - len(done)} blocks were made, but are not in the store",
        where=store.storage.address,
        remedy="find out who removes files there, then resume the study",
    )


def _missing_blocks(store: StudyStore, done: set[int]) -> Iterator[int]:
    """Yield the blocks that are not there when their turn comes.

    A study that goes on begins at a random block: two processes at once then seldom make the same.
    """
    count = store.recipe.block_count
    shift = int.from_bytes(os.urandom(4), "little") % count if done else 0
    for k in range(count):
        block = (k + shift) % count
        if block not in done and store.read_marker(block) is None:
            yield block
