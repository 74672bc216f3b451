"""Misprints of papers in general formulas, which are no equations of one mechanism and cannot be given
to the checker: the printed form fails in numbers, the right form holds. Nothing here is ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sympy as sp

Array = np.ndarray
_H = 1e-30
"""A step along the imaginary axis: derivatives without cancellation."""


def rate(function: Callable[[Array], Array], at: Array, along: Array) -> Array:
    """The derivative of an analytic function along a direction, to rounding."""
    return np.imag(function(at + 1j * _H * along)) / _H


def rotation(axis: Array, angle: complex) -> Array:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


# -- Vukobratović and Potkonjak -------------------------------------------------------------


@dataclass(frozen=True)
class Chain:
    """Members with a turn φ about e and a slide x along r⁰, q = (φ1, x1, …), as in their figure 4."""

    axes: Array  # of joint j in member j − 1
    slides: Array  # r⁰ of member j in its own axes
    back: Array  # from joint j to the mass centre before it, in member j − 1

    @staticmethod
    def drawn(seed: int, n: int = 3) -> Chain:
        draw = np.random.default_rng(seed).normal
        axes, slides = (np.array([unit(draw(size=3)) for _ in range(n)]) for _ in range(2))
        return Chain(axes, slides, draw(size=(n, 3)))

    def A(self, i: int, q: Array) -> Array:
        found = np.eye(3)
        for j in range(i):
            found = found @ rotation(self.axes[j], q[2 * j])
        return found

    def beta(self, j: int, q: Array) -> Array:  # (13)
        return self.A(j - 1, q) @ self.axes[j - 1]

    def gamma(self, j: int, q: Array) -> Array:  # (15)
        return self.A(j, q) @ self.slides[j - 1]

    def delta(self, j: int, q: Array) -> Array:  # (17a)
        return self.A(j - 1, q) @ self.back[j - 1]

    def center(self, i: int, q: Array) -> Array:
        steps = (self.gamma(k, q) * q[2 * k - 1] - self.delta(k, q) for k in range(1, i + 1))
        return sum(steps, np.zeros(3))

    def B(self, i: int, j: int, q: Array) -> Array:  # (23)
        return self.A(i, q).T @ self.beta(j, q)


CHAIN = Chain.drawn(1)
Q, QD = np.random.default_rng(2).normal(size=(2, 6))


def test_vukobratovic_16_sums_from_the_joint_itself() -> None:
    """α is the derivative of the mass centre's place by φ_j."""
    i, j = 3, 2
    S = [np.cross(CHAIN.beta(j, Q), CHAIN.gamma(k, Q) * Q[2 * k - 1]) for k in (1, 2, 3)]
    R = [np.cross(CHAIN.beta(j, Q), CHAIN.delta(k, Q)) for k in (1, 2, 3)]
    truth = rate(lambda q: CHAIN.center(i, q), Q, np.eye(6)[2 * (j - 1)])
    np.testing.assert_allclose(sum(S[j - 1 :]) - sum(R[j:]), truth, atol=1e-13)
    assert np.abs(sum(S) - sum(R[j:]) - truth).max() > 0.1


def test_vukobratovic_34_has_the_member_in_both_terms() -> None:
    """The rate of B_j of member i: both terms are in the axes of member i."""
    i, j = 3, 2
    truth = rate(lambda q: CHAIN.B(i, j, q), Q, QD)
    A, A_rate = CHAIN.A(i, Q), rate(lambda q: CHAIN.A(i, q), Q, QD)
    beta, beta_rate = CHAIN.beta(j, Q), rate(lambda q: CHAIN.beta(j, q), Q, QD)
    first = -A.T @ A_rate @ A.T @ beta
    np.testing.assert_allclose(first + A.T @ beta_rate, truth, atol=1e-13)
    assert np.abs(first + CHAIN.A(j, Q).T @ beta_rate - truth).max() > 0.1


def test_vukobratovic_45_has_the_matrix_of_the_member_before_the_joint() -> None:
    i, j, s = 3, 1, 2
    along = np.eye(6)[2 * (s - 1)]
    truth = rate(lambda q: CHAIN.beta(j, q), Q, along)

    def by(member: int) -> Array:
        return rate(lambda q: CHAIN.A(member - 1, q), Q, along) @ CHAIN.axes[j - 1]

    np.testing.assert_allclose(by(j), truth, atol=1e-13)
    assert np.abs(by(i) - truth).max() > 0.1


def zero_position(e: Array, r_before: Array, e_own: Array, r_own: Array) -> Array:
    """(5)–(7)."""
    a = unit(-np.cross(e, np.cross(r_before, e)))
    a_own = unit(np.cross(e_own, np.cross(r_own, e_own)))
    here = np.array([e, a, np.cross(e, a)]).T
    return here @ np.linalg.inv(np.array([e_own, a_own, np.cross(e_own, a_own)]).T)


