"""Ball arithmetic: intervals hold the exact values, and floats are near them."""

from __future__ import annotations

from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.readings.balls import (
    BallAlgebra,
    Interval,
    ball_precision,
    evaluate_tape_in_balls,
    interval_from_ball,
    make_ball,
)
from linkwright.tape import Op
from tests.tapes import every_operation, run

BEST = ["inverse_dynamics", "mass_matrix", "bias", "gravity", "kinetic_energy", "forward_dynamics"]


def test_every_operation_holds_the_value_in_floats() -> None:
    tape, states = every_operation()
    for state in states[:10]:
        (found,) = evaluate_tape_in_balls(
            tape, lambda x=state: [[make_ball(float(v)) for v in x]], 200
        )
        (floats,) = run(tape, state)
        for ball, value in zip(found, floats, strict=True):
            assert float(abs(ball - float(value)).mid()) <= 1e-13 * max(1, abs(value))
            assert float(ball.rad()) <= 1e-13


def test_the_elbow_to_fifty_digits() -> None:
    """Against the book's formulas in mpmath; the arm's numbers are exact decimals."""
    mpmath.mp.dps = 80
    q, qd, qdd = [Fraction(1, 10), Fraction("0.2")], [1, 2], [3, 4]
    found = lw.compile(lw.gallery("elbow")).certified(
        "inverse_dynamics", ["0.1", q[1]], qd, qdd, digits=50
    )
    m = l = mpmath.mpf(1)
    lc, inertia, g = m / 2, m / 12, mpmath.mpf("9.81")
    q1, q2 = (mpmath.mpf(x.numerator) / x.denominator for x in q)
    c2, h = mpmath.cos(q2), -m * l * lc * mpmath.sin(q2)
    d11 = m * lc**2 + m * (l**2 + lc**2 + 2 * l * lc * c2) + 2 * inertia
    d12 = m * (lc**2 + l * lc * c2) + inertia
    g2 = m * lc * g * mpmath.cos(q1 + q2)
    tau1 = d11 * 3 + d12 * 4 + h * 2 * 1 * 2 + h * 4 + (m * lc + m * l) * g * mpmath.cos(q1) + g2
    tau2 = d12 * 3 + (m * lc**2 + inertia) * 4 - h + g2
    for got, wanted in zip(found, (tau1, tau2), strict=True):
        assert isinstance(got, Interval)
        assert got.digits >= 50
        assert abs(mpmath.mpf(got.mid) - wanted) <= mpmath.mpf(got.radius) + mpmath.mpf(10) ** -75


@pytest.mark.parametrize("name", ["elbow", "six-axis", "puma560", "quadruped", "cart-pole"])
@pytest.mark.parametrize("function", BEST)
def test_kernels_are_a_few_ulps_away(
    name: str, function: str, record_property: pytest.RecordProperty
) -> None:
    """Errors of float64 kernels, in units in the last place of the largest entry."""
    model = lw.compile(lw.gallery(name))
    rng = np.random.default_rng(0)
    q = np.asarray(model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv)))
    inputs = [q, *rng.uniform(-1, 1, (2, model.nv))][: _count(function)]
    exact = np.asarray(model.certified(function, *inputs), dtype=object)
    floats = np.asarray(getattr(model, function)(*inputs))
    assert min((x.digits for x in exact.ravel() if 0 not in x), default=30) >= 30
    errors = [
        abs(Fraction(float(x)) - Fraction(y.mid))
        for x, y in zip(floats.ravel(), exact.ravel(), strict=True)
    ]
    ulps = float(max(errors)) / np.spacing(np.abs(floats).max())
    record_property("ulps", float(ulps))
    print(f"{name} {function}: {ulps:.1f} ulps")
    assert ulps < (500 if function == "forward_dynamics" else 20)


def _count(function: str) -> int:
    return {"mass_matrix": 1, "gravity": 1, "bias": 2, "kinetic_energy": 2}.get(function, 3)


def test_precision_is_raised_where_digits_cancel() -> None:
    """(1 + x)² − 1 − 2x at tiny x: most digits cancel."""
    import casadi as ca

    from linkwright.readings.balls import certify_tape_in_balls
    from linkwright.tape import record_tape

    x = ca.SX.sym("x")
    tape = record_tape(ca.Function("f", [x], [(1 + x) * (1 + x) - 1 - 2 * x]))
    ((found,),) = certify_tape_in_balls(tape, lambda: [[make_ball(Fraction(1, 10**60))]], 40)
    assert found.digits >= 40
    assert Fraction(1, 10**120) in found


