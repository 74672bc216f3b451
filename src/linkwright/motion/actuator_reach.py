"""What actuators that act on several velocities can exert together along a motion.

Efforts u within their ranges give the forces τ = B u. Where the columns of B are independent, u
follows from τ. Where there are more actuators than velocities, the forces that they can exert are a
zonotope: τ is in it if n · τ ≤ Σ max(n · bₖ lowₖ, n · bₖ highₖ) for the normals n of its facets,
each of which is perpendicular to all but one of a set of independent columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from ..expressions import expression_to_float
from ..kinematics.actuator_groups import ActuatorGroup, group_actuators, has_independent_columns
from ..kinematics.closing.steps import jacobian_pseudoinverse
from ..mechanism import Actuator, Mechanism, mechanism_names
from ..mechanism.effort_bounds import (
    UNBOUNDED,
    actuator_effort_range,
    effort_ranges_by_velocity,
    number_range,
)
from ..model.model import Model
from ..types import Booleans, Floats

_SLACK = 1e-9
"""Share of the largest force by which τ may be outside of what can be exerted: rounding."""
_ZERO_SHARE = 1e-9
"""Components of a normal along a column below this share count as perpendicular."""
MAX_FACETS = 2000
"""Pairs of facets up to which a zonotope is checked: 13 actuators on 5 velocities have 715."""


@dataclass(frozen=True)
class _GroupReach:
    """A group of actuators along a motion: blocks of B (samples, rows, columns), and ranges."""

    group: ActuatorGroup
    names: tuple[str, ...]
    block: Floats
    low: Floats
    high: Floats

    @cached_property
    def has_own_efforts(self) -> bool:
        """Whether the efforts follow from the forces."""
        return has_independent_columns(self.block)

    @cached_property
    def is_checked(self) -> bool:
        """Whether the forces that the group can exert are known."""
        _, rows, columns = self.block.shape
        if self.has_own_efforts:
            return True
        facets = comb(columns, rows - 1)
        values = np.linalg.svd(self.block, compute_uv=False)
        is_full = len(values[0]) == rows and (values[:, -1] > _ZERO_SHARE * values[:, 0]).all()
        return bool(is_full) and facets <= MAX_FACETS

    @property
    def is_bounded(self) -> bool:
        """Whether some effort has a range."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def forces(self, tau: Floats) -> Floats:
        """Return the forces (…, samples, rows) along the group's velocities."""
        return tau[..., self.group.rows]

    @cached_property
    def _inverse(self) -> Floats:
        return jacobian_pseudoinverse(self.block, _ZERO_SHARE)

    def efforts(self, tau: Floats) -> Floats:
        """Return the efforts (…, samples, columns) of least norm that come closest to τ."""
        found: Floats = (self._inverse @ self.forces(tau)[..., None])[..., 0]
        return found

    def is_exerted(self, tau: Floats) -> Booleans:
        """Return where some efforts, whatever their size, give the forces: (…, samples)."""
        wanted = self.forces(tau)
        left = np.abs((self.block @ self.efforts(tau)[..., None])[..., 0] - wanted).max(axis=-1)
        found: Booleans = left <= _SLACK * max(1.0, float(np.abs(wanted).max(initial=0.0)))
        return found

    def can_exert(self, tau: Floats) -> Booleans:
        """Return where efforts within the ranges give the forces: (…, samples)."""
        if self.has_own_efforts:
            u = self.efforts(tau)
            slack = _SLACK * np.maximum(1.0, np.abs(u))
            within = (u >= self.low - slack) & (u <= self.high + slack)
            return np.asarray(within.all(axis=-1))
        normals, most = self._facets
        size = _SLACK * max(1.0, float(np.abs(tau).max(initial=0.0)))
        found = np.ones(tau.shape[:-1], bool)
        for n, h in zip(normals, most, strict=True):
            found &= (self.forces(tau) * n).sum(axis=-1) <= h + size
        return found

    @cached_property
    def _facets(self) -> tuple[list[Floats], list[Floats]]:
        """The unit normals (samples, rows) of facets, and how far the zonotope reaches (samples,)
        along them."""
        rows, columns = self.block.shape[1:]
        normals, most = [], []
        for chosen in combinations(range(columns), rows - 1):
            n = _perpendicular(self.block[:, :, chosen])
            for sign in (1.0, -1.0):
                along = sign * (n[:, :, None] * self.block).sum(axis=1)
                along[np.abs(along) <= _ZERO_SHARE * np.abs(self.block).max()] = 0.0
                with np.errstate(invalid="ignore"):
                    ends = np.maximum(along * self.low, along * self.high)
                normals.append(sign * n)
                most.append(np.where(along == 0.0, 0.0, ends).sum(axis=-1))
        return normals, most


