"""Figures on the page of a mechanism, and which coordinates of a motion they show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from markupsafe import Markup

from ..mechanism import mechanism_names
from ..mechanism.mechanism_units import coordinate_units
from ..show import cyclograph, plot, svg
from ..show.panels import ANGLE_UNIT
from ..simulation import Run
from .rendering import render_template

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE_FIGURE_WIDTH = 92.0
"""The width of figures, mm: their words can be read where a phone shows them whole."""
MAX_PLOT_LINES = 8
"""Coordinates that a plot can show."""
_MAX_TRACED_FRAMES = 4
"""Frames whose traces are drawn."""
_MAX_JOINTS_DRAWN_OFTEN = 12
"""Joints of a mechanism whose positions can be drawn often."""
_MAX_MARKED_EVENTS = 12
"""Times of events that are marked: more of them would hide the lines."""
_MIN_SPIN_RATIO = 15.0
"""The ratio of turns above which one coordinate would hide the others."""


def figure_html(figure: Figure, caption: str, mark: str) -> Markup:
    """Returns an inline figure; `mark` makes its element ids unique on the page."""
    text = re.sub(r'\bid="', f'id="{mark}-', svg(figure))
    text = re.sub(r'(url\(#|href="#)', rf"\1{mark}-", text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.S)
    return render_template("picture.html", drawing=Markup(text), caption=caption)


def motion_figures_html(run: Run) -> list[Markup]:
    """Returns the plots of coordinates, velocities and energies of a run, and its cyclograph."""
    names, spinning = mechanism_names(run.mechanism), coordinates_hidden_on_page(run)
    every = None if len(run.mechanism.joints) <= _MAX_JOINTS_DRAWN_OFTEN else float(run.t[-1]) / 9
    q, in_q = _page_plot_names(names.q, spinning)
    qd, in_qd = _page_plot_names(names.qd, spinning)
    marked = (
        run
        if len({event.t for event in run.events}) <= _MAX_MARKED_EVENTS
        else replace(run, events=())
    )
    drawn = {
        "q": (plot(marked, "q", only=q, width=PAGE_FIGURE_WIDTH), f"Coordinates{in_q}."),
        "qd": (plot(marked, "qd", only=qd, width=PAGE_FIGURE_WIDTH), f"Speeds{in_qd}."),
        "energy": (plot(marked, "energy", width=PAGE_FIGURE_WIDTH), "Energies."),
        "positions": (
            cyclograph(run, every, page_traced_frames(run), width=PAGE_FIGURE_WIDTH),
            "Positions at equal intervals.",
        ),
    }
    return [figure_html(figure, caption, mark) for mark, (figure, caption) in drawn.items()]


def coordinates_hidden_on_page(run: Run) -> list[str]:
    """The coordinates of wheels and the like, whose many turns would hide all other angles."""
    names, units = mechanism_names(run.mechanism).q, coordinate_units(run.mechanism)
    far = np.abs(run.q).max(axis=0)
    angles = [k for k, unit in enumerate(units) if unit == ANGLE_UNIT]
    usual = float(np.median(far[angles])) if angles else 0.0
    return [names[k] for k in angles if far[k] > max(4 * np.pi, _MIN_SPIN_RATIO * usual)]


def _page_plot_names(names: Sequence[str], spinning: Sequence[str]) -> tuple[list[str], str]:
    """The names that a plot shows (empty: all), and a phrase on those that it leaves out."""
    shown = [name for name in names if name not in spinning]
    hidden = [name for name in names if name in spinning]
    if not shown or len(names) == len(shown) <= MAX_PLOT_LINES:
        return [], ""
    left = f", without {' and '.join(hidden)}, which keep turning" if hidden else ""
    some = f", the first {MAX_PLOT_LINES} of {len(names)}" if len(shown) > MAX_PLOT_LINES else ""
    return shown[:MAX_PLOT_LINES], f"{left}{some}"


def page_traced_frames(run: Run) -> list[str] | None:
    """The frames whose traces are drawn: None for all, none of them if there are many."""
    return None if len(run.mechanism.frames) <= _MAX_TRACED_FRAMES else []
