"""Vukobratović and Potkonjak (1979): the recurrences, and the example of the arm with three turns,
whose gripper goes straight up at 2 m/s² for one second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.forms.equation_set_typesetting import equation_set_source
from linkwright.formulations.recurrent import at_instant, recurrent_matrices
from tests.commands import ok

START = np.array([np.pi, -np.pi / 2, -np.pi / 2])


def test_the_example() -> None:
    """Drives of the recurrent method, instant by instant; then accelerations back from these."""
    arm = lw.gallery("vukobratovic-arm")
    assert [float(arm.values[f"m{k}"]) for k in (1, 2, 3)] == [0.1, 2, 2]
    model = lw.compile(arm)
    place, jacobian, drift = (
        getattr(model, name)("gripper")
        for name in ("placement", "jacobian", "frame_bias_acceleration")
    )
    q, v = START, np.zeros(3)
    start, h, drives = place(q)[:3, 3], 1e-3, []
    for _ in range(1000):
        J = jacobian(q)[3:]
        a = np.linalg.solve(J, np.array([0, 0, 2.0]) - drift(q, v)[3:])
        W, V = recurrent_matrices(arm, q, v) if not len(drives) % 100 else (None, None)
        P = model.inverse_dynamics(q, v, a)
        if W is not None and V is not None:
            np.testing.assert_allclose(W @ a - V, P, atol=1e-9 * abs(P).max())
            np.testing.assert_allclose(np.linalg.solve(W, P + V), a, atol=1e-8)
        drives.append(P)
        middle_q, middle_v = q + h / 2 * v, v + h / 2 * a
        J = jacobian(middle_q)[3:]
        a = np.linalg.solve(J, np.array([0, 0, 2.0]) - drift(middle_q, middle_v)[3:])
        q, v = q + h * middle_v, v + h * a
    np.testing.assert_allclose(place(q)[:3, 3] - start, [0, 0, 1], atol=1e-5)
    assert np.abs(np.array(drives)[:, 0]).max() < 1e-9, "nothing turns the column"


@dataclass(frozen=True)
class Recurrence:
    """The arm by the paper's (4)–(26) and (52), (53) in plain NumPy, link by link from 1 on."""

    q: np.ndarray
    sums_from_one: bool = False  # as (16) is printed

    @cached_property
    def A(self) -> list[np.ndarray]:
        """Transition matrices: each column turned by Rodrigues' formula (8), (9)."""
        found = [np.eye(3)]
        for angle, e in zip(self.q, AXES, strict=True):
            columns = [
                u * np.cos(angle)
                + (1 - np.cos(angle)) * (e @ u) * e
                + np.cross(e, u) * np.sin(angle)
                for u in np.eye(3)
            ]
            found.append(found[-1] @ np.array(columns).T)
        return found

    def beta(self, j: int) -> np.ndarray:  # (13)
        return self.A[j - 1] @ AXES[j - 1]

    def delta(self, k: int) -> np.ndarray:  # (17a): from joint k to the mass centre before it
        return self.A[k - 1] @ (CENTERS[k - 2] - JOINTS[k - 1]) if k > 1 else -JOINTS[0]

    def arm(self, k: int) -> np.ndarray:  # (15), (17): from joint k to mass centre k
        return self.A[k] @ CENTERS[k - 1]

    def alpha(self, i: int, j: int) -> np.ndarray:  # (16), (17)
        first = 1 if self.sums_from_one else j
        beyond = sum((self.arm(k) for k in range(first, i + 1)), np.zeros(3))
        before = sum((self.delta(k) for k in range(j + 1, i + 1)), np.zeros(3))
        return np.cross(self.beta(j), beyond - before)

    def M(self, i: int) -> np.ndarray:  # (21)
        return np.array([self.alpha(i, j) if j <= i else np.zeros(3) for j in (1, 2, 3)]).T

    def N(self, i: int) -> np.ndarray:  # (20), (23): in the axes of link i
        return self.A[i].T @ np.array([self.beta(j) * (j <= i) for j in (1, 2, 3)]).T

    @property
    def W(self) -> np.ndarray:  # (25), (26)
        return sum(
            m * self.M(i).T @ self.M(i) + self.N(i).T @ J @ self.N(i)
            for i, (m, J) in enumerate(zip(MASSES, INERTIAS, strict=True), 1)
        )

    @property
    def Y(self) -> np.ndarray:  # (52), (53)
        return np.array([self.weight(i) for i in (1, 2, 3)])

    def weight(self, i: int) -> float:
        total, g = 0.0, np.array([0, 0, -9.81])
        for k in range(i, 4):
            r = sum((self.arm(b) for b in range(i, k + 1)), np.zeros(3))
            r = r - sum((self.delta(b + 1) for b in range(i, k)), np.zeros(3))
            total += MASSES[k - 1] * np.linalg.det([g, self.beta(i), r])
        return total


AXES = [np.array([0, 0, 1.0]), np.array([0, 1.0, 0]), np.array([0, 1.0, 0])]
MASSES = [0.1, 2.0, 2.0]
JOINTS = [np.zeros(3), np.array([0, 0, 0.5]), np.array([1.6, 0, 0])]
CENTERS = [np.array([0, 0, 0.25]), np.array([0.8, 0, 0]), np.array([0.8, 0, 0])]
ROD = 2 * 1.6**2 * np.diag([1 / 100, 1 / 12, 1 / 12])
INERTIAS = [0.1 * 0.5**2 * np.diag([1 / 12, 1 / 12, 1 / 100]), ROD, ROD]


