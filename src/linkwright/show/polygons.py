"""Velocity and acceleration polygons of planar mechanisms, as drawn by hand.

From a pole, the velocity of every joint and centre of mass is an arrow; the tips of one link form
the link's image, turned and scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UnsupportedError
from ..mechanism import Mechanism
from ..simulation.body_motions import BodyMotions
from ..types import Floats
from .acceleration_arrows import draw_acceleration_parts
from .acceleration_components import (
    AccelerationPart,
    PointMotions,
    acceleration_parts,
    center_image_point_name,
)
from .arrows import (
    draw_arrow,
)
from .axes_labels import Label, draw_labels, group_labels
from .figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    INK_COLOR,
    draw_legend,
    draws_figure,
    line_color,
    new_figure,
)
from .free_body_balance import free_body_state
from .glyphs import drawn_point
from .label_text import indexed_label, symbol_label
from .link_glyphs import plate_outline_order
from .mechanism_scene import Scene, mechanism_scene

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view_direction import View


_RAY_LAYER, _IMAGE_LAYER = 6, 7
"""Layers: a link that turns about a fixed point has its image on a ray, which must not hide it."""


@dataclass(frozen=True)
class ImagePoint:
    """A point of a body with its position, velocity and acceleration, world axes."""

    name: str
    body: str
    position: Floats
    velocity: Floats
    acceleration: Floats


def images(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
) -> list[ImagePoint]:
    """Return the joints, loops and centres of mass of all bodies at a state.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd, tau : (nq,), (nv,) and (nv,) arrays, optional
        Coordinates, velocities and generalized forces: rad or m, rad/s or m/s, N m or N
        (default: home, at rest, zero).
    t : float
        Time, s.

    Returns
    -------
    list of ImagePoint
        Points with their body, position (m), velocity (m/s) and acceleration (m/s²), world axes.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.show.images(lw.gallery("elbow"))[0].position.shape
    (3,)
    """
    state, scene = free_body_state(mechanism, q, qd, tau, t), mechanism_scene(mechanism)
    motions = BodyMotions.from_model(state.model, state.t, state.q, state.qd, state.qdd)
    moving = PointMotions(scene, motions, state.q, state.t)
    found = []
    for b, body in enumerate(motions.body_names):
        link = scene.tree.bodies[body].link
        points = {
            name: scene.drawn_point_in_world(moving.poses, link, p)
            for name, p in _image_points_on_link(scene, link)
        }
        for name, x in (
            points | {center_image_point_name(body): motions.center_of_mass[b]}
        ).items():
            v, a = moving.velocity(body, x), moving.acceleration(body, x)
            found.append(ImagePoint(name, body, x, v, a))
    return found


def _image_points_on_link(scene: Scene, link: int) -> list[tuple[str, Floats]]:
    """The points where joints meet a link."""
    found = []
    for span in scene.tree.joints:
        if span.frame.link == link and span.links:
            found.append((span.name, drawn_point(span.frame.p)))
        if span.links and span.links[-1] == link and not scene.is_free_floating(span.name):
            found.append((span.name, np.zeros(3)))
    for tie in scene.tree.restraints.entries:
        found += [
            (tie.name, drawn_point(place.p)) for place in tie.loop_frames if place.link == link
        ]
    return found


@draws_figure
def velocity_polygon(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    *,
    t: float = 0.0,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw the velocities of joints and centres of mass from one pole, with images of the links.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd : (nq,) and (nv,) arrays, optional
        Coordinates and velocities, rad or m, rad/s or m/s (default: home, at rest).
    t : float
        Time, s, where the coordinates depend on it.
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
    >>> len(lw.show.velocity_polygon(lw.gallery("elbow"), [0.3, 0.4], [1.0, 2.0]).axes)
    1
    """
    found = images(mechanism, q, qd, t=t)
    return _draw_polygon_figure(mechanism, found, [i.velocity for i in found], "v", "m/s", width)


