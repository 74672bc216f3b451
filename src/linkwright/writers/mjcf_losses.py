"""Properties of a mechanism that MJCF cannot express, each as one line of text."""

from __future__ import annotations

from collections.abc import Iterator

from ..mechanism import Mechanism


def list_mjcf_losses(mechanism: Mechanism) -> Iterator[str]:
    """Yield one line for each property that the writer leaves out, joints and sections aside."""
    if mechanism.parameters:
        names = ", ".join(mechanism.parameters)
        yield f"the names of the parameters {names} (their values are kept)"
    if mechanism.speeds:
        yield f"the generalized speeds {', '.join(mechanism.speeds)}"
    for table in ("forces", "contacts"):
        for name in getattr(mechanism, table):
            yield f"{table.removesuffix('s')} {name}"
    if mechanism.assembly:
        yield f"the rough values of {', '.join(mechanism.assembly)} near which it assembles"
    shapes = sum(len(body.shapes) for body in mechanism.bodies.values())
    shapes += len(mechanism.ground_shapes)
    if shapes:
        yield f"{shapes} shapes"
