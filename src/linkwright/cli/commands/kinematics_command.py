"""`linkwright kinematics`: a driven motion and its singular positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import options
from ..command import command
from ..output import CheckFailedError, Outcome, clean, print_table, with_unit, working
from ..words import read_assignments, read_range

if TYPE_CHECKING:
    from ...simulation import Kinematics

Sweep = tuple[str, float, float] | None


def read_sweep(text: str | None) -> Sweep:
    """Read a coordinate and its range: theta1=0:360deg."""
    if text is None:
        return None
    ((name, limits),) = read_assignments([text]).items()
    return name, *read_range(name, limits)


@command("Motion")
def kinematics(
    mechanism: options.MechanismFile,
    *,
    motion: options.Motion,
    over: Annotated[
        Sweep,
        typer.Option(metavar="NAME=FROM:TO"),
        options.Converted(str | None, lambda text, _: read_sweep(text)),
    ],
    time: options.Duration = 1.0,
    rough: options.RoughCoordinates,
    samples: options.Samples = 501,
    output: options.RunFile,
) -> Outcome:
    """Move a driven mechanism, and find its dead centres, limits and branch points.

    The exit status is 1 if a position cannot be reached.

    Parameters
    ----------
    over
        Sweep one coordinate over a range instead: theta1=0:360deg.

    Examples
    --------
    linkwright kinematics four-bar --over theta1=0:360deg
    linkwright kinematics slider-crank theta1='2*t' -t 3 -o motion.csv
    """
    from ... import simulation

    with working(f"moving {mechanism.name}"):
        found = simulation.solve_kinematics(
            mechanism, motion or None, time, over=over, rough=rough, samples=samples
        )
    if output is not None:
        found.save(output)
    failed = None if found.finished else CheckFailedError(found.status, where=mechanism.name)
    data = _summary(found) | {"file": str(output or "")}
    return Outcome(data, lambda: _print_motion(found), failure=failed)


def _summary(found: Kinematics) -> dict[str, Any]:
    return {
        "status": found.status,
        "positions": len(found.t),
        "t": float(found.t[-1]),
        "q": found.q[-1].tolist(),
        "qd": found.qd[-1].tolist(),
        "qdd": found.qdd[-1].tolist(),
        "closure_error": float(found.closure.max()),
        "singular": [
            {"t": one.t, "kind": one.kind, "what": list(one.what), "q": one.q.tolist()}
            for one in found.singular
        ],
    }


def _print_motion(found: Kinematics) -> None:
    from ...mechanism import names_of
    from ...mechanism.units import coordinate_units

    print(f"status: {found.status}")
    print(f"positions: {len(found.t)}, closed to {found.closure.max():.1e}")
    if not found.singular:
        print("no singular position was found")
        return
    names, units = names_of(found.mechanism).q, coordinate_units(found.mechanism)
    rows = [
        [f"{one.t:.10f}", one.kind, ", ".join(one.what), *(f"{x:.10f}" for x in clean(one.q[:6]))]
        for one in found.singular
    ]
    print_table(["t", "kind", "of", *with_unit(names[:6], units[:6])], rows)
