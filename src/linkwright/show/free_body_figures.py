"""Free-body diagrams: each body by itself, with arrows for all that acts on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..mechanism import Mechanism
from ..types import Floats
from .arrows import (
    arrow_magnitude_label,
    draw_arrow,
    draw_force_scale,
    draw_free_body_panels,
    draw_moment_arrow,
    fit_panel_limits,
    force_arrow_color,
    force_arrow_label,
)
from .axes_labels import Label
from .figure_style import (
    COLUMN_WIDTH,
    FAINT_COLOR,
    GRAY_COLOR,
    INK_COLOR,
    draws_figure,
)
from .free_body_balance import FreeBody, FreeBodyLoad, free_bodies, free_body_state
from .glyph_brush import GlyphBrush
from .mechanism_scene import Scene, mechanism_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view_direction import View


_MIN_FORCE_SHARE = 0.01
"""Share of a body's largest force below which none is drawn."""


@draws_figure
def free_body_diagrams(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    *,
    view: str | tuple[float, float] | None = None,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw the free-body diagrams of all bodies at a state.

    Reactions F at joints, weights m g and other forces are arrows, to a scale for each body;
    moments M are bent arrows; a dashed arrow is m a, the sum of the forces on the body.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd, tau : (nq,), (nv,) and (nv,) arrays, optional
        Coordinates, velocities and generalized forces: rad or m, rad/s or m/s, N m or N
        (default: home, at rest, zero).
    t : float
        Time, s.
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).
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
    >>> figure = lw.show.free_body_diagrams(lw.gallery("elbow"))  # path="elbow.svg" also saves it
    >>> len(figure.axes)  # one diagram for each body
    2
    """
    scene, bodies = mechanism_scene(mechanism), free_bodies(mechanism, q, qd, tau, t)
    seen, here = scene.view(view), free_body_state(mechanism, q, qd, tau, t).q
    poses = scene.link_placements(here, t)
    return draw_free_body_panels(
        bodies, width, lambda axes, body: _draw_free_body(axes, scene, poses, body, seen)
    )


def _draw_free_body(
    axes: Axes, scene: Scene, poses: Floats, body: FreeBody, view: View
) -> list[Label]:
    """Draws one free body with its arrows, and returns the labels that are still to be placed."""
    link = scene.tree.bodies[body.name].link
    shapes = [s for s in (*scene.link_glyphs, *scene.wheel_glyphs) if s.link == link]
    brush = GlyphBrush(axes, scene, poses, view, tint=GRAY_COLOR)
    outlines = [view(brush.glyph_points_in_world(s.link, s.points)) for s in shapes]
    acting = view(np.array([*(a.point for a in body.applied), body.center]))
    corners = np.concatenate([acting, *outlines])
    reach = max(float(np.ptp(corners, axis=0).max()), 0.1 * scene.size)
    arrows, metres = _force_arrows(body, view, 0.8 * reach)
    unit = fit_panel_limits(
        axes, np.concatenate([corners, *(np.array([a.start, a.start + a.vector]) for a in arrows)])
    )
    brush.draw_glyphs(shapes)
    for point in acting[:-1] if not shapes else ():
        axes.plot(*np.array([point, acting[-1]]).T, color=FAINT_COLOR, lw=1.6, zorder=3)
    axes.plot(*acting[:-1].T, "o", ms=2.8, mfc="white", mec=INK_COLOR, mew=0.6, zorder=7)
    _draw_center_glyph(axes, acting[-1], 1.1 * unit)
    for arrow in arrows:
        draw_arrow(axes, arrow.start, arrow.vector, arrow.color, arrow.is_dashed)
    if arrows:
        draw_force_scale(axes, unit, metres)
    labels = [Label(a.label, (a.start + a.vector)[None], 0.5 * unit) for a in arrows]
    for load in _loads_with_moment_arrow(body):
        sense = float(np.sign(load.moment @ view.toward_eye)) or 1.0
        draw_moment_arrow(axes, view(load.point), 2.6 * unit, sense, force_arrow_color(load.name))
        word = f"{force_arrow_label(load.name, 'M')} {arrow_magnitude_label(load.moment, 'N·m')}"
        labels.append(Label(word, view(load.point)[None], 2.6 * unit))
    return labels


def _draw_center_glyph(axes: Axes, middle: Floats, radius: float) -> None:
    """Draws the sign of a centre of mass, of the same size on every panel."""
    from matplotlib.patches import Circle, Wedge

    x, y = middle
    axes.add_patch(Circle((x, y), radius, fc="white", ec=INK_COLOR, lw=0.5, zorder=7))
    for start in (0, 180):
        axes.add_patch(Wedge((x, y), radius, start, start + 90, fc=INK_COLOR, lw=0.5, zorder=7))


class ForceArrow(NamedTuple):
    """An arrow on the paper: its start and vector (in the units of the axes), look and label."""

    start: Floats
    vector: Floats
    color: str
    is_dashed: bool
    label: str


def _force_arrows(body: FreeBody, view: View, longest: float) -> tuple[list[ForceArrow], float]:
    """Start, vector, colour, dashes and label of the arrow of every force and of m a; and the
    length that shows 1 N."""
    loads = [
        (a.point, a.force, force_arrow_color(a.name), False, force_arrow_label(a.name))
        for a in body.applied
    ]
    loads.append((body.center, body.rate, INK_COLOR, True, "$m a$"))
    strongest = max(float(np.linalg.norm(view(force))) for _, force, *_ in loads) or 1.0
    metres = longest / strongest
    return [
        ForceArrow(
            view(point),
            view(force) * metres,
            paint,
            dashed,
            f"{word} {arrow_magnitude_label(force, 'N')}",
        )
        for point, force, paint, dashed, word in loads
        if np.linalg.norm(view(force)) > _MIN_FORCE_SHARE * strongest
    ], metres


def _loads_with_moment_arrow(body: FreeBody) -> list[FreeBodyLoad]:
    """The loads whose moment is large enough for an arrow."""
    sizes = [float(np.linalg.norm(load.moment)) for load in body.applied]
    least = max(1e-9, 1e-6 * max(sizes, default=0.0))
    return [load for load, size in zip(body.applied, sizes, strict=True) if size > least]
