"""Assembly: from rough values of coordinates to a configuration in which everything closes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import AssemblyError, MechanismError, NameNotFoundError, UnsupportedError, suggest
from ..expressions import to_float
from ..mechanism import Mechanism, numbers_from_text, require_mechanism
from .build import build_tree
from .constraints import askew, constraints_of, without_effect
from .coordinates import integrate, neutral, rates
from .pivots import rank
from .tree import Tree

Floats = NDArray[np.float64]
Ranges = Mapping[str, tuple[float, float]]

CLOSED = 1e-12
"""Equations hold when their residuals (metres, radians) are below this, for sizes near 1."""

_STARTS = 120
_STEPS = 60


class Closing:
    """The constraints of a mechanism at its own numbers, as functions of numbers."""

    def __init__(self, mechanism: Mechanism) -> None:
        tree: Tree = build_tree(mechanism, "numeric")
        constraints = constraints_of(tree)
        if constraints is None:
            raise UnsupportedError(
                f"{mechanism.name} has no loops and no constraints", remedy="any q will do"
            )
        self.mechanism, self.names, self.constraints = mechanism, tree.names, constraints
        q, qd, t = tree.motion.q, tree.motion.qd, tree.motion.t
        c, step = constraints, ca.SX.sym("step", tree.nv)
        slope = c.J[: c.positions, :]
        self._at = ca.Function("at", [q, t], [c.residual, slope, c.upright])
        self._speeds = ca.Function("speeds", [q, qd, t], [c.velocity, c.J])
        self._moved = ca.Function("moved", [q, step], [integrate(tree, q, step)])
        self._rates = ca.Function("rates", [q], [rates(tree, q)])
        self.start = np.array(neutral(tree))
        self._askew = ca.Function("askew", [q], [ca.jacobian(askew(tree), qd)])
        self._check_effect()
        for name, number in mechanism.assembly.items():
            self.start[tree.names.q.index(name)] = to_float(number, mechanism.values)
        self.turns = self._turning(tree)
        self.touched = np.array(ca.sum1(ca.DM(slope.sparsity(), 1))).ravel() > 0

    def _check_effect(self) -> None:
        """No constraint is without effect, for any numbers: each restricts some speed somewhere."""
        rng, n = np.random.default_rng(0), self.names.nv
        found = [
            np.abs(self.speeds(self.moved(self.start, rng.uniform(-1, 1, n)), np.zeros(n), 0.3)[1])
            for _ in range(2)
        ]
        largest = np.max([J.max(axis=1, initial=0.0) for J in found], axis=0)
        for owner in dict.fromkeys(self.constraints.owners):
            if all(largest[k] < 1e-12 for k, o in enumerate(self.constraints.owners) if o == owner):
                raise without_effect(owner)

    def check_axles(self, q: Floats) -> None:
        """Wheels that roll on wheels have parallel axles, wherever they may move from q."""
        J = self.speeds(q, np.zeros(self.names.nv), 0.0)[1]
        free = np.eye(self.names.nv) - np.linalg.pinv(J, rcond=1e-9) @ J
        if np.abs(np.asarray(self._askew(q)) @ free).max(initial=0.0) > 1e-8:
            raise MechanismError(
                "a wheel rolls on another whose axle is not parallel to its own",
                where=self.mechanism.name, remedy="let their axles be parallel",
            )  # fmt: skip

    def _turning(self, tree: Tree) -> Floats:
        """1 for speeds that turn, else 0; chosen coordinates are taken to turn."""
        if tree.transfer is not None:
            return np.ones(tree.nv)
        joints = [j for _, j in self.mechanism.joints_depth_first() if j.moves]
        return np.array([float(f.turns) for joint in joints for f in joint.freedoms])

    def at(self, q: Floats, t: float) -> tuple[Floats, Floats, Floats]:
        """φ, its Jacobian, and what must be above zero."""
        phi, J, upright = (np.asarray(x, dtype=float) for x in self._at(q, t))
        return phi.ravel(), J, upright.ravel()

    def speeds(self, q: Floats, qd: Floats, t: float) -> tuple[Floats, Floats]:
        """What speeds violate, V, and J of all constraints."""
        V, J = (np.asarray(x, dtype=float) for x in self._speeds(q, qd, t))
        return V.ravel(), J

    def moved(self, q: Floats, step: Floats) -> Floats:
        return np.asarray(self._moved(q, step), dtype=float).ravel()

    def speed_index(self, coordinate: str) -> int:
        """The speed that is the coordinate's rate."""
        if coordinate not in self.names.q:
            raise NameNotFoundError(
                f"there is no coordinate '{coordinate}'",
                remedy=suggest(coordinate, list(self.names.q)),
            )
        anywhere = self.moved(self.start, np.full(self.names.nv, 0.3))
        row = np.asarray(self._rates(anywhere))[self.names.q.index(coordinate)]
        if np.count_nonzero(row) != 1 or row.max() != 1:
            raise UnsupportedError(
                f"'{coordinate}' has no speed of its own", remedy='use rotation = "cardan"'
            )
        return int(np.argmax(row))

    def closed(self, q: Floats, t: float, held: Sequence[int] = ()) -> tuple[Floats, float]:
        """Gauss–Newton steps of least length from q, and the largest residual that is left."""
        free = np.setdiff1d(np.arange(self.names.nv), held)
        phi, J, _ = self.at(q, t)
        for _ in range(_STEPS):
            size = np.abs(phi).max(initial=0.0)
            if size == 0.0 or not (np.isfinite(size) and np.isfinite(J).all()):
                break
            step = np.zeros(self.names.nv)
            step[free] = -np.linalg.pinv(J[:, free], rcond=1e-10) @ phi
            step *= min(1.0, 1.0 / np.abs(step).max(initial=1e-300))
            better = None
            for _ in range(8):
                there = self.moved(q, step)
                found = self.at(there, t)
                if np.abs(found[0]).max() < size:
                    better = (there, *found[:2])
                    break
                step /= 3
            if better is None:
                break
            q, phi, J = better
        return q, float(np.abs(phi).max(initial=0.0))

    def starts(
        self, q: Floats, held: Sequence[int], ranges: Ranges | None = None
    ) -> Iterator[Floats]:
        """The given start, then within the ranges, then others around it, further and further
        away; speeds that no constraint of positions touches stay as they are."""
        yield q
        rng = np.random.default_rng(0)
        for share in (0.5, 0.25, 0.75) if ranges else ():
            target = q.copy()
            for name, (low, high) in (ranges or {}).items():
                target[self.names.q.index(name)] = low + share * (high - low)
            yield target
        for k in range(_STARTS):
            reach = np.where(self.turns, np.pi, 1.0) * min(1.0, (k + 4) / 40) * self.touched
            step = rng.uniform(-1, 1, self.names.nv) * reach
            step[list(held)] = 0.0
            yield self.moved(q, step)

    def assembled(
        self, q: Floats, t: float, held: Sequence[int] = (), ranges: Ranges | None = None
    ) -> Floats:
        """The first configuration found that closes, upright and within the ranges."""
        best, least = q, np.inf
        refused = ""
        for start in self.starts(q, held, ranges):
            found, left = self.closed(start, t, held)
            if left < least:
                best, least = found, left
            if not left <= CLOSED * max(1.0, np.abs(q).max()):
                continue
            if not np.isfinite(self.at(found, t)[1]).all():
                refused = "its equations have no finite slope where they hold"
                continue
            if not (self.at(found, t)[2] > 0).all():
                refused = "it closes only with a joint turned over, or a wheel that lies flat"
                continue
            wrapped = self.near(found, q if ranges is None else self.middles(q, ranges), t)
            outside = [n for n, (a, b) in (ranges or {}).items()
                       if not a <= wrapped[self.names.q.index(n)] <= b]  # fmt: skip
            if not outside:
                return wrapped
            refused = f"it closes only with '{outside[0]}' out of its range"
        raise self.failure(best, t, refused)

    def middles(self, q: Floats, ranges: Ranges) -> Floats:
        target = q.copy()
        for name, (low, high) in ranges.items():
            target[self.names.q.index(name)] = (low + high) / 2
        return target

    def near(self, q: Floats, target: Floats, t: float) -> Floats:
        """The same configuration with angles within half a turn of the target."""
        if self.names.nq != self.names.nv:
            return q
        turns = np.round((target - q) / (2 * np.pi)) * self.turns
        for k in np.flatnonzero(turns):
            other = q.copy()
            other[k] += 2 * np.pi * turns[k]
            if np.abs(self.at(other, t)[0]).max(initial=0.0) < 10 * CLOSED:
                q = other
        return q

    def failure(self, q: Floats, t: float, refused: str) -> AssemblyError:
        phi, *_ = self.at(q, t)
        residuals: dict[str, float] = {}
        for owner, left in zip(self.constraints.owners, phi, strict=False):
            residuals[owner] = float(np.hypot(residuals.get(owner, 0.0), left))
        worst = max(residuals, key=lambda name: residuals[name])
        if not np.isfinite(phi).all():
            refused = refused or f"'{worst}' has no finite equations there"
        what = refused or f"'{worst}' cannot close: it stays {residuals[worst]:.3g} (m or rad) open"
        error = AssemblyError(
            f"the mechanism cannot be assembled: {what}", where=self.mechanism.name,
            remedy="give rough values that are nearer, hold fewer, or check the lengths",
        )  # fmt: skip
        error.residuals, error.q = residuals, q
        return error


