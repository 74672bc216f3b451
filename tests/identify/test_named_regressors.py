"""Regressors for named parameters: the two of Spong and Vidyasagar's elbow, and refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwright as lw
from linkwright.expressions import expression_text
from linkwright.identify import regressor_of
from tests.commands import ok, run

NINE = [
    "m1*lc1^2", "m2*l1^2", "m2*lc2^2", "m2*l1*lc2", "I1", "I2", "m1*lc1*g", "m2*l1*g", "m2*lc2*g",
]  # fmt: skip
SIX = ["m1*lc1^2 + m2*l1^2 + I1", "m2*lc2^2 + I2", "m2*l1*lc2", "m1*lc1", "m2*l1", "m2*lc2"]


def nine(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    """Y as the book prints it (misprints of the scan restored, see gallery)."""
    c1, c2, c12, s2 = np.cos(q[0]), np.cos(q[1]), np.cos(q[0] + q[1]), np.sin(q[1])
    both = ddq[0] + ddq[1]
    h = 2 * c2 * ddq[0] + c2 * ddq[1] - 2 * s2 * dq[0] * dq[1] - s2 * dq[1] ** 2
    return np.array([
        [ddq[0], ddq[0], both, h, ddq[0], both, c1, c1, c12],
        [0, 0, both, c2 * ddq[0] + s2 * dq[0] ** 2, 0, both, 0, 0, c12],
    ])  # fmt: skip


def six(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
    return nine(q, dq, ddq)[:, [0, 2, 3, 6, 7, 8]] * [1, 1, 1, 9.81, 9.81, 9.81]


@pytest.mark.parametrize(
    ("thetas", "printed", "redundant"),
    [
        (NINE, nine, {"m2*l1^2": "m1*lc1^2", "I1": "m1*lc1^2", "I2": "m2*lc2^2",
                      "m2*l1*g": "m1*lc1*g"}),
        (SIX, six, {"m2*l1": "m1*lc1"}),
    ],
    ids=["nine", "six"],
)  # fmt: skip
def test_the_elbow(thetas: list[str], printed, redundant: dict[str, str]) -> None:
    arm = lw.gallery("elbow")
    found = regressor_of(arm, thetas)
    assert found.rank == 5
    told = {
        theta: {other: expression_text(k) for other, k in others.items()}
        for theta, others in found.redundant.items()
    }
    assert told == {theta: {other: "1"} for theta, other in redundant.items()}
    state = np.random.default_rng(0).uniform(-2, 2, (3, 2))
    Y = np.array(found.function()(*state))
    np.testing.assert_allclose(Y, printed(*state), atol=1e-12)
    values = [float(value) for value in found.values]
    tau = lw.compile(arm).inverse_dynamics(*state)
    np.testing.assert_allclose(Y @ values, tau, atol=1e-12)
    assert "rank 5 of" in str(found)


def test_parameters_by_their_names() -> None:
    found = regressor_of(lw.gallery("elbow"), ["m1", "m2", "I1", "I2"])
    assert found.rank == 4
    assert found.redundant == {}
    assert set(found.known) == {"l1", "lc1", "lc2", "g", "l2"}
    assert expression_text(found.Y[0][0]) == "lc1^2*ddq1 + g*lc1*cos(q1)"


def test_parameters_that_are_made_of_others_have_no_column() -> None:
    found = regressor_of(lw.gallery("elbow"), [*SIX, "m2*l1 + m2*lc2"])
    assert found.rank == 5
    assert found.redundant["m2*l1 + m2*lc2"] == {}


@pytest.mark.parametrize(
    ("thetas", "message"),
    [
        (["m1"], "a part without any of them cannot be made up"),
        (SIX[1:], "not linear in the named parameters: 'lc1\\^2\\*m1'"),
        (["m1", "lc1"], "not linear in the named parameters: "),
        (["nothing"], "'nothing' is not a parameter"),
        (["m1/m2"], "a quotient is not linear: m1/m2"),
        ([], "no parameters are named"),
        (["m1 +"], "missing"),
        ("m1", "a part without any of them"),
        (["(m1 + m2 + l1 + lc1 + lc2 + I1 + I2 + g)^60"], "more than 5000 terms"),
    ],
)
def test_refusals(thetas: list[str], message: str) -> None:
    with pytest.raises(lw.LinkwrightError, match=message):
        regressor_of(lw.gallery("elbow"), thetas)


def test_long_forces_are_refused_soon() -> None:
    with pytest.raises(lw.LinkwrightError, match="more than 5000 terms"):
        regressor_of(lw.gallery("chain-10"), ["m1"])


def test_loops_are_refused() -> None:
    with pytest.raises(lw.LinkwrightError, match="has loops or constraints"):
        regressor_of(lw.gallery("four-bar"), ["m1"])


def test_friction_is_refused() -> None:
    arm = lw.gallery("elbow")
    joint = {**arm.joints["q1"].model_dump(exclude_unset=True), "friction": 0.1}
    rubbing = arm.model_copy(update={"joints": {**arm.joints, "q1": lw.Joint(**joint)}})
    with pytest.raises(lw.LinkwrightError, match=r"without\('friction'\)"):
        regressor_of(rubbing, SIX)
    assert regressor_of(rubbing.without("friction"), SIX).rank == 5


def test_the_command_prints_a_book_s_columns() -> None:
    text = ok("base", "elbow", "--parameters", ", ".join(SIX))
    assert "elbow: tau = Y theta, 6 columns, rank 5" in text
    assert "Y[1,6] = g*cos(q1 + q2)" in text
    assert "redundant: column 5 is column 4" in text
    data = json.loads(ok("base", "elbow", "--parameters", ", ".join(SIX), "--json"))
    assert (data["rank"], data["redundant"]) == (5, {"m2*l1": {"m1*lc1": "1"}})


@pytest.mark.parametrize(
    ("given", "said"),
    [("m1, foo", "'foo' is not a parameter"), ("m1", "name one more"), ("m1,,m2", "is empty")],
)
def test_mistakes_of_the_command_are_one_line(given: str, said: str) -> None:
    done = run("base", "elbow", "--parameters", given)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
