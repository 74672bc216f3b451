"""Sizes, names and reference configurations of a model."""

from __future__ import annotations

import numpy as np

from ..displays import NotebookTable
from ..errors import AssemblyError
from ..mechanism import MechanismNames
from ..types import Floats
from .facts import ModelFacts


class ModelProperties:
    """Sizes and names of a mechanism, in the order of the arrays that a model takes and returns."""

    names: MechanismNames
    parameters: tuple[str, ...]
    _facts: ModelFacts

    def notebook_table(self) -> NotebookTable:
        """Return the functions with their shapes and units, for a notebook."""
        from .function_help import function_rows

        rows = function_rows(self.names, self.parameters)
        return NotebookTable(("function", "inputs and outputs", "units"), rows)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.names.nq

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return self.names.nv

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates, in the order of q."""
        return self.names.q

    @property
    def qd_names(self) -> tuple[str, ...]:
        """Names of the generalized velocities, in the order of q̇."""
        return self.names.qd

    @property
    def joint_names(self) -> tuple[str, ...]:
        """All joints, depth first; the rows of `reactions`, before those of loops."""
        return self.names.joints

    @property
    def loop_names(self) -> tuple[str, ...]:
        """The joints that close loops; the last rows of `reactions`."""
        return self.names.loops

    @property
    def body_names(self) -> tuple[str, ...]:
        """Moving bodies, one for what is fixed together: rows of `wrenches`, blocks of π."""
        return self.names.bodies

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """The loop or constraint of every row of `constraint_jacobian` and entry of `multipliers`.

        Loops and constraints are in file order; the position equations of each (the height of a
        rolling wheel) come before its velocity equations.
        """
        return self.names.constraints

    @property
    def independent_names(self) -> tuple[str, ...]:
        """The independent velocities, which all others follow: columns of `independent_map`."""
        return self.names.independent if self.names.constraints else self.names.qd

    @property
    def dof(self) -> int:
        """Number of independent velocities."""
        self._require_assembly()
        return len(self.independent_names)

    @property
    def inertial_parameters(self) -> Floats:
        """π, (10·bodies,), SI units: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each body."""
        return np.array(self._facts.inertial)

    @property
    def nominal_parameters(self) -> Floats:
        """The values that the mechanism gives the parameters kept as input p."""
        return np.array(self._facts.nominal)

    @property
    def leeway(self) -> float:
        """How far nearly redundant constraints may stay open (m, rad); 0 where all close exactly.

        See `Mechanism.closure`.
        """
        return self._facts.leeway

    def neutral(self) -> Floats:
        """Return coordinates without any displacement.

        Returns
        -------
        (nq,) array
            Zeros, and unit quaternions.
        """
        return np.array(self._facts.neutral)

    def home(self) -> Floats:
        """Return coordinates at which loops and constraints close; `neutral` where there are none.

        Returns
        -------
        (nq,) array
            rad or m.

        Raises
        ------
        AssemblyError
            If the mechanism cannot be assembled.
        """
        self._require_assembly()
        return np.array(self._facts.home or self._facts.neutral)

    def _require_assembly(self) -> None:
        if self._facts.unclosed:
            raise AssemblyError(self._facts.unclosed)
