"""Figures of costs: against the number of links, or side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..show.figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    dash_pattern,
    draw_legend,
    line_color,
    new_figure,
    with_figure_style,
)
from .comparison_tables import SavableComparison
from .derivation_times import VIRGALA_COEFFICIENTS, VIRGALA_CORRELATION, DerivationTimes
from .formulation_comparison import Comparison
from .formulation_row import compared_evaluation_share_text
from .size_scaling import COST_LABELS, CostScaling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MAX_SIZES_LABELLED = 6
"""The most sizes that all have their number on the axis."""
_INTEGRATOR_NOTE = "the integrator’s own steps take the rest"
_LINE_MARKERS = "osD^vPX<>"


@with_figure_style
def draw_formulation_costs(study: SavableComparison) -> Figure:
    """The costs of formulations as a figure: their ratios, or their growth with the size."""
    if isinstance(study, CostScaling):
        return _draw_formulation_cost_growth(study)
    assert isinstance(study, Comparison)
    return _draw_formulation_cost_ratios(study)


def _draw_formulation_cost_growth(study: CostScaling) -> Figure:
    """One panel for each cost and one line for each formulation, on logarithmic scales."""
    figure = new_figure(2 * COLUMN_WIDTH, 160 + 8 * len(study.rows))
    panels = figure.subplots(2, 2, sharex=True)
    sizes = sorted({n for found in study.rows.values() for n in found})
    for axes, (what, label) in zip(panels.flat, COST_LABELS.items(), strict=True):
        for k, by in enumerate(study.rows):
            power = study.cost_power_law(by, what)
            name = by + (f"  $n^{{{power.exponent:.1f}}}$" if power else "")
            axes.plot(
                *study.formulation_costs(by, what),
                marker=_LINE_MARKERS[k % len(_LINE_MARKERS)],
                ms=2.5,
                color=line_color(k),
                ls=dash_pattern(k),
                label=name,
            )
        if what == "derive_seconds" and study.derivations is not None:
            _draw_derivation_times(axes, study.derivations)
        axes.set(xscale="log", yscale="log", ylabel=label.replace(", ", " / "))
        _set_formulation_cost_ticks(axes)
        draw_legend(axes, width=COLUMN_WIDTH)
    shares = (
        f"{compared_evaluation_share_text(rows)} (n = {n})"
        for n, rows in study.rows_at_ends().items()
    )
    said = "powers of n are fitted to the upper half of the sizes, three at least"
    told = f"of the time to integrate, evaluating the equations takes {', '.join(shares)}"
    figure.supxlabel(f"{said}\n{told};\n{_INTEGRATOR_NOTE}", fontsize=7)
    for axes in panels[1]:
        axes.set_xlabel("number of links n")
        _set_compared_chain_length_ticks(axes, sizes)
    return figure


@with_figure_style
def draw_derivation_figure(times: DerivationTimes) -> Figure:
    """The time to derive Lagrange's model against the number of links, on a logarithmic scale."""
    figure = new_figure(COLUMN_WIDTH, 65)
    axes = figure.subplots()
    _draw_derivation_times(axes, times)
    axes.set(yscale="log", xlabel="number of links n", ylabel="time to derive / s")
    draw_legend(axes, width=COLUMN_WIDTH)
    return figure


def _draw_derivation_times(axes: Axes, times: DerivationTimes) -> None:
    """Draw the times that Virgala et al. measured: theirs, ours, and both cubics."""
    sizes = np.geomspace(min(times.seconds), max(times.seconds), 60)
    axes.plot(list(times.seconds), list(times.seconds.values()), ".", color=GRAY_COLOR)
    curves: dict[str, tuple[str, tuple[float, ...]]] = {
        f"M, C, g in Matlab 2013 (23), $R^2$ = {VIRGALA_CORRELATION**2:.4f}": (
            ":",
            VIRGALA_COEFFICIENTS,
        )
    }
    if times.cubic is not None:
        label = f"M, C, g here, cubic with $R^2$ = {times.determination:.4f}"
        curves[label] = ("-", times.cubic)
    for label, (style, coefficients) in curves.items():
        seconds = np.polyval(coefficients, sizes)
        shown = seconds > 0
        axes.plot(sizes[shown], seconds[shown], style, color=GRAY_COLOR, lw=1.0, label=label)


def _set_formulation_cost_ticks(axes: Axes) -> None:
    """Set ticks at powers of ten, or at 1, 2 and 5 times these on short axes."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    low, high = axes.get_ylim()
    if high < 100 * low:
        steps = [m * 10.0**k for k in range(-15, 16) for m in (1, 2, 5)]
        below = max(x for x in steps if x <= 1.5 * low)
        above = min(x for x in steps if x >= high / 1.5 and x > below)
        axes.set_ylim(min(low, below), max(high, above))  # two of them at least are on it
        axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter("")


def _set_compared_chain_length_ticks(axes: Axes, sizes: list[int]) -> None:
    """Set ticks at plain numbers of links that do not crowd the axis."""
    from matplotlib.ticker import NullLocator

    kept = [n for n in (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000) if n <= sizes[-1]]
    kept = [n for n in kept if n >= sizes[0]] if len(sizes) > _MAX_SIZES_LABELLED else sizes
    axes.set_xticks(kept, labels=[str(n) for n in kept])
    axes.xaxis.set_minor_locator(NullLocator())


def _draw_formulation_cost_ratios(study: Comparison) -> Figure:
    """Dots for each cost of each formulation relative to the base, two panels in a row, so that
    the labels can be read in a narrow column."""
    figure = new_figure(COLUMN_WIDTH, 40 + 10 * max(1, len(study.rows)))
    panels = figure.subplots(2, 2, sharey=True)
    for axes, (what, label) in zip(panels.flat, COST_LABELS.items(), strict=True):
        base = max(float(getattr(study.base_row, what)), 1e-9) if study.base_row else 1.0
        ratios = [float(getattr(row, what)) / base for row in study.rows]
        _draw_formulation_ratio_dots(axes, [row.by for row in study.rows], ratios)
        axes.set_title(label.split(",")[0])
    panels[0, 0].invert_yaxis()
    if study.base_row:
        said = f"times that of {study.base_row.by}"
        told = f"evaluating the equations takes {compared_evaluation_share_text(study.rows)}"
        figure.supxlabel(
            f"{said}\n{told}\nof the time to integrate; {_INTEGRATOR_NOTE}", fontsize=7
        )
    return figure


def _draw_formulation_ratio_dots(axes: Axes, names: list[str], ratios: list[float]) -> None:
    """Draw ratios on a logarithmic scale, with their numbers in a column to the right."""
    axes.axvline(1.0, color=GRAY_COLOR, lw=0.8)
    axes.hlines(names, 1.0, ratios, color=line_color(0), lw=1.2)
    axes.plot(ratios, names, "o", color=line_color(0), ms=3.5)
    for place, ratio in enumerate(ratios):
        axes.text(
            1.04,
            place,
            f"{ratio:.2g}",
            fontsize=7,
            va="center_baseline",
            transform=axes.get_yaxis_transform(),
        )
    axes.set(xscale="log", xlim=(min([0.5, *ratios]) / 1.5, max([2.0, *ratios]) * 1.5))
    axes.grid(visible=False, axis="y")
    _set_formulation_ratio_ticks(axes)


def _set_formulation_ratio_ticks(axes: Axes) -> None:
    """Set ticks at powers of ten, or at multiples of these on short axes."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axes.get_xlim()
    subs = (1.0, 2.0, 5.0) if high < 12 * low else (1.0, 3.0) if high < 50 * low else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
