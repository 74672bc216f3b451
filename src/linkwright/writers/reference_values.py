"""Reference values of exported functions: outputs at one state, from ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism.mechanism_units import coordinate_units
from ..readings.targets.exported_code import ReferenceValues
from ..tape import Tape
from ..types import Floats

if TYPE_CHECKING:
    from ..model.model import Model

_REFERENCE_BITS = 200
_REFERENCE_STEP = 1e-3
"""The length of a step, s: short enough that the step of any mechanism is well conditioned."""
_MAX_REFERENCE_TRIALS = 8
"""States that are tried until all outputs are finite."""


def compute_reference_values(model: Model, tape: Tape) -> ReferenceValues | None:
    """Return inputs and outputs of a function at a random state; None if none is finite."""
    generator = np.random.default_rng(len(tape))
    for _ in range(_MAX_REFERENCE_TRIALS):
        inputs = draw_reference_inputs(model, tape, generator)
        outputs = evaluate_tape_exactly(tape, inputs)
        if np.isfinite(np.concatenate(outputs)).all():
            return ReferenceValues(
                tuple(map(tuple, inputs)), tuple(tuple(output) for output in outputs)
            )
    return None


def evaluate_tape_exactly(tape: Tape, inputs: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return the outputs of a tape, computed in ball arithmetic and rounded once."""
    import flint

    from ..algebra.exact.tape_algebra import evaluate_tape_in_algebra
    from ..readings.balls import ExactBallAlgebra, ball_precision

    with ball_precision(_REFERENCE_BITS):
        values = [[flint.arb(x) for x in port] for port in inputs]
        found = evaluate_tape_in_algebra(tape, ExactBallAlgebra(), values)
        return [
            [float(ball.mid()) if ball.is_finite() else np.nan for ball in port] for port in found
        ]


def draw_reference_inputs(
    model: Model, tape: Tape, generator: np.random.Generator
) -> list[list[float]]:
    """Random numbers with three decimals; constrained mechanisms in the configuration that their
    file gives, parameters at the mechanism's values."""
    found = []
    for port in tape.inputs:
        numbers = generator.uniform(-1, 1, port.size).round(3)
        if port.name == "p":
            numbers = model.nominal_parameters
        elif port.name == "dt":
            numbers = np.full(port.size, _REFERENCE_STEP)
        elif port.name in ("q", "q1"):
            numbers = _reference_configuration(model, numbers)
        found.append([float(x) for x in numbers])
    return found


def _reference_configuration(model: Model, numbers: Floats) -> Floats:
    """The configuration with unit quaternions."""
    if model.names.constraints:
        return np.asarray(model.home())
    is_quaternion = np.array([unit == "1" for unit in coordinate_units(model.mechanism)])
    quaternions = numbers[is_quaternion].reshape(-1, 4)
    numbers[is_quaternion] = (quaternions / np.linalg.norm(quaternions, axis=1)[:, None]).ravel()
    return numbers
