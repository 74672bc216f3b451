"""A closed form with one error is never equal to the right one; one that is only rearranged is."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import permutations

import casadi as ca
import numpy as np
import pytest

import linkwright as lw

FORMS = [
    ("elbow", "M"), ("elbow", "g"), ("elbow", "C"), ("cart-pole", "bias"), ("stanford-rrp", "M"),
    ("four-bar", "constraint_residual"), ("five-bar", "constraint_jacobian"), ("rolling-disk", "M"),
    ("slider-crank-sundials", "passive"),
]  # fmt: skip
FUNCTIONS = {"M": "mass_matrix", "g": "gravity", "C": "coriolis_matrix"}
SAMPLES = 3


def changed_entries(e: ca.SX) -> Iterator[ca.SX]:
    """Signs, factors, and lost entries."""
    for k in range(e.numel()):
        for factor in (-1, 2, 0.5, 0):
            new = ca.SX(e)
            new[k] *= factor
            yield new


def changed_symbols(eqs: lw.Equations, e: ca.SX) -> Iterator[ca.SX]:
    """One symbol in place of another, an angle turned, sine for cosine, a coordinate lost."""
    p, q = eqs.symbols["p"], eqs.symbols["q"]
    own = ca.vertsplit(p)
    for a, b in permutations(own[:6], 2):
        yield ca.substitute(e, a, b)
    for x in ca.vertsplit(q):
        for new in (-x, 2 * x, ca.SX(np.pi / 2) - x, ca.SX(0)):
            yield ca.substitute(e, x, new)


def rearranged(e: ca.SX) -> ca.SX:
    """The same function: every entry by another way."""
    half = e / 2
    return ca.densify(half + (e - half))


def with_expression(eqs: lw.Equations, function: str, e: ca.SX) -> lw.Equations:
    return dataclasses.replace(eqs, builders={**eqs.builders, function: lambda: e})


def values(eqs: lw.Equations, e: ca.SX) -> np.ndarray:
    """At some states with other parameters than the mechanism's."""
    inputs = [eqs.symbols[key] for key in ("q", "qd", "p") if eqs.symbols[key].numel()]
    function = ca.Function("e", inputs, [ca.densify(e)], {"allow_free": True})
    assert not function.get_free()
    rng = np.random.default_rng(5)
    return np.array([
        np.asarray(function(*(rng.uniform(0.3, 1.2, x.numel()) for x in inputs))) for _ in range(SAMPLES)
    ])  # fmt: skip


@pytest.mark.parametrize(("name", "quantity"), FORMS)
def test_a_form_with_one_error_is_never_equal(name: str, quantity: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    function = FUNCTIONS.get(quantity, quantity)
    e = ca.densify(ca.SX(eqs.expressions(function)[0]))
    right, wanted = eqs.closed_form(quantity), values(eqs, e)
    assert with_expression(eqs, function, rearranged(e)).closed_form(quantity) == right
    every = [*changed_entries(e), *changed_symbols(eqs, e)]
    chosen = np.random.default_rng(len(every)).permutation(len(every))[:20]
    wrong = 0
    for k in chosen:
        mutant = with_expression(eqs, function, every[k])
        apart = np.abs(values(eqs, every[k]) - wanted).max() > 1e-9
        wrong += bool(apart)
        assert (mutant.closed_form(quantity) == right) is not bool(apart)
    assert wrong >= 5
