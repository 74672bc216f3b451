"""Inverse kinematics: joints for given points and poses of frames, many targets at once.

Every target is a lane of the compiled step (`iteration`); lanes that are done are left out of the
next one. Where no joints reach a target the answer is the nearest that was found, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LinkwrightError
from ..formulations import derive
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism, require_mechanism
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_vector_rows
from ..types import Booleans, Floats
from .coordinate_bounds import bounds_of
from .frame_targets import TARGET_SIZES, FrameTarget, read_targets
from .inverse_options import INVERSE_OPTIONS
from .inverse_steps import InverseKinematicsIteration
from .joint_solutions import Joints, inverse_kinematics_solutions
from .loop_follower import check_fixed_coordinates
from .target_lanes import InverseKinematicsLanes, flatten_frame_targets


class InverseKinematics:
    """A solver of inverse kinematics for frames with targets of given kinds.

    A call with targets returns `Joints`. Loops and constraints of positions are closed.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    kinds : mapping of frames to kinds
        "plane" (x, y), "point" (x, y, z) or "pose": {"tool": "pose", "elbow": "point"}.
    limits : bool
        Keep the ranges of the joints.

    Examples
    --------
    >>> import linkwright as lw
    >>> solver = lw.motion.InverseKinematics(lw.gallery("elbow"), {"tool": "plane"})
    >>> solver({"tool": [1.0, 1.0]}, start=[0.3, 0.5]).status.item()
    'reached'
    """

    def __init__(
        self, mechanism: Mechanism, kinds: Mapping[str, str], *, limits: bool = True
    ) -> None:
        check_fixed_coordinates(mechanism)
        self.mechanism, self.kinds = mechanism, dict(kinds)
        self.bounds = bounds_of(mechanism if limits else mechanism.without("limits"))
        for frame, kind in self.kinds.items():
            if kind not in TARGET_SIZES:
                raise LinkwrightError(
                    f"'{kind}' is not a kind of target",
                    where=frame,
                    remedy=f"use {', '.join(TARGET_SIZES)}",
                )
            self.model.placement(frame)

    @cached_property
    def model(self) -> Model:
        """The compiled functions of the mechanism."""
        return compiled(self.mechanism)

    @cached_property
    def iteration(self) -> InverseKinematicsIteration:
        """The compiled iteration steps for these frames and kinds of targets."""
        equations = derive(self.mechanism, parameters="numeric")
        return InverseKinematicsIteration(
            equations, list(self.kinds.items()), self.bounds, self._characteristic_length()
        )

    def _characteristic_length(self) -> float:
        """The mean displacement of the frames by 1 rad; 1 where nothing turns."""
        q = self.samples[:64]
        columns = [self.model.jacobian(frame)(q)[:, 3:] for frame in self.kinds]
        turning = np.array(
            [np.abs(self.model.jacobian(f)(q)[:, :3]).max(axis=(0, 1)) > 1e-9 for f in self.kinds]
        ).any(axis=0)
        moved = np.linalg.norm(np.concatenate(columns, axis=1)[..., turning], axis=1)
        length = float(np.sqrt(np.mean(moved**2))) if moved.size else 0.0
        return length if length > 1e-9 else 1.0

    @cached_property
    def redundant(self) -> bool:
        """Whether the joints can move while the frames are held."""
        rows = [self.model.jacobian(frame)(self.samples[0]) for frame in self.kinds]
        asked = [
            J if kind == "pose" else J[3 : 3 + TARGET_SIZES[kind]]
            for J, kind in zip(rows, self.kinds.values(), strict=True)
        ]
        rank = np.linalg.matrix_rank(np.vstack(asked), CLOSURE_TOLERANCES.rank_share)
        return self.model.dof > int(rank)

    @cached_property
    def samples(self) -> Floats:
        """Random coordinates within their ranges; up to half a turn or π m where there is none."""
        rng, count = np.random.default_rng(0), INVERSE_OPTIONS.sample_count
        model, bounds = self.model, self.bounds
        wild = np.broadcast_to(model.home(), (count, model.nq))
        wild = model.integrate(wild, rng.uniform(-np.pi, np.pi, (count, model.nv)))
        known = np.isfinite(bounds.lower) & np.isfinite(bounds.upper)
        low, high = (np.where(known, x, 0.0) + 0.0 for x in (bounds.lower, bounds.upper))  # no −0
        inside = np.where(known, rng.uniform(low, high, (count, model.nq)), wild)
        found: Floats = np.clip(inside, bounds.lower, bounds.upper)
        return found

    @cached_property
    def _sample_placements(self) -> Floats:
        """The placements of the frames at the samples, as targets are given."""
        parts = []
        for frame, kind in self.kinds.items():
            T = self.model.placement(frame)(self.samples)
            numbers = np.concatenate([T[:, :3, 3], T[:, :3, :3].reshape(-1, 9)], axis=1)
            parts.append(numbers[:, : TARGET_SIZES[kind]])
        return np.concatenate(parts, axis=1)

    def __call__(
        self,
        targets: Mapping[str, object],
        start: ArrayLike | None = None,
        posture: ArrayLike | None = None,
        *,
        tolerance: float = 1e-9,
        restarts: int = 60,
        seed: int = 0,
    ) -> Joints:
        """Joints for targets by frame; their leading axes broadcast, with those of `start`.

        Joints that the targets leave free go toward the posture, which defaults to the start.
        What is not reached is tried again from up to `restarts` other starts.
        """
        read = self._order_targets(read_targets(targets))
        begin = self._check_coordinates(self.model.home() if start is None else start, "start")
        aim = begin if posture is None else self._check_coordinates(posture, "posture")
        batch, (*numbers, begin, aim) = flatten_frame_targets(
            [*(t.numbers for t in read), begin, aim]
        )
        lanes = InverseKinematicsLanes(self.iteration, np.concatenate(numbers, axis=-1), tolerance)
        inside = np.clip(begin, self.bounds.lower, self.bounds.upper)
        q, figures = self._try_restarts(lanes, inside, restarts, np.random.default_rng(seed))
        if posture is not None or self.redundant:
            q, figures = self._approach_posture(lanes, q, figures, aim)
        return inverse_kinematics_solutions(self._remove_full_turns(q, aim), figures, lanes, batch)

    def _order_targets(self, read: list[FrameTarget]) -> list[FrameTarget]:
        by_frame = {target.frame: target for target in read}
        if {f: t.kind for f, t in by_frame.items()} != self.kinds:
            said = ", ".join(f"a {kind} of {frame}" for frame, kind in self.kinds.items())
            raise LinkwrightError(
                "the targets are of another kind than the solver's", remedy=f"give {said}"
            )
        return [by_frame[frame] for frame in self.kinds]

    def _check_coordinates(self, given: ArrayLike, what: str) -> Floats:
        q = read_pose(self.model.mechanism, given)
        return check_vector_rows(q, self.model.nq, f"the {what}", self.model.q_names)

    def _try_restarts(
        self, lanes: InverseKinematicsLanes, begin: Floats, restarts: int, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """The best solutions from the start and from restarts, for lanes that are not reached."""
        q, figures = lanes.minimize_errors(
            begin, np.arange(len(begin)), INVERSE_OPTIONS.rough_gradient
        )
        met, far = (
            np.ones(len(begin), dtype=int),
            self._is_beyond_reach(lanes.target_numbers, INVERSE_OPTIONS.far_reach),
        )
        enough = np.where(
            self._is_beyond_reach(lanes.target_numbers, 1.0),
            INVERSE_OPTIONS.agreed_attempts_outside,
            INVERSE_OPTIONS.agreed_attempts,
        )
        ranks = np.zeros((len(begin), min(restarts, INVERSE_OPTIONS.sample_count)), dtype=np.int16)
        for k in range(min(restarts, INVERSE_OPTIONS.sample_count)):
            given_up = (met >= enough) | (far & (k >= INVERSE_OPTIONS.far_restarts))
            (left,) = np.nonzero(~lanes.is_reached(figures) & ~given_up)
            if not len(left):
                break
            if k == 1:
                ranks[left] = self._nearest_samples(lanes.target_numbers[left], ranks.shape[1])
            near = (
                self._perturb_start(rng, begin[left], INVERSE_OPTIONS.first_perturbation)
                if k == 0
                else None
            )
            again = self.samples[ranks[left, k - 1]] if near is None else near
            other, found = lanes.minimize_errors(
                again, left, INVERSE_OPTIONS.rough_gradient, figures[left, 0], stiff=k % 2 == 0
            )
            best, cost = figures[left, 0], found[:, 0]
            same, better = (
                np.abs(cost - best) <= INVERSE_OPTIONS.same_cost_share * best,
                cost < best,
            )
            met[left] = np.where(same, met[left] + 1, np.where(better, 1, met[left]))
            q[left[better]], figures[left[better]] = other[better], found[better]
        return self._refine_solutions(lanes, q, figures, rng)

    def _refine_solutions(
        self, lanes: InverseKinematicsLanes, q: Floats, figures: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Refine rough solutions; near misses, and lanes that got stuck, are perturbed away from
        singular configurations."""
        (left,) = np.nonzero(~lanes.is_reached(figures))
        q[left], figures[left] = lanes.minimize_errors(q[left], left, held=figures[left])
        for _ in range(INVERSE_OPTIONS.max_more_descents):
            still = lanes.is_nearest(figures, np.arange(len(figures)))
            (left,) = np.nonzero(~lanes.is_reached(figures) & ~still)
            if not len(left):
                break
            q[left], figures[left] = lanes.minimize_errors(q[left], left, held=figures[left])
        for noise in INVERSE_OPTIONS.perturbations:
            is_stuck = ~lanes.is_nearest(figures, np.arange(len(figures)))
            is_open = is_stuck | lanes.is_near_miss(figures)
            (left,) = np.nonzero(is_open & ~lanes.is_reached(figures))
            other, found = lanes.minimize_errors(self._perturb_start(rng, q[left], noise), left)
            as_near = found[:, 0] <= (1 + INVERSE_OPTIONS.equal_cost_share) * figures[left, 0]
            better = (found[:, 0] < figures[left, 0]) | (as_near & lanes.is_nearest(found, left))
            q[left[better]], figures[left[better]] = other[better], found[better]
        return q, figures

    def _is_beyond_reach(self, wanted: Floats, share: float) -> Booleans:
        """Whether a frame is to go farther than this share of the samples' reach."""
        far, at = np.zeros(len(wanted), dtype=bool), 0
        for kind in self.kinds.values():
            part = slice(at, at + min(3, TARGET_SIZES[kind]))
            seen = self._sample_placements[:, part]
            center = seen.mean(axis=0)
            reach = np.linalg.norm(seen - center, axis=1).max()
            far |= np.linalg.norm(wanted[:, part] - center, axis=1) > share * reach
            at += TARGET_SIZES[kind]
        return far

    def _perturb_start(self, rng: np.random.Generator, begin: Floats, noise: float) -> Floats:
        near: Floats = self.model.integrate(begin, rng.uniform(-noise, noise, self.model.nv))
        return np.clip(near, self.bounds.lower, self.bounds.upper)

    def _nearest_samples(self, wanted: Floats, count: int) -> NDArray[np.int16]:
        """The samples whose frames are nearest to each target, the nearest first."""
        weights = np.r_[np.ones(3), np.full(9, self.iteration.length)]
        scale = np.concatenate([weights[: TARGET_SIZES[kind]] for kind in self.kinds.values()])
        there, here = self._sample_placements * scale, wanted * scale
        found = np.empty((len(wanted), count), dtype=np.int16)
        for k in range(0, len(wanted), INVERSE_OPTIONS.targets_per_chunk):
            part = slice(k, k + INVERSE_OPTIONS.targets_per_chunk)
            apart = (there**2).sum(axis=1) - 2 * here[part] @ there.T
            first = np.argpartition(apart, count - 1, axis=1)[:, :count]
            order = np.argsort(np.take_along_axis(apart, first, axis=1), axis=1)
            found[part] = np.take_along_axis(first, order, axis=1)
        return found

    def _approach_posture(
        self, lanes: InverseKinematicsLanes, q: Floats, figures: Floats, posture: Floats
    ) -> tuple[Floats, Floats]:
        """Solutions moved toward the posture, where the frames stay as near to their targets."""
        aim = np.clip(posture, self.bounds.lower, self.bounds.upper)
        arrived = lanes.is_reached(figures)
        for some, step in (
            (arrived, self.iteration.null_space_step),
            (~arrived, self.iteration.curved_null_space_step),
        ):
            (good,) = np.nonzero(some)
            if not len(good):
                continue
            moved = lanes.approach_posture(step, q[good], figures[good], aim[good], good)
            moved, found = lanes.minimize_errors(moved, good, held=figures[good])
            as_near = found[:, 0] <= figures[good, 0] * (1 + INVERSE_OPTIONS.posture_cost_share)
            kept = lanes.is_reached(found) | (as_near & lanes.is_nearest(found, good))
            q[good[kept]], figures[good[kept]] = moved[kept], found[kept]
        return q, figures

    def _remove_full_turns(self, q: Floats, near: Floats) -> Floats:
        """Coordinates moved by full turns toward where they began, where loops and gears allow
        it."""
        turns = np.round((q - near) / (2 * np.pi))
        turned = q - np.where(self.bounds.full_turns, 2 * np.pi * turns, 0.0)
        if not self.iteration.loop_row_count:
            return turned
        gaps = self.model.constraint_residual(turned) - self.model.constraint_residual(q)
        torn = np.abs(gaps).max(axis=1, keepdims=True) > CLOSURE_TOLERANCES.tracked_residual / 10
        return np.asarray(np.where(torn, q, turned))


