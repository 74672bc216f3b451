"""Axes to scale for pictures of mechanisms: ticks in the plane, a scale bar in space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .figure_style import GRAY_COLOR, INK_COLOR, new_figure
from .glyphs import GROUND_LINK
from .ground_glyphs import build_ground_glyphs
from .label_placement import nearest_free_label_shift
from .paper_transform import PaperTransform, drawn_label_obstacles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .glyphs import Glyph
    from .mechanism_scene import Scene
    from .view_direction import View


_MAX_HEIGHT_SHARE, _MIN_HEIGHT_SHARE, _SCALE_BAR_HEIGHT = 1.15, 0.22, 13.0
"""Height over width of a picture at most and at least; mm below it for the scale."""


def drawing_bounds(
    scene: Scene, poses: Floats, view: View, more: Sequence[Glyph] = ()
) -> tuple[Floats, Floats]:
    """The corners on the paper, m, of all that is drawn at placements (times, links + 1, 3, 4)."""
    shapes = [
        *scene.link_glyphs,
        *scene.wheel_glyphs,
        *scene.joint_glyphs,
        *scene.center_glyphs,
        *scene.frame_glyphs,
        *build_ground_glyphs(scene, poses, view),
        *more,
    ]
    points = [_drawn_points_at_placements(poses, s.link, s.points) for s in shapes]
    for tie in scene.connector_glyphs:
        points += [
            _drawn_points_at_placements(poses, k, p[None])
            for k, p in zip(tie.links, tie.points, strict=True)
        ]
    every = view(np.concatenate(points)) if points else np.zeros((1, 2))
    margin = 2.5 * scene.glyph_radius
    return every.min(axis=0) - margin, every.max(axis=0) + margin


def _limit_picture_proportions(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The corners with room added where a picture would be too flat or too tall for a page."""
    wide, tall = high - low
    extra = np.array(
        [max(tall / _MAX_HEIGHT_SHARE - wide, 0.0), max(wide * _MIN_HEIGHT_SHARE - tall, 0.0)]
    )
    return low - extra / 2, high + extra / 2


def _drawn_points_at_placements(poses: Floats, link: int, points: Floats) -> Floats:
    """Points of a link at all placements, in the world, (n, 3)."""
    if link == GROUND_LINK:
        return points
    placed = np.einsum("tij,kj->tki", poses[:, link, :, :3], points)
    return np.asarray(placed + poses[:, None, link, :, 3]).reshape(-1, 3)


@dataclass(frozen=True)
class AxesExtent:
    """The extent of a picture in metres, its height in mm, and the metres per millimetre."""

    low: Floats
    high: Floats
    height: float
    meters_per_mm: float

    def set_axes_limits(self, axes: Axes) -> None:
        """Sets the limits of axes to this extent, to scale."""
        axes.set_aspect("equal")
        axes.set_xlim(self.low[0], self.high[0])
        axes.set_ylim(self.low[1], self.high[1])


def drawing_extent(
    scene: Scene,
    poses: Floats,
    view: View,
    width: float,
    *,
    more: Sequence[Glyph] = (),
    aside: float = 0.0,
    margin: float = 0.0,
) -> AxesExtent:
    """The extent of a picture of a width in mm, as high as its scale needs.

    `aside` mm of the width are left for labels beside it, `margin` mm on all sides for labels.
    """
    low, high = _limit_picture_proportions(*drawing_bounds(scene, poses, view, more))
    margin, frame = min(margin, 0.15 * width), 14 if view.is_planar else 2
    unit = float((high - low)[0]) / max(width - aside - 2 * margin - frame, 0.3 * width)
    low, high = low - margin * unit, high + margin * unit
    if not view.is_planar:
        low = low - [0, _SCALE_BAR_HEIGHT * unit]
    height = float((high - low)[1]) / unit + (11 if view.is_planar else 2)
    return AxesExtent(low, high, height, unit)


def prepare_axes(
    scene: Scene,
    poses: Floats,
    view: View,
    width: float,
    *,
    more: Sequence[Glyph] = (),
    aside: float = 0.0,
    margin: float = 0.0,
) -> tuple[Figure, Axes]:
    """A figure with axes for one picture of a mechanism."""
    extent = drawing_extent(scene, poses, view, width, more=more, aside=aside, margin=margin)
    figure = new_figure(width, extent.height)
    axes = figure.add_subplot()
    extent.set_axes_limits(axes)
    return figure, axes


