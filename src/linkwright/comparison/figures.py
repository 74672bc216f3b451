"""Costs as pictures: against the number of links, or side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..show.style import COLUMN, GREY, colour, dashes, legend, sheet, styled
from .comparison import Comparison
from .measure import evaluating
from .output import Saved
from .size_scaling import COSTS, Scaling, virgala

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEW = 6
"""So many sizes all have their number on the axis."""
_STEPS = "the integrator’s own steps take the rest"
_MARKS = "osD^vPX<>"


@styled
def drawn(study: Saved) -> Figure:
    if isinstance(study, Scaling):
        return _growth(study)
    assert isinstance(study, Comparison)
    return _side_by_side(study)


def _growth(study: Scaling) -> Figure:
    """One panel a cost, one line a formulation, both scales logarithmic."""
    figure = sheet(2 * COLUMN, 180)
    panels = figure.subplots(2, 2, sharex=True)
    sizes = sorted({n for found in study.rows.values() for n in found})
    for axes, (what, label) in zip(panels.flat, COSTS.items(), strict=True):
        for k, by in enumerate(study.rows):
            power = study.power(by, what)
            name = by + (f"  $n^{{{power.exponent:.1f}}}$" if power else "")
            axes.plot(
                *study.costs(by, what), marker=_MARKS[k % len(_MARKS)], ms=2.5, color=colour(k),
                ls=dashes(k), label=name,
            )  # fmt: skip
        if what == "derive_seconds":
            fit = [n for n in sizes if virgala(n) > 0]
            axes.plot(
                fit, [virgala(n) for n in fit], ":", color=GREY, label="Virgala et al., Matlab 2013"
            )
        axes.set(xscale="log", yscale="log", ylabel=label.replace(", ", " / "))
        _decades(axes)
        legend(axes, width=COLUMN)
    shares = (f"{evaluating(rows)} (n = {n})" for n, rows in study.ends().items())
    said = "powers of n are fitted to the upper half of the sizes, three at least"
    told = f"of the time to integrate, evaluating the equations takes {', '.join(shares)}"
    figure.supxlabel(f"{said}\n{told};\n{_STEPS}", fontsize=7)
    for axes in panels[1]:
        axes.set_xlabel("number of links n")
        _ticks(axes, sizes)
    return figure


def _decades(axes: Axes) -> None:
    """Powers of ten; 1, 2, 5 times these where there are but one or two."""
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


def _ticks(axes: Axes, sizes: list[int]) -> None:
    """Plain numbers, not crowded."""
    from matplotlib.ticker import NullLocator

    kept = [n for n in (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000) if n <= sizes[-1]]
    kept = [n for n in kept if n >= sizes[0]] if len(sizes) > _FEW else sizes
    axes.set_xticks(kept, labels=[str(n) for n in kept])
    axes.xaxis.set_minor_locator(NullLocator())


def _side_by_side(study: Comparison) -> Figure:
    """A dot a cost of each formulation, those of the base being 1; two panels a row, so that words
    can be read in a column and on a phone."""
    figure = sheet(COLUMN, 40 + 10 * max(1, len(study.rows)))
    panels = figure.subplots(2, 2, sharey=True)
    for axes, (what, label) in zip(panels.flat, COSTS.items(), strict=True):
        base = max(float(getattr(study.base, what)), 1e-9) if study.base else 1.0
        ratios = [float(getattr(row, what)) / base for row in study.rows]
        _dots(axes, [row.by for row in study.rows], ratios)
        axes.set_title(label.split(",")[0])
    panels[0, 0].invert_yaxis()
    if study.base:
        said = f"times that of {study.base.by}"
        told = f"evaluating the equations takes {evaluating(study.rows)}"
        figure.supxlabel(f"{said}\n{told}\nof the time to integrate; {_STEPS}", fontsize=7)
    return figure


def _dots(axes: Axes, names: list[str], ratios: list[float]) -> None:
    """Ratios on a logarithmic scale, their numbers in a column beyond its right end, where they
    touch nothing."""
    axes.axvline(1.0, color=GREY, lw=0.8)
    axes.hlines(names, 1.0, ratios, color=colour(0), lw=1.2)
    axes.plot(ratios, names, "o", color=colour(0), ms=3.5)
    for place, ratio in enumerate(ratios):
        axes.text(
            1.04, place, f"{ratio:.2g}", fontsize=7, va="center_baseline",
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
    axes.set(xscale="log", xlim=(min([0.5, *ratios]) / 1.5, max([2.0, *ratios]) * 1.5))
    axes.grid(visible=False, axis="y")
    _few(axes)


def _few(axes: Axes) -> None:
    """Powers of ten; 1, 2, 5 times these where there would be but one or two."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = axes.get_xlim()
    subs = (1.0, 2.0, 5.0) if high < 12 * low else (1.0, 3.0) if high < 50 * low else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=subs, numticks=5))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
