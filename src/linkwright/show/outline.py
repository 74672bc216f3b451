"""The graph of a mechanism with many branches: a row a body, indented, loops in lanes beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..mechanism import GROUND, Mechanism
from .labels import symbol
from .style import FAINT, GREY, INK, colour, sheet, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW, _INDENT, _PAD, _GAP, _LANE = 6.0, 6.0, 1.0, 1.8, 2.2
"""Of a row, a level, around a name, between words, and between lines of loops, mm."""
_SIZE = 7.0
LOOP, TIED = colour(1), GREY


@dataclass(frozen=True)
class Row:
    """A body, how deep it hangs, by what, and the row of its parent; loops that end here."""

    name: str
    depth: int
    parent: int
    joint: str
    loops: str


def rows_of(mechanism: Mechanism) -> list[Row]:
    """Ground, then every body below the one that carries it."""
    found, at = [Row(GROUND, 0, 0, "", "")], {GROUND: 0}
    below: dict[str, list[str]] = {}
    for name, joint in mechanism.joints_depth_first():
        below.setdefault(joint.parent, []).append(name)
    stack, ends = below.get(GROUND, [])[::-1], _loop_words(mechanism)
    while stack:
        name = stack.pop()
        joint = mechanism.joints[name]
        loops = "; ".join(ends.get(joint.child, []))
        at[joint.child] = len(found)
        up = at[joint.parent]
        word = f"{symbol(name)}, {joint.type}"
        found.append(Row(joint.child, found[up].depth + 1, up, word, loops))
        stack += below.get(joint.child, [])[::-1]
    return found


def _loop_words(mechanism: Mechanism) -> dict[str, list[str]]:
    """Names of loops, at that body of their two which has the fewer of them."""
    found: dict[str, list[str]] = {}
    bodies = [body for loop in mechanism.loops.values() for body in (loop.parent, loop.child)]
    for name, loop in mechanism.loops.items():
        ends = [body for body in (loop.child, loop.parent) if body != GROUND]
        body = min(ends, key=bodies.count)
        found.setdefault(body, []).append(f"{symbol(name)}, {loop.type}")
    return found


def outline(mechanism: Mechanism, ties: Sequence[tuple[str, str]], width: float) -> Figure:
    """Bodies as boxes with their joints beside them; dashed lanes close loops, dotted ones are
    springs and constraints."""
    rows = rows_of(mechanism)
    lanes = [(loop.parent, loop.child, LOOP, "--") for loop in mechanism.loops.values()]
    lanes += [(a, b, TIED, ":") for a, b in ties]
    figure = sheet(width, max(_ROW * len(rows) + 3, 20))
    axes = figure.add_subplot()
    axes.set(xlim=(0, width), ylim=(len(rows) * _ROW, 0))
    axes.set_axis_off()
    indent = min(_INDENT, 0.35 * width / max(row.depth for row in rows))
    ends = {row.name: _draw_row(axes, k, row, indent) for k, row in enumerate(rows)}
    for k, row in enumerate(rows[1:], start=1):
        _draw_branch(axes, row, k, indent)
    heights = {row.name: _height(k) for k, row in enumerate(rows)}
    right = max(ends.values(), default=0.0) + _GAP
    pitch = min(_LANE, (width - right - 2) / max(len(lanes), 1))
    for k, (one, other, paint, dash) in enumerate(lanes):
        x, a, b = right + k * pitch, heights[one], heights[other]
        path = [(ends[one], a), (x, a), (x, b), (ends[other], b)]
        axes.plot(*zip(*path, strict=True), color=paint, ls=dash, lw=0.9, zorder=2)
    return figure


def _height(k: int) -> float:
    return (k + 0.5) * _ROW


def _draw_row(axes: Axes, k: int, row: Row, indent: float) -> float:
    """A box, its joint and the loops that end there; where the row ends."""
    x, y = 2 + row.depth * indent, _height(k)
    box = {"boxstyle": f"round,pad={_PAD / (_SIZE * 25.4 / 72)}", "ec": INK, "lw": 0.6,
           "fc": FAINT if row.name == GROUND else "#EAF2F8"}  # fmt: skip
    look: dict[str, Any] = {"va": "center", "fontsize": _SIZE, "zorder": 5}
    axes.text(x + _PAD, y, symbol(row.name), bbox=box, **look)
    end = x + 2 * _PAD + text_width(symbol(row.name), _SIZE)
    for word, paint in ((row.joint, INK), (row.loops, LOOP)):
        if word:
            axes.text(end + _GAP, y, word, color=paint, **look)
            end += _GAP + text_width(word, _SIZE)
    return end + 0.6


def _draw_branch(axes: Axes, row: Row, k: int, indent: float) -> None:
    """From below the parent's box to the left of the child's."""
    x, y = 2 + (row.depth - 0.6) * indent, _height(k)
    top = _height(row.parent) + 0.4 * _ROW
    axes.plot([x, x, 2 + row.depth * indent], [top, y, y], color=INK, lw=0.9, zorder=2)
