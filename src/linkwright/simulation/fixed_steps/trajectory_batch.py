"""A batch of trajectories under one compiled step, in blocks, on several threads."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np

from ...errors import LinkwrightError, UnsupportedError
from ...formulations import derive
from ...model.model import Model
from ...types import Floats
from ..feedback import Feedback
from ..inputs import read_force_law
from ..right_hand_side import RightHandSide
from .compiled_steps import CompiledStep
from .trajectory_block import TrajectoryBlock

NUMBERS_PER_BLOCK = 16384
"""Numbers in the states of a block: its states stay in the cache, and the time of the call itself
is negligible."""

SMALLEST_BLOCK = 256
"""The smallest number of trajectories in a block: fewer would not fill the lanes of large
mechanisms well."""

STEPS_WORTH_A_THREAD = 1 << 15
"""Steps of single trajectories that take longer than the start of a thread (0.1 ms)."""

LANES = 16
"""The largest number of trajectories in a vector: blocks are multiples of it."""

KEPT_SYSTEMS = 16
"""Number of systems with their own parameters in the cache; the oldest is dropped first."""

PERIOD_TOLERANCE = 1e-6
"""Share of a period by which the start of a step may miss the time at which a controller acts."""


class TrajectoryBatch:
    """Trajectories that begin at times[0], with steps at all the times.

    `inputs` are those from which the drive of the step was made.
    """

    def __init__(
        self,
        model: Model,
        step: CompiledStep,
        inputs: Mapping[str, object] | Feedback | None,
        dt: float,
        times: Floats,
        *,
        history: bool,
    ) -> None:
        self.model, self.step, self.inputs, self.history = model, step, inputs, history
        self.dt, self.times = dt, times
        self.step_loop = step.step_loop  # compiled before there are threads
        self.timed = [times, *step.outside_inputs_of_steps(times, dt)] if len(times) else [times]
        if step.period is not None:
            self.timed.append(controller_acts(times, dt, step.period))
        self.lock = Lock()
        """Held while a system of `system_at` is in use."""
        self._given_forces = np.zeros(model.nv)
        self._systems: dict[bytes, RightHandSide] = {}
        self._block_rows = max(SMALLEST_BLOCK, NUMBERS_PER_BLOCK // (model.nq + model.nv))

    def integrate(
        self, q: Floats, qd: Floats, forces: Floats, p: Floats, *, threads: int
    ) -> tuple[Floats, Floats]:
        """Return the rows of q and q̇ at the end, or at all times; `forces` and parameters `p` have
        as many rows, or one for all."""
        results = self._allocate_states(len(q))
        blocks = self._blocks(len(q), threads)

        def integrate_block(rows: slice) -> None:
            own_forces = forces[rows] if len(forces) > 1 else forces
            own_parameters = p[rows] if len(p) > 1 else p
            block = TrajectoryBlock(self, own_forces, own_parameters, rows.start)
            block.integrate(q[rows], qd[rows], (results[0][rows], results[1][rows]))

        if min(threads, len(blocks)) < 2:
            for block in blocks:
                integrate_block(block)
        else:
            with ThreadPoolExecutor(min(threads, len(blocks))) as pool:
                list(pool.map(integrate_block, blocks))
        self._check_finite(results[0][:, -1], results[1][:, -1])
        return results if self.history else (results[0][:, 0], results[1][:, 0])

    def _check_finite(self, q: Floats, qd: Floats) -> None:
        """Raise an error if the last states are not finite; once a state is not finite, all later
        ones are not."""
        lost = ~(np.isfinite(q).all(axis=1) & np.isfinite(qd).all(axis=1))
        if lost.any():
            raise LinkwrightError(
                f"{lost.sum()} of {len(q)} trajectories reach numbers that are not finite, "
                f"number {int(lost.argmax())} first",
                where=self.model.mechanism.name,
                remedy="take shorter steps, or check the start and the inputs",
            )

    def _blocks(self, rows: int, threads: int) -> list[slice]:
        """Return blocks of whole vectors, at least one for each thread that is worth starting."""
        size = self._block_rows
        if rows * len(self.times) >= STEPS_WORTH_A_THREAD:
            share = -(-rows // threads)
            size = min(size, -(-share // LANES) * LANES)
        return [slice(k, min(rows, k + size)) for k in range(0, rows, size)]

    def _allocate_states(self, rows: int) -> tuple[Floats, Floats]:
        """Return space for q and q̇ of all states that are returned.

        Both are parts of one array, for which the operating system has larger pages than for two
        of half the size.
        """
        kept = len(self.times) + 1 if self.history else 1
        nq, nv = self.model.nq, self.model.nv
        whole = np.empty(rows * kept * (nq + nv))
        split = rows * kept * nq
        return whole[:split].reshape(rows, kept, nq), whole[split:].reshape(rows, kept, nv)

    def system_at(self, p: Floats, forces: Floats) -> RightHandSide:
        """Return the system in (q, q̇) that repeats steps with pivoting, with a trajectory's own
        parameters and forces; valid while `lock` is held."""
        self._given_forces = forces
        key = p.tobytes()
        if key not in self._systems:
            for oldest in list(self._systems)[: len(self._systems) + 1 - KEPT_SYSTEMS]:
                del self._systems[oldest]
            self._systems[key] = self._make_system(p)
        return self._systems[key]

    def _make_system(self, p: Floats) -> RightHandSide:
        """Return the system of the mechanism with the parameters p."""
        equations = self.model.equations
        drive = self.step.force_law
        if self.model.parameters:
            values = dict(zip(self.model.parameters, p.tolist(), strict=True))
            mechanism = self.model.mechanism.with_parameters(**values)
            equations = derive(mechanism, by=equations.by, parameters="numeric")
            drive = read_force_law(equations, self.inputs)
        equations = replace(equations, state=None)
        assert drive is not None
        if drive.feedback is not None or drive.state_names:
            return RightHandSide(equations, drive)

        def total_forces(t: float, q: Floats, qd: Floats) -> Floats:
            return drive(t, q, qd) + self._given_forces

        return RightHandSide(equations, read_force_law(equations, total_forces))


def controller_acts(times: Floats, dt: float, period: float) -> Floats:
    """Return 1 for steps at whose start a sampled controller acts, else 0.

    It acts in the first step and at multiples of its period, which must be starts of steps.
    """
    if not len(times):
        return times
    count = times / period
    acts = np.abs(count - np.round(count)) < PERIOD_TOLERANCE
    due = np.floor(count[-1] + PERIOD_TOLERANCE) - np.ceil(count[0] - PERIOD_TOLERANCE) + 1
    if acts.sum() != due:
        raise UnsupportedError(
            f"the controller acts every {period:g} s, between steps of {dt:g} s",
            remedy="choose a step that divides its period",
        )
    acts[0] = True
    return acts.astype(float)
