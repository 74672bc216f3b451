"""Films of a run: MP4 or GIF from rendered frames, or a page that draws the motion."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import FileError, LinkwrightError, MissingExtraError
from ..types import Bytes, Floats
from .figure_style import GRAY_COLOR, INK_COLOR, with_figure_style, write_figure_file
from .film_page import animation_page
from .glyph_brush import GlyphBrush
from .ground_glyphs import build_ground_glyphs
from .mechanism_scene import mechanism_scene
from .motion_clock import motion_clock_text
from .scaled_axes import finish_axes, prepare_axes
from .stick_figures import DrawingDetails, draw_moving_glyphs
from .traced_points import (
    divide_traced_times,
    drawn_placements_at_times,
    find_traced_points,
    require_drawable_run,
    traced_path_parts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run
    from .mechanism_scene import Scene
    from .traced_points import TracedPoint
    from .view_direction import View

Pixels = Bytes

FILM_FORMATS = (".mp4", ".gif", ".html")
_FRAME_RATES = {".mp4": 30.0, ".gif": 20.0}
_FILM_WIDTH, _DOTS_PER_INCH = 115.0, 181.0
"""The width of a picture, mm; dots an inch."""


def animate(
    run: Run | Kinematics,
    path: str | Path,
    *,
    speed: float = 1.0,
    rate: float | None = None,
    trace: Sequence[str] | None = None,
    view: str | tuple[float, float] | None = None,
    shapes: bool = True,
) -> Path:
    """Write the motion of a run as a film: .mp4, .gif or .html.

    Parameters
    ----------
    run : Run or Kinematics
        A simulated or driven motion.
    path : str or Path
        The ending decides the format.
    speed : float
        1 is real time, 0.5 half of it.
    rate : float, optional
        Pictures per second (default: by the format).
    trace : sequence of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn.
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).
    shapes : bool
        Draw the shapes of bodies in .mp4 and .gif, if the file has some.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 1.0)
    >>> with TemporaryDirectory() as folder:
    ...     lw.show.animate(run, f"{folder}/elbow.html").name
    'elbow.html'
    """
    require_drawable_run(run)
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in FILM_FORMATS:
        raise FileError(
            f"'{target.suffix}' is not a format for films",
            where=str(target),
            remedy=f"use {', '.join(FILM_FORMATS)}",
        )
    if not 0 < speed < 1e6:
        raise LinkwrightError(
            f"the speed must be above 0 (got {speed:g})", remedy="give 1, or 0.5 for half the speed"
        )
    if kind == ".html":
        write_figure_file(target, animation_page(run, speed=speed, trace=trace, view=view).encode())
        return target
    beat = rate or _FRAME_RATES[kind]
    if not 1 <= beat <= 120:
        raise LinkwrightError(
            f"a film cannot have {beat:g} pictures a second", remedy="give 1 to 120"
        )
    pictures = render_film_frames(run, beat, speed, trace, view, shapes=shapes)
    (_write_mp4_film if kind == ".mp4" else _write_gif_film)(target, pictures, beat)
    return target


@dataclass(frozen=True)
class _FilmStage:
    """The background of a film on its canvas, and what moves in front of it."""

    scene: Scene
    view: View
    placements: Floats
    axes: Axes
    canvas: FigureCanvasAgg
    traced_points: list[TracedPoint]


@with_figure_style
def _draw_film_background(
    run: Run | Kinematics,
    times: Floats,
    trace: Sequence[str] | None,
    view: str | tuple[float, float] | None,
    shapes: bool,
) -> _FilmStage:
    """Draws everything that stands still, once, with the placements of the links at all times."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    scene = mechanism_scene(run.mechanism)
    seen = scene.view(view)
    poses = drawn_placements_at_times(scene, run, times)
    more = [one.box_glyph() for one in scene.drawn_shapes.surfaces] if shapes else []
    figure, axes = prepare_axes(scene, poses, seen, _FILM_WIDTH, more=more)
    figure.set_dpi(_DOTS_PER_INCH)
    GlyphBrush(axes, scene, poses[0], seen).draw_glyphs(build_ground_glyphs(scene, poses, seen))
    finish_axes(axes, seen)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    figure.set_layout_engine("none")
    return _FilmStage(scene, seen, poses, axes, canvas, find_traced_points(scene, trace))


