"""The figure of frames, angles and signs for the page of conventions, from computed placements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np

import linkwright as lw

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILE = """
name = "frames"
[parameters]
l1 = 1.0
[bodies.upper]
mass = 1
center = [0.6, 0.17, 0]
inertia = [0, 0.1, 0.1]
[bodies.lower]
mass = 1
center = [0.6, 0.13, 0]
inertia = [0, 0.1, 0.1]
[joints.q1]
type = "revolute"
child = "upper"
origin = [1.15, 0.1, 0]
[joints.q2]
type = "revolute"
parent = "upper"
child = "lower"
origin = ["l1", 0, 0]
"""
CENTERS = {"upper": (0.6, 0.17, 0.0, 1.0), "lower": (0.6, 0.13, 0.0, 1.0)}
Q = (0.55, 0.75)
STYLE = {"font.size": 9, "svg.fonttype": "none", "font.family": "sans-serif"}
BLUE, RED, GREEN, GRAY = "#0072B2", "#D55E00", "#009E73", "#808080"


def arrow(axes: Axes, start: np.ndarray, end: np.ndarray, color: str, width: float = 1.4) -> None:
    axes.annotate(
        "", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": width,
                                    "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip


def frame(axes: Axes, placement: np.ndarray, name: str, right: float = 0.0) -> None:
    """The axes of a frame: x in red, y in green, z as a dot towards the reader."""
    origin, size = placement[:2, 3], 0.3
    for column, color, letter in ((0, RED, "x"), (1, GREEN, "y")):
        end = origin + size * placement[:2, column]
        arrow(axes, origin, end, color)
        axes.text(
            *(end + 0.06 * placement[:2, column]), letter, color=color, ha="center", va="center"
        )
    axes.plot(*origin, "o", ms=6, mfc="white", mec="black", zorder=5)
    axes.plot(*origin, "o", ms=1.6, color="black", zorder=6)
    side = "left" if right else "center"
    axes.text(origin[0] + right, origin[1] - 0.08, name, ha=side, va="top")


def angle(axes: Axes, at: np.ndarray, first: float, turn: float, name: str) -> None:
    """An angle from a dashed direction on, with an arrow in its positive sense."""
    reach, radius = 0.75, 0.5
    axes.plot(*(at[:, None] + reach * np.array([[0, np.cos(first)], [0, np.sin(first)]])),
              ls=(0, (4, 3)), lw=0.8, color=GRAY)  # fmt: skip
    sweep = first + np.linspace(0, turn, 40)
    arc = at + radius * np.stack([np.cos(sweep), np.sin(sweep)], axis=-1)
    axes.plot(*arc[:-2].T, color="black", lw=1)
    arrow(axes, arc[-4], arc[-1], "black", 1.0)
    middle = first + turn / 2
    axes.text(
        *(at + 1.18 * radius * np.array([np.cos(middle), np.sin(middle)])),
        name,
        ha="center",
        va="center",
    )


def draw_frames(path: Path) -> None:
    """Two links: ground, the frames of both bodies at their joints, angles, vectors of the file."""
    from matplotlib.figure import Figure

    arm = lw.load(FILE)
    model = lw.compile(arm)
    ground, upper, lower = np.eye(4), model.placement("upper")(Q), model.placement("lower")(Q)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.9))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_aspect("equal")
        axes.axis("off")
        tip = lower @ np.array([1.05, 0, 0, 1])
        for a, b in ((upper[:2, 3], lower[:2, 3]), (lower[:2, 3], tip[:2])):
            axes.plot(*np.stack([a, b]).T, lw=9, color="#d5dde5", solid_capstyle="round", zorder=0)
        angle(axes, upper[:2, 3], 0.0, Q[0], "$q_1$")
        angle(axes, lower[:2, 3], Q[0], Q[1], "$q_2$")
        frame(axes, upper, "joint q1,\nframe of upper")
        frame(axes, lower, "joint q2,\nframe of lower", 0.1)
        frame(axes, ground, "ground")
        for start, end, word, place in (
            (ground, upper[:2, 3], "origin of q1", (0.62, 0.16)),
            (upper, (upper @ CENTERS["upper"])[:2], "center of upper", (1.52, 0.66)),
            (lower, (lower @ CENTERS["lower"])[:2], "center of lower", (1.95, 1.24)),
        ):
            arrow(axes, start[:2, 3], end, BLUE, 1.0)
            axes.text(
                *place, word, color=BLUE, va="center", ha="center" if start is ground else "right"
            )
            if start is not ground:
                axes.plot(*end, "o", ms=5, color=BLUE, zorder=5)
        axes.text(
            -0.18,
            1.6,
            "z points towards you: counter-clockwise\nangles and moments are positive",
            va="top",
        )
        axes.set_xlim(-0.3, 3.3)
        axes.set_ylim(-0.35, 1.85)
        figure.savefig(path)
