"""Mechanisms of any size: planar chains, and rows of four-bar windows."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ...errors import NameNotFoundError
from ..mechanism import Mechanism


@dataclass(frozen=True)
class GalleryFamily:
    """Mechanisms `stem` or `stem-N`, N from 1 to `max_size`; `example` stands for all of them."""

    example: str
    headline: str
    build: Callable[[str, int], Mechanism]
    max_size: int
    default: int | None = None

    @property
    def gallery_stem(self) -> str:
        """The part of the name before the size."""
        return self.example if self.default else self.example.rpartition("-")[0]

    def size_in_name(self, name: str) -> int | None:
        """Return the size N in a name; None if the name does not belong to this family."""
        if name == self.gallery_stem:
            return self.default
        match = re.fullmatch(re.escape(self.gallery_stem) + r"-([1-9]\d{0,3})", name)
        return int(match.group(1)) if match else None


def find_gallery_family(name: str) -> GalleryFamily | None:
    """Return the family that a name belongs to, of any size; None if there is none."""
    return next((each for each in GALLERY_FAMILIES if each.size_in_name(name) is not None), None)


def build_gallery_member(name: str) -> Mechanism:
    """Return the member of a family with this name."""
    found = find_gallery_family(name)
    size = found.size_in_name(name) if found else None
    if found is None or size is None or size > found.max_size:
        remedy = (
            f"take {found.gallery_stem}-1 to {found.gallery_stem}-{found.max_size}" if found else ""
        )
        raise NameNotFoundError(f"the gallery has no '{name}'", remedy=remedy)
    return found.build(name, size)


def build_gallery_chain(name: str, n: int) -> Mechanism:
    """Return a planar chain of n uniform links, each 1 m long and of 1 kg, with gravity along −y.

    Its symbols are m1, l1, lc1, I1, …, and q1, … for the relative joint angles.
    """
    parameters: dict[str, object] = {}
    bodies: dict[str, object] = {}
    joints: dict[str, object] = {}
    for i in range(1, n + 1):
        parameters |= {f"m{i}": 1, f"l{i}": 1, f"lc{i}": f"l{i}/2", f"I{i}": f"m{i}*l{i}^2/12"}
        bodies[f"link{i}"] = {
            "mass": f"m{i}",
            "center": [f"lc{i}", 0, 0],
            "inertia": {"zz": f"I{i}"},
        }
        parent = {"parent": f"link{i - 1}", "origin": [f"l{i - 1}", 0, 0]} if i > 1 else {}
        joints[f"q{i}"] = {"type": "revolute", "child": f"link{i}", **parent}
    return Mechanism(
        name=name,
        gravity=[0, "-g", 0],
        parameters={**parameters, "g": "9.81"},
        bodies=bodies,
        joints=joints,
        frames={"tool": {"body": f"link{n}", "origin": [f"l{n}", 0, 0]}},
    )


def build_gallery_four_bar_row(name: str, n: int) -> Mechanism:
    """Return n four-bar windows in a row (IFToMM's benchmark A02): cranks A0B0 … ANBN on ground,
    one length apart, and couplers between their tips; uniform links of 1 kg and 1 m.

    theta0, … are the cranks' angles and phi1, … the couplers', all from the ground line. They
    start upright. When the cranks lie flat, the mobility jumps from 1 to N + 1.
    """
    rod = {"mass": "m", "center": ["l/2", 0, 0], "inertia": {"zz": "m*l^2/12"}}
    bodies: dict[str, object] = {}
    joints: dict[str, object] = {}
    angles: dict[str, str] = {}
    loops: dict[str, object] = {}
    for i in range(n + 1):
        bodies[f"crank{i}"] = rod
        joints[f"a{i}"] = {"type": "revolute", "child": f"crank{i}", "origin": [f"{i}*l", 0, 0]}
        angles[f"theta{i}"] = f"a{i}"
        tip = {"type": "revolute", "parent": f"crank{i}", "origin": ["l", 0, 0]}
        if i > 0:
            loops[f"pin{i}"] = {**tip, "child": f"coupler{i}", "child_origin": ["l", 0, 0]}
        if i < n:
            bodies[f"coupler{i + 1}"] = rod
            joints[f"b{i + 1}"] = {**tip, "child": f"coupler{i + 1}"}
            angles[f"phi{i + 1}"] = f"a{i} + b{i + 1}"
    return Mechanism(
        name=name,
        gravity=[0, "-g", 0],
        parameters={"m": 1, "l": 1, "g": "9.81"},
        bodies=bodies,
        joints=joints,
        loops=loops,
        independent=("theta0",),
        coordinates={"new": angles},
        assembly={angle: "90 deg" for angle in angles if angle.startswith("theta")},
        frames={"B0": {"body": "crank0", "origin": ["l", 0, 0]}},
    )


GALLERY_FAMILIES = (
    GalleryFamily(
        "chain-6",
        "Planar chain of any number of uniform links: chain-2, chain-30.",
        build_gallery_chain,
        max_size=500,
    ),
    GalleryFamily(
        "n-four-bar",
        "Row of two or more four-bar windows (IFToMM benchmark A02): n-four-bar-40.",
        build_gallery_four_bar_row,
        max_size=200,
        default=2,
    ),
)
"""All that the gallery generates."""
