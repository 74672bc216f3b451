"""Lines: histories over time, phase portraits, eigenvalues over a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError, NameNotFoundError, suggest
from ..mechanism import Mechanism, names_of
from ..mechanism.units import EITHER, coordinate_units
from ..types import Floats
from .histories import Line, Panel, panels
from .labels import bare, symbol
from .style import (
    COLOURS,
    COLUMN,
    GREY,
    INK,
    beside_axes,
    colour,
    dashes,
    kept,
    key_columns,
    legend,
    sheet,
    styled,
)
from .tracks import require_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.run import Run

_HEIGHT, _ROW = 38.0, 3.5
"""Of a panel, and of a row of names, mm."""
FOOT = 14.0
"""Below all panels, for the time, mm."""
_EVENTS = 200
"""The most times of events that are marked."""
_ERRORS = 1e-7
"""Share of its scale below which a value is no more than an error."""
_LABEL = 22
"""Characters of a label that stand beside a panel in one line."""
_HIDDEN = 1e-3
"""Lines that are nowhere farther apart, as a share of the panel's values, lie on each other."""
_DOT = 4.5
"""Size of an eigenvalue, in points."""


@styled
def plot(
    run: Run,
    *names: str,
    degrees: bool = False,
    only: Sequence[str] = (),
    width: float = COLUMN,
    height: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Histories over time, one panel a quantity and unit, one below the other.

    `names`: q, qd, qdd, tau, energy, work, power, momentum, momenta, reactions, centers,
    center_velocities, center_accelerations, body_energy, closure, or anything in `run.data`;
    coordinates and energy unless said. `only` picks lines by name. Sizes in mm.
    """
    require_run(run)
    found = [p for name in names or ("q", "energy") for p in panels(run, name, degrees, only)]
    figure = over_time(run.t, found, width, height)
    over = run.settings.get("over")
    if over:
        unit = coordinate_units(run.mechanism)[names_of(run.mechanism).q.index(over)]
        figure.axes[-1].set_xlabel(f"{symbol(over)} / {unit}")
    _mark_events(figure, run)
    return kept(figure, path)


@styled
def over_time(
    t: Sequence[float] | Floats,
    found: Sequence[Panel],
    width: float = COLUMN,
    height: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Panels that share their time axis."""
    if not found:
        raise LinkwrightError("there is nothing to draw", remedy="name a quantity")
    figure = sheet(width, height or FOOT + sum(panel_height(panel, width) for panel in found))
    axes = list(figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0])
    for each, panel in zip(axes, found, strict=True):
        draw_panel(each, np.asarray(t), panel)
    axes[-1].set_xlabel("time / s")
    figure.align_ylabels(axes)
    heights = name_lines(axes, found, width)
    axes[0].get_gridspec().set_height_ratios(heights)
    if height is None:
        figure.set_figheight((FOOT + sum(heights)) / 25.4)
    return kept(figure, path)


