"""Swings up a cart-pole by sampled controls (MPPI): every 20 ms, thousands of force histories are
tried in rollouts, and those with low cost are averaged.

    python examples/swing_up.py                  # on the processor
    python examples/swing_up.py --device cuda    # all rollouts of a step in one kernel
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwright as lw


@dataclass(frozen=True)
class Sweep:
    """Choices of the sampled-control sweep."""

    samples: int = 1024
    horizon: int = 50
    dt: float = 0.02
    noise: float = 6.0
    """Standard deviation of the force, N: half of what swings the pole up."""
    most: float = 20.0
    """Largest force on the cart, N."""
    temperature: float = 5.0
    """Cost that makes a sample count e times less."""


def swing_up(
    device: str = "cpu", seconds: float = 4.0, seed: int = 0, sweep: Sweep | None = None
) -> Any:
    """Return the states (t, x, angle) of the cart-pole, which starts hanging down."""
    chosen = sweep or Sweep()
    arm = lw.gallery("cart-pole")
    arrays, roll_out = _make_rollout(arm, device, chosen)
    generator = np.random.default_rng(seed)
    model = lw.compile(arm)
    angles = np.linspace(0, 2 * np.pi, 361)
    energies = [float(model.potential_energy([0.0, angle])) for angle in angles]
    up, down = angles[int(np.argmax(energies))], angles[int(np.argmin(energies))]
    q, qd = np.array([0.0, down]), np.zeros(2)
    plan, history = np.zeros(chosen.horizon), [[0.0, *q]]
    for step in range(round(seconds / chosen.dt)):
        noise = generator.normal(0, chosen.noise, (chosen.samples, chosen.horizon))
        noise[0] = 0.0  # the plan itself is one of the samples
        forces = np.clip(plan + noise, -chosen.most, chosen.most)
        cost = _cost(arrays, *roll_out(q, qd, forces), up)
        weight = np.exp(-(cost - cost.min()) / chosen.temperature)
        plan = weight @ forces / weight.sum()
        tau = np.array([plan[0], 0.0])
        q, qd = lw.rollout(model, q, qd, tau, dt=chosen.dt, steps=1)
        history.append([(step + 1) * chosen.dt, *q])
        plan = np.append(plan[1:], 0.0)
    found = np.array(history)
    found[:, 2] = np.arctan2(np.sin(found[:, 2] - up), np.cos(found[:, 2] - up))
    return found


def _cost(xp: Any, q: Any, qd: Any, up: float) -> Any:
    """The cost of each sample: distance from upright, from the middle, and speed."""
    x, angle = q[:, 1:, 0], q[:, 1:, 1] - up
    rates = qd[:, 1:, 0] ** 2 + qd[:, 1:, 1] ** 2
    whole = 4 * (1 - xp.cos(angle)) + 0.3 * x**2 + 0.02 * rates
    last = 30 * (1 - xp.cos(angle[:, -1])) + rates[:, -1]
    cost = whole.sum(axis=1) + last
    return cost.get() if hasattr(cost, "get") else cost


def _make_rollout(arm: lw.Mechanism, device: str, sweep: Sweep) -> tuple[Any, Any]:
    """Arrays of the device, and the rollouts of all samples from one state."""
    if device == "cpu":
        model = lw.compile(arm)

        def on_processor(q: Any, qd: Any, forces: Any) -> Any:
            tau = np.stack([forces, np.zeros_like(forces)], axis=-1)
            starts = [np.tile(x, (sweep.samples, 1)) for x in (q, qd)]
            return lw.rollout(model, *starts, tau, dt=sweep.dt, steps=sweep.horizon, history=True)

        return np, on_processor
    gpu = lw.compile(arm, device="cuda")
    import cupy as cp

    def on_gpu(q: Any, qd: Any, forces: Any) -> Any:
        push = cp.asarray(forces, dtype=cp.float32)
        tau = cp.stack([push, cp.zeros_like(push)], axis=-1)
        starts = [cp.asarray(np.tile(x, (sweep.samples, 1)), dtype=cp.float32) for x in (q, qd)]
        return gpu.rollout(*starts, tau, dt=sweep.dt, steps=sweep.horizon, history=True)

    return cp, on_gpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--samples", type=int, default=Sweep.samples)
    given = parser.parse_args()
    start = time.perf_counter()
    found = swing_up(given.device, sweep=Sweep(samples=given.samples))
    taken = time.perf_counter() - start
    for t, x, angle in found[::20]:
        print(
            f"t = {t:4.2f} s   x = {x:6.2f} m   angle from upright = {np.degrees(angle):7.1f} deg"
        )
    print(
        f"{given.samples} samples of {Sweep.horizon} steps, "
        f"{len(found) - 1} times, in {taken:.2f} s"
    )


if __name__ == "__main__":
    main()
