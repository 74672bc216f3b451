"""The constraints of a mechanism as functions of numbers, and the steps that close them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import casadi as ca
import numpy as np

from ..errors import AssemblyError, MechanismError, NameNotFoundError, UnsupportedError, suggest
from ..mechanism import Mechanism
from ..mechanism.units import coordinate_units
from ..types import Floats
from .build import build_tree
from .constraints import askew, constraints_of, loops_that_move, without_effect
from .coordinates import integrate, position_ranges, quaternion_ranges, rates
from .pivots import Scale, rank
from .sides import starting_pose
from .sizes import length_of
from .tree import Tree

Ranges = Mapping[str, tuple[float, float]]

CLOSED = 1e-12
"""Equations hold when their residuals (metres, radians) are below this, for sizes near 1."""

_STARTS = 120
_STEPS = 60
_FINE = 1e-10
_REDUNDANT = 1e-6
_NEAR = 1e-3
_FAR_TURN, _FAR_SHIFT = 0.5, 0.25
"""Assembly moves far what it turns by more than this, rad, or shifts by this share of the size."""


class Closing:
    """The constraints of a mechanism at its own numbers, as functions of numbers.

    Steps of the search have one entry a speed. Those of a free joint are turns in its child's
    axes, but shifts in its parent's: so each of x, y, z can be held.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        tree: Tree = build_tree(mechanism, "numeric")
        constraints = constraints_of(tree)
        if constraints is None:
            raise UnsupportedError(
                f"{mechanism.name} has no loops and no constraints", remedy="any q will do"
            )
        self.mechanism, self.names, self.constraints = mechanism, tree.names, constraints
        self.positions, self.quaternions = position_ranges(tree), quaternion_ranges(tree)
        q, qd, t = tree.motion.q, tree.motion.qd, tree.motion.t
        c, step = constraints, ca.SX.sym("step", tree.nv)
        slope = c.J[list(c.position_rows), :]
        self._at = ca.Function("at", [q, t], [c.residual, slope, c.upright])
        self._speeds = ca.Function("speeds", [q, qd, t], [c.velocity, c.J])
        self._moved = ca.Function("moved", [q, step], [integrate(tree, q, step)])
        self._rates = ca.Function("rates", [q], [rates(tree, q)])
        self.start = starting_pose(tree)
        self._askew = ca.Function("askew", [q], [ca.jacobian(askew(tree), qd)])
        self.turns = self._turning(tree)
        self.touched = np.array(ca.sum1(ca.DM(slope.sparsity(), 1))).ravel() > 0
        self.length = length_of(tree, self.start)
        self.sizes, self.scale = self._measured(tree)

    def _measured(self, tree: Tree) -> tuple[Floats, Scale]:
        """How large rows of the constraints are (m, rad, or by their own Jacobian), and the scale
        of the Jacobian. No constraint is without effect, for any numbers: each restricts some
        speed somewhere, but for loops that others may make redundant."""
        rng, n, length = np.random.default_rng(0), self.names.nv, self.length
        found = [
            np.abs(self.speeds(self.moved(self.start, rng.uniform(-1, 1, n)), np.zeros(n), 0.3)[1])
            for _ in range(2)
        ]
        largest = np.max([J.max(axis=1, initial=0.0) for J in found], axis=0)
        owners, redundant = self.constraints.owners, loops_that_move(tree)
        for owner in dict.fromkeys(owners):
            if owner not in redundant and all(
                largest[k] < 1e-12 for k, o in enumerate(owners) if o == owner
            ):
                raise without_effect(owner)
        known = {"m": length, "1": 1.0, "": 0.0}
        rows = np.array([known[unit] for unit in self.constraints.units])
        columns = np.where(self.turns, 1.0, 1 / length)
        sizes = np.where(rows > 0, rows, np.where(largest > 0, largest, 1.0))
        return sizes, Scale(rows, columns, self.mechanism.closure)

    def check_axles(self, q: Floats) -> None:
        """Wheels that roll on wheels have parallel axles, wherever they may move from q."""
        J = self.speeds(q, np.zeros(self.names.nv), 0.0)[1]
        free = np.eye(self.names.nv) - self.inverse(J) @ J
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
        """q after unit time at the speeds `step`."""
        return np.asarray(self._moved(q, step), dtype=float).ravel()

    def displaced(self, q: Floats, step: Floats) -> Floats:
        """q after a step of the search: as `moved`, but free joints are shifted in their parent's
        axes."""
        turned = step.copy()
        for _, speeds in self.positions:
            turned[speeds] = 0.0
        found = self.moved(q, turned)
        for places, speeds in self.positions:
            found[places] = q[places] + step[speeds]
        return found

    def slope_of_steps(self, q: Floats, J: Floats) -> Floats:
        """Columns by steps of the search from those by speeds."""
        if not self.positions:
            return J
        J, N = J.copy(), np.asarray(self._rates(q), dtype=float)
        for places, speeds in self.positions:
            J[:, speeds] = J[:, speeds] @ N[places, speeds].T
        return J

    def speed_index(self, coordinate: str) -> int:
        """The speed that is the coordinate's rate."""
        self.check_name(coordinate)
        anywhere = self.moved(self.start, np.full(self.names.nv, 0.3))
        row = np.asarray(self._rates(anywhere))[self.names.q.index(coordinate)]
        if np.count_nonzero(row) != 1 or row.max() != 1:
            raise UnsupportedError(
                f"'{coordinate}' has no speed of its own", remedy='use rotation = "cardan"'
            )
        return int(np.argmax(row))

    def check_name(self, coordinate: str) -> None:
        if coordinate not in self.names.q:
            raise NameNotFoundError(
                f"there is no coordinate '{coordinate}'",
                remedy=suggest(coordinate, list(self.names.q)),
            )

    def far_moves(self, q: Floats, given: Sequence[str] = ()) -> list[str]:
        """Coordinates that are far from the file's pose at q, in words: of those that it states
        under `[assembly]`, and of the places of bodies that float, less those that are given."""
        joints = self.mechanism.joints.items()
        floating = {name for name, joint in joints if joint.kind.is_floating}
        units, found = coordinate_units(self.mechanism), []
        for k, name in enumerate(self.names.q):
            loose = units[k] == "m" and name.rpartition(".")[0] in floating
            stated = loose or name in self.mechanism.assembly
            if units[k] == "1" or name in given or not stated:
                continue
            far = _FAR_SHIFT * self.length if units[k] == "m" else _FAR_TURN
            if abs(q[k] - self.start[k]) > far:
                found.append(f"{name} from {self.start[k]:.4g} to {q[k]:.4g} {units[k]}")
        return found

    def value(self, coordinate: str) -> float:
        """What the file's pose has for a coordinate."""
        return float(self.start[self.names.q.index(coordinate)])

    def held_steps(self, names: Sequence[str]) -> list[int]:
        """Entries of a step that are zero while the named coordinates are held. A quaternion is
        held as a whole: its four coordinates are one orientation."""
        held: list[int] = []
        for name in names:
            self.check_name(name)
        for name in names:
            place = self.names.q.index(name)
            whole = next((x for x in self.quaternions if x[0].start <= place < x[0].stop), None)
            if whole is not None:
                held += range(whole[1].start, whole[1].stop)
                continue
            shifted = [(p, v) for p, v in self.positions if p.start <= place < p.stop]
            held += [v.start + place - p.start for p, v in shifted] or [self.speed_index(name)]
        return list(dict.fromkeys(held))

    def gap(self, q: Floats, t: float) -> float:
        """The largest residual that counts (m, rad): see `counted`."""
        phi, J, _ = self.at(q, t)
        return self.counted(phi, J)

    def counted(self, left: Floats, J: Floats, unit: float = 1.0) -> float:
        """The largest of the residuals `left` of rows whose Jacobian is J. What nearly redundant
        rows leave open, and no motion can close, counts only where it is more than the closure
        (in multiples of `unit`)."""
        whole = float(np.abs(left).max(initial=0.0))
        if not (whole > CLOSED and np.isfinite(whole) and np.isfinite(J).all()):
            return whole
        sizes, J = self.sizes[: len(left)], J * self.scale.columns
        steep = np.maximum(sizes, np.abs(J).max(axis=1))  # steep rows hide no others
        directions, found, _ = np.linalg.svd(J / steep[:, None])
        closable = int((found > self.scale.closure * max(found[0], 1.0)).sum())
        kept = directions[:, :closable]
        inside = kept @ (kept.T @ (left / steep)) * steep
        enough = np.abs((left - inside) / sizes).max() <= self.scale.closure * unit
        return float(np.abs(inside).max()) if enough else whole

    def inverse(self, J: Floats, columns: Sequence[int] | None = None) -> Floats:
        """The pseudoinverse of some columns of a Jacobian of the first rows; `closure` decides
        their rank."""
        chosen = list(range(self.names.nv)) if columns is None else list(columns)
        J, sizes = J[:, chosen], self.sizes[: len(J)]
        if 0 in J.shape:
            return np.zeros(J.shape[::-1])
        left, found, right = np.linalg.svd(J / sizes[:, None], full_matrices=False)
        fine = int((found > _FINE * max(found[0], 1e-300)).sum())
        count = min(rank(J, self.scale.of_rows(len(J)).of_columns(chosen)), fine)
        return np.asarray((right[:count].T / found[:count]) @ left[:, :count].T / sizes)

    def rank(self, J: Floats) -> int:
        """Of a Jacobian of the first rows."""
        return rank(J, self.scale.of_rows(len(J)))

    def closed(self, q: Floats, t: float, held: Sequence[int] = ()) -> tuple[Floats, float]:
        """q after steps of least length, and the largest residual that is left. Nearly redundant
        rows are closed in the sense of least squares."""
        if held:  # near limits of what is held, singular values are small and count
            finest = self._stepped(q, t, held, _FINE)
            if np.abs(finest - q).max() < _NEAR and self.gap(finest, t) <= CLOSED * self._far(q):
                return finest, self.gap(finest, t)
        q = self._stepped(q, t, held, self.scale.closure)
        near = max(_NEAR, self.scale.closure * self.sizes.max())
        if CLOSED < (left := self._open(q, t)) < near:  # singular or redundant
            finer = self._stepped(q, t, held, _FINE)
            beside = np.abs(finer - q).max() < _NEAR
            if (beside and self._open(finer, t) <= CLOSED) or self.gap(q, t) > CLOSED * self._far(
                q
            ):
                return finer, self.gap(finer, t)
            left = self.gap(q, t)
        return q, left

    def _floor(self, count: int) -> Floats:
        """The natural size of entries of the Jacobian of the first rows; 0 where unknown."""
        return np.outer(self.scale.rows[:count], self.scale.columns)

    def _far(self, q: Floats) -> float:
        return max(1.0, float(np.abs(q).max(initial=0.0)))

    def _open(self, q: Floats, t: float) -> float:
        return float(np.abs(self.at(q, t)[0]).max(initial=0.0))

    def _stepped(self, q: Floats, t: float, held: Sequence[int], share: float) -> Floats:
        """By Gauss–Newton; singular values below a share of the largest are taken for zero."""
        free = np.setdiff1d(np.arange(self.names.nv), held)
        phi, J, _ = self.at(q, t)
        for _ in range(_STEPS):
            size = np.abs(phi).max(initial=0.0)
            if size == 0.0 or not (np.isfinite(size) and np.isfinite(J).all()):
                break
            step = np.zeros(self.names.nv)
            slope = self.slope_of_steps(q, J)
            slope = np.where(np.abs(slope) < share * self._floor(len(J)), 0.0, slope)[:, free]
            step[free] = -np.linalg.pinv(slope, rcond=share) @ phi
            step *= min(1.0, 1.0 / np.abs(step).max(initial=1e-300))
            better = None
            for _ in range(8):
                there = self.displaced(q, step)
                found = self.at(there, t)
                if _is_better(found[0], phi):
                    better = (there, *found[:2])
                    break
                step /= 3
            if better is None:
                break
            q, phi, J = better
        return q

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
            yield self.displaced(q, step)

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
            if not left <= CLOSED * self._far(q):
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
            if self._open(other, t) < 10 * CLOSED + 1.1 * self._open(q, t):
                q = other
        return q

    def failure(self, q: Floats, t: float, refused: str) -> AssemblyError:
        phi, *_ = self.at(q, t)
        residuals: dict[str, float] = {}
        for row, left in zip(self.constraints.position_rows, phi, strict=True):
            owner = self.constraints.owners[row]
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


def _is_better(phi: Floats, before: Floats) -> bool:
    """Whether residuals are less: the largest one, or, near a solution, where nearly redundant
    rows may keep the largest as it is, their squares."""
    size = np.abs(before).max()
    closer = bool(np.abs(phi).max() < size)
    return closer or bool(size < _REDUNDANT and phi @ phi < before @ before)


@lru_cache(maxsize=32)
def closing_of(mechanism: Mechanism) -> Closing:
    return Closing(mechanism)
