"""Figures 7 and 8 of paper 000 (recurrent Lagrangian method): python examples/paper_000.py.

The gripper of the arm goes straight up at 2 m/s² for 1 s, from φ = (π, −π/2, −π/2). Joint motions
follow from the gripper's by Newton's steps and the Jacobian, drives by the paper's own method.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright.show import HistoryLine, Panel, over_time

START, UP, END = [np.pi, -np.pi / 2, -np.pi / 2], np.array([0, 0, 2.0]), 1.0


def joint_motion(model: lw.Model, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇, q̈ whose gripper is at p0 + a t²/2."""
    place, J = model.placement("gripper"), model.jacobian("gripper")
    path = place(START)[:3, 3] + UP * t[:, None] ** 2 / 2
    q = np.empty((len(t), 3))
    here = np.array(START)
    for k, target in enumerate(path):
        for _ in range(20):
            here = here + np.linalg.solve(J(here)[3:], target - place(here)[:3, 3])
        q[k] = here
    qd = np.linalg.solve(J(q)[:, 3:], (UP * t[:, None])[..., None])[..., 0]
    rest = UP - model.frame_bias_acceleration("gripper")(q, qd)[:, 3:]
    return q, qd, np.linalg.solve(J(q)[:, 3:], rest[..., None])[..., 0]


def panel(what: str, unit: str, head: str, values: np.ndarray) -> Panel:
    lines = (HistoryLine(f"{k + 1}", f"${head}_{k + 1}$", values[:, k]) for k in range(3))
    return Panel(what, unit, tuple(lines))


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    model = lw.compile(lw.derive(lw.gallery("vukobratovic-arm"), by="recurrent"))
    t = np.linspace(0, END, 201)
    q, qd, qdd = joint_motion(model, t)
    tau = model.inverse_dynamics(q, qd, qdd)
    motion = [
        panel("angle", "rad", r"\varphi", q), panel("angular speed", "rad/s", r"\dot\varphi", qd),
        panel("angular acceleration", "rad/s²", r"\ddot\varphi", qdd),
    ]  # fmt: skip
    over_time(t, motion, path=folder / f"paper-000-figure-7.{ending}")
    over_time(t, [panel("torque", "N·m", "P", tau)], path=folder / f"paper-000-figure-8.{ending}")
    rise = (model.placement("gripper")(q[-1]) - model.placement("gripper")(q[0]))[:3, 3]
    print(f"the gripper moved by {np.round(rise, 9)} m; torques at the end {tau[-1].round(3)} N·m")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
