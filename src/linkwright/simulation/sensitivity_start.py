"""Derivatives of a start that satisfies the constraints.

Under constraints only independent coordinates and velocities can vary; the others follow. Where a
parameter varies, independent coordinates and velocities keep their values, and the others follow,
so that loops stay closed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from ..errors import LinkwrightError
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..types import SX, Floats, Integers
from .right_hand_side import RightHandSide
from .sensitivity_directions import SensitivityRequest

MAX_KEPT_FUNCTIONS = 8
"""How many systems keep the functions of these derivatives: runs of an ensemble share them."""


@dataclass(frozen=True)
class StartDerivative:
    """Names of the directions, ∂q₀ and ∂q̇₀ with one column for each of them, and the values of the
    parameters that the equations keep."""

    wrt: tuple[str, ...]
    q: Floats
    qd: Floats
    parameters: Floats


class StartDerivatives:
    """Derivatives of the start (q, q̇) of a system whose equations keep parameters.

    `preferred` are names of coordinates and velocities that are independent if the constraints
    allow it; the independent ones are those of `like`, another run of an ensemble.
    """

    def __init__(
        self,
        system: RightHandSide,
        parameters: Floats,
        q: Floats,
        qd: Floats,
        preferred: tuple[Collection[str], Collection[str]],
        like: StartDerivatives | None = None,
    ) -> None:
        self.system, self.names = system, system.names
        self.values, self.q, self.qd = parameters, q, qd
        speeds = list(self.names.qd)
        self.preferred = [[speeds.index(x) for x in some if x in speeds] for some in preferred]
        if like is not None:
            self.__dict__["independent_positions"] = like.independent_positions
            self.__dict__["independent_velocities"] = like.independent_velocities

    def derivative(self, request: SensitivityRequest) -> StartDerivative:
        """Return the derivatives in the directions that are asked for."""
        wrt: list[str] = []
        steps: list[Floats] = []
        velocities: list[Floats] = []
        count = len(self.values)
        kept = list(self.system.equations.parameters)
        for name in request.parameters:
            wrt.append(name)
            unit = np.eye(count)[kept.index(name)]
            steps.append(self._follow_positions(np.zeros(self.names.nv), unit, name))
            velocities.append(self._follow_velocities(steps[-1], np.zeros(self.names.nv), unit))
        for k in self._chosen(request.coordinates, self.independent_positions, "q0"):
            wrt.append(f"q0.{self.names.qd[k]}")
            steps.append(self._follow_positions(np.eye(self.names.nv)[k], np.zeros(count)))
            still = np.zeros(self.names.nv)
            velocities.append(self._follow_velocities(steps[-1], still, np.zeros(count)))
        for k in self._chosen(request.velocities, self.independent_velocities, "qd0"):
            wrt.append(f"qd0.{self.names.qd[k]}")
            steps.append(np.zeros(self.names.nv))
            unit = np.eye(self.names.nv)[k]
            velocities.append(self._follow_velocities(steps[-1], unit, np.zeros(count)))
        return StartDerivative(
            tuple(wrt),
            self.rate_matrix @ np.transpose(steps),
            np.transpose(velocities),
            self.values,
        )

    def _chosen(
        self, names: Sequence[str] | None, independent: Sequence[int], start: str
    ) -> list[int]:
        """Return the places of the coordinates that are asked for; they must be independent."""
        if names is None:
            return list(independent)
        speeds = self.names.qd
        for name in names:
            if speeds.index(name) not in independent:
                free = ", ".join(speeds[k] for k in independent)
                raise LinkwrightError(
                    f"'{name}' cannot vary alone: it depends on {free}",
                    where=f"sensitivity to '{start}.{name}'",
                    remedy=f"give {start} by name with '{name}' in it, or ask for '{start}'",
                )
        return [speeds.index(name) for name in names]

    # -- constraints -----------------------------------------------------------------------------

    @cached_property
    def rate_matrix(self) -> Floats:
        """N with dq/dt = N q̇ at the start."""
        return np.asarray(_rate_matrix_function(self.system)(self.q), dtype=float)

    @cached_property
    def _derivatives(self) -> tuple[Floats, ...]:
        """∂φ/∂q N, ∂φ/∂p, ∂ψ/∂q N, ∂ψ/∂q̇ and ∂ψ/∂p of the residuals φ and ψ = J q̇ − b."""
        found = _constraint_derivatives(self.system)(self.q, self.qd, 0.0, self.values)
        return tuple(np.asarray(x, dtype=float) for x in found)

    @cached_property
    def independent_positions(self) -> list[int]:
        """Coordinates (tangent coordinates of rotations) that can vary freely."""
        if not self.names.position_row_count:
            return list(range(self.names.nv))
        return _independent_columns(self._derivatives[0], self.preferred[0])

    @cached_property
    def independent_velocities(self) -> list[int]:
        """Velocities that can vary freely."""
        if not self.names.constraints:
            return list(range(self.names.nv))
        return _independent_columns(self._derivatives[3], self.preferred[1])

    def _follow_positions(self, step: Floats, unit: Floats, name: str = "") -> Floats:
        """Return the change of all coordinates, of which the independent ones are given."""
        if not self.names.position_row_count:
            return step
        J, J_p, *_ = self._derivatives
        return self._follow(J, step, J_p @ unit, self.independent_positions, name)

    def _follow_velocities(self, step: Floats, change: Floats, unit: Floats) -> Floats:
        """Return the change of all velocities, of which the independent ones are given."""
        if not self.names.constraints:
            return change
        _, _, by_q, J, by_p = self._derivatives
        return self._follow(J, change, by_q @ step + by_p @ unit, self.independent_velocities, "")

    def _follow(
        self, J: Floats, given: Floats, right: Floats, independent: Sequence[int], name: str
    ) -> Floats:
        """Solve J x + right = 0 for the dependent entries of x."""
        found = given.copy()
        dependent = [k for k in range(self.names.nv) if k not in independent]
        right = right + J @ given
        found[dependent] = -np.linalg.lstsq(J[:, dependent], right, rcond=None)[0]
        left = J[:, dependent] @ found[dependent] + right
        if np.abs(left).max(initial=0.0) > CLOSURE_TOLERANCES.task_residual * max(
            1.0, float(np.abs(right).max(initial=0.0))
        ):
            raise LinkwrightError(
                f"the loops cannot stay closed where '{name}' changes"
                if name
                else "the constraints do not determine the dependent coordinates",
                where=self.system.equations.mechanism.name,
                remedy="choose a parameter that redundant constraints leave free"
                if name
                else "start away from the singular configuration",
            )
        return found


@lru_cache(maxsize=MAX_KEPT_FUNCTIONS)
def _rate_matrix_function(system: RightHandSide) -> ca.Function:
    """Return the function q → N."""
    equations = system.equations
    return ca.Function("N", [equations.symbols["q"]], [ca.densify(equations.rate_matrix)])


@lru_cache(maxsize=MAX_KEPT_FUNCTIONS)
def _constraint_derivatives(system: RightHandSide) -> ca.Function:
    """Return the function (q, q̇, t, p) → ∂φ/∂q N, ∂φ/∂p, ∂ψ/∂q N, ∂ψ/∂q̇ and ∂ψ/∂p."""
    equations = system.equations
    s = equations.symbols
    parameters = s["p"] if equations.parameters else ca.SX.sym("p", 0)
    residual, violation = (
        ca.SX(equations.expressions(f"constraint_{name}")[0]) for name in ("residual", "velocity")
    )

    def by(expression: SX, symbols: SX) -> SX:
        return ca.densify(ca.jacobian(expression, symbols))

    N = equations.rate_matrix
    outputs = [
        by(residual, s["q"]) @ N,
        by(residual, parameters),
        by(violation, s["q"]) @ N,
        by(violation, s["qd"]),
        by(violation, parameters),
    ]
    return ca.Function("constraints", [s["q"], s["qd"], s["t"], parameters], outputs)


def _independent_columns(J: Floats, preferred: Sequence[int]) -> list[int]:
    """Return the columns of J without those that elimination takes, the largest remaining first;
    preferred columns are taken last."""
    left = J.copy()
    least = CLOSURE_TOLERANCES.rank_share * float(np.abs(J).max(initial=1e-300))
    others = [k for k in range(J.shape[1]) if k not in preferred]
    independent: list[int] = []
    for group in (others, list(preferred)):
        remaining = list(group)
        while remaining:
            sizes: Floats = np.linalg.norm(left[:, remaining], axis=0)
            largest: Integers = np.argmax(sizes)  # type: ignore[assignment]
            if sizes[largest] <= least:
                break
            taken = left[:, remaining.pop(int(largest))] / sizes[largest]
            left = left - np.outer(taken, taken @ left)
        independent += remaining
    return sorted(independent)
