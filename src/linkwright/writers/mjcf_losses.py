"""Properties of a mechanism that MJCF cannot express, each as one line of text."""

from __future__ import annotations

from collections.abc import Iterator

from ..mechanism import Mechanism, Spring


def list_mjcf_losses(mechanism: Mechanism) -> Iterator[str]:
    """Yield one line for each property that the writer leaves out, joints and sections aside."""
    if mechanism.parameters:
        names = ", ".join(mechanism.parameters)
        yield f"the names of the parameters {names} (their values are kept)"
    if mechanism.speeds:
        yield f"the generalized speeds {', '.join(mechanism.speeds)}"
    for name, force in mechanism.forces.items():
        if not isinstance(force, Spring):
            yield f"force {name}, which is a {force.type}"
    for name in mechanism.contacts:
        yield f"contact {name} (MuJoCo's contacts are soft)"
    if mechanism.assembly:
        yield f"the rough values of {', '.join(mechanism.assembly)} near which it assembles"
