"""Terms of the equation of motion.

Written by tools/write_model_functions.py from the table `linkwright.quantities`: change that.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from numpy.typing import ArrayLike

from ...types import Floats, Output, VectorLike
from .compiled import compiled_method


class TermFunctions:
    """Terms of the equation of motion."""

    @compiled_method
    def mass_matrix(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """M, rotors included.

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
        M : (…, nv, nv) array
            Units: kg m², kg m or kg.
        """

    @compiled_method
    def mass_matrix_inverse(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """M⁻¹, of the tree also under constraints.

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
        M_inverse : (…, nv, nv) array
            Units: unit of qdd per unit of tau.
        """

    @compiled_method
    def coriolis_matrix(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """C of the Christoffel symbols: Ṁ − 2C is skew.

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
        C : (…, nv, nv) array
            Units: kg m²/s, kg m/s or kg/s.
        """

    @compiled_method
    def gravity(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Gravity vector ∂V/∂q: the joint efforts that balance the weight.

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
        g : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def bias(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Forces at zero acceleration: C q̇ + g − f.

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
        b : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def forces(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """F = passive + external: all forces but τ, weight and constraint forces.

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
        f : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def passive(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Springs, dampers and friction, at the joints and between points.

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
        f_passive : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def external(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Loads that the mechanism declares: wrenches and joint forces.

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
        f_external : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def input_matrix(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """B with τ = B u of the actuators; the identity where there are none.

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
        B : (…, nv, actuators) array
            Units: 1 or m.
        """

    @compiled_method
    def actuator_lengths(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """What the actuators drive, as lengths or angles l: their efforts have the power u · l̇.

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
        l : (…, actuators) array
            Units: rad or m.
        """
