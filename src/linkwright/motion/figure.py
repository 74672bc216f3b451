"""The pictures of a plan: where it begins and ends, joints, speeds, accelerations, torques."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import MissingExtraError
from ..mechanism import GROUND
from ..model import compile as compiled
from .plan import Plan
from .units import units_of

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
"""Okabe and Ito's, which the colour-blind can tell apart."""
_DASHES = ("-", "--", "-.", ":")


def figure_of(plan: Plan) -> Any:
    """A matplotlib figure, readable on one column's width of a page: both ends, then coordinates,
    speeds, accelerations and drives, those of what turns and of what slides in panels apart."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError(
            "pictures need matplotlib", remedy="pip install linkwright[show]"
        ) from None
    panels = _panels(plan)
    height = (len(panels) + 1) // 2
    figure = Figure(figsize=(7.2, 3.4 + 2.4 * height), layout="constrained")
    grid = figure.add_gridspec(1 + height, 2, height_ratios=(1.25, *[1] * height))
    _draw_ends(figure, grid[0, :], plan)
    lines: dict[int, Any] = {}
    for k, (rows, label, chosen) in enumerate(panels):
        axes = figure.add_subplot(grid[1 + k // 2, k % 2])
        lines |= _draw_course(axes, plan, rows, label, chosen)
    names = [_plain(name) for name in compiled(plan.mechanism).qd_names]
    figure.legend(
        [lines[k] for k in range(len(names))], names, loc="outside lower center",
        ncols=min(len(names), 7), frameon=False,
    )  # fmt: skip
    return figure


def _plain(name: str) -> str:
    """A name as it is written, never a formula of matplotlib's."""
    return name.replace("$", r"\$")


def _panels(plan: Plan) -> list[tuple[Any, str, list[int]]]:
    """Rows, label and coordinates of every panel: of one unit each."""
    units = units_of(plan.mechanism)
    courses = (
        (plan.q, "coordinate"), (plan.qd, "speed"), (plan.qdd, "acceleration"), (plan.tau, "drive")
    )  # fmt: skip
    return [
        (rows, f"{what} / {unit.all[k]}" if unit.all[k] else what,
         [i for i, own in enumerate(units) if own == unit])
        for k, (rows, what) in enumerate(courses)
        for unit in dict.fromkeys(units)
    ]  # fmt: skip


def _draw_course(axes: Any, plan: Plan, rows: Any, label: str, chosen: list[int]) -> dict[int, Any]:
    lines = {}
    for k in chosen:
        colour, dash = COLOURS[k % 7], _DASHES[(k // 7) % 4]
        (lines[k],) = axes.plot(plan.t, rows[:, k], dash, color=colour, lw=1.4)
    axes.set(xlabel="time / s", ylabel=label, xlim=(plan.t[0], plan.t[-1]))
    axes.grid(alpha=0.3, lw=0.5)
    return lines


def _draw_ends(figure: Any, place: Any, plan: Plan) -> None:
    """Stick figures at start and end, and the frame's way between: one view of what is plane,
    two of what is not."""
    sticks = [_sticks(plan, q) for q in (plan.q[0], plan.q[-1])]
    points = np.concatenate([*(np.concatenate(stick) for stick in sticks), plan.point])
    views = _views(np.ptp(points, axis=0))
    grid = place.subgridspec(1, len(views))
    for k, view in enumerate(views):
        axes = figure.add_subplot(grid[0, k])
        _draw_view(axes, plan, sticks, view)
        if k == len(views) - 1:
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=9)


def _views(extent: Any) -> list[list[int]]:
    """The axes to show: across and up."""
    thin = [k for k in range(3) if extent[k] <= 1e-9 * extent.max()]
    if thin:
        return [[k for k in range(3) if k != thin[-1]]]
    return [[0, 2], [0, 1]]


def _draw_view(axes: Any, plan: Plan, sticks: list[Any], view: list[int]) -> None:
    for stick, colour, label in zip(sticks, ("0.6", COLOURS[0]), ("start", "goal"), strict=True):
        for k, ends in enumerate(stick):
            axes.plot(*ends.T[view], "-o", color=colour, lw=2, ms=3.5, label="" if k else label)
    axes.plot(
        *plan.point.T[view], "--", color=COLOURS[5], lw=1.2, label=f"way of {_plain(plan.frame)}"
    )
    axes.set(xlabel=f"{'xyz'[view[0]]} / m", ylabel=f"{'xyz'[view[1]]} / m")
    axes.set_aspect("equal", adjustable="datalim")
    axes.grid(alpha=0.3, lw=0.5)


def _sticks(plan: Plan, q: Any) -> list[Any]:
    """Segments from every joint's parent to its child, and to the frame; none of length 0."""
    model = compiled(plan.mechanism)
    bodies = {GROUND: np.zeros(3)}
    for name in plan.mechanism.bodies:
        bodies[name] = model.placement(name)(q)[:3, 3]
    pairs = [(j.parent, j.child) for _, j in plan.mechanism.joints_depth_first()]
    found = [np.array([bodies[a], bodies[b]]) for a, b in pairs]
    tip = plan.mechanism.frames.get(plan.frame)
    if tip is not None:
        found.append(np.array([bodies[tip.body], model.placement(plan.frame)(q)[:3, 3]]))
    return [ends for ends in found if np.linalg.norm(ends[1] - ends[0]) > 1e-9]
