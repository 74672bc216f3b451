"""The algebra modulo a prime, against exact rational arithmetic and known identities."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.algebra.exact.degree_bounds import PolynomialDegreeBounds
from linkwright.algebra.exact.residue_programs import RandomResiduePoint, ResidueProgram
from linkwright.algebra.exact.tape_identity import (
    MERSENNE_EXPONENTS,
    ModularVerdict,
    compare_tapes_modulo_prime,
    difference_degree_bound,
)
from linkwright.errors import UnsupportedError
from linkwright.quantities import quantity_entry_names, quantity_ports
from linkwright.tape import COMMUTATIVE_OPERATIONS, OPERATION_ARITY, Op, Tape, record_tape
from tests.tapes import run

X = ca.SX.sym("x", 4)
A, B, C, D = ca.vertsplit(X)
NAMES = [["a", "b", "c", "d"]]
sin, cos, tan = ca.sin, ca.cos, ca.tan


def tape(*outputs: ca.SX) -> Tape:
    return record_tape(ca.Function("f", [X], [ca.vertcat(*outputs)]))


def same(one: ca.SX, other: ca.SX, **options: object) -> ModularVerdict:
    return compare_tapes_modulo_prime(tape(one), tape(other), NAMES, **options)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (cos(A + B), cos(A) * cos(B) - sin(A) * sin(B)),
        (sin(A - 2 * B), sin(A) * cos(2 * B) - cos(A) * sin(2 * B)),
        (cos(3 * A), 4 * cos(A) ** 3 - 3 * cos(A)),
        (sin(A), 2 * sin(A / 2) * cos(A / 2)),
        (sin(0.25 * A) ** 2, (1 - cos(A / 2)) / 2),
        (tan(A + B), (tan(A) + tan(B)) / (1 - tan(A) * tan(B))),
        (cos(-A), cos(A)),
        (sin(C * A), -sin(-(A * C))),
        (cos(A * B + C), cos(A * B) * cos(C) - sin(A * B) * sin(C)),
        ((A**2 - B**2) / (A - B), A + B),
        (1 / (1 / A + 1 / B), A * B / (A + B)),
        (ca.fabs(A), A * ca.sign(A)),
        (ca.sign(-A), -ca.sign(A)),
        (ca.fmax(A, B) + ca.fmin(A, B), A + B),
        (ca.fmax(A, B), ca.fmax(B, A)),
        (ca.if_else(A < B, C, D), D + (A < B) * (C - D)),
        (ca.if_else(A <= B, C, D), ca.if_else(B < A, D, C)),
        (ca.logic_not(ca.eq(A, B)), ca.ne(B, A)),
        (ca.logic_or(A < B, C < D), ca.logic_not(ca.logic_and(B <= A, D <= C))),
        (ca.tanh(A - B), -ca.tanh(B - A)),
        (ca.sqrt(A * B) * C, C * ca.sqrt(B * A)),
        (A**-2 * A**3, A),
        (ca.exp(A + B - A), ca.exp(B)),
    ],
)
def test_identities(one: ca.SX, other: ca.SX) -> None:
    verdict = same(one, other)
    assert verdict.is_identical, str(verdict)
    assert verdict.chance_of_error < 2.0**-50


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (cos(A + B), cos(A) * cos(B) + sin(A) * sin(B)),
        (cos(A), sin(A)),
        (sin(2 * A), 2 * sin(A)),
        (A + B, A - B),
        (A * cos(B), B * cos(A)),
        (cos(A) ** 2 + sin(A) ** 2, 1 + D - D + 2.0**-40 * A),
    ],
)
def test_differences_are_certain(one: ca.SX, other: ca.SX) -> None:
    verdict = same(one, other)
    assert not verdict.is_identical
    assert not verdict.is_undecided
    assert verdict.differing_entries == ("o0[1]",)
    assert "different" in str(verdict)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ca.sqrt(A**2 + 2 * A * B + B**2), A + B),
        (ca.sqrt(A * B), ca.sqrt(A) * ca.sqrt(B)),
        (ca.sqrt(A * B), -ca.sqrt(A) * ca.sqrt(B)),
        (ca.exp(A + B), ca.exp(A) * ca.exp(B)),
        (cos(A * B + A * B * C), cos(A * (B + B * C))),
    ],
)
def test_what_is_not_rational_may_stay_undecided(one: ca.SX, other: ca.SX) -> None:
    verdict = same(one, other)
    assert verdict.is_undecided
    assert "undecided" in str(verdict)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (ca.sqrt(A + B) * ca.sqrt(A + B), A + B, True),
        (1 / ca.sqrt(A + B), ca.sqrt(B + A) / (A + B), True),
        ((ca.sqrt(A) + ca.sqrt(B)) * (ca.sqrt(A) - ca.sqrt(B)), A - B, True),
        (A**1.5 * A**0.5, A**2, True),
        (
            A / ca.sqrt(A**2 + B**2),
            ca.sqrt(1 + 0 * C) * A * ca.sqrt(B**2 + A**2) / (A**2 + B**2),
            True,
        ),
        (ca.sqrt(A + ca.sqrt(B)) * ca.sqrt(ca.sqrt(B) + A) * C, (A + ca.sqrt(B)) * C, True),
        (ca.sqrt((A**2 + B**2) / (C * ca.sqrt(D) ** 2)) ** 2 * C * D, A**2 + B**2, True),
        (ca.sqrt(A + B), -ca.sqrt(A + B), False),
        (ca.sqrt(A + ca.sqrt(B)), ca.sqrt(A - ca.sqrt(B)), False),
        (ca.sqrt(A), ca.sqrt(B), False),
        (ca.sqrt(A + B) ** 3, A + B, False),
    ],
)
def test_roots_whose_signs_do_not_matter(one: ca.SX, other: ca.SX, wanted: bool) -> None:
    verdict = same(one, other)
    assert verdict.is_identical is wanted
    assert not verdict.is_undecided


def test_quaternions_are_points_of_the_sphere() -> None:
    square = A**2 + B**2 + C**2 + D**2
    assert not same(square, ca.SX(1) + 0 * A).is_identical
    assert same(square, ca.SX(1) + 0 * A, unit=NAMES).is_identical


def random_expression(rng: random.Random, depth: int) -> ca.SX:
    if depth == 0:
        return rng.choice([A, B, C, D, ca.SX(rng.choice([1, 2, 3, 0.5]))])
    one, other = (random_expression(rng, depth - 1) for _ in range(2))
    return rng.choice([one + other, one - other, one * other, -one, one / (other * other + 1)])


@pytest.mark.parametrize("seed", range(40))
def test_values_are_those_of_exact_fractions(seed: int) -> None:
    """The tape on fractions, taken modulo p afterwards; and the degree along a line."""
    program = ResidueProgram(tape(random_expression(random.Random(seed), 5)), NAMES)
    p = 2**61 - 1
    point = RandomResiduePoint(p, seed, 1)
    numbers = [Fraction(random.Random(f"{seed}{k}").randrange(-99, 99), 7) for k in range(4)]
    point.fixed_inputs = {
        name: x.numerator * pow(x.denominator, -1, p) % p
        for name, x in zip(NAMES[0], numbers, strict=True)
    }
    (exact,) = on_fractions(program.tape, numbers)
    assert program.evaluate_residues_at(point) == [
        [exact.numerator * pow(exact.denominator, -1, p) % p]
    ]


def on_fractions(tape: Tape, inputs: list[Fraction]) -> list[Fraction]:
    rules: dict[Op, Callable[..., Fraction]] = {
        Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b,
        Op.DIV: lambda a, b: a / b, Op.NEG: lambda a: -a,
    }  # fmt: skip
    values: list[Fraction] = []
    for k, code in enumerate(tape.ops.tolist()):
        op, args = Op(code), tape.args[k].tolist()
        if op is Op.INPUT:
            values.append(inputs[args[1]])
        elif op is Op.CONSTANT:
            values.append(Fraction(tape.constants[k]))
        else:
            values.append(rules[op](*(values[i] for i in args[: OPERATION_ARITY[op]])))
    return [values[i] for i in tape.results[0].tolist()]


@pytest.mark.parametrize("seed", range(20))
def test_degrees_are_bounds(seed: int) -> None:
    """On a line through the origin, a polynomial of degree d has a vanishing (d+1)-st difference."""
    expression = random_expression(random.Random(seed + 1000), 4)
    bounds = PolynomialDegreeBounds(tape(expression)).compute_degrees(1)
    top, below = bounds.total_degrees(tape(expression).results[0][0])
    direction = [Fraction(3), Fraction(-2), Fraction(5), Fraction(7)]
    degree = top + below
    samples = [
        on_fractions(tape(expression), [Fraction(s) * d for d in direction])[0]
        for s in range(1, 2 * degree + 3)
    ]
    assert is_quotient_of_degree(samples, top, below)


@pytest.mark.parametrize(
    ("expression", "top", "below"),
    [
        (A**-0.5, 1, 1),
        (A**-1.5, 1, 2),
        (A**-3, 0, 3),
        (A**2.5, 3, 0),
        ((A < B) * ca.if_else(A < B, C / D, 1 / D), 3, 2),
        (ca.fmax(A / B, C / B), 2, 2),
        (tan(A) / B, 1, 2),
    ],
)
def test_degrees_are_not_less_than(expression: ca.SX, top: int, below: int) -> None:
    found = PolynomialDegreeBounds(tape(expression)).compute_degrees(1)
    got = found.total_degrees(int(tape(expression).results[0][0]))
    assert got[0] >= top
    assert got[1] >= below


def test_angles_of_both_tapes_count() -> None:
    """cos a against cos b has two angles, though both are the first instruction."""
    programs = [ResidueProgram(tape(cos(x)), NAMES) for x in (A, B)]
    assert difference_degree_bound(programs) == 5


def is_quotient_of_degree(samples: list[Fraction], top: int, below: int) -> bool:
    """Whether some N/E of these degrees takes the samples at 1, 2, …: N − y E = 0 is solvable."""
    p = 2**127 - 1
    rows = []
    for s, y in enumerate(samples, 1):
        value = y.numerator * pow(y.denominator, -1, p) % p
        rows.append([pow(s, k, p) for k in range(top + 1)]
                    + [-value * pow(s, k, p) % p for k in range(below + 1)])  # fmt: skip
    return rank_modulo(rows, p) < top + below + 2


def rank_modulo(rows: list[list[int]], p: int) -> int:
    rows, rank = [row[:] for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        scale = pow(rows[rank][column], -1, p)
        for r in range(rank + 1, len(rows)):
            factor = rows[r][column] * scale % p
            if factor:
                rows[r] = [(x - factor * y) % p for x, y in zip(rows[r], rows[rank], strict=True)]
        rank += 1
    return rank


def test_prime_and_points_follow_from_the_degree() -> None:
    small, tower = A, A
    for _ in range(60):
        tower = tower * tower
    assert same(small, small + B - B).exponent == 61
    verdict = same(tower, tower * B / B)
    assert verdict.exponent > 61
    assert verdict.degree >= 2**60
    assert verdict.chance_of_error < 2.0**-50
    assert same(A, A + B - B, chance=2.0**-300).chance_of_error < 2.0**-300
    for _ in range(14):
        tower = tower**16
    for _ in range(20000):
        tower = tower * tower
    with pytest.raises(UnsupportedError, match="degree"):
        same(tower, tower * B / B)


def test_all_exponents_are_of_primes() -> None:
    from flint import fmpz

    assert all(fmpz(2**n - 1).is_prime() for n in MERSENNE_EXPONENTS if n < 3000)
    assert all(n % 2 for n in MERSENNE_EXPONENTS)  # so that −1 is no square


def test_no_point_can_be_evaluated() -> None:
    with pytest.raises(UnsupportedError, match="no point"):
        same(1 / (cos(A + B) - cos(A) * cos(B) + sin(A) * sin(B)), A)
    with pytest.raises(UnsupportedError, match="not finite"):
        same(A + ca.SX(float("inf")), A)


# -- mutants -------------------------------------------------------------------------------

OTHER = {
    Op.ADD: Op.SUB, Op.SUB: Op.ADD, Op.MUL: Op.ADD, Op.DIV: Op.MUL, Op.SIN: Op.COS,
    Op.COS: Op.SIN, Op.NEG: Op.SIN,
}  # fmt: skip


def mutant(tape: Tape, rng: random.Random) -> Tape:
    """One instruction changed: its operation, an operand, or a constant."""
    ops, args, constants = tape.ops.copy(), tape.args.copy(), tape.constants.copy()
    k = rng.choice([k for k, op in enumerate(ops.tolist()) if op != Op.INPUT])
    op = Op(int(ops[k]))
    if op is Op.CONSTANT:
        constants[k] += rng.choice([1, -1, 0.5])
    elif op in OTHER and rng.random() < 0.5:
        ops[k] = OTHER[op]
    elif OPERATION_ARITY[op] == 2 and op not in COMMUTATIVE_OPERATIONS and rng.random() < 0.3:
        args[k, :2] = args[k, 1::-1]
    else:
        args[k, rng.randrange(OPERATION_ARITY[op])] = rng.randrange(k)
    return Tape(tape.name, tape.inputs, tape.outputs, ops, args, constants, tape.results)


def test_one_point_catches_every_mutant_that_changes_the_function() -> None:
    eqs = lw.derive(lw.gallery("six-axis").without("friction"))
    inputs, outputs = quantity_ports(eqs.names, "inverse_dynamics", list(eqs.parameters))
    original = record_tape(eqs.function("inverse_dynamics"), inputs, outputs)
    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    entries = [names[port.name] for port in original.inputs]
    rng, numbers = random.Random(0), np.random.default_rng(0)
    states = [numbers.uniform(0.5, 1.5, (8, *port.shape)) for port in inputs]
    wanted = run(original, *states)[0]
    changed = 0
    for _ in range(400):
        other = mutant(original, rng)
        with np.errstate(all="ignore"):
            apart = np.abs(run(other, *states)[0] - wanted).max() > 1e-9 * np.abs(wanted).max()
        verdict = compare_tapes_modulo_prime(original, other, entries)
        caught = not verdict.is_identical and verdict.points == 1
        assert caught or not apart
        changed += bool(apart)
    assert changed > 300


def test_degrees_of_an_elimination_stay_moderate() -> None:
    eqs = lw.derive(lw.gallery("six-axis"))
    inputs, outputs = quantity_ports(eqs.names, "forward_dynamics", list(eqs.parameters))
    tape = record_tape(eqs.function("forward_dynamics"), inputs, outputs)
    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    programs = [ResidueProgram(tape, [names[port.name] for port in tape.inputs]) for _ in range(2)]
    assert difference_degree_bound(programs) < 2**20
