"""What a run is differentiated by: parameters, and coordinates and velocities of its start."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import ArgumentError, LinkwrightError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, MechanismNames, mechanism_names

STARTS = ("q0", "qd0")
"""Names of the start as a whole; `q0.theta1` is one coordinate of it."""


@dataclass(frozen=True)
class SensitivityRequest:
    """The parameters, start coordinates and start velocities that a user asks for.

    A start that is asked for as a whole is None: its coordinates depend on the constraints.
    """

    parameters: tuple[str, ...]
    coordinates: tuple[str, ...] | None
    velocities: tuple[str, ...] | None


def read_sensitivity_request(mechanism: Mechanism, names: Sequence[str]) -> SensitivityRequest:
    """Return what is asked for; an unknown name is an error."""
    is_list = isinstance(names, Iterable) and not isinstance(names, str)
    if not is_list or not all(isinstance(name, str) for name in names):
        raise ArgumentError("sensitivity is not a list of names", remedy='give ["m2", "q0"]')
    if not names:
        raise ArgumentError("sensitivity has no names", remedy='give ["m2", "q0"], or None')
    known = mechanism_names(mechanism)
    hidden = [name for name in STARTS if name in mechanism.parameters and name in names]
    if hidden:
        raise LinkwrightError(
            f"'{hidden[0]}' is the name of a parameter and of the start of the motion",
            where=mechanism.name,
            remedy="rename the parameter",
        )
    singles = {start: _single_starts(start, known) for start in STARTS}
    for name in names:
        choices = [*mechanism.parameters, *STARTS, *singles["q0"], *singles["qd0"]]
        if name not in choices:
            raise NameNotFoundError(
                f"unknown parameter or start '{name}'",
                where=f"{mechanism.name}: sensitivity",
                remedy=suggest_remedy(name, choices),
            )
    parts: list[tuple[str, ...] | None] = [
        None
        if start in names
        else tuple(short for full, short in singles[start].items() if full in names)
        for start in STARTS
    ]
    parameters = tuple(dict.fromkeys(name for name in names if name in mechanism.parameters))
    return SensitivityRequest(parameters, parts[0], parts[1])


def _single_starts(start: str, names: MechanismNames) -> dict[str, str]:
    """Return the coordinates of a start by their full names; rotations have tangent coordinates."""
    return {f"{start}.{name}": name for name in names.qd}
