"""Plots of histories over time, panels that share their time axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    INK_COLOR,
    LINE_COLORS,
    axis_label_width,
    dash_pattern,
    draw_legend,
    draws_figure,
    legend_columns,
    line_color,
    new_figure,
)
from .histories import history_panels
from .label_text import strip_label_markup, symbol_label
from .motion_clock import swept_coordinate
from .panels import HistoryLine, Panel
from .traced_points import require_drawable_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run

_PANEL_HEIGHT, _LEGEND_ROW_HEIGHT = 38.0, 3.5
"""The height of a panel, and of a row of names, mm."""
TIME_AXIS_HEIGHT = 14.0
"""The height below all panels, for the time, mm."""
_MAX_EVENT_LINES = 200
"""The most times of events that are marked."""
_ERROR_SHARE = 1e-7
"""Share of its scale below which a value is only an error."""
_MAX_LABEL_LENGTH = 22
"""Characters of a label that stand beside a panel in one line."""
_COINCIDENCE_SHARE = 1e-3
"""Lines that are nowhere farther apart, as a share of the panel's values, lie on each other."""

_LEAST_PLAIN_TIME, _MOST_PLAIN_TIME = 1e-2, 1e4
"""Times whose ticks need no power of ten, s: plain text is much faster than mathematics."""
_LONG_LABEL_TIME = 0.1
"""Duration, s, below which tick labels have so many decimals that only a few fit side by side."""


@draws_figure
def plot(
    run: Run | Kinematics,
    *names: str,
    degrees: bool = False,
    only: Sequence[str] = (),
    width: float = COLUMN_WIDTH,
    height: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Plot histories of a run over time, one panel for each quantity and unit.

    Parameters
    ----------
    run : Run or Kinematics
        A simulated or driven motion.
    *names : str
        q, qd, qdd, tau, energy, work, power, momentum, momenta, reactions, centers,
        center_velocities, center_accelerations, body_energy, closure, or any variable of
        `run.data` (default: q and energy).
    degrees, only : bool and sequence of str
        Angles in degrees; names of the lines to draw (default: all).
    width, height, path : optional
        Size in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.1, samples=5)
    >>> len(lw.show.plot(run, "q", "tau").axes)
    2
    """
    require_drawable_run(run)
    found = [
        p for name in names or ("q", "energy") for p in history_panels(run, name, degrees, only)
    ]
    swept = swept_coordinate(run)
    if swept is not None:
        found = [_panel_by_coordinate(panel, swept[1]) for panel in found]
    figure = over_time(run.t if swept is None else swept[2], found, width, height)
    if swept is not None:
        figure.axes[-1].set_xlabel(f"{symbol_label(swept[0])} / {swept[1]}")
    _draw_event_lines(figure, run)
    return figure


@draws_figure
def over_time(
    t: Sequence[float] | Floats,
    found: Sequence[Panel],
    width: float = COLUMN_WIDTH,
    height: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Plot panels that share their time axis.

    Parameters
    ----------
    t, found : (n,) array and sequence of Panel
        Times, s, and what is plotted, from top to bottom.
    width, height, path : optional
        Size in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> panel = lw.show.Panel("q", "rad", (lw.show.HistoryLine("q1", "q1", np.zeros(2)),))
    >>> len(lw.show.over_time([0.0, 1.0], [panel]).axes)
    1
    """
    if not found:
        raise LinkwrightError("the figure has no panels", remedy="name a quantity")
    figure = new_figure(
        width, height or TIME_AXIS_HEIGHT + sum(panel_height(panel, width) for panel in found)
    )
    axes = list(figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0])
    for each, panel in zip(axes, found, strict=True):
        draw_panel(each, np.asarray(t), panel)
    axes[-1].set_xlabel("time / s")
    figure.align_ylabels(axes)
    heights = draw_panel_legends(axes, found, width)
    axes[0].get_gridspec().set_height_ratios(heights)
    if height is None:
        figure.set_figheight((TIME_AXIS_HEIGHT + sum(heights)) / 25.4)
    return figure


def _panel_by_coordinate(panel: Panel, unit: str) -> Panel:
    """A panel of rates by a coordinate that is swept, in its unit instead of seconds."""
    written = panel.unit.replace("/s²", f"/{unit}²").replace("/s", f"/{unit}")
    return replace(panel, unit=written)


