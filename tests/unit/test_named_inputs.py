"""States given by name: the same numbers as arrays, units read, and constraints obeyed."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ArgumentError, AssemblyError, LinkwrightError

ELBOW = lw.compile(lw.gallery("elbow"), threads=1)
CART = lw.compile(lw.gallery("cart-pole"), threads=1)
BAR = lw.compile(lw.gallery("four-bar"), threads=1)


def test_entries_that_a_table_leaves_out_are_at_rest() -> None:
    np.testing.assert_array_equal(ELBOW.gravity({"q1": 1}), ELBOW.gravity([1.0, 0.0]))
    np.testing.assert_array_equal(ELBOW.gravity(q={}), ELBOW.gravity([0.0, 0.0]))
    by_name = ELBOW.inverse_dynamics({"q2": 0.3}, {"q1": 1.0}, {"q2": 2.0})
    np.testing.assert_array_equal(by_name, ELBOW.inverse_dynamics([0, 0.3], [1, 0], [0, 2]))
    prefixed = ELBOW.inverse_dynamics({"q2": 0.3}, {"dq1": 1.0}, {"ddq2": 2.0})
    np.testing.assert_array_equal(prefixed, by_name)
    forward = ELBOW.forward_dynamics({"q1": 0.2}, {}, {"tau_q1": 3.0})
    np.testing.assert_array_equal(forward, ELBOW.forward_dynamics([0.2, 0], [0, 0], [3, 0]))


def test_texts_have_units_of_the_entry() -> None:
    np.testing.assert_array_equal(
        CART.bias({"theta": "30 deg", "x": "20 mm"}, {"theta": "60 rpm"}),
        CART.bias([0.02, np.pi / 6], [0, 2 * np.pi]),
    )
    with pytest.raises(
        LinkwrightError, match="qd of 'x': '1 rad/s' has the wrong unit; give it in m/s"
    ):
        CART.bias({}, {"x": "1 rad/s"})


def test_entries_may_be_batches_and_stand_beside_arrays() -> None:
    angles = np.linspace(0, 1, 5)
    rows = np.stack([angles, np.full(5, 0.2)], axis=1)
    np.testing.assert_array_equal(
        ELBOW.bias({"q1": angles, "q2": 0.2}, np.ones(2)), ELBOW.bias(rows, np.ones((5, 2)))
    )
    with pytest.raises(ArgumentError, match="the leading axes do not match"):
        ELBOW.bias({"q1": angles}, np.ones((4, 2)))


def test_kept_parameters_are_given_by_name_and_nominal_otherwise() -> None:
    model = lw.compile(lw.gallery("elbow"), parameters=["m2", "l1"], threads=1)
    other = lw.compile(lw.gallery("elbow").with_parameters(m2=3), threads=1)
    found = model.gravity([0.1, 0.2], {"m2": 3.0})
    np.testing.assert_allclose(found, other.gravity([0.1, 0.2]), rtol=1e-14)


def test_wrenches_are_given_by_body() -> None:
    body = ELBOW.body_names[1]
    rows = np.zeros((2, 6))
    rows[1] = [0, 0, 1, 2, 3, 0]
    given = ELBOW.inverse_dynamics_with_wrenches({}, {}, {}, {body: [0, 0, 1, 2, 3, 0]})
    zero = np.zeros(2)
    np.testing.assert_array_equal(
        given, ELBOW.inverse_dynamics_with_wrenches(zero, zero, zero, rows)
    )


def test_under_constraints_the_rest_of_the_state_follows() -> None:
    """theta1 drives the four-bar; check=True refuses states that violate the constraints."""
    drive = {"theta1": "60 deg"}, {"theta1": 2.0}, {"theta1": -1.0}
    tau = BAR.inverse_dynamics(*drive, check=True)
    q = lw.assemble(BAR.mechanism, {"theta1": np.pi / 3}, ["theta1"])
    qd = lw.assemble_velocities(BAR.mechanism, q, {"theta1": 2.0})
    np.testing.assert_allclose(BAR.constraint_velocity(q, qd), 0, atol=1e-12)
    back = BAR.forward_dynamics(q, qd, tau)
    assert back[0] == pytest.approx(-1.0, abs=1e-9)
    many = BAR.gravity({"theta1": [0.9, 1.0]})
    assert many.shape == (2, 3)


def test_velocities_that_contradict_the_constraints_are_an_error() -> None:
    with pytest.raises(AssemblyError, match="contradict the constraints"):
        BAR.bias({"theta1": 1.0}, {"theta1": 1.0, "theta2": 5.0})


def test_a_payload_adds_its_inertia_at_the_frame() -> None:
    """A point mass m at the tip of a planar arm of lengths 1: M grows by m Jᵀ J, g by m g₀ ∂y."""
    m, (q1, q2) = 0.5, (0.4, 0.7)
    loaded = lw.compile(lw.gallery("elbow").with_payload("tool", m), threads=1)
    c2 = np.cos(q2)
    more = m * np.array([[2 + 2 * c2, 1 + c2], [1 + c2, 1]])
    found = loaded.mass_matrix([q1, q2]) - ELBOW.mass_matrix([q1, q2])
    np.testing.assert_allclose(found, more, atol=1e-14)
    weight = m * 9.81 * np.array([np.cos(q1) + np.cos(q1 + q2), np.cos(q1 + q2)])
    found = loaded.gravity([q1, q2]) - ELBOW.gravity([q1, q2])
    np.testing.assert_allclose(found, weight, atol=1e-13)
    with pytest.raises(LinkwrightError, match="no frame or body 'tol'; did you mean 'tool'"):
        lw.gallery("elbow").with_payload("tol", 1)
