"""Driven motions of many mechanisms at once, which differ in parameters that one model takes.

Each lane goes the way of `solve_kinematics`: predicted by a Taylor series, closed by Newton's
method, with shorter steps where the correction is large. Its numbers do not depend on the other
lanes. A lane that comes near a singular position, where `solve_kinematics` looks closer, is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..errors import UnsupportedError
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    gauss_newton_step,
    limit_closure_step,
)
from ..kinematics.constraint_system import constraint_system
from ..kinematics.held_coordinates import velocity_of_coordinate
from ..model.model import Model
from ..model.upright_states import are_states_upright
from ..types import Booleans, Floats, Integers
from .driven_mechanism import CONTINUATION_SHARE, CONTINUATION_SLACK, SINGULAR_SHARE
from .start_constraints import start_position_constraints

LanePaths = Callable[[Integers, Floats], tuple[Floats, Floats, Floats]]
"""Driven coordinates of some lanes at a time of each: values, rates and second rates, each
(lanes, coordinates)."""

_HALVINGS = 10
"""Halvings of a step after which a lane is lost: only near singular positions are there more."""


@dataclass(frozen=True)
class LaneMotions:
    """Motions of all lanes: t and closure (lanes, times), q, q̇ and q̈ (lanes, times, n).

    `is_followed` says which lanes reached the end; the others have no meaning.
    """

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    closure: Floats
    is_followed: Booleans


@dataclass
class _LaneStates:
    """One state of each lane; `is_good` where it is closed, upright and not singular."""

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    residual: Floats
    is_good: Booleans

    def take(self, lanes: Integers) -> _LaneStates:
        return _LaneStates(*(getattr(self, one.name)[lanes] for one in fields(self)))

    def put(self, lanes: Integers, others: _LaneStates, chosen: Booleans) -> None:
        for one in fields(self):
            getattr(self, one.name)[lanes[chosen]] = getattr(others, one.name)[chosen]


class LaneFollower:
    """Follows motions of `driven` coordinates; `parameters` (lanes, count) are those that the model
    takes."""

    def __init__(self, model: Model, driven: Sequence[str], parameters: Floats | None) -> None:
        names, system = model.names, constraint_system(model.mechanism)
        if names.nq != names.nv or names.position_row_count < len(names.constraints):
            raise UnsupportedError(
                "quaternions and constraints of speeds are followed one by one",
                where=model.mechanism.name,
            )
        self.model, self.system = model, system
        self._parameters = parameters
        self._driven_q = [names.q.index(name) for name in driven]
        self._driven = [velocity_of_coordinate(system, name) for name in driven]
        self._dependent = [k for k in range(names.nv) if k not in self._driven]

    def close(self, q: Floats, hold: Sequence[int] = ()) -> tuple[Floats, Booleans]:
        """Return q (lanes, nq) after a search for closed loops at t = 0, and where it found them
        without a detour: where it did not, `assemble` may find others."""
        functions = start_position_constraints(
            self.model, self.model.mechanism, q, self._parameters
        )
        start, residual = q, functions.residual(q)
        free = [k for k in range(self.model.names.nv) if k not in hold]
        size = np.abs(residual).max(axis=-1)
        for _ in range(CLOSURE_TOLERANCES.max_iterations):
            step = gauss_newton_step(
                functions.jacobian(q), residual, free=free, rank_share=self.system.scale.closure
            )
            there = functions.move(q, limit_closure_step(step, CLOSURE_TOLERANCES.longest_step))
            found = functions.residual(there)
            is_closer = np.abs(found).max(axis=-1) < size
            if not is_closer.any():
                break
            q = np.where(is_closer[:, None], there, q)
            residual = np.where(is_closer[:, None], found, residual)
            size = np.abs(residual).max(axis=-1)
        bound = CLOSURE_TOLERANCES.closed_residual * np.maximum(1.0, np.abs(q).max(axis=-1))
        lanes, is_near = np.arange(len(q)), np.abs(q - start).max(axis=-1) < np.pi
        is_closed = (size <= bound) & is_near & self._are_upright(lanes, q, np.zeros(len(q)))
        return q, is_closed

    def follow(self, paths: LanePaths, rough: Floats, times: Floats) -> LaneMotions:
        """Return the motions through `times` (lanes, n), on the branch of the rough values.

        All first times are zero.
        """
        lanes = np.arange(len(rough))
        first = rough.copy()
        first[:, self._driven_q] = paths(lanes, times[:, 0])[0]
        closed, is_closed = self.close(first, self._driven)
        now = self._states_near(paths, lanes, times[:, 0], closed)
        now.is_good &= is_closed
        histories = [now.take(lanes)]
        for k in range(1, times.shape[1]):
            self._continue_to(paths, now, times[:, k])
            histories.append(now.take(lanes))
        rows = {
            one: np.stack([getattr(state, one) for state in histories], axis=1)
            for one in ("q", "qd", "qdd", "residual")
        }
        return LaneMotions(
            times, rows["q"], rows["qd"], rows["qdd"], rows["residual"], now.is_good.copy()
        )

    def _continue_to(self, paths: LanePaths, now: _LaneStates, target: Floats) -> None:
        """Move all good lanes to the target times, in as many steps as each needs."""
        h = target - now.t
        smallest = h * 2.0**-_HALVINGS
        while (moving := np.flatnonzero(now.is_good & (now.t < target))).size:
            step = np.minimum(h[moving], target[moving] - now.t[moving])
            goal = now.t[moving] + step
            goal = np.where(goal >= target[moving], target[moving], goal)
            after = self._next_states(paths, moving, now.take(moving), goal)
            h[moving] = np.where(after.is_good, 2 * step, step / 2)
            now.put(moving, after, after.is_good)
            now.is_good[moving[h[moving] < smallest[moving]]] = False

    def _next_states(
        self, paths: LanePaths, lanes: Integers, now: _LaneStates, t: Floats
    ) -> _LaneStates:
        """Return the states at t that continue the motion smoothly."""
        h = (t - now.t)[:, None]
        step = h * now.qd + h * h / 2 * now.qdd
        guess = self.model.integrate(now.q, step, *self._own(lanes))
        found = self._states_near(paths, lanes, t, guess)
        way = h[:, 0] * np.abs(now.qd).max(axis=-1)
        correction = np.abs(found.q - guess).max(axis=-1)
        found.is_good &= correction <= CONTINUATION_SHARE * way + CONTINUATION_SLACK
        return found

    def _states_near(
        self, paths: LanePaths, lanes: Integers, t: Floats, guess: Floats
    ) -> _LaneStates:
        """Return the states of some lanes at t near a guess."""
        model, names, own = self.model, self.model.names, self._own(lanes)
        last = [*names.time_arguments(t), *own]
        rows = list(names.position_rows)
        q, qd, qdd = guess.copy(), np.zeros((len(t), names.nv)), np.zeros((len(t), names.nv))
        q[:, self._driven_q], qd[:, self._driven], qdd[:, self._driven] = paths(lanes, t)
        closure = close_positions(
            PositionConstraints(
                lambda q: model.constraint_residual(q, *last),
                lambda q: model.constraint_jacobian(q, *last)[..., rows, :],
                lambda q, step: model.integrate(q, step, *own),
            ),
            q,
            hold=self._driven,
            tolerance=0.0,
            rank_share=CLOSURE_TOLERANCES.fine_rank_share,
            max_iterations=CLOSURE_TOLERANCES.max_corrections,
        )
        q = closure.q
        allowed = CLOSURE_TOLERANCES.continued_residual * np.maximum(1.0, np.abs(q).max(axis=-1))
        J = model.constraint_jacobian(q, *last)
        inverse, share = _inverse_of_columns(J[..., self._dependent])
        violation = model.constraint_velocity(q, qd, *last)
        qd[:, self._dependent] -= _times(inverse, violation)
        left = _times(J, qdd) + model.constraint_bias(q, qd, *last)
        qdd[:, self._dependent] -= _times(inverse, left)
        is_good = (closure.residual <= allowed) & (share > SINGULAR_SHARE)
        is_good &= np.isfinite(qdd).all(axis=-1) & self._are_upright(lanes, q, t)
        return _LaneStates(t.copy(), q, qd, qdd, closure.residual, is_good)

    def _own(self, lanes: Integers) -> list[Floats]:
        """Return the last input of the model's functions, if it takes parameters."""
        return [] if self._parameters is None else [self._parameters[lanes]]

    def _are_upright(self, lanes: Integers, q: Floats, t: Floats) -> Booleans:
        p = np.zeros((len(q), 0)) if self._parameters is None else self._parameters[lanes]
        return are_states_upright(self.model.mechanism, self.model.parameters, q, t, p)


def _inverse_of_columns(J: Floats) -> tuple[Floats, Floats]:
    """Return the left inverses (…, n, m) of J (…, m, n), and the smallest singular value of each as
    a share of the largest; 0 where it has none."""
    rows, columns = J.shape[-2:]
    if columns == 0:
        return J.swapaxes(-1, -2), np.ones(J.shape[:-2])
    if rows < columns:
        return J.swapaxes(-1, -2), np.zeros(J.shape[:-2])
    is_finite = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
    left, sizes, right = np.linalg.svd(np.where(is_finite[:, None, None], J, 0.0), False)
    share = sizes[:, -1] / np.maximum(sizes[:, 0], 1e-300)
    scaled = left / np.maximum(sizes, 1e-300)[:, None, :]
    return (scaled @ right).swapaxes(-1, -2), share


def _times(matrices: Floats, vectors: Floats) -> Floats:
    """Return the products of matrices (lanes, m, n) and vectors (lanes, n)."""
    found: Floats = (matrices @ vectors[..., None])[..., 0]
    return found