def test_undecided_conditions_give_the_hull() -> None:
    algebra = BallAlgebra()
    around, one, two = flint.arb(0, 1e-9), flint.arb(1), flint.arb(2)
    hull = algebra.apply(Op.SELECT, [algebra.apply(Op.LT, [around, flint.arb(0)]), one, two])
    assert hull.contains(one)
    assert hull.contains(two)
    sign = algebra.apply(Op.SIGN, [around])
    assert sign.contains(-1)
    assert sign.contains(1)
    assert algebra.apply(Op.SIGN, [flint.arb(0)]) == 0
    assert algebra.apply(Op.SELECT, [flint.arb(0), one, two]) == 2


def test_numbers_are_exact() -> None:
    """0.1 as text is a tenth, as a float what the float is; √2 of a parameter is no float."""
    arm = lw.Mechanism(
        parameters={"m": "sqrt(2)", "a": "pi/7"},
        bodies={"b": {"mass": "m", "center": ["0.1", 0, 0]}},
        joints={"j": {"type": "revolute", "child": "b", "origin": {"rpy": ["a", 0, 0]}}},
    )
    found = lw.compile(arm).certified("mass_matrix", [0.0], digits=60)[0, 0]
    mpmath.mp.dps = 90
    assert abs(mpmath.mpf(found.mid) - mpmath.sqrt(2) / 100) <= mpmath.mpf(found.radius)
    assert found.digits >= 60
    kept = lw.compile(arm, parameters=["m"])
    assert float(kept.certified("mass_matrix", [0.0], ["3"])[0, 0]) == pytest.approx(0.03)
    assert Fraction(3, 100) in kept.certified("mass_matrix", [0.0], ["3"])[0, 0]
    rough, fine = (lw.compile(arm).certified("gravity", [x])[0] for x in (0.1, "0.1"))
    assert rough.mid != fine.mid


def test_rounded_constants_are_not_taken_for_exact() -> None:
    eqs = lw.derive(lw.gallery("elbow"), parameters="numeric")
    found = lw.compile(eqs).certified("gravity", [0.3, 0.4])
    truth = lw.compile(lw.gallery("elbow")).certified("gravity", [0.3, 0.4])
    for rough, fine in zip(found, truth, strict=True):
        assert 12 < rough.digits < 17
        assert Fraction(fine.mid) in rough


def test_constrained_functions_and_frames() -> None:
    model = lw.compile(lw.gallery("four-bar"))
    q = model.home()
    qd = np.zeros(model.nv)
    qdd = model.certified("forward_dynamics", q, qd, qd)
    np.testing.assert_allclose(qdd.astype(float), model.forward_dynamics(q, qd, qd), rtol=1e-9)
    elbow = lw.compile(lw.gallery("elbow"))
    T = elbow.certified("placement", [0.1, 0.2], frame="tool")
    assert T.shape == (4, 4)
    np.testing.assert_allclose(T.astype(float), elbow.placement("tool")([0.1, 0.2]), atol=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.certified("gravitation", [0, 0]), "gravity"),
        (lambda m: m.certified("gravity", [0, 0, 0]), "one state"),
        (lambda m: m.certified("gravity"), "give q"),
        (lambda m: m.certified("gravity", [0, float("nan")]), "is not a finite number"),
        (lambda m: m.certified("gravity", [0, "x"]), "is not a finite number"),
        (lambda m: m.certified("gravity", [0, 0], digits=0), "digits"),
        (lambda m: m.certified("placement", [0, 0], frame="tol"), "tool"),
    ],
)
def test_mistakes(call: object, message: str) -> None:
    with pytest.raises(LinkwrightError, match=message):
        call(lw.compile(lw.gallery("elbow")))  # type: ignore[operator]


def test_intervals() -> None:
    with ball_precision(100):
        third = interval_from_ball(flint.arb(1) / 3, 20)
        nothing = flint.arb(1) / 0
    assert Fraction(1, 3) in third
    assert 0.5 not in third
    assert 20 < third.digits < 40
    assert "±" in str(third)
    assert float(third) == 1 / 3
    assert Interval("0", "0").digits == float("inf")
    with pytest.raises(UnsupportedError, match="no finite"):
        interval_from_ball(nothing, 10)
