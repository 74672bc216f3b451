"""Robots of others: loaded, refused or wrong, file by file: `make bench`.

    python -m benchmarks.files [--every N] [--verbose]

All URDF and SDF files of example-robot-data, and all MJCF files of dm_control, gymnasium and
gymnasium-robotics. "wrong" is a file that loads, and whose mass matrix,
inverse dynamics, actuators or keyframes differ from Pinocchio's (URDF) or MuJoCo's (MJCF) at a
random state. SDF files are only loaded here: tests/files/test_drake.py compares them with Drake.
"parts" are files that MuJoCo refuses alone or that have no bodies: others include them.
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

TOLERANCE = 1e-12
"""Largest difference, relative to the largest torque or inertia; rounding leaves about 1e-15."""
SOURCES = {
    "example-robot-data": (".urdf", ".sdf"),
    "dm_control": (".xml",),
    "gymnasium": (".xml",),
    "gymnasium-robotics": (".xml",),
}


STATES = ("loaded", "refused", "wrong", "parts")


class Verdict(NamedTuple):
    """What became of a file: loaded, refused or wrong, and why; or parts of other files. And how
    many actuators and keyframes were kept."""

    state: str
    reason: str = ""
    actuators: int = 0
    keyframes: int = 0


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
    return Verdict("loaded", "", len(mechanism.actuators), len(mechanism.poses))


def judge_all(every: int = 1) -> Iterator[tuple[str, Path, Verdict]]:
    """Yield package, file and verdict of every file, or of each N-th."""
    for package, endings in SOURCES.items():
        for path in robot_files(package, endings)[::every]:
            yield package, path, judge_file(path) if is_whole_model(path) else Verdict("parts")


def main() -> None:
    """Print a line for each package, and the reasons of refusals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="each N-th file only")
    parser.add_argument("--verbose", action="store_true", help="a line for each file")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for package, path, verdict in judge_all(options.every):
        counts[package, verdict.state] += 1
        counts[package, "actuators"] += verdict.actuators
        counts[package, "keyframes"] += verdict.keyframes
        if options.verbose or verdict.state in ("refused", "wrong"):
            name = "/".join(path.parts[-3:])
            print(f"{verdict.state:8}{name}: {verdict.reason}".rstrip(": "), flush=True)
    columns = (*STATES, "actuators", "keyframes")
    print(" " * 20 + "".join(f"{column:>11}" for column in columns))
    for package in SOURCES:
        print(f"{package:20}" + "".join(f"{counts[package, column]:11}" for column in columns))


if __name__ == "__main__":
    main()
