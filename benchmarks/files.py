"""Robots of others: loaded, refused or wrong, file by file: `make bench`.

    python -m benchmarks.files [--every N] [--verbose]

All URDF and SDF files of example-robot-data, and all MJCF files of dm_control, gymnasium and
gymnasium-robotics that are whole models. "wrong" is a file that loads, and whose mass matrix,
inverse dynamics, actuators or keyframes differ from Pinocchio's (URDF) or MuJoCo's (MJCF) at a
random state. SDF files are only loaded here: tests/files/test_drake.py compares them with Drake.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

from benchmarks.file_agreement import mjcf_difference, urdf_difference

from linkwright.errors import LinkwrightError

TOLERANCE = 1e-8
"""Largest difference, relative to the largest torque or inertia."""
SOURCES = {
    "example-robot-data": (".urdf", ".sdf"),
    "dm_control": (".xml",),
    "gymnasium": (".xml",),
    "gymnasium-robotics": (".xml",),
}


class Verdict(NamedTuple):
    """What became of a file: loaded, refused or wrong, and why."""

    state: str
    reason: str = ""


def robot_files(package: str, endings: tuple[str, ...]) -> list[Path]:
    """Return the files of an installed package with these endings; [] if it is not installed."""
    try:
        found = files(package) or []
    except PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in found if str(file).endswith(endings))


def is_whole_model(path: Path) -> bool:
    """Return whether a file is a model by itself: parts that others include are not, nor what the
    peers refuse."""
    if path.suffix != ".xml":
        return True
    import mujoco

    try:
        return mujoco.MjModel.from_xml_path(str(path)).nbody > 1
    except ValueError:
        return False


def judge_file(path: Path) -> Verdict:
    """Return whether a file loads and agrees with the peer that reads it."""
    import linkwright as lw

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mechanism = lw.load(path)
        except LinkwrightError as error:
            return Verdict("refused", str(error).removeprefix(f"{path}: "))
        if path.suffix == ".sdf":
            return Verdict("loaded")
        difference = urdf_difference if path.suffix == ".urdf" else mjcf_difference
        found = difference(path, mechanism)
    worst = max(found, key=lambda key: found[key])
    if not found[worst] < TOLERANCE:
        return Verdict("wrong", f"{worst} differs by {found[worst]:.2g}")
    return Verdict("loaded")


def judge_all(every: int = 1) -> Iterator[tuple[str, Path, Verdict]]:
    """Yield package, file and verdict of every file, or of each N-th."""
    for package, endings in SOURCES.items():
        for path in robot_files(package, endings)[::every]:
            if is_whole_model(path):
                yield package, path, judge_file(path)


def main() -> None:
    """Print a line for each package, and the reasons of refusals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="each N-th file only")
    parser.add_argument("--verbose", action="store_true", help="a line for each file")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    reasons: list[str] = []
    for package, path, verdict in judge_all(options.every):
        counts[package, verdict.state] += 1
        name = "/".join(path.parts[-3:])
        if options.verbose or verdict.state != "loaded":
            reasons.append(f"{verdict.state:8}{name}: {verdict.reason}".rstrip(": "))
            print(reasons[-1], flush=True)
    print(f"{'':20}{'loaded':>8}{'refused':>9}{'wrong':>7}")
    for package in SOURCES:
        numbers = [counts[package, state] for state in ("loaded", "refused", "wrong")]
        print(f"{package:20}{numbers[0]:8}{numbers[1]:9}{numbers[2]:7}")


if __name__ == "__main__":
    main()
