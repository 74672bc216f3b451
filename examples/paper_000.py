"""Paper 000 (Vukobratović and Potkonjak, 1979), step by step: python examples/paper_000.py.

The recurrent method on an arm of three turns: its equations, the model of one instant, both
problems, and figures 6 to 8. The gripper goes straight up at 2 m/s² for 1 s, from
φ = (π, −π/2, −π/2). The text gives masses, but no lengths and inertias: those of the gallery leave
room for 1 m of travel. Pictures are written to out/pictures, or to the folder that is named.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright.formulations.recurrent import at_instant
from linkwright.motion import MotionPlan, accelerated, line, planned
from linkwright.show import HistoryLine, Panel, over_time

START, ACCELERATION, TRAVEL = [np.pi, -np.pi / 2, -np.pi / 2], 2.0, 1.0
EULER_STEP = 2e-3


def print_instant(arm: lw.Mechanism) -> None:
    """The quantities of one instant (18)–(30), at the start, and the time to form them."""
    model = at_instant(arm, START, [0.0, 0.0, 0.0])
    for i, body in enumerate(arm.bodies, start=1):
        print(f"\nM^({i}), body {body}\n{model.M[body].round(3) + 0.0}")
        print(f"Z_{i}\n{model.Z[body].round(3) + 0.0}")
    print(f"\nW = Σ Z_i\n{model.W.round(3) + 0.0}\nY = {model.Y.round(3)}")
    begin = time.perf_counter()
    for _ in range(20):
        at_instant(arm, START, [0.1, 0.2, 0.3])
    spent = (time.perf_counter() - begin) / 20
    print(f"time to form the equations: {1e3 * spent:.2f} ms (PDP-11/45: 300 ms)")


def solve_inverse_problem(arm: lw.Mechanism) -> tuple[MotionPlan, np.ndarray]:
    """Joint motions whose gripper rises, and the torques P = W q̈ − V, instant by instant."""
    lift = line(arm, "gripper", START, [0, 0, TRAVEL], lambda way: accelerated(way, ACCELERATION))
    plan = planned(arm, "gripper", lift, samples=201)
    states = zip(plan.q, plan.qd, plan.qdd, strict=True)
    return plan, np.array([at_instant(arm, q, qd).forces(qdd) for q, qd, qdd in states])


def solve_direct_problem(arm: lw.Mechanism, plan: MotionPlan) -> tuple[lw.simulation.Run, float]:
    """The motion under these torques: by the simulator, and as the paper integrates, with
    accelerations that are constant in each small time step. Returns the run and the rise, m."""

    def torques(t: float, *_: object) -> np.ndarray:
        q, qd, qdd = plan.trajectory(t)
        return at_instant(arm, q, qd).forces(qdd)

    run = lw.simulate(arm, t=1.0, q0=START, torque=torques, by="recurrent")
    q, qd = np.array(START), np.zeros(3)
    for t in np.arange(0.0, 1.0, EULER_STEP):
        qdd = at_instant(arm, q, qd).accelerations(torques(t))
        q, qd = q + EULER_STEP * qd + EULER_STEP**2 / 2 * qdd, qd + EULER_STEP * qdd
    place = lw.compile(arm).placement("gripper")
    return run, float(place(q)[2, 3] - place(START)[2, 3])


def panel(what: str, unit: str, head: str, values: np.ndarray) -> Panel:
    """The histories of the three joints."""
    lines = (HistoryLine(f"{k + 1}", f"${head}_{k + 1}$", values[:, k]) for k in range(3))
    return Panel(what, unit, tuple(lines))


def main(folder: Path, ending: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    arm = lw.gallery("vukobratovic-arm")
    print(lw.derive(arm, by="recurrent").equation_set())
    print_instant(arm)

    plan, torques = solve_inverse_problem(arm)
    run, euler_rise = solve_direct_problem(arm, plan)
    place = lw.compile(arm).placement("gripper")
    rise = (place(run.q[-1]) - place(run.q[0]))[:3, 3]
    print(f"\ninverse problem: torques at the end {torques[-1].round(3) + 0.0} N·m")
    print(f"direct problem: these torques move the gripper by {rise.round(6) + 0.0} m")
    print(f"with steps of {1e3 * EULER_STEP:g} ms, as in the paper: {euler_rise:.4f} m")

    motion = [
        panel("angle", "rad", r"\varphi", plan.q),
        panel("angular velocity", "rad/s", r"\dot\varphi", plan.qd),
        panel("angular acceleration", "rad/s²", r"\ddot\varphi", plan.qdd),
    ]
    plan.draw(path=folder / f"paper-000-figure-6.{ending}")
    over_time(plan.t, motion, path=folder / f"paper-000-figure-7.{ending}")
    over_time(
        plan.t, [panel("torque", "N·m", "P", torques)], path=folder / f"paper-000-figure-8.{ending}"
    )

    heavier = arm.with_parameters(l2=1.8, l3=1.4)  # which of two configurations for this task?
    points = [place(START)[:3, 3], place(START)[:3, 3] + [0, 0, TRAVEL]]
    print(f"\n{lw.comparison.compare_on_task([arm, heavier], points, 1.0)}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/pictures"), *sys.argv[2:3])
