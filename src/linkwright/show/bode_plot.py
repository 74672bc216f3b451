"""Bode plots: size and phase of the response of a linear model over frequency."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError
from ..linearization.feedback_gains import linear_port_index
from ..types import Floats
from .figure_style import (
    COLUMN_WIDTH,
    dash_pattern,
    draw_legend,
    draws_figure,
    line_color,
    new_figure,
)
from .label_text import plain_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..linearization import Linear

_FREQUENCY_COUNT = 600
"""Frequencies of a plot without given ones: smooth lines at the width of a column."""

_DECADES_BEYOND = 1.0
"""Decades of frequencies below the slowest and above the fastest eigenvalue."""

_DEGREE_STEPS = (15, 30, 45, 90, 180, 360)
"""Steps between ticks of angles; a smaller range has ticks of plain numbers, a larger one several
turns between two ticks."""
_MOST_DEGREE_STEPS = 6


@draws_figure
def bode(
    linear: Linear,
    input: str | None = None,  # noqa: A002 - the word of the field
    outputs: Sequence[str] | None = None,
    *,
    frequencies: Sequence[float] | Floats | None = None,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Plot magnitude (dB) and phase of the response of outputs to one input over frequency.

    Parameters
    ----------
    linear : Linear
        A linear model about a state, continuous or discrete.
    input : str, optional
        The input (default: the first).
    outputs : sequence of str, optional
        The outputs (default: all).
    frequencies : (k,) array, optional
        Frequencies, rad/s (default: a decade beyond the eigenvalues).
    width, path : optional
        Width in mm, and the file to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> linear = lw.linearize(lw.gallery("elbow"), {"q1": "-90 deg"})
    >>> len(lw.show.bode(linear, "q1", ["q1"]).axes)
    2
    """
    column = linear_port_index(linear.inputs, input, "input")
    wanted = list(linear.outputs) if outputs is None else list(outputs)
    rows = [linear_port_index(linear.outputs, name, "output") for name in wanted]
    omega = _plotted_frequencies(linear) if frequencies is None else np.asarray(frequencies, float)
    if not (omega > 0).all() or not omega.size:
        raise LinkwrightError("frequencies must be positive", remedy="give rad/s above 0")
    response = linear.frequency_response(omega)[:, :, column]
    labels = [f"{plain_label(linear.inputs[column])} → {plain_label(name)}" for name in wanted]
    figure = new_figure(width, 95)
    upper, lower = figure.subplots(2, 1, sharex=True)
    for k, row in enumerate(rows):
        size = np.abs(response[:, row])
        seen = size > 0
        style = {"color": line_color(k), "ls": dash_pattern(k), "label": labels[k]}
        upper.plot(omega[seen], 20 * np.log10(size[seen]), **style)
        phase = np.unwrap(np.angle(response[seen, row]))
        lower.plot(omega[seen], np.degrees(phase), **style)
    upper.set_ylabel("magnitude / dB")
    _place_degree_ticks(lower)
    lower.set_ylabel("phase / °")
    lower.set_xlabel("frequency / rad/s")
    lower.set_xscale("log")
    lower.margins(x=0)
    if len(rows) > 1:
        draw_legend(upper)
    else:
        upper.set_title(labels[0])
    figure.align_ylabels()
    return figure


def _plotted_frequencies(linear: Linear) -> Floats:
    """Frequencies about those of the eigenvalues, rad/s; below the Nyquist frequency."""
    found = linear.eigenvalues
    sizes = np.abs(found if linear.dt is None else np.log(found[found != 0]) / linear.dt)
    sizes = sizes[sizes > 1e-6 * max(float(sizes.max(initial=0.0)), 1e-300)]
    slow, fast = (float(sizes.min()), float(sizes.max())) if len(sizes) else (1.0, 1.0)
    ends = np.log10(slow) - _DECADES_BEYOND, np.log10(fast) + _DECADES_BEYOND
    omega = np.logspace(*ends, _FREQUENCY_COUNT)
    return omega if linear.dt is None else omega[omega < np.pi / linear.dt]


def _place_degree_ticks(axes: Axes) -> None:
    """Place the ticks of an ordinate in degrees at multiples of parts of a turn."""
    from matplotlib.ticker import MultipleLocator

    low, high = axes.get_ylim()
    least = (high - low) / _MOST_DEGREE_STEPS
    if least > _DEGREE_STEPS[0] / 2:
        turns = 360 * np.ceil(least / 360)
        step = next((step for step in _DEGREE_STEPS if step >= least), turns)
        axes.yaxis.set_major_locator(MultipleLocator(step))
