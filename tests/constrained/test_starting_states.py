"""What is given for the start of a motion stays as given, or is refused with the way out."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import AssemblyError, NameNotFoundError
from linkwright.linearization import equilibrium
from tests.commands import run
from tests.constrained.test_quaternion_assembly import pinned

FOUR_BAR = lw.gallery("four-bar")
HALF = np.sqrt(0.5)
TURNED = {"f.qw": HALF, "f.qx": 0.0, "f.qy": 0.0, "f.qz": HALF}


# -- speeds -------------------------------------------------------------------------------


def test_speeds_that_break_constraints_are_an_error_with_the_way_out() -> None:
    message = r"violate 'pin' by 0\.9\d+ .*assemble_velocities\(mechanism, q, qd\)"
    with pytest.raises(AssemblyError, match=message):
        lw.simulate(FOUR_BAR, t=0.01, qd0=[1, 0, 0], samples=2)


def test_speeds_by_name_are_kept_and_the_others_follow() -> None:
    """θ2' and θ3' of a four-bar by the velocity polygon: J of the two bar ends."""
    q = lw.assemble(FOUR_BAR)
    found = lw.assemble_velocities(FOUR_BAR, q, {"theta1": 2.0})
    assert found[0] == 2.0
    J = lw.compile(FOUR_BAR).constraint_jacobian(q)[:2]
    np.testing.assert_allclose(found[1:], np.linalg.solve(J[:, 1:], -2 * J[:, 0]), rtol=1e-12)
    started = lw.simulate(FOUR_BAR, t=0.01, qd0={"theta1": 2.0}, samples=2).qd[0]
    np.testing.assert_allclose(started, found, rtol=1e-12)


@pytest.mark.parametrize("speed", [1e-3, 1.0, 1e4])
def test_speeds_computed_elsewhere_to_nine_digits_pass(speed: float) -> None:
    q = lw.assemble(FOUR_BAR)
    qd = lw.assemble_velocities(FOUR_BAR, q, {"theta1": speed})
    rounded = qd * (1 + 1e-9 * np.array([1, -1, 1]))
    found = lw.simulate(FOUR_BAR, t=1e-6, q0=q, qd0=rounded, samples=2).qd[0]
    np.testing.assert_allclose(found, qd, rtol=1e-8)


def test_projected_speeds_are_the_nearest() -> None:
    q, wish = lw.assemble(FOUR_BAR), np.array([1.0, 0.0, 0.0])
    found, J = (
        lw.assemble_velocities(FOUR_BAR, q, wish),
        lw.compile(FOUR_BAR).constraint_jacobian(q),
    )
    np.testing.assert_allclose(J @ found, 0, atol=1e-12)
    along = np.linalg.svd(J)[2][-1]
    np.testing.assert_allclose(found, along * (along @ wish), atol=1e-12)


def test_speeds_that_contradict_each_other_name_the_constraint() -> None:
    q = lw.assemble(FOUR_BAR)
    with pytest.raises(AssemblyError, match="'pin' is violated by"):
        lw.assemble_velocities(FOUR_BAR, q, {"theta1": 1.0, "theta2": 5.0})
    with pytest.raises(NameNotFoundError, match="unknown velocity 'theta'"):
        lw.assemble_velocities(FOUR_BAR, q, {"theta": 1.0})


# -- coordinates of free and spherical joints -----------------------------------------------


@pytest.mark.parametrize(
    "given",
    [{"f.z": -0.5}, {"f.x": 0.9, "f.z": -0.3}, {**TURNED, "f.z": 0.2},
     {"j.qw": 0.8, "j.qx": 0.0, "j.qy": 0.6, "j.qz": 0.0}],
)  # fmt: skip
def test_coordinates_of_free_joints_are_kept_under_constraints(given: dict[str, float]) -> None:
    mechanism = pinned()
    model = lw.compile(mechanism)
    wanted = list(given.values())
    places = [model.q_names.index(name) for name in given]
    q = lw.assemble(mechanism, given, list(given))
    started = lw.simulate(mechanism, t=0.01, q0=given, samples=2).q[0]
    for found in (q, started):
        np.testing.assert_allclose(found[places], wanted, atol=1e-14)
        assert np.abs(model.constraint_residual(found)).max() < 1e-12


def test_quaternions_are_given_as_a_whole_and_of_length_one() -> None:
    for given, why in (
        ({"f.qw": 0.9}, "f.qw alone is given; give f.qw, f.qx, f.qy, f.qz, or none"),
        ({**TURNED, "f.qw": 2.0}, "the quaternion has length 2.12"),
    ):
        for use in (lambda g: lw.simulate(pinned(), t=0.01, q0=g), lambda g: lw.assemble(pinned(), g, list(g)),
                    lambda g: equilibrium(pinned(), q0=g)):  # fmt: skip
            with pytest.raises(AssemblyError, match=why):
                use(given)
    rounded = {**TURNED, "f.qw": 0.7071, "f.qz": 0.7071}
    q = lw.assemble(pinned(), rounded, list(rounded))
    np.testing.assert_allclose(q[7:], list(TURNED.values()), atol=1e-14)


def test_the_command_line_takes_coordinates_of_free_joints(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "pinned.toml"
    lw.save(pinned(), path)
    found = run("assemble", str(path), "f.z=-0.5", "--hold", "f.z", "--json")
    assert found.returncode == 0, found.stderr
    assert "-0.5" in found.stdout


# -- far from the file's pose -------------------------------------------------------------


def test_assembly_says_what_it_moves_far() -> None:
    """The pose has the crank at 60°, and a rocker angle that is on the other branch."""
    far = lw.Mechanism(
        **{key: getattr(FOUR_BAR, key) for key in FOUR_BAR.model_fields_set if key != "assembly"},
        assembly={"theta1": 0.5, "theta2": 3.0, "theta3": 3.0},
    )
    found = lw.mobility(far)
    assert found.moved
    assert all(" from " in move and move.endswith(" rad") for move in found.moved)
    motion = lw.simulate(far, t=0.01, samples=2)
    assert [w for w in motion.warnings if w.startswith("assembly moved ")]
    assert lw.mobility(FOUR_BAR).moved == ()
