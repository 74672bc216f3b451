"""What a motion has beyond coordinates and speeds: energies of every part, momenta, multipliers,
reactions, places. All follow from the mechanism and the histories, and are made when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..kinematics.part_contributions import TreePartKinematics
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..model.model import Model
from ..model.model import compile as compiled
from ..ports import Port
from ..readings.llvm import compile_tape
from ..tape import normalize_tape, record_tape, schedule_tape
from ..types import Floats

Named = dict[str, Floats]


class Details:
    """Of states q, q̇ with accelerations q̈ under forces τ at times t, one row each."""

    def __init__(
        self, mechanism: Mechanism, t: Floats, q: Floats, qd: Floats, qdd: Floats, tau: Floats
    ) -> None:
        self.mechanism = mechanism
        self.t, self.q, self.qd, self.qdd, self.tau = t, q, qd, qdd, tau

    @cached_property
    def model(self) -> Model:
        return compiled(self.mechanism, threads=1)

    @property
    def _clock(self) -> list[Floats]:
        return [self.t] if self.model.names.is_time_dependent else []

    @cached_property
    def momenta(self) -> Floats:
        """p = M q̇, (times, nv)."""
        found: Floats = np.einsum("tij,tj->ti", self.model.mass_matrix(self.q), self.qd)
        return found

    @cached_property
    def momentum(self) -> Floats:
        """Of the whole: angular about the mass centre, then linear, (times, 6)."""
        found: Floats = self.model.momentum(self.q, self.qd)
        return found

    @cached_property
    def has_mass(self) -> bool:
        """Whether something that moves has mass, and so a mass centre."""
        return bool(self.model.inertial_parameters[::10].any())

    @cached_property
    def center_of_mass(self) -> Floats:
        found: Floats = self.model.center_of_mass(self.q)
        return found

    @cached_property
    def multipliers(self) -> Floats:
        """λ, (times, rows); no rows without constraints."""
        if not self.model.names.constraints:
            return np.zeros((len(self.t), 0))
        found: Floats = self.model.multipliers(self.q, self.qd, self.tau, *self._clock)
        return found

    @cached_property
    def reactions(self) -> Floats:
        """(times, joints and loops, 6): moment and force of the parent on the child, about the
        joint's origin, world axes."""
        model, state = self.model, (self.q, self.qd)
        if model.names.constraints:
            found: Floats = model.reactions(*state, self.tau, *self._clock)
        else:  # bodies without mass have no accelerations that follow from forces
            found = model.reactions_of_motion(*state, self.qdd, *self._clock)
        return found

    @cached_property
    def _shares(self) -> tuple[TreePartKinematics, dict[str, Floats]]:
        """Compiled once for all parts."""
        tree = build_kinematic_tree(self.mechanism, "numeric")
        own = TreePartKinematics(tree)
        parts: dict[str, list[Any]] = {
            "kinetic": own.kinetic_energies(),
            "weight": own.weight_energies(),
            "rotors": list(own.rotor_energies().values()),
            "springs": list(own.spring_energies().values()),
            "centers": own.centers_of_mass(),
            "frames": list(own.frame_origins().values()),
        }
        made = {key: ca.densify(ca.vertcat(*map(ca.SX, x))) for key, x in parts.items() if x}
        function = ca.Function(
            "shares", [tree.motion.q, tree.motion.qd], ca.cse(list(made.values())), ["q", "qd"],
            list(made),
        )  # fmt: skip
        inputs = [Port("q", (tree.nq,)), Port("qd", (tree.nv,))]
        outputs = [Port(key, (int(x.shape[0]),)) for key, x in made.items()]
        ufunc = compile_tape(
            schedule_tape(normalize_tape(record_tape(function, inputs, outputs))), threads=1
        )
        found = ufunc(self.q, self.qd)
        rows = found if isinstance(found, tuple) else (found,)
        return own, dict(zip(made, rows, strict=True))

    def _named(self, key: str, names: Any, *shape: int) -> Named:
        values = self._shares[1].get(key)
        if values is None:
            return {}
        columns = values.reshape(len(self.t), len(names), *shape)
        return {name: columns[:, k] for k, name in enumerate(names)}

    @property
    def kinetic(self) -> Named:
        """By body, J."""
        return self._named("kinetic", self._shares[0].bodies)

    @property
    def weight(self) -> Named:
        """Potential energy of weight by body, J."""
        return self._named("weight", self._shares[0].bodies)

    @property
    def rotors(self) -> Named:
        """Kinetic energy of motors by joint, J."""
        return self._named("rotors", self._shares[0].rotor_energies())

    @property
    def springs(self) -> Named:
        """Energy of springs by joint or force, J."""
        return self._named("springs", self._shares[0].spring_energies())

    @property
    def centers(self) -> Named:
        """Mass centres by body, (times, 3)."""
        return self._named("centers", self._shares[0].bodies, 3)

    @property
    def frames(self) -> Named:
        """Origins of frames, (times, 3)."""
        return self._named("frames", self.mechanism.frames, 3)
