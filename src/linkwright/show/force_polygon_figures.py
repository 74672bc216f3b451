"""Force polygons of planar mechanisms: a body's forces, tip to tail, add up to m a, and Newton's
second law closes the polygon."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..mechanism import Mechanism
from ..types import Floats
from .arrows import (
    arrow_magnitude_label,
    draw_arrow,
    draw_force_scale,
    draw_free_body_panels,
    fit_panel_limits,
    force_arrow_color,
    force_arrow_label,
)
from .axes_labels import Label
from .figure_style import COLUMN_WIDTH, INK_COLOR, draws_figure
from .free_body_balance import FreeBody, free_bodies
from .polygons import require_planar_view

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view_direction import View


@draws_figure
def force_polygons(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    *,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw for every body its forces, tip to tail, and m a (dashed) that closes them.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd, tau : (nq,), (nv,) and (nv,) arrays, optional
        Coordinates, velocities and generalized forces: rad or m, rad/s or m/s, N m or N
        (default: home, at rest, zero).
    t : float
        Time, s.
    width : float
        Width, mm.
    path : str or Path, optional
        File to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> len(lw.show.force_polygons(lw.gallery("elbow")).axes)
    2
    """
    view, bodies = require_planar_view(mechanism), free_bodies(mechanism, q, qd, tau, t)
    return draw_free_body_panels(
        bodies, width, lambda axes, body: _draw_force_polygon(axes, body, view)
    )


def force_polygon_corners(body: FreeBody, view: View) -> Floats:
    """The corners (n, 2) of a body's force polygon, from 0 to the sum of its forces, N."""
    forces = [view(load.force) for load in body.applied]
    return np.vstack([np.zeros(2), np.cumsum(forces, axis=0)]) if forces else np.zeros((1, 2))


def _draw_force_polygon(axes: Axes, body: FreeBody, view: View) -> list[Label]:
    """Draws the force polygon of a body, and returns the labels that are still to be placed."""
    corners = force_polygon_corners(body, view)
    size = float(np.ptp(corners, axis=0).max()) or 1.0
    unit, labels = fit_panel_limits(axes, corners), []
    steps = [
        (force_arrow_label(load.name), force_arrow_color(load.name), load.force, corners[k])
        for k, load in enumerate(body.applied)
    ]
    for word, paint, force, start in [*steps, ("$m a$", INK_COLOR, body.rate, np.zeros(2))]:
        along = view(force)
        if np.linalg.norm(along) > 1e-9 * size:
            draw_arrow(axes, start, along, paint, dashed=force is body.rate)
            labels.append(
                Label(f"{word} {arrow_magnitude_label(force, 'N')}", (start + along / 2)[None])
            )
    axes.plot(0, 0, "o", color=INK_COLOR, ms=3, zorder=9)
    draw_force_scale(axes, unit, 1.0)
    return labels
