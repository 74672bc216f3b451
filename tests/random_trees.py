"""Random tree mechanisms of all joint types, as ours and as the plain reference's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import linkwright as lw
from tests.references import rigid

KINDS = [
    "revolute", "continuous", "prismatic", "helical", "cylindrical", "turn-slide", "universal",
    "planar", "cardan", "ball", "free", "free-cardan", "fixed",
]  # fmt: skip
_OURS = {"cardan": "spherical", "ball": "spherical", "free-cardan": "free"}
_TWO_AXES = ("turn-slide", "universal", "planar")


@dataclass(frozen=True)
class RandomTree:
    """One mechanism, twice: as ours, and as the reference describes it."""

    mechanism: lw.Mechanism
    bodies: list[rigid.Body]
    gravity: np.ndarray

    def __repr__(self) -> str:
        chain = ", ".join(f"{body.kind} on {body.parent}" for body in self.bodies)
        return f"<{self.mechanism.name}: {chain}>"

    def state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Random q (quaternions of length 1), speeds and accelerations."""
        rng = np.random.default_rng(seed)
        parts = []
        for body in self.bodies:
            q = rng.uniform(-2, 2, body.nq)
            if body.kind in ("ball", "free"):
                q[-4:] /= np.linalg.norm(q[-4:])
            parts.append(q)
        n = sum(body.nv for body in self.bodies)
        return np.concatenate(parts), rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)


def random_tree(
    seed: int, kinds: list[str], shape: list[int], *, losses: bool = True, motors: bool = True
) -> RandomTree:
    """A tree whose body i hangs on body `shape[i] % (i + 1) − 1` by a joint of `kinds[i]`.

    Bodies are listed depth first, as the library orders its coordinates.
    """
    rng = np.random.default_rng(seed)
    parents = _depth_first([s % (i + 1) - 1 for i, s in enumerate(shape[: len(kinds)])])
    bodies, ours, joints = [], {}, {}
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        body, mass_data, joint = _random_body(rng, kind, parent, losses, motors)
        bodies.append(body)
        ours[f"b{i}"] = mass_data
        joints[f"j{i}"] = {
            "parent": "ground" if parent < 0 else f"b{parent}", "child": f"b{i}", **joint
        }  # fmt: skip
    gravity = rng.uniform(-10, 10, 3).round(2)
    mechanism = lw.Mechanism(
        name=f"random-{seed}", gravity=gravity.tolist(), bodies=ours, joints=joints
    )
    return RandomTree(mechanism, bodies, gravity)


def _depth_first(parents: list[int]) -> list[int]:
    """The same tree with bodies renumbered depth first."""
    children: dict[int, list[int]] = {}
    for i, p in enumerate(parents):
        children.setdefault(p, []).append(i)
    order: list[int] = []

    def visit(i: int) -> None:
        order.append(i)
        for c in children.get(i, []):
            visit(c)

    for root in children.get(-1, []):
        visit(root)
    number = {old: new for new, old in enumerate(order)} | {-1: -1}
    return [number[parents[old]] for old in order]


def _axis(rng: np.random.Generator) -> np.ndarray:
    if rng.random() < 0.6:
        return np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0, 2.0])
    return rng.uniform(-1, 1, 3).round(3) + np.array([0.0, 0.0, 1.5])


def _place(rng: np.random.Generator) -> tuple[dict[str, list[float]], np.ndarray]:
    xyz = rng.uniform(-0.5, 0.5, 3).round(3)
    angles = rng.uniform(-2, 2, 3).round(3) if rng.random() < 0.5 else np.zeros(3)
    return {"xyz": xyz.tolist(), "rpy": angles.tolist()}, rigid.homogeneous(rigid.rpy(*angles), xyz)


def _random_body(
    rng: np.random.Generator, kind: str, parent: int, losses: bool, motors: bool
) -> tuple[rigid.Body, dict, dict]:
    origin, T = _place(rng)
    child_origin, T_child = _place(rng) if rng.random() < 0.5 else ({}, np.eye(4))
    axis, axis2 = _axis(rng), _axis(rng)
    while kind in ("planar", "universal") and np.linalg.norm(np.cross(axis, axis2)) < 0.3:
        axis2 = _axis(rng)
    A = rng.uniform(-1, 1, (3, 3))
    tensor = (A @ A.T + 0.3 * np.eye(3)).round(4)
    mass, center = round(rng.uniform(0.5, 3), 3), rng.uniform(-0.3, 0.3, 3).round(3)
    pitch = round(rng.uniform(-0.5, 0.5), 3)
    body = rigid.Body(parent, kind, T, T_child, axis, axis2, pitch, mass, center, tensor)
    n = body.nv
    joint: dict = {"type": _OURS.get(kind, kind), "origin": origin, "child_origin": child_origin}
    if kind in ("cardan", "free-cardan"):
        joint["rotation"] = "cardan"
    if kind not in ("cardan", "free-cardan", "ball", "free", "fixed"):
        joint["axis"] = axis.tolist()
    if kind in _TWO_AXES:
        joint["axis2"] = axis2.tolist()
    if kind == "helical":
        joint["pitch"] = pitch
    if losses and n:
        body.damping = rng.uniform(0, 1, n).round(3).tolist()
        body.friction = rng.uniform(0, 1, n).round(3).tolist()
        joint |= {"damping": body.damping, "friction": body.friction}
        if kind not in ("ball", "free"):
            body.stiffness = rng.uniform(0, 5, n).round(3).tolist()
            body.rest = rng.uniform(-1, 1, n).round(3).tolist()
            joint |= {"stiffness": body.stiffness, "rest": body.rest}
    if motors and n:
        ratio, rotor = rng.uniform(-3, 3, n).round(2), rng.uniform(0, 0.1, n).round(3)
        body.rotor = (ratio**2 * rotor).tolist()
        joint["motor"] = {"ratio": ratio.tolist(), "inertia": rotor.tolist()}
    names = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    inertia = {key: tensor[ij] for key, ij in names.items()}
    return body, {"mass": mass, "center": center.tolist(), "inertia": inertia}, joint


@st.composite
def trees(
    draw: st.DrawFn, *, max_bodies: int = 5, losses: bool = True, motors: bool = True,
    kinds: list[str] = KINDS,
) -> RandomTree:  # fmt: skip
    """Hypothesis: a random tree with at least one freedom."""
    count = draw(st.integers(1, max_bodies))
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=count, max_size=count))
    if all(kind == "fixed" for kind in chosen):
        chosen[0] = "revolute"
    shape = draw(st.lists(st.integers(0, 10), min_size=count, max_size=count))
    seed = draw(st.integers(0, 2**20))
    return random_tree(seed, chosen, shape, losses=losses, motors=motors)
