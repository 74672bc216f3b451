"""Chrono-cyclographs: stick figures at equal intervals, one over the other, with traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .figure_style import (
    COLUMN_WIDTH,
    INK_COLOR,
    draw_legend,
    draws_figure,
)
from .glyph_brush import GlyphBrush
from .ground_glyphs import build_ground_glyphs
from .label_text import symbol_label
from .mechanism_scene import Scene, mechanism_scene
from .motion_clock import motion_clock_label
from .scaled_axes import finish_axes, prepare_axes
from .traced_points import (
    divide_traced_times,
    drawn_placements_at_times,
    equal_figure_times,
    find_traced_points,
    require_drawable_run,
    traced_path_parts,
)
from .view_direction import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run


_DEFAULT_FIGURE_COUNT = 18


@draws_figure
def cyclograph(
    run: Run | Kinematics,
    every: float | None = None,
    trace: Sequence[str] | None = None,
    *,
    until: float | None = None,
    view: str | tuple[float, float] | None = None,
    width: float = COLUMN_WIDTH,
    path: str | Path | None = None,
) -> Figure:
    """Draw stick figures of a run at equal intervals, coloured by time.

    Parameters
    ----------
    run : Run or Kinematics
        A simulated or driven motion.
    every : float, optional
        Interval, s (default: about 18 figures).
    trace : sequence of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn (default: the frames
        that move).
    until : float, optional
        Last time, s (default: the end of the run).
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).
    width : float
        Width of the figure, mm.
    path : str or Path, optional
        File to write: .svg, .pdf or .png.

    Returns
    -------
    Figure
        A matplotlib figure.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 1.0)
    >>> figure = lw.show.cyclograph(run, every=0.1)  # path="elbow.svg" also saves it
    >>> len(figure.axes)
    1
    """
    require_drawable_run(run)
    scene = mechanism_scene(run.mechanism)
    seen = scene.view(view)
    end = float(run.t[-1]) if until is None else min(until, float(run.t[-1]))
    apart = max(end / (_DEFAULT_FIGURE_COUNT - 1), 1e-9) if every is None else every
    times = equal_figure_times(run, apart, end)
    samples = run.t[run.t <= end + 1e-12]
    parts = traced_path_parts(
        scene, run, samples, find_traced_points(scene, trace), 5e-4 * scene.size
    )
    poses, between = (
        drawn_placements_at_times(scene, run, times),
        drawn_placements_at_times(scene, run, divide_traced_times(samples, parts)),
    )
    figure, axes = prepare_axes(scene, between, seen, width, aside=13)
    GlyphBrush(axes, scene, poses[0], seen).draw_glyphs(build_ground_glyphs(scene, between, seen))
    shades = _figure_time_colors(times)
    for one, shade in zip(poses, shades, strict=True):
        draw_faint_figure(axes, scene, one, seen, shade)
    _draw_traced_paths(axes, scene, between, seen, trace)
    finish_axes(axes, seen)
    _draw_time_color_bar(figure, axes, times, motion_clock_label(run))
    return figure


def _time_color_map() -> Any:
    """The colour map of time: viridis without its yellow end, which is too faint for lines."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.88, 256)))


def _figure_time_colors(times: Floats) -> Floats:
    """A colour (RGBA) for each of the times."""
    return np.asarray(_time_color_map()(np.linspace(0, 1, len(times))))


def draw_faint_figure(
    axes: Axes,
    scene: Scene,
    poses: Floats,
    view: View,
    shade: str | Sequence[float],
    weight: float = 0.45,
) -> None:
    """Draws a configuration in thin lines of one colour, joints as dots."""
    paint = shade if isinstance(shade, str) else tuple(shade)
    brush = GlyphBrush(axes, scene, poses, view, tint=paint, weight=weight)
    brush.draw_connectors([tie for tie in scene.connector_glyphs if tie.kind in ("rail", "rod")])
    brush.draw_glyphs(scene.link_glyphs)
    brush.draw_glyphs([shape for shape in scene.wheel_glyphs if shape.kind != "spoke"])
    for joint in (s for s in scene.joint_glyphs if s.kind != "coil"):
        spot = view(brush.glyph_points_in_world(joint.link, joint.points)).mean(axis=0)
        axes.plot(*spot, "o", color=paint, ms=4 * weight, mec="none", zorder=5)


def _draw_traced_paths(
    axes: Axes, scene: Scene, poses: Floats, view: View, names: Sequence[str] | None
) -> None:
    """Draws the paths of traced points, with a legend."""
    points = find_traced_points(scene, names)
    styles = ["-", "--", ":", "-."]
    for k, point in enumerate(points):
        flat = view(point.path(poses))
        axes.plot(
            flat[:, 0],
            flat[:, 1],
            color=INK_COLOR,
            lw=0.7,
            ls=styles[k % 4],
            zorder=5.5,
            label=symbol_label(point.name),
        )
    if points:
        draw_legend(axes, axes.get_lines()[-len(points) :])


def _draw_time_color_bar(figure: Figure, axes: Axes, times: Floats, label: str) -> None:
    """Draws the colour bar of time."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    clock = ScalarMappable(Normalize(float(times[0]), float(times[-1]) or 1.0), _time_color_map())
    beside = axes.inset_axes((1.02, 0.0, 0.025, 1.0))
    bar = figure.colorbar(clock, cax=beside)
    bar.set_label(label)
    bar.outline.set_linewidth(0.4)
