"""How notebooks display mechanisms and motions: the live viewer, or a picture where none runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import LinkwrightError, MissingExtraError
from ..mechanism import Mechanism, require_mechanism
from ..motion import MotionPlan
from ..show import data_uri, figure_of
from ..simulation import solve_inverse
from ..simulation.kinematic_motion import Kinematics
from ..simulation.run import FINISHED, Run

if TYPE_CHECKING:
    from .notebook_widget import MechanismViewer

Displayed = Mechanism | Run | MotionPlan

_MAX_NAMED_JOINTS = 8
"""Joints that a static picture names."""


@dataclass(frozen=True)
class StaticDisplay:
    """A picture and a table as HTML, for notebooks in which no widget runs."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


def viewer(
    mechanism: Displayed, run: Run | None = None, *, trace: list[str] | None = None
) -> MechanismViewer:
    """Return a live view of a mechanism for a notebook.

    Parameters
    ----------
    mechanism : Mechanism, Run or MotionPlan
        The mechanism, or a motion of one.
    run : Run, optional
        A recorded motion of the mechanism, which the view plays.
    trace : list of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn.

    Returns
    -------
    MechanismViewer
        A widget with the traits `q`, `parameters`, `picked` and `t`, live in both directions.

    Examples
    --------
    >>> import linkwright as lw
    >>> view = lw.show.viewer(lw.gallery("elbow"))
    >>> view.q = [0.3, 0.5]  # the picture follows
    """
    try:
        from .notebook_widget import MechanismViewer
    except ImportError:
        raise MissingExtraError(
            "live views in notebooks need anywidget", remedy="install linkwright[notebook]"
        ) from None
    shown, recorded = _shown_motion(mechanism)
    return MechanismViewer(shown, run if run is not None else recorded, trace=trace)


def _shown_motion(result: Displayed) -> tuple[Mechanism, Run | None]:
    """The mechanism of a result, and its motion as a run."""
    if isinstance(result, Run):
        return result.mechanism, result if len(result.t) > 1 and result.next is None else None
    if isinstance(result, MotionPlan):
        rest = result.t * 0.0
        motion = Kinematics(
            result.mechanism, result.t, result.q, result.qd, result.qdd, rest, (), (), FINISHED, {}
        )
        return result.mechanism, solve_inverse(result.mechanism, motion)
    return require_mechanism(result), None


def notebook_bundle(result: Displayed) -> dict[str, object]:
    """Return what Jupyter displays: the live view where a kernel can drive one, with the table and
    the picture for all other places."""
    bundle: dict[str, object] = {"text/plain": repr(result)}
    if "ipykernel" not in sys.modules:  # a terminal
        return bundle
    bundle["text/html"] = static_html(result)
    try:
        found = viewer(result)._repr_mimebundle_()
    except LinkwrightError:
        return bundle
    data = found[0] if isinstance(found, tuple) else found
    return {**(data or {}), **bundle}


def marimo_display(result: Displayed) -> object:
    """Return what marimo displays: the live view, or the static one."""
    try:
        return viewer(result)
    except LinkwrightError:
        return StaticDisplay(static_html(result))


def static_html(result: Displayed) -> str:
    """Return the table of a result with a picture of its mechanism as HTML."""
    table = result._repr_html_()
    mechanism = result if isinstance(result, Mechanism) else result.mechanism
    q = None if isinstance(result, Mechanism) else result.q[0]
    try:
        drawn = figure_of(mechanism, q, names=len(mechanism.joints) <= _MAX_NAMED_JOINTS)
    except LinkwrightError:  # matplotlib is missing, or there is nothing to draw
        return table
    return f'<img alt="{_escaped(mechanism.name)}" width="420" src="{data_uri(drawn)}">{table}'


def _escaped(text: str) -> str:
    """A text for an attribute of HTML."""
    from html import escape

    return escape(text, quote=True)
