"""Steppers by name, and their options."""

from __future__ import annotations

import math

from ...errors import UnsupportedError
from ...integrators import RODAS5P, RosenbrockMethod
from ...number_checks import check_positive
from ..fixed_steps.tableaus import FIXED_STEP_METHODS
from .fixed_stepper import fixed_stepper
from .minimal_stepper import minimal_stepper
from .program_stepper import program_stepper
from .scipy_stepper import SCIPY_METHODS, scipy_stepper
from .stepper import MakeStepper, StepOptions
from .sundials_stepper import SUNDIALS_METHODS, sundials_stepper
from .taylor_stepper import taylor_stepper

INTEGRATORS: dict[str, MakeStepper] = {
    **{name: scipy_stepper(name) for name in SCIPY_METHODS},
    RODAS5P.name: program_stepper(RosenbrockMethod(RODAS5P)),
    **{name: sundials_stepper(name) for name in SUNDIALS_METHODS},
    "taylor": taylor_stepper,
    **{name: fixed_stepper(name) for name in FIXED_STEP_METHODS},
}
"""The functions that make steppers, by name."""

COORDINATES = ("all", "minimal")
"""The coordinates in which constrained mechanisms can be integrated."""


def stepper_named(name: str, coordinates: str = "all") -> MakeStepper:
    """Return the function that makes a stepper, of all coordinates or of minimal ones."""
    for given, known, what in (
        (name, list(INTEGRATORS), "integrator"),
        (coordinates, COORDINATES, "choice of coordinates"),
    ):
        if given not in known:
            raise UnsupportedError(
                f"unknown {what} '{given}'", remedy=f"use one of {', '.join(known)}"
            )
    if coordinates == "all":
        return INTEGRATORS[name]
    if name not in SCIPY_METHODS:
        raise UnsupportedError(
            f"'{name}' does not support minimal coordinates",
            remedy=f"use one of {', '.join(SCIPY_METHODS)}",
        )
    return minimal_stepper(name)


def check_step_options(
    integrator: str,
    *,
    rtol: float,
    atol: float,
    max_step: float,
    step: float | None,
    spacing: float,
) -> StepOptions:
    """Return checked options; an option that the integrator does not use is an error."""
    rtol, atol = check_positive(rtol, "rtol"), check_positive(atol, "atol")
    max_step = check_positive(max_step, "max_step", or_infinite=True)
    if integrator in FIXED_STEP_METHODS:
        if max_step < math.inf:
            raise UnsupportedError(f"'{integrator}' does not use max_step", remedy="use step")
        step = None if step is None else check_positive(step, "step")
    elif step is not None:
        raise UnsupportedError(
            f"'{integrator}' chooses its steps itself",
            remedy=f"use max_step, or one of {', '.join(FIXED_STEP_METHODS)}",
        )
    return StepOptions(rtol, atol, max_step, step, spacing)