@pytest.mark.parametrize("q", [START, np.array([0.3, -0.7, 1.1])])
def test_the_printed_recurrences(q: np.ndarray) -> None:
    """W and Y; with (16) as printed, S summed from k = 1, W is another one."""
    by_hand = Recurrence(q)
    W, V = recurrent_matrices(lw.gallery("vukobratovic-arm"), q, np.zeros(3))
    np.testing.assert_allclose(W, by_hand.W, atol=1e-12)
    np.testing.assert_allclose(V, by_hand.Y, atol=1e-12)
    assert np.abs(Recurrence(q, sums_from_one=True).W - W).max() > 0.01
    speeds = np.array([0.4, -1.2, 0.8])

    def along(function: Callable[[np.ndarray], np.ndarray], direction: np.ndarray) -> np.ndarray:
        h = 1e-6
        return (function(q + h * direction) - function(q - h * direction)) / (2 * h)

    W_rate = along(lambda q: Recurrence(q).W, speeds)
    T_q = [along(lambda q: speeds @ Recurrence(q).W @ speeds / 2, e) for e in np.eye(3)]
    _, V = recurrent_matrices(lw.gallery("vukobratovic-arm"), q, speeds)
    np.testing.assert_allclose(V, by_hand.Y + T_q - W_rate @ speeds, atol=1e-7)  # (29)


BODIES = ("column", "upper", "fore")


def test_quantities_of_one_instant() -> None:
    """A_i, M⁽ⁱ⁾, Ñ⁽ⁱ⁾, Z_i and Y by name, and both problems."""
    q, v = np.array([0.3, -0.7, 1.1]), np.array([0.4, -1.2, 0.8])
    by_hand, model = Recurrence(q), at_instant(lw.gallery("vukobratovic-arm"), q, v)
    for i, name in enumerate(BODIES, 1):
        np.testing.assert_allclose(model.A[name], by_hand.A[i], atol=1e-15)
        np.testing.assert_allclose(model.M[name], by_hand.M(i), atol=1e-15)
        np.testing.assert_allclose(model.N[name], by_hand.N(i), atol=1e-15)
    np.testing.assert_allclose(sum(model.Z.values()), by_hand.W, atol=1e-14)
    np.testing.assert_allclose(model.Y, by_hand.Y, atol=1e-14)
    np.testing.assert_allclose(model.accelerations(model.forces(v)), v, atol=1e-13)


def test_the_printed_iterations() -> None:
    """Every line of the printed set against the recurrences in NumPy, and W, V by the checker."""
    arm = lw.gallery("vukobratovic-arm")
    eqs = lw.derive(arm, by="recurrent", parameters="numeric")
    q = np.array([0.3, -0.7, 1.1])
    by_hand = Recurrence(q)
    symbols = [eqs.symbols[key] for key in ("q", "qd")]
    checked = 0
    for section in equation_set_source(eqs).sections[1:5]:
        for line in section.lines:
            assert isinstance(line.left, str)
            found = float(ca.Function("line", symbols, [line.right])(q, np.zeros(3)))
            np.testing.assert_allclose(found, by_hand_entry(by_hand, line.left), atol=1e-14)
            checked += 1
    assert checked == 50
    for name in ("Z2[1,2]", "Z3[1,2]", "Z3[1,3]", "W12", "W13"):
        assert abs(by_hand_entry(by_hand, name)) < 1e-14, "what is zero is not listed"
    printed = ok("derive", "vukobratovic-arm", "--by", "recurrent")
    lines = [line.strip() for line in printed.splitlines() if line.startswith("  ")]
    W = [line.replace("W", "M", 1) for line in lines if line.startswith("W")]
    bias = [f"bias{line[1]} = -({line[5:]})" for line in lines if line.startswith("V")]
    assert (len(W), len(bias)) == (4, 3)
    assert lw.check(arm, "\n".join(W + bias)).passed


def by_hand_entry(by_hand: Recurrence, name: str) -> float:
    """An entry of A, α, β, Z or W by its printed name."""
    if name[0] == "W":
        return float(by_hand.W[int(name[1]) - 1, int(name[2]) - 1])
    head, _, index = name.removesuffix("]").partition("[")
    if head.startswith("beta"):
        return float(by_hand.beta(int(head[4:]))["xyz".index(index)])
    if head.startswith("alpha"):
        j, i = map(int, head[5:].split("^"))
        return float(by_hand.alpha(i, j)["xyz".index(index)])
    i, (j, k) = int(head[1:]), (int(place) - 1 for place in index.split(","))
    if head[0] == "A":
        return float(by_hand.A[i][j, k])
    Z = MASSES[i - 1] * by_hand.M(i).T @ by_hand.M(i)
    return float((Z + by_hand.N(i).T @ INERTIAS[i - 1] @ by_hand.N(i))[j, k])


def test_the_weight_along_a_slide() -> None:
    """(54) has the axis e of the turn; the slide is along r⁰, as (11) has it."""
    arm = lw.Mechanism(
        bodies={"a": {"mass": 2, "inertia": [0.1, 0.1, 0.1]}},
        joints={
            "j": {"type": "turn-slide", "child": "a", "axis": [0, 0.6, 0.8], "axis2": [1, 0, 0]}
        },
    )
    angle, x = 0.7, 0.4
    weight = np.array([0, 0, -9.81 * 2])
    e = np.array([0, 0.6, 0.8])
    r = np.cos(angle) * np.array([1.0, 0, 0]) + np.sin(angle) * np.cross(e, [1.0, 0, 0])
    for by in ("recurrent", "recursive"):
        g = np.asarray(lw.derive(arm, by=by, parameters="numeric").function("gravity")([angle, x]))
        np.testing.assert_allclose(-g[1, 0], r @ weight, atol=1e-12)
        assert abs(-g[1, 0] - e @ weight) > 1
