"""Stick figures and wire frames: a mechanism at one configuration, to scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..mechanism import Mechanism
from ..types import Floats
from .brush import Brush
from .dimensions import place_dimensions
from .ground import ground_shapes
from .paper import finish, prepared_axes
from .scene import Scene, scene_of
from .style import COLUMN, kept, styled
from .view import View
from .words import place_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MARGIN = 6.0
"""Room for words around what is drawn, mm."""


@dataclass(frozen=True)
class Details:
    """What is drawn beside links and joints."""

    centers: bool = True
    frames: bool = True
    ground: bool = True
    boxes: bool = False
    names: bool = False
    dimensions: bool = False


@styled
def figure_of(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    *,
    view: str | tuple[float, float] | None = None,
    centers: bool = True,
    frames: bool = True,
    ground: bool = True,
    boxes: bool = False,
    names: bool = False,
    dimensions: bool = False,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """A mechanism at q (home unless said), drawn to scale.

    Planar mechanisms are seen onto their plane, others in space; `view` is "xy", "xz", "yz",
    "space" or (azimuth, elevation) in degrees. `boxes` adds the box of every link's inertia,
    `names` those of joints and frames, `dimensions` the lengths of links.
    """
    scene = scene_of(mechanism)
    poses = scene.poses(scene.home if q is None else q)
    seen = scene.view(view)
    details = Details(centers, frames, ground, boxes, names, dimensions)
    figure, axes = prepared_axes(scene, poses[None], seen, width, scene.boxes if boxes else (),
                                 margin=_MARGIN if names or dimensions else 0.0)  # fmt: skip
    brush = draw(axes, scene, poses, seen, details)
    finish(axes, seen)
    _write(brush, details)
    return kept(figure, path)


def draw(axes: Axes, scene: Scene, poses: Floats, view: View, details: Details) -> Brush:
    """One configuration on given axes, with what stands still."""
    if details.ground:
        Brush(axes, scene, poses, view).shapes(ground_shapes(scene, poses[None], view))
    return draw_moving(axes, scene, poses, view, details)


def _write(brush: Brush, details: Details) -> None:
    """Lengths along their links, then names where they cover nothing."""
    scene, labels = brush.scene, []
    if details.dimensions:
        labels += place_dimensions(brush.axes, brush.spans(scene.members), scene.sign)
    if details.names:
        dots = [s for s in scene.frames if s.kind == "dot"]
        labels += brush.labels([*scene.joints, *dots])
    place_words(brush.axes, labels)


def draw_moving(axes: Axes, scene: Scene, poses: Floats, view: View, details: Details) -> Brush:
    """What moves; the brush knows what it has drawn."""
    brush = Brush(axes, scene, poses, view)
    brush.ties(scene.ties)
    if details.boxes:
        brush.shapes([box for box in scene.boxes if box.link not in _boxed(scene)])
    for several in (scene.members, scene.wheels, scene.joints):
        brush.shapes(several)
    brush.shapes(scene.frames if details.frames else [])
    brush.shapes(scene.centers if details.centers else [])
    return brush


def _boxed(scene: Scene) -> set[int]:
    """Links that are drawn as boxes anyway."""
    return {shape.link for shape in scene.members if shape.kind == "solid"}
