"""States and constraints at the edge of what is regular."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from tests.commands import run
from tests.constrained.rolling_examples import EXAMPLES, values
from tests.references import sharp_edged_disk


def test_residual_of_velocity_constraints_is_empty() -> None:
    assert lw.compile(lw.gallery("car")).constraint_residual(np.zeros(4)).shape == (0,)


def test_a_disk_that_lies_flat_does_not_spoil_the_others() -> None:
    model = lw.compile(lw.gallery("rolling-disk"))
    q = np.array([[0, 0, 0.5, 0, 0, 0], [0, 0, 0, 0, np.pi / 2, 0]])
    found = model.forward_dynamics(q, np.zeros((2, 6)), np.zeros(6))
    np.testing.assert_allclose(found[0], 0, atol=1e-14)


def test_states_where_a_pivot_vanishes_give_no_warning() -> None:
    one = EXAMPLES["loose-disk"]()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one.model.forward_dynamics(np.array([0.7, 0, 0]), np.zeros(3), np.zeros(3))


def test_digits_beside_a_vanishing_pivot() -> None:
    """With q1 and q3 leading, as the library chooses by itself, q2 cannot follow at q3 = 90°."""
    one = EXAMPLES["sharp-edged-disk"]()
    model = lw.compile(replace_part_fields(one.mechanism, ["independent"]))
    disk = sharp_edged_disk.Disk(**values(one.mechanism))
    worst = 0.0
    for off in np.geomspace(1.1e-4, 1e-3, 20):
        q = np.array([0.4, -1.2, 0.9, np.pi / 2 + off])
        v, tau = sharp_edged_disk.rates(disk, q, 1.3, -0.7), np.array([1.0, -2.0, 3.0, 0.5])
        wanted = one.accelerations(q, v, tau)
        error = np.abs(model.forward_dynamics(q, v, tau, *one.t(q)) - wanted).max()
        worst = max(worst, error / np.abs(wanted).max())
    assert worst < 1e-9


@pytest.mark.slow
def test_compare_on_the_command_line() -> None:
    assert run("compare", "rolling-disk").returncode == 0
