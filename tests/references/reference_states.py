"""Random states of reference mechanisms that obey their constraints, in balls. Nothing of the library.

Loops are closed by Newton's method to some hundred digits, speeds are projected on what the
constraints allow, and accelerations and multipliers solve the equations of motion for random drives.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

import flint

from .equation_judge import Value, evaluate, parse
from .reference_mechanics import Reference
from .trig_polynomials import Poly, ball

ROUNDS = 60
CLOSED = flint.arb("1e-100")
MARGIN = flint.arb("1e-95")  # of a position that Newton's method has found


class NoStateError(ArithmeticError):
    """Newton's method did not close the loops."""


class State:
    """The values of all names of a reference at one state."""

    def __init__(self, reference: Reference, values: dict[str, Value]) -> None:
        self.reference = reference
        self.values = values
        self.known: dict[str, Value] = {}

    def __call__(self, name: str) -> Value:
        """A ball; KeyError where the name has no meaning."""
        if name not in self.known:
            self.known[name] = self.reference.quantity(name)(self.symbol)
        return self.known[name]

    def symbol(self, name: str) -> Value:
        return self.values[name]

    def of(self, x: Poly) -> Value:
        return x(self.symbol)


Bound = Mapping[str, str | Fraction]


def random_state(
    reference: Reference, seed: object, bound: Bound | None = None, *, anchor: object = None
) -> State:
    """A state of random parameters, motion and drives.

    `bound` gives parameters and drives values, or text of other parameters; `anchor` is the seed of
    the parameters where several states shall share them.
    """
    for attempt in range(40):
        draw = random.Random(f"{seed} {attempt}")
        constants = draw if anchor is None else random.Random(f"{anchor} {attempt}")
        state = State(reference, random_parameters(reference, constants, bound or {}))
        try:
            place(state, draw)
        except (NoStateError, ZeroDivisionError):
            continue
        move(state, draw, bound or {})
        if all(x.is_finite() for x in state.values.values()):
            return state
    raise NoStateError("no state was found that closes the loops")


def between(draw: random.Random, low: float, high: float) -> Value:
    """A random number of six digits."""
    return ball(Fraction(round(draw.uniform(low, high) * 10**6), 10**6))


def random_parameters(reference: Reference, draw: random.Random, bound: Bound) -> dict[str, Value]:
    """Within a few per cent of the declared values where loops must close, else anything."""
    spread = 0.04 if reference.positions else 0.5
    values: dict[str, Value] = {}

    def value(name: str) -> Value:
        if name not in values:
            said = reference.parameters[name]
            size = evaluate(parse(said), value) if isinstance(said, str) else ball(said)
            values[name] = (size if size.contains(0) is False else size + 1) * between(
                draw, 1 - spread, 1 + spread
            )
        return values[name]

    for name, said in bound.items():
        if name in reference.parameters and isinstance(said, Fraction):
            values[name] = ball(said)
    for name in reference.parameters:
        value(name)
    made = {
        x: parse(t) for x, t in bound.items() if x in reference.parameters and isinstance(t, str)
    }
    for _ in made:  # what is made of others, which may be made of others
        for name, tree in made.items():
            values[name] = evaluate(tree, lambda other: values[other])
    return values


def place(state: State, draw: random.Random) -> None:
    """Coordinates and time, with loops closed."""
    reference = state.reference
    spread = 0.3 if reference.positions else 2.5
    state.values["t"] = between(draw, 0.1, 0.5)
    for name in reference.coordinates:
        start = reference.start.get(name, 0.0)
        state.values[name] = between(draw, start - spread, start + spread)
    for names in reference.units:
        length = sum((state.values[name] ** 2 for name in names), flint.arb(0)).sqrt()
        state.values |= {name: state.values[name] / length for name in names}
    if reference.positions:
        close(state)


def close(state: State) -> None:
    """Newton's method with the shortest steps."""
    reference, names = state.reference, list(state.reference.coordinates)
    slopes = [[x.derivative(name) for name in names] for x in reference.positions]
    for _ in range(ROUNDS):
        error = flint.arb_mat([[state.of(x)] for x in reference.positions])
        if all(abs(x) < CLOSED for x in error.entries()):
            break
        J = flint.arb_mat([[state.of(x) for x in row] for row in slopes])
        step = J.transpose() * (J * J.transpose()).solve(error)
        for i, name in enumerate(names):
            state.values[name] = (state.values[name] - step[i, 0]).mid()
            if not abs(state.values[name]) < 100:
                raise NoStateError("Newton's method ran away")
    else:
        raise NoStateError("Newton's method did not converge")
    start = reference.start
    if any(abs(state.values[n] - ball(Fraction(start.get(n, 0)))) > 1 for n in names if n in start):
        raise NoStateError("another branch")
    for name in names:
        state.values[name] = flint.arb(state.values[name], MARGIN)


def move(state: State, draw: random.Random, bound: Bound) -> None:
    """Speeds that the constraints allow; accelerations and multipliers that follow from drives."""
    reference = state.reference
    for name in reference.u:
        state.values[name] = between(draw, -2, 2)
    for name in reference.drives:
        state.values[name] = between(draw, -5, 5)
    for name in bound:
        symbol = reference.own.get(name, name)
        if symbol in reference.drives:
            state.values[symbol] = flint.arb(0)
    rows = reference.constraint_rows
    J = flint.arb_mat(len(rows), len(reference.u))
    for k, row in enumerate(rows):
        for j, name in enumerate(reference.u):
            J[k, j] = state.of(row.derivative(name))
    if rows:
        error = flint.arb_mat([[state.of(row)] for row in rows])
        step = J.transpose() * (J * J.transpose()).solve(error)
        for i, name in enumerate(reference.u):
            state.values[name] -= step[i, 0]
    accelerate(state, J)


def accelerate(state: State, J: flint.arb_mat) -> None:
    """Solves M q̈ − Jᵀλ = B u − h, J q̈ = γ."""
    reference, a = state.reference, state.reference.a
    state.values |= {name: flint.arb(0) for name in a}
    n, m = len(a), len(reference.constraint_rows)
    left, right = flint.arb_mat(n + m, n + m), flint.arb_mat(n + m, 1)
    for i in range(n):
        right[i, 0] = state.of(reference.applied(i)) - state.of(reference.row(i))
        for j in range(n):
            left[i, j] = state.of(reference.row(i).derivative(a[j]))
        for k in range(m):
            left[n + k, i], left[i, n + k] = J[k, i], -J[k, i]
    for k, row in enumerate(reference.constraint_rows):
        right[n + k, 0] = -state.of(reference.rate(row))
    found = left.solve(right)
    state.values |= {name: found[i, 0] for i, name in enumerate(a)}
    state.values |= {f"lambda#{k + 1}": found[n + k, 0] for k in range(m)}
