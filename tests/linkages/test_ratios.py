"""Ratios, mechanical advantage, transmission angle and limits against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.linkages.linkage_statics import linkage_statics
from linkwright.linkages.planar_linkage import planar_linkage
from tests.linkages.linkage_files import EXAMPLES, analysis, example, offset_press
from tests.references.four_bar import FourBar

SIX_BARS = ("watt-six-bar", "stephenson-six-bar")
ALL = (
    "four-bar",
    "slider-crank",
    *(pytest.param(n, marks=pytest.mark.slow) if n in SIX_BARS else n for n in EXAMPLES),
)


@pytest.fixture(scope="module")
def norton() -> lw.Mechanism:
    """The four-bar of Norton, Design of Machinery, examples 4-1, 6-7 and 7-1 (mm as m)."""
    return lw.gallery("four-bar").with_parameters(l1=40, l2=120, l3=80, l4=100)


def test_numbers_of_norton(norton: lw.Mechanism) -> None:
    """θ2 = 40°, ω2 = 25 rad/s, α2 = 15 rad/s². Angles agree to a unit of the last digit that he
    prints, since he rounds on the way (57.3249° is printed as 57.33°); rates to half a unit."""
    found = lw.linkages.analyze_linkage(norton, over=(np.radians(40), 1.0), samples=2)
    q = np.degrees(found.motion.q[0])
    assert q[1:] == pytest.approx([20.30, 57.33], abs=1e-2)
    h = {name: values[0] for name, values in found.coordinate_ratios.items()}
    assert 25 * h["theta2"] == pytest.approx(-4.121, abs=5e-4)
    assert 25 * found.velocity_ratio[0] == pytest.approx(6.998, abs=5e-4)
    second = found.data["coordinate_acceleration_ratio"].values[0]
    assert 15 * h["theta2"] + 25**2 * second[1] == pytest.approx(296.089, abs=5e-4)
    alpha = 15 * found.velocity_ratio[0] + 25**2 * found.acceleration_ratio[0]
    assert alpha == pytest.approx(470.134, abs=5e-4)


def test_crossed_branch_of_norton(norton: lw.Mechanism) -> None:
    rough = {"theta2": np.radians(-60), "theta3": np.radians(-100)}
    found = lw.linkages.analyze_linkage(norton, over=(np.radians(40), 1.0), rough=rough, samples=2)
    assert np.degrees(found.motion.q[0, 1:]) == pytest.approx([-60.98, -98.01], abs=1e-2)


def test_ratios_of_the_four_bar_are_influence_coefficients() -> None:
    found, bars = analysis("four-bar"), FourBar()
    for k, theta1 in enumerate(found.input_values):
        G, H = bars.influence(bars.angles(float(theta1)))
        assert found.velocity_ratio[k] == pytest.approx(G[2], abs=1e-13)
        assert found.acceleration_ratio[k] == pytest.approx(H[2], abs=1e-12)
        assert found.coordinate_ratios["theta2"][k] == pytest.approx(G[1], abs=1e-13)


def test_a_sweep_backward_has_the_same_ratios() -> None:
    there = lw.linkages.analyze_linkage(example("four-bar"), over=(0.2, 1.0), samples=5)
    back = lw.linkages.analyze_linkage(example("four-bar"), over=(1.0, 0.2), samples=5)
    for key in ("velocity_ratio", "acceleration_ratio", "mechanical_advantage"):
        assert getattr(back, key)[::-1] == pytest.approx(getattr(there, key), rel=1e-11)
    ratio = "coordinate_ratio"
    assert back.data[ratio].values[::-1] == pytest.approx(there.data[ratio].values, abs=1e-12)


def test_slider_crank_by_hand() -> None:
    """x = a cos θ + √(b² − a² sin² θ)."""
    found, a, b = analysis("slider-crank"), 0.3, 1.0
    s, c = np.sin(found.input_values), np.cos(found.input_values)
    root = np.sqrt(b**2 - a**2 * s**2)
    first = -a * s - a**2 * s * c / root
    second = -a * c - a**2 * (c**2 - s**2) / root - a**4 * (s * c) ** 2 / root**3
    assert found.velocity_ratio == pytest.approx(first, abs=1e-14)
    assert found.acceleration_ratio == pytest.approx(second, abs=1e-13)
    assert np.sin(found.transmission_angle) == pytest.approx(root / b, abs=1e-14)
    assert (found.output, found.output_unit, found.input_unit) == ("piston", "m", "rad")


def test_two_loops_in_series_multiply_their_ratios() -> None:
    """Watt's linkage: the second four-bar is driven by the rocker of the first."""
    found = analysis("watt-six-bar")
    first = FourBar(0.1, 0.3, 0.22, 0.3)
    for k, theta in enumerate(found.input_values):
        angles = first.angles(float(theta))
        arm = angles[2] + np.radians(-30)
        second = FourBar(0.2, 0.25, 0.18, 0.25)
        other = second.angles(arm)
        ratio = first.influence(angles)[0][2] * second.influence(other)[0][2]
        assert found.velocity_ratio[k] == pytest.approx(ratio, abs=1e-12)


