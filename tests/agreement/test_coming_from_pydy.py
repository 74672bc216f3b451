"""docs/coming-from.md: the table of PyDy, by both packages on a driven and damped pendulum."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from sympy.physics import mechanics

import linkwright as lw

PAGE = Path(__file__).parents[2] / "docs/coming-from.md"
M, L, G, C = 1.3, 0.7, 9.81, 0.2
TIMES = np.linspace(0.0, 2.0, 101)


@pytest.fixture(scope="module")
def system() -> SimpleNamespace:
    """A point mass on a rod by SymPy and PyDy, and by us: torque 2 sin(3 t), damping C."""
    pydy = pytest.importorskip("pydy.system")
    q, u = mechanics.dynamicsymbols("q u")
    drive = mechanics.dynamicsymbols("T")
    m, l, g, c = sympy.symbols("m l g c")
    N = mechanics.ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    O = mechanics.Point("O")
    O.set_vel(N, 0)
    bob = O.locatenew("P", -l * A.y)
    bob.v2pt_theory(O, N, A)
    kane = mechanics.KanesMethod(N, [q], [u], [u - q.diff()])
    loads = [(bob, -m * g * N.y), (A, (drive - c * u) * N.z)]
    kane.kanes_equations([mechanics.Particle("bob", bob, m)], loads)
    theirs = pydy.System(
        kane,
        constants={m: M, l: L, g: G, c: C},
        initial_conditions={q: 0.4, u: -0.3},
        specifieds={drive: lambda x, t: 2 * np.sin(3 * t)},
        times=TIMES,
    )
    arm = lw.Mechanism(
        name="pendulum",
        gravity=[0, -G, 0],
        bodies={"bob": {"mass": M, "center": [0, -L, 0]}},
        joints={"q": {"type": "revolute", "child": "bob", "damping": C}},
    )
    return SimpleNamespace(theirs=theirs, arm=arm)


def test_the_motions_agree(system: SimpleNamespace) -> None:
    """Rows `System`, `integrate` and `specifieds`; PyDy's odeint is accurate to about 1e-7."""
    theirs = system.theirs.integrate()
    ours = lw.simulate(
        system.arm, 2.0, q0={"q": 0.4}, qd0={"q": -0.3}, by="kane", torque={"q": "2*sin(3*t)"},
        samples=len(TIMES),
    )  # fmt: skip
    np.testing.assert_allclose(ours.q[:, 0], theirs[:, 0], atol=2e-6)
    np.testing.assert_allclose(ours.qd[:, 0], theirs[:, 1], atol=2e-6)


def test_the_right_hand_sides_agree(system: SimpleNamespace) -> None:
    """Row `generate_ode_function`, to rounding."""
    rates = system.theirs.generate_ode_function(generator="lambdify")
    theirs = rates(
        np.array([0.4, -0.3]), 0.5, {**system.theirs.specifieds}, system.theirs.constants
    )
    ours = lw.compile(system.arm).forward_dynamics([0.4], [-0.3], [2 * np.sin(1.5)])
    np.testing.assert_allclose([-0.3, *ours], theirs, rtol=1e-12)


def test_the_page_has_these_rows() -> None:
    text = PAGE.read_text(encoding="utf-8").split("\n## PyDy\n")[1].split("\n## ")[0]
    for name in ("pydy.system.System", "integrate()", "generate_ode_function", "specifieds"):
        assert name in text
