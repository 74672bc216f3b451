"""Random mechanisms with a loop that closes in a random configuration, and other constraints."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import AssemblyError
from tests.random_trees import random_tree

CLOSINGS = (
    "revolute", "prismatic", "helical", "cylindrical", "turn-slide", "universal", "planar",
    "spherical", "fixed",
)  # fmt: skip
KINDS = ("revolute", "prismatic", "cylindrical", "universal", "cardan", "planar", "turn-slide")
TWO_AXES = ("universal", "planar", "turn-slide")


def quaternion(R: np.ndarray) -> list[float]:
    """(w, x, y, z) of a rotation, from the eigenvector of its symmetric 4×4 form."""
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    return np.linalg.eigh(K)[1][:, -1].tolist()


def place(T: np.ndarray) -> dict[str, list[float]]:
    return {"xyz": T[:3, 3].tolist(), "quaternion": quaternion(T[:3, :3])}


def random_loop(
    seed: int, kinds: list[str], shape: list[int], closing: str, *, others: bool = True
) -> lw.Mechanism:
    """A random tree, its last body tied to ground or to another body by a joint `closing`."""
    rng = np.random.default_rng(seed)
    tree = random_tree(seed, kinds, shape)
    mechanism = tree.mechanism.without("friction")  # whose sign at rest is that of rounding errors
    q, *_ = tree.state(seed)
    eqs = lw.derive(mechanism, parameters="numeric")
    last = f"b{len(kinds) - 1}"
    parent = "ground" if len(kinds) < 3 or rng.random() < 0.5 else "b0"
    here, there = (
        np.eye(4) if body == "ground" else np.asarray(eqs.function("placement", body)(q))
        for body in (parent, last)
    )
    joint = np.eye(4)
    joint[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    joint[:3, :3] *= np.linalg.det(joint[:3, :3])
    joint[:3, 3] = rng.uniform(-1, 1, 3)
    loop = {
        "type": closing, "parent": parent, "child": last,
        "origin": place(np.linalg.solve(here, joint)),
        "child_origin": place(np.linalg.solve(there, joint)),
    }  # fmt: skip
    if closing not in ("spherical", "fixed"):
        loop["axis"] = rng.uniform(-1, 1, 3).round(3).tolist()
    if closing in TWO_AXES:
        loop["axis2"] = rng.uniform(-1, 1, 3).round(3).tolist()
    if closing == "helical":
        loop["pitch"] = 0.3
    fields = {key: getattr(mechanism, key) for key in mechanism.model_fields_set}
    names = eqs.names
    assembly = dict(zip(names.q, q.tolist(), strict=True))
    constraints = _others(rng, names.q, q) if others else {}
    return lw.Mechanism(
        **fields, loops={"closing": loop}, constraints=constraints, assembly=assembly
    )


def _others(rng: np.random.Generator, names: tuple[str, ...], q: np.ndarray) -> dict[str, object]:
    """None, or an equation of positions or of speeds that hold at q, some with time."""
    plain = [(name, x) for name, x in zip(names, q, strict=True) if "." not in name]
    if len(plain) < 2 or rng.random() < 0.4:
        return {}
    (a, x), (b, y) = plain[:2]
    c = round(rng.uniform(0.5, 2), 3)
    time = " + 0.3*t + 0.1*t^2" if rng.random() < 0.5 else ""
    if rng.random() < 0.5:
        fixed = x + c * y * y
        text = f"{a} + {c}*{b}^2 - ({float(fixed)!r}){time}"
        return {"curve": {"type": "equation", "position": text}}
    return {"nonholonomic": {"type": "equation", "velocity": f"d{a} + {c}*sin({b})*d{b}{time}"}}


@st.composite
def loops(draw: st.DrawFn) -> lw.Mechanism:
    count = draw(st.integers(2, 4))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=count, max_size=count))
    shape = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count))
    closing = draw(st.sampled_from(CLOSINGS))
    mechanism = random_loop(draw(st.integers(0, 10**6)), kinds, shape, closing)
    assume(can_move(mechanism))
    return mechanism


def can_move(mechanism: lw.Mechanism) -> bool:
    """Not so where a constraint in time drives a loop that is rigid."""
    try:
        lw.mobility(mechanism)
    except AssemblyError:
        return False
    return True
