"""Stick figures and wire frames: a mechanism at one configuration, to scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..mechanism import Mechanism
from ..types import Floats
from .axes_labels import draw_labels
from .figure_style import COLUMN_WIDTH, draws_figure
from .glyph_brush import GlyphBrush
from .ground_glyphs import build_ground_glyphs
from .length_dimensions import write_length_dimensions
from .mechanism_scene import Scene, mechanism_scene
from .scaled_axes import finish_axes, prepare_axes
from .view_direction import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LABEL_MARGIN = 6.0
"""Room for words around what is drawn, mm."""


@dataclass(frozen=True)
class DrawingDetails:
    """The details that are drawn besides links and joints."""

    centers: bool = True
    frames: bool = True
    ground: bool = True
    boxes: bool = False
    names: bool = False
    dimensions: bool = False
    shapes: bool = True


@draws_figure
def figure_of(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    *,
    t: float = 0.0,
    view: str | tuple[float, float] | None = None,
    centers: bool = True,
    frames: bool = True,
    ground: bool = True,
    boxes: bool = False,
    names: bool = False,
    dimensions: bool = False,
    shapes: bool = True,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw a mechanism to scale.

    Planar mechanisms are seen normal to their plane, others in space.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q : (nq,) array, optional
        Coordinates, rad or m (default: home).
    t : float
        Time, s, where the coordinates depend on it.
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).
    centers, frames, ground : bool
        Draw centres of mass, frames, ground.
    boxes : bool
        Draw the box of every link's inertia.
    names : bool
        Write the names of joints and frames.
    dimensions : bool
        Write the lengths of links.
    shapes : bool
        Draw the shapes of bodies, if the file has some; meshes need the extra `mesh`.
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
    >>> len(lw.show.figure_of(lw.gallery("elbow"), [0.5, 0.5]).axes)
    1
    """
    scene = mechanism_scene(mechanism)
    poses = scene.link_placements(scene.home if q is None else q, t)
    seen = scene.view(view)
    details = DrawingDetails(centers, frames, ground, boxes, names, dimensions, shapes)
    more = [*(scene.inertia_boxes if boxes else ())]
    more += [one.box_glyph() for one in scene.drawn_shapes.surfaces] if shapes else []
    figure, axes = prepare_axes(
        scene,
        poses[None],
        seen,
        width,
        more=more,
        margin=_LABEL_MARGIN if names or dimensions else 0.0,
    )
    brush = draw_stick_figure(axes, scene, poses, seen, details)
    finish_axes(axes, seen)
    _write_figure_labels(brush, details)
    return figure


def draw_stick_figure(
    axes: Axes, scene: Scene, poses: Floats, view: View, details: DrawingDetails
) -> GlyphBrush:
    """Draws one configuration on axes, with ground; returns the brush that drew it."""
    if details.ground:
        GlyphBrush(axes, scene, poses, view).draw_glyphs(
            build_ground_glyphs(scene, poses[None], view)
        )
    return draw_moving_glyphs(axes, scene, poses, view, details)


def _write_figure_labels(brush: GlyphBrush, details: DrawingDetails) -> None:
    """Writes lengths along their links, then names where they cover nothing."""
    scene, labels = brush.scene, []
    if details.dimensions:
        labels += write_length_dimensions(
            brush.axes, brush.dimension_lines(scene.link_glyphs), scene.glyph_radius
        )
    if details.names:
        dots = [s for s in scene.frame_glyphs if s.kind == "dot"]
        labels += brush.name_labels([*scene.joint_glyphs, *dots])
    draw_labels(brush.axes, labels)


def draw_moving_glyphs(
    axes: Axes, scene: Scene, poses: Floats, view: View, details: DrawingDetails
) -> GlyphBrush:
    """Draws the glyphs that move; returns the brush, which knows its artists."""
    brush = GlyphBrush(axes, scene, poses, view)
    if details.shapes:
        brush.draw_surfaces(scene.drawn_shapes.surfaces)
    brush.draw_connectors(scene.connector_glyphs)
    if details.boxes:
        brush.draw_glyphs(
            [box for box in scene.inertia_boxes if box.link not in _links_drawn_as_boxes(scene)]
        )
    for several in (scene.link_glyphs, scene.wheel_glyphs, scene.joint_glyphs):
        brush.draw_glyphs(several)
    brush.draw_glyphs(scene.frame_glyphs if details.frames else [])
    brush.draw_glyphs(scene.center_glyphs if details.centers else [])
    return brush


def _links_drawn_as_boxes(scene: Scene) -> set[int]:
    """The links that are drawn as boxes in any case."""
    return {shape.link for shape in scene.link_glyphs if shape.kind == "solid"}
