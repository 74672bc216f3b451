"""The arrays of trajectories that a step kernel integrates, each in one thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class KernelOperand:
    """An array of a step kernel, with its strides over lanes, steps and entries."""

    array: Any
    lane: int
    step: int
    entry: int

    @property
    def arguments(self) -> list[Any]:
        """The arguments of the kernel."""
        return [self.array, *(np.int64(n) for n in (self.lane, self.step, self.entry))]


def count_trajectories(starts: Sequence[Any], layout: str) -> tuple[int, bool]:
    """Return the number of trajectories, and whether the starts are a single state."""
    axis = 0 if layout == "rows" else -1
    several = [x.shape[axis] for x in starts if len(x.shape) > 1]
    return (several[0] if several else 1), not several


def drop_trajectory_axis(whole: Any, layout: str) -> Any:
    """Return the states of the only trajectory."""
    return whole[0] if layout == "rows" else whole[..., 0]


def clip_forces(cp: Any, tau: Any, bounds: Any, layout: str) -> Any:
    """Return forces within their lower and upper limits by velocity, if there are some."""
    if bounds is None:
        return tau
    lower, upper = (cp.asarray(x) for x in bounds)
    if layout == "columns" and len(tau.shape) > 1:
        lower, upper = lower[:, None], upper[:, None]
    return cp.clip(tau, lower, upper)


@dataclass(frozen=True)
class DeviceTrajectories:
    """The arrays of trajectories in a layout."""

    cp: Any
    kind: str
    layout: str
    count: int

    def contiguous(self, x: Any) -> Any:
        """Return the array in the precision of the kernel, without gaps."""
        return self.cp.ascontiguousarray(self.cp.asarray(x).astype(self.kind, copy=False))

    def own(self, x: Any, shape: tuple[int, ...], name: str) -> KernelOperand:
        """An input with a value for each trajectory, or one for all."""
        (size,) = shape
        if tuple(x.shape) == shape:
            return KernelOperand(self.contiguous(x), 0, 0, 1)
        wanted = (self.count, size) if self.layout == "rows" else (size, self.count)
        if tuple(x.shape) != wanted:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; give {wanted} or {shape}")
        is_row = self.layout == "rows"
        lane, entry = (size, 1) if is_row else (1, self.count)
        return KernelOperand(self.contiguous(x), lane, 0, entry)

    def forces(
        self, x: Any, steps: int, shape: tuple[int, ...], name: str, bounds: Any
    ) -> KernelOperand:
        """Forces of each trajectory, or of each trajectory and step, within their limits."""
        (size,) = shape
        is_row = self.layout == "rows"
        whole = (self.count, steps, size) if is_row else (steps, size, self.count)
        if self.count == 1 and tuple(x.shape) == (steps, size):
            x = x[None] if is_row else x[..., None]
        x = clip_forces(self.cp, x, bounds, self.layout)
        if tuple(x.shape) != whole:
            return self.own(x, shape, name)
        strides = (steps * size, size, 1) if is_row else (1, size * self.count, self.count)
        return KernelOperand(self.contiguous(x), *strides)

    def shared(self, x: Any) -> KernelOperand:
        """An input with a value for each step that all trajectories share."""
        size = int(np.prod(x.shape[1:]))
        return KernelOperand(self.contiguous(x), 0, size, 1)

    def repeat(self, x: Any) -> KernelOperand:
        """An input that is the same for all trajectories and steps."""
        return KernelOperand(self.contiguous(x), 0, 0, 1)

    def last(self, size: int) -> KernelOperand:
        """An output that is kept for the last step only, or not at all."""
        array = self.cp.empty((self.count, size), dtype=self.kind)
        return KernelOperand(array, size, 0, 1)

    def first_row(self, whole: Any) -> Any:
        """The states at the start in a history."""
        return whole[:, 0] if self.layout == "rows" else whole[0]

    def results(self, size: int, steps: int, history: bool) -> tuple[Any, KernelOperand]:
        """The array that is returned, and what the kernel writes of it."""
        is_row, kept = self.layout == "rows", steps + 1
        if not history:
            shape = (self.count, size) if is_row else (size, self.count)
            whole = self.cp.empty(shape, dtype=self.kind)
            return whole, KernelOperand(whole, *((size, 0, 1) if is_row else (1, 0, self.count)))
        states = (self.count, kept, size) if is_row else (kept, size, self.count)
        whole = self.cp.empty(states, dtype=self.kind)
        later = whole[:, 1:] if is_row else whole[1:]
        strides = (kept * size, size, 1) if is_row else (1, size * self.count, self.count)
        return whole, KernelOperand(later, *strides)

    def integrate(
        self,
        kernel: tuple[Any, int],
        operands: Sequence[KernelOperand],
        sizes: Sequence[int],
        steps: int,
        history: bool,
    ) -> list[Any]:
        """Launch a step kernel with blocks of its size; return q and q̇ at the end or at all steps.

        `sizes` are those of the kernel's outputs, of which q and q̇ are the first.
        """
        entry, block = kernel
        results = [self.results(size, steps, history) for size in sizes[:2]]
        for start, (whole, _) in zip(operands, results, strict=False):
            if history:
                self.first_row(whole)[...] = self.spread(start)
            elif steps == 0:
                whole[...] = self.spread(start)
        outputs = [kept for _, kept in results] + [self.last(size) for size in sizes[2:]]
        if steps and self.count:
            counts = [np.int64(n) for n in (self.count, steps, 1 if history else steps)]
            arguments = [x for one in (*operands, *outputs) for x in one.arguments]
            entry(((self.count + block - 1) // block,), (block,), (*counts, *arguments))
        return [whole for whole, _ in results]

    def spread(self, start: KernelOperand) -> Any:
        """An array of states at the start, with one state for all as a row or column."""
        shared = start.lane == 0 and self.layout == "columns"
        return start.array[:, None] if shared else start.array
