"""Figures of linkages: ratios over the input, instant centres, coupler curves, shaking forces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..linkages import CouplerCurve, InstantCenter, InstantCenters, LinkageAnalysis, ShakingForces
from ..types import Floats
from .arrows import draw_arrow
from .axes_labels import Label, draw_labels
from .figure_style import COLUMN_WIDTH, GRAY_COLOR, INK_COLOR, draws_figure, line_color, new_figure
from .glyphs import GROUND_LINK, Glyph
from .history_plots import over_time
from .label_text import symbol_label
from .mechanism_scene import Scene, mechanism_scene
from .panels import HistoryLine, Panel
from .scaled_axes import axes_meters_per_mm, finish_axes, prepare_axes
from .stick_figures import DrawingDetails, draw_stick_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .view_direction import View

_MAX_CENTER_DISTANCE = 2.0
"""Centres that are farther from the mechanism than this, in its sizes, are named with their place:
the picture would shrink for them."""

_RING_RADIUS = 1.3
"""Radius of the ring of an instant centre, mm."""

_ADVANTAGE_SHARE = 4.0
"""Mechanical advantages are drawn up to this multiple of their median: they are infinite at dead
centres."""

_CURVE_DOTS = 12
"""Dots on a coupler curve at equal steps of the input: their distances show the speed."""

_POLAR_HEIGHT = 78.0
"""Height of the hodograph of a shaking force, mm."""


@draws_figure
def linkage_figure(
    analysis: LinkageAnalysis, *, width: float = COLUMN_WIDTH, path: str | Path | None = None
) -> Figure:
    """Plot the ratios, the mechanical advantage and the transmission angle over the input.

    Parameters
    ----------
    analysis : LinkageAnalysis
        What `linkages.analyze_linkage` found.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.analyze_linkage(lw.gallery("four-bar"), samples=37)
    >>> len(lw.show.linkage_figure(found).axes)
    4
    """
    advantage = analysis.mechanical_advantage
    most = _ADVANTAGE_SHARE * float(np.median(np.abs(advantage)))
    ratio_unit = _ratio_unit(analysis.output_unit, analysis.input_unit)
    panels = [
        _single_line_panel("velocity ratio", ratio_unit, analysis.velocity_ratio),
        _single_line_panel(
            "acceleration ratio",
            ratio_unit.replace("/rad", "/rad²").replace("/m", "/m²"),
            analysis.acceleration_ratio,
        ),
        _single_line_panel(
            "mechanical advantage",
            _ratio_unit(analysis.input_unit, analysis.output_unit),
            np.clip(advantage, -most, most),
        ),
    ]
    angles = analysis.transmission.angles
    if angles is not None:
        panels.append(_single_line_panel("transmission angle", "°", np.degrees(angles)))
    turns = analysis.input_unit == "rad"
    values = np.degrees(analysis.input_values) if turns else analysis.input_values
    figure = over_time(values, panels, width)
    for axes in figure.axes[:2]:
        axes.axhline(0, color=INK_COLOR, lw=0.5)
    (line,) = figure.axes[2].get_lines()
    line.set_ydata(np.where(np.abs(advantage) < most, advantage, np.nan))
    figure.axes[-1].set_xlabel(f"{symbol_label(analysis.input)} / {'°' if turns else 'm'}")
    return figure


def _ratio_unit(above: str, below: str) -> str:
    """The unit of a ratio: 1, m/rad, or rad/m."""
    return "1" if above == below else f"{above}/{below}"


def _single_line_panel(quantity: str, unit: str, values: Floats) -> Panel:
    """A panel with one line, named by its axis."""
    return Panel(quantity, unit, (HistoryLine(quantity, quantity, values),))


@draws_figure
def instant_center_figure(
    centers: InstantCenters, *, width: float = COLUMN_WIDTH, path: str | Path | None = None
) -> Figure:
    """Draw a mechanism with the instant centres of all pairs of its links.

    Parameters
    ----------
    centers : InstantCenters
        What `linkages.instant_centers` found.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure. Pins are rings with a dot, poles rings; centres far away or at infinity
        are named at the edge of the picture, at the end of an arrow toward them.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.linkages.instant_centers(lw.gallery("four-bar"), {"theta1": 1.0})
    >>> len(lw.show.instant_center_figure(found).axes)
    1
    """
    scene = mechanism_scene(centers.mechanism)
    seen, poses = scene.view(None), scene.link_placements(centers.q)
    middle = poses[:-1, :, 3].mean(axis=0)
    near = [_is_near(center, middle, scene.size) for center in centers.centers]
    shown = [one for one, is_near in zip(centers.centers, near, strict=True) if is_near]
    dots = [Glyph("dot", GROUND_LINK, one.point[None]) for one in shown]
    figure, axes = prepare_axes(scene, poses[None], seen, width, more=dots, margin=9.0)
    draw_stick_figure(axes, scene, poses, seen, DrawingDetails(centers=False, frames=False))
    finish_axes(axes, seen)
    unit = axes_meters_per_mm(axes)
    labels = [_draw_ring(axes, seen, one, unit) for one in _joined_centers(shown)]
    distant = [one for one, is_near in zip(centers.centers, near, strict=True) if not is_near]
    labels += [
        _draw_distant_center(axes, seen, one, middle, unit) for one in distant if one.kind != "rest"
    ]
    draw_labels(axes, labels)
    return figure


def _is_near(center: InstantCenter, middle: Floats, size: float) -> bool:
    """Whether a centre is near enough to be drawn where it is."""
    return bool(np.linalg.norm(center.point - middle) <= _MAX_CENTER_DISTANCE * size)


def _joined_centers(shown: list[InstantCenter]) -> list[list[InstantCenter]]:
    """Centres that coincide, together."""
    groups: list[list[InstantCenter]] = []
    for one in shown:
        for group in groups:
            if np.linalg.norm(group[0].point - one.point) < 1e-9:
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def _center_label(center: InstantCenter) -> str:
    return f"$I_{{{center.label[1:]}}}$"


def _draw_ring(axes: Axes, view: View, group: list[InstantCenter], unit: float) -> Label:
    """Draws a ring around the place of some centres, and returns their label."""
    at, is_pin = view(group[0].point), any(one.kind == "pin" for one in group)
    angles, paint = np.linspace(0, 2 * np.pi, 25), line_color(0 if is_pin else 1)
    ring = at + _RING_RADIUS * unit * np.column_stack([np.cos(angles), np.sin(angles)])
    axes.plot(*ring.T, color=paint, lw=1.2, zorder=9)
    if is_pin:
        axes.plot(*at, ".", ms=2.5, color=paint, zorder=9)
    return Label(", ".join(map(_center_label, group)), at[None], _RING_RADIUS * unit)


def _draw_distant_center(
    axes: Axes, view: View, center: InstantCenter, middle: Floats, unit: float
) -> Label:
    """Draws an arrow toward a centre that is far away, and returns its label."""
    is_infinite = center.kind == "infinity"
    toward = view(center.direction if is_infinite else center.point - middle)
    toward = toward / np.linalg.norm(toward)
    low, high = np.array([axes.get_xlim(), axes.get_ylim()]).T
    start = view(middle)
    ends = np.where(toward > 0, high - start, low - start)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.nanmin(np.where(np.abs(toward) > 1e-9, ends / toward, np.inf))
    tip = start + (reach - 2 * unit) * toward
    draw_arrow(axes, tip - 8 * unit * toward, 8 * unit * toward, GRAY_COLOR)
    place = ", ".join(f"{x:.3g}" for x in view(center.point))
    text = "at infinity" if is_infinite else f"at ({place}) m"
    return Label(f"{_center_label(center)} {text}", (tip - 4 * unit * toward)[None], unit)


@draws_figure
def coupler_curve_figure(
    curve: CouplerCurve,
    *,
    position: int = 0,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw a coupler curve with the linkage that makes it.

    Parameters
    ----------
    curve : CouplerCurve
        What `linkages.coupler_curve` found.
    position : int
        The sample at which the linkage is drawn.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure. Dots mark equal steps of the input: far apart, the point is fast.

    Examples
    --------
    >>> import linkwright as lw
    >>> curve = lw.linkages.coupler_curve(lw.gallery("four-bar"), ("coupler", (1.5, 1.0)))
    >>> len(lw.show.coupler_curve_figure(curve).axes)
    1
    """
    scene = mechanism_scene(curve.mechanism)
    seen, poses = scene.view(None), scene.link_placements(curve.motion.q[position])
    trace = Glyph("dot", GROUND_LINK, curve.position)
    figure, axes = prepare_axes(scene, poses[None], seen, width, more=[trace], margin=2.0)
    flat = seen(curve.position)
    axes.plot(*flat.T, color=line_color(1), lw=1.3, zorder=4)
    steps = np.linspace(0, len(flat) - 1, _CURVE_DOTS + 1).round().astype(int)
    axes.plot(*flat[steps].T, ".", color=line_color(1), ms=4, mec="none", zorder=4.5)
    draw_stick_figure(axes, scene, poses, seen, DrawingDetails(centers=False))
    axes.plot(*seen(curve.position[position]), "o", color=line_color(1), ms=4, zorder=9)
    finish_axes(axes, seen)
    return figure


