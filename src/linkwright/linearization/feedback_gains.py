"""Eigenvalues under proportional feedback of one output to one input: root loci."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..number_checks import check_vector
from ..types import Floats
from .eigenvalue_sweep import connect_branches
from .linear_model import Linear
from .state_space_conversions import linear_frequency_response, require_single_model

DEFAULT_GAINS = 400
"""The number of gains of a root locus, spaced by equal factors."""

GAIN_DECADES = 3.0
"""Decades of gains below and above that at which the loop has unit gain."""

LONGEST_LOCUS_STEP = 0.01
"""Gains are added until eigenvalues move by less than this share of the largest one without
feedback: branches meet and part at right angles, within a small range of gains."""

MAX_GAIN_REFINEMENTS = 12
"""Eigenvalues that meet move as the root of the change of the gain: halving it twelve times brings
steps to a sixtieth."""


@dataclass(frozen=True)
class FeedbackLoop:
    """Eigenvalues of a linear model under the feedback u = −k y, for gains k ≥ 0.

    `input` and `output` are the names of u and y. `gains` are the gains, and `eigenvalues` (gains ×
    states, 1/s) has one column for each continuous branch. Branches start at the eigenvalues
    `open_loop` and end at the `zeros` or at infinity.

    Examples
    --------
    >>> import linkwright as lw
    >>> linear = lw.linearize(lw.gallery("cart-pole"))
    >>> loop = lw.linearization.close_loop(linear, output="theta", gains=[0.0, 10.0])
    >>> loop.input, loop.output, loop.gains.tolist()
    ('x', 'theta', [0.0, 10.0])
    """

    input: str
    output: str
    gains: Floats
    eigenvalues: NDArray[np.complex128]
    open_loop: NDArray[np.complex128]
    zeros: NDArray[np.complex128]


def close_loop(
    linear: Linear,
    input: str | None = None,  # noqa: A002 - the word of the field
    output: str | None = None,
    gains: Sequence[float] | Floats | None = None,
) -> FeedbackLoop:
    """Return the eigenvalues of a linear model under the feedback u = −k y over the gain k.

    Parameters
    ----------
    linear : Linear
        A linear model about a state.
    input, output : str, optional
        Names of the input and the output (default: the first ones).
    gains : (k,) array, optional
        Gains in the units of the input by the output (default: three decades about that at which
        the loop has unit gain, closer together where eigenvalues move fast).

    Returns
    -------
    FeedbackLoop
        Gains, eigenvalues along continuous branches, and the zeros where branches end.

    Examples
    --------
    >>> import linkwright as lw
    >>> linear = lw.linearize(lw.gallery("cart-pole"))
    >>> loop = lw.linearization.close_loop(linear, output="theta", gains=[0.0, 10.0])
    >>> loop.eigenvalues.shape
    (2, 4)
    """
    from scipy.linalg import eigvals

    require_single_model(linear)
    column = linear_port_index(linear.inputs, input, "input")
    row = linear_port_index(linear.outputs, output, "output")
    b, c, d = linear.B[:, [column]], linear.C[[row]], float(linear.D[row, column])

    def closed_eigenvalues(gain: float) -> NDArray[np.complex128]:
        found = np.linalg.eigvals(linear.A - gain / (1 + gain * d) * b @ c)
        return np.asarray(found, dtype=complex)

    if gains is None:
        chosen, branches = _refine_gains(
            closed_eigenvalues, _default_gains(linear, row, column), linear.eigenvalues
        )
    else:
        chosen = check_vector(np.asarray(gains, float), np.size(gains), "gains")
        branches = connect_branches([closed_eigenvalues(k) for k in chosen])
    n = len(linear.A)
    pencil = np.block([[linear.A, b], [c, np.array([[d]])]])
    mass = np.zeros((n + 1, n + 1))
    mass[:n, :n] = np.eye(n)
    roots = eigvals(pencil, mass)
    size = 1e8 * max(1.0, float(np.abs(linear.A).max(initial=0.0)))
    finite = roots[np.isfinite(roots) & (np.abs(roots) < size)]
    names = linear.inputs[column], linear.outputs[row]
    return FeedbackLoop(*names, chosen, branches, linear.eigenvalues, np.asarray(finite, complex))


def linear_port_index(names: Sequence[str], wanted: str | None, kind: str) -> int:
    """Return the place of an input or output, the first one where none is named."""
    if not names:
        raise LinkwrightError(f"the linear model has no {kind}", remedy=f"name an {kind}")
    if wanted is None:
        return 0
    if wanted not in names:
        raise NameNotFoundError(
            f"the linear model has no {kind} '{wanted}'",
            remedy=suggest_remedy(wanted, list(names)),
        )
    return list(names).index(wanted)


def _refine_gains(
    eigenvalues_at: Callable[[float], NDArray[np.complex128]],
    gains: Floats,
    open_loop: NDArray[np.complex128],
) -> tuple[Floats, NDArray[np.complex128]]:
    """Return more gains, and the branches over them, whose steps are short near the eigenvalues
    without feedback."""
    found = {gain: eigenvalues_at(gain) for gain in gains.tolist()}
    size = float(np.abs(open_loop).max(initial=0.0))
    for _ in range(MAX_GAIN_REFINEMENTS):
        gains = np.array(sorted(found))
        branches = connect_branches([found[gain] for gain in gains.tolist()])
        steps = np.abs(np.diff(branches, axis=0))
        near = np.abs(branches[:-1]) < 2 * size
        long = (np.where(near, steps, 0.0) > LONGEST_LOCUS_STEP * size).any(axis=1)
        if not long.any():
            break
        for gain in ((gains[:-1] + gains[1:]) / 2)[long].tolist():
            found[gain] = eigenvalues_at(gain)
    gains = np.array(sorted(found))
    return gains, connect_branches([found[gain] for gain in gains.tolist()])


def _default_gains(linear: Linear, row: int, column: int) -> Floats:
    """Return 0 and gains about that at which the loop has unit gain."""
    speeds = np.abs(linear.eigenvalues) if linear.dt is None else np.array([1.0 / linear.dt])
    speeds = speeds[speeds > 1e-9 * max(float(speeds.max(initial=0.0)), 1e-300)]
    middle = float(np.exp(np.log(speeds).mean())) if len(speeds) else 1.0
    size = float(np.abs(linear_frequency_response(linear, [1.1 * middle])[0, row, column]))
    unit = 1.0 / size if size > 0 else 1.0
    factors = np.logspace(-GAIN_DECADES, GAIN_DECADES, DEFAULT_GAINS - 1)
    return np.concatenate([[0.0], unit * factors])
