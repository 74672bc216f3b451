"""Rollouts beside `mujoco.rollout`, in one run: `make bench`.

    python benchmarks/rollouts.py [--seconds 2] [--write]

The same robots, from our own export, without contacts, limits and losses; RK4, steps of 1 ms, one
thread. Before anything is timed, hundred steps are compared. Best of many, in turn, in time of the
processor for both sides, so that other programs take nothing from the longer calls.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
from timing import best

import linkwright as lw
from robots import Robot, robots

DT, STEPS, ROWS, THEIRS = 1e-3, 100, 1024, 16
TARGETS = {"3-link pendulum": 120, "UR5": 50, "Panda 7": 35}


def pendulum() -> lw.Mechanism:
    """Three rods in a plane; MuJoCo reads the same masses and full inertias."""
    bodies, joints = {}, {}
    for k in (1, 2, 3):
        bodies[f"rod{k}"] = {
            "mass": 1, "center": [0.5, 0, 0], "inertia": [0.01, "1/12", "1/12"],
        }  # fmt: skip
        joints[f"q{k}"] = {
            "type": "revolute", "axis": [0, 1, 0], "child": f"rod{k}",
            "parent": "ground" if k == 1 else f"rod{k - 1}",
            "origin": [0, 0, 0] if k == 1 else [1, 0, 0],
        }  # fmt: skip
    return lw.Mechanism(
        name="3-link pendulum", gravity=[0, 0, "-9.81"], bodies=bodies, joints=joints
    )


@dataclass
class Pair:
    """A robot, and the same in MuJoCo."""

    robot: Robot

    def __post_init__(self) -> None:
        self.peer = self.robot.mujoco
        self.peer.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.peer.opt.timestep = DT
        self.data = mujoco.MjData(self.peer)
        model, rng = self.robot.model, np.random.default_rng(0)
        self.q, self.qd = rng.uniform(-1, 1, (2, ROWS, model.nv))
        names = [
            mujoco.mj_id2name(self.peer, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.nv)
        ]
        self.order = [list(model.q_names).index(name) for name in names]
        states = [self.q[:THEIRS, self.order], self.qd[:THEIRS, self.order]]
        self.start = np.concatenate([np.zeros((THEIRS, 1)), *states], axis=1)

    def ours(self, history: bool = False) -> tuple[np.ndarray, np.ndarray]:
        return lw.rollout(
            self.robot.model, self.q, self.qd, None, DT, STEPS, history=history, threads=1
        )

    def theirs(self) -> np.ndarray:
        return mujoco.rollout.rollout(self.peer, self.data, self.start, nstep=STEPS)[0]

    def difference(self) -> float:
        """Return the largest difference between the trajectories over all steps."""
        n = len(self.order)
        found = self.theirs()[..., 1 : 1 + 2 * n]
        q, qd = (x[:THEIRS, 1:][..., self.order] for x in self.ours(history=True))
        return float(np.abs(np.concatenate([q, qd], axis=-1) - found).max())


def measured(seconds: float) -> str:
    lines = [
        "| RK4, one thread | 3-link pendulum | UR5 | Panda 7 |", "|---|---|---|---|",
    ]  # fmt: skip
    rows: dict[str, list[str]] = {}
    for robot in (Robot("3-link pendulum", pendulum()), *robots()[:2]):
        pair = Pair(robot)
        apart = pair.difference()
        if not apart < 1e-10:
            raise SystemExit(f"{robot.name}: trajectories differ by {apart:.1e}; nothing was timed")
        ends, whole, theirs = best(
            pair.ours,
            lambda p=pair: p.ours(history=True),
            pair.theirs,
            seconds=seconds,
            clock=time.process_time,
        )
        ours = [t / (ROWS * STEPS) for t in (ends, whole)]
        other = theirs / (THEIRS * STEPS)
        cells = {
            "final states, ns a step": f"{1e9 * ours[0]:.1f}, **{other / ours[0]:.0f}×**",
            "whole histories, ns a step": f"{1e9 * ours[1]:.1f}, **{other / ours[1]:.0f}×**",
            "`mujoco.rollout`, ns a step": f"{1e9 * other:.0f}",
            "target": f"{TARGETS[robot.name]}×",
            "largest difference in 100 steps": f"{apart:.0e}",
        }
        for key, cell in cells.items():
            rows.setdefault(key, []).append(cell)
    lines += [f"| {key} | {' | '.join(cells)} |" for key, cells in rows.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--write", action="store_true", help="into docs/explanation/simulation.md")
    options = parser.parse_args()
    text = measured(options.seconds)
    print(text)
    if options.write:
        page = Path(__file__).parent.parent / "docs/explanation/simulation.md"
        head, rest = page.read_text(encoding="utf-8").split("<!-- rollouts -->\n", 1)
        tail = rest.split("<!-- /rollouts -->", 1)[1]
        marked = f"{head}<!-- rollouts -->\n{text}\n<!-- /rollouts -->{tail}"
        page.write_text(marked, encoding="utf-8")


if __name__ == "__main__":
    main()
