"""Velocity, acceleration and force polygons of planar mechanisms, as drawn by hand.

From a pole, the velocity of every joint and mass centre is an arrow; the tips of one link form the
link's image, turned and scaled. A body's forces, tip to tail, add up to m a: Newton's second law
closes the polygon.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedError
from ..kinematics.tree import Closure
from ..mechanism import Mechanism
from .bodies import Motions
from .diagrams import OTHER, PAGE, REACTION, WEIGHT, arrow
from .free_bodies import FreeBody, free_bodies, state_of
from .labels import symbol
from .members import hull_order
from .scene import Scene, scene_of
from .shapes import point_of
from .style import COLUMN, GREY, INK, colour, kept, sheet, styled
from .words import place_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view import View

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Image:
    """A point of a body: where it is, its velocity and its acceleration."""

    name: str
    body: str
    position: Floats
    velocity: Floats
    acceleration: Floats


def images(
    mechanism: Mechanism, q: Any = None, qd: Any = None, tau: Any = None, t: float = 0.0
) -> list[Image]:
    """Joints, loops and mass centres of all bodies at a state."""
    state, scene = state_of(mechanism, q, qd, tau, t), scene_of(mechanism)
    motions, poses = Motions.of(state.model, state.q, state.qd, state.qdd), scene.poses(state.q)
    found = []
    for b, body in enumerate(motions.names):
        link = scene.tree.bodies[body].link
        w, alpha = motions.V[b, :3], motions.A[b, :3]
        points = {name: scene.world(poses, link, p) for name, p in _points(scene, link)}
        for name, x in (points | {f"{body} (mass)": motions.center[b]}).items():
            r = x - motions.T[b, :3, 3]
            v = motions.V[b, 3:] + np.cross(w, r)
            a = motions.A[b, 3:] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
            found.append(Image(name, body, x, v, a))
    return found


def _points(scene: Scene, link: int) -> list[tuple[str, Floats]]:
    """Where joints meet a link."""
    found = []
    for span in scene.tree.joints:
        if span.frame.link == link and span.links:
            found.append((span.name, point_of(span.frame.p)))
        if span.links and span.links[-1] == link and not scene.floats(span.name):
            found.append((span.name, np.zeros(3)))
    for tie in scene.tree.restraints.ties:
        if isinstance(tie, Closure):
            found += [(tie.name, point_of(place.p)) for place in (tie.at_parent, tie.at_child)
                      if place.link == link]  # fmt: skip
    return found


@styled
def velocity_polygon(
    mechanism: Mechanism,
    q: Any = None,
    qd: Any = None,
    *,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """Velocities of joints and mass centres from one pole, with the images of the links."""
    found = images(mechanism, q, qd)
    return kept(_polygon(mechanism, found, [i.velocity for i in found], "v", "m/s", width), path)


@styled
def acceleration_polygon(
    mechanism: Mechanism,
    q: Any = None,
    qd: Any = None,
    tau: Any = None,
    t: float = 0.0,
    *,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """Accelerations of joints and mass centres from one pole, under the forces of the state."""
    found = images(mechanism, q, qd, tau, t)
    values = [i.acceleration for i in found]
    return kept(_polygon(mechanism, found, values, "a", "m/s²", width), path)


def _plane(mechanism: Mechanism) -> View:
    view = scene_of(mechanism).view()
    if not view.flat:
        raise UnsupportedError(
            "polygons are for planar mechanisms", where=mechanism.name,
            remedy="draw free-body diagrams instead",
        )  # fmt: skip
    return view


def _polygon(
    mechanism: Mechanism, found: list[Image], values: list[Floats], head: str, unit: str,
    width: float,
) -> Figure:  # fmt: skip
    view = _plane(mechanism)
    tips = view(np.array(values))
    figure = sheet(width, width)
    axes = figure.add_subplot()
    low, high = np.minimum(tips.min(axis=0), 0), np.maximum(tips.max(axis=0), 0)
    size = float((high - low).max()) or 1.0
    middle = (low + high) / 2
    axes.set_xlim(middle[0] - 0.62 * size, middle[0] + 0.62 * size)
    axes.set_ylim(middle[1] - 0.62 * size, middle[1] + 0.62 * size)
    axes.set_aspect("equal")
    axes.locator_params(nbins=6)
    drawn = [_draw_image(axes, tips, found, body, k)
             for k, body in enumerate(dict.fromkeys(i.body for i in found))]  # fmt: skip
    spots = _distinct(tips, [i.name for i in found], size)
    for tip in spots.values():
        arrow(axes, np.zeros(2), tip, GREY)
        drawn.append(np.array([np.zeros(2), tip]))
    axes.plot(0, 0, "o", color=INK, ms=3.5, zorder=9)
    words = ["$o$", *(symbol(name) for name in spots)]
    place_words(axes, words, [np.zeros(2), *spots.values()], drawn)
    axes.set_xlabel(f"${head}_{view.axis_name(view.right)[-1]}$ / {unit}")
    axes.set_ylabel(f"${head}_{view.axis_name(view.up)[-1]}$ / {unit}")
    return figure


def _draw_image(axes: Axes, tips: Floats, found: list[Image], body: str, k: int) -> Floats:
    """The outline of a link's image."""
    own = tips[[j for j, i in enumerate(found) if i.body == body]]
    outline = own[hull_order(own)] if len(own) > 2 else own
    closed = np.vstack([outline, outline[:1]])
    axes.plot(closed[:, 0], closed[:, 1], color=colour(k), lw=1.6, zorder=7, label=body)
    return closed


