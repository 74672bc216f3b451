"""The store of a study: its recipe, its results as a Zarr group, and a marker for each block.

A block is one chunk of each array, then its marker with the checksums of these chunks. A block
counts only with a marker whose checksums hold, so a worker may be killed at any instant: what it
wrote is either whole, or made again with the same bits. Several processes may work in one store at
the same time, since equal blocks have equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DamagedStudyWarning, FileError, MissingExtraError
from ..mechanism import Mechanism
from .design_evaluation import FAILED, STATUS_NAMES, STOPPED, EvaluatedDesigns
from .object_storage import MemoryStorage, ObjectStorage, StorageFullError, open_storage
from .study_recipe import StudyRecipe
from .zarr_layout import ZarrArray, group_metadata

if TYPE_CHECKING:
    import xarray

RECIPE_KEY, MARKERS = "study.json", "blocks"
MAX_MESSAGES = 1000
"""Messages of one block that its marker keeps; the statuses of all designs are kept."""

MAX_EAGER_BYTES = 1 << 30
"""Largest results that are read into memory as a whole."""


@dataclass(frozen=True)
class BlockReport:
    """What the engine learns of a block: counts, time and size, never the results."""

    block: int
    designs: int
    failed: int
    stopped: int
    seconds: float
    size: int = 0
    worker: str = ""


@dataclass(frozen=True, eq=False)
class StudyStore:
    """A study in its storage."""

    storage: ObjectStorage
    recipe: StudyRecipe

    # -- begin and open --------------------------------------------------------------------------

    @classmethod
    def create(cls, storage: ObjectStorage, recipe: StudyRecipe) -> StudyStore:
        """Return the store of a study that begins, or of the same one that has begun."""
        kept = storage.read(RECIPE_KEY)
        if kept is None and (storage.read("zarr.json") is not None or storage.list_names(".")):
            kept = storage.read(RECIPE_KEY)  # another process may begin the same study now
            if kept is None:
                raise FileError(
                    "has other files", where=storage.address, remedy="name a new or empty folder"
                )
        if kept is None:
            kept = _begin_study(storage, recipe.text.encode())
        store = cls(storage, StudyRecipe.from_text(_decode(kept, storage), storage.address))
        store.check_same(recipe)
        store.write_metadata()
        return store

    def write_metadata(self) -> None:
        """Write the metadata of the Zarr group, and repair what differs from the recipe."""
        wanted = {
            f"{one.name}/zarr.json": json.dumps(one.metadata()).encode() for one in self.all_arrays
        }
        for name, times in self.recipe.histories.items():
            wanted[self.time_array(name, times).chunk_key(0)] = np.array(times, "<f8").tobytes()
        attributes = {**self.attributes, "source": self.source}
        wanted["zarr.json"] = group_metadata(self.all_arrays, attributes)  # the last: all is there
        for key, content in wanted.items():
            if self.storage.read(key) != content:
                self.storage.write(key, content)

    @property
    def source(self) -> str:
        """The version of Linkwright that began the study."""
        try:
            found = json.loads(self.storage.read("zarr.json") or b"")["attributes"]["source"]
        except (ValueError, KeyError, TypeError):
            found = None
        return found if isinstance(found, str) else str(self.attributes["source"])

    @classmethod
    def open(
        cls, address: str | Path | ObjectStorage, mechanism: Mechanism | None = None
    ) -> StudyStore:
        """Return the store of a study that has begun; it must be one of the mechanism, if given."""
        storage = open_storage(address) if isinstance(address, str | Path) else address
        kept = storage.read(RECIPE_KEY)
        if kept is None:
            raise FileError(
                "holds no study: study.json is missing",
                where=storage.address,
                remedy="name the folder that 'linkwright study FILE … -o DIR' wrote",
            )
        recipe = StudyRecipe.from_text(_decode(kept, storage), storage.address)
        if mechanism is not None and mechanism.digest != recipe.mechanism.digest:
            raise FileError(
                f"the study is one of another mechanism ({recipe.mechanism.name}, digest "
                f"{recipe.mechanism.digest[:12]}…; the given one has {mechanism.digest[:12]}…)",
                where=storage.address,
                remedy="give the mechanism of the study, or begin a study in another folder",
            )
        return cls(storage, recipe)

    def check_same(self, other: StudyRecipe) -> None:
        """Raise an error if another study is to go on in this store."""
        mine = self.recipe
        if mine.digest == other.digest:
            return
        if mine.mechanism.digest != other.mechanism.digest:
            what = f"another mechanism ({mine.mechanism.name})"
        else:
            ours, theirs = mine.to_json(), other.to_json()
            differ = [key for key in ours if key != "block" and ours[key] != theirs[key]]
            what = f"other {' and '.join(differ)}"
        raise FileError(
            f"holds a study with {what}",
            where=self.storage.address,
            remedy="name another folder, or resume that study",
        )

    # -- layout ----------------------------------------------------------------------------------

    @cached_property
    def arrays(self) -> list[ZarrArray]:
        """The arrays along the designs."""
        count, block, found = self.recipe.count, self.recipe.block, []
        for one in self.recipe.factors:
            about: dict[str, Any] = {"role": "factor", "long_name": one.name}
            if one.has_text:
                levels = [str(level) for level in one.levels]
                about |= {"levels": levels} if self.recipe.sampling.method != "list" else {}
            kind = "<i4" if one.has_text else "<f8"
            found.append(ZarrArray(one.name, (count,), (block,), ("design",), kind, about))
        for measure in self.recipe.measures:
            size = self.recipe.sizes.get(measure.name, ())
            about = {"role": "measure", "expression": measure.summary()}
            found.append(
                ZarrArray(
                    measure.name,
                    (count, *size),
                    (block, *size),
                    ("design", *([self.recipe.dimension_name(measure.name)] if size else [])),
                    attributes=about,
                )
            )
        about = {
            "flag_values": [0, 1, 2, 3],
            "flag_meanings": " ".join(STATUS_NAMES).replace("not made", "not_made"),
        }
        found.append(ZarrArray("status", (count,), (block,), ("design",), "|u1", about))
        found.append(ZarrArray("seed", (count,), (block,), ("design",), "<u8"))
        return found

    def time_array(self, name: str, times: list[float]) -> ZarrArray:
        """Return the array of the times of a history."""
        size = (len(times),)
        return ZarrArray(f"{name}_time", size, size, (f"{name}_time",), attributes={"units": "s"})

    @property
    def all_arrays(self) -> list[ZarrArray]:
        """All arrays, with the times of histories."""
        times = [self.time_array(name, x) for name, x in self.recipe.histories.items()]
        return [*self.arrays, *times]

    @property
    def attributes(self) -> dict[str, object]:
        """The attributes of the dataset."""
        from .. import __version__

        recipe = self.recipe
        return {
            "title": f"study of {recipe.mechanism.name}",
            "source": f"linkwright {__version__}",
            "mechanism_digest": recipe.mechanism.digest,
            "design": recipe.sampling.method,
            "seed": recipe.sampling.seed,
        }

    @property
    def bytes_per_block(self) -> int:
        """The size of the chunks of a block."""
        return sum(one.chunk_bytes for one in self.arrays)

    # -- blocks ----------------------------------------------------------------------------------

    def write_block(self, block: int, found: EvaluatedDesigns, seconds: float) -> BlockReport:
        """Write the chunks of a block, then its marker."""
        values: dict[str, Any] = {**found.columns, **found.measures}
        values |= {"status": found.status, "seed": found.seeds}
        checksums, size = {}, 0
        for array in self.arrays:
            content = array.encode(values[array.name])
            checksums[array.name] = hashlib.sha256(content).hexdigest()
            size += len(content)
            self.storage.write(array.chunk_key(block), content)
        failed = int((found.status == FAILED).sum())
        stopped = int((found.status == STOPPED).sum())
        first, facts = sorted(found.messages)[:MAX_MESSAGES], _worker_facts()
        marker = {
            "block": block,
            "designs": len(found),
            "failed": failed,
            "stopped": stopped,
            "seconds": round(seconds, 4),
            "messages": {str(found.start + place): found.messages[place] for place in first},
            "checksums": checksums,
            **facts,
        }
        content = json.dumps(marker, ensure_ascii=False).encode()
        self.storage.write(self.marker_key(block), content)
        worker, total = str(facts["worker"]), size + len(content)
        return BlockReport(block, len(found), failed, stopped, seconds, total, worker)

    def marker_key(self, block: int) -> str:
        """Return the key of a block's marker."""
        return f"{MARKERS}/{block}.json"

    def read_marker(self, block: int) -> dict[str, Any] | None:
        """Return the marker of a block; None if there is none, or a damaged one."""
        content = self.storage.read(self.marker_key(block))
        try:
            found = json.loads(content) if content else None
        except ValueError:
            return None
        whole = isinstance(found, dict) and found.get("block") == block and "checksums" in found
        return found if whole else None

    def marked_blocks(self) -> set[int]:
        """Return the blocks with a marker."""
        names = self.storage.list_names(MARKERS)
        numbers = {int(one[:-5]) for one in names if one.endswith(".json") and one[:-5].isdigit()}
        return {k for k in numbers if k < self.recipe.block_count}

    def read_block(self, block: int) -> dict[str, bytes] | None:
        """Return the chunks of a block; None unless they have the checksums of its marker."""
        marker, found = self.read_marker(block), dict[str, bytes]()
        for array in self.arrays if marker is not None else ():
            content = self.storage.read(array.chunk_key(block))
            wanted = marker["checksums"].get(array.name)  # type: ignore[index]
            if content is None or len(content) != array.chunk_bytes:
                return None
            if hashlib.sha256(content).hexdigest() != wanted:
                return None
            found[array.name] = content
        return None if marker is None else found

    def is_sound(self, block: int) -> bool:
        """Whether a block is there, and has the checksums of its marker."""
        return self.read_block(block) is not None

    def sound_blocks(self) -> set[int]:
        """Return the blocks that are there and undamaged; markers of others are removed."""
        sound = set()
        for block in sorted(self.marked_blocks()):
            if self.is_sound(block):
                sound.add(block)
            else:
                self.storage.remove(self.marker_key(block))
        return sound

    # -- results ---------------------------------------------------------------------------------

    def dataset(self) -> xarray.Dataset:
        """Return all results with names; designs that have not been made are NaN, status 0."""
        import xarray

        size = self.bytes_per_block * self.recipe.block_count
        if size > MAX_EAGER_BYTES:
            return self.lazy_dataset()
        columns = {one.name: np.full(one.shape, one.fill, one.kind) for one in self.arrays}
        done, damaged = set[int](), 0
        for block in self.marked_blocks():
            contents = self.read_block(block)
            if contents is None:
                damaged += 1
                continue
            done.add(block)
            start, stop = self.recipe.block_range(block)
            for array in self.arrays:
                columns[array.name][start:stop] = array.decode(contents[array.name], stop - start)
        if damaged:
            warnings.warn(_damage_text(self, damaged), DamagedStudyWarning, stacklevel=2)
        variables: dict[str, Any] = {
            one.name: (one.dimensions, columns[one.name], dict(one.attributes))
            for one in self.arrays
        }
        variables["message"] = ("design", _messages(self, done))
        coordinates = {
            f"{name}_time": (f"{name}_time", np.array(times), {"units": "s"})
            for name, times in self.recipe.histories.items()
        }
        data = xarray.Dataset(variables, coordinates, self.attributes)
        for one in self.recipe.factors:
            if one.has_text:
                levels = np.array([*one.levels, ""], dtype=object)
                data[one.name] = ("design", levels[data[one.name].to_numpy()], {"role": "factor"})
        return data

    def lazy_dataset(self) -> xarray.Dataset:
        """Return the results as xarray opens them from the Zarr store, without reading them."""
        import xarray

        if isinstance(self.storage, MemoryStorage):
            raise FileError("a study in memory is read as a whole", remedy="give it a store")
        try:
            found: xarray.Dataset = xarray.open_zarr(
                self.storage.address, chunks=None, consolidated=True
            )
        except (ImportError, ValueError) as error:
            raise MissingExtraError(
                f"opening large results needs zarr: {error}",
                remedy="install linkwright[studies]",
            ) from None
        return found

    def summary(self) -> dict[str, int]:
        """Return how many designs there are by status, from the markers."""
        counts = {"designs": 0, "failed": 0, "stopped": 0}
        for block in self.marked_blocks():
            marker = self.read_marker(block)
            for key in counts if marker is not None else ():
                counts[key] += int(marker[key])  # type: ignore[index]
        return {**counts, "count": self.recipe.count}


