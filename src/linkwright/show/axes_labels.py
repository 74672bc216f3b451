"""Labels of points on axes, written where they cover nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .figure_style import GRAY_COLOR
from .label_placement import LabelBox, find_label_positions
from .label_text import strip_label_markup
from .paper_transform import PaperTransform, drawn_label_obstacles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text


_LABEL_FONT_SIZE = 7.0
"""Size of the letters of labels, points."""

LABEL_TAG, LEADER_TAG = "_label", "_leader"
"""Tags of the texts and lines of labels: `_label:3` and `_leader:3` belong together."""


@dataclass(frozen=True)
class Label:
    """A text for points that lie together, and the radius of the glyphs drawn there; both in the
    units of the axes."""

    text: str
    points: Floats
    glyph_radius: float = 0.0


def group_labels(names: Sequence[str], spots: Sequence[Floats], reach: float) -> list[Label]:
    """Labels of points, one for all points within a glyph's size of each other, in their order."""
    groups: list[list[int]] = []
    for k, spot in enumerate(spots):
        for group in groups:
            if all(np.linalg.norm(spot - spots[j]) < 2 * reach for j in group):
                group.append(k)
                break
        else:
            groups.append([k])
    return [
        Label(
            wrap_label_names([names[k] for k in group]), np.array([spots[k] for k in group]), reach
        )
        for group in groups
    ]


def wrap_label_names(names: Sequence[str], most: int = 16) -> str:
    """The distinct names separated by commas, in lines of about `most` letters."""
    lines = [""]
    for name in dict.fromkeys(names):
        if lines[-1] and len(strip_label_markup(lines[-1])) + len(strip_label_markup(name)) > most:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + name
    return ",\n".join(lines)


def draw_labels(axes: Axes, labels: Sequence[Label]) -> None:
    """Draws each label near its points, away from all that is drawn and from other labels.

    A label that is not beside its own point, or as near to another one, gets a thin leader.
    """
    if not labels:
        return
    paper = PaperTransform.after_layout(axes)
    obstacles = drawn_label_obstacles(paper)
    texts = [_write_label(axes, label) for label in labels]
    boxes = [
        LabelBox(paper.text_size(text), paper(label.points), paper.length_mm(label.glyph_radius))
        for text, label in zip(texts, labels, strict=True)
    ]
    for k, position in enumerate(find_label_positions(boxes, obstacles)):
        texts[k].set_position(tuple(paper.to_data(position.center)[0]))
        texts[k].set_label(f"{LABEL_TAG}:{k}")
        texts[k].set_in_layout(False)
        if position.leader is not None:
            line = paper.to_data(position.leader)
            (drawn,) = axes.plot(line[:, 0], line[:, 1], color=GRAY_COLOR, lw=0.5, zorder=8.5)
            drawn.set_label(f"{LEADER_TAG}:{k}")
            drawn.set_in_layout(False)


def _write_label(axes: Axes, label: Label) -> Text:
    """The text of a label, written at the first of its points."""
    return axes.text(
        *label.points[0],
        label.text,
        fontsize=_LABEL_FONT_SIZE,
        ha="center",
        va="center",
        linespacing=1.1,
        zorder=9,
    )
