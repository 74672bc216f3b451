"""Arrows for forces and moments: their colours, labels and scales, and a panel for each body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .axes_labels import Label, draw_labels
from .figure_style import INK_COLOR, line_color, new_figure
from .label_text import indexed_label, plain_label, symbol_label
from .scaled_axes import round_scale_bar_length

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .free_body_balance import FreeBody


REACTION_COLOR, WEIGHT_COLOR, OTHER_FORCE_COLOR = line_color(1), line_color(0), line_color(2)
_OTHER_FORCE_NAMES = ("spring", "load", "constraints")
_PANEL_WIDTH, _TITLE_HEIGHT = 42.5, 6.0
"""Width of a panel, and height of its title, mm."""
_LABEL_MARGINS = np.array([7.0, 4.0])
"""Room for words beside, and above and below what is drawn, mm."""
_FORCE_SCALE_HEIGHT = 5.0
"""And for the scale below, mm."""


def draw_free_body_panels(
    bodies: Sequence[FreeBody], width: float, draw_body: Callable[[Axes, FreeBody], list[Label]]
) -> Figure:
    """Draws every body in a panel of its own, then the labels that `draw_body` returns, which need
    the limits of all panels."""
    figure, panels = _make_free_body_panels(width, [symbol_label(body.name) for body in bodies])
    drawn = [draw_body(axes, body) for axes, body in zip(panels, bodies, strict=True)]
    for axes, labels in zip(panels, drawn, strict=True):
        draw_labels(axes, labels)
    return figure


def _make_free_body_panels(width: float, names: list[str]) -> tuple[Figure, list[Axes]]:
    """Makes a figure with a panel without axes for every body, in rows."""
    columns = int(np.clip(np.round(width / _PANEL_WIDTH), 1, max(len(names), 1)))
    rows = -(-len(names) // columns)
    figure = new_figure(
        width, max(rows * (min(width / columns, 1.5 * _PANEL_WIDTH) + _TITLE_HEIGHT), 20)
    )
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[len(names) :]:
        axes.remove()
    for axes, name in zip(grid, names, strict=False):
        axes.set_axis_off()
        axes.set_title(name)
    return figure, list(grid[: len(names)])


def fit_panel_limits(axes: Axes, points: Floats) -> float:
    """Sets limits that show all points with room for labels, and returns the length that a
    millimetre shows."""
    low, high = points.min(axis=0), points.max(axis=0)
    size, middle = np.maximum(high - low, 1e-9 * float((high - low).max()) or 1.0), (low + high) / 2
    panel = _panel_size(axes)
    unit = float((size / (panel - 2 * _LABEL_MARGINS - [0, _FORCE_SCALE_HEIGHT])).max())
    half = panel * unit / 2
    axes.set_aspect("equal")
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    foot = _FORCE_SCALE_HEIGHT * unit / 2
    axes.set_ylim(middle[1] - half[1] - foot, middle[1] + half[1] - foot)
    return unit


def _panel_size(axes: Axes) -> Floats:
    """Width and height of a panel, mm."""
    grid: Any = axes.get_gridspec()
    width, height = 25.4 * np.array(axes.figure.get_size_inches())
    return np.array([width / grid.ncols - 2, height / grid.nrows - _TITLE_HEIGHT])


def draw_force_scale(axes: Axes, unit: float, metres: float) -> None:
    """Draws the scale bar of a round force; `metres` of the axes show 1 N."""
    force = round_scale_bar_length(12 * unit / metres)
    middle, foot = float(np.mean(axes.get_xlim())), axes.get_ylim()[0] + 3.5 * unit
    reach = force * metres / 2
    axes.plot(
        [middle - reach, middle + reach],
        [foot, foot],
        color=INK_COLOR,
        lw=1.2,
        solid_capstyle="butt",
        marker="|",
        ms=3,
    )
    axes.text(middle, foot - 0.7 * unit, f"{force:g} N", ha="center", va="top", fontsize=7)


def force_arrow_color(name: str) -> str:
    """The colour of a force: one for weight, one for reactions of joints, one for all others."""
    if name == "weight":
        return WEIGHT_COLOR
    return OTHER_FORCE_COLOR if name.split(" ")[0] in _OTHER_FORCE_NAMES else REACTION_COLOR


def force_arrow_label(name: str, head: str = "F") -> str:
    """The label of a force: m g for weight, F with the joint's name as index, or the force's own
    name."""
    if name == "weight":
        return "$m g$"
    return (
        plain_label(name) if name.split(" ")[0] in _OTHER_FORCE_NAMES else indexed_label(head, name)
    )


def arrow_magnitude_label(vector: Floats, unit: str) -> str:
    """The magnitude of a vector with three digits and its unit; powers of ten from a million on."""
    size = float(f"{np.linalg.norm(vector):.3g}")
    return f"{size:.0f} {unit}" if 1e3 <= size < 1e6 else f"{size:.3g} {unit}"


def draw_arrow(
    axes: Axes, start: Floats, along: Floats, paint: str, dashed: bool = False, layer: float = 8
) -> None:
    """Draws an arrow from a point along a vector, both in the units of the axes."""
    if not np.linalg.norm(along):
        return
    look = {
        "arrowstyle": "-|>",
        "lw": 1.1,
        "color": paint,
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 8,
        "linestyle": (0, (3, 1.5)) if dashed else "-",
    }
    axes.annotate("", start + along, start, arrowprops=look, annotation_clip=False, zorder=layer)


def draw_moment_arrow(axes: Axes, middle: Floats, radius: float, turn: float, paint: str) -> None:
    """Draws a bent arrow around a point, counterclockwise if `turn` is positive."""
    angles = np.radians(np.linspace(150, -90, 30) if turn < 0 else np.linspace(30, 270, 30))
    ring = middle + radius * np.column_stack([np.cos(angles), np.sin(angles)])
    axes.plot(ring[:-1, 0], ring[:-1, 1], color=paint, lw=1.0, zorder=8)
    draw_arrow(axes, ring[-4], ring[-1] - ring[-4], paint)
