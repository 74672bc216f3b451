"""Forces of a mode, its event functions and its held motion, for programs and for samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from ...types import SX, Floats
from .dynamics import DynamicsCode
from .held_motion import HeldMotion
from .mode_forces import ModeForces, find_mode_forces
from .mode_layout import ModeLayout
from .single_forces import SingleForces, watched_numbers

PIVOT_WEIGHT = 100.0
"""A pivot of the forces of contacts counts as a margin of this many times its share. Elimination is
stable there without a choice of pivots, since the matrix is positive definite apart from friction:
a share of 1e-3 (two feet that stand close together) costs three digits, and is common."""


class ModeFunctions:
    """Functions of (q, q̇, τ, t, mode); each is made when it is first needed."""

    def __init__(self, forces: ModeForces) -> None:
        self.forces, self.single = forces, SingleForces(forces)

    @property
    def layout(self) -> ModeLayout:
        """The order of the mode's numbers."""
        return self.forces.layout

    def push_and_margin(self, q: SX, qd: SX, tau: SX, t: SX, mode: SX) -> tuple[SX, SX]:
        """Return generalized forces, and a margin: how far the state is from one where they cannot
        be computed."""
        push, margin = self._push(q, qd, tau, t, mode, *self.forces.parameters)
        return push, margin

    @cached_property
    def _push(self) -> ca.Function:
        margin = ca.SX(PIVOT_WEIGHT * self.forces.share)
        return ca.Function("push", self.forces.inputs, [self.forces.push, margin])

    def watched(self, q: SX, qd: SX, tau: SX, t: SX, mode: SX) -> SX:
        """Return numbers that are above zero until something happens."""
        found: SX = self._watched(q, qd, tau, t, mode, *self.forces.parameters)
        return found

    @cached_property
    def _watched(self) -> ca.Function:
        found = watched_numbers(self.forces, self.single)
        return ca.Function("watched", self.forces.inputs, [found])

    def shared_forces(self, q: SX, qd: SX, tau: SX, t: SX, mode: SX) -> tuple[SX, SX]:
        """Return generalized forces as rows share them, and the forces of rigid contacts along the
        plane's x and y, and normal, one column each."""
        outputs = [self._shared_push, self.single.of_contacts]
        shared = ca.Function("shared", self.forces.inputs, outputs)
        push, contacts = shared(q, qd, tau, t, mode, *self.forces.parameters)
        return push, contacts

    @property
    def _shared_push(self) -> SX:
        """Generalized forces as dependent rows share them."""
        of = self.forces
        push: SX = of.R.T @ (of.known + of.mixing @ self.single.by_group)
        return push

    def held(self, q: SX, qd: SX, t: SX, mode: SX, moved: Callable[[SX, SX], SX]) -> tuple[SX, SX]:
        """Return q and q̇ with held gaps and speeds zero; `moved` is q ⊕ a small step."""
        of = self.forces
        result = HeldMotion(of, moved).result
        held = ca.Function("held", [of.q, of.qd, of.t, of.mode, *of.parameters], list(result))
        q_held, qd_held = held(q, qd, t, mode, *of.parameters)
        return q_held, qd_held

    @cached_property
    def _sample_forces(self) -> ca.Function:
        """Not compiled: CasADi evaluates 500 samples of a large function in less time than LLVM
        takes for one."""
        of = self.forces
        outputs = [self._shared_push, ca.vec(self.single.of_contacts), of.accelerations]
        return ca.Function("forces", of.inputs, ca.cse(outputs))

    def sample_forces(self, *state: Floats) -> tuple[Floats, Floats, Floats]:
        """Return generalized forces, forces of contacts (3 × contacts each) and q̈ at samples
        (q, q̇, τ, t, mode), one row each."""
        columns = [np.atleast_2d(np.asarray(part).T) for part in state]
        found = (np.asarray(part, dtype=float).T for part in self._sample_forces(*columns))
        push, contacts, qdd = found
        count = len(self.forces.rows.contacts)
        return push, np.swapaxes(contacts.reshape(len(push), count, 3), 1, 2), qdd

    def reactions(self, *state: Floats) -> tuple[Floats, Floats | None]:
        """Return generalized forces at samples (q, q̇, τ, t, mode), and reactions of joints and
        loops; None without contacts, since they follow from generalized forces then."""
        code = self.forces.code
        push, contacts, qdd = self.sample_forces(*state)
        if not code.rows.contacts:
            return push, None
        q, qd, _, t, _ = state
        multipliers = _multipliers(code, state, push, qdd)
        return push, code.wrenches(q, qd, qdd, t, multipliers, contacts)[2]


def _multipliers(
    code: DynamicsCode, state: tuple[Floats, ...], push: Floats, qdd: Floats
) -> Floats:
    """Return multipliers of the mechanism's constraints at samples, of least norm."""
    if not code.constrained:
        return np.zeros((len(push), 0))
    q, qd, tau, t, _ = state
    M, bias, _, _, J, _ = code.numbers(q, qd, t)
    rest = (M @ qdd[..., None])[..., 0] + bias - tau - push
    found: Floats = (np.linalg.pinv(np.swapaxes(J, -1, -2), rcond=1e-10) @ rest[..., None])[..., 0]
    return found


def find_mode_functions(code: DynamicsCode) -> ModeFunctions | None:
    """Return the functions of a mechanism's modes; None if `find_mode_forces` finds none."""
    forces = find_mode_forces(code)
    return None if forces is None else ModeFunctions(forces)
