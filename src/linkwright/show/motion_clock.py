"""What a motion is drawn over: time, or the coordinate that it sweeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..mechanism import mechanism_names
from ..mechanism.mechanism_units import coordinate_units
from ..types import Floats
from .label_text import symbol_label

if TYPE_CHECKING:
    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run


def swept_coordinate(run: Run | Kinematics) -> tuple[str, str, Floats] | None:
    """The name, unit and values of the coordinate that a motion sweeps; None for motions over
    time."""
    over = run.settings.get("over")
    if not over:
        return None
    index = mechanism_names(run.mechanism).q.index(str(over))
    return str(over), coordinate_units(run.mechanism)[index], run.q[:, index]


def motion_clock_label(run: Run | Kinematics) -> str:
    """The label of the axis of `run.t`."""
    swept = swept_coordinate(run)
    return "time / s" if swept is None else f"travel of {symbol_label(swept[0])} / {swept[1]}"


def motion_clock_text(run: Run | Kinematics, t: float) -> str:
    """An instant of a motion in words: 1.25 s, or theta1 = 1.25 rad."""
    swept = swept_coordinate(run)
    if swept is None:
        return f"{t:.2f} s"
    name, unit, values = swept
    sign = 1.0 if values[-1] >= values[0] else -1.0
    return f"{symbol_label(name)} = {values[0] + sign * (t - run.t[0]):.2f} {unit}"
