"""Robots of others: loaded, refused or wrong, file by file: `make bench`.

    python -m benchmarks.files [--every N] [--folder DIR …]

All URDF and SDF files of example-robot-data, and all MJCF files of dm_control, gymnasium and
gymnasium-robotics; or those of folders, such as a clone of MuJoCo Menagerie. "wrong" is a file that
loads, and whose mass matrix, inverse dynamics, actuators or keyframes differ from Pinocchio's
(URDF) or MuJoCo's (MJCF) at a random state. A refused file is read again with `ignore=`, as its
refusal proposes, until it loads. SDF files are only loaded here: tests/files/test_drake.py
compares them with Drake. "parts" are files that MuJoCo refuses alone or that have no
bodies: others include them.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import NamedTuple

from benchmarks.file_agreement import lost_actuators, mjcf_difference, urdf_difference

from linkwright.errors import LinkwrightError

TOLERANCE = 1e-12
"""Largest difference, relative to the largest torque or inertia; rounding leaves about 1e-15."""
SOURCES = {
    "example-robot-data": (".urdf", ".sdf"),
    "dm_control": (".xml",),
    "gymnasium": (".xml",),
    "gymnasium-robotics": (".xml",),
}
ENDINGS = (".urdf", ".sdf", ".xml")

STATES = ("loaded", "refused", "wrong", "parts")
MAX_IGNORED = 6


class Verdict(NamedTuple):
    """What became of a file: loaded, refused or wrong, and why; or parts of other files. And how
    many actuators and keyframes were kept."""

    state: str
    reason: str = ""
    actuators: int = 0
    keyframes: int = 0
    lost: int = 0


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
        return bool(mujoco.MjModel.from_xml_path(str(path)).nbody > 1)
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
            reason = str(error).removeprefix(f"{path}: ")
            return Verdict("refused", f"{reason} [{_way_out(path, reason)}]")
        lost = lost_actuators(mechanism)
        kept = len(mechanism.actuators), len(mechanism.poses), len(lost)
        if path.suffix == ".sdf":
            return Verdict("loaded", "", *kept)
        difference = urdf_difference if path.suffix == ".urdf" else mjcf_difference
        found = difference(path, mechanism)
    worst = max(found, key=lambda key: found[key])
    if not found[worst] < TOLERANCE:
        return Verdict("wrong", f"{worst} differs by {found[worst]:.2g}")
    return Verdict("loaded", f"without {'; '.join(lost)}" if lost else "", *kept)


def _way_out(path: Path, reason: str) -> str:
    """Return with which `ignore` a refused file loads, following its refusals."""
    import linkwright as lw

    ignored: list[str] = []
    while len(ignored) < MAX_IGNORED:
        proposal = re.search(r"--ignore (\w+)", reason)
        if proposal is None or proposal[1] in ignored:
            return "no way out is named"
        ignored.append(proposal[1])
        try:
            lw.load(path, ignore=ignored)
        except LinkwrightError as error:
            reason = str(error)
        else:
            return f"loads with --ignore {','.join(ignored)}"
    return "it is refused still"


def judge_all(every: int = 1) -> Iterator[tuple[str, Path, Verdict]]:
    """Yield package, file and verdict of every file, or of each N-th."""
    for package, endings in SOURCES.items():
        yield from _judge_files(package, robot_files(package, endings)[::every])


def judge_folder(folder: Path, every: int = 1) -> Iterator[tuple[str, Path, Verdict]]:
    """Yield the folder's name, file and verdict of every file below a folder, or of each N-th."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS)
    yield from _judge_files(folder.name, paths[::every])


def _judge_files(source: str, paths: list[Path]) -> Iterator[tuple[str, Path, Verdict]]:
    for path in paths:
        yield source, path, judge_file(path) if is_whole_model(path) else Verdict("parts")


def main() -> None:
    """Print a line for each file with its reason, and a line for each package or folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="each N-th file only")
    parser.add_argument("--folder", type=Path, nargs="+", help="folders instead of the packages")
    parser.add_argument("--quiet", action="store_true", help="no lines for files that load whole")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    sources: list[str] = []
    found = (
        (one for folder in options.folder for one in judge_folder(folder, options.every))
        if options.folder
        else judge_all(options.every)
    )
    for source, path, verdict in found:
        if source not in sources:
            sources.append(source)
        counts[source, verdict.state] += 1
        for column in COLUMNS[len(STATES) :]:
            counts[source, column] += getattr(verdict, column)
        if verdict.state in ("refused", "wrong") or verdict.reason or not options.quiet:
            print(_line(path, verdict), flush=True)
    print(" " * 20 + "".join(f"{column:>11}" for column in COLUMNS))
    for source in sources:
        print(f"{source:20}" + "".join(f"{counts[source, column]:11}" for column in COLUMNS))


COLUMNS = (*STATES, "actuators", "keyframes", "lost")
"""Of the table; "lost" are actuators that a file has and the mechanism has not."""


def _line(path: Path, verdict: Verdict) -> str:
    """Return the line about a file."""
    kept = f"{verdict.actuators:3} actuators {verdict.keyframes:2} keyframes  "
    if verdict.state != "loaded":
        kept = " " * len(kept)
    line = f"{verdict.state:8} {kept}{'/'.join(path.parts[-3:])}: {verdict.reason}"
    return line.rstrip(": ")


if __name__ == "__main__":
    main()