def test_vukobratovic_5_has_its_vectors_in_the_members_own_axes() -> None:
    """ẽ and r̃ must be in the same axes. Then q = 0 is where the projections of r_ii and of the
    opposite of r_{i−1,i} coincide: a straight arm, not the angle between r_{i−1,i} and r_ii."""
    draw = np.random.default_rng(3).normal
    e_own, r_own, r_before = unit(draw(size=3)), draw(size=3), draw(size=3)
    placed = rotation(unit(draw(size=3)), 0.8)  # how the member is turned
    e = placed @ e_own

    def angle(A: Array) -> float:
        """From −r_{i−1,i} to r_ii about e."""
        first, second = (x - (e @ x) * e for x in (-r_before, A @ r_own))
        return float(np.arctan2(np.cross(first, second) @ e, first @ second))

    A = zero_position(e, r_before, e_own, r_own)
    np.testing.assert_allclose(A @ e_own, e, atol=1e-13)
    assert abs(angle(A)) < 1e-13
    printed = zero_position(e, r_before, e_own, placed @ r_own)
    assert abs(angle(printed)) > 0.1


def test_vukobratovic_9_is_the_turned_matrix() -> None:
    """Its columns Q are those of A⁰ turned by (8): A, not A⁰, unless q = 0."""
    e, A0, angle = unit(np.array([1.0, 2, 3])), rotation(unit(np.array([2.0, -1, 1])), 0.4), 0.9
    columns = [
        q * np.cos(angle) + (1 - np.cos(angle)) * (e @ q) * e + np.cross(e, q) * np.sin(angle)
        for q in A0.T
    ]  # (8)
    np.testing.assert_allclose(np.array(columns).T, rotation(e, angle) @ A0, atol=1e-13)
    assert np.abs(np.array(columns).T - A0).max() > 0.1


# -- Agrawal --------------------------------------------------------------------------------


def test_agrawal_9_differentiates_in_the_body() -> None:
    """F̂* = ᴮdĤ/dt + V̂ × Ĥ is ma + ε(Iα + ω × Iω); with ᴬd/dt the turning is counted twice."""
    t = sp.symbols("t")
    x = sp.Matrix([t**2, sp.sin(t), t**3])
    c, s = sp.cos, sp.sin
    R = sp.Matrix([[c(t), -s(t), 0], [s(t), c(t), 0], [0, 0, 1]])
    R = R * sp.Matrix([[1, 0, 0], [0, c(2 * t), -s(2 * t)], [0, s(2 * t), c(2 * t)]])
    spin = R.T * R.diff(t)
    w = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
    m, inertia = 3, sp.Matrix([[2, 1, 0], [1, 4, 1], [0, 1, 5]])
    v = R.T * x.diff(t)
    P, H = m * v, inertia * w  # in the body's axes
    truth = [m * R.T * x.diff(t, 2), inertia * w.diff(t) + w.cross(inertia * w)]
    in_body = [P.diff(t) + w.cross(P), H.diff(t) + w.cross(H) + v.cross(P)]
    in_ground = [
        R.T * (R * P).diff(t) + w.cross(P),
        R.T * (R * H).diff(t) + w.cross(H) + v.cross(P),
    ]

    def apart(form: list[sp.Matrix]) -> list[float]:
        return [
            max(abs(entry) for entry in (a - b).subs(t, sp.Rational(3, 10)).evalf())
            for a, b in zip(form, truth, strict=True)
        ]

    assert max(apart(in_body)) < 1e-12
    assert min(apart(in_ground)) > 0.1


# -- Bayseç and Kapucu ----------------------------------------------------------------------


def test_baysec_9_has_derivatives_by_the_speeds() -> None:
    """A skate that turns at a constant rate goes round a circle. Its constraint is
    f = ẋ sin θ − ẏ cos θ = 0; with ∂f/∂q nothing pushes it sideways."""
    t = sp.symbols("t")
    m, J, speed, turning = 2, 3, sp.Rational(5, 2), sp.Rational(3, 2)
    angle = turning * t
    place = sp.Matrix([sp.sin(angle), -sp.cos(angle)]) * speed / turning
    q = sp.symbols("x y theta")
    qd = sp.symbols("xd yd thetad")
    f = qd[0] * sp.sin(q[2]) - qd[1] * sp.cos(q[2])
    motion = dict(zip((*q, *qd), (*place, angle, *place.diff(t), turning), strict=True))
    assert sp.simplify(f.subs(motion)) == 0
    inertia = sp.Matrix([m * place.diff(t, 2)[0], m * place.diff(t, 2)[1], J * angle.diff(t, 2)])
    push = m * speed * turning

    def rest(variables: tuple[sp.Symbol, ...], multiplier: sp.Expr) -> sp.Matrix:
        slopes = sp.Matrix([f.diff(x) for x in variables]).subs(motion)
        return sp.simplify(inertia - multiplier * slopes)

    assert rest(qd, -push) == sp.zeros(3, 1)
    wanted = sp.symbols("wanted")
    assert not sp.solve(list(rest(q, wanted).subs(t, sp.Rational(1, 3))), wanted)