def axes_meters_per_mm(axes: Axes) -> float:
    """The metres of the mechanism that a millimetre of the paper shows."""
    low, high = axes.get_xlim()
    share = axes.get_position().width * 1.08  # the layout will use more of the paper
    return float((high - low) / (axes.figure.get_figwidth() * 25.4 * share))


class FreePictureCorners:
    """The free space on axes for a scale bar and for the directions of the world's axes."""

    def __init__(self, axes: Axes, meters_per_mm: float) -> None:
        self.meters_per_mm = meters_per_mm
        self.paper = PaperTransform.before_layout(axes, meters_per_mm)
        self.obstacles = drawn_label_obstacles(self.paper)

    def reserve_box(self, low: Floats, high: Floats) -> Floats:
        """Reserves the nearest free box of the same size, and returns the shift to it, m."""
        ends = self.paper([low, high])
        shift = nearest_free_label_shift(self.obstacles, *ends)
        a, b = ends + shift
        self.obstacles.add_text_box(np.array([a, [b[0], a[1]], b, [a[0], b[1]]]))
        return np.asarray(shift * self.meters_per_mm)


def finish_axes(axes: Axes, view: View, unit: float | None = None) -> None:
    """Labels axes in metres in the plane; in space draws a scale bar and the directions of x, y,
    z."""
    if view.is_planar:
        axes.set_xlabel(f"{view.axis_name(view.right)} / m")
        axes.set_ylabel(f"{view.axis_name(view.up)} / m")
        return
    axes.set_axis_off()
    unit = unit or axes_meters_per_mm(axes)
    corners = FreePictureCorners(axes, unit)
    _draw_axis_directions(axes, view, corners)
    _draw_scale_bar(axes, corners)


def round_scale_bar_length(most: float) -> float:
    """The largest of 1, 2, 5, 10, … that is not larger than a number."""
    power = 10.0 ** np.floor(np.log10(most))
    return float(max(k * power for k in (1, 2, 5) if k * power <= most))


def _draw_scale_bar(axes: Axes, corners: FreePictureCorners) -> None:
    """Draws the scale bar in the lower right corner, or near it where that is free."""
    unit = corners.meters_per_mm
    length = round_scale_bar_length(22 * unit)
    right = np.array([axes.get_xlim()[1] - 3 * unit, axes.get_ylim()[0] + 5 * unit])
    low, high = right - [length, 4.2 * unit], right + np.array([0, unit])
    x, y = right + corners.reserve_box(low, high)
    axes.plot([x - length, x], [y, y], color=INK_COLOR, lw=1.5, solid_capstyle="butt")
    axes.text(x - length / 2, y - 0.8 * unit, f"{length:g} m", ha="center", va="top")


def _draw_axis_directions(axes: Axes, view: View, corners: FreePictureCorners) -> None:
    """Draws little arrows along x, y and z of the world, in the lower left corner or near it."""
    unit = corners.meters_per_mm
    tips = {name: 7 * unit * view(axis) for name, axis in zip("xyz", np.eye(3), strict=True)}
    tips = {name: tip for name, tip in tips.items() if np.linalg.norm(tip) >= unit}
    ends = {name: tip * (1 + 1.8 * unit / np.linalg.norm(tip)) for name, tip in tips.items()}
    spread = np.array([*ends.values(), np.zeros(2)])
    low, high = spread.min(axis=0) - 1.4 * unit, spread.max(axis=0) + 1.4 * unit
    corner = np.array([axes.get_xlim()[0] + 6 * unit, axes.get_ylim()[0] + 0.3 * unit])
    middle = corner - [min(low[0] + 6 * unit, 0.0), low[1]]
    middle = middle + corners.reserve_box(middle + low, middle + high)
    for name, tip in tips.items():
        axes.annotate(
            "",
            middle + tip,
            middle,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-|>",
                "lw": 0.7,
                "color": GRAY_COLOR,
                "shrinkA": 0,
                "shrinkB": 0,
                "mutation_scale": 5,
            },
        )
        end = middle + ends[name]
        axes.text(*end, f"${name}$", ha="center", va="center", color=GRAY_COLOR, fontsize=7)
