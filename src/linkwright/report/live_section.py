"""The section of the page with the live mechanism: moved by hand, simulated, compared."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ..live import LiveScene, element, equations_of, scene
from ..mechanism import Mechanism
from .page_figures import page_traced_frames
from .rendering import render_template
from .shown_motion import LeftOutPagePart, PageMotion

MAX_PLAIN_BYTES, MAX_MESH_BYTES = 2_500_000, 14_000_000
"""Bytes of a live scene without and with meshes, beyond which the page says how large it is."""


def make_page_scene(
    mechanism: Mechanism, motion: PageMotion | LeftOutPagePart, by: Sequence[str] | None = None
) -> LiveScene:
    """Returns the live scene of a page, with the run of its motion if it has several samples and
    no member broke in it, and the equations of the first formulation that is asked for."""
    equations = equations_of(mechanism, by=by[0] if by else None)
    run = None if isinstance(motion, LeftOutPagePart) else motion.run
    if run is None or len(run.t) < 2 or run.next is not None:
        return scene(mechanism, equations=equations)
    trace = page_traced_frames(run)
    return scene(mechanism, run, trace=trace, equations=equations)


def live_section(found: LiveScene | LeftOutPagePart, file: str) -> Markup:
    """Returns the section with the live mechanism."""
    command = f"linkwright report {file}"
    if isinstance(found, LeftOutPagePart):
        return render_template(
            "live.html", problem=found.reason, command=command, scene="", size=""
        )
    most = MAX_MESH_BYTES if found.data["meshes"] else MAX_PLAIN_BYTES
    size = f"{len(found.json) / 1e6:.1f} MB" if len(found.json) > most else ""
    return render_template(
        "live.html", problem=None, command=command, scene=Markup(element(found)), size=size
    )
