"""True equations of a subject: textbook ones, definitions of names, equations of motion."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, permutations

from tests.references.equation_judge import (
    Equation,
    Pow,
    Var,
    num,
    parse_equation,
    product_of,
    sum_of,
)
from tests.references.polynomial_vectors import dot
from tests.references.reference_mechanics import Reference
from tests.references.trig_polynomials import Poly, var

from .subjects import Subject

MOST_TERMS = 60


def name_pool(subject: Subject) -> list[str]:
    """Names of quantities that have an expression."""
    r = subject.reference
    n, bodies = len(r.u), len(r.bodies)
    pool = ["K", "T", "V", "P", "U", "L", "E"]
    span = [str(i + 1) for i in range(n)]
    pool += [f"{stem}{i}" for stem in ("g", "G", "phi", "p", "dp") for i in span]
    pool += [f"{stem}{i}{j}" for stem in ("M", "D", "d") for i in span for j in span]
    if r.has_rates:
        pool += [f"C{i}{j}" for i in span for j in span]
    if r.has_rates and n < 4:
        pool += [f"c{i}{j}{k}" for i in span for j in span for k in span]
        pool += [f"M{i}{j}_{q}" for i in span for j in span for q in r.coordinates]
    if r.has_rates:
        for q in r.coordinates:
            pool += [f"L_{q}", f"V_{q}", f"L_d{q}", f"dL_d{q}", f"T_{q}", f"T_d{q}"]
    for k in range(bodies):
        pool += [f"{x}{k + 1}" for x in ("K", "V", "x", "y", "dx", "dy", "ddx", "w", "v")]
        pool += [f"J{x}{k + 1}{i}" for x in "xyw" for i in span]
    pool += [f"f{i + 1}" for i in range(len(r.positions))]
    pool += [f"J{i + 1}{j}" for i in range(len(r.constraint_rows)) for j in span]
    withheld = tuple(subject.withheld)
    return [
        name
        for name in dict.fromkeys(pool)
        if name not in r.own
        and ("_" not in name or name.partition("_")[0].removeprefix("d") not in r.own)
        and name not in withheld
        and not is_of(name, withheld)
    ]


def is_of(name: str, stems: tuple[str, ...]) -> bool:
    """Whether a name is an index of one of these stems."""
    return any(name.startswith(x) and name[len(x) :].isdigit() for x in stems)


def definitions(subject: Subject) -> Iterator[Equation]:
    for name in name_pool(subject):
        try:
            found = subject.reference.quantity(name)
        except (KeyError, ValueError):
            continue
        if len(found.terms) > MOST_TERMS:
            continue
        if name[0] == "v" and name[1:].isdigit():
            speed = subject.reference.velocity(int(name[1:]) - 1)
            yield Pow(Var(name), num(2)), dot(speed, speed).node()
            continue
        yield Var(name), found.node()


def motion_rows(subject: Subject) -> Iterator[Equation]:
    """Equations of motion: row by row, or, with constraints, without multipliers."""
    r = subject.reference
    n = len(r.constraint_rows)
    if not n:
        for i in range(len(r.u)):
            yield named_drives(r, r.applied(i)).node(), r.row(i).node()
        return
    for row in r.constraint_rows:
        yield row.node(), num(0)
        yield r.rate(row).node(), num(0)
    for position in r.positions:
        yield position.node(), num(0)
    for direction in free_directions(r):
        left = sum(
            (x * (r.row(i) - named_drives(r, r.applied(i))) for i, x in direction.items()), Poly()
        )
        yield left.node(), num(0)
    if "lambda" not in subject.withheld:
        for i in range(len(r.u)):
            if any({f"J{k + 1}{i + 1}", f"lambda{k + 1}"} & r.parameters.keys() for k in range(n)):
                continue
            forces = [named_drives(r, r.applied(i)).node()]
            forces += [
                product_of([Var(f"J{k + 1}{i + 1}"), Var(f"lambda{k + 1}")]) for k in range(n)
            ]
            yield r.row(i).node(), sum_of(forces)


def named_drives(r: Reference, x: Poly) -> Poly:
    """With drives under the names that texts use."""
    names = {symbol: name for name, symbol in reversed(r.own.items())}
    for drive in r.drives:
        if drive in x.names():
            x = x.substitute(drive, var(names[drive]))
    return x


def free_directions(r: Reference) -> Iterator[dict[int, Poly]]:
    """Directions that the constraints allow, as polynomials."""
    rows = [[row.derivative(u) for u in r.u] for row in r.constraint_rows]
    n, m = len(r.u), len(rows)
    if explicit := explicit_columns(rows):
        for j in set(range(n)) - set(explicit):
            yield {j: Poly() + 1} | {
                c: -(row[j] * row[c]) for row, c in zip(rows, explicit, strict=True) if row[j]
            }
        return
    if m > 2 or n > 4:
        return
    for columns in combinations(range(n), m + 1):
        direction = {
            c: minor(rows, [x for x in columns if x != c]) * (-1) ** k
            for k, c in enumerate(columns)
        }
        if any(direction.values()):
            yield direction


def explicit_columns(rows: list[list[Poly]]) -> list[int]:
    """For each constraint a speed that stands there alone, with the factor ±1; [] if one has none."""
    found = []
    for row in rows:
        own = [
            j
            for j, x in enumerate(row)
            if x in (Poly() + 1, Poly() - 1) and sum(bool(other[j]) for other in rows) == 1
        ]
        if not own:
            return []
        found.append(own[0])
    return found


def minor(rows: list[list[Poly]], columns: list[int]) -> Poly:
    """A determinant by permutations."""
    total = Poly()
    for order in permutations(range(len(columns))):
        sign = 1
        for a, b in combinations(order, 2):
            sign = -sign if a > b else sign
        part = Poly() + sign
        for row, k in zip(rows, order, strict=True):
            part = part * row[columns[k]]
        total = total + part
    return total


def relations(subject: Subject) -> Iterator[Equation]:
    """Relations among names: L = T − V, energies by the mass matrix, Lagrange's equations."""
    r = subject.reference
    n = len(r.u)
    own = r.own
    if not {"L", "T", "V", "E", "K"} & own.keys():
        yield parse_equation("L = T - V")
        yield parse_equation("E - 2*V = L")
    span = range(1, n + 1)
    taken = any(f"M{i}{j}" in own for i in span for j in span)
    if not taken and "T" not in own:
        yield (
            Var("T"),
            parse_equation(
                "x = 1/2*("
                + " + ".join(f"M{i}{j}*{r.u[i - 1]}*{r.u[j - 1]}" for i in span for j in span)
                + ")"
            )[1],
        )
    if not r.constraint_rows and r.has_rates and not r.forces and not taken:
        for i, q in enumerate(r.coordinates, 1):
            drive = named_drives(r, r.applied(i - 1)).node()
            inertia = " + ".join(f"M{i}{j}*{r.a[j - 1]} + C{i}{j}*{r.u[j - 1]}" for j in span)
            if "V" not in own and not any(f"C{i}{j}" in own for j in span):
                yield drive, parse_equation(f"x = {inertia} + V_{q}")[1]
            if "L" not in own:
                yield drive, parse_equation(f"x = dL_d{q} - L_{q}")[1]


def true_equations(subject: Subject) -> list[Equation]:
    """All of them."""
    found = [parse_equation(text) for text in subject.textbook]
    found += list(definitions(subject))
    if "motion" not in subject.withheld:  # forces that are no polynomials, such as friction
        found += list(relations(subject))
        found += [pair for pair in motion_rows(subject) if size(pair) <= MOST_TERMS]
    return found


def size(equation: Equation) -> int:
    return sum(len(side.terms) if hasattr(side, "terms") else 1 for side in equation)


def sample(subject: Subject, draw: random.Random, count: int) -> list[Equation]:
    """Some, so that textbook equations and those of motion are not lost among definitions."""
    every = true_equations(subject)
    if len(every) <= count:
        return every
    return draw.sample(every, count)
