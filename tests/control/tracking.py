"""How well each controller follows: the table of docs/reference/controllers.md, measured.

python -m tests.control.tracking
"""

from __future__ import annotations

import numpy as np

import linkwright as lw
from linkwright.control import adaptive, computed_torque, coordinated, operational, pd_gravity, pid
from linkwright.motion import Trajectory, quintic
from linkwright.simulation.feedback import Feedback

ELBOW, SIX = lw.gallery("elbow"), lw.gallery("six-axis").without("friction")
HEAVIER = {
    "elbow": ELBOW.with_parameters(m1=1.2, m2=1.2),
    "six-axis": SIX.with_parameters(
        m1=26.4, m2=16.8, m3=10.8, m4=4.8, m5=2.16, m6=0.48
    ),
}  # fmt: skip
WAYS = {
    "elbow": quintic([-0.5, 1.2], [0.5, 0.4], 1.5),
    "six-axis": quintic([0.1, 0.3, 0.5, 0.2, 0.7, 0.1], [1.0, 0.8, 0.0, 0.8, 0.2, 1.0], 1.5),
}
GAINS = {
    "elbow": {"kp": [400, 200], "ki": [400, 200], "kd": [60, 20]},
    "six-axis": {
        "kp": [8000, 8000, 4000, 800, 800, 400], "ki": [8000, 8000, 4000, 800, 800, 400],
        "kd": [800, 800, 400, 60, 60, 30],
    },
}  # fmt: skip
NAMES = ("pid", "coordinated", "pd_gravity", "computed_torque", "computed_torque, every 2 ms",
         "adaptive", "operational")  # fmt: skip


def controller(name: str, arm: lw.Mechanism) -> Feedback:
    """Made for the arm as its file says."""
    way, k = WAYS[arm.name], GAINS[arm.name]
    match name:
        case "pid":
            return pid(arm, way, **k)
        case "coordinated":
            return coordinated(arm, way, **k)
        case "pd_gravity":
            return pd_gravity(arm, way, k["kp"], k["kd"])
        case "computed_torque":
            return computed_torque(arm, way, 400)
        case "computed_torque, every 2 ms":
            return computed_torque(arm, way, 400, period=0.002)
        case "adaptive":
            return adaptive(arm, way, 20, k["kd"], 5.0)
    frame = lw.compile(arm).placement("tool")
    points = frame(np.array([way.start, way.end]))[:, :3, 3]
    if arm.name == "elbow":
        return operational(arm, "tool", quintic(*points[:, :2], 1.5), 400, plane=True)
    return operational(arm, "tool", quintic(*points, 1.5), 400, posture=way.start)


def error(name: str, arm: lw.Mechanism, real: lw.Mechanism) -> float:
    """The largest over 2 s: of the joints in mrad, of the tool in mm for operational control."""
    way: Trajectory = WAYS[arm.name]
    run = lw.simulate(
        real, 2.0, q0=way.start, torque=controller(name, arm), integrator="radau", rtol=1e-6,
        samples=401,
    )  # fmt: skip
    assert run.finished
    if name == "coordinated":
        return 1e3 * float(np.abs(run.q - way(run.control["clock"])[0]).max())
    if name != "operational":
        return 1e3 * float(np.abs(run.q - way(run.t)[0]).max())
    frame = lw.compile(arm).placement("tool")
    points = frame(np.array([way.start, way.end]))[:, :3, 3]
    wanted = quintic(*points, 1.5)(run.t)[0]
    return 1e3 * float(np.linalg.norm(frame(run.q)[:, :3, 3] - wanted, axis=1).max())


def row(name: str) -> list[float]:
    """The elbow, a heavier elbow, the six-axis arm, a heavier one."""
    return [error(name, a, b) for a in (ELBOW, SIX) for b in (a, HEAVIER[a.name])]


def cells(name: str) -> list[str]:
    return [f"{x:.2g}" if x >= 1e-3 else "< 0.001" for x in row(name)]


if __name__ == "__main__":
    for name in NAMES:
        print(f"| `{name}` | {' | '.join(cells(name))} |", flush=True)
