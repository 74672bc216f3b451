"""The sections on ranges and singular positions, bearing forces, and linear modes as HTML."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from ..linkages.bearing_loads import BearingForces
from ..show import animation_element, bearing_figure, linkage_figure
from .page_figures import PAGE_FIGURE_WIDTH, figure_html
from .page_findings import PageMode, PageModes, PageRanges
from .rendering import render_template, typeset_page_law
from .shown_motion import LeftOutPagePart

_MODE_SECONDS = 1.6
"""Seconds that a period of a mode lasts in its film, whatever its frequency is."""


def ranges_section(found: PageRanges | LeftOutPagePart, file: str) -> Markup:
    """Returns the section on the ranges of coordinates, mobility and singular positions."""
    command = f"linkwright linkage {file}"
    if isinstance(found, LeftOutPagePart):
        return render_template("ranges.html", problem=found.reason, command=command)
    has_motion = any(moved for _, _, moved in found.rows)
    has_limits = any(stated != "unlimited" for _, stated, _ in found.rows)
    columns = (0, *(1,) * has_limits, *(2,) * has_motion)
    head = ("coordinate", "limits in the file", "range of the motion")
    figure = (
        figure_html(
            linkage_figure(found.analysis, width=PAGE_FIGURE_WIDTH),
            f"{found.analysis.input} moves {found.analysis.output}.",
            "ratios",
        )
        if found.analysis is not None
        else Markup()
    )
    return render_template(
        "ranges.html",
        problem=None,
        head=[head[k] for k in columns],
        rows=[[typeset_page_law(row[k]) for k in columns] for row in found.rows]
        if len(columns) > 1
        else [],
        sentences=found.sentences,
        figure=figure,
    )


def bearings_section(found: BearingForces | LeftOutPagePart | None, file: str) -> Markup:
    """Returns the section on bearing forces over a cycle; nothing if the mechanism is not a
    linkage."""
    if found is None:
        return Markup()
    if isinstance(found, LeftOutPagePart):
        return render_template("bearings.html", problem=found.reason)
    turns = found.input_unit == "rad"
    rate = "one turn a second" if turns else f"{found.speed:.3g} m/s"
    return render_template(
        "bearings.html",
        problem=None,
        rate=rate,
        input=found.input,
        effort=f"{np.abs(found.effort).max():.4g} {'N m' if turns else 'N'}",
        rows=[
            (name, f"{size:.4g}", typeset_page_law(place))
            for name, size, place in found.largest_rows()
        ],
        figure=figure_html(
            bearing_figure(found, width=PAGE_FIGURE_WIDTH),
            "Polar diagram of the forces (a dot marks the start), and their sizes over the cycle.",
            "bearings",
        ),
    )


def modes_section(found: PageModes | LeftOutPagePart | None, file: str) -> Markup:
    """Returns the section on linear modes as films; nothing if the mechanism has none."""
    if found is None:
        return Markup()
    command = f"linkwright equilibrium {file}"
    if isinstance(found, LeftOutPagePart):
        return render_template("modes.html", problem=found.reason, command=command)
    shown = [(_mode_caption(k, mode), _mode_film(k, mode)) for k, mode in enumerate(found.modes, 1)]
    swinging = sum(frequency > 0 for frequency in found.frequencies)
    return render_template(
        "modes.html",
        problem=None,
        place=found.place,
        kind=found.kind,
        modes=shown,
        hidden=swinging - len(found.modes),
        still=sum(frequency == 0 for frequency in found.frequencies),
    )


def _mode_caption(number: int, mode: PageMode) -> str:
    """The frequency of a mode, and its largest parts."""
    parts = ", ".join(f"{name} {x:+.2f}".replace("-", "−") for name, x in mode.parts[:4])
    hertz = mode.frequency / (2 * np.pi)
    return f"Mode {number}: {mode.frequency:.4g} rad/s ({hertz:.3g} Hz); {parts}"


def _mode_film(number: int, mode: PageMode) -> Markup:
    """The film of a mode at a speed that shows it."""
    pace = float(f"{2 * np.pi / mode.frequency / _MODE_SECONDS:.2g}")
    return Markup(
        animation_element(
            mode.motion, speed=pace, trace=[], autoplay=False, identity=f"mode-{number}"
        )
    )
