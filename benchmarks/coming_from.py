"""The table of docs/coming-from.md for the Robotics Toolbox: every row by both packages.

    python benchmarks/coming_from.py

Needs roboticstoolbox-python (extra `bench`). Prints the largest relative difference of each row.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import linkwright as lw

PAGE = Path(__file__).parents[1] / "docs/coming-from.md"
TOLERANCE = 1e-10

HALF = np.pi / 2

LINKS = [
    {"d": 0.4, "a": 0.1, "alpha": HALF, "m": 3.0, "r": [0, -0.1, 0.03], "I": [0.3, 0.2, 0.3]},
    {"d": 0.1, "a": 0.5, "alpha": 0.0, "m": 4.0, "r": [-0.2, 0.01, 0.05], "I": [0.1, 0.5, 0.45]},
    {"d": 0.05, "a": 0.05, "alpha": -HALF, "m": 2.0, "r": [0, 0.02, 0.1], "I": [0.1, 0.1, 0.05]},
    {"d": 0.4, "a": 0.0, "alpha": HALF, "m": 1.0, "r": [0, 0.05, 0], "I": [0.02, 0.01, 0.02]},
    {"d": 0.0, "a": 0.0, "alpha": -HALF, "m": 0.5, "r": [0, 0, 0.02], "I": [0.01, 0.01, 0.008]},
    {"d": 0.1, "a": 0.0, "alpha": 0.0, "m": 0.2, "r": [0, 0, 0.03], "I": [0.002, 0.002, 0.001]},
]  # fmt: skip
"""A six-axis arm: standard Denavit–Hartenberg parameters, inertias about the centres of mass."""


@cache
def arms() -> SimpleNamespace:
    """The arm as a model of ours and as one of the Robotics Toolbox, in one state."""
    import roboticstoolbox as rtb

    links = [rtb.RevoluteDH(**link, Jm=0.0, G=1.0, B=0.0, Tc=[0.0, 0.0]) for link in LINKS]
    theirs = rtb.DHRobot(links, name="arm", gravity=[0, 0, -9.81])
    tables = "\n".join(
        f"[[links]]\nd = {x['d']!r}\na = {x['a']!r}\nalpha = {float(x['alpha'])!r}\n"
        f"mass = {x['m']!r}\ncenter = {x['r']!r}\ninertia = {x['I']!r}\n"
        for x in LINKS
    )
    head = 'name = "arm"\nconvention = "standard"\ngravity = [0, 0, -9.81]\n'
    arm = lw.load(head + tables)
    rng = np.random.default_rng(1)
    q, qd, qdd, tau = rng.uniform(-1, 1, (4, 6))
    model = lw.compile(arm)
    frame = "tool" if "tool" in arm.frames else model.body_names[-1]
    return SimpleNamespace(
        arm=arm, model=model, theirs=theirs, q=q, qd=qd, qdd=qdd, tau=tau, tool=frame
    )


def swap(rows: np.ndarray) -> np.ndarray:
    """Linear, then angular rows in our order; for 6 × 6 matrices also the columns."""
    return np.concatenate([rows[3:], rows[:3]])


def both_tool_inertias(c: SimpleNamespace) -> tuple[Any, Any]:
    """Λ⁻¹ of the translation: their rotation is that of roll, pitch and yaw."""
    ours = np.linalg.inv(c.model.operational_inertia(c.tool)(c.q))
    return ours[3:, 3:], np.linalg.inv(c.theirs.inertia_x(c.q))[:3, :3]


def manipulabilities(c: SimpleNamespace) -> np.ndarray:
    return np.array([c.theirs.manipulability(c.q, axes=axes) for axes in ("all", "rot", "trans")])


def both_terms(c: SimpleNamespace) -> tuple[Any, Any]:
    ours = c.model.mass_matrix(c.q), c.model.coriolis_matrix(c.q, c.qd) @ c.qd, c.model.gravity(c.q)
    theirs = c.theirs.inertia(c.q), c.theirs.coriolis(c.q, c.qd) @ c.qd, c.theirs.gravload(c.q)
    return np.concatenate([np.ravel(x) for x in ours]), np.concatenate(
        [np.ravel(x) for x in theirs]
    )


def both_inverse_kinematics(c: SimpleNamespace) -> tuple[Any, Any]:
    """Both reach the placement that they are given."""
    T = c.theirs.fkine(c.q).A
    ours = lw.motion.inverse_kinematics(c.arm, {c.tool: T}, start=c.q + 0.1).q
    theirs = c.theirs.ikine_LM(T, q0=c.q + 0.1, tol=1e-16).q
    return c.model.placement(c.tool)(ours).round(8), c.theirs.fkine(theirs).A.round(8)


def both_trajectories(c: SimpleNamespace) -> tuple[Any, Any]:
    import roboticstoolbox as rtb

    t = np.linspace(0, 2.0, 21)
    return lw.motion.quintic(c.q, c.qd, 2.0)(t)[0], rtb.jtraj(c.q, c.qd, t).q


CHECKS: dict[str, Callable[[SimpleNamespace], tuple[Any, Any]]] = {
    "DHRobot": lambda c: (c.model.nv, c.theirs.n),
    "fkine": lambda c: (c.model.placement(c.tool)(c.q), c.theirs.fkine(c.q).A),
    "jacob0(": lambda c: (c.model.jacobian(c.tool)(c.q), swap(c.theirs.jacob0(c.q))),
    "jacob0_dot": lambda c: (
        c.model.jacobian_rate(c.tool)(c.q, c.qd),
        swap(c.theirs.jacob0_dot(c.q, c.qd)),
    ),
    "rne": lambda c: (c.model.inverse_dynamics(c.q, c.qd, c.qdd), c.theirs.rne(c.q, c.qd, c.qdd)),
    "accel": lambda c: (
        c.model.forward_dynamics(c.q, c.qd, c.tau),
        c.theirs.accel(c.q, c.qd, c.tau),
    ),
    "inertia(q)": both_terms,
    "inertia_x": both_tool_inertias,
    "manipulability": lambda c: (
        np.array(c.model.manipulability(c.tool)(c.q)),
        manipulabilities(c),
    ),
    "ikine_LM": both_inverse_kinematics,
    "jtraj": both_trajectories,
}


def rows_of_page() -> list[str]:
    """The left cells of the table of the Robotics Toolbox."""
    rest = PAGE.read_text(encoding="utf-8").split("\n## Robotics Toolbox\n")[1]
    text = rest.split("\n## ")[0]
    return [line.split(" | ")[0][2:] for line in text.splitlines() if line.startswith("| `")]


def main() -> int:
    worst = 0.0
    for row in rows_of_page():
        (key,) = (key for key in CHECKS if key in row)
        ours, theirs = (np.asarray(x, dtype=float) for x in CHECKS[key](arms()))
        size = max(float(np.abs(theirs).max()), 1e-3)
        error = float(np.abs(ours - theirs).max()) / size
        worst = max(worst, error)
        print(f"{error:8.1e}  {row}")
    return int(worst > TOLERANCE)


if __name__ == "__main__":
    sys.exit(main())
