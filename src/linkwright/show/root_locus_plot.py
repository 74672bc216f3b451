"""Root loci: eigenvalues under feedback in the complex plane, over the gain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..linearization.feedback_gains import close_loop
from ..types import Floats
from .figure_style import (
    COLUMN_WIDTH,
    GRAY_COLOR,
    INK_COLOR,
    draws_figure,
    line_color,
    new_figure,
)
from .label_text import plain_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..linearization import Linear

_RANGE_FACTOR = 1.6
"""How far beyond the open-loop eigenvalues the plane is shown."""


@draws_figure
def root_locus(
    linear: Linear,
    input: str | None = None,  # noqa: A002 - the word of the field
    output: str | None = None,
    gains: Sequence[float] | Floats | None = None,
    *,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot the eigenvalues under the feedback u = −k y in the complex plane, over the gain k.

    Crosses are the eigenvalues without feedback, circles the zeros.

    Parameters
    ----------
    linear : Linear
        A linear model about a state.
    input, output : str, optional
        Names of the input and the output (default: the first ones).
    gains : (k,) array, optional
        The gains, which increase (default: three decades about that of unit loop gain).
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> linear = lw.linearize(lw.gallery("cart-pole"))
    >>> len(lw.show.root_locus(linear, output="theta").axes)
    1
    """
    loop = close_loop(linear, input, output, gains)
    figure = new_figure(width, 0.9 * width)
    axes = figure.subplots()
    for k, branch in enumerate(loop.eigenvalues.T):
        axes.plot(branch.real, branch.imag, color=line_color(k))
    poles, zeros = loop.open_loop, loop.zeros
    axes.plot(poles.real, poles.imag, "x", color=INK_COLOR, ms=5)
    axes.plot(zeros.real, zeros.imag, "o", mfc="none", color=INK_COLOR, ms=5)
    sizes = [float(np.abs(points).max(initial=0.0)) for points in (poles, zeros)]
    reach = _RANGE_FACTOR * (sizes[0] or sizes[1] or 1.0)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    if linear.dt is None:
        axes.axvline(0, color=GRAY_COLOR, lw=0.6)
    else:
        circle = np.exp(1j * np.linspace(0, 2 * np.pi, 200))
        axes.plot(circle.real, circle.imag, color=GRAY_COLOR, lw=0.6)
    unit = "" if linear.dt is not None else " / 1/s"
    axes.set_xlabel(f"real part{unit}")
    axes.set_ylabel(f"imaginary part{unit}")
    axes.set_title(f"input {plain_label(loop.input)} = −k · output {plain_label(loop.output)}")
    return figure
