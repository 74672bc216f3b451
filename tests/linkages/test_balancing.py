"""Shaking forces and counterweights: reactions, closed forms, motions of the centre of mass."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.linkages.linkage_files import EXAMPLES, example

RATE = 10.0


def ground_force(mechanism: lw.Mechanism, run: lw.simulation.Run) -> tuple[np.ndarray, np.ndarray]:
    """Force and moment about the origin on ground, from the reactions of its joints and loops and
    the weight: free bodies, without momenta."""
    model = lw.compile(mechanism)
    every, names = {**mechanism.joints, **mechanism.loops}, model.names
    force, moment = np.zeros((len(run.t), 3)), np.zeros((len(run.t), 3))
    for k, name in enumerate((*names.joints, *names.loops)):
        joint = every[name]
        for body, sign in ((joint.parent, -1.0), (joint.child, 1.0)):
            if body == "ground":
                at = np.array([float(x) for x in lw_numbers(mechanism, joint.origin.xyz)])
                force += sign * run.reactions[:, k, 3:]
                moment += sign * (run.reactions[:, k, :3] + np.cross(at, run.reactions[:, k, 3:]))
    mass = sum(body_mass(mechanism, name) for name in mechanism.bodies)
    weight = mass * np.array([0.0, -9.81, 0.0])
    return force - weight, moment - np.cross(model.center_of_mass(run.q), weight)


def lw_numbers(mechanism: lw.Mechanism, texts: object) -> list[float]:
    from linkwright.expressions import expression_to_float

    return [expression_to_float(x, mechanism.values) for x in texts]  # type: ignore[attr-defined]


def body_mass(mechanism: lw.Mechanism, name: str) -> float:
    return lw_numbers(mechanism, [mechanism.bodies[name].mass])[0]


@pytest.mark.parametrize("name", ["four-bar", pytest.param("watt-six-bar", marks=pytest.mark.slow)])
def test_shaking_force_is_what_ground_feels_without_weight(name: str) -> None:
    """Reactions come from inverse dynamics with gravity; the shaking force from accelerations."""
    mechanism = example(name)
    input_ = lw.linkages.input_range(mechanism).name
    motion = lw.solve_kinematics(mechanism, {input_: f"1 + {RATE}*t + 3*t^2"}, 0.3, samples=7)
    run = lw.solve_inverse(mechanism, motion)
    shaking = lw.linkages.shaking_forces(mechanism, motion)
    force, moment = ground_force(mechanism, run)
    size = np.abs(shaking.force).max()
    assert force == pytest.approx(shaking.force, abs=1e-11 * size)
    assert moment == pytest.approx(shaking.moment, abs=1e-10 * np.abs(shaking.moment).max())


def test_shaking_force_of_the_slider_crank_by_hand() -> None:
    """The rod as two masses at its pins has the same first moments, and so the same force."""
    m1, m2, m3, a, b, lc1, lc2 = 1.2, 0.8, 0.5, 0.3, 1.0, 0.1, 0.4
    found = lw.linkages.shaking_forces(example("slider-crank"), speed=RATE, samples=13)
    s, c = np.sin(found.t), np.cos(found.t)
    root = np.sqrt(b**2 - a**2 * s**2)
    piston = -a * c - a**2 * (c**2 - s**2) / root - a**4 * (s * c) ** 2 / root**3
    turning, sliding = m1 * lc1 + m2 * (1 - lc2 / b) * a, m3 + m2 * lc2 / b
    assert found.force[:, 0] == pytest.approx(RATE**2 * (turning * c - sliding * piston))
    assert found.force[:, 1] == pytest.approx(RATE**2 * turning * s, abs=1e-12)


def berkof_lowen(bars: dict[str, float], r2: float, phi2: float) -> tuple[complex, complex]:
    """First moments m r e^{iφ} that crank and rocker must have in all (Berkof and Lowen 1969):
    with the coupler's centre of mass at r2 e^{iφ2} from the crank pin,
    crank −m2 l1 (1 − (r2/l2) e^{iφ2}), rocker −m2 l3 (r2/l2) e^{iφ2}."""
    share = r2 / bars["l2"] * np.exp(1j * phi2)
    return -bars["m2"] * bars["l1"] * (1 - share), -bars["m2"] * bars["l3"] * share


def test_full_force_balance_of_berkof_and_lowen() -> None:
    """A coupler whose centre of mass is off its line, other centres of mass too."""
    numbers = {"m1": 1.1, "m2": 2.3, "m3": 0.7, "l1": 1.0, "l2": 3.0, "l3": 2.5, "l4": 3.5}
    data = lw.gallery("four-bar").model_dump(exclude_unset=True)
    data["parameters"] |= numbers
    r2, phi2 = 1.7, 0.4
    data["bodies"]["coupler"]["center"] = [r2 * np.cos(phi2), r2 * np.sin(phi2), 0]
    data["bodies"]["crank"]["center"] = [0.3, 0.1, 0]
    bars = lw.Mechanism(**data)
    balance = lw.linkages.balance_forces(bars, radius=0.4)
    assert balance.is_full
    needed = berkof_lowen(numbers, r2, phi2)
    own = 1.1 * (0.3 + 0.1j), 0.7 * 1.25
    assert [one.body for one in balance.counterweights] == ["crank", "rocker"]
    for weight, total, present in zip(balance.counterweights, needed, own, strict=True):
        moment = weight.mass * complex(*weight.center[:2])
        assert moment == pytest.approx(total - present, rel=1e-12)
        assert abs(complex(*weight.center[:2])) == pytest.approx(0.4)
    before = lw.linkages.shaking_forces(bars, speed=RATE, samples=13).largest_force
    after = lw.linkages.shaking_forces(balance.mechanism, speed=RATE, samples=13).largest_force
    assert after < 1e-12 * before


def test_a_balanced_linkage_keeps_its_centre_of_mass_in_a_free_run() -> None:
    """A simulation, whose speed varies; and the reactions of ground are the weight."""
    balanced = lw.linkages.balance_forces(example("four-bar"), radius=0.5).mechanism
    run = lw.simulate(balanced, 0.5, qd0={"theta1": 6.0}, samples=11)
    center = lw.compile(balanced).center_of_mass(run.q)
    assert np.ptp(center, axis=0) == pytest.approx(0.0, abs=1e-9)
    assert ground_force(balanced, run)[0] == pytest.approx(0.0, abs=1e-6)
    assert np.ptp(run.qd[:, 0]) > 0.1


SLOW_EXAMPLES = [pytest.param(name, marks=pytest.mark.slow) for name in EXAMPLES]


@pytest.mark.parametrize("name", ["slider-crank", *SLOW_EXAMPLES])
def test_full_balance_of_other_linkages(name: str) -> None:
    """Half as many counterweights as links, but for the slider-crank of Berkof's theorem: 2 of 4,
    3 of 5 and 6."""
    mechanism = example(name)
    balance = lw.linkages.balance_forces(mechanism, radius=0.1)
    assert len(balance.counterweights) == (2 if name == "slider-crank" else 3)
    before = lw.linkages.shaking_forces(mechanism, speed=RATE, samples=13).largest_force
    after = lw.linkages.shaking_forces(balance.mechanism, speed=RATE, samples=13).largest_force
    assert after < 1e-11 * before
    assert "full force balance" in str(balance)


def test_full_balance_of_the_slider_crank_by_hand() -> None:
    """Rod: m r = m2 lc2 + m3 l2; crank: m r = m1 lc1 + (m2 + m3 + m of the rod's weight) l1."""
    radii = {"crank": 0.5, "rod": 0.25}
    balance = lw.linkages.balance_forces(example("slider-crank"), radii, ["crank", "rod"])
    crank, rod = balance.counterweights
    assert rod.mass == pytest.approx((0.8 * 0.4 + 0.5 * 1.0) / 0.25)
    assert crank.mass == pytest.approx((1.2 * 0.1 + (0.8 + 0.5 + rod.mass) * 0.3) / 0.5)


def test_counterweights_are_carried_over_pins() -> None:
    """A rod whose first pin in the file is that of the slider: its weight is at the crank pin."""
    engine = lw.gallery("slider-crank-sundials")
    balance = lw.linkages.balance_forces(engine, 0.5)
    assert [one.body for one in balance.counterweights] == ["crank", "rod"]
    rod = balance.counterweights[1]
    assert rod.center == pytest.approx((-1.5, 0.0, 0.0), abs=1e-12)
    assert rod.mass == pytest.approx((0.5 + 0.5) * 1.0 / 0.5)


@pytest.mark.parametrize("share", [0.0, 0.5, 2 / 3])
def test_partial_balance_of_the_slider_crank(share: float) -> None:
    """Harmonics of the first order: (1 − share) m_rec a ω² along the slide, share m_rec a ω²
    across; the higher ones stay."""
    found = lw.linkages.balance_slider_crank(example("slider-crank"), 0.2, share)
    assert found.reciprocating_mass == pytest.approx(0.5 + 0.8 * 0.4)
    assert found.rotating_mass == pytest.approx(1.2 * 0.1 / 0.3 + 0.8 * 0.6)
    moment = (found.rotating_mass + share * found.reciprocating_mass) * 0.3
    assert found.counterweight.mass == pytest.approx(moment / 0.2)
    assert found.counterweight.center == pytest.approx((-0.2, 0.0, 0.0), abs=1e-12)
    shaking = lw.linkages.shaking_forces(found.mechanism, speed=RATE, samples=65)
    waves = np.fft.rfft(shaking.force[:-1, :2], axis=0) / 32
    first = found.reciprocating_mass * 0.3 * RATE**2
    assert waves[1, 0].real == pytest.approx((1 - share) * first, rel=1e-11)
    assert -waves[1, 1].imag == pytest.approx(-share * first, rel=1e-11, abs=1e-11)


@pytest.mark.slow
def test_an_input_with_limits_has_no_cycle() -> None:
    with pytest.raises(lw.LinkwrightError, match="constant speed needs infinite forces"):
        lw.linkages.shaking_forces(example("four-bar"), input="theta3")


def test_what_cannot_be_balanced_is_said() -> None:
    with pytest.raises(lw.LinkwrightError, match="not a slider-crank whose slide is on ground"):
        lw.linkages.balance_slider_crank(example("four-bar"))
    with pytest.raises(lw.LinkwrightError, match="radius lacks crank"):
        lw.linkages.balance_forces(example("four-bar"), {"rocker": 0.1}, ["crank"])
    partial = lw.linkages.balance_forces(example("slider-crank"), 0.2, ["crank"])
    assert not partial.is_full
    assert "of the momentum is left" in str(partial)
    balanced = lw.linkages.balance_forces(example("four-bar"), 0.5).mechanism
    with pytest.raises(lw.LinkwrightError, match="already"):
        lw.linkages.balance_forces(balanced, 0.5)
