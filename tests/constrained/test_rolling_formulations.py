"""Every formulation on what rolls and cuts: the same accelerations as solutions of their own, and
the same forces of constraint."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.formulations import FORMULATIONS
from tests.constrained.rolling_examples import EXAMPLES, Example

CASES = [(name, by) for name in EXAMPLES for by in FORMULATIONS]
"""Particles, a carrier and slides without mass are no obstacle."""


@cache
def example(name: str) -> Example:
    return EXAMPLES[name]()


@pytest.mark.parametrize(("name", "by"), CASES)
def test_accelerations_and_forces(name: str, by: str) -> None:
    one = example(name)
    exactly = {"iterations": 6} if by == "approximate" else {}
    eqs = lw.derive(one.mechanism, by=by, parameters="numeric", **exactly)
    for q, v, tau in one.states(3):
        at = (q, v, tau, *one.t(q))
        found = np.asarray(eqs.function("forward_dynamics")(*at)[0]).ravel()
        wanted = one.accelerations(q, v, tau)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * max(1, np.abs(wanted).max()))
        if by == "approximate":
            continue  # has forces of its own coordinates, too
        forces = np.asarray(eqs.function("multipliers")(*at)[0]).ravel()
        J = one.model.constraint_jacobian(q, *one.t(q))
        needed = one.model.required_forces(q, v, wanted, *one.t(q)) - tau
        np.testing.assert_allclose(J.T @ forces, needed, atol=1e-9 * max(1, np.abs(needed).max()))
