"""The section of the page with the live mechanism: moved by hand, simulated, compared."""

from __future__ import annotations

from markupsafe import Markup

from ..live import LiveScene, element, equations_of, scene
from ..mechanism import Mechanism
from ..simulation import Run
from .page_figures import page_traced_frames
from .rendering import render_template
from .shown_motion import LeftOutPagePart, PageMotion

MAX_PLAIN_BYTES, MAX_MESH_BYTES = 2_500_000, 14_000_000
"""Bytes of a live scene without and with meshes, beyond which the page says how large it is."""


def make_page_scene(mechanism: Mechanism, run: Run | None) -> LiveScene:
    """Returns the live scene of a page, with a recorded run if it has several samples."""
    kept = run if run is not None and len(run.t) > 1 else None
    trace = page_traced_frames(kept) if kept is not None else None
    return scene(mechanism, kept, trace=trace, equations=equations_of(mechanism))


def recorded_page_run(found: PageMotion | LeftOutPagePart) -> Run | None:
    """Returns the run of a page's motion; None if the motion was left out, or goes on with another
    mechanism after a member broke."""
    if isinstance(found, LeftOutPagePart) or found.run.next is not None:
        return None
    return found.run


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