@draws_figure
def acceleration_polygon(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    *,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw the accelerations of joints and centres of mass from one pole, with their parts.

    The parts are normal, tangential, Coriolis and sliding, drawn tip to tail, each as an arrow of
    its own, as by hand.

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
    >>> len(lw.show.acceleration_polygon(lw.gallery("elbow"), [0.3, 0.4], [1.0, 2.0]).axes)
    1
    """
    found = images(mechanism, q, qd, tau, t)
    values = [i.acceleration for i in found]
    parts = acceleration_parts(mechanism, q, qd, tau, t)
    return _draw_polygon_figure(mechanism, found, values, "a", "m/s²", width, parts)


def require_planar_view(mechanism: Mechanism) -> View:
    """The view onto the plane of a mechanism; others are refused."""
    view = mechanism_scene(mechanism).view()
    if not view.is_planar:
        raise UnsupportedError(
            "polygons are for planar mechanisms",
            where=mechanism.name,
            remedy="draw free-body diagrams instead",
        )
    return view


def _draw_polygon_figure(
    mechanism: Mechanism,
    found: list[ImagePoint],
    values: list[Floats],
    head: str,
    unit: str,
    width: float,
    parts: Sequence[AccelerationPart] = (),
) -> Figure:
    """Draws velocities or accelerations of points from one pole, and the images of the links, or
    the parts of accelerations."""
    view = require_planar_view(mechanism)
    tips = view(np.array(values))
    corners = np.vstack([tips, *(view(part.start + part.vector)[None] for part in parts)])
    bodies = list(dict.fromkeys(i.body for i in found))
    figure = new_figure(width, width + 5)
    axes = figure.add_subplot()
    low, high = np.minimum(corners.min(axis=0), 0), np.maximum(corners.max(axis=0), 0)
    size = float((high - low).max()) or 1.0
    middle, half = (low + high) / 2, 0.62 * size
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal")
    axes.locator_params(nbins=6)
    for k, body in enumerate(bodies if not parts else ()):
        _draw_link_image(axes, tips, found, body, k)
    part_labels = draw_acceleration_parts(axes, view, parts, size)
    labels = _polygon_tip_labels(tips, found, size)
    for label in labels:
        draw_arrow(axes, np.zeros(2), label.points[0], GRAY_COLOR, layer=_RAY_LAYER)
    axes.plot(0, 0, "o", color=INK_COLOR, ms=3.5, zorder=9)
    axes.set_xlabel(f"${head}_{view.axis_name(view.right)[-1]}$ / {unit}")
    axes.set_ylabel(f"${head}_{view.axis_name(view.up)[-1]}$ / {unit}")
    draw_legend(axes)
    draw_labels(axes, [Label("$o$", np.zeros((1, 2)), 0.015 * size), *labels, *part_labels])
    return figure


def _draw_link_image(axes: Axes, tips: Floats, found: list[ImagePoint], body: str, k: int) -> None:
    """Draws the outline of a link's image."""
    own = tips[[j for j, i in enumerate(found) if i.body == body]]
    outline = own[plate_outline_order(own)] if len(own) > 2 else own
    closed = np.vstack([outline, outline[:1]])
    is_seen = np.ptp(closed, axis=0).max() > 1e-9 * np.abs(tips).max()
    axes.plot(
        closed[:, 0],
        closed[:, 1],
        color=line_color(k),
        lw=1.6,
        zorder=_IMAGE_LAYER,
        label=symbol_label(body) if is_seen else "_point",
    )


def _polygon_tip_labels(tips: Floats, found: list[ImagePoint], size: float) -> list[Label]:
    """The labels at the tips of arrows; points that move alike share one, points at rest have
    none."""
    moving = [k for k, tip in enumerate(tips) if np.linalg.norm(tip) > 1e-9 * size]
    return group_labels(
        [_image_point_label(found[k]) for k in moving], list(tips[moving]), 0.005 * size
    )


def _image_point_label(image: ImagePoint) -> str:
    """The label of a joint, or G of a body for its centre of mass."""
    return (
        indexed_label("G", image.body)
        if image.name == center_image_point_name(image.body)
        else symbol_label(image.name)
    )
