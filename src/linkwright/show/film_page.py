"""A motion as a web page that needs no other file: play, pause, scrub, turn, slow down."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .figure_style import GRAY_COLOR, INK_COLOR, line_color
from .glyph_brush import AXIS_COLORS, DASHPOT_PATHS, GLYPH_LAYERS, SPRING_PATHS
from .glyphs import GROUND_LINK, ConnectorGlyph, Glyph
from .ground_glyphs import build_ground_glyphs
from .key_frames import (
    KeyFrameData,
    choose_key_frames,
    film_link_data,
    film_pixel_size,
    round_for_film_page,
)
from .mechanism_scene import Scene, mechanism_scene
from .scaled_axes import drawing_bounds
from .traced_points import drawn_placements_at_times, find_traced_points
from .view_direction import view_upward_direction

if TYPE_CHECKING:
    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run


_DEPTH_SORTED_GLYPHS = ("plate", "line", "hull", "ball", "wheel", "spoke")
_FILM_SPEEDS = {1.0: "real time", 0.5: "1/2", 0.25: "1/4", 0.1: "1/10", 0.01: "1/100", 2.0: "2 ×"}

_FILM_CSS = (
    ".lw-motion{max-width:46em;margin:0 auto;font-size:14px;line-height:1.4}"
    ".lw-motion canvas{width:100%;aspect-ratio:16/10;display:block;touch-action:pan-y;cursor:grab;"
    "background:#fff;border:1px solid #ddd;border-radius:4px}"
    ".lw-motion div{display:flex;gap:.6em;align-items:center;margin-top:.4em;flex-wrap:wrap}"
    ".lw-motion input{flex:1;min-width:8em;height:2em;margin:0}.lw-motion output{min-width:4.5em;"
    "text-align:right;font-variant-numeric:tabular-nums}.lw-motion button{min-width:4.5em}"
    ".lw-motion button,.lw-motion select{min-height:2.2em;font:inherit}"
    ".lw-motion select,.lw-motion ::picker(select){appearance:base-select}"
    ".lw-motion p{margin:.3em 0 0;color:#666;font-size:.9em}"
    "@media(pointer:coarse){.lw-motion button,.lw-motion select,.lw-motion input{min-height:44px}}"
    "@media print{.lw-motion div,.lw-motion p{display:none}.lw-motion canvas{border:0}}"
)
_FILM_HINT = (
    "Drag to turn (on a touch screen, sideways); Ctrl and the wheel, or + and −, to zoom; "
    "double-click for the first view; space to play or pause."
)
_FILM_NOSCRIPT = (
    "<noscript><p>To see it move, open this page in a browser with scripts on.</p></noscript>"
)


def animation_page(
    run: Run | Kinematics,
    *,
    title: str | None = None,
    speed: float = 1.0,
    trace: Sequence[str] | None = None,
    view: str | tuple[float, float] | None = None,
) -> str:
    """Return an HTML page with the motion of a run, which needs no network.

    Parameters
    ----------
    run : Run
        A simulated motion.
    title : str, optional
        Title of the page (default: the name of the mechanism).
    speed : float
        1 is real time, 0.5 half of it.
    trace : sequence of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn.
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 1.0)
    >>> page = lw.show.animation_page(run)
    >>> "<title>elbow</title>" in page
    True
    """
    name = html.escape(title or run.mechanism.name)
    body = animation_element(run, speed=speed, trace=trace, view=view)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        f'content="{html.escape(film_page_policy(body))}">'
        f'<title>{name}</title><meta name="viewport" content="width=device-width">'
        "<style>body{margin:1em;color:#202020;font-family:system-ui,sans-serif}"
        "h1{font-size:1.1em;max-width:42em;margin:.4em auto}</style></head>"
        f"<body><h1>{name}</h1>{body}</body></html>\n"
    )


def film_page_policy(body: str) -> str:
    """The content security policy of a page with this body: fetch nothing, run only its own
    scripts."""
    scripts = re.findall(r"<script>(.*?)</script>", body, re.S)
    hashes = [base64.b64encode(hashlib.sha256(x.encode()).digest()).decode() for x in scripts]
    allowed = " ".join(f"'sha256-{x}'" for x in dict.fromkeys(hashes)) or "'none'"
    return (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
        f"script-src {allowed}"
    )


def animation_element(
    run: Run | Kinematics,
    *,
    speed: float = 1.0,
    trace: Sequence[str] | None = None,
    view: str | tuple[float, float] | None = None,
    autoplay: bool = True,
    identity: str = "motion",
) -> str:
    """Return the motion of a run as an element of an HTML page.

    Parameters
    ----------
    run : Run
        A simulated motion.
    speed : float
        1 is real time, 0.5 half of it.
    trace : sequence of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn.
    view : str or (float, float), optional
        "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees (default: by the mechanism).
    autoplay : bool
        Start when the page is shown.
    identity : str
        A name that no other film of the page has.

    Returns
    -------
    str
        The HTML text.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 1.0)
    >>> lw.show.animation_element(run, identity="first")[:34]
    '<div class="lw-motion" id="first">'
    """
    if not 0 < speed < 1e6:
        raise LinkwrightError(
            f"the speed must be above 0 (got {speed:g})", remedy="give 1, or 0.5 for half the speed"
        )
    data = film_page_data(run, trace, view)
    speeds = dict(sorted({speed: f"{speed:g} ×", **_FILM_SPEEDS}.items(), reverse=True))
    choices = "".join(
        f'<option value="{value:g}"{" selected" if value == speed else ""}>{word}</option>'
        for value, word in speeds.items()
    )
    first, last = data["times"][0], data["times"][-1]
    mark = html.escape(identity, quote=True)
    content = _film_json({**data, "autoplay": autoplay})
    return (
        f'<div class="lw-motion" id="{mark}"><style>{_FILM_CSS}</style>'
        '<canvas tabindex="0" role="img" aria-label="moving mechanism; drag to turn"></canvas>'
        "<div><button>Play</button>"
        f'<input type="range" min="{first}" max="{last}" step="any" value="{first}" '
        f'aria-label="time"><output></output><select aria-label="speed">{choices}</select></div>'
        f"<p>{_FILM_HINT}{_inexact_film_note(data['error'])}</p>{_FILM_NOSCRIPT}"
        f'<script type="application/json">{content}</script><script>'
        f"{_film_player_script()}(document.currentScript.parentNode, JSON.parse("
        "document.currentScript.previousSibling.textContent));</script></div>"
    )


def _inexact_film_note(error: float) -> str:
    """The note on the page of a run that is too long for exact key frames."""
    if error <= 1:
        return ""
    return (
        f" The run is too long for an exact film: points are up to {error:.0f} pixels from their "
        "places, so joints may open; show a shorter run."
    )


def _film_json(data: Mapping[str, object]) -> str:
    """JSON that cannot end the script element that contains it."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


