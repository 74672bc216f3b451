"""Run files are checked on loading: what is damaged is refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.simulation import Run, load_run
from tests.commands import run as command


@pytest.fixture(scope="module")
def swing() -> Run:
    return lw.simulate(lw.gallery("elbow"), 0.2, q0={"q1": 0.4}, samples=5)


def damaged(run: Run, path: Path, change: Callable[[xarray.Dataset], Any]) -> Path:
    data = run.data.copy(deep=True)
    data.attrs = dict(data.attrs)
    found = change(data)
    (data if found is None else found).to_netcdf(path, engine="scipy")
    return path


def setting(key: str, value: Any) -> Callable[[xarray.Dataset], Any]:
    def change(data: xarray.Dataset) -> None:
        data.attrs["settings"] = json.dumps(json.loads(data.attrs["settings"]) | {key: value})

    return change


def attribute(key: str, value: Any) -> Callable[[xarray.Dataset], Any]:
    return lambda data: data.attrs.__setitem__(key, value)


def entry(key: str, value: float) -> Callable[[xarray.Dataset], Any]:
    return lambda data: data[key].values.__setitem__((1, ...), value)


OTHER = lw.gallery("triple-pendulum")

DAMAGES: dict[str, tuple[Callable[[xarray.Dataset], Any], str]] = {
    "another mechanism": (
        lambda data: data.attrs.update(mechanism=_toml(OTHER)), "not the one of its digest"),
    "mechanism and digest of another": (
        lambda data: data.attrs.update(mechanism=_toml(OTHER), digest=OTHER.digest), "names"),
    "a digest": (attribute("digest", "0" * 64), "digest"),
    "a number for the digest": (attribute("digest", 3), "digest"),
    "a file for the mechanism": (attribute("mechanism", "FILE"), "mechanism cannot be read"),
    "NaN": (entry("q", np.nan), "'q' has entries that are not finite"),
    "infinite speeds": (entry("qd", np.inf), "'qd' has entries that are not finite"),
    "energies": (entry("kinetic_energy", np.nan), "kinetic_energy"),
    "time reversed": (lambda data: data.isel(time=slice(None, None, -1)), "times do not increase"),
    "one coordinate": (lambda data: data.isel(coordinate=[0]), "coordinate names"),
    "no speeds": (lambda data: data.drop_vars("qd"), "no 'qd'"),
    "coordinates of other names": (
        lambda data: data.assign_coords(coordinate=["a", "b"]), "coordinate names"),
    "whole numbers": (lambda data: data.assign(work=data["work"].astype("int32")), "'work' holds"),
    "text for numbers": (
        lambda data: data.assign(work=("time", np.array(["x"] * data.sizes["time"]))), "'work' holds"),
    "events": (attribute("events", "[[1, 2]]"), "events"),
    "events in a table": (attribute("events", "{}"), "events"),
    "no JSON": (attribute("settings", "{"), "settings"),
    "NaN in statistics": (attribute("statistics", '{"steps": NaN}'), "statistics"),
    "singular texts": (attribute("singular", '["x"]'), "singular time"),
    "deep JSON": (attribute("versions", "[" * 100_000), "versions"),
    "no status": (lambda data: data.attrs.pop("status") and None, "status"),
    "an unknown setting": (setting("colour", 1), "unknown setting 'colour'"),
    "a text for a number": (setting("rtol", "small"), "setting 'rtol'"),
    "a folder that follows": (attribute("next", "../run.nc"), "'next'"),
    "a number that follows": (attribute("next", 3), "'next'"),
    "itself that follows": (attribute("next", "run.nc"), "follows itself"),
}  # fmt: skip


def _toml(mechanism: lw.Mechanism) -> str:
    from linkwright.writers import write_mechanism_text

    return write_mechanism_text(mechanism, "toml")[0]


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_run_file_is_refused_in_a_sentence(
    damage: str, swing: Run, tmp_path: Path
) -> None:
    change, message = DAMAGES[damage]
    path = damaged(swing, tmp_path / "run.nc", change)
    with pytest.raises(LinkwrightError, match="is not a run: ") as error:
        load_run(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_whole_run_file_is_taken(swing: Run, tmp_path: Path) -> None:
    swing.save(tmp_path / "run.nc")
    found = load_run(tmp_path / "run.nc")
    np.testing.assert_array_equal(found.q, swing.q)
    assert found.mechanism.digest == swing.mechanism.digest


def test_the_mechanism_of_a_run_names_no_other_file(swing: Run, tmp_path: Path) -> None:
    other = tmp_path / "secret.toml"
    other.write_text(_toml(swing.mechanism))
    path = damaged(swing, tmp_path / "run.nc", attribute("mechanism", str(other)))
    with pytest.raises(LinkwrightError, match="mechanism cannot be read"):
        load_run(path)


def test_files_that_follow_each_other_in_a_circle_end(swing: Run, tmp_path: Path) -> None:
    damaged(swing, tmp_path / "a.nc", attribute("next", "b.nc"))
    damaged(swing, tmp_path / "b.nc", attribute("next", "a.nc"))
    with pytest.raises(LinkwrightError, match=r"'a.nc' follows itself"):
        load_run(tmp_path / "a.nc")


@pytest.mark.parametrize("seed", range(40))
def test_no_damaged_bytes_end_in_a_traceback(seed: int, swing: Run, tmp_path: Path) -> None:
    file = tmp_path / "run.nc"
    swing.save(file)
    data, random = bytearray(file.read_bytes()), np.random.default_rng(seed)
    for _ in range(random.integers(1, 20)):
        data[random.integers(0, min(len(data), 4000))] = random.integers(0, 256)
    file.write_bytes(data[: random.integers(0, len(data))] if seed % 4 == 0 else data)
    with suppress(LinkwrightError):
        load_run(file)


@pytest.mark.parametrize("samples", [10**12, 10**30])
def test_more_samples_than_memory_holds_are_refused(samples: int) -> None:
    with pytest.raises(LinkwrightError, match="samples cannot be 1"):
        lw.simulate(lw.gallery("elbow"), 1.0, samples=samples)


def test_the_command_says_what_is_wrong_with_a_run(swing: Run, tmp_path: Path) -> None:
    path = damaged(swing, tmp_path / "run.nc", setting("samples", 10**12))
    done = command("simulate", "--repeat", str(path))
    assert done.returncode == 2
    assert "samples cannot be 1000000000000" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_that_was_cut_off_is_called_damaged(tmp_path: Path) -> None:
    """The sentence is ours, not that of the reader of arrays."""
    path = tmp_path / "run.nc"
    lw.simulate(lw.gallery("elbow"), 0.1, samples=3).save(path)
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(LinkwrightError, match="is not a run: its bytes are damaged"):
        lw.load_run(path)
