"""Every formulation on every mechanism of the gallery: the same functions, proved."""

from __future__ import annotations

import time
from functools import cache

import pytest

import linkwright as lw
from linkwright.algebra.exact.tape_identity import compare_tapes_modulo_prime
from linkwright.errors import LinkwrightError
from linkwright.formulations import FORMULATIONS, formulation_module
from linkwright.verification.verified_equations import VerifiedEquations
from tests.random_trees import KINDS, random_tree

TREES = [n for n in lw.gallery() if not (lw.gallery(n).loops or lw.gallery(n).constraints)]
LOOPS = [n for n in lw.gallery() if n not in TREES]
EXACT = [by for by in FORMULATIONS if by not in ("recursive", "approximate")]
OF_TREES = ("mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics")
OF_LOOPS = ("mass_matrix", "bias", "constraint_jacobian", "constraint_bias")


@cache
def reference(name: str) -> VerifiedEquations:
    return VerifiedEquations(lw.derive(lw.gallery(name)))


def assert_proved(name: str, by: str, functions: tuple[str, ...]) -> None:
    mechanism = lw.gallery(name)
    reason = formulation_module(by).supports(mechanism)
    if reason is not None:
        pytest.skip(reason)
    try:
        other = VerifiedEquations(lw.derive(mechanism, by=by))
    except LinkwrightError as error:
        pytest.skip(str(error))
    truth = reference(name)
    assert list(truth.eqs.parameters) == list(other.eqs.parameters)
    for function in functions:
        if function == "forward_dynamics" and truth.eqs.nv > 8:
            continue
        proof = truth.prove_same_tapes(truth.function_tape(function), other.function_tape(function))
        assert proof.holds, f"{function}: {proof.text}"
        assert proof.is_proved, f"{function}: {proof.text}"
        assert proof.chance < 2.0**-50


@pytest.mark.parametrize("by", EXACT)
@pytest.mark.parametrize("name", TREES)
def test_trees(name: str, by: str) -> None:
    assert_proved(name, by, OF_TREES)


@pytest.mark.parametrize("by", EXACT)
@pytest.mark.parametrize("name", LOOPS)
def test_constrained_equations(name: str, by: str) -> None:
    assert_proved(name, by, OF_LOOPS)


CLOSED = {
    "bicycle", "car", "five-bar", "four-bar", "rolling-disk", "sharp-edged-disk", "slider-crank",
    "slider-crank-sundials", "trolley-trailers",
}  # fmt: skip
"""Lengths, slides or the time can be chosen there so that loops close at any angles."""


@pytest.mark.parametrize("by", EXACT)
@pytest.mark.parametrize("name", sorted(CLOSED | {"n-four-bar"}))
def test_accelerations_under_constraints(name: str, by: str) -> None:
    mechanism = lw.gallery(name)
    if (reason := formulation_module(by).supports(mechanism)) is not None:
        pytest.skip(reason)
    other = VerifiedEquations(lw.derive(mechanism, by=by))
    if not other.has_functions("forward_dynamics"):
        pytest.skip("it has no accelerations")
    proof = reference(name).prove_same_on_constraints(other, "forward_dynamics")
    assert proof.holds, proof.text
    assert proof.is_proved is (name in CLOSED), proof.text
    assert proof.chance < 2.0**-50


def test_without_constraints_the_accelerations_differ() -> None:
    """Off the constraints the roads part: points that obey them are needed."""
    one, other = (
        VerifiedEquations(lw.derive(lw.gallery("four-bar"), by=by))
        for by in ("recursive", "influence")
    )
    assert not one.prove_same_tapes(
        one.function_tape("forward_dynamics"), other.function_tape("forward_dynamics")
    ).holds
    assert one.prove_same_on_constraints(other, "forward_dynamics").is_proved


@pytest.mark.parametrize("by", ["kane", "lagrange", "newton_euler"])
@pytest.mark.parametrize("seed", range(6))
def test_random_trees(seed: int, by: str) -> None:
    """Of all joint types, with losses, springs and motors, at angles that are no right ones."""
    kinds = [KINDS[(seed * 3 + k) % len(KINDS)] for k in range(3)]
    mechanism = random_tree(seed, kinds, [0, 0, 1]).mechanism
    if formulation_module(by).supports(mechanism) is not None or not any(
        k != "fixed" for k in kinds
    ):
        pytest.skip("cannot treat it")
    one, other = (VerifiedEquations(lw.derive(mechanism, by=b)) for b in ("recursive", by))
    for function in ("mass_matrix", "bias", "gravity"):
        proof = one.prove_same_tapes(one.function_tape(function), other.function_tape(function))
        assert proof.holds, f"{function}: {proof.text}"
        assert proof.is_proved, f"{function}: {proof.text}"


def test_a_proof_for_a_six_axis_arm_takes_milliseconds() -> None:
    """Newton–Euler against an AD Lagrangian of some eight thousand instructions."""
    mechanism = lw.gallery("six-axis")
    subjects = [VerifiedEquations(lw.derive(mechanism, by=by)) for by in ("recursive", "lagrange")]
    one, other = (subject.function_tape("inverse_dynamics") for subject in subjects)
    assert len(other) > 5000
    names = [
        [f"{port.name}{k}" for k in range(port.size)]
        for port in one.inputs
    ]  # fmt: skip
    times = []
    for _ in range(3):
        begin = time.process_time()
        assert compare_tapes_modulo_prime(one, other, names).is_identical
        times.append(time.process_time() - begin)
    print(f"{min(times) * 1000:.0f} ms")
    assert min(times) < 0.5