def test_baysec_15_needs_coordinates_that_do_not_move_by_themselves() -> None:
    """A bead on a hoop that turns at ω: L does not depend on time nor V on speeds, but H by (14)
    is not T + V."""
    m, r, w, g = sp.symbols("m r omega g", positive=True)
    a, v = sp.symbols("theta thetad")
    T = m * (r**2 * v**2 + r**2 * w**2 * sp.sin(a) ** 2) / 2
    V = m * g * r * (1 - sp.cos(a))
    H = v * (T - V).diff(v) - (T - V)
    assert sp.simplify(H - (T + V) + m * r**2 * w**2 * sp.sin(a) ** 2) == 0


def test_baysec_multipliers_are_minus_beta_f() -> None:
    """A mass that hangs at rest below a pivot, f = x² + y² − l². The text says that βf of (21)
    becomes the λ of (9); it becomes −λ."""
    weight, length, beta = 7.0, 2.0, 1e9
    multiplier = -weight / (2 * length)  # (9) at y = −l: 0 = −mg + λ 2y
    heights = np.roots([2 * beta, 0, -2 * beta * length**2, weight])  # (21): 0 = −mg − β 2y f
    y = min(heights.real)
    np.testing.assert_allclose(-beta * (y**2 - length**2), multiplier, rtol=1e-6)


# -- Freeman and Tesar ----------------------------------------------------------------------


def _levi_civita() -> Array:
    found = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        found[i, j, k], found[i, k, j] = 1, -1
    return found


@dataclass(frozen=True)
class Turning:
    """An arm of turning joints in space, from its directions and places at φ = 0."""

    axes: Array
    joints: Array
    centers: Array
    masses: Array
    inertias: Array

    @staticmethod
    def drawn(seed: int, n: int = 3) -> Turning:
        draw = np.random.default_rng(seed).normal
        roots = draw(size=(n, 3, 3))
        return Turning(
            np.array([unit(x) for x in draw(size=(n, 3))]), draw(size=(n, 3)), draw(size=(n, 3)),
            np.abs(draw(size=n)) + 1, roots @ roots.transpose(0, 2, 1),
        )  # fmt: skip

    def pose(self, i: int, q: Array) -> tuple[Array, Array]:
        """How body i is turned and moved from where it is at φ = 0."""
        R, p = np.eye(3), np.zeros(3)
        for k in range(i + 1):
            own = rotation(self.axes[k], q[k])
            p = p + R @ (self.joints[k] - own @ self.joints[k])
            R = R @ own
        return R, p

    def point(self, i: int, at: Array, q: Array) -> Array:
        R, p = self.pose(i, q)
        return R @ at + p

    def energy(self, q: Array, qd: Array) -> complex:
        """From the bodies' own motions; the inertia is that in the body at φ = 0."""
        total: complex = 0
        for i, (m, own) in enumerate(zip(self.masses, self.inertias, strict=True)):
            v = self.G_point(i, self.centers[i], q) @ qd
            w = self.pose(i, q)[0].T @ self.G_body(i, q) @ qd
            total = total + (m * v @ v + w @ own @ w) / 2
        return total

    def axis(self, n: int, q: Array) -> Array:
        return self.pose(n, q)[0] @ self.axes[n]

    def G_body(self, i: int, q: Array) -> Array:
        return np.array([self.axis(n, q) if n <= i else np.zeros(3) for n in range(len(q))]).T

    def G_point(self, i: int, at: Array, q: Array) -> Array:  # (2)
        p = self.point(i, at, q)
        columns = [
            np.cross(self.axis(n, q), p - self.point(n, self.joints[n], q))
            if n <= i
            else np.zeros(3)
            for n in range(len(q))
        ]
        return np.array(columns).T

    def H_point(self, i: int, at: Array, q: Array) -> Array:  # (7), as [p; m, n]
        n = len(q)
        slopes = [rate(lambda x: self.G_point(i, at, x), q, e) for e in np.eye(n)]
        return np.array(slopes).transpose(1, 2, 0)

    def H_body(self, i: int, q: Array) -> Array:
        found = np.zeros((3, len(q), len(q)))
        for m in range(i + 1):
            for n in range(m + 1, i + 1):
                found[:, m, n] = np.cross(self.axis(m, q), self.axis(n, q))
        return found


ARM = Turning.drawn(5)
PHI, PHID, PHIDD = np.random.default_rng(6).normal(size=(3, 3))


