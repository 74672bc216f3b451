"""Thousands of trajectories at once, in blocks that stay in the cache, on several threads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...errors import LinkwrightError, UnsupportedError
from ...mechanism import Mechanism
from ...model import Model
from ..checked import number, numbers, whole
from ..inputs import Drive, drive_of
from ..system import System
from .again import step_again
from .kernels import Kernel, check_method
from .tables import IMPLICIT

Floats = NDArray[np.float64]

BLOCK = 16384
"""Numbers in the states that go through all steps together: they stay in the cache, and are so many
that a call costs nothing."""


def rollout(
    model: Model,
    q0: Any,
    qd0: Any,
    inputs: Any = None,
    dt: float = 1e-3,
    steps: int = 1000,
    *,
    method: str = "rk4",
    history: bool = False,
    threads: int | None = None,
    t: float = 0.0,
) -> tuple[Floats, Floats]:
    """Many trajectories at once: (q, q̇) at the end, or with all steps as axis −2 (`history`).

    q0 (…, nq) and qd0 (…, nv) broadcast. `inputs`: nothing, forces (nv) or (…, nv), forces that are
    held over every step (…, steps, nv), or a table by speed or actuator of numbers, expressions
    ("2*sin(t) - q1") and (times, values). They begin at time t; loops and constraints hold after
    every step, and a step that cannot be made is an error that names the trajectory.
    """
    if not isinstance(model, Model):
        raise LinkwrightError(f"a {type(model).__name__} is no model", remedy="compile it first")
    check_method(method, model.equations)
    _refuse_events(model.equations.mechanism)
    steps, dt, t = whole(steps, "steps"), number(dt, "dt"), number(t, "t")
    if dt == 0:
        raise LinkwrightError("steps of 0 s are no motion", remedy="give another dt")
    drives = dict(inputs) if isinstance(inputs, Mapping) else {}
    times = t + dt * np.arange(steps, dtype=np.float64)
    many = Many(model, method, drives, dt, times, history)
    q, qd, batch = _started(model, q0, qd0, t)
    forces = _forces(None if isinstance(inputs, Mapping) else inputs, batch, steps, model.nv)
    q, qd = (x.reshape(*batch, *x.shape[1:]) for x in many(q, qd, forces, threads or _cores()))
    return q, qd


def _refuse_events(mechanism: Mechanism) -> None:
    """What only events of a simulation bring about is not left out in silence."""
    found = [(name, "rigid contact") for name, c in mechanism.contacts.items() if c.rigid]
    found += [
        (name, "friction by reaction") for name, joint in mechanism.joints.items()
        if "friction_coefficient" in joint.model_fields_set
    ]  # fmt: skip
    for name, what in found:
        raise UnsupportedError(
            f"rollouts know no {what} ('{name}')", where=mechanism.name,
            remedy='use simulate, or without("contacts", "friction")',
        )  # fmt: skip


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _started(model: Model, q0: Any, qd0: Any, t: float) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Rows of q and q̇, and the shape of the batch."""
    q, qd = numbers(q0, "q0"), numbers(qd0, "qd0")
    for what, array, size in (("q0", q, model.nq), ("qd0", qd, model.nv)):
        if array.shape[-1:] != (size,):
            raise LinkwrightError(f"{what} has shape {array.shape}", remedy=f"give (…, {size})")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1])
    except ValueError:
        raise LinkwrightError(
            f"q0 has shape {q.shape} and qd0 {qd.shape}", remedy="give as many of both, or one"
        ) from None
    rows = [np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (q, qd)]
    if model.names.constraints:
        _check_held(model, rows[0], rows[1], t)
    return rows[0], rows[1], batch


def _check_held(model: Model, q: Floats, qd: Floats, t: float) -> None:
    time = [t] if model.names.in_time else []
    positions = model.constraint_residual(q, *time) if model.names.positions else np.zeros((1, 1))
    for what, left in (("q0", positions), ("qd0", model.constraint_velocity(q, qd, *time))):
        if not (np.abs(left) < 1e-8).all():
            raise LinkwrightError(
                f"loops and constraints do not hold at {what}: {np.abs(left).max():.3g} is left",
                where=model.mechanism.name,
                remedy="use model.close, assemble and consistent_speeds",
            )


