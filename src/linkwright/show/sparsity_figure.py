"""Sparsity patterns: pictures of the nonzero entries of a mechanism's matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..errors import NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, require_mechanism
from ..types import Booleans
from .figure_style import (
    COLUMN_WIDTH,
    FAINT_COLOR,
    draws_figure,
    label_text_width,
    line_color,
    new_figure,
)
from .histories import drawing_model
from .label_text import symbol_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SQUARE_MATRICES = ("mass_matrix", "coriolis_matrix")
_CONSTRAINT_MATRICES = ("constraint_jacobian",)

_MAX_FIGURE_WIDTH, _MAX_CELL_SIZE, _TITLE_HEIGHT, _FIGURE_RIM = 180.0, 9.0, 8.0, 2.0
"""The greatest width of a picture whose width is not given, and of a cell; title and rims, mm."""
_NAME_FONT_SIZES = (7.0, 6.5, 6.0, 5.5, 5.0)
"""The sizes of names, points: the largest that fits; the first where the width is not given."""


def sparsity_pattern(mechanism: Mechanism, quantity: str = "mass_matrix") -> Booleans:
    """The entries of a matrix that are not zero at all states, as truth values."""
    model = drawing_model(require_mechanism(mechanism))
    known = [*_SQUARE_MATRICES, *(_CONSTRAINT_MATRICES if model.names.constraints else ())]
    if quantity not in known:
        raise NameNotFoundError(
            f"'{quantity}' is not a matrix of {mechanism.name}",
            remedy=suggest_remedy(quantity, known),
        )
    matrix = ca.sparsify(ca.SX(model.equations.expressions(quantity)[0]))
    return np.asarray(ca.DM(matrix.sparsity(), 1).full(), dtype=bool)


@draws_figure
def sparsity(
    mechanism: Mechanism,
    quantity: str = "mass_matrix",
    *,
    width: float | None = None,
    path: str | Path | None = None,
) -> Figure:
    """Draw which entries of a matrix of the mechanism are not zero.

    If the names do not all fit, the figure shows every second, third, … one.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    quantity : str
        "mass_matrix", "coriolis_matrix" or "constraint_jacobian".
    width : float, optional
        Width, mm (default: as the names need, from 85 to 180).
    path : str or Path, optional
        File to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> len(lw.show.sparsity(lw.gallery("elbow")).axes)
    1
    """
    filled, names = sparsity_pattern(mechanism, quantity), drawing_model(mechanism).names
    columns = [symbol_label(name) for name in names.qd]
    rows = (
        [symbol_label(name) for name in names.constraints]
        if quantity in _CONSTRAINT_MATRICES
        else columns
    )
    share = filled.mean()
    title = f"{quantity.replace('_', ' ')}: {filled.sum()} of {filled.size} ({share:.0%})"
    plan = _fit_sparsity_layout(rows, columns, width)
    least = COLUMN_WIDTH if width is None else width
    figure = new_figure(max(plan.width, least), plan.height)
    figure.set_layout_engine("none")
    left = plan.left + max(0.0, (least - plan.width) / 2)
    wide, high = 25.4 * figure.get_size_inches()
    size = (len(columns) * plan.cell / wide, len(rows) * plan.cell / high)
    axes = figure.add_axes((left / wide, plan.below / high, *size))
    _shade_nonzero_cells(axes, filled)
    _label_matrix_ticks(axes, rows, columns, plan)
    half, across = label_text_width(title, 8.0) / 2 + _FIGURE_RIM, len(columns) * plan.cell
    middle = float(np.clip(left + across / 2, half, max(half, wide - half)))
    axes.set_title(title, x=(middle - left) / across)
    return figure


@dataclass(frozen=True)
class _SparsityLayout:
    """The layout of a sparsity picture, mm: a cell, margins to the left and below, width and
    height; the font size, points; every how many names is written; whether these are upright."""

    cell: float
    left: float
    below: float
    width: float
    height: float
    size: float
    every: int
    upright: bool


def _fit_sparsity_layout(
    rows: Sequence[str], columns: Sequence[str], width: float | None
) -> _SparsityLayout:
    """The layout with the largest names that fit without touching, or with only some in the
    smallest size."""
    if width is None:
        natural = (
            _row_label_width(rows, _NAME_FONT_SIZES[0])
            + len(columns) * _label_line_height(_NAME_FONT_SIZES[0])
            + _FIGURE_RIM
        )
        width = float(np.clip(natural, COLUMN_WIDTH, _MAX_FIGURE_WIDTH))
    for size in _NAME_FONT_SIZES:
        left = _row_label_width(rows, size)
        cell = min((width - left - _FIGURE_RIM) / len(columns), _MAX_CELL_SIZE)
        if cell >= _label_line_height(size):
            break
    cell = max(cell, 0.2 * width / len(columns))
    every = max(1, int(np.ceil(_label_line_height(size) / cell)))
    widest = max(label_text_width(name, size) for name in columns)
    upright = widest + 1 <= cell * every
    below = (_label_line_height(size) if upright else widest) + 2 * _FIGURE_RIM
    whole = (left + len(columns) * cell + _FIGURE_RIM, _TITLE_HEIGHT + len(rows) * cell + below)
    return _SparsityLayout(cell, left, below, *whole, size, every, upright)


def _row_label_width(names: Sequence[str], size: float) -> float:
    """The width that row names need, mm."""
    return max(label_text_width(name, size) for name in names) + 2 * _FIGURE_RIM


def _label_line_height(size: float) -> float:
    """The height of a line of text in a font size in points, with spacing, mm."""
    return 1.2 * size * 25.4 / 72


def _shade_nonzero_cells(axes: Axes, filled: Booleans) -> None:
    """Fills the cells of nonzero entries, with white lines between cells."""
    axes.imshow(
        filled, cmap=_sparsity_colors(), vmin=0, vmax=1, interpolation="nearest", aspect="auto"
    )
    axes.set_xticks(np.arange(-0.5, filled.shape[1]), minor=True)
    axes.set_yticks(np.arange(-0.5, filled.shape[0]), minor=True)
    axes.grid(visible=False, which="major")
    axes.grid(visible=True, which="minor", color="white", lw=0.6)
    axes.tick_params(which="both", length=0)


def _sparsity_colors() -> Any:
    """The colours of zero and nonzero entries."""
    from matplotlib.colors import ListedColormap

    return ListedColormap([FAINT_COLOR, line_color(0)])


def _label_matrix_ticks(
    axes: Axes, rows: Sequence[str], columns: Sequence[str], plan: _SparsityLayout
) -> None:
    """Writes the names of rows and columns beside the cells."""
    look: dict[str, Any] = {"fontsize": plan.size}
    axes.set_yticks(range(0, len(rows), plan.every), rows[:: plan.every], **look)
    turned = 0 if plan.upright else 90
    axes.set_xticks(
        range(0, len(columns), plan.every), columns[:: plan.every], rotation=turned, **look
    )
