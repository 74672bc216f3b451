"""Conversions of linear models: discrete time, SciPy, python-control, frequency responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, MissingExtraError, UnsupportedError
from ..number_checks import check_number
from ..types import Floats

if TYPE_CHECKING:
    import scipy.signal

    import control

    from .linear_model import Linear


def require_single_model(linear: Linear) -> None:
    """Raise an error for a model along a motion, which has many A."""
    if np.ndim(linear.A) > 2:
        raise UnsupportedError(
            f"the linear model has {np.size(linear.t)} times",
            remedy="linearize about one state",
        )


def hold_inputs(linear: Linear, dt: float) -> Linear:
    """Return the discrete model with inputs that are constant during each step (zero-order
    hold): exp([A B; 0 0] dt) = [A_d B_d; 0 1]."""
    from scipy.linalg import expm

    require_single_model(linear)
    if linear.dt is not None:
        raise LinkwrightError("the model is already discrete", remedy="discretize the first one")
    step = check_number(dt, "dt")
    if step <= 0:
        raise LinkwrightError(f"dt must be positive (got {dt:g})", remedy="give seconds")
    n, m = len(linear.states), len(linear.inputs)
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = linear.A, linear.B
    moved = expm(whole * step)
    return replace(linear, A=moved[:n, :n], B=moved[:n, n:], dt=step)


def scipy_state_space(linear: Linear) -> scipy.signal.StateSpace:
    """Return a SciPy state space; with `dt`, a discrete one."""
    from scipy.signal import StateSpace

    require_single_model(linear)
    sampled = {} if linear.dt is None else {"dt": linear.dt}
    return StateSpace(linear.A, linear.B, linear.C, linear.D, **sampled)


def control_state_space(linear: Linear) -> control.StateSpace:
    """Return a python-control state space with the names of states, inputs and outputs."""
    require_single_model(linear)
    try:
        import control
    except ImportError:
        raise MissingExtraError(
            "control.StateSpace needs python-control", remedy="install linkwright[control]"
        ) from None
    names = {"states": linear.states, "inputs": linear.inputs, "outputs": linear.outputs}
    return control.StateSpace(
        linear.A,
        linear.B,
        linear.C,
        linear.D,
        0 if linear.dt is None else linear.dt,
        **{key: [name.replace(".", "_") for name in given] for key, given in names.items()},
    )


def linear_frequency_response(
    linear: Linear, frequencies: Sequence[float] | Floats
) -> NDArray[np.complex128]:
    """Return C (s − A)⁻¹ B + D at s = iω, or at z = exp(iω dt) of a discrete model."""
    require_single_model(linear)
    omega = np.asarray(frequencies, dtype=float)
    s = 1j * omega if linear.dt is None else np.exp(1j * omega * linear.dt)
    resolvents = s[..., None, None] * np.eye(len(linear.A)) - linear.A
    states = np.linalg.solve(resolvents, linear.B.astype(complex))
    return np.asarray(linear.C @ states + linear.D, dtype=complex)