def panel_height(panel: Panel, width: float, beside: float | None = None) -> float:
    """The height of a panel, mm: larger with every further row of its legend."""
    columns = legend_columns(panel.legend_labels, width, beside)
    return _PANEL_HEIGHT + _LEGEND_ROW_HEIGHT * (-(-len(panel.legend_labels) // columns) - 1)


def draw_panel_legends(
    several: Sequence[Axes], found: Sequence[Panel], width: float
) -> list[float]:
    """Draws the legends of panels of one width, and returns the heights that the panels need, mm.

    The widths of axis labels must be known by then.
    """
    beside = axis_label_width(several)
    for axes, panel in zip(several, found, strict=True):
        if panel.note:
            axes.plot([], [], " ", label=panel.note)
        if len(panel.legend_labels) > 1 or panel.legend_labels[0] != panel.quantity:
            draw_legend(axes, width=width, beside=beside)
    return [panel_height(panel, width, beside) for panel in found]


def _draw_event_lines(figure: Figure, run: Run | Kinematics) -> None:
    """Draws a faint vertical line at each event: a stop, an impact, a break."""
    times = sorted({event.t for event in getattr(run, "events", ())})
    for axes in figure.axes:
        for t in times[:_MAX_EVENT_LINES]:
            axes.axvline(t, color=GRAY_COLOR, lw=0.4, ls=(0, (1, 2)), zorder=0.5)


def draw_panel(axes: Axes, t: Sequence[float] | Floats, panel: Panel) -> None:
    """Draws the lines of a panel and its unit; `draw_panel_legends` draws the legend later."""
    height = float(np.ptp([[line.values.min(), line.values.max()] for line in panel.lines]))
    for place, line in enumerate(panel.lines):
        k = place if line.order is None else line.order
        below = sum(_history_lines_coincide(line, other, height) for other in panel.lines[:place])
        look: dict[str, Any] = {
            "color": line_color(k),
            "ls": dash_pattern(k + len(LINE_COLORS) * below),
        }
        if line.dashed:
            look = {"color": INK_COLOR, "ls": (0, (4, 2)), "lw": 0.9}
        axes.plot(t, line.values, label=line.label, marker="o" if len(t) == 1 else None, **look)
    axes.margins(x=0)
    steady = _steady_axis_limits(panel.lines)
    if steady is not None:
        axes.set_ylim(*steady)
    flatten_rounding_errors_on_axis(
        axes, np.concatenate([line.values for line in panel.lines]), panel.scale
    )
    _label_value_axis(axes, panel)
    if _LEAST_PLAIN_TIME <= float(np.abs(t).max(initial=0.0)) < _MOST_PLAIN_TIME:
        axes.xaxis.get_major_formatter().set_useMathText(False)
    if float(np.ptp(t)) < _LONG_LABEL_TIME:
        axes.locator_params(axis="x", nbins=5)


def _history_lines_coincide(one: HistoryLine, other: HistoryLine, height: float) -> bool:
    """Whether a line would hide another one, unless one of them is dashed."""
    apart = np.abs(one.values - other.values).max(initial=0.0)
    return not (one.dashed or other.dashed) and bool(apart <= _COINCIDENCE_SHARE * height)


def _label_value_axis(axes: Axes, panel: Panel) -> None:
    """Labels an axis with its quantity and unit, and the power of ten of large and small
    numbers."""
    power = set_axis_tick_power(axes)
    unit = panel.unit if panel.unit != "1" else ""
    parts = [*([f"$10^{{{power}}}$"] if power else []), *([unit] if unit else [])]
    unit = f" / {' '.join(parts)}" if parts else ""
    long = len(panel.quantity) + len(strip_label_markup(unit)) > _MAX_LABEL_LENGTH
    axes.set_ylabel(f"{panel.quantity}{chr(10) if long else ''}{unit}")


def set_axis_tick_power(axes: Axes) -> int:
    """Sets ticks in a power of ten, and returns the power for the label of the axis; 0 if none is
    needed."""
    from matplotlib.ticker import ScalarFormatter

    size = float(np.abs(axes.get_ylim()).max()) or 1.0
    power = int(np.floor(np.log10(size) / 3) * 3)
    formatter = ScalarFormatter(useOffset=False, useMathText=False)  # mathtext is slow
    if 5e-3 <= size < 1e4:
        formatter.set_scientific(False)
        power = 0
    else:
        formatter.set_powerlimits((power, power))
    axes.yaxis.set_major_formatter(formatter)
    axes.yaxis.offsetText.set_visible(False)
    return power


def flatten_rounding_errors_on_axis(axes: Axes, values: Floats, scale: float) -> None:
    """Sets limits in which errors of rounding and integration look like zero."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest <= max(_ERROR_SHARE * scale, 1e-12):
        axes.set_ylim(-(scale or 1.0), scale or 1.0)


def _steady_axis_limits(lines: Sequence[HistoryLine]) -> tuple[float, float] | None:
    """Limits about values that hardly change, so that rounding errors do not look like motion; None
    for others."""
    every = np.concatenate([line.values for line in lines])
    every = every[np.isfinite(every)]
    low, high = (every.min(), every.max()) if every.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * size and size > 1e-12:
        return None
    middle = (low + high) / 2
    reach = 0.1 * size if size > 1e-12 else 1.0
    return middle - reach, middle + reach
