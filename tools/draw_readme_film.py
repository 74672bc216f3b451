"""Draw the film at the top of the README: six mechanisms in motion, drawn by `linkwright.show`.

    python tools/draw_readme_film.py [docs/pictures/mechanisms.webp]

Every motion is computed: prescribed for linkages, controlled for the arm, free for the pendulum.
The film repeats without a jump, except in the panel of the pendulum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import tau
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

import linkwright as lw
from linkwright.motion import through
from linkwright.show.figure_style import GRAY_COLOR, with_figure_style
from linkwright.show.glyph_brush import GlyphBrush
from linkwright.show.ground_glyphs import build_ground_glyphs
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.show.scaled_axes import drawing_bounds
from linkwright.show.stick_figures import DrawingDetails, draw_moving_glyphs
from linkwright.show.traced_points import drawn_placements_at_times, find_traced_points
from linkwright.simulation import Kinematics, Run

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs/pictures/mechanisms.webp"
PERIOD, RATE = 4.0, 16.0
"""Seconds until the film repeats; pictures per second."""
COLORS = 48
"""Colours of the palette: few, so that the file is small without loss."""
SIZE, DOTS_PER_INCH = (960, 560), 130.0
COLUMNS, ROWS = 3, 2
TRACE_COLOR = "#E69F00"
TURN = f"{tau / PERIOD}*t"
DETAILS = DrawingDetails(centers=False, frames=False)


@dataclass(frozen=True)
class Act:
    """One panel: its caption, its motion, the points that leave a trail (in seconds), the view."""

    caption: str
    move: Callable[[], Run | Kinematics]
    trace: list[str] = field(default_factory=list)
    view: tuple[float, float] | None = None
    trail: float = PERIOD


def drive(name: str, motions: dict[str, str]) -> Callable[[], Kinematics]:
    """A prescribed motion of a mechanism of the gallery, or of examples/linkages."""
    file = ROOT / f"examples/linkages/{name}.toml"
    mechanism = lw.load(file) if file.exists() else lw.gallery(name)
    return lambda: lw.solve_kinematics(mechanism, motions, t=PERIOD)


def move_arm() -> Run:
    """The six-axis arm under computed torque, through four postures and back to the first."""
    arm = lw.gallery("six-axis")
    first = [0.0, -0.9, 0.9, 0.0, 0.9, 0.0]
    points = [first, [1.1, -0.5, 0.7, 0.8, 0.6, 1.0], [0.3, -1.3, 1.5, -0.6, 1.2, 2.0],
              [-1.0, -0.7, 0.5, 0.3, 0.7, 1.0], first]  # fmt: skip
    way = through(np.array(points), np.linspace(0.0, PERIOD, len(points)))
    law = lw.control.computed_torque(arm, way, kp=400, kd=40)
    return lw.simulate(arm, PERIOD, q0=first, torque=law, samples=161)


def release_pendulum() -> Run:
    """The triple pendulum, released from above."""
    return lw.simulate(lw.gallery("triple-pendulum"), PERIOD, q0=[1.0, 1.8, 2.6], samples=401)


PLATFORM = {
    "platform.x": f"0.15*cos({TURN})",
    "platform.y": f"0.15*sin({TURN})",
    "platform.z": f"1 + 0.12*sin(2*{TURN})",
    "platform.rx": f"0.25*sin({TURN})",
    "platform.ry": f"0.25*cos({TURN})",
    "platform.rz": f"0.3*sin({TURN})",
}
ACTS = (
    Act("Watt six-bar", drive("watt-six-bar", {"crank": TURN}), ["coupler", "second_coupler"]),
    Act("slider-crank", drive("slider-crank", {"theta1": f"2*{TURN}"}), ["rod"]),
    Act("triple pendulum", release_pendulum, ["link3"], trail=1.0),
    Act("Stewart platform", drive("stewart", PLATFORM), view=(-60.0, 20.0)),
    Act("six-axis arm", move_arm, ["tool"], view=(-55.0, 20.0), trail=2.0),
    Act("Bricard loop", drive("bricard", {"q1": TURN}), ["P3"], view=(-50.0, 25.0)),
)


class Panel:
    """One mechanism on its axes, and how it is drawn at each instant."""

    def __init__(self, axes: Axes, act: Act, times: np.ndarray) -> None:
        self.axes, self.act, self.times = axes, act, times
        run = act.move()
        self.scene = mechanism_scene(run.mechanism)
        self.view = self.scene.view(act.view)
        self.poses = drawn_placements_at_times(self.scene, run, times)
        self.fine_times = np.linspace(0.0, PERIOD, 401)
        fine = drawn_placements_at_times(self.scene, run, self.fine_times)
        self.paths = [
            self.view(point.path(fine)) for point in find_traced_points(self.scene, act.trace)
        ]
        self.prepare_axes(run)

    def prepare_axes(self, run: Run | Kinematics) -> None:
        """Sets the limits to all that moves, and draws ground and caption."""
        low, high = drawing_bounds(self.scene, self.poses, self.view)
        box = self.axes.get_window_extent()
        scale = max((high[0] - low[0]) / box.width, (high[1] - low[1]) / box.height)
        half = np.array([box.width, box.height]) * scale / 2
        self.axes.set_aspect("equal")
        for set_limits, middle, reach in zip(
            (self.axes.set_xlim, self.axes.set_ylim), (low + high) / 2, half, strict=True
        ):
            set_limits(middle - reach, middle + reach)
        self.axes.set_axis_off()
        brush = GlyphBrush(self.axes, self.scene, self.poses[0], self.view)
        brush.draw_glyphs(build_ground_glyphs(self.scene, self.poses, self.view))
        facts = [f"{len(run.mechanism.bodies)} bodies"]
        loops, dof = len(run.mechanism.loops), len(run.mechanism.joints)
        if loops:
            facts.append(f"{loops} loop{'s' * (loops > 1)}")
            dof = lw.mobility(run.mechanism).dof
        facts.append(f"{dof} DOF")
        text = self.axes.text
        where = {"transform": self.axes.transAxes, "ha": "center", "va": "top"}
        text(0.5, -0.02, self.act.caption, fontsize=8.5, weight="bold", **where)
        text(0.5, -0.10, " · ".join(facts), fontsize=7, color=GRAY_COLOR, **where)

    def draw(self, k: int) -> list[object]:
        """Draws the instant k; the artists, to be removed again."""
        t = self.times[k]
        if self.act.trail >= PERIOD:
            shown = np.full(len(self.fine_times), True)
        else:
            shown = (self.fine_times <= t) & (self.fine_times >= t - self.act.trail)
        lines = [
            self.axes.plot(*path[shown].T, color=TRACE_COLOR, lw=1.4, alpha=0.8, zorder=2.4)[0]
            for path in self.paths
        ]
        brush = draw_moving_glyphs(self.axes, self.scene, self.poses[k], self.view, DETAILS)
        return [*lines, *brush.artists]


@with_figure_style
def render_frames() -> list[Image.Image]:
    """All pictures of the film."""
    wide, high = (pixels / DOTS_PER_INCH for pixels in SIZE)
    figure = Figure(figsize=(wide, high), dpi=DOTS_PER_INCH)
    canvas = FigureCanvasAgg(figure)
    times = np.arange(int(PERIOD * RATE)) / RATE
    panels = []
    for k, act in enumerate(ACTS):
        column, row = k % COLUMNS, k // COLUMNS
        place = (
            (column + 0.06) / COLUMNS,
            (ROWS - 1 - row + 0.15) / ROWS,
            0.88 / COLUMNS,
            0.82 / ROWS,
        )
        panels.append(Panel(figure.add_axes(place), act, times))
    frames = []
    for k in range(len(times)):
        artists = [artist for panel in panels for artist in panel.draw(k)]
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy()))
        for artist in artists:
            artist.remove()
    return frames


def main(path: Path = PATH) -> None:
    frames = render_frames()
    palette = frames[0].quantize(COLORS, dither=Image.Dither.NONE)
    palette.putpalette([*(palette.getpalette() or [])[: 3 * COLORS], 255, 255, 255])
    first, *others = (
        frame.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB") for frame in frames
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    first.save(
        path, save_all=True, append_images=others, duration=round(1000 / RATE), loop=0,
        lossless=True, quality=80, method=5,
    )  # fmt: skip
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB, {1 + len(others)} pictures")


if __name__ == "__main__":
    main(*(Path(text) for text in sys.argv[1:]))
