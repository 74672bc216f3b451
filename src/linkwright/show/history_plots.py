"""Lines: histories over time, phase portraits, eigenvalues over a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import ANGLE_OR_LENGTH, coordinate_units
from ..types import Floats
from .figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    INK_COLOR,
    LINE_COLORS,
    axis_label_width,
    dash_pattern,
    draw_legend,
    legend_columns,
    line_color,
    new_figure,
    save_if_path,
    with_house_style,
)
from .histories import HistoryLine, Panel, history_panels
from .label_text import strip_math_markup, symbol_label
from .traced_points import require_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
_EIGENVALUE_DOT_SIZE = 4.5
"""Size of an eigenvalue, in points."""


@with_house_style
def plot(
    run: Run,
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
    run : Run
        A simulated motion.
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
        Of matplotlib.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.1, samples=5)
    >>> len(lw.show.plot(run, "q", "tau").axes)
    2
    """
    require_run(run)
    found = [
        p for name in names or ("q", "energy") for p in history_panels(run, name, degrees, only)
    ]
    figure = over_time(run.t, found, width, height)
    over = run.settings.get("over")
    if over:
        unit = coordinate_units(run.mechanism)[mechanism_names(run.mechanism).q.index(over)]
        figure.axes[-1].set_xlabel(f"{symbol_label(over)} / {unit}")
    _draw_event_lines(figure, run)
    return save_if_path(figure, path)


@with_house_style
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
        Of matplotlib.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> panel = lw.show.Panel("q", "rad", (lw.show.HistoryLine("q1", "q1", np.zeros(2)),))
    >>> len(lw.show.over_time([0.0, 1.0], [panel]).axes)
    1
    """
    if not found:
        raise LinkwrightError("there cannot be drawn", remedy="name a quantity")
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
    return save_if_path(figure, path)


def panel_height(panel: Panel, width: float, beside: float | None = None) -> float:
    """Higher by every further row of names, mm."""
    columns = legend_columns(panel.legend_labels, width, beside)
    return _PANEL_HEIGHT + _LEGEND_ROW_HEIGHT * (-(-len(panel.legend_labels) // columns) - 1)


def draw_panel_legends(
    several: Sequence[Axes], found: Sequence[Panel], width: float
) -> list[float]:
    """Writes the names of lines over panels of one width, now that it is known how far their
    axes are from the edge; the heights that they need then, mm."""
    beside = axis_label_width(several)
    for axes, panel in zip(several, found, strict=True):
        if panel.note:
            axes.plot([], [], " ", label=panel.note)
        if len(panel.legend_labels) > 1 or panel.legend_labels[0] != panel.quantity:
            draw_legend(axes, width=width, beside=beside)
    return [panel_height(panel, width, beside) for panel in found]


def _draw_event_lines(figure: Figure, run: Run) -> None:
    """A faint line wherever something happened: a stop, an impact, a break."""
    times = sorted({event.t for event in run.events})
    for axes in figure.axes:
        for t in times[:_MAX_EVENT_LINES]:
            axes.axvline(t, color=GRAY_COLOR, lw=0.4, ls=(0, (1, 2)), zorder=0.5)


def draw_panel(axes: Axes, t: Sequence[float] | Floats, panel: Panel) -> None:
    """Lines and their unit on given axes; their names come later, by `draw_panel_legends`."""
    height = float(np.ptp([[line.values.min(), line.values.max()] for line in panel.lines]))
    for place, line in enumerate(panel.lines):
        k = place if line.order is None else line.order
        below = sum(_lines_coincide(line, other, height) for other in panel.lines[:place])
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
    _hide_rounding_errors(axes, np.concatenate([line.values for line in panel.lines]), panel.scale)
    _label_value_axis(axes, panel)


def _lines_coincide(one: HistoryLine, other: HistoryLine, height: float) -> bool:
    """Whether a line would hide another one, unless its dashes let it through."""
    apart = np.abs(one.values - other.values).max(initial=0.0)
    return not (one.dashed or other.dashed) and bool(apart <= _COINCIDENCE_SHARE * height)


def _label_value_axis(axes: Axes, panel: Panel) -> None:
    """Label an axis with its quantity and unit, and the power of ten of large and small numbers."""
    power = set_tick_power(axes)
    unit = panel.unit if panel.unit != "1" else ""
    parts = [*([f"$10^{{{power}}}$"] if power else []), *([unit] if unit else [])]
    unit = f" / {' '.join(parts)}" if parts else ""
    long = len(panel.quantity) + len(strip_math_markup(unit)) > _MAX_LABEL_LENGTH
    axes.set_ylabel(f"{panel.quantity}{chr(10) if long else ''}{unit}")


def set_tick_power(axes: Axes) -> int:
    """Ticks of an axis in a power of ten that its label must name; 0 where none is needed."""
    from matplotlib.ticker import ScalarFormatter

    size = float(np.abs(axes.get_ylim()).max()) or 1.0
    power = int(np.floor(np.log10(size) / 3) * 3)
    formatter = ScalarFormatter(useOffset=False)
    if 5e-3 <= size < 1e4:
        formatter.set_scientific(False)
        power = 0
    else:
        formatter.set_powerlimits((power, power))
    axes.yaxis.set_major_formatter(formatter)
    axes.yaxis.offsetText.set_visible(False)
    return power


def _hide_rounding_errors(axes: Axes, values: Any, scale: float) -> None:
    """Errors of rounding and integration are drawn as nothing, not at full height."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest <= max(_ERROR_SHARE * scale, 1e-12):
        axes.set_ylim(-(scale or 1.0), scale or 1.0)


