"""Orange marks on the figures of joints, constraints and forces: what a coordinate or force means.

The sense of each coordinate is not written down here but comes from the Jacobian of the child.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwright as lw
from linkwright.mechanism import joint_velocity_names
from linkwright.show.mechanism_scene import mechanism_scene

COLOR = "#D55E00"
ARC = np.radians(np.linspace(-15.0, 75.0, 30))
"""A quarter of a turn; a velocity is an arrow of a quarter of the picture."""
LABEL_GAP = 0.05
"""Distance of a label from the head of its arrow, as a share of the picture."""
LETTER_WIDTH = 0.028
"""Width of a letter as a share of the picture."""
MARGIN = 0.06


@dataclass(frozen=True)
class Mark:
    """A line in space; with a head, an arrow; with a label, beside its end."""

    points: np.ndarray
    label: str = ""
    has_head: bool = True
    style: str = "-"


def straight_mark(start: Any, along: Any, label: str = "") -> Mark:
    """Returns an arrow from a point."""
    start = np.asarray(start, float)
    return Mark(np.array([start, start + np.asarray(along, float)]), label)


def turn_mark(center: Any, axis: Any, radius: float, label: str = "") -> Mark:
    """Returns an arc about an axis, in its positive sense."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    across = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, np.cross(across, axis))
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    turned = np.outer(np.cos(ARC), first) + np.outer(np.sin(ARC), second)
    return Mark(np.asarray(center, float) + radius * turned, label)


def picture_size(figure: Any) -> float:
    """Returns the smaller side of a picture, m."""
    axes = figure.axes[0]
    return float(min(np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())))


def joint_marks(mechanism: lw.Mechanism, name: str, q: Any, size: float) -> list[Mark]:
    """Returns the axis and the positive sense of each velocity of a joint, for a picture's size."""
    joint, model = mechanism.joints[name], lw.compile(mechanism)
    place, jacobian = model.placement(joint.child)(q)[:3, 3], model.jacobian(joint.child)(q)
    marks: list[Mark] = []
    for velocity in joint_velocity_names(name, joint):
        label = velocity.rpartition(".")[2]
        turn, slide = np.split(jacobian[:, list(model.names.qd).index(velocity)], 2)
        if np.linalg.norm(turn) < 1e-9:
            marks.append(straight_mark(place, 0.35 * size * slide / np.linalg.norm(slide), label))
            continue
        axis = turn / np.linalg.norm(turn)
        center = place + np.cross(axis, slide - axis * (axis @ slide)) / np.linalg.norm(turn)
        ends = center + 0.35 * size * np.outer([-1.0, 1.0], axis)
        marks.append(Mark(ends, has_head=False, style=(0, (6, 3, 1, 3))))
        marks.append(turn_mark(center, axis, 0.24 * size, label))
    return marks


def listed_marks(mechanism: lw.Mechanism, q: Any, entries: Iterable[dict[str, Any]]) -> list[Mark]:
    """Returns the marks that an example lists: arrows and turns at frames, and surfaces."""
    marks: list[Mark] = []
    model = lw.compile(mechanism)
    for one in entries:
        at = model.placement(one["at"])(q)[:3, 3] if "at" in one else np.zeros(3)
        if "along" in one:
            marks.append(straight_mark(at, one["along"], one.get("label", "")))
        elif "about" in one:
            marks.append(turn_mark(at, one["about"], one["radius"], one.get("label", "")))
        elif "plane" in one:
            marks += plane_lines(np.asarray(one["plane"], float), one["half"])
        else:
            marks += bowl_lines(one["bowl"], one["radius"])
    return marks


def plane_lines(center: np.ndarray, half: float) -> list[Mark]:
    """Returns the grid of a level plane."""
    ticks, ends = np.linspace(-half, half, 7), np.array([-half, half])
    lines = [np.stack([np.full(2, k), ends, np.zeros(2)], axis=-1) for k in ticks]
    lines += [line[:, [1, 0, 2]] for line in lines]
    return [Mark(center + line, has_head=False) for line in lines]


def bowl_lines(factor: float, radius: float) -> list[Mark]:
    """Returns circles and profiles of the paraboloid z = factor (x² + y²)."""
    turn, lines = np.linspace(0, 2 * np.pi, 61), []
    for r in np.linspace(radius / 4, radius, 4):
        lines.append(np.stack([r * np.cos(turn), r * np.sin(turn), 0 * turn + factor * r**2], -1))
    r = np.linspace(0, radius, 30)
    for angle in turn[:-1:5]:
        lines.append(np.stack([r * np.cos(angle), r * np.sin(angle), factor * r**2], -1))
    return [Mark(line, has_head=False) for line in lines]


def draw_marks(figure: Any, mechanism: lw.Mechanism, view: Any, marks: list[Mark]) -> None:
    """Draws marks on a figure of a mechanism, and enlarges the figure where they need room."""
    axes, seen = figure.axes[0], mechanism_scene(mechanism).view(view)
    lines = [seen(mark.points) for mark in marks]
    low, high = (np.array(pair) for pair in zip(axes.get_xlim(), axes.get_ylim(), strict=True))
    size = float((high - low).max())
    gap = LABEL_GAP * size
    for mark, line in zip(marks, lines, strict=True):
        is_grid = not mark.has_head and mark.style == "-"
        color, width = ("#bbbbbb", 0.6) if is_grid else (COLOR, 1.4 if mark.has_head else 0.8)
        axes.plot(*line.T, color=color, lw=width, ls=mark.style, zorder=0.5 if is_grid else 5,
                  clip_on=False)  # fmt: skip
        if mark.has_head:
            axes.annotate("", xy=line[-1], xytext=line[-2] if len(line) > 2 else line[0],
                          annotation_clip=False, zorder=5,
                          arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.4,
                                      "shrinkA": 0, "shrinkB": 0})  # fmt: skip
        if mark.label:
            step = (line[-1] - line[-2]) / max(float(np.linalg.norm(line[-1] - line[-2])), 1e-12)
            room = np.array([LETTER_WIDTH * len(mark.label) * size, gap])  # half of it each way
            ahead = line[-1] + gap * step + step * [room[0] / 2, 0.0]
            axes.text(*ahead, mark.label, color=COLOR, ha="center", va="center", zorder=6,
                      clip_on=False, fontsize=8)  # fmt: skip
            low, high = np.minimum(low, ahead - room / 2), np.maximum(high, ahead + room / 2)
        low = np.minimum(low, line.min(axis=0) - MARGIN * gap)
        high = np.maximum(high, line.max(axis=0) + MARGIN * gap)
    width, height = high - low
    old_width, old_height = np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim())
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    figure.set_figheight(figure.get_figheight() * (height / width) / (old_height / old_width))
