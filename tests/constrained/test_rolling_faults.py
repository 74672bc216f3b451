"""What the library does wrong with mechanisms that roll and cut, each with its smallest example.

Strict: whoever mends one is told to take its mark away.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.mechanism.mechanism import replaced
from tests.commands import ok, run
from tests.constrained.rolling_examples import EXAMPLES, values
from tests.references import sharp_edged_disk

FLAT = """
[bodies.wheel]
mass = 1
inertia = [1, 1, 1]
[joints.wheel]
type = "planar"
child = "wheel"
[constraints.roll]
type = "rolling"
wheel = "wheel"
radius = 0.3
"""


def fault(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, reason=reason)


@fault("no equation of positions: ValueError from tape/schedule.py")
def test_residual_of_velocity_constraints_is_empty() -> None:
    assert lw.compile(lw.gallery("car")).constraint_residual(np.zeros(4)).shape == (0,)


@fault("the same, from readings/listing.py")
def test_car_is_derived_on_the_command_line() -> None:
    assert "car" in ok("derive", "car", "--by", "kane")


@pytest.mark.filterwarnings("ignore")
@fault("LinAlgError: SVD did not converge")
def test_wheel_that_can_only_lie_flat_is_refused() -> None:
    with pytest.raises(LinkwrightError):
        lw.compile(lw.load(FLAT))


@pytest.mark.filterwarnings("ignore")
@fault("LinAlgError: SVD did not converge, for the whole batch")
def test_a_disk_that_lies_flat_does_not_spoil_the_others() -> None:
    model = lw.compile(lw.gallery("rolling-disk"))
    q = np.array([[0, 0, 0.5, 0, 0, 0], [0, 0, 0, 0, np.pi / 2, 0]])
    found = model.forward_dynamics(q, np.zeros((2, 6)), np.zeros(6))
    np.testing.assert_allclose(found[0], 0, atol=1e-14)


@fault("the disk is assembled lying flat, where nothing is defined")
def test_disk_is_not_assembled_flat() -> None:
    with pytest.raises(LinkwrightError):
        lw.assemble(lw.gallery("rolling-disk"), values={"theta": np.pi / 2}, hold=["theta"])


@fault("RuntimeWarning: divide by zero, though the result is right")
def test_states_where_a_pivot_vanishes_give_no_warning() -> None:
    one = EXAMPLES["loose-disk"]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one.model.forward_dynamics(np.array([0.7, 0, 0]), np.zeros(3), np.zeros(3))


@fault("SMALL_PIVOT = 1e-4 is too small: the error grows as 1/pivot²")
def test_digits_beside_a_vanishing_pivot() -> None:
    """With q1 and q3 leading, as the library chooses by itself, q2 cannot follow at q3 = 90°."""
    one = EXAMPLES["sharp-edged-disk"]()
    model = lw.compile(replaced(one.mechanism, ["independent"]))
    disk = sharp_edged_disk.Disk(**values(one.mechanism))
    worst = 0.0
    for off in np.geomspace(1.1e-4, 1e-3, 20):
        q = np.array([0.4, -1.2, 0.9, np.pi / 2 + off])
        v, tau = sharp_edged_disk.rates(disk, q, 1.3, -0.7), np.array([1.0, -2.0, 3.0, 0.5])
        wanted = one.accelerations(q, v, tau)
        error = np.abs(model.forward_dynamics(q, v, tau, *one.t(q)) - wanted).max()
        worst = max(worst, error / np.abs(wanted).max())
    assert worst < 1e-9


@fault("a knife edge against the body that carries it is 0 = 0, and has no effect")
def test_edge_against_its_own_body_is_refused() -> None:
    disk = lw.gallery("sharp-edged-disk")
    edge = replaced(disk.constraints["edge"], relative_to="R")
    whole = replaced(disk, ["independent"], constraints={**disk.constraints, "edge": edge})
    with pytest.raises(LinkwrightError, match="edge"):
        lw.compile(whole)


@fault("axles that are not parallel: a constraint that means nothing")
def test_gears_with_crossed_axles_are_refused() -> None:
    planet = EXAMPLES["planet"]().mechanism
    crossed = replaced(planet.joints["planet"], axis=[1, 0, 0])
    with pytest.raises(LinkwrightError, match="parallel"):
        lw.compile(replaced(planet, joints={**planet.joints, "planet": crossed}))


@fault("a misspelt wheel is reported at constraints.rolling.on")
def test_misspelt_wheel_is_found_where_it_stands() -> None:
    disk = lw.gallery("rolling-disk")
    rolling = replaced(disk.constraints["rolling"], wheel="dsik")
    with pytest.raises(LinkwrightError, match=r"rolling\.wheel"):
        replaced(disk, constraints={"rolling": rolling})


@fault("operands could not be broadcast: accelerations come with the pivot behind")
def test_compare_on_the_command_line() -> None:
    assert run("compare", "rolling-disk").returncode == 0


@fault("planet and carrier are tied at every speed, so by a ratio of their angles")
def test_mobility_of_gears_does_not_say_that_angles_are_free() -> None:
    assert "2 coordinates can take any value" not in str(
        lw.mobility(EXAMPLES["planet"]().mechanism)
    )