def _perpendicular(columns: Floats) -> Floats:
    """Return unit vectors (samples, n) perpendicular to n − 1 columns (samples, n, n − 1); 0 where
    these are dependent."""
    n = columns.shape[1]
    minors = [
        (-1) ** i * np.linalg.det(np.delete(columns, i, axis=1)) if n > 1 else np.ones(len(columns))
        for i in range(n)
    ]
    found = np.stack(minors, axis=-1)
    size = np.linalg.norm(found, axis=-1, keepdims=True)
    unit: Floats = np.divide(found, size, out=np.zeros_like(found), where=size > 0)
    return unit


@dataclass(frozen=True)
class ActuatorReach:
    """All actuators along a motion: their `groups`, lengths, and velocities (`undriven`) on which
    none acts."""

    mechanism: Mechanism
    groups: tuple[_GroupReach, ...]
    lengths: Floats
    undriven: tuple[int, ...]

    @cached_property
    def _velocity_names(self) -> tuple[str, ...]:
        return tuple(mechanism_names(self.mechanism).qd)

    @cached_property
    def _velocities_with_ranges(self) -> frozenset[str]:
        """Velocities whose ranges `bounds_of` has."""
        is_chosen = self.mechanism.coordinates is not None
        return frozenset() if is_chosen else frozenset(effort_ranges_by_velocity(self.mechanism))

    def is_shared(self, one: _GroupReach) -> bool:
        """Return whether a group acts on several velocities, or on one without a known range."""
        rows = one.group.rows
        return len(rows) > 1 or self._velocity_names[rows[0]] not in self._velocities_with_ranges

    @classmethod
    def along(cls, model: Model, t: Floats, q: Floats) -> ActuatorReach:
        """Return what the actuators of a model can exert at coordinates (samples, nq)."""
        mechanism, names = model.mechanism, list(model.names.actuators)
        if not names:
            return cls(mechanism, (), np.zeros((len(t), 0)), ())
        time = model.names.position_time_arguments(t)
        B = np.asarray(model.input_matrix(q, *time), dtype=float)
        ranges = np.array([actuator_effort_range(mechanism, mechanism.actuators[n]) for n in names])
        groups = tuple(
            _GroupReach(
                group,
                tuple(names[c] for c in group.columns),
                group.block(B),
                ranges[list(group.columns), 0],
                ranges[list(group.columns), 1],
            )
            for group in group_actuators(B)
        )
        driven = {row for one in groups for row in one.group.rows}
        undriven = tuple(k for k in range(model.nv) if k not in driven)
        lengths = np.asarray(model.actuator_lengths(q, *time), dtype=float)
        return cls(mechanism, groups, lengths, undriven)

    @property
    def shared(self) -> Iterator[_GroupReach]:
        """The groups whose efforts have ranges that `bounds_of` does not have."""
        return (one for one in self.groups if one.is_bounded and self.is_shared(one))

    @property
    def is_bounded(self) -> bool:
        """Whether actuators on several velocities have ranges that can be checked."""
        return any(one.is_checked for one in self.shared)

    def can_exert(self, tau: Floats) -> Booleans:
        """Return where actuators on several velocities can exert τ: (…, samples, nv) to
        (…, samples)."""
        found = np.ones(tau.shape[:-1], bool)
        for one in self.shared:
            if one.is_checked:
                found &= one.can_exert(tau)
        return found

    def violations(self, qd: Floats, tau: Floats) -> tuple[str, ...]:
        """Return sentences on what the actuators cannot exert, τ and q̇ (samples, nv), and on ranges
        that are not checked."""
        found = [text for one in self.groups for text in self._group_violations(one, qd, tau)]
        size = _SLACK * max(1.0, float(np.abs(tau).max(initial=0.0)))
        for k in self.undriven:
            most = float(np.abs(tau[:, k]).max(initial=0.0))
            if most > size:
                name = self._velocity_names[k]
                found.append(f"no actuator drives {name}, along which the motion needs {most:.4g}")
        return tuple(found)

    def _group_violations(self, one: _GroupReach, qd: Floats, tau: Floats) -> Iterator[str]:
        """Yield the sentences on a group."""
        listed = ", ".join(one.names)
        along = ", ".join(self._velocity_names[i] for i in one.group.rows)
        if not one.is_exerted(tau).all():
            yield f"no efforts of {listed} give the forces along {along} that the motion needs"
            return
        is_shared = self.is_shared(one)
        if not one.is_checked and one.is_bounded:
            yield f"the ranges of {listed} are not checked: too many act together on {along}"
        elif is_shared and one.has_own_efforts:
            yield from _effort_sentences(one, tau)
        elif is_shared and one.is_bounded and not one.can_exert(tau).all():
            yield (
                f"no efforts of {listed} within their ranges give the forces along {along} that "
                "the motion needs"
            )
        if one.has_own_efforts:
            yield from self._control_sentences(one, qd, tau)

    def _control_sentences(self, one: _GroupReach, qd: Floats, tau: Floats) -> Iterator[str]:
        """Yield sentences on servos whose controls leave their ranges."""
        u = one.efforts(tau)
        rates = (np.swapaxes(one.block, 1, 2) @ qd[:, one.group.rows, None])[..., 0]
        names = list(self.mechanism.actuators)
        for k, name in enumerate(one.names):
            actuator = self.mechanism.actuators[name]
            low, high = number_range(self.mechanism, actuator.control_range)
            if (low, high) == UNBOUNDED or actuator.activation is not None:
                continue
            lengths = self.lengths[:, names.index(name)]
            control = _needed_control(self.mechanism, actuator, u[:, k], lengths, rates[:, k])
            slack = _SLACK * max(1.0, abs(low), abs(high))
            if control is not None and (
                control.min() < low - slack or control.max() > high + slack
            ):
                yield (
                    f"the control of {name} goes from {control.min():.5g} to {control.max():.5g}, "
                    f"its range is {low:.5g} to {high:.5g}"
                )


def _effort_sentences(one: _GroupReach, tau: Floats) -> Iterator[str]:
    """Yield sentences on efforts that leave their ranges."""
    for name, u, low, high in zip(one.names, one.efforts(tau).T, one.low, one.high, strict=True):
        slack = _SLACK * max(1.0, float(np.abs(u).max()))
        if u.min() < low - slack or u.max() > high + slack:
            yield (
                f"the effort of {name} goes from {u.min():.5g} to {u.max():.5g}, its range is "
                f"{low:.5g} to {high:.5g}"
            )


def _needed_control(
    mechanism: Mechanism, actuator: Actuator, u: Floats, lengths: Floats, rates: Floats
) -> Floats | None:
    """Return the control of a servo for efforts u; None where the effort is a multiple of the
    control, whose range then bounds the effort, or where the gain vanishes."""
    gain, bias = (
        [expression_to_float(x, mechanism.values) for x in numbers]
        for numbers in (actuator.affine_gain, actuator.bias)
    )
    if not any(bias) and not any(gain[1:]):
        return None
    slope = gain[0] + gain[1] * lengths + gain[2] * rates
    if not slope.all():
        return None
    found: Floats = (u - bias[0] - bias[1] * lengths - bias[2] * rates) / slope
    return found
