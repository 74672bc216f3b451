"""A block of trajectories that one thread integrates together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import LinkwrightError
from ...types import Floats
from ..right_hand_side import RightHandSide
from ..run_context import RunContext
from ..state_space import WORK_COUNT
from .pivoted_steps import step_with_pivoting
from .tableaus import IMPLICIT_METHODS

if TYPE_CHECKING:
    from .trajectory_batch import TrajectoryBatch

STEPS_PER_CALL = 1 << 20
"""The largest number of steps of single trajectories in a call: a call takes a fraction of a
second, and Ctrl-C must wait for its end."""

STEPS_AHEAD = 16
"""The largest number of steps in a call where a step may have to be repeated: the steps after it
are lost."""


class TrajectoryBlock:
    """Rows of a batch, the first of them with the number `first`, and their forces and
    parameters."""

    def __init__(self, batch: TrajectoryBatch, forces: Floats, p: Floats, first: int) -> None:
        self.batch, self.forces, self.p, self.first = batch, forces, p, first
        self.step = batch.step

    def integrate(self, q: Floats, qd: Floats, results: tuple[Floats, Floats]) -> None:
        """Write all states into `results`, or the last ones."""
        results[0][:, 0], results[1][:, 0] = q, qd
        states = [q, qd, *self.step.initial_control_states(len(q))]
        if self.step.may_fail:
            self._integrate_with_checks(states, results)
        else:
            self._integrate_without_checks(states, results)

    def _integrate_without_checks(
        self, states: list[Floats], results: tuple[Floats, Floats]
    ) -> None:
        """Make all steps, nearly always in one call."""
        total, most = len(self.batch.times), max(1, STEPS_PER_CALL // len(results[0]))
        for done in range(0, total, most):
            count = min(most, total - done)
            rows = slice(done + 1, done + 1 + count) if self.batch.history else slice(1)
            controls = self.step.initial_control_states(len(results[0]))
            after = [*(x[:, rows] for x in results), *controls]
            self._make_steps(states, after, done, count)
            states = [*(x[:, -1].copy() for x in after[:2]), *after[2:]]

    def _integrate_with_checks(self, states: list[Floats], results: tuple[Floats, Floats]) -> None:
        """Make some steps at a time, and repeat those that are in doubt."""
        total, done, ahead = len(self.batch.times), 0, 1
        while done < total:
            count = min(ahead, total - done)
            after = [np.empty((len(x), count, x.shape[2])) for x in results]
            if self.batch.history:
                after = [x[:, done + 1 : done + 1 + count] for x in results]
            after += self.step.initial_control_states(len(results[0]))
            doubt = self._make_steps(states, after, done, count)
            good = self._repeat_first_bad_step(states, after, done, doubt)
            states = [*(x[:, good - 1].copy() for x in after[:2]), *after[2:]]
            if not self.batch.history:
                results[0][:, 0], results[1][:, 0] = states[:2]
            done += good
            ahead = min(2 * ahead, STEPS_AHEAD) if good == count and not after[2:] else 1

    def _forces_of_steps(self, done: int, count: int) -> Floats:
        """Return the given forces of `count` steps after `done` ones, (rows, count, nv)."""
        rows, steps, nv = self.forces.shape
        tau = self.forces if steps == 1 else self.forces[:, done : done + count]
        return np.broadcast_to(tau, (rows, count, nv))

    def _make_steps(
        self, before: list[Floats], after: list[Floats], done: int, count: int
    ) -> Floats:
        """Write the states of `count` steps into `after`; return their doubts, if they can fail."""
        may_fail = self.step.may_fail
        doubt = np.empty((len(before[0]), count)) if may_fail else np.empty(0)
        timed = [x[done : done + count] for x in self.batch.timed]
        parameters = [self.p] if self.step.kept else []
        with np.errstate(all="ignore"):  # the batch reports states that are not finite
            self.batch.step_loop(
                *before,
                self._forces_of_steps(done, count),
                *timed,
                self.batch.dt,
                *parameters,
                out=(*after, doubt) if may_fail else tuple(after),
            )
        return doubt

    def _repeat_first_bad_step(
        self, before: list[Floats], after: list[Floats], done: int, doubt: Floats
    ) -> int:
        """Repeat the first step that has lanes in doubt, and return the number of good steps."""
        bad = ~(doubt < 1)
        if not bad.any():
            return int(doubt.shape[1])
        step = int(bad.any(axis=0).argmax())
        start = before if step == 0 else [x[:, step - 1] for x in after]
        end = [after[0][:, step], after[1][:, step], *after[2:]]
        forces = np.broadcast_to(self._forces_of_steps(done + step, 1)[:, 0], end[1].shape)
        t = float(self.batch.times[done + step])
        for k in np.flatnonzero(bad[:, step]).tolist():
            self._repeat_step(k, [x[k] for x in start], [x[k] for x in end], forces[k], t)
        return step + 1

    def _repeat_step(
        self, row: int, before: Sequence[Floats], after: Sequence[Floats], tau: Floats, t: float
    ) -> None:
        """Repeat the step of one trajectory with pivoting, near a singular configuration."""
        y = np.full(1, np.nan)
        p = self.p[row if len(self.p) > 1 else 0]
        if self.step.method not in IMPLICIT_METHODS:
            with self.batch.lock:
                system = self.batch.system_at(p, tau)
                y = self._state_after_step(system, before, after, t)
        if not np.isfinite(y).all():
            raise LinkwrightError(
                f"trajectory {self.first + row + 1} cannot continue at t = {t:g} s",
                remedy="take shorter steps, or look for a singular configuration",
            )
        after[0][:], after[1][:] = system.space.motion(y)
        if self.step.period is None and after[2:]:
            after[2][:] = system.space.controller_states(y)

    def _state_after_step(
        self, system: RightHandSide, before: Sequence[Floats], after: Sequence[Floats], t: float
    ) -> Floats:
        """Return all states after the step; a sampled controller has acted already."""
        context, space = RunContext(system), system.space
        y = space.start(before[0], before[1], t)
        if self.step.period is not None:
            context.inputs.hold(t, after[-1])
        elif before[2:]:
            y[space.size : len(y) - WORK_COUNT] = before[2]
        return step_with_pivoting(context, self.step.method, t, y, self.batch.dt)
