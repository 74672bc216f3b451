"""Stores that are not plain folders: object stores, file://, memory://, all of them full at times."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray

import linkwright as lw
from linkwright.errors import FileError
from linkwright.studies import load_study, resume_study
from linkwright.studies.object_storage import FolderStorage, StorageFullError, open_storage

from .bucket_file_system import (
    BLOCK,
    COUNT,
    QUOTA,
    STORE,
    BucketFileSystem,
    check_that_it_goes_on,
    fill_up,
    open_buckets,
)
from .study_processes import begin, check_same, check_same_bits, linkwright


@pytest.fixture
def objects(tmp_path: Path) -> Iterator[Path]:
    with open_buckets(tmp_path) as found:
        yield found


def test_an_object_store_has_the_bits_of_a_folder(objects: Path) -> None:
    """It has no folders and no names to change; every write is one put."""
    begin(STORE, COUNT, BLOCK)
    found = check_same_bits(STORE, COUNT)
    opened = xarray.open_zarr(STORE, consolidated=True)
    np.testing.assert_array_equal(opened["peak"], found.data["peak"])
    for key in ("peak%2Fc%2F3", "blocks%2F5.json"):
        (objects / f"lab%2Farm%2F{key}").write_bytes(b"damage")
    (objects / "lab%2Farm%2Fblocks%2F7.json").unlink()
    assert found.store.marked_blocks() == set(range(20)) - {7}
    assert found.store.sound_blocks() == set(range(20)) - {3, 5, 7}
    resume_study(STORE)
    check_same_bits(STORE, COUNT)
    with pytest.raises(FileError, match="another mechanism"):
        resume_study(STORE, lw.gallery("four-bar"))


def test_a_full_store_stops_this_process(objects: Path) -> None:
    fill_up(objects)
    with pytest.raises(StorageFullError, match=r"arm: no space is left; free some; .* continues"):
        resume_study(STORE)
    check_that_it_goes_on(objects, None, 1)


@pytest.mark.slow
def test_a_full_store_stops_local_workers_with_one_sentence(objects: Path) -> None:
    fill_up(objects)
    words = ("study", "resume", STORE, "--workers", "2", "--cluster", "processes")
    with linkwright(*words) as process:
        out, said = process.communicate(timeout=200)
    assert process.returncode == 2
    assert out == ""
    assert said == (
        "linkwright: bucket://lab/arm: no space is left; free some; all finished blocks are kept, "
        "and 'linkwright study resume bucket://lab/arm' continues\n"
    )
    check_that_it_goes_on(objects, "processes", 2)


def test_no_space_at_the_beginning_is_a_sentence(objects: Path) -> None:
    (objects / QUOTA).write_text("10")
    with pytest.raises(StorageFullError, match="no space is left; free some, and begin again"):
        begin(STORE, COUNT, BLOCK)
    (objects / QUOTA).unlink()
    begin(STORE, COUNT, BLOCK)
    check_same_bits(STORE, COUNT)


@pytest.mark.parametrize("cluster", ["processes", "local", "tcp://127.0.0.1:9"])
@pytest.mark.parametrize("store", [None, "memory://arm", "simplecache::memory://arm"])
def test_workers_refuse_a_store_that_ends_with_its_process(cluster: str, store: str | None) -> None:
    with pytest.raises(
        lw.LinkwrightError, match=r"results in \S*memory\S* end with their process; give"
    ):
        begin(store, 20, 10, workers=2, cluster=cluster)  # type: ignore[arg-type]


@pytest.mark.parametrize("place", ["folder", STORE, "memory://two-begin"])
def test_two_processes_that_begin_a_study_have_the_same_blocks(
    objects: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The second begins, with other blocks, while the first one believes that nothing is there."""
    store = str(tmp_path / place) if place == "folder" else place
    kind = type(open_storage(store))
    look, others = kind.list_names, [lambda: begin(store, 40, 7)]

    def look_and_be_late(self: object, folder: str) -> list[str]:
        found: list[str] = look(self, folder)  # type: ignore[arg-type]
        if folder == "." and others:
            others.pop()()
        return found

    monkeypatch.setattr(kind, "list_names", look_and_be_late)
    assert begin(store, 40, 10).recipe.block == 7
    assert not others
    check_same_bits(store, 40)


def test_a_place_that_cannot_be_read_is_not_an_empty_one(
    objects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No design fails because of it, whatever error the package of the place has of its own."""

    class PlaceError(Exception):
        pass

    def refuse(*given: object, **options: object) -> None:
        raise PlaceError("403\nForbidden")

    begin(STORE, COUNT, BLOCK)
    (objects / "lab%2Farm%2Fblocks%2F7.json").unlink()
    for call in ("ls", "cat_file", "pipe_file"):
        with monkeypatch.context() as patch:
            patch.setattr(BucketFileSystem, call, refuse)
            what = "written" if call == "pipe_file" else "read"
            with pytest.raises(FileError, match=f"^{STORE}: cannot be {what}: 403 Forbidden$"):
                resume_study(STORE)
    assert len(load_study(STORE).store.sound_blocks()) == COUNT // BLOCK - 1
    resume_study(STORE)
    check_same_bits(STORE, COUNT)


def test_memory_of_fsspec_serves_this_process() -> None:
    begin("memory://arm-of-this-process", 20, 10)
    check_same_bits("memory://arm-of-this-process", 20)


def test_files_by_address_are_written_as_those_of_a_folder(tmp_path: Path) -> None:
    """A reader sees an object whole, however often others write it."""
    storage = open_storage((tmp_path / "a").as_uri())
    assert storage == FolderStorage(tmp_path / "a")
    content, end = bytes(range(256)) * 8192, threading.Event()

    def write() -> None:
        while not end.is_set():
            storage.write("peak/c/0", content)

    writers = [threading.Thread(target=write, daemon=True) for _ in range(2)]
    storage.write("peak/c/0", content)
    for one in writers:
        one.start()
    lengths = {len(storage.read("peak/c/0") or b"") for _ in range(200)}
    end.set()
    for one in writers:
        one.join()
    assert lengths == {len(content)}
    assert [one.name for one in (tmp_path / "a/peak/c").iterdir()] == ["0"]


def test_a_study_by_the_address_of_a_file(tmp_path: Path) -> None:
    address = (tmp_path / "a").as_uri()
    begin(address, 20, 10)
    check_same(tmp_path / "a", 20)
    assert json.loads((tmp_path / "a/blocks/0.json").read_text())["designs"] == 10
    (tmp_path / "b").write_text("mine")
    with pytest.raises(FileError, match="is not a folder"):
        load_study((tmp_path / "b").as_uri())
