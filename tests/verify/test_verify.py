"""verify: right equations pass, planted errors are found and named."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.verification import VerificationReport
from linkwright.verification.verified_equations import VerifiedEquations
from linkwright.writers import write_mechanism_text
from tests.commands import ok, run
from tests.verify.test_inertias import REAL, arm_with

Change = Callable[[lw.Equations, ca.SX], ca.SX]
EVERY = {
    "formulations agree", "constrained accelerations", "M symmetric", "T = ½ q̇ᵀM q̇", "Ṁ − 2C skew", "M q̈ + C q̇ + g − f = τ",
    "g = ∂V/∂q", "power balance", "constraint derivatives", "M positive definite",
    "energy along a run", "momentum along a run", "constraints independent", "inertias physical",
    "free fall on a slide", "natural frequency", "huge mass as ground", "kineto-static solution",
    "approximate dynamics",
}  # fmt: skip


@pytest.mark.parametrize("name", ["elbow", "cart-pole", "stanford-rrp", "four-bar", "rolling-disk"])
def test_right_equations_pass(name: str) -> None:
    report = lw.verify(lw.gallery(name))
    assert report.passed, str(report)
    assert {check.name for check in report.checks} == EVERY
    for check in report.checks:
        assert check.figure
        assert check.meaning
        assert check.cite or check.verdict == "skipped"
    assert report["formulations agree"].verdict == "proved"
    assert report["Ṁ − 2C skew"].verdict == "proved"
    assert report["g = ∂V/∂q"].verdict == "proved"
    assert report["power balance"].verdict == "proved"
    assert "all checks passed" in str(report)


def test_known_motions_are_there_where_they_apply() -> None:
    report = lw.verify(lw.gallery("elbow"), by=["lagrange"])
    for name in ("free fall on a slide", "natural frequency", "huge mass as ground",
                 "kineto-static solution", "momentum along a run"):  # fmt: skip
        assert report[name].verdict == "passed", str(report)


@pytest.mark.parametrize("by", ["lagrange", "kane", "hamilton", "newton_euler"])
def test_equations_by_any_formulation(by: str) -> None:
    eqs = lw.derive(lw.gallery("elbow"), by=by)
    report = lw.verify(eqs, by=["recursive"])
    assert report.passed, str(report)
    assert report.by == by


def test_friction_springs_motors_quaternions_and_numbers() -> None:
    arm = lw.Mechanism(
        bodies={
            "a": {"mass": 2, "center": ["0.1", "0.2", "0.3"], "inertia": ["0.2", "0.3", "0.4"]},
            "b": {"mass": 1, "center": ["0.3", 0, "0.1"], "inertia": ["0.1", "0.1", "0.1"]},
        },
        joints={
            "ball": {"type": "spherical", "child": "a"},
            "slide": {
                "type": "prismatic", "parent": "a", "child": "b", "axis": [1, 2, 2],
                "origin": {"xyz": [0, 0, "0.3"], "rpy": ["0.3", "20 deg", 0]}, "friction": "0.2",
                "damping": "0.1", "stiffness": 3, "rest": "0.1",
                "motor": {"ratio": 20, "inertia": "1e-4"},
            },
        },
    )  # fmt: skip
    assert lw.verify(arm).passed
    rounded = lw.verify(lw.derive(arm, parameters="numeric"))
    assert rounded.passed, str(rounded)
    assert "ball arithmetic" in rounded["formulations agree"].figure


def test_forces_in_time_and_bodies_of_the_ground() -> None:
    """The work of given forces counts; the ground bears what is fixed to it."""
    body = {"mass": 1, "center": ["0.3", 0, 0], "inertia": ["0.1", "0.1", "0.1"]}
    arm = lw.Mechanism(
        bodies={"base": {"mass": 5}, "a": body, "b": body},
        joints={
            "base": {"type": "fixed", "child": "base", "origin": [0, 0, 1]},
            "q1": {"type": "revolute", "parent": "base", "child": "a", "axis": [0, 1, 0]},
            "q2": {"type": "prismatic", "parent": "a", "child": "b", "axis": [1, 0, 0]},
        },
        frames={"tip": {"body": "b", "origin": ["0.2", 0, 0]}, "wall": {"body": "ground"}},
    )
    report = lw.verify(arm)
    assert report.passed, str(report)
    assert report["momentum along a run"].verdict == "passed"
    loaded = lw.Mechanism(
        **{key: getattr(arm, key) for key in ("bodies", "joints", "frames")},
        forces={
            "spring": {"type": "spring", "between": ["wall", "tip"], "stiffness": 3,
                       "length": "0.3", "damping": "0.2"},
            "wind": {"type": "wrench", "on": "tip", "force": ["sin(3*t)", 0, "abs(q2)*dq1"]},
        },
    )  # fmt: skip
    report = lw.verify(loaded)
    assert report.passed, str(report)
    assert {report[name].verdict for name in ("g = ∂V/∂q", "power balance")} == {"proved"}
    assert report["momentum along a run"].verdict == "skipped"


def test_equations_that_have_few_functions() -> None:
    report = lw.verify(lw.derive(lw.gallery("elbow"), by="approximate"))
    assert report.passed, str(report)


def test_approximate_dynamics_is_exact_in_the_limit() -> None:
    """Twelve corrections at the default β; one correction at a small β is not enough."""
    bar = lw.gallery("four-bar")
    report = lw.verify(bar, by=["approximate"])
    assert report["approximate dynamics"].verdict == "passed", str(report)
    report = lw.verify(bar, by=["approximate"], beta=10, iterations=1)
    assert report.failed == ("approximate dynamics",)
    with pytest.raises(LinkwrightError, match="only approximate dynamics uses beta"):
        lw.verify(bar, by=["lagrange"], beta=10)
    quadruped = lw.verify(lw.gallery("quadruped"), by=["approximate"])
    assert quadruped["approximate dynamics"].verdict == "skipped"


# -- planted errors ------------------------------------------------------------------------


def planted(eqs: lw.Equations, function: str, change: Change) -> lw.Equations:
    builders = {**eqs.builders, function: lambda: change(eqs, eqs.expressions(function)[0])}
    return dataclasses.replace(eqs, builders=builders)


def at(k: int, factor: float) -> Change:
    def change(_: lw.Equations, e: ca.SX) -> ca.SX:
        e = ca.densify(ca.SX(e))
        e[k % e.numel()] *= factor
        return e

    return change


def swapped(one: str, other: str) -> Change:
    """Two parameters mixed up."""

    def change(eqs: lw.Equations, e: ca.SX) -> ca.SX:
        names, p = list(eqs.parameters), eqs.symbols["p"]
        order = list(range(len(names)))
        i, j = names.index(one), names.index(other)
        order[i], order[j] = j, i
        return ca.substitute(e, p, p[order])

    return change


def dropped(k: int) -> Change:
    """All terms with one of the speeds."""

    def change(eqs: lw.Equations, e: ca.SX) -> ca.SX:
        qd = eqs.symbols["qd"]
        keep = ca.vertcat(*(0 if i == k else qd[i] for i in range(eqs.nv)))
        return ca.substitute(e, qd, keep)

    return change


def transposed_entry(_: lw.Equations, e: ca.SX) -> ca.SX:
    e = ca.densify(ca.SX(e))
    e[0, 1] = e[0, 1] + e[0, 0] * 2**-10
    return e


def extra(eqs: lw.Equations, e: ca.SX) -> ca.SX:
    e = ca.densify(ca.SX(e))
    e[0] += eqs.symbols["q"][0]
    return e


def turned(eqs: lw.Equations, e: ca.SX) -> ca.SX:
    """sin for cos of the first angle."""
    q = eqs.symbols["q"]
    return ca.substitute(e, q, ca.vertcat(ca.SX(np.pi / 2) - q[0], q[1:]))


CHANGES: dict[str, Change] = {
    "sign of the first": at(0, -1), "sign of the last": at(-1, -1), "factor 2": at(0, 2),
    "factor ½": at(-1, 0.5), "first dropped": at(0, 0), "speed 1 dropped": dropped(0),
    "speed 2 dropped": dropped(1), "extra term": extra, "another angle": turned,
}  # fmt: skip
SWAPS = {
    "elbow": [("I1", "I2"), ("m1", "m2"), ("lc1", "lc2"), ("l1", "lc1")],
    "cart-pole": [], "stanford-rrp": [], "four-bar": [],
}  # fmt: skip
OF_TREES = (
    "mass_matrix", "coriolis_matrix", "gravity", "bias", "inverse_dynamics", "forward_dynamics",
    "kinetic_energy", "potential_energy",
)  # fmt: skip
OF_LOOPS = ("constraint_jacobian", "constraint_bias", "required_forces", "mass_matrix")
EQUATIONS = {name: lw.derive(lw.gallery(name)) for name in SWAPS}


def errors() -> Iterator[tuple[str, str, str, Change]]:
    for name, swaps in SWAPS.items():
        changes = CHANGES | {f"{a} for {b}": swapped(a, b) for a, b in swaps}
        for function in OF_LOOPS if name == "four-bar" else OF_TREES:
            for what, change in changes.items():
                if name in ("elbow", "four-bar") or what in ("sign of the last", "speed 1 dropped"):
                    yield name, function, what, change


def differs(one: lw.Equations, other: lw.Equations, function: str) -> bool:
    a = VerifiedEquations(one)
    states = a.random_states(2, seed=9)
    return differs_at(states, [a.function_value(function, s) for s in states], other, function)


def differs_at(
    states: list[dict[str, np.ndarray]],
    right: list[np.ndarray],
    other: lw.Equations,
    function: str,
) -> bool:
    wrong = VerifiedEquations(other)
    return any(
        np.abs(value - wrong.function_value(function, s)).max() > 1e-9
        for value, s in zip(right, states, strict=True)
    )


@cache
def states_of(name: str) -> list[dict[str, np.ndarray]]:
    return VerifiedEquations(EQUATIONS[name]).random_states(2, seed=9)


@cache
def right_values(name: str, function: str) -> list[np.ndarray]:
    return [VerifiedEquations(EQUATIONS[name]).function_value(function, s) for s in states_of(name)]


def changes_values(name: str, function: str, change: Change) -> bool:
    wrong = planted(EQUATIONS[name], function, change)
    return differs_at(states_of(name), right_values(name, function), wrong, function)


PLANTED = [e for e in errors() if changes_values(e[0], e[1], e[3])]


def test_a_hundred_errors_are_planted() -> None:
    assert len(PLANTED) >= 100
    assert len({(name, function) for name, function, *_ in PLANTED}) >= 20


@pytest.mark.parametrize(
    ("name", "function", "what", "change"), PLANTED, ids=[" ".join(e[:3]) for e in PLANTED]
)
def test_planted_errors_are_caught_and_named(
    name: str, function: str, what: str, change: Change
) -> None:
    report = lw.verify(planted(EQUATIONS[name], function, change), by=["lagrange"])
    assert not report.passed
    failing = [each for check in report.checks for each in check.failing]
    assert any(function in each for each in failing), str(report)
    assert function in str(report)


@pytest.mark.parametrize(
    ("function", "change", "law"),
    [
        ("mass_matrix", transposed_entry, "M symmetric"),
        ("mass_matrix", at(0, -1), "M positive definite"),
        ("coriolis_matrix", at(0, 2), "Ṁ − 2C skew"),
        ("gravity", at(1, -1), "g = ∂V/∂q"),
        ("inverse_dynamics", dropped(1), "power balance"),
        ("forward_dynamics", at(0, 2), "energy along a run"),
        ("forward_dynamics", at(1, -1), "M q̈ + C q̇ + g − f = τ"),
        ("kinetic_energy", at(0, 2), "T = ½ q̇ᵀM q̇"),
        ("inverse_dynamics", swapped("m1", "m2"), "kineto-static solution"),
        ("momentum", at(3, 2), "momentum along a run"),
    ],
)
def test_laws_find_errors_on_their_own(function: str, change: Change, law: str) -> None:
    eqs = EQUATIONS["elbow"]
    if function == "inverse_dynamics" and law.startswith("kineto"):
        eqs = lw.derive(lw.gallery("elbow").with_parameters(m2=3))
    report = lw.verify(planted(eqs, function, change), by=["lagrange"])
    assert law in report.failed, str(report)


def flipped(_: lw.Equations, e: ca.SX) -> ca.SX:
    """The last entry that is not zero, with the other sign."""
    e = ca.densify(ca.SX(e))
    k = max(k for k in range(e.numel()) if not e[k].is_zero())
    e[k] = -e[k]
    return e


BALL = lw.Mechanism(
    name="ball", gravity=[0, 0, "-g"], parameters={"ms": 2, "m": 1, "c": "1/2", "A": 0.3, "g": 9.81},
    bodies={"slide": {"mass": "ms"}, "bob": {"mass": "m", "center": [0, 0, "-c"], "inertia": ["A", "A", "A"]}},
    joints={
        "h": {"type": "prismatic", "child": "slide"},
        "b": {"type": "spherical", "parent": "slide", "child": "bob"},
    },
)  # fmt: skip


@pytest.mark.parametrize(
    ("mechanism", "function", "change"),
    [
        ("rolling-disk", "constraint_jacobian", flipped),
        ("rolling-disk", "constraint_bias", at(1, 2)),
        (BALL, "mass_matrix", at(-1, 2)),
        (BALL, "gravity", at(1, -1)),
        (BALL, "inverse_dynamics", dropped(2)),
    ],
)
def test_errors_beside_roots_and_quaternions_are_caught(
    mechanism: str | lw.Mechanism, function: str, change: Change
) -> None:
    eqs = lw.derive(lw.gallery(mechanism) if isinstance(mechanism, str) else mechanism)
    wrong = planted(eqs, function, change)
    assert differs(eqs, wrong, function)
    report = lw.verify(wrong)
    assert any(function in each for check in report.checks for each in check.failing), str(report)


def test_an_error_in_all_functions_is_found() -> None:
    """Equations that agree with themselves, of another mechanism."""
    mechanism = lw.gallery("elbow").with_parameters(I2=3)
    eqs = lw.derive(mechanism)
    names = [name for name in eqs.function_names() if name in eqs.builders]
    change = swapped("I1", "I2")

    def builder(name: str) -> Callable[[], tuple[ca.SX, ...]]:
        return lambda: tuple(change(eqs, e) for e in eqs.expressions(name))

    wrong = dataclasses.replace(eqs, builders={name: builder(name) for name in names})
    report = lw.verify(mechanism, equations=wrong, by=["lagrange"])
    assert {"formulations agree", "kineto-static solution"} <= set(report.failed), str(report)
    assert report["power balance"].verdict == "proved"


@pytest.mark.parametrize(("name", "verdict"), [
    ("four-bar", "proved"), ("sharp-edged-disk", "proved"), ("n-four-bar", "passed"), ("elbow", "skipped"),
])  # fmt: skip
def test_accelerations_under_constraints(name: str, verdict: str) -> None:
    """Proved where lengths can be chosen that close the loops, seen at states where they cannot."""
    check = lw.verify(lw.gallery(name), by=["kane"])["constrained accelerations"]
    assert check.verdict == verdict, check.figure
    assert ("closed states; no proof, since" in check.figure) == (verdict == "passed")


@pytest.mark.parametrize("name", ["four-bar", "bicycle", "n-four-bar"])
@pytest.mark.parametrize("wrong", ["mass_matrix", "bias", "nothing"])
def test_wrong_accelerations_under_constraints_are_found(name: str, wrong: str) -> None:
    """One entry of M or bias changed a little, and the accelerations that follow from them."""
    eqs = lw.derive(lw.gallery(name))
    tau, M, b = eqs.symbols["tau"], eqs.M, eqs.expressions("bias")[0]
    M, b = ca.SX(M), ca.SX(b)
    if wrong == "mass_matrix":
        M[0, 0] *= 1 + 2.0**-10
    elif wrong == "bias":
        b[0] *= 1 + 2.0**-10
    J, gamma = eqs.expressions("constraint_jacobian")[0], eqs.expressions("constraint_bias")[0]
    rows = [0, 1, 5, 6] if name == "n-four-bar" else [0, 1] if name == "four-bar" else range(6)
    J, gamma = J[list(rows), :], gamma[list(rows)]
    whole = ca.vertcat(ca.horzcat(M, -J.T), ca.horzcat(J, ca.SX(len(rows), len(rows))))
    qdd = ca.solve(whole, ca.vertcat(tau - b, -gamma))[: eqs.nv]
    changed = dataclasses.replace(
        eqs, builders={**eqs.builders, "forward_dynamics": lambda: (qdd, ca.SX(1))}
    )
    proof = VerifiedEquations(eqs).prove_same_on_constraints(
        VerifiedEquations(changed), "forward_dynamics"
    )
    assert proof.holds is (wrong == "nothing"), proof.text


def test_redundant_constraints_are_noted() -> None:
    check = lw.verify(lw.gallery("four-bar"), by=["kane"])["constraints independent"]
    assert check.verdict == "noted"
    assert "1 free; 5 equations, 2 independent" in check.figure


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("elbow", {}, "a str is not a mechanism"),
        (lw.Mechanism(bodies={"a": {}}, joints={"j": {"type": "fixed", "child": "a"}}), {}, "move"),
        (lw.gallery("elbow"), {"by": ["lagrnge"]}, "lagrange"),
    ],
)
def test_mistakes(source: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(LinkwrightError, match=message):
        lw.verify(source, **options)  # type: ignore[arg-type]


def test_command_line(tmp_path: Path) -> None:
    assert "all checks passed" in ok("verify", "elbow", "--by", "lagrange")
    data = json.loads(ok("verify", "cart-pole", "--by", "lagrange", "--json"))
    assert data["passed"] is True
    assert {check["name"] for check in data["checks"]} == EVERY
    file = tmp_path / "odd.toml"
    file.write_text(write_mechanism_text(arm_with(REAL, [0, 0, 1]), "toml")[0], encoding="utf-8")
    failed = run("verify", str(file), "--by", "kane")
    assert failed.returncode == 1
    assert "failed   inertias physical" in failed.stdout
    assert run("verify", "nothing.toml").returncode == 2


def test_report() -> None:
    report = lw.verify(lw.gallery("elbow"), by=["lagrange"])
    assert isinstance(report, VerificationReport)
    assert report.failed == ()
    assert report.seconds > 0
    with pytest.raises(KeyError):
        report["nothing"]


def test_one_formulation_may_be_named_by_a_string() -> None:
    """by="lagrange" is by=["lagrange"], not one formulation for each letter."""
    one, several = (lw.verify(lw.gallery("elbow"), by=by) for by in ("lagrange", ["lagrange"]))
    assert [check.figure for check in one.checks] == [check.figure for check in several.checks]
