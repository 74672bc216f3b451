"""Accelerations, rates of states and reactions in closed form: what is printed has the right
values."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy

import linkwright as lw
from linkwright.equations import Equations
from linkwright.errors import UnsupportedError
from linkwright.expressions import expression_to_float, names_in_expression
from linkwright.forms.closed_forms import ClosedForm
from linkwright.forms.state_rate_forms import state_names
from linkwright.quantities import quantity_entry_names

from ..commands import ok

TREES = ["elbow", "cart-pole", "triple-pendulum", "remote-elbow", "stanford-rrp"]
LOOPS = ["four-bar", "slider-crank", "rolling-disk", "sharp-edged-disk"]


def printed_values(form: ClosedForm, known: dict[str, float]) -> dict[str, float]:
    """The values of all printed lines; systems that are only stated are solved."""
    written = form.collect_terms()
    lines = dict(written.groups)
    lines |= written.entries_by_name()
    found = dict(known)

    def value(name: str) -> float:
        if name not in found:
            for other in names_in_expression(lines[name]) - {"pi"}:
                value(other)
            found[name] = expression_to_float(lines[name], found)
        return found[name]

    def entries(label: str) -> np.ndarray:
        (port,) = (p for p in form.ports if p.name == label)
        index = [f"{label}[{','.join(str(i + 1) for i in at)}]" for at in np.ndindex(*port.shape)]
        return np.array([value(name) for name in index]).reshape(port.shape)

    for system in form.stated:
        A, b = entries(system.matrix), entries(system.right)
        if system.jacobian:
            J, c = entries(system.jacobian), entries(system.jacobian_right)
            A = np.block([[A, -J.T], [J, np.zeros((len(J), len(J)))]])
            b = np.concatenate([b, c])
        x = np.linalg.lstsq(A, b, rcond=None)[0]
        found |= dict(zip((*system.unknowns, *system.multipliers), x, strict=True))
    return {name: value(name) for name in form.labels} | found


def state_and_truth(eqs: Equations) -> tuple[dict[str, float], np.ndarray, tuple[np.ndarray, ...]]:
    """A state by the names of its symbols, with parameters; q̈ of `recursive`; (q, q̇, τ, t)."""
    truth = lw.derive(eqs.mechanism, parameters="numeric")
    rng = np.random.default_rng(4)
    at = eqs.names.time_arguments(0.3)
    q, qd, tau = (rng.uniform(0.3, 1.1, n) for n in (eqs.nq, eqs.nv, eqs.nv))
    if eqs.names.constraints:
        q, at = np.array(eqs.home), eqs.names.time_arguments(0.0)
        G, k, _ = (np.array(x) for x in truth.function("independent_map")(q, *at))
        qd = (G @ rng.uniform(0.3, 1, (G.shape[1], 1)) + k).ravel()
    made = truth.function("forward_dynamics")(q, qd, tau, *at)
    qdd = np.array(made[0] if isinstance(made, tuple) else made).ravel()
    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    found = {name: float(value) for name, value in eqs.parameters.items()}
    for key, column in (("q", q), ("qd", qd), ("tau", tau), ("t", at)):
        found |= dict(zip(names[key], np.ravel(column), strict=False))
    return found, qdd, (q, qd, tau, *at)


@pytest.mark.parametrize("name", [*TREES, *LOOPS])
def test_printed_accelerations_are_those_of_the_mechanism(name: str) -> None:
    for by in ("recursive", "hamilton", "kane"):
        eqs = lw.derive(lw.gallery(name), by=by)
        known, qdd, _ = state_and_truth(eqs)
        labels = quantity_entry_names(eqs.names)["qdd"]
        form = eqs.closed_form("qdd")
        values = printed_values(form, known)
        one = printed_values(eqs.closed_form(labels[-1]), known)[labels[-1]]
        printed = [values.get(x, values.get(f"qdd[{k + 1}]")) for k, x in enumerate(labels)]
        np.testing.assert_allclose(printed, qdd, rtol=1e-9, atol=1e-9 * np.abs(qdd).max())
        assert one == pytest.approx(qdd[-1], rel=1e-9)


@pytest.mark.parametrize("name", [*TREES, "four-bar", "slider-crank"])
@pytest.mark.parametrize("by", ["lagrange", "kane", "hamilton", "newton_euler", "approximate"])
def test_printed_rates_are_those_of_the_states(name: str, by: str) -> None:
    """x = X(q, q̇) moves with ẋ = ∂X/∂q q̇ + ∂X/∂q̇ q̈, q̈ of `recursive`; under `approximate`,
    which is not exact, with its own rates."""
    mechanism = lw.gallery(name)
    by = "multipliers" if by == "lagrange" and mechanism.loops_and_constraints() else by
    eqs = lw.derive(mechanism, by=by)
    known, qdd, (q, qd, tau, *_) = state_and_truth(eqs)
    symbols = [eqs.symbols[key] for key in ("q", "qd", "tau", "p")]
    p = [float(value) for value in eqs.parameters.values()]
    state = eqs.state
    x = ca.vertcat(eqs.symbols["q"], eqs.symbols["qd"]) if state is None else state.from_motion()
    names = state_names(eqs)
    if by == "approximate":
        known |= {name: float(eqs.extra(name)) for name in ("beta", "gamma")}
        rates = ca.substitute(state.rates(), state.x, state.from_motion())
    else:
        rates = ca.jtimes(x, eqs.symbols["q"], eqs.rate_matrix @ eqs.symbols["qd"])
        rates += ca.jtimes(x, eqs.symbols["qd"], ca.DM(qdd))
    now, expected = ca.Function("x", symbols, [x, rates])(q, qd, tau, p)
    known |= dict(zip(names, np.array(now).ravel(), strict=True))
    values = printed_values(eqs.closed_form("state_rates"), known)
    printed = np.array([values[f"{one}'"] for one in names])
    np.testing.assert_allclose(printed, np.array(expected).ravel(), rtol=1e-8, atol=1e-8)
    last = eqs.closed_form(f"{names[-1]}'")
    assert printed_values(last, known)[f"{names[-1]}'"] == pytest.approx(printed[-1], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("elbow", "lagrange"),
        ("cart-pole", "hamilton"),
        ("triple-pendulum", "newton_euler"),
        ("four-bar", "multipliers"),
        ("four-bar", "newton_euler"),
        ("chain-4", "kane"),
    ],
)
def test_printed_reactions_are_those_of_the_model(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    eqs = lw.derive(mechanism, by=by)
    known, _, (q, qd, tau, *at) = state_and_truth(eqs)
    truth = lw.compile(mechanism).reactions(q, qd, tau, *at)
    values = printed_values(eqs.closed_form("reactions"), known)
    joints = [*eqs.names.joints, *(eqs.names.loops if eqs.names.constraints else ())]
    printed = [[values[f"{c}_{j}"] for c in ("Mx", "My", "Mz", "Fx", "Fy", "Fz")] for j in joints]
    np.testing.assert_allclose(printed, truth, rtol=1e-8, atol=1e-8 * np.abs(truth).max())


def test_cart_pole_as_in_textbooks() -> None:
    """ẍ of a cart with a point mass on a rod of length L: (F + m sin θ (L θ̇² + g cos θ))/(M + m
    sin² θ), θ from the lower vertical (Florian 2007, with I = 0 and no friction)."""
    eqs = lw.derive(lw.gallery("cart-pole"), by="lagrange")
    form = eqs.closed_form("ddx")
    found = form.sympy()
    known = {symbol.name: symbol for symbol in found.free_symbols}
    F, m, M, L, g, th, w = (known[x] for x in ("tau_x", "mp", "mc", "l", "g", "theta", "dtheta"))
    found = found.subs({known["I"]: 0, known["tau_theta"]: 0})
    half = L / 2  # the centre of mass of the pole
    book = (F + m * sympy.sin(th) * (half * w**2 + g * sympy.cos(th))) / (
        M + m * sympy.sin(th) ** 2
    )
    assert sympy.simplify(found - book) == 0


def test_default_speeds_of_kane_have_rates() -> None:
    eqs = lw.derive(lw.gallery("elbow"), by="kane")
    for name in ("u1'", "du1"):
        text = eqs.closed_form(name).text()
        assert text == eqs.closed_form("ddq1").text().replace("ddq1", name)
        assert f"{name} = (" in ok("derive", "elbow", "--by", "kane", "--what", name)
    loop = lw.derive(lw.gallery("four-bar"), by="kane").closed_form("u1'").text()
    assert "u1' = (" in loop
    assert "A21 = -l1*sin(theta1 - theta3)/D" in loop
    with pytest.raises(lw.errors.NameNotFoundError):
        eqs.closed_form("u3'")


def test_large_systems_are_stated() -> None:
    """Four unknowns are not solved by determinants: M, b and the system are printed."""
    form = lw.derive(lw.gallery("chain-4")).closed_form("qdd")
    assert form.text().startswith("M*(ddq1, ddq2, ddq3, ddq4) = b\n")
    assert form.json()["systems"] == ["M*(ddq1, ddq2, ddq3, ddq4) = b"]
    assert "M \\begin{bmatrix} \\ddot{q}_1 \\\\" in form.latex()
    assert "<mo>[</mo><mtable>" in form.html()
    bricard = lw.derive(lw.gallery("bricard")).closed_form("qdd").text().splitlines()
    assert bricard[0].startswith("M*(")
    assert " = b + J_2^T*(lambda_q6_1, " in bricard[0]  # J is a parameter
    assert bricard[1].startswith("J_2*(")
    assert bricard[1].endswith(" = c")


@pytest.mark.parametrize("name", ["slider-crank", "rolling-disk"])
def test_multipliers_have_closed_forms(name: str) -> None:
    """By the names of the quantity, of the vector, of one constraint, and by number: proved."""
    mechanism = lw.gallery(name)
    eqs = lw.derive(mechanism)
    labels = quantity_entry_names(eqs.names)["lambda"]
    whole = eqs.closed_form("multipliers").text()
    assert eqs.closed_form("lambda").text() == whole
    assert eqs.closed_form("lambda1").text() == eqs.closed_form(labels[0]).text()
    for text in (whole, eqs.closed_form("lambda1").text()):
        assert {x.status for x in lw.check(mechanism, text)} == {"identical", "definition"}
    assert ok("derive", name, "--what", "gamma") == ok("derive", name, "--what", "constraint_bias")


def test_the_system_of_independent_accelerations_has_its_own_letters() -> None:
    """R is not the mass matrix M; equations that follow from others are left out."""
    mechanism = lw.gallery("five-bar")
    text = lw.derive(mechanism).closed_form("lambda2").text()
    assert text.startswith("R*(ddq1, ddq2) = r\n")
    assert "differs" not in {x.status for x in lw.check(mechanism, text)}
    whole = lw.derive(lw.gallery("n-four-bar-3")).closed_form("qdd").text().splitlines()
    assert whole[0].count("lambda_") == 6


def test_reactions_that_are_not_unique_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="not unique"):
        lw.derive(lw.gallery("bricard")).closed_form("multipliers")
    with pytest.raises(UnsupportedError, match="not unique"):
        lw.derive(lw.gallery("bricard")).closed_form("reactions")
    with pytest.raises(UnsupportedError, match="springs in place of"):
        lw.derive(lw.gallery("elbow"), by="approximate").closed_form("reactions")
    with pytest.raises(UnsupportedError, match="no accelerations of joint variables alone"):
        lw.derive(lw.gallery("elbow"), by="approximate").closed_form("qdd")


@pytest.mark.parametrize(
    ("quantity", "line"),
    [("v1", "v1 = abs(lc1*dq1)"), ("v2", "v2 = r1")],
)
def test_roots_of_squares_are_absolute_values(quantity: str, line: str) -> None:
    form = lw.derive(lw.gallery("elbow")).closed_form(quantity)
    assert form.text().splitlines()[-1] == line
    assert lw.check(lw.gallery("elbow"), form.text()).passed
    if quantity == "v1":
        assert "\\left|l_{c1} \\, \\dot{q}_1\\right|" in form.latex()


def test_a_root_of_sine_squared_is_an_absolute_value() -> None:
    from linkwright.algebra.exact.perfect_squares import perfect_square_root
    from linkwright.algebra.exact.quotient_ring import QuotientRing
    from linkwright.algebra.exact.quotients import Quotient

    eqs = lw.derive(lw.gallery("elbow"))
    ring: QuotientRing = eqs.closed_form("g").reading.ring
    c, s = ring.generators[ring.first_cosine], ring.generators[ring.function_capacity]
    found = perfect_square_root(ring, Quotient((1 - c**2) * c**2 * 9))
    assert found is not None
    assert found.numerator in (3 * s * c, -3 * s * c)
    assert perfect_square_root(ring, Quotient((1 + c) * c**2)) is None
    assert perfect_square_root(ring, Quotient(-(c**2))) is None
    assert perfect_square_root(ring, Quotient(2 * c**2)) is None


def test_chosen_speeds_of_kane_have_rates() -> None:
    """du2 of speeds that M couples: of the double pendulum in absolute rates, u2' by hand."""
    chosen = {"u1": "dq1", "u2": "dq1 + dq2"}
    eqs = lw.derive(lw.gallery("elbow"), by="kane", speeds=chosen)
    assert eqs.closed_form("du2").text() == eqs.closed_form("u2'").text()
    m1, m2, l1, lc1, lc2, I1, I2, g = sympy.symbols("m1 m2 l1 lc1 lc2 I1 I2 g", real=True)
    q1, q2, u1, u2, t1, t2 = sympy.symbols("q1 q2 u1 u2 tau_q1 tau_q2", real=True)
    M = sympy.Matrix([[m1 * lc1**2 + m2 * l1**2 + I1, m2 * l1 * lc2 * sympy.cos(q2)], [0, 0]])
    M[1, 0], M[1, 1] = M[0, 1], m2 * lc2**2 + I2
    h = m2 * l1 * lc2 * sympy.sin(q2)
    weight = m2 * g * lc2 * sympy.cos(q1 + q2)
    first = t1 - t2 + h * u2**2 - (m1 * lc1 + m2 * l1) * g * sympy.cos(q1)
    book = (M.inv() @ sympy.Matrix([first, t2 - h * u1**2 - weight]))[1]
    found = eqs.closed_form("du2").sympy()
    at = {x: 0.3 + 0.17 * k for k, x in enumerate(sorted(book.free_symbols, key=str))}
    named = {sympy.Symbol(str(x), real=True): value for x, value in at.items()}
    values = {x: named[sympy.Symbol(str(x), real=True)] for x in found.free_symbols}
    assert float(found.subs(values)) == pytest.approx(float(book.subs(at)), rel=1e-12)
