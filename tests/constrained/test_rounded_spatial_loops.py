"""Overconstrained loops in space whose files have rounded numbers: closed where they can be, with
the freedom and the speeds of the exact ones; open loops are refused."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.errors import AssemblyError
from linkwright.kinematics.constraint_system import ConstraintSystem, constraint_system

LARGEST_SHARE_LEFT = 10.0
"""What an assembly may leave open, in multiples of the least squares of SciPy."""


class Loop(NamedTuple):
    """Frames of the joints in the world, whose z are the axes, and the rate of the second joint for
    the first one's."""

    joints: list[np.ndarray]
    ratio: float


def frame(R: np.ndarray, p: list[float]) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def turned(axis: list[float], angle: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * np.array(axis)).as_matrix()


def somewhere(rng: np.random.Generator, length: float) -> np.ndarray:
    return frame(Rotation.random(rng=rng).as_matrix(), list(rng.uniform(-1, 1, 3) * length))


def bennett(rng: np.random.Generator, length: float) -> Loop:
    """Four axes in space, with tan(θ1/2) tan(θ2/2) = sin((β+α)/2)/sin((β−α)/2)."""
    a, alpha, beta = length * rng.uniform(0.5, 1), rng.uniform(0.4, 0.7), rng.uniform(0.8, 1.2)
    b = a * np.sin(beta) / np.sin(alpha)
    k = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    first = rng.uniform(0.5, 2)
    second = 2 * np.arctan(k / np.tan(first / 2))
    joints, here = [], somewhere(rng, length)
    for theta, side, twist in (
        (first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta),
    ):  # fmt: skip
        here = here @ frame(turned([0, 0, 1], theta), [0, 0, 0])
        joints.append(here)
        here = here @ frame(turned([1, 0, 0], twist), [side, 0, 0])
    return Loop(joints, -np.sin(second) / np.sin(first))


def sarrus(rng: np.random.Generator, length: float) -> Loop:
    """A lift: three hinges in each of two planes at right angles; the middle one turns back twice
    as fast."""
    rise, arm = rng.uniform(0.4, 1.2), length * rng.uniform(0.5, 1)
    out, up = arm * np.cos(rise), arm * np.sin(rise)
    root, joints = somewhere(rng, length), []
    for z, far in (([0, 1, 0], [1, 0]), ([1, 0, 0], [0, 1])):
        axes = np.column_stack([[0, 0, 1], np.cross(z, [0, 0, 1]), z])
        side = [
            frame(axes, [far[0] * x, far[1] * x, height])
            for x, height in ((length, 0), (length + out, up), (length, 2 * up))
        ]
        joints += side if not joints else side[::-1]
    return Loop([root @ joint for joint in joints], -2.0)


LOOPS = {"bennett": bennett, "sarrus": sarrus}


def placed(T: np.ndarray, decimals: int) -> dict[str, list[float]]:
    turn = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
    return {"xyz": T[:3, 3].round(decimals).tolist(), "quaternion": turn.round(decimals).tolist()}


def mechanism(
    kind: str, seed: int, length: float, decimals: int, *, gap: float = 0
) -> lw.Mechanism:
    """A loop of revolute joints, its numbers rounded, that closes at q = 0, but for a gap (m)."""
    rng = np.random.default_rng(seed)
    axes = LOOPS[kind](rng, length).joints
    links = [np.eye(4), *(somewhere(rng, length) for _ in axes[1:])]
    body = {"mass": 1, "center": [0.1 * length, 0, 0], "inertia": [0.1 * length**2] * 3}
    joints: dict[str, Any] = {}
    for k, (parent, child) in enumerate(zip(links, [*links[1:], links[0]], strict=True)):
        joints[f"j{k}"] = {
            "type": "revolute", "parent": f"b{k - 1}", "child": f"b{k}",
            "origin": placed(np.linalg.solve(parent, axes[k]), decimals),
            "child_origin": placed(np.linalg.solve(child, axes[k]), decimals),
        }  # fmt: skip
    loop = joints.pop(f"j{len(axes) - 1}") | {"child": "ground"}
    loop["child_origin"]["xyz"][0] += gap
    joints["j0"]["parent"], joints["j0"]["child"] = "ground", "b0"
    return lw.Mechanism(
        bodies=dict.fromkeys((f"b{k}" for k in range(len(axes) - 1)), body),
        joints=joints, loops={"closing": loop}, independent=["j0"],
        closure=max(1e-6, 30 * 10.0**-decimals / min(length, 1)),
    )  # fmt: skip