def _forces(given: Any, batch: tuple[int, ...], steps: int, nv: int) -> Floats:
    """(rows or 1, steps or 1, nv)."""
    forces = np.zeros(nv) if given is None else numbers(given, "inputs")
    in_time = forces.ndim == len(batch) + 2 or (forces.ndim == 2 and batch == ())
    wanted = (*batch, steps, nv) if in_time else (*batch, nv)
    try:
        np.broadcast_to(forces, wanted)
    except ValueError:
        raise LinkwrightError(
            f"the forces have shape {forces.shape}",
            remedy=f"give {(*batch, steps, nv)}, or {(nv,)}",
        ) from None
    if forces.ndim == 1:
        return forces.reshape(1, 1, nv)
    count = steps if in_time else 1
    whole: Floats = np.broadcast_to(forces, wanted).reshape(-1, count, nv)
    return whole


_KERNELS: WeakKeyDictionary[Model, dict[tuple[str, str], Kernel]] = WeakKeyDictionary()


def _kernel(model: Model, method: str, drive: Drive) -> Kernel:
    """One compiled step for each method and drive of a model."""
    known = _KERNELS.setdefault(model, {})
    key = (method, repr(drive.written))
    if key not in known:
        known[key] = Kernel(model.equations, method, drive)
    return known[key]


class Many:
    """Rows of trajectories under one method."""

    def __init__(
        self, model: Model, method: str, drives: Mapping[str, Any], dt: float, times: Floats,
        history: bool,
    ) -> None:  # fmt: skip
        self.method, self.dt, self.times, self.history = method, dt, times, history
        self.model, self.drive = model, drive_of(model.equations, drives or None)
        self.held, self.lock = np.zeros(model.nv), Lock()
        self.kernel = _kernel(model, method, self.drive)
        self.ends = [self.kernel.ends(t, dt) for t in times] if self.kernel.tables else []
        self.block = max(256, BLOCK // (model.nq + model.nv))

    @cached_property
    def system(self) -> System:
        """What steps near singular states are made again with: in (q, q̇), as all steps."""

        def pushed(t: float, q: Floats, qd: Floats) -> Floats:
            return self.drive(t, q, qd) + self.held

        equations = replace(self.model.equations, state=None)
        return System(equations, drive_of(equations, pushed))

    def __call__(
        self, q: Floats, qd: Floats, forces: Floats, threads: int
    ) -> tuple[Floats, Floats]:  # fmt: skip
        rows, kept = len(q), (len(self.times) + 1,) if self.history else ()
        found = tuple(np.empty((rows, *kept, x.shape[1])) for x in (q, qd))

        def run(block: slice) -> None:
            own = forces[block] if len(forces) > 1 else forces
            walk = self.walk(
                q[block], qd[block], own, block.start, (found[0][block], found[1][block])
            )
            for at in walk:
                last = at
            if not self.history:
                found[0][block], found[1][block] = last

        starts = range(0, rows, self.block)
        blocks = [slice(k, min(rows, k + self.block)) for k in starts]
        with ThreadPoolExecutor(max(1, min(threads, len(blocks)))) as pool:
            list(pool.map(run, blocks))
        return found[0], found[1]

    def walk(
        self, q: Floats, qd: Floats, forces: Floats, first: int, kept: tuple[Floats, Floats]
    ) -> Iterator[tuple[Floats, Floats]]:
        """States of a block, step by step: into `kept`, or to and fro between two places."""
        places = [(np.empty_like(q), np.empty_like(qd)) for _ in range(2)]
        here = (kept[0][:, 0], kept[1][:, 0]) if self.history else places[0]
        here[0][...], here[1][...] = q, qd
        yield here
        for k, t in enumerate(self.times):
            there = (kept[0][:, k + 1], kept[1][:, k + 1]) if self.history else places[(k + 1) % 2]
            tau = forces[:, k % forces.shape[1]]
            ends = self.ends[k] if self.ends else []
            doubt = self.kernel.steps(here, tau, t, self.dt, ends, there)
            if doubt is not None and not doubt.max() < 1:
                self.mend(here, tau, t, there, np.flatnonzero(~(doubt < 1)), first)
            here = there
            yield here

    def mend(
        self, here: Any, tau: Floats, t: float, there: Any, bad: NDArray[np.intp], first: int
    ) -> None:
        """Steps near singular states again, one by one, with pivoting."""
        forces = np.broadcast_to(tau, here[1].shape)
        for k in bad:
            y = np.full(self.system.size, np.nan)
            if self.method not in IMPLICIT:
                with self.lock:
                    self.held = forces[k]
                    start = self.system.start(here[0][k], here[1][k])
                    y = step_again(self.system, self.method, t, start, self.dt)
            if not np.isfinite(y).all():
                raise LinkwrightError(
                    f"trajectory {first + int(k) + 1} cannot go on at t = {t:g} s",
                    remedy="take shorter steps, or look for a singular state",
                )
            there[0][k], there[1][k] = self.system.motion(y)
