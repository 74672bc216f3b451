"""Declarations of a text beside its equations: names, frames, and particles.

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

from ..errors import ExpressionError, NameNotFoundError, suggest_remedy
from ..expressions import expression_text, parse_expression
from ..expressions.tokens import shorten_expression_text
from ..mechanism import Mechanism, replace_part_fields
from .statement_reader import expand_index_ranges

_NAME_DECLARATION = re.compile(r"([A-Za-z][\w{}]*) is ([^=]+?(?:, *\w+ = \d+\.\.\d+)*)")
_FRAME_DECLARATION = re.compile(r"frame (\w+) on (\w+)(?: at (.+))?")
_PARTICLE_DECLARATION = re.compile(r"mass (.+) at (\w+)")
WITHOUT_HEADING_PREFIX = "without "


@dataclass(frozen=True)
class TextDeclarations:
    """`frames` of bodies, as in a mechanism's file; `composed_frames` turn with one frame and move
    with another; `particle_masses`, those of particles by their frames."""

    given_names: dict[str, str] = field(default_factory=dict)
    frames: dict[str, dict[str, object]] = field(default_factory=dict)
    composed_frames: dict[str, tuple[str, str]] = field(default_factory=dict)
    particle_masses: dict[str, str] = field(default_factory=dict)


NO_DECLARATIONS = TextDeclarations()


def separate_declarations(text: str, mechanism: Mechanism) -> tuple[str, TextDeclarations]:
    """The text without its declarations, and these."""
    found, rest = TextDeclarations(), []
    for line in re.sub(r"(?<!\\)#.*", "", text).splitlines():
        said = line.strip()
        if match := _FRAME_DECLARATION.fullmatch(said):
            _declare_frame_of_text(found, mechanism, said, match)
        elif match := _PARTICLE_DECLARATION.fullmatch(said):
            _require_frame_of_declaration(match[2], found, mechanism, said)
            found.particle_masses[match[2]] = expression_text(parse_expression(match[1]))
        elif match := _NAME_DECLARATION.fullmatch(said):
            found.given_names.update(_expand_name_declaration(match[1], match[2]))
        else:
            rest.append(line)
    return "\n".join(rest), found


def _declare_frame_of_text(
    found: TextDeclarations, mechanism: Mechanism, line: str, match: re.Match[str]
) -> None:
    name, on, at = match.groups()
    if name in _declared_frame_names(found, mechanism):
        raise ExpressionError(
            f"there is a '{name}' already, in '{shorten_expression_text(line)}'",
            remedy="choose another name for the frame",
        )
    _require_frame_of_declaration(on, found, mechanism, line)
    parts = [part.strip() for part in at.strip("[]() ").split(",")] if at else [on]
    if len(parts) == 1:
        _require_frame_of_declaration(parts[0], found, mechanism, line)
        found.composed_frames[name] = (on, parts[0])
    elif len(parts) == 3 and on in mechanism.bodies:
        found.frames[name] = {
            "body": on,
            "origin": [expression_text(parse_expression(part)) for part in parts],
        }
    else:
        raise ExpressionError(
            f"'{shorten_expression_text(line)}' has no position",
            remedy="write three coordinates in the axes of a body, or the name of a frame",
        )


def _declared_frame_names(found: TextDeclarations, mechanism: Mechanism) -> list[str]:
    return [*mechanism.bodies, *mechanism.frames, *found.frames, *found.composed_frames]


def _require_frame_of_declaration(
    name: str, found: TextDeclarations, mechanism: Mechanism, line: str
) -> None:
    owners = _declared_frame_names(found, mechanism)
    if name not in owners:
        raise NameNotFoundError(
            f"unknown body or frame '{shorten_expression_text(name)}', "
            f"in '{shorten_expression_text(line)}'",
            remedy=suggest_remedy(name, owners),
        )


def _expand_name_declaration(theirs: str, ours: str) -> Iterator[tuple[str, str]]:
    for line in expand_index_ranges(f"{theirs} = {ours}"):
        left, right = (expression_text(parse_expression(side)) for side in line.split("=", 1))
        yield left, right


def mechanism_of_text_heading(mechanism: Mechanism, heading: str) -> Mechanism:
    """The mechanism that a heading `without edge, drive` speaks of."""
    if not heading.startswith(WITHOUT_HEADING_PREFIX):
        return mechanism
    left_out = [name.strip() for name in heading.removeprefix(WITHOUT_HEADING_PREFIX).split(",")]
    for name in left_out:
        if name not in mechanism.constraints:
            raise NameNotFoundError(
                f"unknown constraint '{name}' after 'without'",
                where=mechanism.name,
                remedy=suggest_remedy(name, list(mechanism.constraints)),
            )
    kept = {name: x for name, x in mechanism.constraints.items() if name not in left_out}
    return replace_part_fields(mechanism, constraints=kept, independent=())
