"""Tapes modulo a prime at random points, to prove that two programs are the same function.

A value is a number modulo p. Inputs are random numbers; inside sin and cos they are also angles,
each a random rational point of the circle,

    c = (1 − t²)/(1 + t²),   s = 2t/(1 + t²).

Sums of angles are products of such points, so that cos(q₁ + q₂) and sin 2q are exact. Four inputs
that form a unit quaternion are a random rational point of the sphere. An angle that is not a
rational combination of inputs is a point of its own, the same wherever its value is the same; so is
the value of a function that is not rational (sqrt, sign, exp). What holds for any numbers in those
places holds for the actual ones; a difference there leaves the answer undecided. Square roots are
true roots where that is needed and their signs do not matter
(`_count_independent_roots_modulo_prime`).

Two different rational functions of degree d agree at a random point with probability d/p at most
(Schwartz, Zippel). `degree_bounds` computes d from the tapes; the prime and the number of points
follow from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm, log2

from ...errors import UnsupportedError
from ...tape import Op, Tape
from .constrained_points import ResiduePointConstraints
from .modular_arithmetic import BadPointError, schwartz_zippel_chance
from .residue_programs import RandomResiduePoint, ResidueProgram

MERSENNE_EXPONENTS = (61, 89, 107, 127, 521, 607, 1279, 2203, 3217, 4423, 9689, 19937)
"""Exponents of Mersenne primes 2ⁿ − 1, on which −1 has no root: 1 + t² is never zero."""

MAX_POINT_TRIES = 20
SURVEYED_POINTS = 32
MAX_SQUARE_ROOTS = 10


@dataclass(frozen=True)
class ModularVerdict:
    """Whether two programs agree, entry by entry.

    Either `is_identical`, with the `chance_of_error`, or there are `differing_entries`, which is
    certain. If `is_undecided`, functions that are not rational prevent a decision.
    """

    is_identical: bool
    chance_of_error: float
    points: int
    exponent: int
    degree: int
    differing_entries: tuple[str, ...] = ()
    is_undecided: bool = False

    def __str__(self) -> str:
        if self.is_undecided:
            return "undecided modulo a prime"
        if not self.is_identical:
            return f"different: {', '.join(self.differing_entries)}"
        sure = f"below 2^{log2(self.chance_of_error):.0f}" if self.chance_of_error else "zero"
        count = f"{self.points} point{'s' * (self.points != 1)}"
        return (
            f"identical, proved modulo 2^{self.exponent} − 1 at {count} "
            f"(degree {self.degree} at most, chance of an error {sure})"
        )


def compare_tapes_modulo_prime(
    one: Tape,
    other: Tape,
    entries: Sequence[Sequence[str]],
    chance: float = 2.0**-50,
    unit: Sequence[Sequence[str]] = (),
    obeying: ResiduePointConstraints | None = None,
    numbers: Mapping[str, Fraction] | None = None,
) -> ModularVerdict:
    """Compares all outputs of two tapes with equally named inputs, entry by entry.

    `unit` names groups of inputs that are unit quaternions. `obeying` makes points that satisfy
    constraints; the programs then need to agree only there. `numbers` are inputs that stand for
    rational numbers.
    """
    programs = [ResidueProgram(tape, entries, numbers) for tape in (one, other)]
    degree = difference_degree_bound(programs, unit, obeying)
    verdict = _compare_residue_programs(programs, degree, chance, unit, None, obeying)
    if obeying is not None:
        return verdict
    if verdict.is_undecided and (count := _count_independent_roots_modulo_prime(programs, unit)):
        return _compare_residue_programs(
            programs, degree * 4**count, chance, unit, MAX_SQUARE_ROOTS
        )
    return verdict


def _compare_residue_programs(
    programs: Sequence[ResidueProgram],
    degree: int,
    chance: float,
    unit: Sequence[Sequence[str]],
    roots: int | None,
    obeying: ResiduePointConstraints | None = None,
) -> ModularVerdict:
    """The verdict from as many random points as the chance of error demands."""
    exponent, points = _choose_prime_and_points(degree, chance)
    for k in range(points):
        _, found = _evaluate_residue_programs(programs, exponent, k, unit, roots, obeying)
        differing = tuple(_differing_residue_entries(programs[0].tape, *found))
        if differing:
            known = set() if roots is None else {Op.SQRT}
            unknown = any(
                program.degree_bounds.irrational_functions - known for program in programs
            )
            return ModularVerdict(
                False, 0.0, k + 1, exponent, degree, differing, is_undecided=unknown
            )
    wrong = schwartz_zippel_chance(max(1, degree), 2**exponent - 1) ** points
    return ModularVerdict(True, wrong, points, exponent, degree)


def _count_independent_roots_modulo_prime(
    programs: Sequence[ResidueProgram], unit: Sequence[Sequence[str]]
) -> int | None:
    """The number of different square roots, or None if they are not independent.

    They are if no product of radicands is a square in the field of the roots inside them. Then all
    roots together generate a field, and an identity that holds for some signs of the roots holds
    for all signs, hence for the positive roots. A product without a root at some point is not a
    square.
    """
    depth = max((n for p in programs for n in p.degree_bounds.root_levels.values()), default=-1)
    count = 0
    for level in range(depth + 1):
        signs = list(_survey_radicands_modulo_prime(programs, unit, level))
        width = len(signs[0]) if signs else 0
        if len(signs) < SURVEYED_POINTS or width > MAX_SQUARE_ROOTS:
            return None
        for subset in (s for n in range(1, width + 1) for s in combinations(range(width), n)):
            if not any(sum(not row[k] for k in subset) % 2 for row in signs):
                return None
        count += width
    return count if 0 < count <= MAX_SQUARE_ROOTS else None


def _survey_radicands_modulo_prime(
    programs: Sequence[ResidueProgram], unit: Sequence[Sequence[str]], level: int
) -> Iterator[list[bool]]:
    """For each point, whether the radicands of a level have roots; those inside all have."""
    kept: list[int] = []
    for number in range(SURVEYED_POINTS):
        try:
            point, _ = _evaluate_residue_programs(
                programs, MERSENNE_EXPONENTS[0], 1000 + number, unit, level
            )
        except UnsupportedError:
            return
        own = [(x, exists) for depth, x, exists in point.radicands if depth == level]
        if number == 0:
            known = [x for depth, x, _ in point.radicands if depth < level]
            values = [x for x, _ in own]
            kept = [k for k, x in enumerate(values) if x not in (*known, *values[:k])]
        yield [own[k][1] for k in kept]


def difference_degree_bound(
    programs: Sequence[ResidueProgram],
    unit: Sequence[Sequence[str]] = (),
    obeying: ResiduePointConstraints | None = None,
) -> int:
    """A bound on the degree of all differences of outputs in the parameters of random points.

    A polynomial of degree d in n cosines and sines has degree 2 n d in their tangents. Points and
    unknown functions that are distinguished by their values add the chance that these coincide.
    """
    every = [*programs, *(obeying.programs if obeying is not None else ())]
    parts = lcm(*(program.degree_bounds.angle_parts for program in every))
    for program in every:
        program.degree_bounds.compute_degrees(parts)
    one, other = (program.degree_bounds for program in programs)
    degree = 0
    for a, b in zip(*(program.tape.results for program in programs), strict=True):
        for x, y in zip(a.tolist(), b.tolist(), strict=True):
            (top, below), (top_2, below_2) = one.total_degrees(x), other.total_degrees(y)
            degree = max(degree, top + below_2, top_2 + below)
    arguments = one.argument_degrees + other.argument_degrees
    angles = {
        program.input_names.get(leaf, (k, leaf))
        for k, program in enumerate(every)
        for angle in program.degree_bounds.angle_combinations.values()
        for leaf in angle
    }
    coincidences = len(arguments) ** 2 * max(arguments, default=0)
    reckoned = obeying.solution_degree() if obeying is not None else 1
    return (degree + coincidences) * reckoned * (2 * (len(angles) + len(unit)) + 1)


def _choose_prime_and_points(degree: int, chance: float) -> tuple[int, int]:
    """The exponent of the Mersenne prime and the number of points with the least cost."""
    wanted = -log2(chance)
    choices = []
    for exponent in MERSENNE_EXPONENTS:
        each = exponent - log2(max(1, degree))
        if each >= 8:
            points = max(1, int(-(-wanted // each)))
            choices.append((points * (300 + exponent), exponent, points))
    if not choices:
        raise UnsupportedError(
            "the degree is beyond all fields", remedy="compare without divisions: M and bias"
        )
    _, exponent, points = min(choices)
    return exponent, points


def _evaluate_residue_programs(
    programs: Sequence[ResidueProgram],
    exponent: int,
    number: int,
    unit: Sequence[Sequence[str]],
    roots: int | None,
    obeying: ResiduePointConstraints | None = None,
) -> tuple[RandomResiduePoint, list[list[list[int]]]]:
    """A random point at which all programs have values, and these values."""
    tries = MAX_POINT_TRIES << (MAX_SQUARE_ROOTS if roots else 0)
    for attempt in range(tries):
        point = RandomResiduePoint(
            2**exponent - 1, tries * number + attempt, programs[0].degree_bounds.angle_parts, roots
        )
        try:
            for names in unit:
                point.fix_unit_quaternion(names)
            if obeying is not None:
                obeying(point)
            return point, [program.evaluate_residues_at(point) for program in programs]
        except BadPointError:
            continue
    raise UnsupportedError("no point was found at which both can be evaluated")


def _differing_residue_entries(
    tape: Tape, one: list[list[int]], other: list[list[int]]
) -> Iterator[str]:
    """The labels of the output entries whose values differ."""
    for port, a, b in zip(tape.outputs, one, other, strict=True):
        for k, (x, y) in enumerate(zip(a, b, strict=True)):
            if x != y:
                yield f"{port.name}[{k + 1}]"
