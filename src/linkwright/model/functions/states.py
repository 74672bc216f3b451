"""Energies, terms of moving coordinates, and differences of configurations.

Written by tools/write_model_functions.py from the table `linkwright.quantities`: change that.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from numpy.typing import ArrayLike

from ...types import Floats, Output, VectorLike
from .compiled import compiled_method


class StateFunctions:
    """Energies, terms of moving coordinates, and differences of configurations."""

    @compiled_method
    def kinetic_energy(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Kinetic energy of bodies and rotors.

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
        T : (…) array
            Units: J.
        """

    @compiled_method
    def potential_energy(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Potential energy of weight and springs.

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
        V : (…) array
            Units: J.
        """

    @compiled_method
    def jacobi_energy(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Jacobi energy h = q̇ᵀ∂L/∂q̇ − L = T₂ − T₀ + V, the Hamiltonian as a function of q and
        q̇: constant where L does not depend on t and no other force does work.

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
        h : (…) array
            Units: J.
        """

    @compiled_method
    def transport(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Transport forces of coordinates that depend on time: M q̈ + C q̇ + d + g − f = τ; terms
        linear in q̇, and terms without q̇.

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
        d : (…, nv) array
            Units: N m or N.
        """

    @compiled_method
    def transport_momentum(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Momenta at q̇ = 0, a = ∂T/∂q̇: generalized momenta are p = M q̇ + a, and T = ½ q̇ᵀM q̇ +
        aᵀq̇ + T₀.

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
        a : (…, nv) array
            Units: N m s or N s.
        """

    @compiled_method
    def integrate(
        self,
        q: VectorLike,
        step: VectorLike,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Q ⊕ step: the coordinates after the velocities `step` act for unit time.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        step : (…, nv) array, or table by name
            Displacements along the velocities; rad or m.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        q_out : (…, nq) array
            Units: rad or m.
        """

    @compiled_method
    def difference(
        self,
        q: VectorLike,
        q1: VectorLike,
        p: VectorLike | None = None,
        *,
        out: Output = None,
        check: bool = False,
    ) -> Floats:
        """Step with q ⊕ step = q1.

        Parameters
        ----------
        q : (…, nq) array, or table by name
            Generalized coordinates; rad or m.
        q1 : (…, nq) array, or table by name
            Generalized coordinates at the end; rad or m.
        p : (…, parameters kept) array, or table by name
            Values of the parameters that the model keeps; SI units.
        out : array or tuple of arrays, optional
            Where the result is written.
        check : bool
            Raise an error where the state violates the constraints.

        Returns
        -------
        step : (…, nv) array
            Units: rad or m.
        """
