"""Free-body diagrams: each body by itself, with arrows for all that acts on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism import Mechanism
from .brush import Brush
from .free_bodies import Applied, FreeBody, free_bodies, state_of
from .labels import symbol
from .scene import Scene, scene_of
from .shapes import GROUND, Shape
from .style import GREY, INK, colour, kept, sheet, styled
from .words import place_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view import View

Floats = NDArray[np.float64]

PAGE = 170.0
"""Width of a page with two columns, mm."""

REACTION, WEIGHT, OTHER = colour(1), colour(0), colour(2)


@styled
def free_body_diagrams(
    mechanism: Mechanism,
    q: Any = None,
    qd: Any = None,
    tau: Any = None,
    t: float = 0.0,
    *,
    view: str | tuple[float, float] | None = None,
    width: float = PAGE,
    path: str | Path | None = None,
) -> Figure:
    """All bodies cut free at a state (home, at rest, without drives unless said).

    Reactions at joints, weights and other forces are arrows, each body's to a scale of its own,
    moments bent arrows; a dashed arrow is m a, to which the forces of the body add up.
    """
    scene, bodies = scene_of(mechanism), free_bodies(mechanism, q, qd, tau, t)
    seen, here = scene.view(view), state_of(mechanism, q, qd, tau, t).q
    columns = min(3, len(bodies))
    rows = -(-len(bodies) // columns)
    figure = sheet(width, rows * width / columns * 0.95 + 4)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    poses = scene.poses(here)
    for axes in grid[len(bodies) :]:
        axes.set_axis_off()
    for axes, body in zip(grid, bodies, strict=False):
        _draw_body(axes, scene, poses, body, seen)
    return kept(figure, path)


def _draw_body(axes: Axes, scene: Scene, poses: Floats, body: FreeBody, view: View) -> None:
    link = scene.tree.bodies[body.name].link
    shapes = [s for s in (*scene.members, *scene.wheels) if s.link == link]
    brush = Brush(axes, scene, poses, view, tint=GREY)
    outlines = [view(brush.world(s.link, s.points)) for s in shapes]
    points = [view(np.array([a.point for a in body.applied] + [body.center])), *outlines]
    corners = np.concatenate(points)
    reach = max(float(np.ptp(corners, axis=0).max()), 0.1 * scene.size)
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    axes.set_xlim(middle[0] - 1.15 * reach, middle[0] + 1.15 * reach)
    axes.set_ylim(middle[1] - 1.05 * reach, middle[1] + 1.05 * reach)
    axes.set_aspect("equal")
    axes.set_axis_off()
    brush.shapes(shapes)
    brush.shapes([Shape("center", GROUND, body.center[None, :])])
    arrows = _arrows(body, view, 0.65 * reach)
    top = max((float((start + along)[1]) for start, along, *_ in arrows), default=-np.inf)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, top + 0.1 * reach))
    axes.set_title(symbol(body.name))
    for start, along, paint, dashed, _ in arrows:
        arrow(axes, start, along, paint, dashed)
    words = [word for *_, word in arrows]
    spots = [start + along for start, along, *_ in arrows]
    for load in _turning(body):
        sense = float(np.sign(load.moment @ view.toward)) or 1.0
        outlines.append(_bent_arrow(axes, view(load.point), 0.12 * reach, sense, _paint(load.name)))
        words.append(f"{_amount(load.moment)} N·m")
        spots.append(view(load.point))
    outlines += [np.array([start, start + along]) for start, along, *_ in arrows]
    place_words(axes, words, spots, outlines, size=6)


def _arrows(body: FreeBody, view: View, longest: float) -> list[tuple[Any, ...]]:
    """Start, length on the paper, colour, dashes and words of every force, and of m a."""
    loads = [(a.point, a.force, _paint(a.name), False, symbol(a.name)) for a in body.applied]
    loads.append((body.center, body.rate, INK, True, "$m a$"))
    strongest = max(float(np.linalg.norm(view(force))) for _, force, *_ in loads) or 1.0
    return [
        (
            view(point),
            view(force) * longest / strongest,
            paint,
            dashed,
            f"{word} {_amount(force)} N",
        )
        for point, force, paint, dashed, word in loads
        if np.linalg.norm(view(force)) > 0.01 * strongest
    ]


def _turning(body: FreeBody) -> list[Applied]:
    """Loads with a moment worth an arrow."""
    sizes = [float(np.linalg.norm(load.moment)) for load in body.applied]
    least = max(1e-9, 1e-6 * max(sizes, default=0.0))
    return [load for load, size in zip(body.applied, sizes, strict=True) if size > least]


def _paint(name: str) -> str:
    """Weight, joints and all else have their colours."""
    if name == "weight":
        return WEIGHT
    return OTHER if name.split(" ")[0] in ("spring", "load", "constraints") else REACTION


def _amount(vector: Floats) -> str:
    return f"{float(np.linalg.norm(vector)):.3g}"


def arrow(axes: Axes, start: Floats, along: Floats, paint: str, dashed: bool = False) -> None:
    """From a point along a vector, on the paper."""
    if not np.linalg.norm(along):
        return
    look = {"arrowstyle": "-|>", "lw": 1.0, "color": paint, "shrinkA": 0, "shrinkB": 0,
            "mutation_scale": 7, "linestyle": (0, (4, 2)) if dashed else "-"}  # fmt: skip
    axes.annotate("", start + along, start, arrowprops=look, annotation_clip=False, zorder=8)


def _bent_arrow(axes: Axes, middle: Floats, radius: float, turn: float, paint: str) -> Floats:
    angles = np.radians(np.linspace(150, -90, 30) if turn < 0 else np.linspace(30, 270, 30))
    ring = middle + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    axes.plot(ring[:-1, 0], ring[:-1, 1], color=paint, lw=0.9, zorder=8)
    arrow(axes, ring[-3], ring[-1] - ring[-3], paint)
    return ring