def inverse_kinematics(
    mechanism: Mechanism,
    targets: Mapping[str, object],
    start: ArrayLike | None = None,
    posture: ArrayLike | None = None,
    *,
    limits: bool = True,
    tolerance: float = 1e-9,
    restarts: int = 60,
) -> Joints:
    """Return coordinates that bring frames to targets.

    For many calls with the same frames, make an `InverseKinematics` once.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    targets : mapping of frames to arrays
        (…, 2) or (…, 3) points in the world, m; (…, 4, 4) placements; (…, 7) points with
        quaternions.
    start, posture : (…, nq) array, optional
        Where the search begins (default: home), and where joints that the targets leave free go
        (default: the start), rad or m.
    limits : bool
        Keep the ranges of the joints.
    tolerance : float
        Largest error of a reached target, m and rad.
    restarts : int
        Other starts that are tried for what is not reached.

    Returns
    -------
    Joints
        Solutions, their status and their errors.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.motion.inverse_kinematics(lw.gallery("elbow"), {"tool": [1.0, 1.0]})
    >>> bool(found.reached)
    True
    """
    require_mechanism(mechanism)
    kinds = {target.frame: target.kind for target in read_targets(targets)}
    solver = InverseKinematics(mechanism, kinds, limits=limits)
    return solver(targets, start, posture, tolerance=tolerance, restarts=restarts)
