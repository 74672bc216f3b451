"""Inverse and forward dynamics, their derivatives, and joint reactions.

Written by tools/write_model_functions.py from the table `linkwright.quantities`: change that.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from numpy.typing import ArrayLike

from ...types import Floats, Output, VectorLike
from .compiled import compiled_method


class DynamicsFunctions:
    """Inverse and forward dynamics, their derivatives, and joint reactions."""

    @compiled_method
    def inverse_dynamics(
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
        """Forces for given accelerations: M q̈ + C q̇ + g − f.

        Under constraints: actuator efforts of least norm, τ = B u, for a motion that the
        constraints allow.

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
        tau : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def forward_dynamics(
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
        """Accelerations under given forces.

        Under constraints: accelerations under forces and constraints.

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
        qdd : (…, nv) array
            Units: rad/s² or m/s².
        """

    @compiled_method
    def inverse_dynamics_with_wrenches(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        wrenches: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Inverse dynamics under wrenches on the bodies: rows (moment, force), world axes, at the
        bodies' origins.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        qdd : (…, nv) array, or table by name
            Generalized accelerations; rad/s² or m/s².
        wrenches : (…, bodies, 6) array, or table by name
            Rows (moment, force) on the bodies, world axes; N m, then N.
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
        tau : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def forward_dynamics_with_wrenches(
        self,
        q: VectorLike,
        qd: VectorLike,
        tau: VectorLike,
        wrenches: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Forward dynamics under wrenches on the bodies.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        tau : (…, nv) array, or table by name
            Generalized forces; N m or N.
        wrenches : (…, bodies, 6) array, or table by name
            Rows (moment, force) on the bodies, world axes; N m, then N.
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
        qdd : (…, nv) array
            Units: rad/s² or m/s².
        """

    @compiled_method
    def inverse_dynamics_derivatives(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> tuple[Floats, Floats, Floats]:
        """∂τ/∂q, ∂τ/∂qd, ∂τ/∂qdd.

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
        by_q : (…, nv, nv) array
        by_qd : (…, nv, nv) array
        by_qdd : (…, nv, nv) array
            Units: N m or N per unit of q, qd and qdd.
        """

    @compiled_method
    def forward_dynamics_derivatives(
        self,
        q: VectorLike,
        qd: VectorLike,
        tau: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> tuple[Floats, Floats, Floats]:
        """∂q̈/∂q, ∂q̈/∂qd, ∂q̈/∂τ.

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
        by_q : (…, nv, nv) array
        by_qd : (…, nv, nv) array
        by_tau : (…, nv, nv) array
            Units: rad/s² or m/s² per unit of q, qd and tau.
        """

    @compiled_method
    def reactions(
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
        """What each joint's parent does to its child under the forces τ: rows (moment, force),
        world axes, about the joint's origin.

        Under constraints: what each joint's parent does to its child under the forces τ, loops
        last: rows (moment, force), world axes, about the joint's origin; of least norm where
        redundant.

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
        r : (…, joints_and_loops, 6) array
            Units: N m, then N.
        """

    @compiled_method
    def body_reactions(
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
        """Reactions in the axes of each joint's child: rows (moment, force), about the joint's
        origin.

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
        r : (…, joints_and_loops, 6) array
            Units: N m, then N.
        """

    @compiled_method
    def reactions_of_motion(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        lambda_: VectorLike | None = None,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Reactions of the joints for given accelerations: rows (moment, force), world axes, about
        the joint's origin.

        Under constraints: reactions of the joints for given accelerations and multipliers: rows
        (moment, force), world axes, about the joint's origin.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        qdd : (…, nv) array, or table by name
            Generalized accelerations; rad/s² or m/s².
        lambda_ : (…, constraints) array, or table by name
            Constraint multipliers; N or N m.
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
        r : (…, joints_and_loops, 6) array
            Units: N m, then N.
        """