def panel_height(panel: Panel, width: float, beside: float | None = None) -> float:
    """Higher by every further row of names, mm."""
    columns = key_columns(panel.words, width, beside)
    return _HEIGHT + _ROW * (-(-len(panel.words) // columns) - 1)


def name_lines(several: Sequence[Axes], found: Sequence[Panel], width: float) -> list[float]:
    """Writes the names of lines over panels of one width, now that it is known how far their
    axes are from the edge; the heights that they need then, mm."""
    beside = beside_axes(several)
    for axes, panel in zip(several, found, strict=True):
        if panel.note:
            axes.plot([], [], " ", label=panel.note)
        if len(panel.words) > 1 or panel.words[0] != panel.quantity:
            legend(axes, width=width, beside=beside)
    return [panel_height(panel, width, beside) for panel in found]


def _mark_events(figure: Figure, run: Run) -> None:
    """A faint line wherever something happened: a stop, an impact, a break."""
    times = sorted({event.t for event in run.events})
    for axes in figure.axes:
        for t in times[:_EVENTS]:
            axes.axvline(t, color=GREY, lw=0.4, ls=(0, (1, 2)), zorder=0.5)


def draw_panel(axes: Axes, t: Sequence[float] | Floats, panel: Panel) -> None:
    """Lines and their unit on given axes; their names come later, by `name_lines`."""
    height = float(np.ptp([[line.values.min(), line.values.max()] for line in panel.lines]))
    for place, line in enumerate(panel.lines):
        k = place if line.order is None else line.order
        below = sum(_coincide(line, other, height) for other in panel.lines[:place])
        look: dict[str, Any] = {"color": colour(k), "ls": dashes(k + len(COLOURS) * below)}
        if line.dashed:
            look = {"color": INK, "ls": (0, (4, 2)), "lw": 0.9}
        axes.plot(t, line.values, label=line.label, marker="o" if len(t) == 1 else None, **look)
    axes.margins(x=0)
    steady = _steady(panel.lines)
    if steady is not None:
        axes.set_ylim(*steady)
    _keep_scale(axes, np.concatenate([line.values for line in panel.lines]), panel.scale)
    _name_axis(axes, panel)


def _coincide(one: Line, other: Line, height: float) -> bool:
    """Whether a line would hide another one, unless its dashes let it through."""
    apart = np.abs(one.values - other.values).max(initial=0.0)
    return not (one.dashed or other.dashed) and bool(apart <= _HIDDEN * height)


def _name_axis(axes: Axes, panel: Panel) -> None:
    """What is measured, and in what: with the power of ten of large and small numbers."""
    power = power_of_ten(axes)
    unit = panel.unit if panel.unit != "1" else ""
    parts = [*([f"$10^{{{power}}}$"] if power else []), *([unit] if unit else [])]
    unit = f" / {' '.join(parts)}" if parts else ""
    long = len(panel.quantity) + len(bare(unit)) > _LABEL
    axes.set_ylabel(f"{panel.quantity}{chr(10) if long else ''}{unit}")


def power_of_ten(axes: Axes) -> int:
    """Ticks of an axis in a power of ten that its label must name; 0 where there is no need."""
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


def _keep_scale(axes: Axes, values: Any, scale: float) -> None:
    """Errors of rounding and integration are drawn as nothing, not at full height."""
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if largest <= max(_ERRORS * scale, 1e-12):
        axes.set_ylim(-(scale or 1.0), scale or 1.0)


def _steady(lines: Sequence[Line]) -> tuple[float, float] | None:
    """Limits about values that hardly change: rounding errors are no motion."""
    every = np.concatenate([line.values for line in lines])
    every = every[np.isfinite(every)]
    low, high = (every.min(), every.max()) if every.size else (0.0, 0.0)
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * size and size > 1e-12:
        return None
    middle = (low + high) / 2
    reach = 0.1 * size if size > 1e-12 else 1.0
    return middle - reach, middle + reach


@styled
def phase(
    run: Run,
    *names: str,
    degrees: bool = False,
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """Speeds over their coordinates; all coordinates whose rates are speeds unless some are named.
    A dot marks the start."""
    mechanism, known = run.mechanism, names_of(run.mechanism)
    paired = [n for n in known.q if n in known.qd]
    for name in names:
        if name not in paired:
            raise NameNotFoundError(
                f"'{name}' is no coordinate whose rate is a speed", remedy=suggest(name, paired)
            )
    chosen = list(names) or paired
    if not chosen:
        raise LinkwrightError(
            "no speed is the rate of a coordinate", where=mechanism.name,
            remedy='use rotation = "cardan"',
        )  # fmt: skip
    units = dict(zip(known.q, coordinate_units(mechanism), strict=True))
    groups = [[n for n in chosen if units[n] == unit] for unit in ("rad", "m", EITHER)]
    groups = [group for group in groups if group]
    figure = sheet(width, 14 + 55 * len(groups))
    axes = figure.subplots(len(groups), 1, squeeze=False)[:, 0]
    for each, group in zip(axes, groups, strict=True):
        _draw_phase(each, run, group, units[group[0]], degrees)
    return kept(figure, path)


def _draw_phase(axes: Axes, run: Run, group: list[str], unit: str, degrees: bool) -> None:
    known = names_of(run.mechanism)
    factor = 180 / np.pi if degrees and unit == "rad" else 1.0
    shown = "°" if factor != 1.0 else unit
    for name in group:
        k = known.q.index(name)
        x = factor * run.q[:, known.q.index(name)]
        y = factor * run.qd[:, known.qd.index(name)]
        axes.plot(x, y, color=colour(k), ls=dashes(k), label=symbol(name))
        axes.plot(x[:1], y[:1], "o", color=colour(k), ms=3)
    turning = unit == "rad"
    axes.set_xlabel(f"{'angle' if turning else 'displacement'} / {shown}")
    axes.set_ylabel(f"{'angular speed' if turning else 'speed'} / {shown}/s")
    legend(axes, axes.get_lines()[::2])


@styled
def eigenvalues(
    source: Mechanism | Callable[[float], object],
    parameter: str,
    values: Sequence[float],
    q: ArrayLike | None = None,
    unit: str = "",
    width: float = COLUMN,
    path: str | Path | None = None,
) -> Figure:
    """Real and imaginary parts of the eigenvalues of small motions over a parameter.

    About `q` (home unless said; a function of the value may give it), by `linearize`. Instead of
    a mechanism, `source` may be a function from the value to eigenvalues or to a linear model.
    """
    sizes = np.asarray(values, dtype=float)
    if not sizes.size:
        raise LinkwrightError(f"no values of {parameter} are given", remedy="give some")
    rows = np.array([np.sort_complex(_eigenvalues_at(source, parameter, v, q)) for v in sizes])
    figure = sheet(width, 90)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, part, word in ((upper, rows.real, "real part"), (lower, rows.imag, "imaginary part")):
        axes.plot(sizes, part, ".", ms=_DOT, color=colour(0), mec="none")
        axes.axhline(0, color=INK, lw=0.5)
        _keep_scale(axes, part, float(np.abs(rows).max(initial=0.0)))
        axes.set_ylabel(f"{word} / 1/s")
    unstable = rows.real > 1e-9 * np.abs(rows).max(initial=1e-300)
    upper.plot(
        sizes[:, None].repeat(rows.shape[1], 1)[unstable], rows.real[unstable], ".", ms=_DOT,
        color=colour(1), mec="none", label="growing",
    )  # fmt: skip
    if unstable.any():
        legend(upper)
    name = symbol(parameter) if isinstance(source, Mechanism) else parameter
    lower.set_xlabel(f"{name} / {unit}" if unit else name)
    lower.margins(x=0)
    figure.align_ylabels()
    return kept(figure, path)


def _eigenvalues_at(source: Any, parameter: str, value: float, q: Any) -> Any:
    if isinstance(source, Mechanism):
        from ..simulation.statics import linearize

        about = q(value) if callable(q) else q
        return linearize(source.with_parameters(**{parameter: float(value)}), about).eigenvalues
    found = source(float(value))
    return np.asarray(getattr(found, "eigenvalues", found), dtype=complex)
