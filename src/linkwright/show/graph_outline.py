"""The graph of a mechanism with many branches: an indented row for each body, loops beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..mechanism import GROUND, Mechanism
from .figure_style import (
    COLUMN_WIDTH,
    FAINT_COLOR,
    GRAY_COLOR,
    INK_COLOR,
    label_text_width,
    line_color,
    new_figure,
)
from .label_text import symbol_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW_HEIGHT, _NAME_PADDING, _TEXT_GAP, _LANE_WIDTH, _FIGURE_RIM = 6.0, 1.0, 1.8, 2.2, 2.0
"""Sizes of a row, around a name, between words, between lines of loops, and at the rims, mm."""
_INDENT_WIDTHS, _FONT_SIZES = (6.0, 5.0, 4.0, 3.0, 2.5), (7.0, 6.5, 6.0, 5.5, 5.0)
"""The indentation of a level, mm; letters of names, points: the largest that fit."""
LOOP_COLOR, CONNECTOR_COLOR = line_color(1), GRAY_COLOR


@dataclass(frozen=True)
class GraphOutlineRow:
    """A row of the outline: a body, its depth, the row of its parent, its joint, and loops that end
    there."""

    name: str
    depth: int
    parent: int
    joint: str
    loops: str


def graph_outline_rows(mechanism: Mechanism) -> list[GraphOutlineRow]:
    """The rows of an outline: ground, then every body below its parent."""
    found, at = [GraphOutlineRow(GROUND, 0, 0, "", "")], {GROUND: 0}
    below: dict[str, list[str]] = {}
    for name, joint in mechanism.joints_depth_first():
        below.setdefault(joint.parent, []).append(name)
    stack, ends = below.get(GROUND, [])[::-1], _outline_loop_labels(mechanism)
    while stack:
        name = stack.pop()
        joint = mechanism.joints[name]
        loops = "; ".join(ends.get(joint.child, []))
        at[joint.child] = len(found)
        up = at[joint.parent]
        word = f"{symbol_label(name)}, {joint.type}"
        found.append(GraphOutlineRow(joint.child, found[up].depth + 1, up, word, loops))
        stack += below.get(joint.child, [])[::-1]
    return found


def _outline_loop_labels(mechanism: Mechanism) -> dict[str, list[str]]:
    """The labels of loops by body, at the body with fewer loops of the two that a loop joins."""
    found: dict[str, list[str]] = {}
    bodies = [body for loop in mechanism.loops.values() for body in (loop.parent, loop.child)]
    for name, loop in mechanism.loops.items():
        ends = [body for body in (loop.child, loop.parent) if body != GROUND]
        body = min(ends, key=bodies.count)
        found.setdefault(body, []).append(f"{symbol_label(name)}, {loop.type}")
    return found


def draw_graph_outline(
    mechanism: Mechanism, ties: Sequence[tuple[str, str]], width: float | None
) -> Figure:
    """Draws bodies as boxes with their joints beside them; dashed lanes are loops, dotted ones
    springs and constraints.

    The figure is wider than asked only if the smallest letters do not fit.
    """
    rows = graph_outline_rows(mechanism)
    lanes = [(loop.parent, loop.child, LOOP_COLOR, "--") for loop in mechanism.loops.values()]
    lanes += [(a, b, CONNECTOR_COLOR, ":") for a, b in ties]
    size, indent, wide = _fit_outline_sizes(rows, len(lanes), width)
    figure = new_figure(wide, max(_ROW_HEIGHT * len(rows) + 3, 20))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, wide), ylim=(25.4 * figure.get_figheight() - 1.5, -1.5))
    axes.set_axis_off()
    for k, row in enumerate(rows):
        _draw_outline_row(axes, k, row, indent, size)
    ends = {row.name: _outline_row_end(row, indent, size) for row in rows}
    for k, row in enumerate(rows[1:], start=1):
        _draw_outline_branch(axes, row, k, indent)
    heights = {row.name: _outline_row_height(k) for k, row in enumerate(rows)}
    right = max(ends.values()) + _TEXT_GAP
    for k, (one, other, paint, dash) in enumerate(lanes):
        x, a, b = right + k * _LANE_WIDTH, heights[one], heights[other]
        path = [(ends[one], a), (x, a), (x, b), (ends[other], b)]
        axes.plot(*zip(*path, strict=True), color=paint, ls=dash, lw=0.9, zorder=2)
    return figure


def _fit_outline_sizes(
    rows: Sequence[GraphOutlineRow], lanes: int, width: float | None
) -> tuple[float, float, float]:
    """Font size (points), indent and width (mm) of an outline: the largest letters that fit the
    width."""
    beside = _FIGURE_RIM + (lanes * _LANE_WIDTH + _TEXT_GAP if lanes else 0.0)
    for size in _FONT_SIZES[:1] if width is None else _FONT_SIZES:
        for indent in _INDENT_WIDTHS:
            end = max(_outline_row_end(row, indent, size) for row in rows) + beside
            if end <= (width or COLUMN_WIDTH):
                return size, indent, width or COLUMN_WIDTH
    return size, _INDENT_WIDTHS[-1], end


def _outline_row_end(row: GraphOutlineRow, indent: float, size: float) -> float:
    """The right end of the text of a row, mm."""
    words = [word for word in (row.joint, row.loops) if word]
    box = 2 * _NAME_PADDING + label_text_width(symbol_label(row.name), size)
    return (
        _outline_row_start(row, indent)
        + box
        + sum(_TEXT_GAP + label_text_width(w, size) for w in words)
        + 0.6
    )


def _outline_row_start(row: GraphOutlineRow, indent: float) -> float:
    """The left end of the box of a row, mm."""
    return _FIGURE_RIM + row.depth * indent


def _outline_row_height(k: int) -> float:
    """The height at which row k stands, mm from the top."""
    return (k + 0.5) * _ROW_HEIGHT


def _draw_outline_row(axes: Axes, k: int, row: GraphOutlineRow, indent: float, size: float) -> None:
    """Draws the box of a body, its joint and the loops that end there."""
    x, y = _outline_row_start(row, indent), _outline_row_height(k)
    box = {
        "boxstyle": f"round,pad={_NAME_PADDING / (size * 25.4 / 72)}",
        "ec": INK_COLOR,
        "lw": 0.6,
        "fc": FAINT_COLOR if row.name == GROUND else "#EAF2F8",
    }
    look: dict[str, Any] = {"va": "center", "fontsize": size, "zorder": 5}
    axes.text(x + _NAME_PADDING, y, symbol_label(row.name), bbox=box, **look)
    end = x + 2 * _NAME_PADDING + label_text_width(symbol_label(row.name), size)
    for word, paint in ((row.joint, INK_COLOR), (row.loops, LOOP_COLOR)):
        if word:
            axes.text(end + _TEXT_GAP, y, word, color=paint, **look)
            end += _TEXT_GAP + label_text_width(word, size)


def _draw_outline_branch(axes: Axes, row: GraphOutlineRow, k: int, indent: float) -> None:
    """Draws a branch from below the parent's box to the left of the child's."""
    x, y = _outline_row_start(row, indent) - 0.6 * indent, _outline_row_height(k)
    top = _outline_row_height(row.parent) + 0.4 * _ROW_HEIGHT
    axes.plot(
        [x, x, _outline_row_start(row, indent)], [top, y, y], color=INK_COLOR, lw=0.9, zorder=2
    )
