"""Functions that only mechanisms with loops or constraints have.

Written by tools/write_model_functions.py from the table `linkwright.quantities`: change that.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from numpy.typing import ArrayLike

from ...types import Floats, Output, VectorLike
from .compiled import compiled_method


class ConstraintFunctions:
    """Functions that only mechanisms with loops or constraints have."""

    @compiled_method
    def required_forces(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """M q̈ + C q̇ + g − f: what actuators and constraints exert together.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        qdd : (…, nv) array, or table by name
            Generalized accelerations; rad/s² or m/s².
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        h : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def actuator_forces(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """U of least norm for a motion that the constraints allow.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        qdd : (…, nv) array, or table by name
            Generalized accelerations; rad/s² or m/s².
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        u : (…, actuators) array
            Units: N m or N.
        """

    @compiled_method
    def multipliers(
        self,
        q: VectorLike,
        qd: VectorLike,
        tau: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Forces of the constraints, +Jᵀλ on the mechanism, in the order of `constraint_names`
        (file order); of least norm where redundant.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        tau : (…, nv) array, or table by name
            Generalized forces; N m or N.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        lambda : (…, constraints) array
            Units: N or N m.
        """

    @compiled_method
    def constraint_residual(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Φ, zero where loops and constraints of positions hold, in file order.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        Phi : (…, positions) array
            Units: m or rad.
        """

    @compiled_method
    def constraint_velocity(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """J q̇ − b, zero for velocities that the constraints allow.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        V : (…, constraints) array
            Units: m/s or rad/s.
        """

    @compiled_method
    def constraint_jacobian(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """J of all constraints, rows in the order of `constraint_names` (file order).

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        J : (…, constraints, nv) array
            Units: m/s or rad/s per unit of qd.
        """

    @compiled_method
    def constraint_bias(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Γ with J q̈ + γ = 0.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        gamma : (…, constraints) array
            Units: m/s² or rad/s².
        """

    @compiled_method
    def constraint_velocity_derivative(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """∂(J q̇ − b)/∂q along the tangent.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        by_q : (…, constraints, nv) array
            Units: m/s or rad/s per unit of q.
        """

    @compiled_method
    def independent_map(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> tuple[Floats, Floats]:
        """G and k with q̇ = G a + k, a the independent velocities.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        t : (…) array
            Time, only where the mechanism depends on it; s.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        G : (…, nv, freedom) array
        k : (…, nv) array
            Units: unit of qd per unit of a; rad/s or m/s.
        """
