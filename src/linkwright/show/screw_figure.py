"""Instantaneous screw axes of bodies over the mechanism; in the plane, the poles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..mechanism import GROUND, Mechanism
from ..motion import ScrewAxis, screw_axis
from ..types import Floats
from .arrows import draw_arrow
from .axes_labels import Label, draw_labels
from .figure_style import COLUMN_WIDTH, draws_figure, line_color
from .glyphs import GROUND_LINK, Glyph
from .label_text import indexed_label
from .mechanism_scene import Scene, mechanism_scene
from .scaled_axes import axes_meters_per_mm, finish_axes, prepare_axes
from .stick_figures import DrawingDetails, draw_stick_figure
from .view_direction import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_POLE_DISTANCE = 1.5
"""Poles that are farther from their body than this, in sizes of the mechanism, are named with their
distance: the picture would shrink for them."""

_RING_RADIUS = 1.4
"""Radius of the ring of a pole, with its line, mm."""

_ARROW_LENGTH = 12.0
"""Length of the arrow along an axis or a translation, mm."""


@draws_figure
def screw_axes(
    mechanism: Mechanism,
    q: ArrayLike,
    qd: ArrayLike,
    *,
    t: float = 0.0,
    bodies: Sequence[str] | None = None,
    relative_to: str = GROUND,
    view: str | tuple[float, float] | None = None,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw a mechanism with the instantaneous screw axes of its bodies.

    In a plane they are the poles, small rings; elsewhere dashed lines with the direction of the
    rotation and, where a body slides along its axis, the pitch. A body that translates has an
    arrow.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd : (nq,) and (nv,) arrays
        Coordinates and velocities, rad or m, rad/s or m/s.
    t : float
        Time, s, where the coordinates depend on it.
    bodies : sequence of str, optional
        Bodies or frames (default: all moving bodies).
    relative_to : str
        A body or frame from which the motions are seen (default: ground).
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
    >>> len(lw.show.screw_axes(lw.gallery("elbow"), [0.3, 0.4], [1.0, 2.0]).axes)
    1
    """
    scene = mechanism_scene(mechanism)
    seen, poses = scene.view(view), scene.link_placements(q, t)
    names = [name for name in bodies or scene.tree.names.bodies if name != relative_to]
    found = [screw_axis(mechanism, name, q, qd, t=t, relative_to=relative_to) for name in names]
    near = [_is_near(axis, scene, poses) for axis in found]
    poles = [
        Glyph("dot", GROUND_LINK, axis.point[None])
        for axis, is_near in zip(found, near, strict=True)
        if is_near and axis.kind in ("rotation", "screw")
    ]
    figure, axes = prepare_axes(scene, poses[None], seen, width, more=poles, margin=6.0)
    draw_stick_figure(axes, scene, poses, seen, DrawingDetails())
    finish_axes(axes, seen)
    labels = [
        _draw_screw_axis(axes, seen, axis, line_color(k), is_near=near[k])
        for k, axis in enumerate(found)
        if axis.kind != "rest"
    ]
    draw_labels(axes, labels)
    return figure


def _body_origin(scene: Scene, poses: Floats, body: str) -> Floats:
    """The origin of a body or frame in the world, m."""
    place = scene.tree.find_frame(body)
    return scene.drawn_point_in_world(poses, place.link, place.p)


def _is_near(axis: ScrewAxis, scene: Scene, poses: Floats) -> bool:
    """Whether the axis is near enough to the body to be drawn where it is."""
    away = np.linalg.norm(axis.point - _body_origin(scene, poses, axis.body))
    return bool(away <= _MAX_POLE_DISTANCE * scene.size)


def _draw_screw_axis(
    axes: Axes, view: View, axis: ScrewAxis, paint: str, *, is_near: bool
) -> Label:
    """Draws one axis, pole or translation, and returns its label."""
    unit = axes_meters_per_mm(axes)
    at, along = view(axis.point), view(axis.direction)
    name = indexed_label("v" if axis.kind == "translation" else "I", axis.body)
    if axis.kind == "translation":
        draw_arrow(axes, at, _ARROW_LENGTH * unit * along, paint)
        return Label(f"{name} {axis.sliding_speed:.3g} m/s", at[None], unit)
    pitch = "" if axis.kind == "rotation" else f", {axis.pitch:.3g} m/rad"
    text = f"{name} {axis.angular_speed:.3g} rad/s{pitch}"
    if not is_near:
        low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
        place = ", ".join(f"{x:.3g}" for x in axis.point)
        return Label(f"{text}\nat ({place}) m", np.clip(at, low, high)[None])
    if np.linalg.norm(along) < 1e-9:  # seen along the axis
        angles = np.linspace(0, 2 * np.pi, 25)
        ring = at + _RING_RADIUS * unit * np.column_stack([np.cos(angles), np.sin(angles)])
        axes.plot(*ring.T, color=paint, lw=1.4, zorder=9)
        axes.plot(*at, ".", ms=2.5, color=paint, zorder=9)
        return Label(text, at[None], _RING_RADIUS * unit)
    along = along / np.linalg.norm(along)
    reach = float(np.ptp([axes.get_xlim(), axes.get_ylim()], axis=1).sum())
    ends = np.array([at - reach * along, at + reach * along])
    axes.plot(*ends.T, color=paint, lw=1.0, ls=(0, (5, 2)), zorder=8)
    draw_arrow(axes, at, _ARROW_LENGTH * unit * along, paint)
    return Label(text, at[None], unit)
