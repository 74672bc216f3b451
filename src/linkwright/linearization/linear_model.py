"""Linear models: ẋ = A x + B u, y = C x + D u about a state or along a motion, and sampled ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..types import Floats

if TYPE_CHECKING:
    import scipy.signal

    import control

COUPLING_SHARE = 1e-9
"""Entries of A below this share of the largest one are zero up to rounding."""

NEUTRAL_SHARE = 1e-7
"""Real parts of eigenvalues below this share of the largest eigenvalue neither grow nor decay: an
eigenvalue 0 of a family of steady motions may be double, and has half the digits then."""

STEADY_RATE = 1e-8
"""Largest rate of the states of a steady motion, rad/s, m/s and their rates."""


@dataclass(frozen=True, repr=False)
class Linear(NotebookDisplayed):
    """A linear model ẋ = A x + B u, y = C x + D u; with a sampling time, x⁺ = A x + B u.

    x are changes of the independent coordinates and velocities `states`, u changes of the actuator
    efforts or generalized forces `inputs`, and y changes of `outputs`. `rates` are the rates of the
    states in the motion itself: zero at an equilibrium. No velocity depends on the coordinates
    `ignorable`. Along a motion `A`, `B`, `C`, `D` and `rates` have a leading axis of
    times `t`. `dt` is the sampling time of a discrete model, s.

    Examples
    --------
    >>> import linkwright as lw
    >>> linear = lw.linearize(lw.gallery("elbow"), {"q1": "-90 deg"})
    >>> linear.states, linear.A.shape, linear.B.shape
    (('q1', 'q2', 'dq1', 'dq2'), (4, 4), (4, 2))
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    t: Floats
    rates: Floats
    ignorable: tuple[str, ...] = ()
    dt: float | None = None

    def summary(self) -> str:
        """Return the number of states, inputs and outputs."""
        columns = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        sizes = ", ".join(f"{len(names)} {what}" for what, names in columns.items())
        times = f" at {np.size(self.t)} times" if np.ndim(self.A) > 2 else ""
        sampled = f", sampled every {self.dt:g} s" if self.dt is not None else ""
        return f"Linear model of {sizes}{times}{sampled}"

    def __str__(self) -> str:
        """Return the names, and A and B about a state."""
        lines = [self.summary(), f"x: {', '.join(self.states)}", f"u: {', '.join(self.inputs)}"]
        lines.append(f"y: {', '.join(self.outputs)}")
        if np.ndim(self.A) == 2:
            lines += [f"{key} =\n{getattr(self, key).round(6)}" for key in ("A", "B")]
        return "\n".join(lines)

    def notebook_table(self) -> NotebookTable | None:
        """Return A and B side by side, for a notebook; None along a motion."""
        if np.ndim(self.A) > 2:
            return None
        entries = np.hstack([self.A, self.B]).tolist()
        left = "d({})/dt" if self.dt is None else "{} after dt"
        rows = [(left.format(name), *row) for name, row in zip(self.states, entries, strict=True)]
        inputs = (f"u: {name}" for name in self.inputs)
        return NotebookTable(("", *self.states, *inputs), rows)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues of A, 1/s; of a discrete model without unit."""
        return np.linalg.eigvals(self.A).astype(complex)

    @property
    def _continuous_eigenvalues(self) -> NDArray[np.complex128]:
        """The eigenvalues, 1/s, also of a discrete model."""
        found = self.eigenvalues.ravel()
        return found if self.dt is None else np.log(found[found != 0]) / self.dt

    @property
    def frequencies(self) -> Floats:
        """|λ| of the oscillations about a state, rad/s, lowest first."""
        found = self._continuous_eigenvalues
        return np.sort(np.abs(found[found.imag > 0]))

    @property
    def damping(self) -> Floats:
        """−Re λ/|λ| of the same oscillations."""
        found = self._continuous_eigenvalues
        swing = found[found.imag > 0]
        swing = swing[np.argsort(np.abs(swing))]
        return np.asarray(-swing.real / np.abs(swing))

    @property
    def is_stable(self) -> bool:
        """Whether every small motion about the state dies out.

        One whose eigenvalue is zero up to rounding does not: it leads to a neighbouring steady
        motion.
        """
        found = self._continuous_eigenvalues
        return bool((found.real < -NEUTRAL_SHARE * np.abs(found).max(initial=0.0)).all())

    @property
    def is_steady(self) -> bool:
        """Whether the motion is an equilibrium or a steady motion.

        All states but the ignorable coordinates are then constant, and A is valid for all times.
        """
        kept = [k for k, name in enumerate(self.states) if name not in self.ignorable]
        return bool(np.abs(self.rates[..., kept]).max(initial=0.0) < STEADY_RATE)

    def drop_ignorable(self) -> Linear:
        """Return the model without ignorable coordinates and outputs that depend on them.

        These are coordinates on which no rate of another state depends, such as the place and the
        heading of a vehicle. They add only eigenvalues that are zero.
        """
        return self.keep_states([name for name in self.states if name not in self.ignorable])

    def keep_states(self, names: Sequence[str]) -> Linear:
        """Return the model with some of the states, without outputs that depend on others.

        Parameters
        ----------
        names : sequence of str
            States to keep. The others must not act on them.

        Returns
        -------
        Linear
            The smaller model.
        """
        for name in names:
            if name not in self.states:
                raise NameNotFoundError(
                    f"unknown state '{name}'", remedy=suggest_remedy(name, list(self.states))
                )
        kept = [k for k, name in enumerate(self.states) if name in names]
        others = [k for k in range(len(self.states)) if k not in kept]
        coupling = np.abs(self.A[..., kept, :][..., others])
        if coupling.max(initial=0.0) > COUPLING_SHARE * np.abs(self.A).max(initial=0.0):
            worst = np.unravel_index(np.argmax(coupling), coupling.shape)
            raise LinkwrightError(
                f"'{self.states[others[worst[-1]]]}' acts on '{self.states[kept[worst[-2]]]}' "
                f"({coupling.max():.3g})",
                remedy="keep both states, or neither",
            )
        hidden = np.abs(self.C[..., others]).max(axis=(*range(self.C.ndim - 2), -1), initial=0.0)
        seen = [k for k, size in enumerate(hidden) if size == 0.0]
        return replace(
            self,
            states=tuple(self.states[k] for k in kept),
            outputs=tuple(self.outputs[k] for k in seen),
            A=self.A[..., kept, :][..., kept],
            B=self.B[..., kept, :],
            C=self.C[..., seen, :][..., kept],
            D=self.D[..., seen, :],
            rates=self.rates[..., kept],
            ignorable=tuple(name for name in self.ignorable if name in names),
        )

    def discretize(self, dt: float) -> Linear:
        """Return x⁺ = A x + B u after the sampling time `dt` (s), with inputs held in between."""
        from .state_space_conversions import hold_inputs

        return hold_inputs(self, dt)

    def to_scipy(self) -> scipy.signal.StateSpace:
        """Return the model as a `scipy.signal.StateSpace`."""
        from .state_space_conversions import scipy_state_space

        return scipy_state_space(self)

    def to_control(self) -> control.StateSpace:
        """Return the model as a `control.StateSpace` with its names (extra `control`)."""
        from .state_space_conversions import control_state_space

        return control_state_space(self)

    def frequency_response(self, frequencies: Sequence[float] | Floats) -> NDArray[np.complex128]:
        """Return C (iω − A)⁻¹ B + D at the `frequencies` ω, (k,) rad/s: (k, outputs, inputs)."""
        from .state_space_conversions import linear_frequency_response

        return linear_frequency_response(self, frequencies)
