"""Velocity, acceleration and force polygons of planar mechanisms, as drawn by hand.

From a pole, the velocity of every joint and mass centre is an arrow; the tips of one link form the
link's image, turned and scaled. A body's forces, tip to tail, add up to m a: Newton's second law
closes the polygon.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UnsupportedError
from ..mechanism import Mechanism
from ..types import Floats
from .arrows import amount, arrow, body_panels, fit, force_name, force_scale, paint_of
from .bodies import Motions
from .free_body_forces import FreeBody, free_bodies, state_of
from .labels import symbol, with_index
from .members import hull_order
from .scene import Scene, scene_of
from .shapes import point_of
from .style import COLUMN, GREY, INK, colour, kept, legend, sheet, styled
from .words import Label, place_words, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view import View


_RAYS, _IMAGES = 6, 7
"""Layers: a link that turns about a fixed point has its image on a ray, which must not hide it."""


@dataclass(frozen=True)
class Image:
    """A point of a body: where it is, its velocity and its acceleration."""

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
) -> list[Image]:
    """Joints, loops and mass centres of all bodies at a state."""
    state, scene = state_of(mechanism, q, qd, tau, t), scene_of(mechanism)
    motions, poses = Motions.of(state.model, state.q, state.qd, state.qdd), scene.poses(state.q)
    found = []
    for b, body in enumerate(motions.names):
        link = scene.tree.bodies[body].link
        w, alpha = motions.V[b, :3], motions.A[b, :3]
        points = {name: scene.world(poses, link, p) for name, p in _points(scene, link)}
        for name, x in (points | {center_name(body): motions.center[b]}).items():
            r = x - motions.T[b, :3, 3]
            v = motions.V[b, 3:] + np.cross(w, r)
            a = motions.A[b, 3:] + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
            found.append(Image(name, body, x, v, a))
    return found


def center_name(body: str) -> str:
    """What the mass centre of a body is called among its points."""
    return f"{body} (mass)"


def _points(scene: Scene, link: int) -> list[tuple[str, Floats]]:
    """Where joints meet a link."""
    found = []
    for span in scene.tree.joints:
        if span.frame.link == link and span.links:
            found.append((span.name, point_of(span.frame.p)))
        if span.links and span.links[-1] == link and not scene.floats(span.name):
            found.append((span.name, np.zeros(3)))
    for tie in scene.tree.restraints.ties:
        found += [(tie.name, point_of(place.p)) for place in tie.frames if place.link == link]
    return found


@styled
def velocity_polygon(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
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
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
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
    bodies = list(dict.fromkeys(i.body for i in found))
    figure = sheet(width, width + 5)
    axes = figure.add_subplot()
    low, high = np.minimum(tips.min(axis=0), 0), np.maximum(tips.max(axis=0), 0)
    size = float((high - low).max()) or 1.0
    middle, half = (low + high) / 2, 0.62 * size
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_aspect("equal")
    axes.locator_params(nbins=6)
    for k, body in enumerate(bodies):
        _draw_image(axes, tips, found, body, k)
    labels = _tips(tips, found, size)
    for label in labels:
        arrow(axes, np.zeros(2), label.spots[0], GREY, layer=_RAYS)
    axes.plot(0, 0, "o", color=INK, ms=3.5, zorder=9)
    axes.set_xlabel(f"${head}_{view.axis_name(view.right)[-1]}$ / {unit}")
    axes.set_ylabel(f"${head}_{view.axis_name(view.up)[-1]}$ / {unit}")
    legend(axes)
    place_words(axes, [Label("$o$", np.zeros((1, 2)), 0.015 * size), *labels])
    return figure


def _draw_image(axes: Axes, tips: Floats, found: list[Image], body: str, k: int) -> None:
    """The outline of a link's image."""
    own = tips[[j for j, i in enumerate(found) if i.body == body]]
    outline = own[hull_order(own)] if len(own) > 2 else own
    closed = np.vstack([outline, outline[:1]])
    is_seen = np.ptp(closed, axis=0).max() > 1e-9 * np.abs(tips).max()
    axes.plot(closed[:, 0], closed[:, 1], color=colour(k), lw=1.6, zorder=_IMAGES,
              label=symbol(body) if is_seen else "_point")  # fmt: skip


def _tips(tips: Floats, found: list[Image], size: float) -> list[Label]:
    """Names by place: what moves alike shares its tip; what does not move is the pole."""
    moving = [k for k, tip in enumerate(tips) if np.linalg.norm(tip) > 1e-9 * size]
    return together([_name(found[k]) for k in moving], list(tips[moving]), 0.005 * size)


def _name(image: Image) -> str:
    """Of a joint, or G of a body for its mass centre."""
    return (
        with_index("G", image.body) if image.name == center_name(image.body) else symbol(image.name)
    )


@styled
def force_polygons(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    *,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """For every body its forces, tip to tail, and m a (dashed) that closes them."""
    view, bodies = _plane(mechanism), free_bodies(mechanism, q, qd, tau, t)
    figure, panels = body_panels(width, [symbol(body.name) for body in bodies])
    drawn = [_draw_forces(axes, body, view) for axes, body in zip(panels, bodies, strict=True)]
    for axes, labels in zip(panels, drawn, strict=True):
        place_words(axes, labels)
    return kept(figure, path)


def chain_of(body: FreeBody, view: View) -> Floats:
    """Corners of a body's force polygon, from 0 to the sum of its forces."""
    forces = [view(load.force) for load in body.applied]
    return np.vstack([np.zeros(2), np.cumsum(forces, axis=0)]) if forces else np.zeros((1, 2))


def _draw_forces(axes: Axes, body: FreeBody, view: View) -> list[Label]:
    """Everything but the words, which come back."""
    corners = chain_of(body, view)
    size = float(np.ptp(corners, axis=0).max()) or 1.0
    unit, labels = fit(axes, corners), []
    steps = [(force_name(load.name), paint_of(load.name), load.force, corners[k])
             for k, load in enumerate(body.applied)]  # fmt: skip
    for word, paint, force, start in [*steps, ("$m a$", INK, body.rate, np.zeros(2))]:
        along = view(force)
        if np.linalg.norm(along) > 1e-9 * size:
            arrow(axes, start, along, paint, dashed=force is body.rate)
            labels.append(Label(f"{word} {amount(force, 'N')}", (start + along / 2)[None]))
    axes.plot(0, 0, "o", color=INK, ms=3, zorder=9)
    force_scale(axes, unit, 1.0)
    return labels
