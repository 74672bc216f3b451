"""Eigenvalues of small motions over a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LinkwrightError
from ..linearization import EigenvalueSweep, linearize
from ..linearization.eigenvalue_sweep import moving_branches
from ..mechanism import Mechanism
from .figure_style import (
    COLUMN_WIDTH,
    INK_COLOR,
    draw_legend,
    draws_figure,
    line_color,
    new_figure,
)
from .history_plots import flatten_rounding_errors_on_axis
from .label_text import symbol_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STABLE_COLOR = "#E3F1EC"
"""Background of values at which no small motion grows."""

_OSCILLATION = 1e-6
"""Imaginary parts above this are those of oscillations, rad/s."""

_EIGENVALUE_DOT_SIZE = 4.5
"""Size of an eigenvalue, in points."""


@draws_figure
def eigenvalues(
    source: Mechanism | EigenvalueSweep | Callable[[float], object],
    parameter: str = "",
    values: Sequence[float] = (),
    q: ArrayLike | Callable[[float], ArrayLike] | None = None,
    *,
    unit: str = "",
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot real and imaginary parts of the eigenvalues of small motions over a parameter.

    Parameters
    ----------
    source : Mechanism, EigenvalueSweep or callable
        A mechanism, a function from the value to eigenvalues or to a linear model, or a sweep
        (`linearization.sweep_eigenvalues`), which is drawn with its stable ranges.
    parameter, values : str and sequence of float
        Name of the parameter, and its values; those of a sweep are its own.
    q : (nq,) array or callable, optional
        Where the mechanism is linearized, rad or m, or a function of the value (default: home).
    unit, width, path : optional
        Unit of the parameter, width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> len(lw.show.eigenvalues(lambda k: [k * 1j, -k * 1j], "k", [1.0, 2.0]).axes)
    2
    """
    if isinstance(source, EigenvalueSweep):
        return _draw_sweep(source, unit or source.unit or "SI units", width)
    sizes = np.asarray(values, dtype=float)
    if not sizes.size:
        raise LinkwrightError(f"no values of {parameter} are given", remedy="give some")
    rows = np.array([np.sort_complex(_plotted_eigenvalues(source, parameter, v, q)) for v in sizes])
    figure = new_figure(width, 90)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for axes, part, word in ((upper, rows.real, "real part"), (lower, rows.imag, "imaginary part")):
        axes.plot(sizes, part, ".", ms=_EIGENVALUE_DOT_SIZE, color=line_color(0), mec="none")
        axes.axhline(0, color=INK_COLOR, lw=0.5)
        flatten_rounding_errors_on_axis(axes, part, float(np.abs(rows).max(initial=0.0)))
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
    return figure


def _plotted_eigenvalues(
    source: Mechanism | Callable[[float], object],
    parameter: str,
    value: float,
    q: ArrayLike | Callable[[float], ArrayLike] | None,
) -> NDArray[np.complex128]:
    """The eigenvalues at one value of the parameter, 1/s."""
    if isinstance(source, Mechanism):
        about = q(value) if callable(q) else q
        return linearize(source.with_parameters(**{parameter: float(value)}), about).eigenvalues
    found = source(float(value))
    return np.asarray(getattr(found, "eigenvalues", found), dtype=complex)


def _draw_sweep(sweep: EigenvalueSweep, unit: str, width: float) -> Figure:
    """Draws the branches of a sweep, ranges in which nothing grows, and where stability changes."""
    figure = new_figure(width, 95)
    upper, lower = figure.subplots(2, 1, sharex=True)
    rows, shown = sweep.eigenvalues, moving_branches(sweep.eigenvalues)
    for axes, part, word in ((upper, rows.real, "real part"), (lower, rows.imag, "imaginary part")):
        for left, right in sweep.stable_ranges():
            axes.axvspan(left, right, color=_STABLE_COLOR, lw=0)
        for k in shown:
            color = line_color(int(np.abs(rows[:, k].imag).max() > _OSCILLATION))
            axes.plot(sweep.values, part[:, k], color=color)
        axes.axhline(0, color=INK_COLOR, lw=0.5)
        axes.set_ylabel(f"{word} / 1/s")
    for one in sweep.crossings:
        upper.plot([one.value], [0], "o", color=INK_COLOR, ms=3)
        upper.annotate(
            f"{one.value:.4g}", (one.value, 0), (0, 4), textcoords="offset points", ha="center"
        )
    lower.set_xlabel(f"{symbol_label(sweep.name)} / {unit}")
    lower.margins(x=0)
    figure.align_ylabels()
    return figure
