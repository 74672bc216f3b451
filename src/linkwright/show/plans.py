"""Plans: where a motion begins and ends and the way between; joints and drives over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NameNotFoundError, suggest
from ..expressions import names
from ..mechanism import Mechanism, names_of
from .brush import Brush
from .cyclograph_figure import draw_shadow
from .ground import ground_shapes
from .histories import Panel, courses
from .labels import plain
from .paper import Extent, extent_of, finish, prepared_axes
from .plots import FOOT, draw_panel, name_lines, over_time, panel_height
from .scene import scene_of
from .style import COLUMN, GREY, colour, content, kept, legend, sheet, styled
from .view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..motion.plan import Plan


COURSES = ("q", "qd", "qdd", "tau")
"""What of a plan is drawn over time."""
LINES = 8
"""The most lines that can be told apart in a panel of a mechanism with loops."""
_ALL = "all lines: plan.csv, or plot(only=[…])"
_STILL = 1e-9
"""Coordinates that change by less stand still, rad or m."""
_START, _GOAL, _WAY = "#B0B0B0", colour(0), colour(1)


@styled
def plan_figure(
    plan: Plan,
    *,
    view: str | tuple[float, float] | None = None,
    degrees: bool = False,
    width: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """All of a plan: both ends and the way, then coordinates, speeds, accelerations and drives,
    those of what turns and of what slides in panels apart.

    A column wide, or two where one would be taller than a page; one column where a width is given.
    """
    seen, each = scene_of(plan.mechanism).view(view), width or COLUMN
    found, extent = _courses(plan, COURSES, degrees), _extent(plan, seen, each)
    top = extent.height + _KEY
    parts = _folded(found, top, each, width is None)
    figure = sheet(len(parts) * each, top + sum(panel_height(p, each) for p in parts[0]) + FOOT)
    grid = figure.add_gridspec(1, len(parts))
    (above,), high = _draw_column(figure, grid[0], plan, parts[0], each, [top])
    for k, part in enumerate(parts[1:], start=1):
        high = max(high, _draw_column(figure, grid[k], plan, part, each)[1])
    figure.set_figheight((high + _KEY) / 25.4)
    extent.apply(above)
    _draw_ends(above, plan, seen, each, extent.unit)
    _say_what_is_left_out(figure, found)
    return kept(figure, path)


def plan_picture(plan: Plan, kind: str) -> bytes:
    """Return the picture of a plan as the content of a file of the kind "png", "pdf" or "svg"."""
    return content(plan_figure(plan), kind)


def _folded(
    found: Sequence[Panel], top: float, width: float, may_fold: bool
) -> list[Sequence[Panel]]:  # fmt: skip
    """Panels in one column, or in two of about one height where one is taller than a page."""
    heights = [panel_height(panel, width) for panel in found]
    if not may_fold or top + sum(heights) + _KEY <= _PAGE:
        return [found]
    counts = range(1, len(heights))
    split = min(counts, key=lambda k: max(top + sum(heights[:k]), sum(heights[k:])))
    return [found[:split], found[split:]]


def _draw_column(
    figure: Figure, place: Any, plan: Plan, found: Sequence[Panel], width: float,
    heads: Sequence[float] = (),
) -> tuple[list[Axes], float]:  # fmt: skip
    """Panels one below the other; axes of given heights above them, and the height of all, mm."""
    rows = place.subgridspec(len(heads) + len(found), 1)
    above = [figure.add_subplot(rows[k]) for k in range(len(heads))]
    several = _axes_below(figure, [rows[k] for k in range(len(heads), rows.nrows)])
    for axes, panel in zip(several, found, strict=True):
        draw_panel(axes, plan.t, panel)
    several[-1].set_xlabel("time / s")
    figure.align_ylabels(several)
    heights = [*heads, *name_lines(several, found, width)]
    rows.set_height_ratios(heights)
    return above, sum(heights)


def _axes_below(figure: Figure, places: Sequence[Any]) -> list[Axes]:
    """Axes one below the other that share their time; only the last one has its numbers."""
    found: list[Axes] = []
    for place in places:
        found.append(figure.add_subplot(place, sharex=found[0] if found else None))
        found[-1].tick_params(labelbottom=len(found) == len(places))
    return found


_ASIDE = 16.0
"""What labels of panels below take of the width of a picture without axes, mm."""
_KEY = 6.0
"""Height of a line of names, mm."""
_PAGE = 297.0
"""Height of a page, mm."""


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
    _draw_ends(axes, plan, seen, width)
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
    figure = over_time(plan.t, found, width, height)
    _say_what_is_left_out(figure, found)
    return kept(figure, path)


def _courses(
    plan: Plan, names: Sequence[str], degrees: bool, only: Sequence[str] = ()
) -> list[Panel]:  # fmt: skip
    for name in names:
        if name not in COURSES:
            raise NameNotFoundError(
                f"a plan has no '{name}' to draw", remedy=suggest(name, list(COURSES))
            )
    found = [panel for name in names for panel in courses(plan, name, degrees, only)]
    if only or not names_of(plan.mechanism).loops or all(len(p.lines) <= LINES for p in found):
        return found
    leading = _leading(plan)
    return [_shortened(panel, leading) for panel in found]


@dataclass(frozen=True)
class _Leading:
    """Coordinates that a picture of a mechanism with loops shows, in the order of their colours;
    `still` are those that give way first."""

    names: tuple[str, ...]
    still: frozenset[str]


def _leading(plan: Plan) -> _Leading:
    """What actuators move, then what carries the frame."""
    mechanism, known = plan.mechanism, names_of(plan.mechanism)
    driven = [n for n in known.q if any(n in names(a.moves) for a in mechanism.actuators.values())]
    joints = _carriers(mechanism, plan.frame)
    carrying = [n for n in known.q if n in joints or n.rpartition(".")[0] in joints]
    moved = dict(zip(known.q, np.ptp(plan.q, axis=0) > _STILL, strict=True))
    return _Leading(
        tuple(dict.fromkeys([*driven, *carrying])),
        frozenset(n for n in carrying if n not in driven and not moved[n]),
    )


def _carriers(mechanism: Mechanism, frame: str) -> set[str]:
    """The joints between ground and a frame or body."""
    parents = {joint.child: (name, joint.parent) for name, joint in mechanism.joints.items()}
    body = mechanism.frames[frame].body if frame in mechanism.frames else frame
    found = set()
    while body in parents:
        joint, body = parents[body]
        found.add(joint)
    return found


def _shortened(panel: Panel, leading: _Leading) -> Panel:
    """No more lines than can be told apart: those that lead, in colours that they have in all
    panels; and how many there are besides."""
    places = {name: k for k, name in enumerate(leading.names)}
    lines = {
        line.name: replace(line, order=places.get(line.name, len(places) + k))
        for k, line in enumerate(panel.lines)
    }
    if len(lines) <= LINES:
        return replace(panel, lines=tuple(lines.values()))
    known = [name for name in leading.names if name in lines] or list(lines)
    kept_names = sorted(known, key=lambda name: name in leading.still)[:LINES]
    chosen = tuple(lines[name] for name in known if name in kept_names)
    return replace(panel, lines=chosen, note=f"and {len(lines) - len(chosen)} more")


def _say_what_is_left_out(figure: Figure, found: Sequence[Panel]) -> None:
    if any(panel.note for panel in found):
        figure.supxlabel(_ALL, fontsize=7, color=GREY)


def _extent(plan: Plan, view: View, width: float) -> Extent:
    scene = scene_of(plan.mechanism)
    aside = 0.0 if view.flat else _ASIDE
    return extent_of(scene, scene.poses(plan.q), view, width, aside=aside)


def _draw_ends(
    axes: Axes, plan: Plan, view: View, width: float, unit: float | None = None
) -> None:  # fmt: skip
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
    finish(axes, view, unit)
    keys = [
        Line2D([], [], color=_START, label="start"),
        Line2D([], [], color=_GOAL, label="goal"),
        Line2D([], [], color=_WAY, ls=(0, (3, 1.5)), label=f"way of {plain(plan.frame)}"),
    ]
    legend(axes, keys, width)