def _steady_axis_limits(lines: Sequence[HistoryLine]) -> tuple[float, float] | None:
    """Limits about values that hardly change: rounding errors are not motion."""
    every = np.concatenate([line.values for line in lines])
    every = every[np.isfinite(every)]
    low, high = (every.min(), every.max()) if every.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * size and size > 1e-12:
        return None
    middle = (low + high) / 2
    reach = 0.1 * size if size > 1e-12 else 1.0
    return middle - reach, middle + reach


@with_house_style
def phase(
    run: Run,
    *names: str,
    degrees: bool = False,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot generalized velocities over their coordinates; a dot marks the start.

    Parameters
    ----------
    run : Run
        A simulated motion.
    *names : str
        Coordinates (default: all whose rates are generalized velocities).
    degrees, width, path : optional
        Angles in degrees, width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        Of matplotlib.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.1, samples=5)
    >>> len(lw.show.phase(run, "q1").axes)
    1
    """
    mechanism, known = run.mechanism, mechanism_names(run.mechanism)
    paired = [n for n in known.q if n in known.qd]
    for name in names:
        if name not in paired:
            raise NameNotFoundError(
                f"'{name}' is not a coordinate whose rate is a velocity",
                remedy=suggest_remedy(name, paired),
            )
    chosen = list(names) or paired
    if not chosen:
        raise LinkwrightError(
            "no velocity is the rate of a coordinate",
            where=mechanism.name,
            remedy='use rotation = "cardan"',
        )
    units = dict(zip(known.q, coordinate_units(mechanism), strict=True))
    groups = [[n for n in chosen if units[n] == unit] for unit in ("rad", "m", ANGLE_OR_LENGTH)]
    groups = [group for group in groups if group]
    figure = new_figure(width, 14 + 55 * len(groups))
    axes = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    for each, group in zip(axes, groups, strict=True):
        _draw_phase_panel(each, run, group, units[group[0]], degrees)
    return save_if_path(figure, path)


def _draw_phase_panel(axes: Axes, run: Run, group: list[str], unit: str, degrees: bool) -> None:
    known = mechanism_names(run.mechanism)
    factor = 180 / np.pi if degrees and unit == "rad" else 1.0
    shown = "°" if factor != 1.0 else unit
    for name in group:
        k = known.q.index(name)
        x = factor * run.q[:, known.q.index(name)]
        y = factor * run.qd[:, known.qd.index(name)]
        axes.plot(x, y, color=line_color(k), ls=dash_pattern(k), label=symbol_label(name))
        axes.plot(x[:1], y[:1], "o", color=line_color(k), ms=3)
    turning = unit == "rad"
    axes.set_xlabel(f"{'angle' if turning else 'displacement'} / {shown}")
    axes.set_ylabel(f"{'angular speed' if turning else 'speed'} / {shown}/s")
    draw_legend(axes, axes.get_lines()[::2])


@with_house_style
def eigenvalues(
    source: Mechanism | Callable[[float], object],
    parameter: str,
    values: Sequence[float],
    q: ArrayLike | None = None,
    unit: str = "",
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot real and imaginary parts of the eigenvalues of small motions over a parameter.

    Parameters
    ----------
    source : Mechanism or callable
        A mechanism, or a function from the value to eigenvalues or to a linear model.
    parameter, values : str and sequence of float
        Name of the parameter, and its values.
    q : (nq,) array or callable, optional
        Where the mechanism is linearized, or a function of the value (default: home).
    unit, width, path : optional
        Unit of the parameter, width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        Of matplotlib.

    Examples
    --------
    >>> import linkwright as lw
    >>> len(lw.show.eigenvalues(lambda k: [k * 1j, -k * 1j], "k", [1.0, 2.0]).axes)
    2
    """
    sizes = np.asarray(values, dtype=float)
    if not sizes.size:
        raise LinkwrightError(f"no values of {parameter} are given", remedy="give some")
    rows = np.array(
        [np.sort_complex(_eigenvalues_at_parameter(source, parameter, v, q)) for v in sizes]
    )
    figure = new_figure(width, 90)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, part, word in ((upper, rows.real, "real part"), (lower, rows.imag, "imaginary part")):
        axes.plot(sizes, part, ".", ms=_EIGENVALUE_DOT_SIZE, color=line_color(0), mec="none")
        axes.axhline(0, color=INK_COLOR, lw=0.5)
        _hide_rounding_errors(axes, part, float(np.abs(rows).max(initial=0.0)))
        axes.set_ylabel(f"{word} / 1/s")
    unstable = rows.real > 1e-9 * np.abs(rows).max(initial=1e-300)
    upper.plot(
        sizes[:, None].repeat(rows.shape[1], 1)[unstable],
        rows.real[unstable],
        ".",
        ms=_EIGENVALUE_DOT_SIZE,
        color=line_color(1),
        mec="none",
        label="growing",
    )
    if unstable.any():
        draw_legend(upper)
    name = symbol_label(parameter) if isinstance(source, Mechanism) else parameter
    lower.set_xlabel(f"{name} / {unit}" if unit else name)
    lower.margins(x=0)
    figure.align_ylabels()
    return save_if_path(figure, path)


def _eigenvalues_at_parameter(source: Any, parameter: str, value: float, q: Any) -> Any:
    if isinstance(source, Mechanism):
        from ..simulation.statics import linearize

        about = q(value) if callable(q) else q
        return linearize(source.with_parameters(**{parameter: float(value)}), about).eigenvalues
    found = source(float(value))
    return np.asarray(getattr(found, "eigenvalues", found), dtype=complex)