def largest_share(system: ConstraintSystem, q: np.ndarray) -> float:
    sizes = system.row_sizes[list(system.constraints.position_rows)]
    return float(np.abs(system.residual(q, 0.0) / sizes).max())


def least_share_left(system: ConstraintSystem, q: np.ndarray) -> float:
    """The largest share of its size that a row leaves open in least squares, j0 held."""
    sizes = system.row_sizes[list(system.constraints.position_rows)]
    found = least_squares(
        lambda x: system.residual(np.array([q[0], *x]), 0.0) / sizes,
        q[1:], xtol=1e-15, ftol=1e-15, gtol=1e-15,
    )  # fmt: skip
    return float(np.abs(found.fun).max())


cases = st.tuples(
    st.sampled_from(sorted(LOOPS)),
    st.integers(0, 10**6),
    st.floats(-2, 1).map(lambda x: round(10**x, 6)),
    st.integers(4, 10),
)


@settings(max_examples=12, deadline=None)
@given(cases)
def test_rounded_loops_in_space_close_as_well_as_they_can(
    case: tuple[str, int, float, int],
) -> None:
    kind, seed, length, decimals = case
    decimals += int(np.ceil(max(0, -np.log10(length))))
    rounded = mechanism(kind, seed, length, decimals)
    system = constraint_system(rounded)
    q = lw.assemble(rounded, {"j0": 0.0}, ["j0"])
    left = largest_share(system, q)
    assert left <= LARGEST_SHARE_LEFT * least_share_left(system, q) + 1e-12
    assert left <= rounded.closure
    np.testing.assert_allclose(q, 0, atol=3000 * 10.0**-decimals / length)
    assert lw.mobility(rounded).dof == 1
    qd = lw.assemble_velocities(rounded, q, {"j0": 2.0})
    ratio = LOOPS[kind](np.random.default_rng(seed), length).ratio
    assert qd[1] == pytest.approx(2 * ratio, abs=1e4 * 10.0**-decimals / length)


@settings(max_examples=6, deadline=None)
@given(cases)
def test_loops_in_space_that_are_open_are_refused(case: tuple[str, int, float, int]) -> None:
    """Bennett's loop does not move if a length is wrong: open by a hundred closures, it is."""
    _, seed, length, decimals = case
    exact = mechanism("bennett", seed, length, 15)
    gap = 100 * 30 * 10.0**-decimals
    opened = mechanism("bennett", seed, length, 15, gap=gap * length)
    opened = opened.with_closure(min(gap / 100, 0.01))
    system = constraint_system(opened)
    best = least_share_left(system, lw.assemble(exact, {"j0": 0.0}, ["j0"]))
    assume(best > opened.closure)
    with pytest.raises(AssemblyError, match="'closing' cannot close"):
        lw.assemble(opened, {"j0": 0.0}, ["j0"])


@pytest.mark.parametrize("kind", LOOPS)
def test_rounded_loops_in_space_move_as_exact_ones(kind: str) -> None:
    runs = [
        lw.simulate(mechanism(kind, 3, 0.5, decimals), t=0.2, qd0={"j0": 1.0}, samples=3)
        for decimals in (8, 15)
    ]
    assert all(run.finished for run in runs), runs[0].status
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-5)
    np.testing.assert_allclose(runs[0].qdd, runs[1].qdd, rtol=1e-4, atol=1e-4)
    assert runs[0].accounted


def test_a_refusal_of_a_small_loop_names_a_closure_that_allows_it() -> None:
    """What is open by a nanometre is a large share of a loop of some micrometres."""
    rounded = mechanism("bennett", 3, 1e-4, 8).with_closure(1e-8)
    with pytest.raises(AssemblyError, match="rounded, allow that: closure=") as refused:
        lw.assemble(rounded, {"j0": 0.0}, ["j0"])
    closure = float(str(refused.value).split("closure=")[1])
    system = constraint_system(rounded.with_closure(closure))
    q = lw.assemble(system.mechanism, {"j0": 0.0}, ["j0"])
    assert largest_share(system, q) < 1e-3
