"""Adaptive integrators: tolerances against closed forms, singular passages, energy of loops."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.formulations import derive
from linkwright.readings.heyoka import read_tape_as_heyoka
from linkwright.simulation.inputs import read_force_law
from linkwright.simulation.right_hand_side import RightHandSide
from linkwright.simulation.run_context import RunContext
from linkwright.simulation.steppers.singularity_crossing import SingularityCrossing
from linkwright.simulation.steppers.stepper import StepOptions
from linkwright.simulation.steppers.stepper_choice import stepper_named
from linkwright.tape import record_tape
from tests.simulate.known import FREE_ARM, PENDULUM, TOP, n_four_bar, pendulum, spinning

ADAPTIVE = ("dop853", "rk45", "rodas", "radau", "bdf", "lsoda", "cvodes", "idas", "taylor")


def skip_without_heyoka(integrator: str) -> None:
    if integrator == "taylor":
        pytest.importorskip("heyoka")


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_tolerances_are_heeded(integrator: str) -> None:
    """A thousandth of the tolerance takes at least 1.5 digits off the error."""
    skip_without_heyoka(integrator)
    errors = []
    for rtol in (1e-6, 1e-9):
        found = lw.simulate(
            PENDULUM, 3.0, q0=[np.pi], integrator=integrator, rtol=rtol, atol=rtol / 10, samples=7
        )
        errors.append(np.abs(np.cos(found.q[:, 0]) - pendulum(found.t)).max())
        assert found.finished
    assert errors[0] < 1e-3
    assert errors[1] < 3e-6
    assert errors[1] < errors[0] / 30 or errors[1] < 1e-12


def test_pendulum_to_machine_precision() -> None:
    pytest.importorskip("heyoka")
    found = lw.simulate(
        PENDULUM, 100.0, q0=[np.pi], integrator="taylor", rtol=1e-16, samples=1001
    )  # fmt: skip
    np.testing.assert_allclose(np.cos(found.q[:, 0]), pendulum(found.t), atol=2e-12)
    assert abs(np.cos(found.q[-1, 0]) + 0.1815133514270314) < 1e-12
    assert found.audit < 1e-13


@pytest.mark.parametrize("integrator", ["dop853", "rodas", "radau", "cvodes", "idas", "taylor"])
def test_torque_free_body(integrator: str) -> None:
    skip_without_heyoka(integrator)
    w = np.array([0.9, -0.4, 2.0])
    found = lw.simulate(
        TOP, 3.0, qd0=[*w, 0, 0, 0], integrator=integrator, rtol=1e-11, atol=1e-12, samples=4
    )
    turned, speeds = spinning(w, 3.0)
    np.testing.assert_allclose(found.q[-1, 3:], turned, atol=3e-8)
    np.testing.assert_allclose(found.qd[-1, :3], speeds, atol=3e-8)


@pytest.mark.parametrize("integrator", ["dop853", "idas", "taylor"])
def test_momentum_of_a_free_base(integrator: str) -> None:
    skip_without_heyoka(integrator)
    speeds = [0.4, -0.3, 0.5, 0.1, 0.2, -0.1, 1.5]
    found = lw.simulate(
        FREE_ARM, 3.0, qd0=speeds, integrator=integrator, rtol=1e-11, atol=1e-12, samples=7
    )
    h = lw.compile(FREE_ARM).momentum(found.q, found.qd)
    np.testing.assert_allclose(h, np.broadcast_to(h[0], h.shape), atol=3e-8)


@pytest.mark.parametrize("integrator", ["cvodes", "idas", "taylor"])
def test_slider_crank_of_sundials(integrator: str) -> None:
    """The example that IDA comes with, and what it prints."""
    skip_without_heyoka(integrator)
    found = lw.simulate(
        lw.gallery("slider-crank-sundials"), 10.0, integrator=integrator, samples=101,
        rtol=1e-10, atol=1e-11,
    )  # fmt: skip
    wanted = [1.315420570882, -1.429996967647, 1.275675848650]
    np.testing.assert_allclose(found.q[[10, 50, 100], 0], wanted, atol=3e-8)
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-7


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "3-rrr", "bricard", "slider-crank"])
def test_conservative_loops_keep_their_energy(name: str) -> None:
    """At default tolerances over 10 s: closure 1e-10, drift 1e-8 of the largest kinetic energy."""
    found = lw.simulate(lw.gallery(name).without("friction", "damping"), 10.0, samples=201)
    assert found.finished
    assert found.closure.max() < 1e-10
    assert np.ptp(found.energy) < 1e-8 * found.kinetic.max()


@pytest.mark.parametrize(
    ("n", "t", "passages"), [(2, 10.0, 10), pytest.param(40, 1.0, 1, marks=pytest.mark.slow)]
)
def test_windows_pass_their_flat_configuration(n: int, t: float, passages: int) -> None:
    """IFToMM A02, where freedom jumps from 1 to N + 1: the branch of parallel cranks, every
    passage said."""
    found = lw.simulate(lw.gallery(f"n-four-bar-{n}"), t, qd0={"theta0": -1.0}, samples=101)
    here = np.array([np.cos(found.q[:, 0]), np.sin(found.q[:, 0])]).T
    np.testing.assert_allclose(here, n_four_bar(n, found.t), atol=1e-6)
    if n == 2:
        assert abs(here[-1, 0] - 0.3284581115408154) < 1e-6
    assert len(found.singular) == passages
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-8


def test_a_passage_that_is_lost_is_made_in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """An iteration that goes to infinity is no error: the five-bar and the Stewart platform do so."""

    def lost(*_: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    monkeypatch.setattr(SingularityCrossing, "collocated_rates", lost)
    found = lw.simulate(lw.gallery("n-four-bar"), 1.0, qd0={"theta0": -1.0}, samples=11)
    assert found.finished
    assert found.closure.max() < 1e-10
    assert found.audit < 1e-5


def test_multistep_methods_pass_it_too() -> None:
    found = lw.simulate(
        lw.gallery("n-four-bar"), 1.0, qd0={"theta0": -1.0}, integrator="bdf", samples=11
    )
    np.testing.assert_allclose(np.cos(found.q[:, 0]), n_four_bar(2, found.t)[:, 0], atol=1e-6)
    assert len(found.singular) == 1


# -- other ways to hold constraints ------------------------------------------------------


@pytest.mark.slow
def test_baumgarte() -> None:
    """What is open dies out by α and β, and is left to grow without them."""
    linkage, options = lw.gallery("four-bar"), {"rtol": 1e-7, "atol": 1e-8, "samples": 51}
    held = lw.simulate(linkage, 5.0, stabilization={"alpha": 20, "beta": 20}, **options)
    usual = lw.simulate(linkage, 5.0, stabilization="baumgarte", **options)
    loose = lw.simulate(linkage, 5.0, stabilization={"alpha": 0, "beta": 0}, **options)
    assert held.closure[1:].min() > 0
    assert held.closure.max() < 1e-6
    assert usual.closure.max() < 1e-6
    assert loose.closure[-1] > 10 * held.closure[-1]
    truth = lw.simulate(linkage, 5.0, samples=51)
    np.testing.assert_allclose(held.q, truth.q, atol=1e-4)
    dae = lw.simulate(linkage, 5.0, stabilization="baumgarte", integrator="idas", samples=51)
    np.testing.assert_allclose(dae.q, truth.q, atol=1e-6)


@pytest.mark.parametrize(("name", "speed"), [("four-bar", 0.0), ("slider-crank", 6.0)])
def test_minimal_coordinates(name: str, speed: float) -> None:
    """The same motion, through dead centres of single coordinates."""
    linkage = lw.gallery(name)
    options = {"qd0": {linkage.independent[0]: speed}, "samples": 21}
    found = lw.simulate(linkage, 2.0, coordinates="minimal", **options)
    other = lw.simulate(linkage, 2.0, **options)
    np.testing.assert_allclose(found.q, other.q, atol=1e-6)
    assert found.closure.max() < 1e-12
    assert found.audit < 1e-7


def test_minimal_coordinates_of_long_links() -> None:
    """Links of a kilometre close as well as their rounding lets them, and move as small ones."""
    small = lw.gallery("four-bar")
    lengths = {name: 1000 * float(small.values[name]) for name in ("l1", "l2", "l3", "l4", "g")}
    inertias = {name: 1e6 * float(small.values[name]) for name in ("I1", "I2", "I3")}
    long = small.with_parameters(**lengths, **inertias)
    found, other = (lw.simulate(m, 1.0, coordinates="minimal", samples=3) for m in (long, small))
    assert found.finished, found.status
    np.testing.assert_allclose(found.q, other.q, atol=1e-7)


def test_minimal_coordinates_are_chosen_anew() -> None:
    """The slide of a crank that goes round drives it badly at both ends of its stroke."""
    linkage = lw.gallery("slider-crank")
    equations = derive(linkage, by="recursive", parameters="numeric")
    context = RunContext(RightHandSide(equations, read_force_law(equations, None)))
    q = context.model.home()
    G, _ = context.model.independent_map(q)
    y = context.space.start(q, G[:, 0] * 6.0)
    stepper = stepper_named("dop853", "minimal")(context, 0.0, y, 3.0, StepOptions(max_step=0.02))
    chosen = set()
    while stepper.t < 3.0:
        assert stepper.advance() is None
        chosen.add(tuple(stepper.inner.a))
    assert len(chosen) > 1
    assert stepper.inner.changes >= 1
    found = lw.simulate(linkage, 3.0, q0=q, qd0=G[:, 0] * 6.0, samples=2)
    np.testing.assert_allclose(stepper.y[: context.names.nq], found.q[-1], atol=1e-6)


# -- Taylor series -----------------------------------------------------------------------


def test_every_smooth_instruction_has_a_series() -> None:
    hy = pytest.importorskip("heyoka")
    x = ca.SX.sym("x", 3)
    a, b, c = ca.vertsplit(x)
    y = ca.vertcat(
        ca.sin(a) * ca.cos(b) - ca.tan(c), ca.asin(a / 3) + ca.acos(b / 3), ca.atan2(a, b),
        ca.exp(a) / ca.log(2 + b), ca.sqrt(c) ** 3, ca.tanh(a) - b, -a,
        ca.if_else(a < b, a * b, c), a**b,
    )  # fmt: skip
    function = ca.Function("f", [x], [y])
    tape = record_tape(function)
    states = list(hy.make_vars("x", "y", "z"))
    compiled = hy.cfunc(
        [hy.expression(e) for e in read_tape_as_heyoka(tape, [states])[0]], vars=states
    )
    for point in ([0.3, 0.8, 1.2], [0.9, 0.2, 0.4]):
        wanted = np.asarray(function(point)).ravel()
        np.testing.assert_allclose(compiled(np.array(point)), wanted, rtol=1e-14)


def test_what_has_no_series() -> None:
    pytest.importorskip("heyoka")
    with pytest.raises(UnsupportedError, match="abs is not smooth"):
        lw.simulate(PENDULUM, 0.1, integrator="taylor", torque={"q": "abs(q)"})


@pytest.mark.parametrize("integrator", ["taylor", "cvodes"])
def test_drives_by_expression(integrator: str) -> None:
    skip_without_heyoka(integrator)
    found = lw.simulate(PENDULUM, 1.0, integrator=integrator, torque={"q": "sin(2*t)"}, samples=3)
    other = lw.simulate(PENDULUM, 1.0, torque={"q": "sin(2*t)"}, samples=3)
    np.testing.assert_allclose(found.q, other.q, atol=1e-7)
    if integrator == "taylor":
        with pytest.raises(UnsupportedError, match="needs inputs that have a Taylor series"):
            lw.simulate(PENDULUM, 1.0, integrator=integrator, torque=lambda t, q, qd: [0.0])


def test_without_heyoka(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "heyoka", None)
    with pytest.raises(UnsupportedError, match=r"linkwright\[taylor\]"):
        lw.simulate(PENDULUM, 0.1, integrator="taylor")


def test_wrong_requests() -> None:
    for name, options, what in (
        ("four-bar", {"stabilization": "magic"}, "cannot be held by 'magic'"),
        ("four-bar", {"stabilization": {"gamma": 1}}, "cannot be held"),
        ("elbow", {"stabilization": "baumgarte"}, "which are not here"),
        ("four-bar", {"stabilization": "baumgarte", "integrator": "rk4"}, "hold the constraints"),
        ("elbow", {"coordinates": "minimal"}, "only for closed loops"),
        ("rolling-disk", {"coordinates": "minimal"}, "only for closed loops"),
        ("four-bar", {"coordinates": "some"}, "unknown choice of coordinates 'some'"),
        ("elbow", {"integrator": "idas", "by": "hamilton"}, "states of its own"),
    ):
        with pytest.raises(UnsupportedError, match=what):
            lw.simulate(lw.gallery(name), 0.1, **options)
