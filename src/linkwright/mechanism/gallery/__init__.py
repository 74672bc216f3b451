"""The mechanisms that come along: files beside this module, and planar chains of any length."""

from __future__ import annotations

import re
from importlib.resources import files

from ...errors import NameNotFoundError, suggest
from ..mechanism import Mechanism

MAX_LINKS = 500
_CHAIN = re.compile(r"chain-([1-9]\d{0,3})")


def gallery_names() -> list[str]:
    """All names; `chain-6` stands for chains of any number of links."""
    stored = [entry.name for entry in files(__name__).iterdir() if entry.name.endswith(".toml")]
    return sorted([*(name.split(".")[0] for name in stored), "chain-6"])


def gallery_file(name: str) -> tuple[str, str] | None:
    """The name and text of a mechanism's file; None for a chain."""
    for ending in ("toml", "dh.toml"):
        entry = files(__name__) / f"{name}.{ending}"
        if name in gallery_names() and entry.is_file():
            return entry.name, entry.read_text(encoding="utf-8")
    if _CHAIN.fullmatch(name):
        return None
    raise NameNotFoundError(f"the gallery has no '{name}'", remedy=suggest(name, gallery_names()))


def chain(name: str) -> Mechanism:
    """A planar chain of uniform links: absolute size 1 m and 1 kg each, gravity along −y.

    Its symbols are m1, l1, lc1, I1, …, and q1, … for the relative joint angles.
    """
    match = _CHAIN.fullmatch(name)
    n = int(match.group(1)) if match else 0
    if not 1 <= n <= MAX_LINKS:
        raise NameNotFoundError(
            f"the gallery has no '{name}'", remedy=f"chains have 1 to {MAX_LINKS} links"
        )
    parameters: dict[str, object] = {}
    bodies: dict[str, object] = {}
    joints: dict[str, object] = {}
    for i in range(1, n + 1):
        parameters |= {f"m{i}": 1, f"l{i}": 1, f"lc{i}": f"l{i}/2", f"I{i}": f"m{i}*l{i}^2/12"}
        bodies[f"link{i}"] = {
            "mass": f"m{i}", "center": [f"lc{i}", 0, 0], "inertia": {"zz": f"I{i}"}
        }  # fmt: skip
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