@lru_cache(maxsize=32)
def closing_of(mechanism: Mechanism) -> Closing:
    return Closing(mechanism)


def assemble(
    mechanism: Mechanism,
    values: Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    ranges: Ranges | None = None,
    t: float = 0.0,
) -> Floats:
    """q, (nq), that closes all loops and holds all constraints of positions at time t.

    The search starts from `[assembly]` of the mechanism, updated by `values`; coordinates in `hold`
    stay exactly there. `ranges` asks for a branch: `{"elbow": (0, 3.14)}`.
    """
    closing = closing_of(require_mechanism(mechanism))
    values = numbers_from_text(mechanism, values, "q0")
    q = closing.start.copy()
    for name in (*(values or {}), *hold, *(ranges or {})):
        closing.speed_index(name) if name in hold else _known(name, closing.names.q)
    for name, value in (values or {}).items():
        q[closing.names.q.index(name)] = _number(name, value)
    for name, (low, high) in (ranges or {}).items():
        if not _number(name, low) <= _number(name, high):
            raise AssemblyError(f"the range of '{name}' is empty", remedy="give (low, high)")
    q = closing.moved(q, np.zeros(closing.names.nv))  # quaternions of length 1
    if not np.isfinite(q).all():
        raise AssemblyError(
            "a rough value is not finite, or a quaternion is zero", where=mechanism.name,
            remedy="give numbers; 1, 0, 0, 0 is no turn",
        )  # fmt: skip
    return closing.assembled(q, t, [closing.speed_index(name) for name in hold], ranges)


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise AssemblyError(f"{value!r} is no value for '{name}'", remedy="give a number") from None


