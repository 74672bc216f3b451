"""Phase portraits: generalized velocities over their coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..mechanism import mechanism_names
from ..mechanism.mechanism_units import ANGLE_OR_LENGTH, coordinate_units
from .figure_style import (
    COLUMN_WIDTH,
    dash_pattern,
    draw_legend,
    draws_figure,
    line_color,
    new_figure,
)
from .label_text import symbol_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.run import Run


@draws_figure
def phase(
    run: Run,
    *names: str,
    degrees: bool = False,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot generalized velocities over their coordinates; a dot marks the start.

    Parameters
    ----------
    run : Run
        A simulated motion.
    *names : str
        Coordinates (default: all whose rates are generalized velocities).
    degrees, width, path : optional
        Angles in degrees, width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.1, samples=5)
    >>> len(lw.show.phase(run, "q1").axes)
    1
    """
    mechanism, known = run.mechanism, mechanism_names(run.mechanism)
    paired = [n for n in known.q if n in known.qd]
    for name in names:
        if name not in paired:
            raise NameNotFoundError(
                f"'{name}' is not a coordinate whose rate is a velocity",
                remedy=suggest_remedy(name, paired),
            )
    chosen = list(names) or paired
    if not chosen:
        raise LinkwrightError(
            "no velocity is the rate of a coordinate",
            where=mechanism.name,
            remedy='use rotation = "cardan"',
        )
    units = dict(zip(known.q, coordinate_units(mechanism), strict=True))
    groups = [[n for n in chosen if units[n] == unit] for unit in ("rad", "m", ANGLE_OR_LENGTH)]
    groups = [group for group in groups if group]
    figure = new_figure(width, 14 + 55 * len(groups))
    axes = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    for each, group in zip(axes, groups, strict=True):
        _draw_phase_panel(each, run, group, units[group[0]], degrees)
    return figure


def _draw_phase_panel(axes: Axes, run: Run, group: list[str], unit: str, degrees: bool) -> None:
    """Draws the phase portraits of coordinates that share a unit."""
    known = mechanism_names(run.mechanism)
    factor = 180 / np.pi if degrees and unit == "rad" else 1.0
    shown = "°" if factor != 1.0 else unit
    for name in group:
        k = known.q.index(name)
        x = factor * run.q[:, known.q.index(name)]
        y = factor * run.qd[:, known.qd.index(name)]
        axes.plot(x, y, color=line_color(k), ls=dash_pattern(k), label=symbol_label(name))
        axes.plot(x[:1], y[:1], "o", color=line_color(k), ms=3)
    turning = unit == "rad"
    axes.set_xlabel(f"{'angle' if turning else 'displacement'} / {shown}")
    axes.set_ylabel(f"{'angular velocity' if turning else 'velocity'} / {shown}/s")
    draw_legend(axes, axes.get_lines()[::2])
