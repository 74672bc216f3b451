"""Texts of the command line as values: `q1=30deg`, `q1=path.csv`, `theta1=0:360deg`, `a,b`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..errors import ExpressionError, FileError, LinkwrightError, NameNotFoundError, suggest_remedy

if TYPE_CHECKING:
    from ..mechanism import Mechanism
    from ..types import Floats

    History: TypeAlias = tuple[Floats, Floats]


def read_option_names(text: str) -> list[str]:
    """Split a list of names at its commas; those of indices do not count: M[1,2]."""
    return [part.strip() for part in re.split(r",(?![^\[\]]*\])", text)]


def read_option_assignments(words: Sequence[str]) -> dict[str, str]:
    """Split words `key=value`; no key may occur twice."""
    given: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise LinkwrightError(f"'{word}' is not an input", remedy="write NAME=VALUE: q=0.1,0.2")
        if key in given:
            raise LinkwrightError(f"{key}= is given twice", remedy="give it once")
        given[key] = value
    return given


def read_option_numbers(
    mechanism: Mechanism | None, words: Sequence[str], what: str
) -> dict[str, float]:
    """Read values by name in SI units: coordinates ("q0"), generalized velocities ("qd0") or
    generalized forces ("torque")."""
    from ..mechanism import read_coordinate_numbers

    if mechanism is not None:
        words = [_pose_option_word(mechanism, word) for word in words]
        poses = [word for word in words if "=" not in word]
        given = read_option_assignments([word for word in words if "=" in word])
        if poses and not mechanism.poses:  # a mistake other than in the name of a pose
            read_option_assignments(poses)
        values = dict(read_coordinate_numbers(mechanism, given, what))
        return _pose_option_numbers(mechanism, poses, what) | values
    given = read_option_assignments(words)
    if given:
        raise LinkwrightError(f"'{words[0]}' is given without a FILE", remedy="leave it out")
    return {}


def _pose_option_word(mechanism: Mechanism, word: str) -> str:
    """Return the pose of q=home, qd=home or q0=home; other words as they are."""
    key, _, value = word.partition("=")
    return value if key in ("q", "qd", "q0", "qd0") and value in mechanism.poses else word


def _pose_option_numbers(mechanism: Mechanism, poses: Sequence[str], what: str) -> dict[str, float]:
    """Return the values of named poses: coordinates ("q0"), velocities ("qd0") or controls."""
    from ..kinematics.pose_configurations import read_pose, read_pose_velocities
    from ..mechanism import mechanism_names, pose_numbers

    names, found = mechanism_names(mechanism), dict[str, float]()
    for pose in poses:
        if what == "torque":
            found |= pose_numbers(mechanism, pose, "controls")
        elif what == "qd0":
            qd = read_pose_velocities(mechanism, pose)
            found |= dict(zip(names.qd, map(float, qd), strict=True))
        else:
            found |= dict(zip(names.q, map(float, read_pose(mechanism, pose)), strict=True))
    return found


def read_option_number(text: str, *units: str) -> float:
    """Read a number in SI units; a unit behind it must have the dimension of one of `units`."""
    from ..expressions import (
        check_expression_dimension,
        expression_to_float,
        names_in_expression,
        parse_expression,
        parse_unit,
    )

    expression, failures = parse_expression(text), list[ExpressionError]()
    if names_in_expression(expression):
        raise ExpressionError(f"'{text}' is not a number", remedy="give one, such as 0.5")
    for unit in units:
        try:
            check_expression_dimension(expression, parse_unit(unit).dimension, {})
        except ExpressionError as error:
            failures.append(error)
    if units and len(failures) == len(units):
        raise ExpressionError(
            f"'{text}' has the wrong unit", remedy=f"give it in {' or '.join(units)}"
        )
    return expression_to_float(expression)


def read_option_range(name: str, text: str) -> tuple[float, float]:
    """Read the ends of a range: 0:360deg."""
    ends = text.split(":")
    if len(ends) != 2:
        raise LinkwrightError(f"'{name}={text}' is not a range", remedy=f"write {name}=0:90deg")
    low, high = (read_option_number(end, "rad", "m") for end in ends)
    return low, high


def read_option_sweeps(
    mechanism: Mechanism | None, words: Sequence[str]
) -> dict[str, float | tuple[float, float]]:
    """Read velocities by name or those of a pose: numbers, and at most one range, v=0..10."""
    texts = read_option_assignments([word for word in words if "=" in word])
    ranges = {name: text for name, text in texts.items() if ".." in text}
    if len(ranges) > 1:
        raise LinkwrightError(
            f"{' and '.join(ranges)} are ranges", remedy="give a range for only one of them"
        )
    single = [word for word in words if ".." not in word]
    found: dict[str, float | tuple[float, float]] = dict(
        read_option_numbers(mechanism, single, "qd0")
    )
    for name, text in ranges.items():
        ends = text.split("..")
        if len(ends) != 2 or not all(ends):
            raise LinkwrightError(f"'{name}={text}' is not a range", remedy=f"write {name}=0..10")
        low, high = (read_option_numbers(mechanism, [f"{name}={end}"], "qd0")[name] for end in ends)
        if not low < high:
            raise LinkwrightError(
                f"'{name}={text}' does not increase", remedy=f"write {name}={ends[1]}..{ends[0]}"
            )
        found[name] = low, high
    return found


def read_option_histories(words: Sequence[str]) -> dict[str, str | History]:
    """Read functions of time by name: expressions, and (times, values) from .csv files."""
    return {
        name: _read_history_csv(name, Path(text)) if text.endswith(".csv") else text
        for name, text in read_option_assignments(words).items()
    }


def read_option_drives(
    mechanism: Mechanism | None, words: Sequence[str]
) -> dict[str, str | History] | str:
    """Read forces or controls over time by name, or the name of the pose that has them."""
    if len(words) == 1 and "=" not in words[0] and mechanism is not None and mechanism.poses:
        return words[0]
    return read_option_histories(words)


def _read_history_csv(name: str, path: Path) -> History:
    """Read the columns t and `name`, or t and the only other one."""
    from .state_files import read_csv_option_columns

    columns = read_csv_option_columns(path)
    others = [key for key in columns if key != "t"]
    if "t" not in columns or not (name in columns or len(others) == 1):
        raise FileError(
            f"has no columns t and {name}",
            where=str(path),
            remedy=f"write t,{name} at its top, and a row for every time",
        )
    return columns["t"], columns[name if name in columns else others[0]]


def option_configuration(mechanism: Mechanism, values: Mapping[str, float]) -> Floats:
    """Return q with these values: loops and constraints close, the rest is at home."""
    import numpy as np

    from ..kinematics.assembly import assemble
    from ..kinematics.tree_builder import build_kinematic_tree
    from ..kinematics.tree_coordinates import neutral_coordinates
    from ..mechanism import mechanism_names

    names = list(mechanism_names(mechanism).q)
    for name in values:
        if name not in names:
            raise NameNotFoundError(
                f"unknown coordinate '{name}'", remedy=suggest_remedy(name, names)
            )
    if mechanism.loops or mechanism.constraints:
        return assemble(mechanism, values, list(values))
    q = np.array(neutral_coordinates(build_kinematic_tree(mechanism)), dtype=float)
    q[[names.index(name) for name in values]] = list(values.values())
    return q