def test_quick_return_ratio_of_times() -> None:
    """The lever's dead centres are where it is tangent to the crank's circle: sin β = a/d."""
    beta = np.degrees(np.arcsin(1 / 3))
    found = [one for one in analysis("quick-return").dead_centers if "lever" in one.what]
    assert np.degrees([one.q[0] for one in found]) == pytest.approx([180 + beta, 360 - beta])


def test_geared_five_bar_is_symmetric() -> None:
    curve = lw.linkages.coupler_curve(example("geared-five-bar"), "P", samples=25)
    theta = curve.input_values
    half = 0.15 - 0.1 * np.cos(theta)
    height = 0.1 * np.sin(theta) + np.sqrt(0.3**2 - half**2)
    assert curve.position[:, 0] == pytest.approx(np.full(25, 0.15), abs=1e-12)
    assert curve.position[:, 1] == pytest.approx(height, abs=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_statics_and_velocities_give_one_mechanical_advantage(name: str) -> None:
    """Virtual work: what the input must give for a unit load is the velocity ratio, although
    equilibrium of links knows nothing of velocities."""
    found = analysis(name)
    linkage = planar_linkage(found.mechanism)
    motions = linkage.motions(found.motion.t, found.motion.q, found.motion.qd)
    index = list(lw.compile(found.mechanism).q_names).index(found.input)
    for link in range(1, len(linkage.links)):
        ratios = lw.linkages.analyze_linkage(
            found.mechanism, found.input, linkage.links[link], samples=25
        )
        statics = linkage_statics(linkage, found.motion, motions, index, link)
        assert statics.input_force == pytest.approx(-ratios.velocity_ratio, abs=1e-11)
    finite = np.isfinite(found.mechanical_advantage)
    product = found.mechanical_advantage[finite] * found.velocity_ratio[finite]
    assert product == pytest.approx(1.0, abs=1e-12)


def test_transmission_angle_of_the_four_bar() -> None:
    """The law of cosines on the diagonal; μ and 180° − μ are one."""
    found = analysis("four-bar")
    diagonal = 1 + 3.5**2 - 2 * 3.5 * np.cos(found.input_values)
    cosine = (9 + 2.5**2 - diagonal) / (2 * 3 * 2.5)
    assert found.transmission_angle == pytest.approx(np.arcsin(np.sqrt(1 - cosine**2)), abs=1e-12)
    assert found.transmission_angle.min() == pytest.approx(np.arccos(0.6))


def test_transmission_through_a_block_is_along_the_lever() -> None:
    """The block pushes normal to the lever at the crank's pin: 90° everywhere."""
    found = lw.linkages.analyze_linkage(example("quick-return"), output="lever", samples=9)
    assert np.degrees(found.transmission_angle) == pytest.approx(90.0, abs=1e-11)


def test_transmission_of_geared_cranks_needs_an_output_with_a_force() -> None:
    found = analysis("geared-five-bar")
    assert found.transmission.angles is None
    with pytest.raises(lw.LinkwrightError, match="moves right_crank directly or by gears"):
        found.transmission_angle  # noqa: B018
    coupler = lw.linkages.analyze_linkage(example("four-bar"), output="coupler", samples=3)
    assert "joined to ground; coupler is not" in str(coupler)


@pytest.mark.slow
@pytest.mark.parametrize("crank", [0.9, 1.4])
def test_limits_of_a_rocker_are_where_crank_and_coupler_align(crank: float) -> None:
    bars = lw.gallery("four-bar").with_parameters(l1=crank)
    found = lw.linkages.input_range(bars, "theta3")
    ends = [
        np.pi - np.arccos((3.5**2 + 2.5**2 - reach**2) / (2 * 3.5 * 2.5))
        for reach in (3 + crank, 3 - crank)
    ]
    assert (found.lower, found.upper) == pytest.approx(ends, abs=1e-9)
    assert not found.makes_full_turns
    assert [one.kind for one in found.limits] == ["limit", "limit"]


def test_toggle_positions_of_a_triple_rocker() -> None:
    """Coupler and rocker align where their lengths are the diagonal: cos θ1 by the law of
    cosines."""
    bars = lw.gallery("four-bar").with_parameters(l1=2.0, l4=4.8)
    found = lw.linkages.input_range(bars)
    toggle = np.arccos((2.0**2 + 4.8**2 - 5.5**2) / (2 * 2.0 * 4.8))
    assert (found.lower, found.upper) == pytest.approx([-toggle, toggle], abs=1e-9)
    analysed = lw.linkages.analyze_linkage(bars, samples=9)
    assert [one.kind for one in analysed.dead_centers if "theta1" in one.what] == ["limit"] * 2
    assert str(found).startswith("theta1 moves from -99.6")


@pytest.mark.slow
def test_range_of_a_sliding_input() -> None:
    found = lw.linkages.input_range(example("slider-crank"), "x")
    assert (found.lower, found.upper) == pytest.approx([0.7, 1.3], abs=1e-9)
    assert str(found) == "x moves from 0.7 m to 1.3 m, between limits"


def test_each_dead_centre_is_found_once() -> None:
    """Also where a sample lies exactly on it."""
    found = analysis("slider-crank").dead_centers
    places = [(round(float(np.degrees(one.q[0]))), one.what) for one in found]
    assert places == [
        (90, ("theta2",)), (180, ("x",)), (270, ("theta2",)), (360, ("x",))
    ]  # fmt: skip


def test_what_does_not_apply_is_said_in_a_sentence() -> None:
    for name, words in (
        ("five-bar", "has 2 degrees of freedom, and one input moves only one"),
        ("elbow", "has 2 degrees of freedom, and one input moves only one"),
        ("stewart", "does not move in a plane"),
    ):
        with pytest.raises(lw.LinkwrightError, match=words):
            lw.linkages.analyze_linkage(lw.gallery(name))
    with pytest.raises(lw.LinkwrightError, match="no coordinate 'theta9'"):
        lw.linkages.analyze_linkage(example("four-bar"), "theta9")
    with pytest.raises(lw.LinkwrightError, match="no body 'rokcer'; did you mean 'rocker'"):
        lw.linkages.analyze_linkage(example("four-bar"), output="rokcer")
    with pytest.raises(lw.LinkwrightError, match="output cannot be ground"):
        lw.linkages.analyze_linkage(example("four-bar"), output="ground")


def test_a_cycle_begins_away_from_change_points() -> None:
    """The cranks of a rhombus are on a line at 0: the cycle begins where it is assembled."""
    found = lw.linkages.input_range(lw.gallery("n-four-bar"))
    assert found.makes_full_turns
    assert found.upper - found.lower == pytest.approx(2 * np.pi)
    assert found.lower != 0.0


def test_a_sweep_beyond_a_limit_says_where_it_stopped() -> None:
    bars = lw.gallery("four-bar").with_parameters(l1=2.0, l4=4.8)
    found = lw.linkages.analyze_linkage(bars, over=(0.5, 3.0), samples=11)
    assert len(found.input_values) < 11
    assert "'theta1' cannot go on" in str(found)


def test_the_input_is_a_crank_on_ground_where_the_file_names_none() -> None:
    """A pivot between moving links drove the linkage, whose ratios nobody asks for."""
    found = lw.linkages.analyze_linkage(offset_press(), samples=25)
    angle = found.input_values
    tilt = np.arcsin((0.03 - 0.1 * np.sin(angle)) / 0.3)
    expected = -0.1 * np.sin(angle) + 0.1 * np.cos(angle) * np.tan(tilt)
    np.testing.assert_allclose(found.velocity_ratio, expected, atol=1e-9)


def test_the_input_is_a_crank_before_a_rocker_that_comes_first_in_the_file() -> None:
    bars = example("watt-six-bar")
    joints = {name: bars.joints[name] for name in ("output", "rocker", "elbow", "crank", "knee")}
    found = lw.linkages.analyze_linkage(
        bars.model_copy(update={"independent": (), "joints": joints}), samples=5
    )
    assert found.input == "crank"
