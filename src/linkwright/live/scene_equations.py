"""Equations beside a live picture: formulas whose symbols light up bodies and get values."""

from __future__ import annotations

from dataclasses import dataclass

from ..expressions import names_in_expression
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..mechanism import Mechanism
from ..mechanism.parts import part_numbers


@dataclass(frozen=True)
class LiveEquation:
    """A formula for a live page.

    `title` says what it is; `mathml` is a `<math>` element as text, whose symbols are marked by
    `data-symbol` (`forms` writes them so); it is never taken from a file as it is.
    """

    title: str
    mathml: str

    def data(self) -> dict[str, str]:
        """Return the equation as plain data."""
        return {"title": self.title, "mathml": self.mathml}


def scene_symbols(mechanism: Mechanism, tree: KinematicTree) -> dict[str, dict[str, object]]:
    """Return for each symbol the links that light up, and what the symbol is.

    A coordinate belongs to the link that it moves, a parameter to every body, joint or frame whose
    numbers contain it.
    """
    found: dict[str, dict[str, object]] = {}
    for name in mechanism.parameters:
        found[name] = {"kind": "parameter", "links": _links_with_parameter(mechanism, tree, name)}
    for span in tree.joints:
        for name in (*tree.names.q, *tree.names.qd):
            if name == span.name or name.startswith(f"{span.name}."):
                found[name] = {"kind": "coordinate", "links": list(span.links)}
    return found


def _links_with_parameter(mechanism: Mechanism, tree: KinematicTree, name: str) -> list[int]:
    """The links whose bodies, joints or frames contain a parameter, also through others."""
    users = {name} | {
        other
        for other, written in mechanism.parameters.items()
        if name in names_in_expression(written)
    }
    links: dict[int, None] = {}
    spans = {span.name: span for span in tree.joints}
    for body, part in mechanism.bodies.items():
        if any(users & set(names_in_expression(number)) for _, number, _ in part_numbers(part)):
            links[tree.masses[body].link] = None
    for joint, part in mechanism.joints.items():
        if any(users & set(names_in_expression(number)) for _, number, _ in part_numbers(part)):
            links[spans[joint].frame.link if joint in spans else GROUND] = None
    for frame, part in mechanism.frames.items():
        if any(users & set(names_in_expression(number)) for _, number, _ in part_numbers(part)):
            links[tree.frames[frame].link] = None
    return [link for link in links if link != GROUND]
