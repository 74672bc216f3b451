"""Functions of frames and bodies: each gives a compiled function of the state (and of t, s, where
the chosen coordinates depend on time)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import ArrayLike

from ...types import Floats, Output, VectorLike


class FramePosition(Protocol):
    """A compiled function of q: (…, nq), rad or m."""

    def __call__(
        self,
        q: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
    ) -> Floats: ...


class FrameVelocity(Protocol):
    """A compiled function of q: (…, nq), rad or m; and qd: (…, nv), rad/s or m/s."""

    def __call__(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
    ) -> Floats: ...


class FrameAcceleration(Protocol):
    """A compiled function of q: (…, nq), rad or m; qd: (…, nv), rad/s or m/s; and qdd: (…, nv),
    rad/s² or m/s²."""

    def __call__(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
        *,
        out: Output = None,
    ) -> Floats: ...


class FrameMeasures(Protocol):
    """A compiled function of q, (…, nq), rad or m, with several results."""

    def __call__(
        self, q: VectorLike, t: ArrayLike | None = None, p: VectorLike | None = None
    ) -> tuple[Floats, Floats, Floats]: ...


class FrameVelocityDerivatives(Protocol):
    """A compiled function of q: (…, nq), and qd: (…, nv), with two results."""

    def __call__(
        self,
        q: VectorLike,
        qd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
    ) -> tuple[Floats, Floats]: ...


class FrameAccelerationDerivatives(Protocol):
    """A compiled function of q: (…, nq), qd and qdd: (…, nv), with three results."""

    def __call__(
        self,
        q: VectorLike,
        qd: VectorLike,
        qdd: VectorLike,
        t: ArrayLike | None = None,
        p: VectorLike | None = None,
    ) -> tuple[Floats, Floats, Floats]: ...


class FrameFunctions(ABC):
    """Compiled functions of one frame or body, by its name."""

    @abstractmethod
    def frame_function(self, name: str, frame: str) -> Callable[..., Any]:
        """The compiled function `name` of a frame or body."""

    def placement(self, frame: str) -> FramePosition:
        """The placement of a frame or body in the world.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q
            q, (…, nq), to a homogeneous transform, (…, 4, 4); the position is in m.

        Examples
        --------
        >>> import linkwright as lw
        >>> model = lw.compile(lw.gallery("elbow"))
        >>> model.placement("tool")({"q1": "90 deg"})[:3, 3].round(3)
        array([0., 2., 0.])
        """
        return self.frame_function("placement", frame)

    def jacobian(self, frame: str) -> FramePosition:
        """The Jacobian of a frame or body: rows ω, then v of the frame's origin, world axes.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q
            q, (…, nq), to (…, 6, nv): rad/s, then m/s, per unit of qd.
        """
        return self.frame_function("jacobian", frame)

    def frame_velocity(self, frame: str) -> FrameVelocity:
        """The velocity (ω, v) of a frame or body, world axes.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q and qd
            q, (…, nq), and qd, (…, nv), to (…, 6): rad/s, then m/s.
        """
        return self.frame_function("frame_velocity", frame)

    def frame_acceleration(self, frame: str) -> FrameAcceleration:
        """The rate of `frame_velocity`: (ω̇, v̇) of a frame or body, world axes.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q, qd and qdd
            q, (…, nq), qd and qdd, (…, nv), to (…, 6): rad/s², then m/s².
        """
        return self.frame_function("frame_acceleration", frame)

    def frame_bias_acceleration(self, frame: str) -> FrameVelocity:
        """J̇ q̇: the acceleration of a frame or body at q̈ = 0.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q and qd
            q, (…, nq), and qd, (…, nv), to (…, 6): rad/s², then m/s².
        """
        return self.frame_function("frame_bias_acceleration", frame)

    def jacobian_rate(self, frame: str) -> FrameVelocity:
        """J̇, the rate of `jacobian` along q̇: `frame_acceleration` is J q̈ + J̇ q̇.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q and qd
            q, (…, nq), and qd, (…, nv), to (…, 6, nv): rad/s², then m/s², per unit of qd.
        """
        return self.frame_function("jacobian_rate", frame)

    def frame_velocity_derivatives(self, frame: str) -> FrameVelocityDerivatives:
        """Derivatives of `frame_velocity` by q, along the tangent, and by qd.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q and qd
            q, (…, nq), and qd, (…, nv), to two arrays (…, 6, nv): rad/s, then m/s, per unit of q
            and of qd.
        """
        return self.frame_function("frame_velocity_derivatives", frame)

    def frame_acceleration_derivatives(self, frame: str) -> FrameAccelerationDerivatives:
        """Derivatives of `frame_acceleration` by q, along the tangent, by qd and by qdd.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q, qd and qdd
            q, (…, nq), qd and qdd, (…, nv), to three arrays (…, 6, nv): rad/s², then m/s², per
            unit of q, of qd and of qdd.
        """
        return self.frame_function("frame_acceleration_derivatives", frame)

    def operational_inertia(self, frame: str) -> FramePosition:
        """The operational-space inertia Λ = (J M⁻¹ Jᵀ)⁻¹ of a frame or body with six DOF.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q
            q, (…, nq), to (…, 6, 6): moment, then force, per angular, then linear acceleration.
        """
        return self.frame_function("operational_inertia", frame)

    def inverse_operational_inertia(self, frame: str) -> FramePosition:
        """Λ⁻¹ = J M⁻¹ Jᵀ, which also exists for a frame with fewer than six DOF.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q
            q, (…, nq), to (…, 6, 6): angular, then linear acceleration, per moment, then force.
        """
        return self.frame_function("inverse_operational_inertia", frame)

    def manipulability(self, frame: str) -> FrameMeasures:
        """Yoshikawa's measure √det(J Jᵀ): of all rows, of the rotation and of the translation.

        Parameters
        ----------
        frame : str
            A frame of the mechanism, or a body.

        Returns
        -------
        function of q
            q, (…, nq), to three arrays (…): products of the singular values of J, of its rows ω
            and of its rows v; √det(JᵀJ) where J has more rows than columns that move.
        """
        return self.frame_function("manipulability", frame)
