"""The mode that follows a state: what rests, sticks or slides, by complementarity.

Normal forces are at least zero, and friction stays within its limits. A contact that is not held
separates, and an element whose friction is at its limit slides against it. What begins to slide has
kinetic friction, so that others may begin to slide, too.

Joints that stick may share a load in many ways, as those of a loop do. Of these, the ones that can
bear most beside what they bear hold the motion; the others ride along with a constant share of
their limits. A joint that reaches its limit hands its load to one of them. If none is left, it
slides, and with it all that are at their limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...integrators.hold_choice import BLOCKED_SHARE, LIMIT_SHARE
from ...types import Booleans, Floats
from .dynamics import HeldSolution, InstantDynamics
from .event_tolerances import EVENT_TOLERANCES, FORCE_SOLVER
from .friction_problem import FrictionProblem
from .load_sharing import find_holders
from .modes import Mode, NoSolutionError
from .row_elements import UnilateralConstraint

Direction = tuple[float, float]


@dataclass(frozen=True)
class ModeCase:
    """What is to be decided.

    `closed` are stops and contacts that neither close nor open. `slipping` are joints whose
    friction has reached its limit, and `leaving` are contacts that have just been released, with
    the direction in which they begin to slide. `carrying` are stops and contacts that have carried
    so far, `holding` joints that have held the motion.
    """

    closed: tuple[int, ...]
    slipping: tuple[int, ...] = ()
    leaving: tuple[tuple[int, Direction], ...] = ()
    carrying: tuple[int, ...] = ()
    holding: tuple[int, ...] = ()
    opens: bool = False
    """Whether a stop or contact has just opened."""

    def may_rest_without_force(self, i: int) -> bool:
        """Whether a stop or contact without force and acceleration rests: not if something begins
        to slide or opens, which may open it."""
        return i in self.carrying or not self.has_releases

    def may_slide_without_acceleration(self, k: int) -> bool:
        """Whether a joint at rest that needs all its friction begins to slide: if it has just
        reached its limit, or rode along while another one did, as in a loop."""
        return k in self.slipping or (self.has_releases and k not in self.holding)

    @property
    def has_releases(self) -> bool:
        """Whether something is released."""
        return bool(self.slipping or self.leaving or self.opens)


def choose_mode(instant: InstantDynamics, case: ModeCase) -> Mode:
    """Return the mode of a state in which closed and sticking elements have zero velocity within a
    tolerance."""
    return _Choice(instant, case).mode()


@dataclass(frozen=True)
class _Solution:
    """Forces and accelerations of contacts (normal, two slips) and of joints at rest; limits of
    friction in all joints; the accelerations q̈; the size of accelerations without these forces."""

    contact_forces: Floats
    contact_accelerations: Floats
    joint_forces: Floats
    joint_accelerations: Floats
    limits: Floats
    qdd: Floats
    size: float

    @property
    def small_acceleration(self) -> float:
        """Accelerations below this are zero, as differences of larger ones."""
        found = [self.contact_accelerations, self.joint_accelerations]
        largest = max(float(np.abs(part).max(initial=0.0)) for part in found)
        return 1e-10 * max(largest, self.size, 1e-6)

    @property
    def tiny_force(self) -> float:
        """The normal force up to which a stop or contact carries nothing."""
        return 1e-12 * max(float(np.abs(self.contact_forces[:, 0]).max(initial=0.0)), 1e-6)


class _Choice:
    """The complementarity problem of one state."""

    def __init__(self, instant: InstantDynamics, case: ModeCase) -> None:
        self.instant, self.case = instant, case
        self.rows, self.V = instant.of.rows, instant.R @ instant.qd
        self.closed = list(case.closed)
        self.directions = {i: np.array(d) for i, d in case.leaving}
        """Directions in which contacts slide: those that were released, and those that move."""
        for i in self.closed:
            v = self.V[list(self._barrier(i).slip)]
            speed = float(np.linalg.norm(v))
            if i not in self.directions and speed > EVENT_TOLERANCES.still_velocity:
                self.directions[i] = v / speed
        self.signs = [
            _sign(self.V[joint_friction.row]) for joint_friction in self.rows.joint_frictions
        ]
        self.kinetic_contacts: set[int] = set()
        """Contacts at rest that begin to slide."""
        self.kinetic_joints: set[int] = set()
        """Joints at rest that begin to slide."""

    def _barrier(self, i: int) -> UnilateralConstraint:
        """Return a stop or contact."""
        return self.rows.unilaterals[i]

    def mode(self) -> Mode:
        """Return the mode; what is at rest sticks at first."""
        for _ in range(FORCE_SOLVER.max_mode_iterations):
            found = self._solve()
            contacts, joints = self._sliding(found)
            weaker = {i for i in contacts if self._barrier(i).ratio > 1}
            weaker_joints = {k for k in joints if self.rows.joint_frictions[k].ratio > 1}
            begun = weaker - self.kinetic_contacts, weaker_joints - self.kinetic_joints
            self.kinetic_contacts |= weaker
            self.kinetic_joints |= weaker_joints
            if any(begun) or self._turn(found):
                continue
            mode = self._mode_of(found, contacts, joints)
            mode, spent = self._share_load(found, mode)
            if not spent:
                return mode
            self.signs = [spent.get(k, s) for k, s in enumerate(self.signs)]
        raise _no_solution()

    # -- the problem -----------------------------------------------------------------------------

    @property
    def still(self) -> list[int]:
        """Joints at rest."""
        return [k for k, s in enumerate(self.signs) if s == 0]

    @property
    def _rows(self) -> Floats:
        """Rows of contacts (normal, two slips, which are zero where they slide), then of joints at
        rest."""
        found = []
        for i in self.closed:
            slip = list(self._barrier(i).slip)
            across = np.zeros((2, self.instant.R.shape[1]))
            if slip and i not in self.directions:
                across = self.instant.R[slip]
            found += [self.instant.R[i], *across]
        found += [self.instant.R[self.rows.joint_frictions[k].row] for k in self.still]
        return np.array(found).reshape(len(found), self.instant.R.shape[1])

    @property
    def _columns(self) -> Floats:
        """Generalized forces for units of force: those of the rows, with the friction of contacts
        that slide."""
        found = self._rows.T.copy()
        for place, i in enumerate(self.closed):
            if i in self.directions:
                drag = -self._barrier(i).friction * self.directions[i]
                found[:, 3 * place] += drag @ self.instant.R[list(self._barrier(i).slip)]
        return found

    @property
    def _bias(self) -> Floats:
        """The part of the rows' accelerations that velocities cause."""
        found = []
        for i in self.closed:
            slip = list(self._barrier(i).slip)
            is_held = bool(slip) and i not in self.directions
            found += [self.instant.gamma[i], *(self.instant.gamma[slip] if is_held else (0.0, 0.0))]
        found += [self.instant.gamma[self.rows.joint_frictions[k].row] for k in self.still]
        return np.array(found)

    @property
    def _moves(self) -> Booleans:
        """Whether the mechanism's own constraints allow motion along the rows, one entry each."""
        R, now = self._rows, self.instant
        least = BLOCKED_SHARE / np.trace(now.M) if len(now.J) else 0.0
        response = np.einsum("ij,jk,ik->i", R, now.admittance, R)
        found: Booleans = response > least * (R * R).sum(axis=1)
        return found

    def _solve(self) -> _Solution:
        """Return forces and accelerations; limits that depend on reactions are found by
        iteration."""
        limits = np.array([joint_friction.force for joint_friction in self.rows.joint_frictions])
        for _ in range(FORCE_SOLVER.max_mode_iterations):
            found = self._solve_with(limits)
            after = self._limits(found)
            small = 1e-12 * (1 + np.abs(after).max(initial=0))
            if np.abs(after - limits).max(initial=0.0) <= small:
                return found
            limits = after
        raise _no_solution()

    def _solve_with(self, limits: Floats) -> _Solution:
        """Return forces and accelerations for given limits of friction in joints."""
        now, n = self.instant, 3 * len(self.closed)
        free = now.hold_rows([], np.zeros((len(now.qd), 0)), self._known(limits)).qdd
        response, b = now.admittance @ self._columns, self._rows @ free + self._bias
        mu = [
            0.0 if i in self.directions else self._barrier(i).friction * self._contact_ratio(i)
            for i in self.closed
        ]
        most = [limits[k] * self._joint_ratio(k) for k in self.still]
        W, middle = self._rows @ response * np.outer(self._moves, self._moves), self._middles
        problem = FrictionProblem(
            W, b + W @ middle, np.array(mu), np.array(most), FORCE_SOLVER.mode_residual_share
        )
        x = problem.solve(problem.least_forces())
        largest = np.abs(self._rows @ now.admittance) @ np.abs(now.F)
        rounding = FORCE_SOLVER.rounding_share * largest.max(initial=0.0)
        if problem.residual(x) > FORCE_SOLVER.box_residual_share**0.5 * problem.size + rounding:
            raise _no_solution()
        x = x + middle
        w = b + W @ x
        return _Solution(
            x[:n].reshape(-1, 3),
            w[:n].reshape(-1, 3),
            x[n:],
            w[n:],
            limits,
            free + response @ x,
            float(np.abs(b).max(initial=0.0)),
        )

    @property
    def _middles(self) -> Floats:
        """The middles of the ranges of the forces: those of joints that begin to slide are
        shifted."""
        shifts = [self.rows.joint_frictions[k].shift for k in self.still]
        begun = [
            shift if k in self.kinetic_joints else 0.0
            for k, shift in zip(self.still, shifts, strict=True)
        ]
        return np.concatenate([np.zeros(3 * len(self.closed)), begun])

    def _contact_ratio(self, i: int) -> float:
        """Return the limit of a contact's friction as a multiple of kinetic friction."""
        return 1.0 if i in self.kinetic_contacts else self._barrier(i).ratio

    def _joint_ratio(self, k: int) -> float:
        """Return the limit of a joint's friction as a multiple of kinetic friction."""
        return 1.0 if k in self.kinetic_joints else self.rows.joint_frictions[k].ratio

    def _known(self, limits: Floats) -> Floats:
        """Return the generalized forces of joints that already slide."""
        total = np.zeros(len(self.instant.qd))
        for joint_friction, s, limit in zip(
            self.rows.joint_frictions, self.signs, limits, strict=True
        ):
            total -= (s * limit - s**2 * joint_friction.shift) * self.instant.R[joint_friction.row]
        return total

    def _limits(self, found: _Solution) -> Floats:
        """Return the limits of friction in the joints under given accelerations and forces."""
        joint_frictions, now = self.rows.joint_frictions, self.instant
        limits = np.array([joint_friction.force for joint_friction in joint_frictions])
        arms = np.array([joint_friction.arm for joint_friction in joint_frictions])
        if not arms.any():
            return limits
        x = np.concatenate([found.contact_forces.ravel(), found.joint_forces])
        rest = now.M @ found.qdd - now.F - self._known(found.limits) - self._columns @ x
        lam = np.zeros(0)
        if len(now.J):
            lam = np.asarray(np.linalg.lstsq(now.J.T, rest, rcond=1e-10)[0], dtype=float)
        pushes = np.zeros((3, len(self.rows.contacts)))
        for i, force in zip(self.closed, found.contact_forces, strict=True):
            if i >= self.rows.stop_count:
                drag = -self._barrier(i).friction * force[0] * self.directions.get(i, np.zeros(2))
                pushes[:, i - self.rows.stop_count] = [*(force[1:] + drag), force[0]]
        held = HeldSolution(found.qdd, np.zeros(0), lam)
        pressed: Floats = limits + arms * now.loads(held, pushes)[0]
        return pressed

    # -- the mode --------------------------------------------------------------------------------

    def _sliding(self, found: _Solution) -> tuple[dict[int, Direction], dict[int, int]]:
        """Return contacts and joints at rest that begin to slide, with directions and signs."""
        small = found.small_acceleration
        contacts, joints = {}, {}
        for i, force, w in zip(
            self.closed, found.contact_forces, found.contact_accelerations, strict=True
        ):
            limit = self._barrier(i).friction * self._contact_ratio(i) * force[0]
            size = float(np.hypot(*w[1:]))
            if size > small and np.hypot(*force[1:]) >= limit * (1 - 1e-9):
                contacts[i] = float(w[1]) / size, float(w[2]) / size
        blocked = ~self._moves[3 * len(self.closed) :]  # these pass the ends of their ranges
        for k, w, is_blocked in zip(self.still, found.joint_accelerations, blocked, strict=True):
            if abs(w) > small and (is_blocked or self._strain(found, k) >= 1 - 1e-12):
                joints[k] = int(np.sign(w))
        return contacts, joints

    def _strain(self, found: _Solution, k: int) -> float:
        """Return the friction of a joint at rest as a share of its limit."""
        middle = self.rows.joint_frictions[k].shift if k in self.kinetic_joints else 0.0
        limit = found.limits[k] * self._joint_ratio(k)
        force = abs(found.joint_forces[self.still.index(k)] - middle)
        return float(force / limit) if limit > 0 else 1.0

    def _share_load(self, found: _Solution, mode: Mode) -> tuple[Mode, dict[int, int]]:
        """Return the mode with the joints that ride along, and the joints that hold with all their
        friction and begin to slide, with their signs. Stops that carry nothing do not rest where
        joints hold them."""
        moves, first = self._moves, 3 * len(self.closed)
        W = self._rows @ self.instant.admittance @ self._rows.T * np.outer(moves, moves)
        forces = found.contact_forces[:, 0]
        normal = {3 * p: i for p, i in enumerate(self.closed) if i in mode.resting}
        idle = [row for row in normal if forces[row // 3] <= found.tiny_force]
        held = [row for row in normal if row not in idle]
        held += [3 * p + k for p, i in enumerate(self.closed) if i in mode.grip for k in (1, 2)]
        strains = {k: self._strain(found, k) for k in self.still if mode.sliding[k] == 0}
        room = {first + self.still.index(k): 1 - strain for k, strain in strains.items()}
        rows = find_holders(W, held, room)
        if len(find_holders(W, [*held, *idle], room)) < len(rows):
            free = find_holders(W, [*held, *rows], dict.fromkeys(idle, 0.0))
            lost = {normal[row] for row in idle if row not in free}
            mode = replace(mode, resting=tuple(i for i in mode.resting if i not in lost))
        holders = {self.still[row - first] for row in rows}
        pushes = dict(zip(self.still, found.joint_forces.tolist(), strict=True))
        most = {k: found.limits[k] * self.rows.joint_frictions[k].ratio for k in strains}
        riding = tuple((k, pushes[k] / max(most[k], 1e-300)) for k in strains if k not in holders)
        spent = {
            k: -int(np.sign(pushes[k]))
            for k in holders
            if strains[k] >= LIMIT_SHARE
            and pushes[k]
            and self.case.may_slide_without_acceleration(k)
        }
        return replace(mode, riding=riding), spent

    def _turn(self, found: _Solution) -> bool:
        """Turn contacts that were released into the direction of their acceleration; return whether
        one has turned."""
        has_turned = False
        for i, _ in self.case.leaving:
            if i not in self.closed:
                continue
            slip = list(self._barrier(i).slip)
            a = self.instant.R[slip] @ found.qdd + self.instant.gamma[slip]
            size = float(np.linalg.norm(a))
            normal = found.contact_forces[self.closed.index(i), 0]
            can = self._barrier(i).friction * normal * _mobility(self.instant, slip)
            is_slow = float(np.linalg.norm(self.V[slip])) <= EVENT_TOLERANCES.still_velocity
            if not (is_slow and size > 1e-3 * can):
                continue
            if np.linalg.norm(a / size - self.directions[i]) >= 1e-9:
                self.directions[i], has_turned = a / size, True
        return has_turned

    def _mode_of(
        self, found: _Solution, contacts: dict[int, Direction], joints: dict[int, int]
    ) -> Mode:
        """Return the mode of a solution, in which some elements begin to slide."""
        forces, moves = found.contact_forces[:, 0], found.contact_accelerations[:, 0]
        tiny = found.tiny_force
        resting = [
            i
            for i, force, move in zip(self.closed, forces, moves, strict=True)
            if force > tiny
            or (move <= found.small_acceleration and self.case.may_rest_without_force(i))
        ]
        toward = {i: (float(d[0]), float(d[1])) for i, d in self.directions.items()} | contacts
        kept = tuple((i, d) for i, d in sorted(toward.items()) if i in resting)
        grip = frozenset(i for i in resting if self._barrier(i).slip and i not in toward)
        signs = [joints.get(k, s) for k, s in enumerate(self.signs)]
        return Mode(tuple(resting), grip, kept, tuple(signs))


def _no_solution() -> NoSolutionError:
    """Return the error that rigid bodies with friction have no accelerations."""
    return NoSolutionError(
        "friction has no solution here", remedy="lower the coefficients of friction"
    )


def _sign(velocity: float) -> int:
    """Return the sign of a velocity; 0 where it is zero within a tolerance."""
    return 0 if abs(velocity) <= EVENT_TOLERANCES.still_velocity else int(np.sign(velocity))


def _mobility(instant: InstantDynamics, rows: list[int]) -> float:
    """Return the largest acceleration along rows for a unit of force."""
    R = instant.R[rows]
    return float(np.linalg.norm(R @ instant.admittance @ R.T, 2))
