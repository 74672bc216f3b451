"""Figures of a plan: start, goal and the path between; coordinates, rates and efforts over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, mechanism_names
from .cyclograph_figure import draw_faint_figure
from .figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    draw_legend,
    draws_figure,
    figure_bytes,
    line_color,
    new_figure,
)
from .glyph_brush import GlyphBrush
from .ground_glyphs import build_ground_glyphs
from .histories import plan_history_panels
from .history_plots import TIME_AXIS_HEIGHT, draw_panel, draw_panel_legends, over_time, panel_height
from .label_text import plain_label
from .mechanism_scene import mechanism_scene
from .panels import Panel
from .scaled_axes import AxesExtent, drawing_extent, finish_axes, prepare_axes
from .view_direction import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

    from ..motion.motion_plan import MotionPlan


PLAN_HISTORIES = ("q", "qd", "qdd", "tau")
"""The histories of a plan that are drawn."""
MAX_PANEL_LINES = 8
"""The most lines that can be told apart in a panel of a mechanism with loops."""
_ALL_LINES_NOTE = "all lines: plan.csv, or plot(only=[…])"
_MAX_STILL_CHANGE = 1e-9
"""Coordinates that change by less stand still, rad or m."""
_START_COLOR, _GOAL_COLOR, _PATH_COLOR = "#B0B0B0", line_color(0), line_color(1)


@draws_figure
def plan_figure(
    plan: MotionPlan,
    *,
    view: str | tuple[float, float] | None = None,
    degrees: bool = False,
    width: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Draw all of a plan: both ends and the path, then histories of the motion.

    Coordinates, velocities, accelerations and efforts of what turns and of what slides have panels
    of their own. The figure is one column wide, or two where one would be taller than a page.

    Parameters
    ----------
    plan : MotionPlan
        A planned motion.
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).
    degrees : bool
        Angles in degrees.
    width : float, optional
        mm, for one column.
    path : str or Path, optional
        File to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> plan = lw.motion.plan_to(lw.gallery("elbow"), "tool", [[1.0, 1.0]], 1.0)
    >>> figure = lw.show.plan_figure(plan)  # path="plan.svg" also saves it
    """
    seen, each = mechanism_scene(plan.mechanism).view(view), width or COLUMN_WIDTH
    found, extent = _plan_panels(plan, PLAN_HISTORIES, degrees), _plan_extent(plan, seen, each)
    top = extent.height + _LEGEND_HEIGHT
    parts = _split_panel_columns(found, top, each, width is None)
    figure = new_figure(
        len(parts) * each, top + sum(panel_height(p, each) for p in parts[0]) + TIME_AXIS_HEIGHT
    )
    grid = figure.add_gridspec(1, len(parts))
    (above,), high = _draw_panel_column(figure, grid[0], plan, parts[0], each, [top])
    for k, part in enumerate(parts[1:], start=1):
        high = max(high, _draw_panel_column(figure, grid[k], plan, part, each)[1])
    figure.set_figheight((high + _LEGEND_HEIGHT) / 25.4)
    extent.set_axes_limits(above)
    _draw_plan_ends(above, plan, seen, each, extent.meters_per_mm)
    _note_left_out_lines(figure, found)
    return figure


def plan_picture(plan: MotionPlan, kind: str) -> bytes:
    """Return the picture of a plan as the content of a file.

    Parameters
    ----------
    plan : MotionPlan
        A planned motion.
    kind : {"png", "pdf", "svg"}
        The format.

    Returns
    -------
    bytes
        What `MotionPlan.save` writes.

    Examples
    --------
    >>> import linkwright as lw
    >>> plan = lw.motion.plan_to(lw.gallery("elbow"), "tool", [[1.0, 1.0]], 1.0)
    >>> lw.show.plan_picture(plan, "png")[1:4]
    b'PNG'
    """
    return figure_bytes(plan_figure(plan), kind)


def _split_panel_columns(
    found: Sequence[Panel], top: float, width: float, may_fold: bool
) -> list[Sequence[Panel]]:
    """The panels in one column, or in two of about equal height if one would be taller than a
    page."""
    heights = [panel_height(panel, width) for panel in found]
    if not may_fold or top + sum(heights) + _LEGEND_HEIGHT <= _PAGE_HEIGHT:
        return [found]
    counts = range(1, len(heights))
    split = min(counts, key=lambda k: max(top + sum(heights[:k]), sum(heights[k:])))
    return [found[:split], found[split:]]


