"""Symbols of a live page: the links that they belong to, which light up."""

from __future__ import annotations

import casadi as ca
from pydantic import BaseModel

from ..expressions import names_in_expression
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import Mechanism
from ..mechanism.parts import part_numbers


def scene_symbols(mechanism: Mechanism, tree: KinematicTree) -> dict[str, dict[str, object]]:
    """Return for each symbol the links that light up, and what the symbol is.

    A coordinate belongs to the link that it moves, a parameter to every body, joint or frame whose
    numbers contain it.
    """
    found: dict[str, dict[str, object]] = {}
    for name in mechanism.parameters:
        found[name] = {"kind": "parameter", "links": _links_with_parameter(mechanism, tree, name)}
    moved = _links_of_coordinates(tree)
    for k, name in enumerate(tree.names.q):
        found[name] = {"kind": "coordinate", "links": moved[k]}
    return found


def _links_of_coordinates(tree: KinematicTree) -> list[list[int]]:
    """For each coordinate the first link that it moves, or the links of its joint."""
    q = tree.motion.q
    poses = WorldKinematics(tree, q).link_poses
    found: list[list[int]] = []
    for k, name in enumerate(tree.names.q):
        joint = [s for s in tree.joints if name == s.name or name.startswith(f"{s.name}.")]
        moved = [
            link
            for link, pose in enumerate(poses)
            if ca.depends_on(ca.vertcat(ca.vec(ca.SX(pose.R)), ca.SX(pose.p)), q[k])
        ]
        found.append(list(joint[0].links) if joint else moved[:1])
    return found


def _links_with_parameter(mechanism: Mechanism, tree: KinematicTree, name: str) -> list[int]:
    """The links whose bodies, joints or frames contain a parameter, also through others."""
    users = {name} | {
        other
        for other, written in mechanism.parameters.items()
        if name in names_in_expression(written)
    }
    spans = {span.name: span for span in tree.joints}
    places: list[tuple[BaseModel, int]] = [
        *((part, tree.masses[name].link) for name, part in mechanism.bodies.items()),
        *((part, spans[name].frame.link) for name, part in mechanism.joints.items()),
        *((part, tree.frames[name].link) for name, part in mechanism.frames.items()),
    ]
    links = dict.fromkeys(
        link
        for part, link in places
        if any(users & set(names_in_expression(number)) for _, number, _ in part_numbers(part))
    )
    return [link for link in links if link != GROUND]
