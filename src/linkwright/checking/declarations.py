"""What a text says of itself, beside its equations: names, frames, and particles.

V_OB is V_B                     a name of theirs for one of ours, or for an expression of ours
psi{k} is tau{k}, k = 1..6      one for each k
frame A on link1                a frame of a body, or another name for a frame
frame D on link2 at 0, 0, d2    with its origin elsewhere in the body
frame C on B at P               it turns with B, and its origin moves with P
mass m1 at P                    a particle, whose momentum is HPx, … and inertia force FPx, …
[without edge]                  a heading: of the mechanism without that constraint
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import ExpressionError, NameNotFoundError, suggest
from ..expressions import parse, to_text
from ..expressions.tokens import shorten
from ..mechanism import Mechanism
from ..mechanism.mechanism import replaced
from .reading import each

_IS = re.compile(r"([A-Za-z][\w{}]*) is ([^=]+?(?:, *\w+ = \d+\.\.\d+)*)")
_FRAME = re.compile(r"frame (\w+) on (\w+)(?: at (.+))?")
_MASS = re.compile(r"mass (.+) at (\w+)")
WITHOUT = "without "


@dataclass(frozen=True)
class Declarations:
    """`frames` of bodies, as in a mechanism's file; `composed` ones turn with one frame and move
    with another; `masses` of particles by their frames."""

    names: dict[str, str] = field(default_factory=dict)
    frames: dict[str, dict[str, object]] = field(default_factory=dict)
    composed: dict[str, tuple[str, str]] = field(default_factory=dict)
    masses: dict[str, str] = field(default_factory=dict)


NOTHING = Declarations()


def declared(text: str, mechanism: Mechanism) -> tuple[str, Declarations]:
    """The text without its declarations, and these."""
    found, rest = Declarations(), []
    for line in re.sub(r"(?<!\\)#.*", "", text).splitlines():
        said = line.strip()
        if match := _FRAME.fullmatch(said):
            _add_frame(found, mechanism, said, match)
        elif match := _MASS.fullmatch(said):
            _known(match[2], found, mechanism, said)
            found.masses[match[2]] = to_text(parse(match[1]))
        elif match := _IS.fullmatch(said):
            found.names.update(_each(match[1], match[2]))
        else:
            rest.append(line)
    return "\n".join(rest), found


def _add_frame(found: Declarations, mechanism: Mechanism, line: str, match: re.Match[str]) -> None:
    name, on, at = match.groups()
    if name in _owners(found, mechanism):
        raise ExpressionError(
            f"there is a '{name}' already, in '{shorten(line)}'", remedy="call the frame otherwise"
        )
    _known(on, found, mechanism, line)
    parts = [part.strip() for part in at.strip("[]() ").split(",")] if at else [on]
    if len(parts) == 1:
        _known(parts[0], found, mechanism, line)
        found.composed[name] = (on, parts[0])
    elif len(parts) == 3 and on in mechanism.bodies:
        found.frames[name] = {"body": on, "origin": [to_text(parse(part)) for part in parts]}
    else:
        raise ExpressionError(
            f"'{shorten(line)}' has no place",
            remedy="write three coordinates in the axes of a body, or the name of a frame",
        )


def _owners(found: Declarations, mechanism: Mechanism) -> list[str]:
    return [*mechanism.bodies, *mechanism.frames, *found.frames, *found.composed]


def _known(name: str, found: Declarations, mechanism: Mechanism, line: str) -> None:
    owners = _owners(found, mechanism)
    if name not in owners:
        raise NameNotFoundError(
            f"there is no body or frame '{shorten(name)}', in '{shorten(line)}'",
            remedy=suggest(name, owners),
        )


def _each(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    for line in each(f"{theirs} = {ours}"):
        left, right = (to_text(parse(side)) for side in line.split("=", 1))
        yield left, right


def without(mechanism: Mechanism, heading: str) -> Mechanism:
    """The mechanism that a heading `without edge, drive` speaks of."""
    if not heading.startswith(WITHOUT):
        return mechanism
    left_out = [name.strip() for name in heading.removeprefix(WITHOUT).split(",")]
    for name in left_out:
        if name not in mechanism.constraints:
            raise NameNotFoundError(
                f"there is no constraint '{name}' to be without", where=mechanism.name,
                remedy=suggest(name, list(mechanism.constraints)),
            )  # fmt: skip
    kept = {name: x for name, x in mechanism.constraints.items() if name not in left_out}
    return replaced(mechanism, constraints=kept, independent=())
