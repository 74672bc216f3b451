"""The store: a Zarr group that others read, whole blocks or none, no other study on top."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import linkwright as lw
from linkwright.errors import DamagedStudyWarning, FileError, LinkwrightError, MissingExtraError
from linkwright.studies import design_evaluation, load_study, resume_study
from linkwright.studies.object_storage import StorageFullError

from . import study_functions
from .study_functions import FullFileSystem

ELBOW = lw.gallery("elbow")
ARGUMENTS: dict[str, Any] = {
    "vary": {"m2": (0.5, 1.5), "by": ["recursive", "lagrange"]},
    "measure": {"peak": "max(abs(dq1))", "path": "q1", "pair": "linearize.frequencies"},
    "linearize": {"q": {"q1": -np.pi / 2}},
    "count": 8,
    "design": "sobol",
    "t": 0.1,
    "samples": 5,
    "block": 3,
}


def same(one: xarray.Dataset, other: xarray.Dataset) -> bool:
    return all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")
        for name in one
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store") / "arm"
    lw.study(ELBOW, store=folder, **ARGUMENTS)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "arm"))


def test_the_store_is_a_zarr_group_that_xarray_and_zarr_open(made: Path) -> None:
    import zarr

    ours = load_study(made).data
    theirs = xarray.open_zarr(made)
    assert theirs["peak"].dims == ("design",)
    assert theirs["path"].dims == ("design", "path_time")
    assert theirs["path_time"].to_numpy().tolist() == np.linspace(0, 0.1, 5).tolist()
    for name in ("m2", "peak", "path", "pair", "status", "seed"):
        np.testing.assert_array_equal(theirs[name], ours[name])
    levels = np.array(theirs["by"].attrs["levels"])[theirs["by"].to_numpy()]
    assert levels.tolist() == ours["by"].to_numpy().tolist()
    group = zarr.open_group(made, mode="r")
    np.testing.assert_array_equal(group["peak"][:], ours["peak"])
    assert theirs.attrs["mechanism_digest"] == ELBOW.digest


def test_a_study_in_memory_is_that_of_a_store(made: Path) -> None:
    assert same(lw.study(ELBOW, **ARGUMENTS).data, load_study(made).data)


def test_the_size_of_blocks_changes_no_bit(made: Path) -> None:
    whole = lw.study(ELBOW, **{**ARGUMENTS, "block": 8})
    assert same(whole.data, load_study(made).data)


def test_lanes_at_once_are_bounded_and_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"count": 40, "t": 0.1, "samples": 5, "block": 40}
    vary = {"m2": (0.5, 1.5), "q0.q1": (0.0, 1.0)}
    measure = {"peak": "max(abs(dq1))", "path": "q1", "twice": study_functions.fail_beyond}
    whole = lw.study(ELBOW, vary, measure, **given)
    assert (whole.data["status"] == design_evaluation.FAILED).any()
    widths: list[int] = []
    original = design_evaluation.simulate_runs

    def spy(*arguments: Any, **options: Any) -> xarray.Dataset:
        widths.append(len(arguments[3]["m2"]))
        return original(*arguments, **options)

    monkeypatch.setattr(design_evaluation, "simulate_runs", spy)
    monkeypatch.setattr(design_evaluation, "MAX_LANE_SAMPLES", 35)
    monkeypatch.setattr(design_evaluation, "MIN_LANES", 1)
    found = design_evaluation.evaluate_designs(
        whole.recipe, {"twice": study_functions.fail_beyond}, 0, 40, threads=1
    )
    assert widths == [7, 7, 7, 7, 7, 5]
    for name in measure:
        np.testing.assert_array_equal(found.measures[name], whole.data[name])
    np.testing.assert_array_equal(found.status, whole.data["status"])
    said = [found.messages.get(k, "") for k in range(40)]
    assert said == whole.data["message"].to_numpy().tolist()


def test_motions_are_released_without_the_garbage_collector() -> None:
    """A block of 40,000 designs kept the histories of all its slices: 800 MB."""
    import gc

    measure = {"peak": "max(abs(dq1))", "loss": "energy[-1] - energy[0]", "height": "max(tool.y)"}
    recipe = lw.study(ELBOW, {"m2": [1.0, 2.0]}, measure, t=0.1, samples=11).recipe
    kinds = ("EnsembleResults", "EnsembleSource", "TrajectoryRecords", "_GroupEvaluation")

    def count_kept() -> int:
        return sum(type(one).__name__ in kinds for one in gc.get_objects())

    gc.collect()
    before = count_kept()
    gc.disable()
    try:
        design_evaluation.evaluate_designs(recipe, {}, 0, 2)
        kept = count_kept()
    finally:
        gc.enable()
    assert kept == before


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["peak/c/1", "path/c/0/0", "status/c/2", "blocks/1.json"])
@pytest.mark.parametrize("how", ["removed", "cut", "changed"])
def test_damaged_blocks_are_found_and_made_again(
    made: Path, folder: Path, damage: str, how: str
) -> None:
    target = folder / damage
    content = target.read_bytes()
    if how == "removed":
        target.unlink()
    else:
        target.write_bytes(content[:-3] if how == "cut" else bytes([content[0] ^ 1]) + content[1:])
    if not damage.startswith("blocks"):
        with pytest.warns(DamagedStudyWarning, match="1 of 3 blocks are damaged and count as not"):
            data = load_study(folder).data
        block = int(damage.split("/c/")[1][0])
        wanted = [int(k // 3 != block) for k in range(8)]
        assert data["status"].to_numpy().tolist() == wanted
        assert np.isfinite(data["peak"]).to_numpy().astype(int).tolist() == wanted
        assert not load_study(folder).is_complete
    found = resume_study(folder)
    assert found.is_complete
    assert same(found.data, load_study(made).data)
    assert target.read_bytes()[:100] == content[:100] or damage.startswith("blocks")


def test_a_study_that_was_only_begun_goes_on(made: Path, folder: Path) -> None:
    for name in ("zarr.json", "blocks/0.json", "blocks/2.json", "seed/c/0"):
        (folder / name).unlink()
    before = (folder / "blocks/1.json").stat().st_mtime_ns
    assert not load_study(folder).is_complete
    assert np.isnan(load_study(folder).data["peak"][0])
    found = lw.study(ELBOW, store=folder, **{**ARGUMENTS, "block": None})
    assert same(found.data, load_study(made).data)
    assert (folder / "blocks/1.json").stat().st_mtime_ns == before, "a sound block was made again"
    assert xarray.open_zarr(folder)["peak"].notnull().all()


def test_another_study_is_refused(folder: Path) -> None:
    with pytest.raises(FileError, match="holds a study with another mechanism"):
        lw.study(ELBOW.with_parameters(m1=3.0), store=folder, **ARGUMENTS)
    with pytest.raises(FileError, match="the study is one of another mechanism"):
        resume_study(folder, ELBOW.with_parameters(m1=3.0))
    with pytest.raises(FileError, match="holds a study with other settings"):
        lw.study(ELBOW, store=folder, **{**ARGUMENTS, "t": 0.2})
    with pytest.raises(FileError, match="holds a study with other sampling"):
        lw.study(ELBOW, store=folder, **{**ARGUMENTS, "seed": 1})
    resume_study(folder, ELBOW)


def test_changed_recipes_and_other_folders_are_refused(folder: Path, tmp_path: Path) -> None:
    text = (folder / "study.json").read_text()
    (folder / "study.json").write_text(text.replace("m1 = 1", "m1 = 2"))
    with pytest.raises(FileError, match="is not the one of its digest"):
        resume_study(folder)
    (folder / "study.json").write_text(text[:-40])
    with pytest.raises(FileError, match=r"study\.json is damaged"):
        resume_study(folder)
    data = json.loads(text)
    (folder / "study.json").write_text(json.dumps({**data, "block": -3}))
    with pytest.raises(FileError, match=r"study\.json is damaged"):
        load_study(folder)
    (folder / "study.json").write_text(json.dumps({**data, "format": 7}))
    with pytest.raises(FileError, match="the study has format 7"):
        load_study(folder)
    with pytest.raises(FileError, match="holds no study"):
        load_study(tmp_path)
    (tmp_path / "other.txt").write_text("mine")
    with pytest.raises(FileError, match="has other files"):
        lw.study(ELBOW, store=tmp_path, **ARGUMENTS)
    with pytest.raises(FileError, match="is not a folder"):
        load_study(tmp_path / "other.txt")


def test_every_change_of_a_recipe_is_noticed(folder: Path) -> None:
    """A tolerance, a seed or a level of a factor that changes would mix two studies in one store."""
    text = (folder / "study.json").read_text()
    for old, new in (('"t": 0.1', '"t": 0.3'), ("1e-09", "1e-06"), ("1.5", "1.7")):
        (folder / "study.json").write_text(text.replace(old, new, 1))
        with pytest.raises(FileError, match=r"study\.json was changed after the study began"):
            resume_study(folder)
    data = json.loads(text)
    del data["checksum"]  # as older versions wrote it
    (folder / "study.json").write_text(json.dumps(data))
    assert resume_study(folder).is_complete


def test_a_resume_repairs_what_other_readers_need(made: Path, folder: Path) -> None:
    """Linkwright itself needs only the recipe; xarray reads metadata and times of histories."""
    kept = {name: (folder / name).read_bytes() for name in METADATA}
    for name in METADATA:
        (folder / name).write_bytes(bytes([kept[name][0] ^ 4]) + kept[name][1:])
    assert resume_study(folder).is_complete
    assert {name: (folder / name).read_bytes() for name in METADATA} == kept
    assert xarray.open_zarr(folder).identical(xarray.open_zarr(made))


METADATA = ("zarr.json", "peak/zarr.json", "path_time/c/0")


def test_functions_must_be_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {"t": 0.05, "samples": 3, "block": 1, "store": tmp_path / "a"}
    lw.study(ELBOW, {"m2": [1.0, 1.2]}, {"twice": study_functions.fail_beyond}, **given)
    (tmp_path / "a/blocks/1.json").unlink()
    assert resume_study(tmp_path / "a").is_complete
    monkeypatch.setattr(study_functions, "fail_beyond", lambda factors: 0.0)
    with pytest.raises(LinkwrightError, match="has changed since the study began"):
        resume_study(tmp_path / "a")
    local = {"own": lambda factors: factors["m2"] ** 2}
    given["store"] = tmp_path / "b"
    found = lw.study(ELBOW, {"m2": [1.0, 1.2]}, local, **given)
    np.testing.assert_allclose(found.data["own"], [1, 1.44])
    with pytest.raises(LinkwrightError, match=r"call lw\.study again with the function"):
        resume_study(tmp_path / "b")
    assert resume_study(tmp_path / "b", measure=local).is_complete
    with pytest.raises(LinkwrightError, match="workers cannot import the function"):
        lw.study(ELBOW, {"m2": [1.0, 1.2]}, local, **{**given, "store": tmp_path / "c"}, workers=2)


def test_a_full_disk_is_a_sentence_and_the_study_goes_on(made: Path) -> None:
    FullFileSystem.store.clear()
    whole = sum(one.stat().st_size for one in made.rglob("*") if one.is_file())
    last = sum(one.stat().st_size for one in made.rglob("*") if one.name in ("2", "2.json"))
    FullFileSystem.bytes_left = whole - last  # the last block finds no space
    with pytest.raises(StorageFullError, match=r"no space is left.*linkwright study resume"):
        lw.study(ELBOW, store="full://disk/arm", **ARGUMENTS)
    part = load_study("full://disk/arm")
    assert not part.is_complete
    sound = part.store.sound_blocks()
    assert sound == part.store.marked_blocks()
    FullFileSystem.bytes_left = 10**9
    found = resume_study("full://disk/arm")
    assert same(found.data, load_study(made).data)


def test_a_full_disk_leaves_no_half_written_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(self: Path, content: bytes) -> int:
        if self.name.startswith(".1") or ("/c/" in str(self) and len(content) > 8):
            self.touch()
            raise OSError(errno.ENOSPC, "No space left on device")
        with self.open("wb") as file:
            return file.write(content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(StorageFullError, match="no space is left"):
            lw.study(ELBOW, store=tmp_path / "a", **ARGUMENTS)
    assert not [one for one in (tmp_path / "a").rglob("*") if one.name.endswith(".part")]
    assert resume_study(tmp_path / "a").is_complete


def test_packages_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch, made: Path, tmp_path: Path
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingExtraError, match=r"install linkwright\[studies\]"):
        load_study("s3://bucket/arm")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"install linkwright\[cluster\]"):
        lw.study(ELBOW, store=tmp_path / "a", **ARGUMENTS, cluster="tcp://nowhere:1")
    monkeypatch.setitem(sys.modules, "sklearn.gaussian_process", None)
    with pytest.raises(MissingExtraError, match=r"install linkwright\[studies\]"):
        load_study(made).surface("peak")


def test_tables_of_designs_are_read_from_csv(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("m2,q0.q1,by\n1,30 deg,kane\n2 kg,0.1,lagrange\n\n")
    found = lw.study(ELBOW, tmp_path / "d.csv", {"first": "q1[0]"}, t=0.05, samples=3)
    np.testing.assert_allclose(found.data["first"], [np.pi / 6, 0.1])
    assert found.data["by"].to_numpy().tolist() == ["kane", "lagrange"]
    (tmp_path / "d.csv").write_text("m2,m2\n1,2\n")
    with pytest.raises(FileError, match="has two columns 'm2'"):
        lw.study(ELBOW, tmp_path / "d.csv", {"first": "q1[0]"})
    (tmp_path / "d.csv").write_text("m2\n1,2\n")
    with pytest.raises(FileError, match="row 2 has 2 values, its head has 1"):
        lw.study(ELBOW, tmp_path / "d.csv", {"first": "q1[0]"})
    with pytest.raises(FileError, match="cannot be read: No such file"):
        lw.study(ELBOW, tmp_path / "e.csv", {"first": "q1[0]"})
    (tmp_path / "d.csv").write_text(",m2\n0,2\n")
    with pytest.raises(FileError, match="column 1 has no name; remove it"):
        lw.study(ELBOW, tmp_path / "d.csv", {"first": "q1[0]"})


@pytest.mark.parametrize("kind", ["table", "columns", "parquet", "semicolons", "tabs"])
def test_tables_of_designs_are_read_from_pandas(kind: str, tmp_path: Path) -> None:
    import pandas

    table = pandas.DataFrame({"m2": [1.5, 2.0], "q0.q1": [0.1, 0.2], "by": ["kane", "lagrange"]})
    given: Any = table
    if kind == "columns":
        given = {name: table[name] for name in table}
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(given := tmp_path / "d.parquet")
    elif kind != "table":
        separator = ";" if kind == "semicolons" else "\t"
        table.to_csv(given := str(tmp_path / "d.csv"), sep=separator, index=False)
    design = "list" if kind == "columns" else None
    found = lw.study(ELBOW, given, {"first": "q1[0]"}, design=design, t=0.05, samples=3).data
    for name in table:
        assert found[name].to_numpy().tolist() == table[name].tolist()
    np.testing.assert_allclose(found["first"], [0.1, 0.2])


def test_tables_that_are_none_get_a_sentence(tmp_path: Path) -> None:
    import pandas

    pytest.importorskip("pyarrow")
    (tmp_path / "d.parquet").write_bytes(b"no table")
    with pytest.raises(FileError, match="cannot be read: it is not a table"):
        lw.study(ELBOW, tmp_path / "d.parquet", {"first": "q1[0]"})
    twice = pandas.DataFrame([[1.0, 2.0]], columns=["m2", "m2"])
    with pytest.raises(FileError, match="vary: has two columns 'm2'"):
        lw.study(ELBOW, twice, {"first": "q1[0]"})
