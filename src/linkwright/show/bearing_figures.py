"""Figures of bearing forces: the polar diagram, and magnitudes over a cycle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..linkages import BearingForces
from .figure_style import (
    COLUMN_WIDTH,
    INK_COLOR,
    dash_pattern,
    draws_figure,
    line_color,
    new_figure,
)
from .label_text import symbol_label
from .mechanism_scene import mechanism_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view_direction import View

_POLAR_HEIGHT, _HISTORY_HEIGHT = 78.0, 45.0
"""Heights of the polar diagram and of the magnitudes, mm."""

_ARROWED_SHARE = 0.25
"""Share of the cycle after which an arrow head on the polar diagram shows its sense."""


@draws_figure
def bearing_figure(
    bearing: BearingForces, *, width: float = COLUMN_WIDTH, path: str | Path | None = None
) -> Figure:
    """Plot the polar diagram of bearing forces, and their magnitudes over the cycle.

    Parameters
    ----------
    bearing : BearingForces
        What `linkages.bearing_forces` found.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure: the paths of the tips of the force vectors in the plane of motion (a
        dot marks the start of the cycle), and the magnitudes over the input.

    Examples
    --------
    >>> import linkwright as lw
    >>> bearing = lw.linkages.bearing_forces(lw.gallery("four-bar"), samples=37)
    >>> len(lw.show.bearing_figure(bearing).axes)
    2
    """
    view = mechanism_scene(bearing.mechanism).view(None)
    figure = new_figure(width, _POLAR_HEIGHT + _HISTORY_HEIGHT)
    upper, lower = figure.subplots(2, 1, height_ratios=[_POLAR_HEIGHT, _HISTORY_HEIGHT])
    _draw_polar_diagram(upper, bearing, view)
    turns = bearing.input_unit == "rad"
    along = np.degrees(bearing.input_values) if turns else bearing.input_values
    for k, name in enumerate(bearing.names):
        style = {"color": line_color(k), "ls": dash_pattern(k), "label": symbol_label(name)}
        lower.plot(along, bearing.sizes[:, k], **style)
    lower.margins(x=0)
    lower.set_ylim(bottom=0)
    if turns and abs(along[-1] - along[0]) > 350:
        lower.set_xticks(np.arange(np.ceil(min(along) / 90) * 90, max(along) + 1, 90))
    lower.set_xlabel(f"{symbol_label(bearing.input)} / {'°' if turns else bearing.input_unit}")
    lower.set_ylabel("force / N")
    figure.legend(*lower.get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return figure


def _draw_polar_diagram(axes: Axes, bearing: BearingForces, view: View) -> None:
    """Draws the path of each force's tip, with a dot at its start and an arrow head for its
    sense."""
    forces = view(bearing.force)
    ahead = max(1, round(_ARROWED_SHARE * len(forces)))
    for k in range(len(bearing.names)):
        path, color = forces[:, k], line_color(k)
        axes.plot(*path.T, color=color, ls=dash_pattern(k))
        axes.plot(*path[0], "o", color=color, ms=3)
        if len(path) > ahead and np.ptp(path, axis=0).max() > 0:
            arrow = {"arrowstyle": "-|>", "color": color, "lw": 0, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", path[ahead], path[ahead - 1], arrowprops=arrow)
    axes.plot(0, 0, "+", color=INK_COLOR, ms=6)
    size = 1.08 * max(float(np.abs(forces).max(initial=0.0)), 1e-12)
    axes.set_xlim(-size, size)
    axes.set_ylim(-size, size)
    axes.set_aspect("equal")
    axes.set_xlabel(f"force along {view.axis_name(view.right)} / N")
    axes.set_ylabel(f"along {view.axis_name(view.up)} / N")