@cache
def _film_player_script() -> str:
    """The script that plays films."""
    return (files(__package__) / "player.js").read_text(encoding="utf-8").strip()


class FilmData(KeyFrameData):
    """All that a page needs for its film: glyphs, key frames, traces and the first view."""

    error: float
    pixel: float
    links: list[dict[str, object]]
    shapes: list[dict[str, object]]
    ties: list[dict[str, object]]
    traces: list[dict[str, object]]
    right: list[float]
    up: list[float]
    vertical: list[float]
    extent: list[float]
    middle: list[float]
    sign: float
    patterns: dict[str, list[list[tuple[float, float]]]]


def film_page_data(
    run: Run | Kinematics,
    trace: Sequence[str] | None = None,
    view: str | tuple[float, float] | None = None,
) -> FilmData:
    """The data of a film: glyphs of links, how links follow from joint coordinates, key frames."""
    scene = mechanism_scene(run.mechanism)
    seen = scene.view(view)
    poses = drawn_placements_at_times(scene, run, _thinned_film_times(run.t))
    low, high = drawing_bounds(scene, poses, seen)
    middle, pixel = (low + high) / 2, film_pixel_size(high - low)
    ground, points = build_ground_glyphs(scene, poses, seen), find_traced_points(scene, trace)
    shapes = [
        *ground,
        *scene.link_glyphs,
        *scene.wheel_glyphs,
        *scene.joint_glyphs,
        *scene.frame_glyphs,
        *scene.center_glyphs,
    ]
    depth = float(np.mean(seen.depth(poses[:, :-1, :, 3])))
    frames = choose_key_frames(scene, run, shapes, points, pixel)
    return {
        **frames.film_page_frames(),
        "error": round(frames.error_pixels, 2),
        "pixel": pixel,
        "links": film_link_data(scene),
        "shapes": [_film_glyph_data(s, scene) for s in shapes],
        "ties": [_film_connector_data(t, scene) for t in scene.connector_glyphs],
        "traces": [
            {"link": p.link, "point": round_for_film_page(p.point, 1e-6 * scene.size).tolist()}
            for p in points
        ],
        "right": seen.right.tolist(),
        "up": seen.up.tolist(),
        "vertical": view_upward_direction(scene.gravity).tolist(),
        "extent": (high - low).tolist(),
        "middle": (middle[0] * seen.right + middle[1] * seen.up + depth * seen.toward_eye).tolist(),
        "sign": scene.glyph_radius,
        "patterns": {"spring": SPRING_PATHS, "damper": DASHPOT_PATHS},
    }


def _thinned_film_times(times: Floats) -> Floats:
    """At most 2000 of the times, with both ends: enough to see how far a motion reaches."""
    return np.asarray(times[np.unique(np.linspace(0, len(times) - 1, 2000).astype(int))])


def _film_glyph_data(shape: Glyph, scene: Scene) -> dict[str, object]:
    """A glyph as the page reads it."""
    return {
        "kind": shape.kind,
        "link": shape.link,
        "layer": 4.0 if shape.kind in _DEPTH_SORTED_GLYPHS else GLYPH_LAYERS[shape.kind],
        "deep": shape.kind in _DEPTH_SORTED_GLYPHS,
        "colour": _film_glyph_color(shape, scene),
        "points": round_for_film_page(shape.points, 1e-5 * scene.size).tolist(),
    }


def _film_glyph_color(shape: Glyph, scene: Scene) -> str:
    """The colour of a glyph on the page."""
    if shape.kind == "axis":
        return AXIS_COLORS[shape.name[-1]]
    if shape.kind in ("hull", "ball"):
        return AXIS_COLORS["x"] if shape.closes_loop else INK_COLOR
    return (
        INK_COLOR if shape.link == GROUND_LINK else line_color(scene.color_order.get(shape.link, 0))
    )


def _film_connector_data(tie: ConnectorGlyph, scene: Scene) -> dict[str, object]:
    """A spring, damper, rod or rail as the page reads it."""
    on_ground = tie.kind != "rail" or tie.links[0] == GROUND_LINK
    paint = GRAY_COLOR if on_ground else line_color(scene.color_order.get(tie.links[1], 0))
    return {
        "kind": tie.kind,
        "links": list(tie.links),
        "layer": GLYPH_LAYERS[tie.kind],
        "colour": INK_COLOR if tie.kind == "rod" else paint,
        "points": round_for_film_page(tie.points, 1e-5 * scene.size).tolist(),
    }