def _distinct(tips: Floats, names: list[str], size: float) -> dict[str, Floats]:
    """Names by place: what moves alike shares its tip; what does not move is the pole."""
    spots: dict[str, Floats] = {}
    for tip, name in zip(tips, names, strict=True):
        taken = any(np.linalg.norm(tip - other) < 1e-9 * size for other in spots.values())
        if np.linalg.norm(tip) > 1e-9 * size and not taken:
            spots[name if name not in spots else f"{name}′"] = tip
    return spots


@styled
def force_polygons(
    mechanism: Mechanism,
    q: Any = None,
    qd: Any = None,
    tau: Any = None,
    t: float = 0.0,
    *,
    width: float = PAGE,
    path: str | Path | None = None,
) -> Figure:
    """For every body its forces, tip to tail, and m a (dashed) that closes them."""
    view, bodies = _plane(mechanism), free_bodies(mechanism, q, qd, tau, t)
    columns = min(3, len(bodies))
    rows = -(-len(bodies) // columns)
    figure = sheet(width, rows * (width / columns + 6))
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(bodies) :]:
        axes.set_axis_off()
    for axes, body in zip(grid, bodies, strict=False):
        _draw_forces(axes, body, view)
    return kept(figure, path)


def chain_of(body: FreeBody, view: View) -> Floats:
    """Corners of a body's force polygon, from 0 to the sum of its forces."""
    forces = [view(load.force) for load in body.applied]
    return np.vstack([np.zeros(2), np.cumsum(forces, axis=0)]) if forces else np.zeros((1, 2))


def _draw_forces(axes: Axes, body: FreeBody, view: View) -> None:
    corners, rate = chain_of(body, view), view(body.rate)
    low, high = corners.min(axis=0), corners.max(axis=0)
    size, middle = float((high - low).max()) or 1.0, (low + high) / 2
    axes.set_xlim(middle[0] - 0.75 * size, middle[0] + 0.75 * size)
    axes.set_ylim(middle[1] - 0.75 * size, middle[1] + 0.75 * size)
    axes.set_aspect("equal")
    words, spots = [], []
    for k, load in enumerate(body.applied):
        paint = WEIGHT if load.name == "weight" else REACTION
        paint = OTHER if load.name.split(" ")[0] in ("spring", "load", "constraints") else paint
        step = corners[k + 1] - corners[k]
        if np.linalg.norm(step) > 1e-9 * size:
            arrow(axes, corners[k], step, paint)
            words.append(symbol(load.name))
            spots.append((corners[k] + corners[k + 1]) / 2)
    if np.linalg.norm(rate) > 1e-9 * size:
        arrow(axes, np.zeros(2), rate, INK, dashed=True)
        words.append("$m a$")
        spots.append(rate / 2)
    place_words(axes, words, spots, [corners, np.array([np.zeros(2), rate])])
    axes.plot(0, 0, "o", color=INK, ms=3, zorder=9)
    axes.set_xlabel(f"$F_{view.axis_name(view.right)[-1]}$ / N")
    axes.set_ylabel(f"$F_{view.axis_name(view.up)[-1]}$ / N")
    axes.set_title(symbol(body.name))