def _begin_study(storage: ObjectStorage, recipe: bytes) -> bytes:
    """Write the recipe of a study, and return it, or that of a process that was a little faster."""
    try:
        storage.write_new(RECIPE_KEY, recipe)
    except StorageFullError as error:  # there is nothing that could be resumed
        raise StorageFullError(
            error.what, where=error.where, remedy="free some, and begin again"
        ) from None
    return storage.read(RECIPE_KEY) or recipe


def worker_name() -> str:
    """Return the machine and the number of this process."""
    return f"{platform.node()}:{os.getpid()}"


def _worker_facts() -> dict[str, str | float]:
    """Return where and when a block was made, and by which version."""
    from .. import __version__

    return {
        "version": __version__,
        "worker": worker_name(),
        "time": round(time.time(), 1),
    }


def _messages(store: StudyStore, blocks: set[int]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    """Return why designs failed or stopped, empty for the others."""
    found = np.full(store.recipe.count, "", dtype=object)
    for block in blocks:
        marker = store.read_marker(block)
        for design, text in (marker or {}).get("messages", {}).items():
            found[int(design)] = text
    return found


def _damage_text(store: StudyStore, damaged: int) -> str:
    """Return the sentence on damaged blocks."""
    address, count = store.storage.address, store.recipe.block_count
    return (
        f"{address}: {damaged} of {count} blocks are damaged and count as not made; "
        f"'linkwright study resume {address}' makes them again"
    )


def _decode(content: bytes, storage: ObjectStorage) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise FileError("study.json is damaged", where=storage.address) from None