def lagrange(q: Array, qd: Array, qdd: Array) -> Array:
    """d/dt ∂T/∂q̇ − ∂T/∂q by central differences of exact slopes."""
    n, h = len(q), 1e-6

    def momenta(q: Array, qd: Array) -> Array:
        return np.array([float(rate(lambda v: ARM.energy(q, v), qd, e)) for e in np.eye(n)])

    later, before = (momenta(q + s * h * qd, qd + s * h * qdd) for s in (1, -1))
    slopes = [float(rate(lambda x: ARM.energy(x, qd), q, e)) for e in np.eye(n)]
    return (later - before) / (2 * h) - slopes


def test_freeman_14_to_16_are_right_with_second_derivatives_in_14() -> None:
    """The scan has one dot over the first φ of (14) and (17), where two are meant. (10)–(12) are ω × Iω."""
    n = len(PHI)
    inertia, power = np.zeros((n, n)), np.zeros((n, n, n))
    for i, (m, own) in enumerate(zip(ARM.masses, ARM.inertias, strict=True)):
        R = ARM.pose(i, PHI)[0]
        Pi = R @ own @ R.T  # (11)
        P = np.einsum("lab,bc->lac", _levi_civita(), Pi)  # (12): (ω × Πω)_l = ωᵀP_l ω
        x, y, z = Pi.T
        printed = np.array([
            np.array([0 * x, z, -y]).T, np.array([-z, 0 * x, x]).T, np.array([y, -x, 0 * x]).T
        ])  # fmt: skip
        w = np.array([0.3, -0.7, 1.1])
        np.testing.assert_allclose(np.einsum("a,lab,b", w, printed, w), np.cross(w, Pi @ w))
        Gc, G = ARM.G_point(i, ARM.centers[i], PHI), ARM.G_body(i, PHI)
        Hc, H = ARM.H_point(i, ARM.centers[i], PHI), ARM.H_body(i, PHI)
        inertia += m * Gc.T @ Gc + G.T @ Pi @ G  # (15)
        power += m * np.einsum("pl,pmn->lmn", Gc, Hc)  # (16)
        power += np.einsum("pl,pmn->lmn", Pi @ G, H)
        power += np.einsum("am,pl,pab,bn->lmn", G, G, P, G)
    right = inertia @ PHIDD + np.einsum("m,lmn,n", PHID, power, PHID)
    np.testing.assert_allclose(right, lagrange(PHI, PHID, PHIDD), rtol=1e-7, atol=1e-6)
    scanned = inertia @ PHID + np.einsum("m,lmn,n", PHID, power, PHID)
    assert np.abs(scanned - right).max() > 0.1


def spring(q: Array) -> Array:
    """The deformation u of a spring between the tip and the ground."""
    return ARM.point(2, np.array([0.4, 0.2, -0.3]), q) - np.array([1.0, 0.5, 0.2])


def test_freeman_25_is_the_slope_of_23() -> None:
    """K* = Σ (K GᵀG + T • H); the transpose on H changes nothing, since (7) is symmetric."""
    stiffness, tip, n = 3.0, np.array([0.4, 0.2, -0.3]), len(PHI)

    def load(q: Array) -> Array:  # (23), (24)
        return ARM.G_point(2, tip, q).T @ (stiffness * spring(q))

    truth = np.array([rate(load, PHI, e) for e in np.eye(n)]).T  # (22)
    G, H = ARM.G_point(2, tip, PHI), ARM.H_point(2, tip, PHI)
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), atol=1e-12)
    T = stiffness * spring(PHI)
    np.testing.assert_allclose(
        stiffness * G.T @ G + np.einsum("p,pmn->mn", T, H), truth, atol=1e-11
    )


def test_freeman_adds_the_springs_as_it_adds_the_dampers() -> None:
    """The sentence after (25) subtracts (23) from the drives. With (24), the load is +Ku, and the
    drives that hold the arm at rest are the slope of the spring's energy: (23) is added."""
    stiffness, tip, n = 3.0, np.array([0.4, 0.2, -0.3]), len(PHI)

    def energy(q: Array) -> Array:
        return stiffness * spring(q) @ spring(q) / 2

    holding = np.array([rate(energy, PHI, e) for e in np.eye(n)])
    load = ARM.G_point(2, tip, PHI).T @ (stiffness * spring(PHI))  # (23)
    np.testing.assert_allclose(load, holding, atol=1e-12)
    assert np.abs(-load - holding).max() > 0.1


def test_the_page_names_tests_that_exist() -> None:
    home = Path(__file__).parent
    page = (home.parents[1] / "docs" / "reference" / "errata.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    written = {
        name
        for file in home.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.M)
    }
    assert len(named) > 10
    assert named <= written
