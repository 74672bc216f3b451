"""Anchors: points fixed to links that move when parameters change, and carry glyphs with them."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..kinematics.kinematic_tree import KinematicTree
from ..types import SX, Floats


@dataclass(frozen=True)
class SceneAnchor:
    """A point of a link, whose coordinates in the link's axes may contain parameters."""

    name: str
    link: int
    point: SX


def find_scene_anchors(tree: KinematicTree) -> list[SceneAnchor]:
    """Return the points of a tree where joints, loops, frames and centres of mass are."""
    found = [SceneAnchor(f"mass {n}", m.link, ca.SX(m.c)) for n, m in tree.masses.items()]
    found += [SceneAnchor(f"frame {n}", f.link, ca.SX(f.p)) for n, f in tree.frames.items()]
    found += [SceneAnchor(f"body {n}", b.link, ca.SX(b.p)) for n, b in tree.bodies.items()]
    for span in tree.joints:
        found.append(SceneAnchor(f"joint {span.name}", span.frame.link, ca.SX(span.frame.p)))
    for tie in tree.restraints.entries:
        for k, place in enumerate(tie.loop_frames):
            found.append(SceneAnchor(f"loop {tie.name} {k}", place.link, ca.SX(place.p)))
    return found


def nearest_anchor_indices(
    link: int, points: Floats, links: list[int], anchors: Floats
) -> list[int]:
    """Return for each point (n, 3) of a link the index of its nearest anchor on it; -1 if the link
    has none."""
    own = [k for k, other in enumerate(links) if other == link]
    if not own:
        return [-1] * len(points)
    gaps = np.linalg.norm(points[:, None] - anchors[own][None], axis=-1)
    return [own[int(k)] for k in np.argmin(gaps, axis=1)]
