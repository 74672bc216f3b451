"""The cache of compiled code: a hit compiles nothing, and nothing bad ever comes out of it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.readings.llvm import code_cache
from linkwright.readings.llvm.target import generic_x86_target

PROGRAM = """
import sys
import linkwright as lw
model = lw.compile(lw.gallery("elbow"), parameters=["m2"])
p = model.nominal_parameters
tau = model.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6], p)
tool = model.placement("tool")([0.1, 0.2], p)
print(tau.tolist(), tool.tolist(), model.inertial_parameters.tolist(), model.neutral().tolist())
print(sorted({"casadi", "llvmlite"} & set(sys.modules)))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(place))
    return place


def run_program() -> list[str]:
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def torque(**options: object) -> np.ndarray:
    """By a model that dies at once, so that the next one asks the cache again."""
    model = lw.compile(lw.gallery("elbow"), **options)  # type: ignore[arg-type]
    return model.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])


def test_the_second_start_derives_and_compiles_nothing(folder: Path) -> None:
    first, second = run_program(), run_program()
    assert first[0] == second[0], "the same numbers, bit for bit"
    assert first[1] == "['casadi', 'llvmlite']"
    assert second[1] == "[]"


def test_only_the_owner_may_enter(folder: Path) -> None:
    torque()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    entries = list(folder.iterdir())
    assert entries
    assert all(stat.S_IMODE(entry.stat().st_mode) == 0o600 for entry in entries)


def test_a_folder_open_to_others_is_not_used(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    torque()
    assert not list(folder.iterdir())


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "swap"])
def test_a_damaged_entry_counts_as_none(folder: Path, damage: str) -> None:
    wanted = torque()
    entries = sorted(folder.iterdir())
    contents = [entry.read_bytes() for entry in entries]
    for k, (entry, content) in enumerate(zip(entries, contents, strict=True)):
        middle = len(content) // 2
        changed = {
            "cut": content[:middle],
            "flip": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
            "empty": b"",
            "swap": contents[k - 1],
        }[damage]
        entry.write_bytes(changed)
    np.testing.assert_array_equal(torque(), wanted)
    assert [entry.read_bytes() for entry in entries] == contents, "and is written anew"


def test_keys_tell_everything_apart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torque()
    count = len(list(folder.iterdir()))
    torque()
    assert len(list(folder.iterdir())) == count
    torque(target=generic_x86_target("sse2"))
    count, before = len(list(folder.iterdir())), count
    assert count == before + 2, "another target is other code, of its own and shared; same facts"
    other = lw.compile(lw.gallery("elbow").with_parameters(m1=2))
    assert not np.array_equal(other.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]), torque())
    for name in ("_code_generator_sources_hash", "_compiler_versions", "cpu_identity"):
        count = len(list(folder.iterdir()))
        monkeypatch.setattr(code_cache, name, lambda name=name: f"another {name}")
        torque()
        assert len(list(folder.iterdir())) > count, f"{name} is part of the key"


def test_equations_that_were_handed_in_are_known_by_their_tape(folder: Path) -> None:
    eqs = lw.derive(lw.gallery("elbow"), parameters="numeric")
    state = [0.1, 0.2], [0.3, 0.4], [0.5, 0.6]
    first = lw.compile(eqs).inverse_dynamics(*state)
    count = len(list(folder.iterdir()))
    np.testing.assert_array_equal(lw.compile(eqs).inverse_dynamics(*state), first)
    assert len(list(folder.iterdir())) == count == 2, "its code, and what all functions share"


def test_a_bad_mechanism_is_refused_whatever_is_stored(folder: Path) -> None:
    torque()
    with pytest.raises(lw.LinkwrightError, match="is not a parameter"):
        lw.compile(lw.gallery("elbow"), parameters=["nothing"])


def test_writers_at_the_same_time(folder: Path) -> None:
    content = os.urandom(100_000)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(
            lambda _: (
                code_cache.write_code_cache_entry("a", content),
                code_cache.read_code_cache_entry("a"),
            )[1],
            range(64),
        ):
            assert found == content
    assert [entry.name for entry in folder.iterdir()] == ["a.lwc"], "nothing is left behind"


def test_the_longest_unused_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "MAX_CACHE_BYTES", 3000)
    for k, name in enumerate("abc"):
        code_cache.write_code_cache_entry(name, bytes(900))
        os.utime(folder / f"{name}.lwc", (k, k))
    code_cache.read_code_cache_entry("a")
    code_cache.write_code_cache_entry("d", bytes(900))
    assert {entry.name[0] for entry in folder.iterdir()} == {"a", "c", "d"}


def test_a_place_that_cannot_be_written_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKWRIGHT_CACHE", "/proc/nothing/here")
    torque()
    monkeypatch.setenv("LINKWRIGHT_CACHE", "off")
    torque()


def test_the_files_of_others_are_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "MAX_CACHE_BYTES", 1000)
    folder.mkdir(mode=0o700)
    (folder / "thesis.tex").write_bytes(bytes(5000))
    for name in "ab":
        code_cache.write_code_cache_entry(name, bytes(900))
    assert {entry.name for entry in folder.iterdir()} == {"thesis.tex", "b.lwc"}


def test_a_cache_that_only_can_be_read_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code_cache.write_code_cache_entry("a", b"code")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    assert code_cache.read_code_cache_entry("a") == b"code"


def test_without_sources_to_tell_versions_apart_nothing_is_stored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_cache, "_code_generator_sources_hash", lambda: "")
    code_cache.write_code_cache_entry("a", b"code")
    assert not folder.exists()