def _draw_panel_column(
    figure: Figure,
    place: SubplotSpec,
    plan: MotionPlan,
    found: Sequence[Panel],
    width: float,
    heads: Sequence[float] = (),
) -> tuple[list[Axes], float]:
    """Draws panels one below the other; returns axes of given heights above them, and the total
    height, mm."""
    rows = place.subgridspec(len(heads) + len(found), 1)
    above = [figure.add_subplot(rows[k]) for k in range(len(heads))]
    several = _stacked_axes(figure, [rows[k] for k in range(len(heads), rows.nrows)])
    for axes, panel in zip(several, found, strict=True):
        draw_panel(axes, plan.t, panel)
    several[-1].set_xlabel("time / s")
    figure.align_ylabels(several)
    heights = [*heads, *draw_panel_legends(several, found, width)]
    rows.set_height_ratios(heights)
    return above, sum(heights)


def _stacked_axes(figure: Figure, places: Sequence[SubplotSpec]) -> list[Axes]:
    """Axes one below the other that share their time axis; only the last one has tick labels."""
    found: list[Axes] = []
    for place in places:
        found.append(figure.add_subplot(place, sharex=found[0] if found else None))
        found[-1].tick_params(labelbottom=len(found) == len(places))
    return found


_SIDE_LABEL_WIDTH = 16.0
"""The width that labels of panels below take from a picture without axes, mm."""
_LEGEND_HEIGHT = 6.0
"""Height of a line of names, mm."""
_PAGE_HEIGHT = 297.0
"""Height of a page, mm."""


