"""Equations in base parameters are the same functions of the motion, by proof and in numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings

import linkwright as lw
from linkwright.algebra.casadi_algebra import CasadiAlgebra
from linkwright.algebra.exact.tape_identity import compare_tapes_modulo_prime
from linkwright.expressions import fold_expression
from linkwright.identify import base_parameters
from linkwright.quantities import quantity_entry_names, quantity_ports
from linkwright.tape import count_tape_state_operations, normalize_tape, record_tape
from tests.identify.test_base_parameters import LETTERS, PUMA, khalil_arm
from tests.random_trees import RandomTree, trees

OF_FORCES = ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity", "bias")


def grouped(original: lw.Equations, base: lw.Equations) -> Any:
    """The parameters p of the equations in base parameters, in symbols of the original ones."""
    named = dict(zip(original.parameters, ca.vertsplit(original.symbols["p"]), strict=True))
    names = [f"{letter}_{body}" for body in original.names.bodies for letter in LETTERS]
    scope = named | dict(zip(names, ca.vertsplit(original.inertial_parameters), strict=True))
    found = base_parameters(original.mechanism)
    algebra = CasadiAlgebra(float)
    entries = []
    for name in base.parameters:
        if name in found.parameters:
            formula = found.parameters[name].formula
            entries.append(fold_expression(formula, algebra, scope.__getitem__))
        else:
            entries.append(named[name])
    return ca.vertcat(*entries)


@pytest.mark.parametrize("name", ["elbow", "stanford", "cart-pole", "puma560", "remote-elbow"])
def test_the_forces_are_the_same_by_proof(name: str) -> None:
    arm = lw.gallery(name)
    original, base = lw.derive(arm), lw.derive(arm, parameters="base")
    p = grouped(original, base)
    entries = quantity_entry_names(original.names, list(original.parameters))
    for function in OF_FORCES:
        one, other = original.function(function), base.function(function)
        inputs = [one.sx_in(i) for i in range(one.n_in() - 1)]
        values = ca.substitute(p, original.symbols["p"], one.sx_in(one.n_in() - 1))
        outputs = other.call([*inputs, values])
        words = [one.name_in(i) for i in range(one.n_in())]
        same = ca.Function(function, [*inputs, one.sx_in(len(inputs))], outputs, words, ["y"])
        shapes = quantity_ports(original.names, function, list(original.parameters))
        verdict = compare_tapes_modulo_prime(
            record_tape(one, *shapes), record_tape(same, *shapes), [entries[word] for word in words]
        )
        assert verdict.is_identical, (function, verdict.differing_entries)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(tree=trees(max_bodies=4))
def test_the_forces_are_the_same_in_numbers(tree: RandomTree) -> None:
    """Losses, springs and motors included; forward dynamics, too."""
    base = lw.derive(tree.mechanism, parameters="base")
    original = lw.derive(tree.mechanism, parameters="numeric")
    q, qd, qdd = tree.state(1)
    tau = np.array(original.function("inverse_dynamics")(q, qd, qdd)).ravel()
    ours = np.array(base.function_at_values("inverse_dynamics")(q, qd, qdd)).ravel()
    assert np.abs(ours - tau).max() <= 1e-10 * max(1.0, np.abs(tau).max())
    back = np.array(base.function_at_values("forward_dynamics")(q, qd, tau)).ravel()
    assert np.abs(back - qdd).max() <= 1e-7 * max(1.0, np.abs(qdd).max())


def test_the_symbols_are_lengths_and_base_parameters() -> None:
    eqs = lw.derive(lw.gallery("elbow"), parameters="base")
    assert list(eqs.parameters) == [
        "l1",
        "g",
        "l2",
        *base_parameters(lw.gallery("elbow")).parameters,
    ]
    assert eqs.inertial_parameters.shape == (20, 1)
    (Y,) = eqs.expressions("regressor")
    (tau,) = eqs.expressions("inverse_dynamics")
    symbols = [eqs.symbols[key] for key in ("q", "qd", "qdd", "p")]
    difference = ca.Function("d", symbols, [Y @ eqs.inertial_parameters - tau])
    state = [[0.3, 0.4], [0.5, -0.6], [0.7, 0.8], [1, 9.81, 1, 2, 3, 4, 5, 6, 7]]
    assert np.abs(np.array(difference(*state))).max() < 1e-13


def test_compiled() -> None:
    arm = lw.gallery("elbow")
    model = lw.compile(lw.derive(arm, parameters="base"))
    state = np.random.default_rng(0).uniform(-1, 1, (3, 5, 2))
    np.testing.assert_allclose(
        model.inverse_dynamics(*state), lw.compile(arm).inverse_dynamics(*state), atol=1e-13
    )


@pytest.mark.parametrize(
    "name", ["kinetic_energy", "potential_energy", "momentum", "reactions_of_motion"]
)
def test_what_bodies_have_is_refused(name: str) -> None:
    eqs = lw.derive(lw.gallery("elbow"), parameters="base")
    assert name not in eqs.function_names()
    with pytest.raises(lw.LinkwrightError, match=f"{name} is not available: base parameters"):
        eqs.function(name)


def test_refusals() -> None:
    with pytest.raises(lw.LinkwrightError, match="'lagrange' needs masses"):
        lw.derive(lw.gallery("elbow"), by="lagrange", parameters="base")
    with pytest.raises(lw.LinkwrightError, match="has loops or constraints"):
        lw.derive(lw.gallery("four-bar"), parameters="base")


@pytest.mark.parametrize(
    ("parameters", "multiplications", "additions"), [("base", 259, 245), ("symbolic", 298, 284)]
)
def test_operations_of_the_puma(
    parameters: str, multiplications: int, additions: int, tmp_path: Path
) -> None:
    """Inverse dynamics with every inertial number other than 0; OpenSYMORO: 301/240, 345/296."""
    eqs = lw.derive(khalil_arm(tmp_path, PUMA), parameters=parameters)
    shapes = quantity_ports(eqs.names, "inverse_dynamics", list(eqs.parameters))
    tape = normalize_tape(record_tape(eqs.function("inverse_dynamics"), *shapes))
    counts = count_tape_state_operations(tape)
    assert counts["mul"] <= multiplications
    assert counts["add"] + counts["sub"] <= additions
    said = f"| {counts['mul']} | {counts['add'] + counts['sub']} |"
    page = Path(__file__).parents[2] / "docs/explanation/base-parameters.md"
    assert said in page.read_text(encoding="utf-8")
