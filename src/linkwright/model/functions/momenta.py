"""Centres of mass, momentum, and regressors for inertial parameters.

Written by tools/write_model_functions.py from the table `linkwright.quantities`: change that.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from numpy.typing import ArrayLike

from ...types import Floats, Output, VectorLike
from .compiled import compiled_method


class MomentumFunctions:
    """Centres of mass, momentum, and regressors for inertial parameters."""

    @compiled_method
    def center_of_mass(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Centre of mass of all moving bodies, world axes.

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
        c : (…, 3) array
            Units: m.
        """

    @compiled_method
    def center_of_mass_jacobian(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """∂ċ/∂q̇ of the centre of mass, world axes.

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
        J : (…, 3, nv) array
            Units: m/s per unit of qd.
        """

    @compiled_method
    def subtree_centers_of_mass(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Centre of mass of each body and all bodies beyond it, world axes; the body's origin
        where these have no mass.

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
        c : (…, bodies, 3) array
            Units: m.
        """

    @compiled_method
    def momentum(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Angular momentum about the centre of mass, then linear, world axes.

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
        h : (…, 6) array
            Units: N m s, then N s.
        """

    @compiled_method
    def centroidal_momentum_matrix(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """A with A q̇ = momentum.

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
        A : (…, 6, nv) array
            Units: N m s, then N s, per unit of qd.
        """

    @compiled_method
    def centroidal_momentum_matrix_rate(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Ȧ: the rate of momentum is A q̈ + Ȧ q̇.

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
        dA : (…, 6, nv) array
            Units: N m, then N, per unit of qd.
        """

    @compiled_method
    def regressor(
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
        """Y with Y π = M q̈ + C q̇ + g without rotors.

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
        Y : (…, nv, parameters) array
            Units: N m or N per unit of π.
        """

    @compiled_method
    def control_regressor(
        self,
        q: VectorLike,
        qd: VectorLike,
        v: VectorLike,
        vd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Φ with Φ π = M v̇ + C v + g without rotors.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        qd : (…, nv) array, or table by name
            Generalized velocities; rad/s or m/s.
        v : (…, nv) array, or table by name
            Generalized velocities of the reference; rad/s or m/s.
        vd : (…, nv) array, or table by name
            Generalized accelerations of the reference; rad/s² or m/s².
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
        Phi : (…, nv, parameters) array
            Units: N m or N per unit of π.
        """

    @compiled_method
    def kinetic_energy_regressor(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Y with Y π = kinetic energy without rotors.

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
        Y : (…, parameters) array
            Units: J per unit of π.
        """

    @compiled_method
    def potential_energy_regressor(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Y with Y π = potential energy of weight, without springs.

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
        Y : (…, parameters) array
            Units: J per unit of π.
        """
