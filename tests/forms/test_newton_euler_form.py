"""Newton's and Euler's equations as printed, solved as linear systems on any mechanism."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import linkwright as lw
from linkwright.forms.equation_set_typesetting import equation_set_source
from linkwright.kinematics.assembly import closed_state_near_home
from tests.commands import ok
from tests.forms.printed_system import named_values, printed_lines, solve_lines, source_lines
from tests.random_loops import loops
from tests.random_trees import RandomTree, trees


def agree(mechanism: lw.Mechanism, *, printed: bool) -> None:
    """The lines, as a linear system, have the accelerations and reactions of `recursive`."""
    eqs = lw.derive(mechanism, by="newton_euler", parameters="symbolic" if printed else "numeric")
    truth, rng, n = lw.compile(mechanism), np.random.default_rng(1), eqs.nv
    step, qd, tau = rng.uniform(-1, 1, (3, n))
    if eqs.names.constraints:
        q, qd = closed_state_near_home(mechanism, 0.1 * step, qd)
    else:
        q = truth.integrate(truth.neutral(), step)
    known, time = {}, eqs.names.time_arguments(0.0)
    if eqs.names.actuators:
        efforts = rng.uniform(-1, 1, len(eqs.names.actuators))
        tau = truth.input_matrix(q) @ efforts
        known = dict(zip(eqs.names.actuators, efforts.tolist(), strict=True))
    known |= named_values(eqs, q=q, qd=qd, tau=tau, t=np.zeros(1))
    source = equation_set_source(eqs)
    known |= {name: 0.0 for name, what in source.symbols.items() if "any value, such as 0" in what}
    lines = printed_lines(eqs.equation_set()) if printed else source_lines(source)
    x, left = solve_lines(lines, known)
    wanted = truth.forward_dynamics(q, qd, tau, *time)
    found = [x[f"dd{name}" if name in eqs.names.q else f"d{name}"] for name in eqs.names.qd]
    size = max(1.0, np.abs(wanted).max(), max(map(abs, x.values())))
    assert left < 1e-10 * size
    np.testing.assert_allclose(found, wanted, atol=1e-8 * max(1.0, np.abs(wanted).max()))
    assert source.counts.equations == source.counts.unknowns
    tied = lw.mobility(mechanism) if eqs.names.constraints else None
    is_unique = tied is None or tied.rank == tied.equations
    reactions = truth.reactions(q, qd, tau, *time)
    names = (*eqs.names.joints, *eqs.names.loops)
    for name, row in zip(names, reactions, strict=True):
        world = {f"{kind}{axis}_{name}" for kind in "MF" for axis in "xyz"} & x.keys()
        for component in world:
            k = "xyz".index(component[1]) + (3 if component[0] == "F" else 0)
            assert x[component] == pytest.approx(row[k], abs=1e-8 * size)
        own = [x.get(f"F{axis}_{name}") for axis in "123"]
        if None not in own and is_unique:
            assert np.linalg.norm(own) == pytest.approx(np.linalg.norm(row[3:]), abs=1e-8 * size)


@pytest.mark.parametrize(
    "name", ["triple-pendulum-points", "elbow", "cart-pole", "slider-crank", "stanford-rrp", "car"]
)
def test_printed_lines_are_the_motion(name: str) -> None:
    """Chains with their own coordinates, a slide, a loop, an arm in space, rolling constraints."""
    agree(lw.gallery(name), printed=True)


BAR = {"mass": 2, "center": [0.3, 0.1, 0], "inertia": {"zz": 0.2}}
SPECIAL = {
    "springs, losses and loads": {
        "gravity": [0, -9.81, 0], "parameters": {"k": 3, "x1": 0.2},
        "bodies": {"a": {"mass": 1}, "b": {"mass": 2}},
        "joints": {
            "s": {"type": "prismatic", "child": "a", "axis": [1, 0, 0], "damping": 0.3},
            "x2": {"type": "prismatic", "child": "b", "axis": [1, 0, 0], "stiffness": 2}},
        "forces": {
            "s1": {"type": "spring", "between": ["a", "b"], "stiffness": "k", "length": "x1",
                   "damping": 0.4},
            "w": {"type": "wrench", "on": "b", "force": ["cos(t)", 1, 0]}},
    },
    "a joint that follows": {
        "bodies": {"a": BAR, "b": BAR},
        "joints": {
            "q1": {"type": "revolute", "child": "a", "motor": {"inertia": 0.1, "ratio": 3}},
            "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [1, 0, 0],
                   "mimic": {"joint": "q1", "multiplier": -2}}},
    },
    "a slide that turns": {
        "gravity": [0, -9.81, 0], "bodies": {"a": BAR, "b": BAR},
        "joints": {
            "q1": {"type": "revolute", "child": "a"},
            "d2": {"type": "prismatic", "parent": "a", "child": "b", "axis": [1, 0, 0]}},
    },
    "moving coordinates": {
        "parameters": {"Omega": 2}, "gravity": [0, -9.81, 0], "bodies": {"a": BAR, "b": BAR},
        "joints": {
            "q1": {"type": "revolute", "child": "a"},
            "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [1, 0, 0]}},
        "coordinates": {"new": {"phi": "q1 - Omega*t", "q": "q1 + q2"}},
    },
    "a joint that moves by itself": {
        "parameters": {"Omega": 4, "R": 0.5, "a": 0.1},
        "bodies": {"hoop": {}, "bead": {"mass": 2}},
        "joints": {
            "turn": {"type": "revolute", "child": "hoop"},
            "slide": {"type": "revolute", "parent": "hoop", "child": "bead", "axis": [0, 1, 0],
                      "child_origin": [0, 0, "R"], "damping": 0.1}},
        "coordinates": {"names": ["th"],
                        "joints": {"turn": "Omega*t", "slide": "th + a*sin(3*t)"}},
    },
    "polar coordinates": {
        "gravity": [0, -9.81, 0], "bodies": {"s": {"mass": 0.2}, "b": {"mass": 2}},
        "joints": {
            "px": {"type": "prismatic", "child": "s", "axis": [1, 0, 0]},
            "py": {"type": "prismatic", "parent": "s", "child": "b", "axis": [0, 1, 0]}},
        "coordinates": {"names": ["r", "phi"],
                        "joints": {"px": "(1 + r)*cos(phi)", "py": "(1 + r)*sin(phi)"}},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_forces_of_all_kinds(name: str) -> None:
    """Names of the mechanism that are those of positions are avoided."""
    agree(lw.Mechanism(name="special", **SPECIAL[name]), printed=True)


@settings(max_examples=6, deadline=None)
@given(trees(max_bodies=3))
def test_random_trees(tree: RandomTree) -> None:
    """All kinds of joints, with losses and motors."""
    agree(tree.mechanism, printed=False)


@settings(max_examples=6, deadline=None)
@given(loops())
def test_random_loops(mechanism: lw.Mechanism) -> None:
    """A loop is one more joint."""
    agree(mechanism, printed=False)


def test_every_format_has_the_reactions() -> None:
    assert "m2*ddx2 = Fx_q2" in ok("derive", "elbow", "--by", "newton_euler")
    assert r"\ddot{x}_2" in ok("derive", "elbow", "--by", "newton_euler", "--as", "latex")
    assert "Forces on link1" in ok("derive", "elbow", "--by", "newton_euler", "--as", "html")


def test_axes_of_bodies_are_named() -> None:
    """The axes 1, 2, 3 of a body in space are those of its joint: the set says which of the body's
    own these are, and says nothing where they are the same."""
    text = lw.derive(lw.gallery("puma560"), by="newton_euler").equation_set().text()
    assert "gravity g in its axes\n  Axes 1, 2, 3 of link1 are its x, -z, y.\n" in text
    assert "of link2 are its" not in text
