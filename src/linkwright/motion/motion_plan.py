"""A planned motion of a frame: its samples, the efforts that it takes, and its files."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed, NotebookTable
from ..errors import FileError
from ..live_displays import LiveDisplayed
from ..mechanism import Mechanism, mechanism_names
from ..types import Floats
from .coordinate_units import trajectory_number_text, trajectory_units
from .trajectory import Trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PICTURE_ENDINGS = (".png", ".pdf", ".svg")


@dataclass(frozen=True, repr=False)
class MotionPlan(NotebookDisplayed, LiveDisplayed):
    """A planned motion of a frame, sampled, with the efforts that it needs.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism that moves.
    frame : str
        The frame that the plan is about.
    trajectory : Trajectory
        The motion of the coordinates.
    t : (n,) array
        Times of the samples, s.
    q, qd, qdd, tau : (n, nq) and (n, nv) arrays
        Coordinates, velocities, accelerations and generalized forces: rad or m, N m or N.
    point : (n, 3) array
        Origin of the frame in the world, m.
    exceeded : tuple of str
        The ranges, velocities and efforts that the motion exceeds, in words.

    Examples
    --------
    >>> import linkwright as lw
    >>> plan = lw.motion.plan_to(lw.gallery("elbow"), "tool", [[1.0, 1.0]], duration=1.0)
    >>> plan.frame, plan.point[-1].round(6)
    ('tool', array([1., 1., 0.]))
    """

    mechanism: Mechanism
    frame: str
    trajectory: Trajectory
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats
    point: Floats
    exceeded: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line: what moves, for how long, and how many limits it exceeds."""
        end = f"{self.t[-1]:.4g} s in {len(self.t)} samples"
        beyond = f", {len(self.exceeded)} limits exceeded" if self.exceeded else ""
        return f"Plan of {self.frame} of {self.mechanism.name}: {end}{beyond}"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *self.exceeded])

    def notebook_table(self) -> NotebookTable:
        """Return the largest velocity, acceleration and effort of each joint, for a notebook."""
        peaks = [np.abs(history).max(axis=0) for history in (self.qd, self.qdd, self.tau)]
        rows = [
            (
                name,
                *(
                    trajectory_number_text(x, u)
                    for x, u in zip(row, unit.of_position_rates_and_effort[1:], strict=True)
                ),
            )
            for name, unit, *row in zip(
                mechanism_names(self.mechanism).qd,
                trajectory_units(self.mechanism),
                *peaks,
                strict=True,
            )
        ]
        heads = ("", "largest velocity", "largest acceleration", "largest effort")
        return NotebookTable(heads, rows, self.exceeded)

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """All histories by name: t, q1, …, dq1, …, ddq1, …, tau_q1, …, x, y, z."""
        names = mechanism_names(self.mechanism)
        table = {"t": self.t}
        for prefix, rows, words in (
            ("", self.q, names.q),
            ("d", self.qd, names.qd),
            ("dd", self.qdd, names.qd),
            ("tau_", self.tau, names.qd),
        ):
            table |= {f"{prefix}{word}": rows[:, k] for k, word in enumerate(words)}
        return table | {f"{self.frame}.{c}": self.point[:, k] for k, c in enumerate("xyz")}

    def bytes_as(self, ending: str) -> bytes:
        """Return the content of a file.

        Parameters
        ----------
        ending : str
            ".csv" for all columns, ".npz" for the arrays t, q, qd, qdd, tau and point, or ".png",
            ".pdf" or ".svg" for a picture.

        Returns
        -------
        bytes
            What `save` writes.
        """
        if ending in PICTURE_ENDINGS:
            return self._picture_content(ending[1:])
        if ending == ".npz":
            buffer = io.BytesIO()
            arrays = {k: getattr(self, k) for k in ("t", "q", "qd", "qdd", "tau", "point")}
            np.savez(buffer, **arrays)
            return buffer.getvalue()
        if ending != ".csv":
            remedy = f"use .csv, .npz, {', '.join(PICTURE_ENDINGS)}"
            raise FileError(f"'{ending}' cannot be written", remedy=remedy)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        rows = np.column_stack(list(self.columns.values()))
        writer.writerows([[repr(float(x)) for x in row] for row in rows])
        return text.getvalue().encode()

    def _picture_content(self, kind: str) -> bytes:
        picture: bytes = find_convenience("Plan.save")(self, kind)
        return picture

    def plot(self, *names: str, **options: Any) -> Figure:
        """Plot histories over time.

        Parameters
        ----------
        *names : str
            "q", "qd", "qdd" or "tau".
        **options
            Those of `show.plan_histories`.

        Returns
        -------
        Figure
            A matplotlib figure.
        """
        figure: Figure = find_convenience("Plan.plot")(self, *names, **options)
        return figure

    def draw(self, **options: Any) -> Figure:
        """Draw the mechanism at both ends and the path between.

        Parameters
        ----------
        **options
            Those of `show.plan_ends`.

        Returns
        -------
        Figure
            A matplotlib figure.
        """
        figure: Figure = find_convenience("Plan.draw")(self, **options)
        return figure

    def save(self, path: str | File) -> None:
        """Write the plan to a file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            A table (.csv), arrays (.npz) or a picture (.png, .pdf, .svg).
        """
        target = File(path)
        content = self.bytes_as(target.suffix.lower())
        half = target.with_name(f".{target.name}.part")
        try:
            half.write_bytes(content)
            half.replace(target)
        except OSError as error:
            raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
        finally:
            half.unlink(missing_ok=True)
