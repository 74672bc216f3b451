"""The arguments of sin and cos on a tape, and the angles of which they consist.

A form is an angle as a sum of rational multiples of monomials in the inputs: q1 + q2, or ratio·q1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from ...tape import OPERATION_ARITY, Op, Tape
from .degree_bounds import RATIONAL_OPS, TRIGONOMETRIC_OPS

SymbolMonomial = tuple[tuple[str, int], ...]
ExactAngle = tuple[tuple[SymbolMonomial, Fraction], ...]
ExactAngleTable = dict[ExactAngle, tuple[int, ...]]
_ExactTermSum = dict[SymbolMonomial, Fraction]

_POLYNOMIAL_OPS = {Op.CONSTANT, Op.INPUT} | RATIONAL_OPS | TRIGONOMETRIC_OPS
MAX_ANGLE_TERMS = 32


def exact_angle(multiples: Mapping[str, int | Fraction]) -> ExactAngle:
    """The form Σ multiple · name."""
    terms = {((name, 1),): Fraction(m) for name, m in multiples.items() if m}
    return tuple(sorted(terms.items()))


def exact_trig_arguments(
    tape: Tape, names: Sequence[Sequence[str | None]], exact: Mapping[str, Fraction]
) -> list[ExactAngle | None]:
    """The forms of the arguments of sin, cos and tan, in order; None for one without a form."""
    ops, args = tape.ops.tolist(), tape.args.tolist()
    asked = [args[k][0] for k, op in enumerate(ops) if op in TRIGONOMETRIC_OPS]
    return exact_angles_on_tape(tape, names, asked, exact)


def exact_angles_on_tape(
    tape: Tape,
    names: Sequence[Sequence[str | None]],
    asked: Sequence[int],
    exact: Mapping[str, Fraction] | None = None,
) -> list[ExactAngle | None]:
    """The forms of the values `asked` of a tape, or None; an input without a name is zero."""
    ops, args = tape.ops.tolist(), tape.args.tolist()
    needed = set(asked)
    for k in range(len(ops) - 1, -1, -1):
        if k in needed and ops[k] > Op.INPUT:
            needed.update(args[k][: OPERATION_ARITY[Op(ops[k])]])
    values: dict[int, _ExactTermSum | None] = {}
    for k in sorted(needed):
        op = Op(ops[k])
        if op is Op.INPUT:
            name = names[args[k][0]][args[k][1]]
            values[k] = {} if name is None else _exact_symbol_terms(name, exact or {})
        elif op is Op.CONSTANT:
            values[k] = _drop_zero_exact_terms({(): Fraction(tape.constants.item(k))})
        else:
            values[k] = _apply_to_exact_terms(
                op, [values[i] for i in args[k][: OPERATION_ARITY[op]]]
            )
    found = (values[k] for k in asked)
    return [None if value is None else tuple(sorted(value.items())) for value in found]


def _exact_symbol_terms(name: str, exact: Mapping[str, Fraction]) -> _ExactTermSum:
    """The terms of a named input: the name itself, or its `exact` value."""
    return (
        _drop_zero_exact_terms({(): exact[name]}) if name in exact else {((name, 1),): Fraction(1)}
    )


def _drop_zero_exact_terms(terms: _ExactTermSum) -> _ExactTermSum:
    """The sum without terms whose coefficient is zero."""
    return {monomial: c for monomial, c in terms.items() if c}


def _apply_to_exact_terms(op: Op, operands: Sequence[_ExactTermSum | None]) -> _ExactTermSum | None:
    """The sum after an operation; None if the result is not a form or is too long."""
    a, b = operands[0], operands[-1]
    if a is None or b is None or any(o is None or len(o) > MAX_ANGLE_TERMS for o in operands):
        return None
    match op:
        case Op.ADD:
            return _add_exact_terms(a, b, 1)
        case Op.SUB:
            return _add_exact_terms(a, b, -1)
        case Op.NEG:
            return {m: -c for m, c in a.items()}
        case Op.MUL:
            return _multiply_exact_terms(a, b)
        case Op.DIV if set(b) == {()}:
            return {m: c / b[()] for m, c in a.items()}
        case _:
            return None


def _add_exact_terms(a: _ExactTermSum, b: _ExactTermSum, sign: int) -> _ExactTermSum:
    """The sum a + sign · b."""
    total = dict(a)
    for monomial, c in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + sign * c
    return _drop_zero_exact_terms(total)


def _multiply_exact_terms(a: _ExactTermSum, b: _ExactTermSum) -> _ExactTermSum:
    """The product of two sums."""
    total: _ExactTermSum = {}
    for one, c in a.items():
        for other, d in b.items():
            powers = dict(one)
            for name, power in other:
                powers[name] = powers.get(name, 0) + power
            key = tuple(sorted(powers.items()))
            total[key] = total.get(key, Fraction(0)) + c * d
    return _drop_zero_exact_terms(total)


def count_opaque_generators(tape: Tape, asked: Sequence[ExactAngle | None]) -> int:
    """The largest number of generators that functions other than polynomials need."""
    ops, args = tape.ops.tolist(), tape.args.tolist()
    others: int = sum(op not in _POLYNOMIAL_OPS for op in ops)
    others += 2 * sum(form is None for form in asked)
    if not others:
        return 0
    divisors = [a[1] for op, a in zip(ops, args, strict=True) if op == Op.DIV]
    others += sum(ops[k] != Op.CONSTANT for k in divisors)
    return others


# -- lattices ------------------------------------------------------------------------------


def exact_angle_lattice(
    preferred: Sequence[ExactAngle], asked: Sequence[ExactAngle]
) -> tuple[list[ExactAngle], ExactAngleTable]:
    """Angles of which all forms `asked` are integer combinations, and these integers.

    The angles are those `preferred` that occur, divided where fractions of them occur, and further
    ones where these do not suffice.
    """
    angles, wanted = list(preferred), list(dict.fromkeys(asked))
    found = exact_angle_combinations(wanted, angles)
    while None in found:
        angles.append(wanted[found.index(None)])
        found = exact_angle_combinations(wanted, angles)
    rows = [row for row in found if row is not None]
    parts = [lcm(*(row[k].denominator for row in rows)) for k in range(len(angles))]
    used = [k for k in range(len(angles)) if any(row[k] for row in rows)]
    chosen: list[ExactAngle] = [tuple((m, c / parts[k]) for m, c in angles[k]) for k in used]
    table = {
        form: tuple(int(row[k] * parts[k]) for k in used)
        for form, row in zip(wanted, rows, strict=True)
    }
    return chosen, table


def exact_angle_combinations(
    wanted: Sequence[ExactAngle], angles: Sequence[ExactAngle]
) -> list[list[Fraction] | None]:
    """The rationals n with form = Σ n·angle for each wanted form, or None if there are none.

    Angles that depend on earlier ones get 0. One elimination solves for all forms.
    """
    columns = [dict(form) for form in (*angles, *wanted)]
    monomials = dict.fromkeys(m for column in columns for m in column)
    zero = Fraction(0)
    rows = [[column.get(m, zero) for column in columns] for m in monomials]
    pivots: list[int] = []
    for k in range(len(angles)):
        top = len(pivots)
        at = next((r for r in range(top, len(rows)) if rows[r][k]), None)
        if at is None:
            continue
        rows[top], rows[at] = rows[at], rows[top]
        lead = rows[top][k]
        pivot = rows[top] = [x / lead if x else x for x in rows[top]]
        for r, row in enumerate(rows):
            if r != top and (factor := row[k]):
                rows[r] = [x - factor * y if y else x for x, y in zip(row, pivot, strict=True)]
        pivots.append(k)
    found: list[list[Fraction] | None] = []
    for column in range(len(angles), len(columns)):
        if any(row[column] for row in rows[len(pivots) :]):
            found.append(None)
            continue
        multiples = [zero] * len(angles)
        for row, k in zip(rows, pivots, strict=False):
            multiples[k] = row[column]
        found.append(multiples)
    return found