@draws_figure
def plan_ends(
    plan: MotionPlan,
    *,
    view: str | tuple[float, float] | None = None,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw the mechanism at the start and at the goal, and the path of the planned frame.

    Parameters
    ----------
    plan : MotionPlan
        A planned motion.
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
    >>> way = lw.motion.quintic([0.0, 0.0], [0.5, 0.4], 1.0)
    >>> plan = lw.motion.planned(lw.gallery("elbow"), "tool", way, samples=11)
    >>> len(lw.show.plan_ends(plan).axes)
    1
    """
    scene = mechanism_scene(plan.mechanism)
    seen = scene.view(view)
    figure, axes = prepare_axes(scene, scene.link_placements(plan.q), seen, width)
    figure.set_figheight(figure.get_figheight() + _LEGEND_HEIGHT / 25.4)
    _draw_plan_ends(axes, plan, seen, width)
    return figure


@draws_figure
def plan_histories(
    plan: MotionPlan,
    *names: str,
    degrees: bool = False,
    only: Sequence[str] = (),
    width: float = COLUMN_WIDTH,
    height: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Plot q, qd, qdd and tau of a plan over time.

    Parameters
    ----------
    plan : MotionPlan
        A planned motion.
    *names : str
        "q", "qd", "qdd" or "tau" (default: all).
    degrees : bool
        Angles in degrees.
    only : sequence of str
        Lines to draw, by name (default: all).
    width, height : float, optional
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
    >>> way = lw.motion.quintic([0.0, 0.0], [0.5, 0.4], 1.0)
    >>> plan = lw.motion.planned(lw.gallery("elbow"), "tool", way, samples=11)
    >>> len(lw.show.plan_histories(plan, "q", "tau").axes)
    2
    """
    found = _plan_panels(plan, names or PLAN_HISTORIES, degrees, only)
    figure = over_time(plan.t, found, width, height)
    _note_left_out_lines(figure, found)
    return figure


def _plan_panels(
    plan: MotionPlan, names: Sequence[str], degrees: bool, only: Sequence[str] = ()
) -> list[Panel]:
    """The panels of histories of a plan; with loops, at most as many lines as can be told apart."""
    for name in names:
        if name not in PLAN_HISTORIES:
            raise NameNotFoundError(
                f"a plan has no '{name}' to draw", remedy=suggest_remedy(name, list(PLAN_HISTORIES))
            )
    found = [panel for name in names for panel in plan_history_panels(plan, name, degrees, only)]
    if (
        only
        or not mechanism_names(plan.mechanism).loops
        or all(len(p.lines) <= MAX_PANEL_LINES for p in found)
    ):
        return found
    leading = _plotted_plan_coordinates(plan)
    return [_limit_panel_lines(panel, leading) for panel in found]


@dataclass(frozen=True)
class _PlottedCoordinates:
    """The coordinates that figures of a mechanism with loops show, in the order of their colours;
    `still_names` do not move and are left out first."""

    names: tuple[str, ...]
    still_names: frozenset[str]


def _plotted_plan_coordinates(plan: MotionPlan) -> _PlottedCoordinates:
    """The coordinates that actuators move, then those that carry the frame."""
    mechanism, known = plan.mechanism, mechanism_names(plan.mechanism)
    driven = [
        n for n in known.q if any(a.drives_coordinate(n) for a in mechanism.actuators.values())
    ]
    joints = _plotted_joints_to_frame(mechanism, plan.frame)
    carrying = [n for n in known.q if n in joints or n.rpartition(".")[0] in joints]
    moved = dict(zip(known.q, np.ptp(plan.q, axis=0) > _MAX_STILL_CHANGE, strict=True))
    return _PlottedCoordinates(
        tuple(dict.fromkeys([*driven, *carrying])),
        frozenset(n for n in carrying if n not in driven and not moved[n]),
    )


def _plotted_joints_to_frame(mechanism: Mechanism, frame: str) -> set[str]:
    """The joints between ground and a frame or body."""
    parents = {joint.child: (name, joint.parent) for name, joint in mechanism.joints.items()}
    body = mechanism.frames[frame].body if frame in mechanism.frames else frame
    found = set()
    while body in parents:
        joint, body = parents[body]
        found.add(joint)
    return found


def _limit_panel_lines(panel: Panel, leading: _PlottedCoordinates) -> Panel:
    """A panel with at most `MAX_PANEL_LINES` lines, the shown coordinates first, and a note on how
    many are left out."""
    places = {name: k for k, name in enumerate(leading.names)}
    lines = {
        line.name: replace(line, order=places.get(line.name, len(places) + k))
        for k, line in enumerate(panel.lines)
    }
    if len(lines) <= MAX_PANEL_LINES:
        return replace(panel, lines=tuple(lines.values()))
    known = [name for name in leading.names if name in lines] or list(lines)
    kept_names = sorted(known, key=lambda name: name in leading.still_names)[:MAX_PANEL_LINES]
    chosen = tuple(lines[name] for name in known if name in kept_names)
    return replace(panel, lines=chosen, note=f"and {len(lines) - len(chosen)} more")


def _note_left_out_lines(figure: Figure, found: Sequence[Panel]) -> None:
    """Notes below the figure where all lines can be found."""
    if any(panel.note for panel in found):
        figure.supxlabel(_ALL_LINES_NOTE, fontsize=7, color=GRAY_COLOR)


def _plan_extent(plan: MotionPlan, view: View, width: float) -> AxesExtent:
    """The extent of the drawing of a plan, over all of its configurations."""
    scene = mechanism_scene(plan.mechanism)
    aside = 0.0 if view.is_planar else _SIDE_LABEL_WIDTH
    return drawing_extent(scene, scene.link_placements(plan.q), view, width, aside=aside)


def _draw_plan_ends(
    axes: Axes, plan: MotionPlan, view: View, width: float, unit: float | None = None
) -> None:
    """Draws the start in grey, the goal in blue, and the path of the frame dashed."""
    from matplotlib.lines import Line2D

    scene = mechanism_scene(plan.mechanism)
    poses = scene.link_placements(plan.q)
    GlyphBrush(axes, scene, poses[0], view).draw_glyphs(build_ground_glyphs(scene, poses, view))
    draw_faint_figure(axes, scene, poses[0], view, _START_COLOR, weight=0.8)
    brush = GlyphBrush(axes, scene, poses[-1], view, tint=_GOAL_COLOR)
    brush.draw_connectors(scene.connector_glyphs)
    for several in (scene.link_glyphs, scene.wheel_glyphs, scene.joint_glyphs):
        brush.draw_glyphs(several)
    flat = view(plan.point)
    axes.plot(*flat.T, ls=(0, (3, 1.5)), color=_PATH_COLOR, lw=1.0, zorder=8)
    axes.plot(*flat[-1], "x", color=_PATH_COLOR, ms=5, mew=1.2, zorder=8)
    finish_axes(axes, view, unit)
    keys = [
        Line2D([], [], color=_START_COLOR, label="start"),
        Line2D([], [], color=_GOAL_COLOR, label="goal"),
        Line2D(
            [], [], color=_PATH_COLOR, ls=(0, (3, 1.5)), label=f"path of {plain_label(plan.frame)}"
        ),
    ]
    draw_legend(axes, keys, width)