def _known(name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise NameNotFoundError(
            f"there is no coordinate '{name}'", remedy=suggest(name, list(names))
        )


def assemblies(
    mechanism: Mechanism,
    values: Mapping[str, float] | None = None,
    hold: Sequence[str] = (),
    t: float = 0.0,
) -> list[Floats]:
    """All configurations found that close with the held coordinates: the branches."""
    closing = closing_of(mechanism)
    first = assemble(mechanism, values, hold, t=t)
    held = [closing.speed_index(name) for name in hold]
    J = closing.at(first, t)[1]
    loose = [k for k in np.flatnonzero(closing.touched) if k not in held]
    if rank(J[:, loose]) < len(loose):
        raise AssemblyError(
            f"{len(loose) - rank(J[:, loose])} more coordinates can move: there is no end of "
            "configurations", where=mechanism.name, remedy="hold as many coordinates as are free",
        )  # fmt: skip
    found = [first]
    for start in closing.starts(first, held):
        q, left = closing.closed(start, t, held)
        if not (left <= CLOSED * max(1.0, np.abs(q).max()) and (closing.at(q, t)[2] > 0).all()):
            continue
        q = closing.near(q, first, t)
        if all(np.abs(q - other).max() > 1e-6 for other in found):
            found.append(q)
    return found


def consistent_speeds(
    mechanism: Mechanism,
    q: Sequence[float] | Floats,
    qd: Sequence[float] | Floats,
    t: float = 0.0,
) -> Floats:
    """The speeds nearest to qd that the constraints allow at q."""
    closing = closing_of(mechanism)
    here, speeds = np.asarray(q, dtype=float), np.asarray(qd, dtype=float)
    V, J = closing.speeds(here, speeds, t)
    corrected: Floats = speeds - np.linalg.pinv(J, rcond=1e-10) @ V
    left = np.abs(closing.speeds(here, corrected, t)[0]).max(initial=0.0)
    if left > 1e-9 * max(1.0, np.abs(corrected).max()):
        raise AssemblyError(
            f"no speeds hold the constraints here: {left:.3g} is left over",
            where=mechanism.name, remedy="the demands contradict each other in this configuration",
        )  # fmt: skip
    return corrected


def closed_state(
    mechanism: Mechanism, step: Floats, qd: Floats, t: float = 0.0
) -> tuple[Floats, Floats]:
    """A state that the constraints allow: home, moved by about `step`, with speeds near qd."""
    closing = closing_of(mechanism)
    home = assemble(mechanism, t=t)
    for share in (1.0, 0.3, 0.1, 0.0):
        q, left = closing.closed(closing.moved(home, share * step), t)
        if left <= 10 * CLOSED:
            break
    return q, consistent_speeds(mechanism, q, qd, t)
