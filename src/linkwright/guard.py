"""Functions of constrained mechanisms in batches: compiled, and where a pivot got small, solved
again with pivoting.

The compiled functions eliminate speeds in an order that was chosen where the mechanism is
assembled. They also return their smallest pivot, as a share of its size there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import UnsupportedError
from .quantities import ports

if TYPE_CHECKING:
    from .model import Model

Floats = NDArray[np.float64]

SMALL_PIVOT = 1e-2
"""States whose smallest pivot is below this are solved again: errors grow as its inverse square."""

RANK = 1e-7
"""Singular values of J below this share of the largest are zero."""


class Guarded:
    """A compiled function whose last output is its smallest pivot; that one it keeps to itself.

    States in which it is small, or that give no finite numbers, are solved by singular values.
    `ufunc` is the compiled function itself.
    """

    def __init__(self, name: str, ufunc: np.ufunc, model: Model) -> None:
        self.name, self.ufunc, self.model = name, ufunc, model
        self.__doc__ = ufunc.__doc__

    def __call__(self, *inputs: Any, out: Any = None) -> Any:
        given = () if out is None else out if isinstance(out, tuple) else (out,)
        with np.errstate(all="ignore"):
            *found, pivot = (
                self.ufunc(*inputs, out=(*given, None)) if given else self.ufunc(*inputs)
            )
        weak = ~(np.asarray(pivot) >= SMALL_PIVOT)
        if weak.any():
            found = self._again(inputs, found, np.atleast_1d(weak).ravel())
        return found[0] if len(found) == 1 else tuple(found)

    def _again(self, inputs: Any, found: list[Floats], weak: NDArray[np.bool_]) -> list[Floats]:
        wanted, given = ports(self.model.names, self.name, self.model.parameters)
        batch = found[0].shape[: found[0].ndim - len(given[0].shape)]
        rows = [
            np.broadcast_to(x, (*batch, *port.shape)).reshape(-1, *port.shape).astype(float)
            for x, port in zip(inputs, wanted, strict=True)
        ]
        flat = [array.reshape(-1, *port.shape) for array, port in zip(found, given, strict=False)]
        for k in np.flatnonzero(weak):
            state = {port.name: row[k] for port, row in zip(wanted, rows, strict=True)}
            if all(np.isfinite(x).all() for x in state.values()):
                for array, result in zip(
                    flat, Instant(self.model, state).of(self.name), strict=True
                ):
                    array[k] = result
        for array, mended in zip(found, flat, strict=True):
            array[...] = mended.reshape(array.shape)
        return found


class Instant:
    """One state of a constrained mechanism, solved by singular values whatever the rank of J."""

    def __init__(self, model: Model, state: dict[str, Floats]) -> None:
        self.model, self.state = model, state
        self.J = self.at("constraint_jacobian")
        left, sizes, right = np.linalg.svd(self.J)
        kept = int((sizes > RANK * max(sizes[0], 1e-300)).sum()) if len(sizes) else 0
        self.free = right[kept:].T
        self.inverse = right[:kept].T @ (left[:, :kept] / sizes[:kept]).T

    def at(self, name: str, **others: Floats) -> Any:
        known = self.state | others
        wanted, _ = ports(self.model.names, name, self.model.parameters)
        return getattr(self.model, name)(*(known[port.name] for port in wanted))

    def of(self, name: str) -> tuple[Floats, ...]:
        if not hasattr(self, name):
            raise UnsupportedError(
                f"{name} cannot be computed where {' and '.join(self.model.names.independent)} "
                "hardly drive the mechanism", where=self.model.mechanism.name,
                remedy="name other independent speeds",
            )  # fmt: skip
        found = getattr(self, name)()
        return found if isinstance(found, tuple) else (found,)

    def forward_dynamics(self) -> Floats:
        """Rows that contradict each other in a singular configuration are met in the mean."""
        M, F = self.at("mass_matrix"), self.state["tau"] - self.at("bias")
        drift: Floats = -self.inverse @ self.at("constraint_bias")
        Z = self.free
        found: Floats = drift + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (F - M @ drift))
        return found

    def pushed(self) -> Floats:
        """What wrenches on the bodies do along all speeds."""
        q, wrenches = self.state["q"], self.state["wrenches"]
        last = [self.state["p"]] if self.model.parameters else []
        bodies = zip(self.model.body_names, wrenches, strict=True)
        found: Floats = sum(self.model.jacobian(body)(q, *last).T @ w for body, w in bodies)
        return found

    def forward_dynamics_with_wrenches(self) -> Floats:
        under = self.state | {"tau": self.state["tau"] + self.pushed()}
        return Instant(self.model, under).forward_dynamics()

    def inverse_dynamics_with_wrenches(self) -> Floats:
        found: Floats = self.at("input_matrix") @ self.driving(self.pushed())
        return found

    def multipliers(self) -> Floats:
        qdd = self.forward_dynamics()
        needed = self.at("required_forces", qdd=qdd) - self.state["tau"]
        found: Floats = self.inverse.T @ needed
        return found

    def reactions(self) -> Floats:
        qdd, lam = self.forward_dynamics(), self.multipliers()
        spare = np.linalg.svd(self.J.T)[2][np.linalg.matrix_rank(self.J, RANK) :]

        def rows(force: Floats) -> Floats:
            found: Floats = self.at("loaded_reactions", qdd=qdd, **{"lambda": force})
            return found

        still = rows(lam)
        W = np.array([(rows(lam + z) - still).ravel() for z in spare]).reshape(len(spare), -1).T
        least: Floats = still.ravel() - W @ (np.linalg.pinv(W, rcond=RANK) @ still.ravel())
        return least.reshape(still.shape)

    def driving(self, others: Floats) -> Floats:
        """u of least norm, beside other forces along the speeds."""
        A = self.free.T @ self.at("input_matrix")
        needed = self.free.T @ (self.at("required_forces") - others)
        found: Floats = np.linalg.pinv(A, rcond=RANK) @ needed
        return found

    def actuator_forces(self) -> Floats:
        return self.driving(np.zeros(self.model.nv))

    def inverse_dynamics(self) -> Floats:
        found: Floats = self.at("input_matrix") @ self.actuator_forces()
        return found

    def independent_map(self) -> tuple[Floats, Floats]:
        names = self.model.names
        a = [names.qd.index(name) for name in names.independent]
        p = [k for k in range(names.nv) if k not in a]
        sizes = np.linalg.svd(self.J[:, p], compute_uv=False)
        if len(p) > len(sizes) or (len(p) and sizes[len(p) - 1] <= RANK * sizes[0]):
            raise UnsupportedError(
                f"{' and '.join(names.independent)} cannot drive the mechanism here",
                where=self.model.mechanism.name, remedy="name other independent speeds",
            )  # fmt: skip
        back = -np.linalg.pinv(self.J[:, p], rcond=RANK)
        still = self.at("constraint_velocity", qd=np.zeros(names.nv))
        G, k = np.zeros((names.nv, len(a))), np.zeros(names.nv)
        G[a, range(len(a))] = 1
        G[p], k[p] = back @ self.J[:, a], back @ still
        return G, k
