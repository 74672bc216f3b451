"""Rows of trajectories under one compiled step, in blocks, on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from ...errors import LinkwrightError, UnsupportedError
from ...formulations import derive
from ...model.model import Model
from ...types import Floats
from ..inputs import drive_of
from ..right_hand_side import RightHandSide
from ..run_context import RunContext
from ..state_space import WORKS
from .again import step_again
from .kernels import Kernel
from .tables import IMPLICIT

BLOCK = 16384
"""Numbers in the states of a block: so many that a call costs nothing."""

CALL = 1 << 20
"""Steps of single trajectories in a call, at most: a fraction of a second."""

WORTH = 1 << 15
"""Steps of single trajectories that are worth a thread, which takes a tenth of a millisecond."""

LANES = 16
"""Trajectories in a vector, at most."""

SYSTEMS = 16
"""Systems of mechanisms with parameters of their own that are kept, at most."""

AHEAD = 16
"""Steps at a time, at most, where a step may have to be made again."""


class Many:
    """Trajectories that begin at times[0], with steps at all the times. `drives` are what the
    kernel's drive was made of."""

    def __init__(
        self, model: Model, kernel: Kernel, drives: Any, dt: float, times: Floats, history: bool
    ) -> None:  # fmt: skip
        self.model, self.kernel, self.drives, self.history = model, kernel, drives, history
        self.dt, self.times = dt, times
        self.march = kernel.march  # compiled before there are threads
        self.timed = [times, *kernel.all_outside(times, dt)] if len(times) else [times]
        if kernel.period is not None:
            self.timed.append(_acting(times, dt, kernel.period))
        self.held, self.lock = np.zeros(model.nv), Lock()
        self.systems: dict[bytes, RightHandSide] = {}
        self.block = max(256, BLOCK // (model.nq + model.nv))

    def __call__(
        self, q: Floats, qd: Floats, forces: Floats, p: Floats, threads: int
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Rows of q and q̇; of forces and parameters p as many, or one for all."""
        found = self._space(len(q))
        blocks = self._blocks(len(q), threads)

        def run(block: slice) -> None:
            own = forces[block] if len(forces) > 1 else forces
            kept = found[0][block], found[1][block]
            Block(self, own, p[block] if len(p) > 1 else p, block.start).go(
                q[block], qd[block], kept
            )

        if min(threads, len(blocks)) < 2:
            for block in blocks:
                run(block)
        else:
            with ThreadPoolExecutor(min(threads, len(blocks))) as pool:
                list(pool.map(run, blocks))
        self._check_finite(found[0][:, -1], found[1][:, -1])
        return (found[0], found[1]) if self.history else (found[0][:, 0], found[1][:, 0])

    def _check_finite(self, q: Floats, qd: Floats) -> None:
        """What once is not finite stays so: the last states tell."""
        lost = ~(np.isfinite(q).all(axis=1) & np.isfinite(qd).all(axis=1))
        if lost.any():
            raise LinkwrightError(
                f"{lost.sum()} of {len(q)} trajectories run off to what is no finite number, "
                f"number {int(lost.argmax())} first", where=self.model.mechanism.name,
                remedy="take shorter steps, or check the start and the drives",
            )  # fmt: skip

    def _blocks(self, rows: int, threads: int) -> list[slice]:
        """Each of whole vectors; at least one for every thread, where that is worth it."""
        size = self.block
        if rows * len(self.times) >= WORTH:
            share = -(-rows // threads)
            size = min(size, -(-share // LANES) * LANES)
        return [slice(k, min(rows, k + size)) for k in range(0, rows, size)]

    def _space(self, rows: int) -> tuple[Floats, Floats]:
        """For q and q̇ of all that is kept. Both stand in one piece of memory, which the system
        hands out in larger pages than two of half the size."""
        kept = len(self.times) + 1 if self.history else 1
        nq, nv = self.model.nq, self.model.nv
        whole = np.empty(rows * kept * (nq + nv))
        split = rows * kept * nq
        return whole[:split].reshape(rows, kept, nq), whole[split:].reshape(rows, kept, nv)

    def system_at(self, p: Floats) -> RightHandSide:
        """What steps near singular states are made again with: in (q, q̇), as all steps; of the
        mechanism with a trajectory's own parameters."""
        key = p.tobytes()
        if key not in self.systems:
            for oldest in list(self.systems)[: len(self.systems) + 1 - SYSTEMS]:
                del self.systems[oldest]
            self.systems[key] = self._system(p)
        return self.systems[key]

    def _system(self, p: Floats) -> RightHandSide:
        own = self.model.equations
        drive = self.kernel.drive
        if self.model.parameters:
            values = dict(zip(self.model.parameters, p.tolist(), strict=True))
            mechanism = self.model.mechanism.with_parameters(**values)
            own = derive(mechanism, by=own.by, parameters="numeric")
            drive = drive_of(own, self.drives)
        equations = replace(own, state=None)
        assert drive is not None
        if drive.feedback is not None:
            return RightHandSide(equations, drive)

        def pushed(t: float, q: Floats, qd: Floats) -> Floats:
            return drive(t, q, qd) + self.held

        return RightHandSide(equations, drive_of(equations, pushed))


def _acting(times: Floats, dt: float, period: float) -> Floats:
    """1 for the steps at whose beginning a sampled controller acts: the first, and those at
    multiples of its period, all of which must be beginnings of steps."""
    if not len(times):
        return times
    count = times / period
    acts = np.abs(count - np.round(count)) < 1e-6
    due = np.floor(count[-1] + 1e-6) - np.ceil(count[0] - 1e-6) + 1
    if acts.sum() != due:
        raise UnsupportedError(
            f"the controller acts every {period:g} s, between steps of {dt:g} s",
            remedy="take steps of which a whole number make its period",
        )
    acts[0] = True
    return acts.astype(float)


class Block:
    """Trajectories that go together, the first of them with the number `first`."""

    def __init__(self, many: Many, forces: Floats, p: Floats, first: int) -> None:
        self.many, self.forces, self.p, self.first = many, forces, p, first
        self.kernel = many.kernel

    def go(self, q: Floats, qd: Floats, kept: tuple[Floats, Floats]) -> None:
        """All states into `kept`, or the last."""
        kept[0][:, 0], kept[1][:, 0] = q, qd
        states = [q, qd, *self.kernel.controls(len(q))]
        if self.kernel.may_fail:
            self._go_carefully(states, kept)
        else:
            self._go_straight(states, kept)

    def _go_straight(self, states: list[Floats], kept: tuple[Floats, Floats]) -> None:
        """Nearly always in one call; a longer one could not be interrupted."""
        total, most = len(self.many.times), max(1, CALL // len(kept[0]))
        for done in range(0, total, most):
            count = min(most, total - done)
            rows = slice(done + 1, done + 1 + count) if self.many.history else slice(1)
            there = [*(x[:, rows] for x in kept), *self.kernel.controls(len(kept[0]))]
            self._march(states, there, done, count)
            states = [*(x[:, -1].copy() for x in there[:2]), *there[2:]]

    def _go_carefully(self, states: list[Floats], kept: tuple[Floats, Floats]) -> None:
        """Some steps at a time, and those again that are in doubt."""
        total, done, ahead = len(self.many.times), 0, 1
        while done < total:
            count = min(ahead, total - done)
            there = [np.empty((len(x), count, x.shape[2])) for x in kept]
            if self.many.history:
                there = [x[:, done + 1 : done + 1 + count] for x in kept]
            there += self.kernel.controls(len(kept[0]))
            good = self._checked(states, there, done, self._march(states, there, done, count))
            states = [*(x[:, good - 1].copy() for x in there[:2]), *there[2:]]
            if not self.many.history:
                kept[0][:, 0], kept[1][:, 0] = states[:2]
            done += good
            ahead = min(2 * ahead, AHEAD) if good == count and not there[2:] else 1

    def _tau(self, done: int, count: int) -> Floats:
        rows, steps, nv = self.forces.shape
        tau = self.forces if steps == 1 else self.forces[:, done : done + count]
        return np.broadcast_to(tau, (rows, count, nv))

    def _march(self, here: list[Floats], there: list[Floats], done: int, count: int) -> Floats:
        """Steps into `there`; their doubts, where there can be any."""
        doubt = np.empty((len(here[0]), count)) if self.kernel.may_fail else np.empty(0)
        timed = [x[done : done + count] for x in self.many.timed]
        kept = [self.p] if self.kernel.kept else []
        with np.errstate(all="ignore"):  # trajectories that run off are named afterwards
            self.many.march(
                *here, self._tau(done, count), *timed, self.many.dt, *kept,
                out=(*there, doubt) if self.kernel.may_fail else tuple(there),
            )  # fmt: skip
        return doubt

    def _checked(self, here: list[Floats], there: list[Floats], done: int, doubt: Floats) -> int:
        """How many steps are good, after the first that were not have been made again."""
        bad = ~(doubt < 1)
        if not bad.any():
            return int(doubt.shape[1])
        step = int(bad.any(axis=0).argmax())
        before = here if step == 0 else [x[:, step - 1] for x in there]
        after = [there[0][:, step], there[1][:, step], *there[2:]]
        forces = np.broadcast_to(self._tau(done + step, 1)[:, 0], after[1].shape)
        t = float(self.many.times[done + step])
        for k in np.flatnonzero(bad[:, step]):
            self._mend([x[k] for x in before], [x[k] for x in after], forces[k], t, int(k))
        return step + 1

    def _mend(
        self, here: Sequence[Floats], there: Sequence[Floats], tau: Floats, t: float, row: int
    ) -> None:
        """A step near a singular state again, with pivoting."""
        many, y = self.many, np.full(1, np.nan)
        p = self.p[row if len(self.p) > 1 else 0]
        if self.kernel.method not in IMPLICIT:
            with many.lock:
                system = many.system_at(p)
                y = self._again(system, here, there, tau, t)
        if not np.isfinite(y).all():
            raise LinkwrightError(
                f"trajectory {self.first + row + 1} cannot go on at t = {t:g} s",
                remedy="take shorter steps, or look for a singular state",
            )
        there[0][:], there[1][:] = system.space.motion(y)
        if self.kernel.period is None and there[2:]:
            there[2][:] = system.space.controller_states(y)

    def _again(
        self,
        system: RightHandSide,
        here: Sequence[Floats],
        there: Sequence[Floats],
        tau: Floats,
        t: float,
    ) -> Floats:
        """All states after the step; a sampled controller has acted already."""
        self.many.held = tau
        context, space = RunContext(system), system.space
        y = space.start(here[0], here[1])
        if self.kernel.period is not None:
            context.inputs.hold(t, there[-1])
        elif here[2:]:
            y[space.size : len(y) - WORKS] = here[2]
        return step_again(context, self.kernel.method, t, y, self.many.dt)
