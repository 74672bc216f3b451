"""Arrows for the parts of accelerations in a polygon, a colour for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .acceleration_components import AccelerationPart, center_image_point_name
from .arrows import draw_arrow
from .axes_labels import Label
from .figure_style import line_color
from .label_text import formula_index

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .view_direction import View

ACCELERATION_LETTERS = {"normal": "n", "tangential": "t", "Coriolis": "c", "sliding": "s"}
"""The letters by which parts of accelerations are labelled."""


def draw_acceleration_parts(
    axes: Axes, view: View, parts: Sequence[AccelerationPart], size: float
) -> list[Label]:
    """Draws the parts of accelerations as arrows, a colour for each kind, and returns their labels;
    parts that are too short to see have none."""
    labels: list[Label] = []
    drawn: set[str] = set()
    for part in parts:
        along = view(part.vector)
        if np.linalg.norm(along) < 1e-3 * size:
            continue
        paint = line_color(list(ACCELERATION_LETTERS).index(part.kind))
        start = view(part.start)
        draw_arrow(axes, start, along, paint)
        axes.plot(
            [], [], color=paint, lw=1.1, label=f"_{part.kind}" if part.kind in drawn else part.kind
        )
        drawn.add(part.kind)
        text = _acceleration_part_label(part)
        if text not in {label.text for label in labels}:
            labels.append(Label(text, (start + along / 2)[None]))
    return labels


def _acceleration_part_label(part: AccelerationPart) -> str:
    """The label of a part: a with the letter of its kind above, and its point, and base, below."""
    is_turning = part.kind in ("normal", "tangential")
    names = [part.point, part.base] if part.base and is_turning else [part.point]
    mass = center_image_point_name(part.body)
    index = "/".join("G" if name == mass else formula_index(name) for name in names)
    return f"$a^{ACCELERATION_LETTERS[part.kind]}_{{{index}}}$"
