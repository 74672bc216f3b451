"""Tables of cam motions in CSV files: a column of cam angles and one of lifts, with their units."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import ExpressionError, FileError, LinkwrightError
from ..expressions import parse_unit
from ..types import Floats
from .cam_motions import CamMotion, cam_motion

_UNIT = re.compile(r"[\[(/]\s*([^\])]*?)\s*[\])]?\s*$")
"""The unit at the end of a heading: angle (deg), angle [deg], angle / deg."""
_ANGLE, _LENGTH = (0, 0, 0), (0, 1, 0)


@dataclass(frozen=True)
class CamTable:
    """A table of a cam file in SI units, and whether its lifts are `swings`, angles of a swinging
    follower."""

    angles: Floats
    values: Floats
    swings: bool


def read_cam_motion(path: str | Path, degree: int = 5) -> CamMotion:
    """Return the motion of a follower from a CSV file.

    Parameters
    ----------
    path : str or Path
        A file with two columns: cam angles over one turn, and lifts or angles of a swinging
        follower. A heading may give units, `angle (deg), lift (mm)`; without them, numbers are in
        rad and m. Lines that begin with # are comments.
    degree : int
        The degree of the spline, 3 or 5.

    Returns
    -------
    CamMotion
        A periodic function of the cam angle with exact derivatives.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import linkwright as lw
    >>> rows = [f"{k}, {10 - abs(k - 180) / 18}" for k in range(0, 360, 20)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cam.csv"
    ...     _ = path.write_text("angle (deg), lift (mm)\\n" + "\\n".join(rows))
    ...     motion = lw.linkages.read_cam_motion(path)
    >>> float(motion(3.14159265).round(6))
    0.01
    """
    table = read_cam_table(path)
    try:
        return cam_motion(table.angles, table.values, degree)
    except LinkwrightError as error:
        raise error.within(str(path)) from None


def read_cam_table(path: str | Path) -> CamTable:
    """Return the table of a CSV file in SI units."""
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise FileError(f"cannot be read: {reason}", where=str(path)) from None
    try:
        return _parse_cam_table(text)
    except LinkwrightError as error:
        raise error.within(str(path)) from None


def _parse_cam_table(text: str) -> CamTable:
    """Return the table in a text."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    separator = next((mark for mark in ";\t" if lines and mark in lines[0]), ",")
    rows = [
        (number, [cell.strip() for cell in row])
        for number, row in enumerate(csv.reader(lines, delimiter=separator), 1)
    ]
    units = ["rad", "m"]
    if rows and not _is_number(rows[0][1][0]):
        units = [_heading_unit(cell, unit) for cell, unit in zip(rows[0][1], units, strict=False)]
        rows = rows[1:]
    for number, row in rows:
        if len(row) != 2 or not all(map(_is_number, row)):
            raise FileError(
                f"row {number} is not an angle and a lift: {separator.join(row)[:60]}",
                remedy="give two numbers, separated by a comma",
            )
    numbers = np.array([[float(cell) for cell in row] for _, row in rows]).reshape(-1, 2)
    dimensions = [_unit_scale(unit) for unit in units]
    if len(dimensions) != 2 or dimensions[0][1] != _ANGLE:
        raise FileError(
            f"the cam angle is in {units[0]}", remedy="head the columns angle (deg), lift (mm)"
        )
    angles, values = (numbers[:, k] * scale for k, (scale, _) in enumerate(dimensions))
    if len(angles) and np.ptp(angles) > 2 * np.pi * (1 + 1e-9):
        raise FileError(
            f"the cam angles span {np.ptp(angles):.6g} rad, more than a turn",
            remedy="head the columns with their units: angle (deg), lift (mm)",
        )
    return CamTable(angles, values, swings=dimensions[1][1] == _ANGLE)


def _is_number(text: str) -> bool:
    """Return whether a cell is a finite number."""
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _heading_unit(cell: str, default: str) -> str:
    """Return the unit in the heading of a column."""
    found = _UNIT.search(cell)
    return default if found is None or not found[1] else found[1].replace("°", "deg")


def _unit_scale(unit: str) -> tuple[float, tuple[int, ...]]:
    """Return the factor to SI units and the dimension of a unit: of an angle or a length."""
    try:
        found = parse_unit(unit)
    except ExpressionError:
        raise FileError(f"'{unit}' is not a unit", remedy="use deg, rad, m or mm") from None
    dimension = tuple(int(x) for x in found.dimension)
    if dimension not in (_ANGLE, _LENGTH):
        raise FileError(f"'{unit}' is neither an angle nor a length", remedy="use deg or mm")
    return float(found.scale) * float(np.pi) ** found.pi_power, dimension