@draws_figure
def shaking_figure(
    shaking: ShakingForces, *, width: float = COLUMN_WIDTH, path: str | Path | None = None
) -> Figure:
    """Plot the hodograph of the shaking force, and the shaking moment.

    Parameters
    ----------
    shaking : ShakingForces
        What `linkages.shaking_forces` found.
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure: the path of the force's tip in the plane of motion, and the moment
        about the plane's normal.

    Examples
    --------
    >>> import linkwright as lw
    >>> shaking = lw.linkages.shaking_forces(lw.gallery("four-bar"), samples=37)
    >>> len(lw.show.shaking_figure(shaking).axes)
    2
    """
    scene: Scene = mechanism_scene(shaking.mechanism)
    view = scene.view(None)
    figure = new_figure(width, _POLAR_HEIGHT + 45)
    upper, lower = figure.subplots(2, 1, height_ratios=[_POLAR_HEIGHT, 40])
    force = view(shaking.force)
    upper.plot(*force.T, color=line_color(0))
    upper.plot(0, 0, "+", color=INK_COLOR, ms=6)
    upper.plot(*force[0], "o", color=line_color(0), ms=3.5)
    size = 1.1 * max(float(np.abs(force).max()), 1e-9 * shaking.mass)
    upper.set_xlim(-size, size)
    upper.set_ylim(-size, size)
    upper.set_aspect("equal")
    upper.set_xlabel(f"shaking force along {view.axis_name(view.right)} / N")
    upper.set_ylabel(f"along {view.axis_name(view.up)} / N")
    turns = shaking.t_unit == "rad"
    lower.plot(
        np.degrees(shaking.t) if turns else shaking.t,
        shaking.moment @ view.toward_eye,
        color=line_color(1),
    )
    lower.margins(x=0)
    lower.set_xlabel(f"{symbol_label(shaking.t_label)} / {'°' if turns else shaking.t_unit}")
    lower.set_ylabel("shaking moment\n/ N m")
    return figure
