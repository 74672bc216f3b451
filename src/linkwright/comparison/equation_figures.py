"""The figure of the equations of several formulations: their counts, and matrices to scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..show.figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    line_color,
    new_figure,
    with_figure_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .equation_comparison import EquationComparison

_ROW_HEIGHT = 13.0
"""The height of a formulation's row, mm."""
_COUNT_NAMES = ("equations", "unknowns", "states")


@with_figure_style
def draw_equation_counts(study: EquationComparison) -> Figure:
    """Bars for equations, unknowns and states; beside them the matrices that are solved."""
    figure = new_figure(2 * COLUMN_WIDTH, 22 + _ROW_HEIGHT * max(2, len(study.forms)))
    bars, squares = figure.subplots(1, 2, width_ratios=(3, 2))
    _draw_count_bars(bars, study)
    _draw_matrices(squares, study)
    return figure


def _draw_count_bars(axes: Axes, study: EquationComparison) -> None:
    """Draw three bars for each formulation, with their numbers after them."""
    rows = study.records()
    for k, what in enumerate(_COUNT_NAMES):
        values = [getattr(row, what) for row in rows]
        places = [place + 0.26 * (k - 1) for place in range(len(rows))]
        axes.barh(places, values, height=0.24, color=line_color(k), label=what)
        for place, value in zip(places, values, strict=True):
            axes.annotate(
                str(value), (value, place), (2, 0), textcoords="offset points", va="center", size=7
            )
    axes.set_yticks(range(len(rows)), labels=[row.by for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)  # as the matrices beside the bars
    axes.margins(x=0.1)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("number")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=8)


def _draw_matrices(axes: Axes, study: EquationComparison) -> None:
    """Draw the matrices of each formulation to scale, in the formulation's row."""
    from matplotlib.patches import Rectangle

    sizes = [one.source.counts.matrices for one in study.forms]
    largest = max((max(size) for each in sizes for size in each.values()), default=1)
    unit = 0.8 / largest
    for row, each in enumerate(sizes):
        left = 0.0
        for name, (m, n) in each.items():
            axes.add_patch(
                Rectangle(
                    (left, row - m * unit / 2),
                    n * unit,
                    m * unit,
                    fc=line_color(row),
                    alpha=0.35,
                    ec=GRAY_COLOR,
                    lw=0.5,
                )
            )
            axes.text(left + n * unit + 0.06, row, f"{name}: {m} × {n}", va="center", size=7)
            left += n * unit + 1.1
    rows = max(1, len(sizes))
    height = axes.get_window_extent().height / rows  # of a row, which the unit of both axes is
    width = axes.get_window_extent().width / height
    axes.set(xlim=(-0.1, width - 0.1), ylim=(rows - 0.5, -0.5))
    axes.set_title("matrices that are solved, to scale")
    axes.axis("off")
