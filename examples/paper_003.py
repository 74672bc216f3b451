"""Figures 3 to 7 of Virgala et al. (2016): six links go from q = 0 to the point (1, 2) in 60 s.

The paper gives links of 1 m, and no masses: here each weighs 1 kg, is uniform (inertia m l²/12) and
has no friction. Target → joints (damped least squares) → quintics → torques (inverse dynamics).
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import linkwright as lw
from linkwright.motion import plan_to

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = Path("out")
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
arm = lw.gallery("chain-6")
plan = plan_to(arm, "tool", [[1.0, 2.0]], 60.0, start=np.zeros(6))


def saved(figure: plt.Figure, number: int) -> None:
    for ending in ("svg", "png"):
        figure.savefig(OUT / f"paper_003_figure_{number}.{ending}", dpi=200)


def configurations() -> None:
    frames = [lw.compile(arm).placement(name) for name in (*arm.bodies, "tool")]
    figure, axes = plt.subplots(figsize=(3.6, 2.6), layout="constrained")
    for q, colour, label in ((plan.q[0], "0.6", "initial"), (plan.q[-1], COLOURS[0], "goal")):
        points = np.array([frame(q)[:2, 3] for frame in frames])
        axes.plot(*points.T, "-o", color=colour, ms=3.5, label=label)
    axes.plot(1, 2, "x", color=COLOURS[5], ms=8, mew=2, label="point (1, 2)")
    axes.set(xlabel="x / m", ylabel="y / m", aspect="equal", ylim=(-1, 3.4))
    axes.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", columnspacing=1)
    saved(figure, 3)


def courses(number: int, rows: np.ndarray, label: str) -> None:
    figure, axes = plt.subplots(figsize=(3.6, 2.6), layout="constrained")
    for k, colour in enumerate(COLOURS):
        axes.plot(plan.t, rows[:, k], color=colour, label=f"joint {k + 1}")
    axes.set(xlabel="time / s", ylabel=label, xlim=(0, 60))
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    saved(figure, number)


OUT.mkdir(exist_ok=True)
configurations()
courses(4, np.degrees(plan.q), "angle / °")
courses(5, np.degrees(plan.qd), "angular velocity / °/s")
courses(6, np.degrees(plan.qdd), "angular acceleration / °/s²")
courses(7, plan.tau, "torque / N·m")
print(f"goal / °: {np.degrees(plan.q[-1]).round(2)}")
print(f"largest torques / N·m: {abs(plan.tau).max(0).round(2)}")