def render_film_frames(
    run: Run | Kinematics,
    rate: float,
    speed: float,
    trace: Sequence[str] | None = None,
    view: str | tuple[float, float] | None = None,
    *,
    shapes: bool = True,
) -> Iterator[Pixels]:
    """Renders the frames of a film, arrays (height, width, 3) with even numbers of pixels, one each
    1/rate seconds."""
    length = float(run.t[-1] - run.t[0])
    count = int(np.floor(length / speed * rate + 1e-9)) + 1
    if count > 20_000:
        raise LinkwrightError(
            f"a film of {count} pictures is too long", remedy="show it faster, or a lower rate"
        )
    times = run.t[0] + np.arange(count) * speed / rate
    stage = _draw_film_background(run, times, trace, view, shapes)
    axes, canvas = stage.axes, stage.canvas
    still = canvas.copy_from_bbox(axes.figure.bbox)
    pixel = float(np.ptp(axes.get_xlim())) / (_FILM_WIDTH / 25.4 * _DOTS_PER_INCH)
    parts = traced_path_parts(stage.scene, run, times, stage.traced_points, 0.3 * pixel)
    between = drawn_placements_at_times(stage.scene, run, divide_traced_times(times, parts))
    paths = [stage.view(point.path(between)) for point in stage.traced_points]
    details = DrawingDetails(centers=True, frames=False, shapes=shapes)
    for k in range(count):
        canvas.restore_region(still)
        lines = [
            axes.plot(*path[: k * parts + 1].T, color=GRAY_COLOR, lw=0.8, zorder=2.5)[0]
            for path in paths
        ]
        clock = axes.text(
            0.99,
            0.99,
            motion_clock_text(run, float(times[k])),
            transform=axes.transAxes,
            ha="right",
            va="top",
            color=INK_COLOR,
            fontsize=8,
        )
        brush = draw_moving_glyphs(axes, stage.scene, stage.placements[k], stage.view, details)
        everything = [*lines, *brush.artists, clock]
        for artist in sorted(everything, key=lambda a: a.get_zorder()):
            axes.draw_artist(artist)
        yield _crop_to_even_pixels(np.asarray(canvas.buffer_rgba())[..., :3].copy())
        for artist in everything:
            artist.remove()


def _crop_to_even_pixels(pixels: Pixels) -> Pixels:
    """A frame without its last row or column where these are odd in number: H.264 needs pairs."""
    high, wide = pixels.shape[0] // 2 * 2, pixels.shape[1] // 2 * 2
    return np.ascontiguousarray(pixels[:high, :wide])


def _write_mp4_film(target: Path, pictures: Iterator[Pixels], rate: float) -> None:
    """Encodes frames as an .mp4 file; the file appears whole or not at all."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise MissingExtraError(
            "films as .mp4 need the encoder imageio-ffmpeg",
            remedy="install linkwright[show], or write .gif or .html",
        ) from None
    first = next(pictures)
    part = target.with_name(f".{target.stem}.{os.getpid()}.mp4")
    size = f"{first.shape[1]}x{first.shape[0]}"
    words = ["-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size]
    words += ["-r", f"{rate:g}", "-i", "-", "-an", "-c:v", "libx264", "-crf", "20"]
    words += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(part)]
    try:
        _encode_film([imageio_ffmpeg.get_ffmpeg_exe(), *words], chain([first], pictures), target)
        part.replace(target)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    finally:
        part.unlink(missing_ok=True)


def _encode_film(command: list[str], pictures: Iterable[Pixels], target: Path) -> None:
    """Pipes the frames to the encoder; its last message is the error if it fails."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        with suppress(BrokenPipeError):
            for picture in pictures:
                process.stdin.write(picture.tobytes())
            process.stdin.close()
        complaint = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        last = complaint.splitlines()[-1] if complaint else "no reason given"
        raise FileError(f"cannot be written: {last}", where=str(target))


def _write_gif_film(target: Path, pictures: Iterator[Pixels], rate: float) -> None:
    """Writes frames as a .gif file that repeats."""
    import io

    from PIL import Image

    images = [Image.fromarray(p).quantize(64, dither=Image.Dither.NONE) for p in pictures]
    stream = io.BytesIO()
    images[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=images[1:],
        duration=round(100 / rate) * 10,
        loop=0,
        optimize=False,
    )
    write_figure_file(target, stream.getvalue())
