"""Details of a motion: energies of every part, momenta, multipliers, reactions, positions.

All follow from the mechanism and the histories, and are computed when they are first read.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

import casadi as ca
import numpy as np

from ..kinematics.part_contributions import TreePartKinematics
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..readings.llvm import compile_expressions
from ..tape import vector_tape_expressions
from ..types import Floats

NamedHistories = dict[str, Floats]
"""Histories by the names of bodies, joints, forces or frames."""


class Details:
    """Details of states q, q̇ with accelerations q̈ under forces τ at times t, one row for each
    time."""

    def __init__(
        self, mechanism: Mechanism, t: Floats, q: Floats, qd: Floats, qdd: Floats, tau: Floats
    ) -> None:
        self.mechanism = mechanism
        self.t, self.q, self.qd, self.qdd, self.tau = t, q, qd, qdd, tau

    @cached_property
    def model(self) -> Model:
        """The compiled functions of the mechanism."""
        return compile_model(self.mechanism, threads=1)

    @property
    def _clock(self) -> list[Floats]:
        """The times, if functions of the model depend on time."""
        return [self.t] if self.model.names.is_time_dependent else []

    @property
    def _placing_clock(self) -> list[Floats]:
        """The times, if positions of bodies depend on them at given coordinates."""
        return self.model.names.position_time_arguments(self.t)

    @cached_property
    def momenta(self) -> Floats:
        """p = ∂T/∂q̇, (times, nv): M q̇, and a where coordinates depend on time."""
        M = self.model.mass_matrix(self.q, *self._placing_clock)
        found: Floats = np.einsum("tij,tj->ti", M, self.qd)
        if self._placing_clock:
            found += self.model.transport_momentum(self.q, self.t)
        return found

    @cached_property
    def momentum(self) -> Floats:
        """Momentum of all bodies: angular about the centre of mass, then linear, (times, 6)."""
        found: Floats = self.model.momentum(self.q, self.qd, *self._placing_clock)
        return found

    @cached_property
    def has_mass(self) -> bool:
        """Whether a moving body has mass, so that there is a centre of mass."""
        return bool(self.model.inertial_parameters[::10].any())

    @cached_property
    def center_of_mass(self) -> Floats:
        """Centre of mass of all bodies, (times, 3), m."""
        found: Floats = self.model.center_of_mass(self.q, *self._placing_clock)
        return found

    @cached_property
    def multipliers(self) -> Floats:
        """Multipliers λ, (times, rows); a mechanism without constraints has no rows."""
        if not self.model.names.constraints:
            return np.zeros((len(self.t), 0))
        found: Floats = self.model.multipliers(self.q, self.qd, self.tau, *self._clock)
        return found

    @cached_property
    def reactions(self) -> Floats:
        """Moment and force of the parent on the child, (times, joints and loops, 6), about the
        joint's origin, world axes."""
        model, state = self.model, (self.q, self.qd)
        if model.names.constraints:
            found: Floats = model.reactions(*state, self.tau, *self._clock)
        else:  # bodies without mass have no accelerations that follow from forces
            found = model.reactions_of_motion(*state, self.qdd, *self._clock)
        return found

    @cached_property
    def _parts(self) -> TreePartKinematics:
        """Expressions of all parts."""
        return TreePartKinematics(build_kinematic_tree(self.mechanism, "numeric"))

    @cached_property
    def _part_values(self) -> dict[str, Floats]:
        """Values of all parts, (times, …), from one compiled function."""
        parts, tree = self._parts, self._parts.tree
        columns = {
            "kinetic": parts.kinetic_energies(),
            "weight": parts.weight_energies(),
            "rotors": list(parts.rotor_energies().values()),
            "springs": list(parts.spring_energies().values()),
            "centers": parts.centers_of_mass(),
            "frames": list(parts.frame_origins().values()),
        }
        outputs = {key: ca.densify(ca.vertcat(*map(ca.SX, x))) for key, x in columns.items() if x}
        inputs = {"q": tree.motion.q, "qd": tree.motion.qd, "t": tree.motion.t}
        function = compile_expressions(
            "shares", vector_tape_expressions(inputs), vector_tape_expressions(outputs), threads=1
        )
        values = function(self.q, self.qd, self.t[:, None])
        rows = values if isinstance(values, tuple) else (values,)
        return dict(zip(outputs, rows, strict=True))

    def _named_histories(self, key: str, names: Collection[str], *shape: int) -> NamedHistories:
        """Return the histories of one kind of values by name."""
        values = self._part_values.get(key)
        if values is None:
            return {}
        columns = values.reshape(len(self.t), len(names), *shape)
        return {name: columns[:, k] for k, name in enumerate(names)}

    @property
    def kinetic(self) -> NamedHistories:
        """Kinetic energy by body, J."""
        return self._named_histories("kinetic", self._parts.bodies)

    @property
    def weight(self) -> NamedHistories:
        """Potential energy of gravity by body, J."""
        return self._named_histories("weight", self._parts.bodies)

    @property
    def rotors(self) -> NamedHistories:
        """Kinetic energy of motors by joint, J."""
        return self._named_histories("rotors", self._parts.rotor_energies())

    @property
    def springs(self) -> NamedHistories:
        """Energy of springs by joint or force, J."""
        return self._named_histories("springs", self._parts.spring_energies())

    @property
    def centers(self) -> NamedHistories:
        """Centres of mass by body, (times, 3), m."""
        return self._named_histories("centers", self._parts.bodies, 3)

    @property
    def frames(self) -> NamedHistories:
        """Origins of frames by name, (times, 3), m."""
        return self._named_histories("frames", self.mechanism.frames, 3)
