"""Figures of studies: scatter plots, parallel coordinates, indices, fronts, surfaces, bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError
from ..show.figure_style import COLUMN_WIDTH, INK_COLOR, draws_figure, line_color, new_figure
from ..types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .study_result import Study

MAX_DRAWN = 5000
"""Points and lines of a figure; of more designs, evenly chosen ones are drawn."""


@draws_figure
def plot_study(
    study: Study, *names: str, kind: str = "scatter", path: str | Path | None = None
) -> Figure:
    """Return a figure of a study; see `Study.plot`."""
    if kind not in _FIGURES:
        raise ArgumentError(
            f"'{kind}' is not a plot of a study", remedy=f"use {', '.join(_FIGURES)}"
        )
    return _FIGURES[kind](study, names)


def _number_measures(study: Study) -> list[str]:
    return [name for name in study.measure_names if study.data[name].ndim == 1]


def _number_factors(study: Study) -> list[str]:
    return [one.name for one in study.recipe.factors if one.is_number]


def _chosen_measure(study: Study, names: Sequence[str]) -> str:
    """Return the first name, or the first measure that is a number."""
    measures = _number_measures(study)
    if not names and not measures:
        raise ArgumentError("the study has no measure that is a number", remedy="measure one")
    return names[0] if names else measures[0]


def _drawn_designs(study: Study) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the designs that are drawn."""
    usable = np.flatnonzero(study.is_usable)
    if not usable.size:
        raise ArgumentError("no design has measures", remedy="look at study.failures")
    return usable[:: -(-len(usable) // MAX_DRAWN)]


def _scatter(study: Study, names: Sequence[str]) -> Figure:
    """Draw measures over factors, one panel for each pair."""
    every = [*study.factor_names, *study.measure_names]
    for name in names:
        if name in every:
            study.numbers(name)
    factors = [name for name in names if name in study.factor_names] or _number_factors(study)
    measures = [name for name in names if name not in study.factor_names] or _number_measures(study)
    if not factors or not measures:
        raise ArgumentError("the study has no pair of a factor and a measure that are numbers")
    rows = _drawn_designs(study)
    width = max(COLUMN_WIDTH, 42 * len(factors) + 14)
    figure = new_figure(width, 34 * len(measures) + 16)
    panels = figure.subplots(len(measures), len(factors), squeeze=False, sharex="col", sharey="row")
    for i, measure in enumerate(measures):
        for k, factor in enumerate(factors):
            axes = panels[i, k]
            size = 2.5 if len(rows) > 300 else 4
            axes.plot(
                study.numbers(factor)[rows],
                study.numbers(measure)[rows],
                ".",
                ms=size,
                color=line_color(i),
                mec="none",
                alpha=0.6,
            )
            if i == len(measures) - 1:
                axes.set_xlabel(factor)
            if k == 0:
                axes.set_ylabel(measure)
    return figure


def _parallel(study: Study, names: Sequence[str]) -> Figure:
    """Draw one line for each design over scaled axes, coloured by the last of them."""
    rows = _drawn_designs(study)
    columns = list(names) or [
        name
        for name in (*_number_factors(study), *_number_measures(study))
        if np.isfinite(study.numbers(name)[rows]).any()
    ]
    if len(columns) < 2:
        raise ArgumentError("parallel coordinates need at least 2 names")
    values = np.stack([study.numbers(name)[rows] for name in columns], axis=1)
    values = values[np.isfinite(values).all(axis=1)]
    if not len(values):
        raise ArgumentError(
            f"no design has finite values of all: {', '.join(columns)}", remedy="name others"
        )
    low, high = values.min(axis=0), values.max(axis=0)
    scaled = (values - low) / np.where(high > low, high - low, 1.0)
    figure = new_figure(max(COLUMN_WIDTH, 24 * len(columns)), 70)
    axes = figure.subplots()
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection

    order = np.argsort(scaled[:, -1])
    places = np.arange(len(columns))
    lines = [np.column_stack([places, row]) for row in scaled[order]]
    shades = colormaps["viridis"](scaled[order, -1])
    axes.add_collection(LineCollection(lines, colors=shades, linewidths=0.5, alpha=0.6))
    axes.set_xlim(-0.1, len(columns) - 0.9)
    axes.set_ylim(-0.12, 1.12)
    axes.grid(False)
    for k, _ in enumerate(columns):
        axes.plot([k, k], [0, 1], color=INK_COLOR, lw=0.6)
        axes.text(k, 1.03, _number_text(high[k], ".4g"), ha="center", fontsize=6.5)
        axes.text(k, -0.09, _number_text(low[k], ".4g"), ha="center", fontsize=6.5)
    axes.set_xticks(places, columns)
    axes.set_yticks([])
    axes.spines[["left", "right", "top", "bottom"]].set_visible(False)
    return figure


def _bars(
    axes: Axes, labels: Sequence[str], groups: dict[str, tuple[Floats, Floats | None]]
) -> None:
    """Draw bars side by side, with intervals (n, 2) where they are given."""
    width = 0.8 / len(groups)
    for k, (word, (values, ends)) in enumerate(groups.items()):
        places = np.arange(len(labels)) + (k - (len(groups) - 1) / 2) * width
        errors = None if ends is None else np.maximum(0, np.abs(ends.T - values))
        axes.bar(
            places, values, width * 0.92, color=line_color(k), label=word, yerr=errors,
            error_kw={"lw": 0.7, "capsize": 1.5},
        )  # fmt: skip
    axes.set_xticks(np.arange(len(labels)), labels)
    axes.axhline(0, color=INK_COLOR, lw=0.5)
    axes.legend(loc="upper right")


def _sobol(study: Study, names: Sequence[str]) -> Figure:
    """Draw first-order and total indices with their intervals."""
    measure = _chosen_measure(study, names)
    found = study.sobol(measure)
    figure = new_figure(COLUMN_WIDTH, 60)
    axes = figure.subplots()
    groups = {
        "first order": (found.first, found.first_interval),
        "total": (found.total, found.total_interval),
    }
    _bars(axes, found.factors, groups)  # type: ignore[arg-type]
    axes.set_ylabel(f"share of the variance of {measure}")
    return figure


def _morris(study: Study, names: Sequence[str]) -> Figure:
    """Draw σ over μ* of the elementary effects, each factor with its name."""
    measure = _chosen_measure(study, names)
    found = study.morris(measure)
    figure = new_figure(COLUMN_WIDTH, 64)
    axes = figure.subplots()
    for k, name in enumerate(found.factors):
        axes.plot(found.absolute_mean[k], found.deviation[k], "o", ms=4, color=line_color(k))
        axes.annotate(
            name,
            (found.absolute_mean[k], found.deviation[k]),
            xytext=(4, 3),
            textcoords="offset points",
        )
    axes.set_xlim(0, 1.2 * max(float(found.absolute_mean.max()), 1e-300))
    axes.set_ylim(0, 1.25 * max(float(found.deviation.max()), 1e-300))
    axes.set_xlabel(f"μ* of {measure}: importance")
    axes.set_ylabel("σ: nonlinearity, interaction")
    return figure


def _number_text(value: float, form: str) -> str:
    """Return a number with the minus sign that axes have; what rounds to zero has none."""
    text = f"{value:z{form}}" if form.endswith("f") else f"{value:{form}}"
    return text.replace("-", "−")


def _correlations(study: Study, names: Sequence[str]) -> Figure:
    """Draw the matrix of rank correlations with its numbers."""
    found = study.correlations()
    measures, factors = found["measure"].to_numpy(), found["factor"].to_numpy()
    values = found.to_numpy()
    figure = new_figure(max(COLUMN_WIDTH, 18 * len(factors) + 40), 11 * len(measures) + 24)
    axes = figure.subplots()
    image = axes.imshow(values, vmin=-1, vmax=1, cmap="RdBu_r", aspect="auto")
    for (i, k), value in np.ndenumerate(values):
        color = "white" if abs(value) > 0.6 else INK_COLOR
        text = _number_text(value, ".2f") if np.isfinite(value) else "constant"
        axes.text(k, i, text, ha="center", va="center", color=color, fontsize=7)
    axes.set_xticks(range(len(factors)), factors)
    axes.set_yticks(range(len(measures)), measures)
    axes.tick_params(length=0)
    axes.grid(False)
    figure.colorbar(image, ax=axes, label="rank correlation")
    return figure


def _pareto(study: Study, names: Sequence[str]) -> Figure:
    """Draw all designs in two goals, and the front; a name with a minus sign is maximized."""
    given = list(names) or _number_measures(study)[:2]
    if len(given) != 2:
        raise ArgumentError(
            "the plot of a Pareto front takes 2 goals",
            remedy='name them: plot("mass", "-speed", kind="pareto") maximizes speed',
        )
    goals = {name.lstrip("-"): "max" if name.startswith("-") else "min" for name in given}
    if len(goals) != 2:
        raise ArgumentError("both goals are the same", remedy="name two")
    front = study.pareto(goals)
    rows = _drawn_designs(study)
    figure = new_figure(COLUMN_WIDTH, 68)
    axes = figure.subplots()
    x, y = (study.numbers(name) for name in goals)
    axes.plot(x[rows], y[rows], ".", ms=3, color="#B8BEC6", mec="none", label="designs")
    axes.plot(x[front], y[front], "o-", ms=3.5, lw=0.8, color=line_color(0), label="Pareto front")
    words = {"min": "smaller is better", "max": "larger is better"}
    (first, one), (second, other) = goals.items()
    axes.set_xlabel(f"{first} ({words[one]})")
    axes.set_ylabel(f"{second} ({words[other]})")
    axes.legend(loc="best")
    return figure


def _surface(study: Study, names: Sequence[str]) -> Figure:
    """Draw the response surface over two factors, the others at their middle."""
    measure = _chosen_measure(study, names)
    every = _number_factors(study)
    chosen = [name for name in names if name in every] or every[:2]
    if len(chosen) != 2:
        raise ArgumentError("the plot of a surface takes 2 factors", remedy="name two")
    found = study.surface(measure)
    middle = (found.low + found.high) / 2
    i, k = (found.factors.index(name) for name in chosen)
    x = np.linspace(found.low[i], found.high[i], 60)
    y = np.linspace(found.low[k], found.high[k], 60)
    points = np.tile(middle, (x.size * y.size, 1))
    grid = np.meshgrid(x, y)
    points[:, i], points[:, k] = grid[0].ravel(), grid[1].ravel()
    mean, deviation = found.predict(points)
    figure = new_figure(2 * COLUMN_WIDTH, 70)
    panels = figure.subplots(1, 2)
    for axes, values, word in (
        (panels[0], mean, measure),
        (panels[1], deviation, f"standard deviation of {measure}"),
    ):
        shades = axes.contourf(x, y, values.reshape(y.size, x.size), 16, cmap="viridis")
        figure.colorbar(shades, ax=axes, label=word)
        rows = _drawn_designs(study)[:500]
        axes.plot(
            study.numbers(chosen[0])[rows],
            study.numbers(chosen[1])[rows],
            ".",
            ms=2,
            color="white",
            mec=INK_COLOR,
            mew=0.2,
        )
        axes.set_xlabel(chosen[0])
        axes.set_ylabel(chosen[1])
    return figure


def _bands(study: Study, names: Sequence[str]) -> Figure:
    """Draw the median and bands of 50 % and 90 % of a history over time."""
    histories = list(names) or list(study.recipe.histories)
    if not histories:
        raise ArgumentError("the study has no history", remedy='measure one: {"angle": "q1"}')
    figure = new_figure(COLUMN_WIDTH, 40 * len(histories) + 14)
    panels = figure.subplots(len(histories), 1, squeeze=False, sharex=True)[:, 0]
    for k, (axes, name) in enumerate(zip(panels, histories, strict=True)):
        found = study.bands(name)
        times, rows = found[f"{name}_time"].to_numpy(), found.to_numpy()
        color = line_color(k)
        axes.fill_between(times, rows[0], rows[4], color=color, alpha=0.2, lw=0, label="90 %")
        axes.fill_between(times, rows[1], rows[3], color=color, alpha=0.35, lw=0, label="50 %")
        axes.plot(times, rows[2], color=color, lw=1, label="median")
        axes.set_ylabel(name)
        axes.margins(x=0)
        if k == 0:
            axes.legend(loc="best")
    panels[-1].set_xlabel("t / s")
    return figure


_FIGURES: dict[str, Callable[[Study, Sequence[str]], Figure]] = {
    "scatter": _scatter,
    "parallel": _parallel,
    "sobol": _sobol,
    "morris": _morris,
    "correlations": _correlations,
    "pareto": _pareto,
    "surface": _surface,
    "bands": _bands,
}
