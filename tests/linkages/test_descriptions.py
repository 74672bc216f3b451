"""One linkage, described in several ways: other trees, planes and senses of axes."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.linkages.linkage_files import analysis, example
from tests.linkages.test_balancing import RATE


def slider_crank(ground_first: bool) -> lw.Mechanism:
    """The gallery's slider-crank as one chain, whose slide closes the loop."""
    slide: dict[str, object] = {"type": "prismatic", "axis": [1, 0, 0]}
    slide |= {"parent": "ground", "child": "piston"} if ground_first else {
        "parent": "piston", "child": "ground"
    }  # fmt: skip
    return lw.Mechanism(
        name="chain",
        gravity=[0, -9.81, 0],
        bodies={
            "crank": {"mass": 1.2, "center": [0.1, 0, 0], "inertia": {"zz": 0.02}},
            "rod": {"mass": 0.8, "center": [0.4, 0, 0], "inertia": {"zz": 0.07}},
            "piston": {"mass": 0.5, "inertia": {"zz": 0.001}},
        },
        joints={
            "a": {"type": "revolute", "child": "crank"},
            "b": {"type": "revolute", "parent": "crank", "child": "rod", "origin": [0.3, 0, 0]},
            "c": {"type": "revolute", "parent": "rod", "child": "piston", "origin": [1.0, 0, 0]},
        },
        loops={"slide": slide},
        independent=["a"],
        assembly={"a": 1.0, "b": -1.25, "c": 0.25},
    )


@pytest.mark.parametrize("ground_first", [True, False])
def test_a_slide_may_close_the_loop(ground_first: bool) -> None:
    chain, usual = slider_crank(ground_first), analysis("slider-crank")
    found = lw.linkages.analyze_linkage(chain, samples=25)
    assert (found.output, found.output_unit) == ("piston", "m")
    assert found.velocity_ratio == pytest.approx(usual.velocity_ratio, abs=1e-11)
    assert found.acceleration_ratio == pytest.approx(usual.acceleration_ratio, abs=1e-10)
    assert found.transmission_angle == pytest.approx(usual.transmission_angle, abs=1e-10)
    assert found.classes[0].margin == pytest.approx(0.7)
    one = lw.linkages.shaking_forces(chain, speed=RATE, samples=13)
    other = lw.linkages.shaking_forces(example("slider-crank"), speed=RATE, samples=13)
    assert one.force == pytest.approx(other.force, abs=1e-9)
    weight = lw.linkages.balance_slider_crank(chain, 0.2).counterweight
    assert weight.mass == pytest.approx(1.935)


def turned_four_bar(axis: list[int], up: list[int]) -> lw.Mechanism:
    """The gallery's four-bar about another axis: `up` is where its y goes."""
    z, y = np.array(axis), np.array(up)
    x = np.cross(y, z)
    data = lw.gallery("four-bar").model_dump(exclude_unset=True)
    for name in ("bodies", "joints", "loops", "frames"):
        for part in data[name].values():
            for key in ("center", "origin", "child_origin"):
                place = part.get(key)
                if isinstance(place, dict):
                    place["xyz"] = turned_vector(place["xyz"], x)
                elif place is not None:
                    part[key] = turned_vector(place, x)
            if name == "bodies":
                part["inertia"] = {"xyz"[k] * 2: part["inertia"]["zz"] for k in range(3) if z[k]}
            if name in ("joints", "loops"):
                part["axis"] = axis
    data["gravity"] = [f"({-c})*g" for c in up]
    return lw.Mechanism(**data)


def turned_vector(vector: list[object], x: np.ndarray) -> list[str]:
    """A vector along x, turned."""
    return [f"({c})*({vector[0]})" for c in x.tolist()]


@pytest.mark.parametrize(("axis", "up"), [([0, -1, 0], [0, 0, 1]), ([0, 0, -1], [0, 1, 0])])
def test_ratios_do_not_depend_on_the_plane(axis: list[int], up: list[int]) -> None:
    usual, found = (
        lw.linkages.analyze_linkage(mechanism, over=(0.5, 1.5), samples=5)
        for mechanism in (lw.gallery("four-bar"), turned_four_bar(axis, up))
    )
    for key in ("velocity_ratio", "acceleration_ratio", "transmission_angle"):
        assert getattr(found, key) == pytest.approx(getattr(usual, key), abs=1e-11), key
    assert found.coordinate_ratios["theta3"] == pytest.approx(found.velocity_ratio, abs=1e-12)
    q = found.motion.q[2]
    one = lw.linkages.instant_centers(found.mechanism, q).between("ground", "coupler").point
    other = lw.linkages.instant_centers(usual.mechanism, q).between("ground", "coupler").point
    z, y = np.array(axis), np.array(up)
    assert [one @ np.cross(y, z), one @ y, one @ z] == pytest.approx(other, abs=1e-10)
    balance = lw.linkages.balance_forces(found.mechanism, 0.5, ["crank", "rocker"])
    assert [weight.mass for weight in balance.counterweights] == pytest.approx([2.0, 5.0])
