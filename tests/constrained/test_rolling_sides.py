"""A wheel rolls on the side of its plane on which it stands, whichever way the plane's z points."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import MechanismError
from linkwright.files.toml_reader import read_toml
from linkwright.writers.toml_writer import write_toml

FLOOR = '[frames.floor]\nbody = "ground"\norigin = { rpy = ["pi", 0, 0] }\n'
COIN = """
name = "coin"
gravity = [0, 0, "GRAVITY"]
[bodies.coin]
mass = 1
inertia = [0.01, 0.01, 0.02]
[joints.f]
type = "free"
child = "coin"
[constraints.roll]
type = "rolling"
wheel = "coin"
radius = 0.2
axle = [0, 1, 0]
"""


def below(name: str) -> lw.Mechanism:
    """A mechanism of the gallery whose plane has its z downward: the wheels stand on −z."""
    mechanism = lw.gallery(name)
    text = write_toml(mechanism)
    for constraint in mechanism.constraints:
        head = f"[constraints.{constraint}]\n"
        assert head in text
        text = text.replace(head, head + 'on = "floor"\n')
    return read_toml(text + "\n" + FLOOR)


def test_a_bicycle_with_z_downward_stays_above_its_floor() -> None:
    """The benchmark's own axes: the plane's z points down, wheels stand at z < 0."""
    ours, given = below("bicycle"), lw.gallery("bicycle")
    start = {"phi": 0.1, "delta": 0.2}
    q, wanted = (lw.assemble(m, start, list(start)) for m in (ours, given))
    np.testing.assert_allclose(q, wanted, atol=1e-12)
    qd = {"phi": 0.3, "thetaR": 10.0, "delta": -0.1}
    runs = [lw.simulate(m, t=0.01, q0=start, qd0=qd, samples=3) for m in (ours, given)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)


@pytest.mark.parametrize("by", ["recursive", "lagrange", "newton_euler", "kane"])
def test_formulations_roll_on_either_side(by: str) -> None:
    """The same accelerations as a disk on the +z side, which another test holds to be right."""
    model = lw.compile(lw.derive(below("rolling-disk"), by=by, parameters="numeric"))
    q = np.array([0.3, -0.2, 0.0, 0.4, 0.5, 0.6])
    q[2] = 0.5 * np.cos(q[4])
    assert np.abs(model.constraint_residual(q)).max() < 1e-15
    given = lw.compile(lw.gallery("rolling-disk"))
    J = given.constraint_jacobian(q)
    qd = np.linalg.svd(J)[2][len(J) :].T @ np.array([0.4, -0.3, 0.8])
    tau = np.linspace(-1, 1, 6)
    found, wanted = (m.forward_dynamics(q, qd, tau) for m in (model, given))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("gravity", [-9.81, 9.81, 0.0])
@pytest.mark.parametrize("height", [0.3, 1e-3, 0.0, -1e-3, -0.3])
def test_the_side_is_that_of_the_pose_then_against_gravity(gravity: float, height: float) -> None:
    text = COIN.replace('"GRAVITY"', str(gravity)) + f'[assembly]\n"f.z" = {height}\n'
    side = np.sign(height) or (-1.0 if gravity > 0 else 1.0)
    q = lw.assemble(read_toml(text))
    assert q[2] == pytest.approx(0.2 * side, abs=1e-12)


@pytest.mark.parametrize(("side", "sign"), [("+z", 1), ("-z", -1)])
def test_the_file_may_name_the_side(side: str, sign: int) -> None:
    text = COIN.replace('"GRAVITY"', "-9.81").replace("axle =", f'side = "{side}"\naxle =')
    mechanism = read_toml(text)
    assert lw.assemble(mechanism)[2] == pytest.approx(0.2 * sign, abs=1e-12)
    assert read_toml(write_toml(mechanism)) == mechanism


def test_only_planes_have_sides() -> None:
    text = COIN.replace('"GRAVITY"', "0").replace("axle =", 'side = "+z"\nother_radius = 1\naxle =')
    with pytest.raises(MechanismError, match="only planes have sides"):
        read_toml(text)
