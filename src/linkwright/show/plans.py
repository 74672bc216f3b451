"""Plans: where a motion begins and ends and the way between; joints and drives over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import NameNotFoundError, suggest
from .brush import Brush
from .cyclograph import draw_shadow
from .ground import ground_shapes
from .histories import Panel, courses
from .labels import plain
from .paper import Extent, extent_of, finish, prepared_axes
from .plots import draw_panel, over_time, panel_height
from .scene import scene_of
from .style import COLUMN, colour, kept, legend, sheet, styled
from .view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..motion.plan import Plan

Floats = NDArray[np.float64]

COURSES = ("q", "qd", "qdd", "tau")
"""What of a plan is drawn over time."""
_START, _GOAL, _WAY = "#B0B0B0", colour(0), colour(1)


@styled
def plan_figure(
    plan: Plan,
    *,
    view: str | tuple[float, float] | None = None,
    degrees: bool = False,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """All of a plan: both ends and the way, then coordinates, speeds, accelerations and drives,
    those of what turns and of what slides in panels apart."""
    seen = scene_of(plan.mechanism).view(view)
    found, extent = _courses(plan, COURSES, degrees), _extent(plan, seen, width)
    heights = [extent.height + _KEY, *(panel_height(panel, width) for panel in found)]
    figure = sheet(width, sum(heights) + _KEY)
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    top = figure.add_subplot(grid[0])
    extent.apply(top)
    _draw_ends(top, plan, seen)
    below: list[Axes] = []
    for k, panel in enumerate(found):
        below.append(figure.add_subplot(grid[k + 1], sharex=below[0] if below else None))
        draw_panel(below[k], plan.t, panel)
        below[k].tick_params(labelbottom=k == len(found) - 1)
    below[-1].set_xlabel("time / s")
    figure.align_ylabels(below)
    return kept(figure, path)


_KEY = 6.0
"""Height of a line of names, mm."""


@styled
def plan_ends(
    plan: Plan,
    *,
    view: str | tuple[float, float] | None = None,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """The mechanism at the start and at the goal, and the way of the planned frame."""
    scene = scene_of(plan.mechanism)
    seen = scene.view(view)
    figure, axes = prepared_axes(scene, scene.poses(plan.q), seen, width)
    figure.set_figheight(figure.get_figheight() + _KEY / 25.4)
    _draw_ends(axes, plan, seen)
    return kept(figure, path)


@styled
def plan_courses(
    plan: Plan,
    *names: str,
    degrees: bool = False,
    only: Sequence[str] = (),
    width: float = COLUMN,
    height: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """q, qd, qdd and tau of a plan over time; `only` picks lines by name."""
    found = _courses(plan, names or COURSES, degrees, only)
    return kept(over_time(plan.t, found, width, height), path)


def _courses(
    plan: Plan, names: Sequence[str], degrees: bool, only: Sequence[str] = ()
) -> list[Panel]:  # fmt: skip
    for name in names:
        if name not in COURSES:
            raise NameNotFoundError(
                f"a plan has no '{name}' to draw", remedy=suggest(name, list(COURSES))
            )
    return [panel for name in names for panel in courses(plan, name, degrees, only)]


def _extent(plan: Plan, view: View, width: float) -> Extent:
    scene = scene_of(plan.mechanism)
    return extent_of(scene, scene.poses(plan.q), view, width)


def _draw_ends(axes: Axes, plan: Plan, view: View) -> None:
    """Grey at the start, blue at the goal, and a dashed way between."""
    from matplotlib.lines import Line2D

    scene = scene_of(plan.mechanism)
    poses = scene.poses(plan.q)
    Brush(axes, scene, poses[0], view).shapes(ground_shapes(scene, poses, view))
    draw_shadow(axes, scene, poses[0], view, _START, weight=0.8)
    brush = Brush(axes, scene, poses[-1], view, tint=_GOAL)
    brush.ties(scene.ties)
    for several in (scene.members, scene.wheels, scene.joints):
        brush.shapes(several)
    flat = view(plan.point)
    axes.plot(*flat.T, ls=(0, (3, 1.5)), color=_WAY, lw=1.0, zorder=8)
    axes.plot(*flat[-1], "x", color=_WAY, ms=5, mew=1.2, zorder=8)
    finish(axes, view)
    keys = [
        Line2D([], [], color=_START, label="start"),
        Line2D([], [], color=_GOAL, label="goal"),
        Line2D([], [], color=_WAY, ls=(0, (3, 1.5)), label=f"way of {plain(plan.frame)}"),
    ]
    legend(axes, keys)
