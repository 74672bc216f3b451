"""A file system as object stores are: flat keys, whole puts, no folders, no renaming, little space.

Its objects are files of one folder, `LINKWRIGHT_TEST_BUCKETS`, so that workers of other processes
reach them. They find the protocol `bucket://` as users' machines find `s3://`: an entry point.
"""

from __future__ import annotations

import errno
import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, NoReturn
from urllib.parse import quote, unquote

import fsspec
import pytest

from linkwright.studies import load_study, resume_study

from .study_processes import begin, check_same_bits

STORE = "bucket://lab/arm"
COUNT, BLOCK = 200, 10
FOLDER = "LINKWRIGHT_TEST_BUCKETS"
QUOTA = ".quota"


def refuse(*given: object, **options: object) -> NoReturn:
    """An object store has no such thing."""
    raise NotImplementedError


class BucketFileSystem(fsspec.AbstractFileSystem):
    """Objects by key; a put beyond the quota raises ENOSPC. Lists are kept, as s3fs keeps them."""

    protocol = "bucket"
    lists: ClassVar[dict[str, list[str]]] = {}
    mkdir = makedirs = mv = rename = cp_file = refuse

    @property
    def folder(self) -> Path:
        return Path(os.environ[FOLDER])

    def _object(self, path: str) -> Path:
        return self.folder / quote(self._strip_protocol(path).strip("/"), safe="")

    def keys(self) -> list[str]:
        return [unquote(one) for one in os.listdir(self.folder) if not one.startswith(".")]

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        if mode == "create" and self._object(path).exists():
            raise FileExistsError(path)
        quota = self.folder / QUOTA
        if quota.exists():
            with os.scandir(self.folder) as found:
                used = sum(one.stat().st_size for one in found if not one.name.startswith("."))
            if used + len(value) > int(quota.read_text()):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        part = self.folder / f".{uuid.uuid4().hex}"
        part.write_bytes(value)
        part.replace(self._object(path))

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **options: Any
    ) -> bytes:
        return self._object(path).read_bytes()[start:end]

    def rm_file(self, path: str) -> None:
        self._object(path).unlink()

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        key = self._strip_protocol(path).strip("/")
        if self._object(key).exists():
            return {"name": key, "size": self._object(key).stat().st_size, "type": "file"}
        if any(one.startswith(f"{key}/") for one in self.keys()):
            return {"name": key, "size": 0, "type": "directory"}
        raise FileNotFoundError(key)

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        head = self._strip_protocol(path).strip("/") + "/"
        if head not in self.lists:
            inside = {one[len(head) :].split("/")[0] for one in self.keys() if one.startswith(head)}
            self.lists[head] = sorted(head + one for one in inside)
        if not self.lists[head]:
            raise FileNotFoundError(head)
        return [self.info(one) for one in self.lists[head]] if detail else self.lists[head]

    def invalidate_cache(self, path: str | None = None) -> None:
        self.lists.clear()


@contextmanager
def open_buckets(folder: Path) -> Iterator[Path]:
    """Make the protocol known to this process and to all that it starts."""
    plugin, objects = folder / "plugin", folder / "objects"
    about = plugin / "linkwright_test_buckets-1.dist-info"
    about.mkdir(parents=True)
    objects.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: linkwright-test-buckets\n")
    place = "tests.studies.bucket_file_system:BucketFileSystem"
    (about / "entry_points.txt").write_text(f"[fsspec.specs]\nbucket = {place}\n")
    fsspec.register_implementation("bucket", BucketFileSystem, clobber=True)
    root = str(Path(__file__).parents[2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FOLDER, str(objects))
        patch.setenv("PYTHONPATH", os.pathsep.join([str(plugin), root, *sys.path]))
        patch.syspath_prepend(str(plugin))
        BucketFileSystem.lists.clear()
        yield objects


def size_of_objects(objects: Path) -> int:
    return sum(one.stat().st_size for one in objects.iterdir() if not one.name.startswith("."))


def fill_up(objects: Path) -> None:
    """Leave space for about half of the study."""
    begin(STORE, COUNT, BLOCK)
    whole = size_of_objects(objects)
    study = load_study(STORE).store
    for block in range(20):
        study.storage.remove(study.marker_key(block))
        for array in study.arrays:
            study.storage.remove(array.chunk_key(block))
    bare = size_of_objects(objects)
    assert 0 < bare < whole
    (objects / QUOTA).write_text(str((bare + whole) // 2))


def check_that_it_goes_on(objects: Path, cluster: str | None, workers: int) -> None:
    """What was written before the disk was full stays as it is, and the rest is made."""
    part = load_study(STORE)
    kept = part.store.sound_blocks()
    assert kept == part.store.marked_blocks()
    assert 5 <= len(kept) <= 12
    files = [objects / f"lab%2Farm%2Fblocks%2F{block}.json" for block in kept]
    before = [one.stat().st_mtime_ns for one in files]
    (objects / QUOTA).unlink()
    resume_study(STORE, workers=workers, cluster=cluster)
    assert [one.stat().st_mtime_ns for one in files] == before
    check_same_bits(STORE, COUNT)
