"""A mechanism whose motion is given at some coordinates: where the others are, and how fast.

With d the driven coordinates and p the others, φ(d, p, t) = 0 has p by Newton's steps, and
J_p ṗ = −J_d ḋ − φ_t, J_p p̈ = −J_d d̈ − γ their rates. Where J_p loses rank the drive is at a limit
position (it cannot go on), or, if (J_p, J_d ḋ + φ_t) does too, branches of the motion meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import AssemblyError, LinkwrightError, UnsupportedError
from ..kinematics.assembly import assemble
from ..kinematics.assembly_search import close_configuration
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    project_accelerations,
    project_velocities,
    smallest_jacobian_singular_share,
)
from ..kinematics.constraint_equations import constraint_equations
from ..kinematics.constraint_system import constraint_system
from ..kinematics.mobility_analysis import mobility
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, mechanism_names
from ..types import Floats
from .paths import Path

SINGULAR = CLOSURE_TOLERANCES.state_rank_share
"""J_p has lost rank where its smallest singular value is below this share of the largest."""


@dataclass(frozen=True)
class Instant:
    """One position with speeds and accelerations; `share` is the smallest singular value of J_p as
    a share of the largest (1 where nothing depends)."""

    t: float
    q: Floats
    qd: Floats
    qdd: Floats
    share: float
    left: float


class Driven:
    """Positions, speeds and accelerations of a mechanism along a path of some coordinates."""

    def __init__(self, mechanism: Mechanism, path: Path) -> None:
        self.mechanism, self.path, self.names = mechanism, path, mechanism_names(mechanism)
        self.constrained = bool(self.names.constraints)
        if self.names.position_row_count < len(self.names.constraints):
            raise UnsupportedError(
                "constraints of speeds leave positions to the history of the motion",
                where=mechanism.name, remedy="use simulate",
            )  # fmt: skip
        self.held = [self._speed(name) for name in path.names]
        self.moving = [k for k in range(self.names.nv) if k not in self.held]
        self.places = [self.names.q.index(name) for name in path.names]
        if self.constrained:
            self.system = constraint_system(mechanism)
            tree = build_kinematic_tree(mechanism, "numeric")
            own, found = tree.motion, constraint_equations(tree)
            assert found is not None
            outputs = [found.velocity, found.bias, found.J]
            self._rates = ca.Function("rates", [own.q, own.qd, own.t], outputs)
            self._check_freedom()

    def _speed(self, name: str) -> int:
        """The speed that is the coordinate's rate."""
        if self.constrained:
            return constraint_system(self.mechanism).velocity_index(name)
        if name not in self.names.qd:
            raise UnsupportedError(
                f"'{name}' has no speed of its own", where=self.mechanism.name,
                remedy='use rotation = "cardan"',
            )  # fmt: skip
        return self.names.qd.index(name)

    def _check_freedom(self) -> None:
        free = mobility(self.mechanism)
        given, count = len(self.held), free.configuration
        if given < count:
            names = [n for n in free.independent if n not in self.path.names]
            raise LinkwrightError(
                f"{_counted(count)} free and {given} driven",
                where=self.mechanism.name, remedy=f"drive others too, such as {', '.join(names)}",
            )  # fmt: skip
        if given > count:
            raise LinkwrightError(
                f"{given} coordinates are driven, but only {count} can be",
                where=self.mechanism.name, remedy="drive fewer, and let the others follow",
            )  # fmt: skip

    def begin(self, t: float, rough: Mapping[str, float] | None) -> Instant:
        """The first position: the branch is that of `rough` values, or of the assembly."""
        values = self.path(t)[0]
        wanted = dict(zip(self.path.names, values.tolist(), strict=True))
        if self.constrained:
            q = assemble(self.mechanism, {**(rough or {}), **wanted}, self.path.names, t=t)
        else:
            q = self._neutral({**(rough or {}), **wanted})
        found = self.at(t, q)
        if found is None:
            raise AssemblyError("the mechanism cannot be assembled", where=self.mechanism.name)
        return found

    def _neutral(self, values: Mapping[str, float]) -> Floats:
        from ..kinematics.tree_coordinates import neutral_coordinates
        from .start import placed

        start = np.array(neutral_coordinates(build_kinematic_tree(self.mechanism, "numeric")))
        return placed(start, dict(values), self.names.q, "coordinate")

    def at(self, t: float, rough: Floats) -> Instant | None:
        """The position at t near `rough`; None where there is none."""
        d, dd, ddd = self.path(t)
        q = rough.copy()
        q[self.places] = d
        qd, qdd = np.zeros(self.names.nv), np.zeros(self.names.nv)
        qd[self.held], qdd[self.held] = dd, ddd
        if not self.constrained:
            return Instant(t, q, qd, qdd, 1.0, 0.0)
        q, left = close_configuration(self.system, q, t, self.held)
        if not left <= CLOSURE_TOLERANCES.continued_residual * max(1.0, np.abs(q).max()):
            return None
        if not self.system.is_upright(q, t):
            return None
        V, _, J = self._numbers(q, qd, t)
        rounding = CLOSURE_TOLERANCES.rounding_share
        qd = project_velocities(J, qd, V, hold=self.held, rank_share=rounding)
        _, gamma, _ = self._numbers(q, qd, t)
        qdd = project_accelerations(J, qdd, gamma, hold=self.held, rank_share=rounding)
        return Instant(t, q, qd, qdd, self._share(J), left)

    def _numbers(self, q: Floats, qd: Floats, t: float) -> tuple[Floats, Floats, Floats]:
        V, gamma, J = (np.asarray(x, dtype=float) for x in self._rates(q, qd, t))
        return V.ravel(), gamma.ravel(), J

    def _share(self, J: Floats) -> float:
        return (
            smallest_jacobian_singular_share(J[:, self.moving], len(self.moving))
            if self.moving
            else 1.0
        )

    def J(self, here: Instant) -> Floats:
        """Of all constraints, at a position."""
        return self._numbers(here.q, here.qd, here.t)[2]

    def moved(self, q: Floats, step: Floats) -> Floats:
        found: Floats = self.system.move(q, step) if self.constrained else q + step
        return found

    def predicted(self, here: Instant, t: float) -> Floats:
        h = t - here.t
        return self.moved(here.q, h * here.qd + h * h / 2 * here.qdd)

    def step(self, here: Instant, t: float) -> Instant | None:
        """The position at t that goes on smoothly from here; None where it is too far to say."""
        if not self.constrained:
            return self.at(t, here.q)
        rough = self.predicted(here, t)
        found = self.at(t, rough)
        if found is None:
            return None
        length = np.abs(t - here.t) * np.abs(here.qd).max(initial=0.0)
        correction = np.abs(found.q - rough).max(initial=0.0)
        return found if correction <= 0.05 * length + 1e-7 else None

    def across(self, here: Instant, t: float, side: float) -> Instant | None:
        """At t, where J_p has no inverse: from positions a little before and after."""
        before = self.step(here, t - side)
        after = self.step(before, t + side) if before is not None else None
        if before is None or after is None:
            return None
        rate = 0.75 * (after.q - before.q) / side - (before.qd + after.qd) / 4
        second = (after.qd - before.qd) / (2 * side)
        q = (before.q + after.q) / 2 - side * (after.qd - before.qd) / 4
        return Instant(t, q, rate, second, 0.0, max(before.left, after.left))

    def limit(self, here: Instant) -> tuple[float, Floats]:
        """(t, q) nearby at which J_p loses rank: φ = 0, J_p v = 0, |v| = 1, by Gauss–Newton."""
        n = len(self.moving)
        right = np.linalg.svd(self.J(here)[:, self.moving])[2]
        z = np.concatenate([np.zeros(n), right[-1], [here.t]])

        def placed(z: Floats) -> Floats:
            step = np.zeros(self.names.nv)
            step[self.moving] = z[:n]
            q = self.moved(here.q, step)
            q[self.places] = self.path(z[-1])[0]
            return q

        def errors(z: Floats) -> Floats:
            q, v = placed(z), z[n:-1]
            phi, J, _ = self.system.position_terms(q, z[-1])
            return np.concatenate([phi, J[:, self.moving] @ v, [v @ v - 1]])

        for _ in range(30):
            change = np.linalg.lstsq(_slope(errors, z), -errors(z), rcond=1e-12)[0]
            change *= min(1.0, 0.2 / max(np.abs(change).max(), 1e-300))
            z = z + change
            if np.abs(change).max() < 1e-13:
                break
        return float(z[-1]), placed(z)

    def branches(self, q: Floats, t: float) -> bool:
        """Whether branches meet there: not even a motion of the drive gives J_p its rank back."""
        rest = np.zeros(self.names.nv)
        rest[self.held] = self.path(t)[1]
        V, _, J = self._numbers(q, rest, t)
        sizes = np.linalg.svd(np.column_stack([J[:, self.moving], V]), compute_uv=False)
        return bool(sizes[len(self.moving) - 1] <= SINGULAR * max(sizes[0], 1e-300))


def _counted(count: int) -> str:
    return "1 coordinate is" if count == 1 else f"{count} coordinates are"


def _slope(errors: Any, z: Floats, h: float = 1e-6) -> Floats:
    columns = [(errors(z + h * e) - errors(z - h * e)) / (2 * h) for e in np.eye(len(z))]
    return np.column_stack(columns)
