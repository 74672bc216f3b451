"""`viewer`: the live view of a mechanism in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..conveniences import find_convenience

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..mechanism import Mechanism
    from ..motion import MotionPlan
    from ..simulation import Run
    from ..types import NotebookViewer


def viewer(
    mechanism: Mechanism | Run | MotionPlan,
    run: Run | None = None,
    *,
    trace: Sequence[str] | None = None,
) -> NotebookViewer:
    """Return a live view of a mechanism for a notebook (extra `notebook`).

    Parameters
    ----------
    mechanism : Mechanism, Run or MotionPlan
        The mechanism, or a motion of one.
    run : Run, optional
        A recorded motion of the mechanism, which the view plays.
    trace : sequence of str, optional
        Frames, and bodies for their centres of mass, whose paths are drawn.

    Returns
    -------
    MechanismViewer
        A widget with the traits `q` (coordinates, rad or m), `parameters` (by name, SI units),
        `picked` (the picked body) and `t`, which follow the picture and change it.

    Examples
    --------
    >>> import linkwright as lw
    >>> view = lw.show.viewer(lw.gallery("elbow"))
    >>> view.q = [0.3, 0.5]  # the picture follows
    """
    found: NotebookViewer = find_convenience("show.viewer")(mechanism, run, trace=trace)
    return found
