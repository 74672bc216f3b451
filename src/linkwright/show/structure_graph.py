"""The graph of a mechanism: bodies, and the joints, springs and constraints between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..mechanism import GROUND, Mechanism, require_mechanism
from ..types import Floats
from .figure_style import (
    COLUMN_WIDTH,
    FAINT_COLOR,
    GRAY_COLOR,
    INK_COLOR,
    draws_figure,
    label_text_width,
    line_color,
    new_figure,
)
from .graph_outline import draw_graph_outline
from .label_text import symbol_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_NAME_FONT_SIZE = 7.5
"""The size of bodies' names, points."""
_JOINT_LABEL_SHARE = 0.55
"""The share of its edge at which the name of a joint stands."""


@draws_figure
def graph(
    mechanism: Mechanism, *, width: float | None = None, path: str | Path | None = None
) -> Figure:
    """Draw the structure of a mechanism: bodies as boxes, joints as lines.

    Lines that close loops are dashed; springs and constraints between bodies are dotted.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    width : float, optional
        Width, mm (default: as wide as the names need, at least 85).
    path : str or Path, optional
        File to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> len(lw.show.graph(lw.gallery("elbow")).axes)
    1
    """
    spots = graph_node_places(require_mechanism(mechanism))
    across, wide = max(x for x, _ in spots.values()) + 1, width or COLUMN_WIDTH
    if _is_graph_crowded(mechanism, wide / across, across > 1):
        return draw_graph_outline(mechanism, _graph_edges_of_springs(mechanism), width)
    deep = max(y for _, y in spots.values()) + 1
    figure = new_figure(wide, float(np.clip(17 * deep + 6, 20, 400)))
    axes = figure.add_subplot()
    axes.set_xlim(-0.6, max(across - 0.4, 0.6))
    axes.set_ylim(deep - (0.2 if mechanism.loops else 0.6), -0.4)
    axes.set_axis_off()
    for name, joint in mechanism.joints.items():
        _draw_graph_edge(axes, spots[joint.parent], spots[joint.child], INK_COLOR, "-")
        _label_graph_edge(axes, spots[joint.parent], spots[joint.child], name, joint.type)
    for name, loop in mechanism.loops.items():
        _draw_graph_edge(
            axes, spots[loop.parent], spots[loop.child], line_color(1), "--", bent=True
        )
        _label_graph_edge(axes, spots[loop.parent], spots[loop.child], name, loop.type, bent=True)
    for one, other in _graph_edges_of_springs(mechanism):
        _draw_graph_edge(axes, spots[one], spots[other], GRAY_COLOR, ":", bent=True)
    for name, (x, y) in spots.items():
        box = {
            "boxstyle": "round,pad=0.3",
            "fc": "#EAF2F8" if name != GROUND else FAINT_COLOR,
            "ec": INK_COLOR,
            "lw": 0.6,
        }
        axes.text(
            x,
            y,
            symbol_label(name),
            ha="center",
            va="center",
            fontsize=_NAME_FONT_SIZE,
            bbox=box,
            zorder=5,
        )
    return figure


def _is_graph_crowded(mechanism: Mechanism, pitch: float, branches: bool) -> bool:
    """Whether names would overlap, with `pitch` mm from branch to branch."""
    joints = (*mechanism.joints.items(), *mechanism.loops.items())
    beside = [word for name, joint in joints for word in (name, joint.type)]
    widest, labels = (
        max(label_text_width(symbol_label(word), _NAME_FONT_SIZE) for word in words) + 3
        for words in (mechanism.bodies, beside)
    )
    if not branches:
        return max(widest, labels) > pitch
    return len(mechanism.loops) > 1 or widest > pitch or labels > _JOINT_LABEL_SHARE * pitch


def graph_node_places(mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """The positions of bodies in the graph: ground on top, each body above the middle of its
    children."""
    below: dict[str, list[str]] = {}
    for _, joint in mechanism.joints_depth_first():
        below.setdefault(joint.parent, []).append(joint.child)
    spots: dict[str, tuple[float, float]] = {}
    column = 0.0
    stack: list[tuple[str, int, bool]] = [(GROUND, 0, False)]
    while stack:
        name, depth, seen = stack.pop()
        children = below.get(name, [])
        if children and not seen:
            stack.append((name, depth, True))
            stack += [(child, depth + 1, False) for child in reversed(children)]
        elif children:
            spots[name] = (float(np.mean([spots[child][0] for child in children])), depth)
        else:
            spots[name], column = (column, depth), column + 1
    return spots


def _graph_edges_of_springs(mechanism: Mechanism) -> list[tuple[str, str]]:
    """The pairs of bodies that springs, rods, wheels and blades connect."""
    frames = {name: frame.body for name, frame in mechanism.frames.items()}
    pairs = []
    for part in (*mechanism.forces.values(), *mechanism.constraints.values()):
        if len(part.ends) == 2:
            one, other = (frames.get(end, end) for end in part.ends)
            pairs.append((one, other))
    return pairs


def _bent_edge_path(a: tuple[float, float], b: tuple[float, float]) -> Floats:
    """A curve between two positions that bends around what lies between them."""
    start, end = np.array(a), np.array(b)
    aside = np.array([0.25 if abs(a[0] - b[0]) < 0.5 else 0.0, 0.45 + 0.1 * abs(a[0] - b[0])])
    top = (start + end) / 2 + 2 * aside
    s = np.linspace(0, 1, 40)[:, None]
    return np.asarray((1 - s) ** 2 * start + 2 * s * (1 - s) * top + s**2 * end)


def _draw_graph_edge(
    axes: Axes,
    a: tuple[float, float],
    b: tuple[float, float],
    paint: str,
    dash: str,
    bent: bool = False,
) -> None:
    """Draws an edge of the graph, straight or bent."""
    line = _bent_edge_path(a, b) if bent else np.array([a, b])
    axes.plot(line[:, 0], line[:, 1], color=paint, ls=dash, lw=0.9, zorder=2)


def _label_graph_edge(
    axes: Axes,
    a: tuple[float, float],
    b: tuple[float, float],
    name: str,
    kind: str,
    bent: bool = False,
) -> None:
    """Writes the name and the kind of a joint on its edge."""
    start, end = np.array(a), np.array(b)
    spot = _bent_edge_path(a, b)[24] if bent else start + _JOINT_LABEL_SHARE * (end - start)
    axes.text(
        *spot,
        f"{symbol_label(name)}\n{kind}",
        ha="center",
        va="center",
        fontsize=7,
        color=line_color(1) if bent else INK_COLOR,
        zorder=4,
        linespacing=1.0,
        bbox={"fc": "white", "ec": "none", "pad": 0.6},
    )
