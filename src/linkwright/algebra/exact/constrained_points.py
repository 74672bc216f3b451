"""Points modulo a prime that satisfy constraints: random angles, and the lengths that close loops.

Loop closures are linear in each length, translation and time. As many of these as there are
independent equations are computed from the rest, so that all closed positions of all such
mechanisms can occur. The constraints are linear in the velocities, which are computed in the same
way. A computed value is a quotient of determinants in the random values; the degree of a function
of it is at most the product of both degrees (`solution_degree`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, islice

from ...errors import UnsupportedError
from .elimination import rank_modulo, solve_modulo
from .modular_arithmetic import BadPointError
from .residue_programs import RandomResiduePoint, ResidueProgram

MAX_CHOICES = 40
ModularResidualFunction = Callable[[Mapping[str, int]], list[int]]


def close_modulo_prime(
    free: Mapping[str, int], residual: ModularResidualFunction, p: int
) -> dict[str, int]:
    """New nonzero values of some free quantities for which the residual vanishes modulo p."""
    start = residual({})
    if not any(start):
        return {}
    slopes = {
        name: column
        for name in free
        if (column := _linear_coefficients_modulo(name, free[name], residual, start, p))
    }
    rank = rank_modulo(list(slopes.values()), p)
    for chosen in islice(combinations(slopes, rank), MAX_CHOICES if rank else 0):
        rows = list(zip(*(slopes[name] for name in chosen), strict=True))
        steps = solve_modulo(rows, [-x for x in start], p)
        if steps is None:
            continue
        found = {name: (free[name] + x) % p for name, x in zip(chosen, steps, strict=True)}
        if all(found.values()) and not any(residual(found)):
            return found
    raise UnsupportedError(
        "no lengths were found with which the loops close at random angles",
        remedy="give the lengths names in the mechanism",
    )


def _linear_coefficients_modulo(
    name: str, value: int, residual: ModularResidualFunction, start: Sequence[int], p: int
) -> list[int] | None:
    """The column ∂φ/∂name, or None if φ is not linear in the name or does not depend on it."""
    try:
        one, two = (residual({name: (value + k) % p}) for k in (1, 2))
    except BadPointError:
        return None
    first = [(b - a) % p for a, b in zip(start, one, strict=True)]
    second = [(b - a) % p for a, b in zip(one, two, strict=True)]
    return first if first == second and any(first) else None


class ResiduePointConstraints:
    """Makes random points satisfy constraints, given as programs.

    `residual` is φ, `jacobian` J and `velocity` V = J q̇ − b; `speeds` are the names of q̇.
    """

    def __init__(
        self,
        residual: ResidueProgram | None,
        jacobian: ResidueProgram,
        velocity: ResidueProgram,
        speeds: Sequence[str],
    ) -> None:
        self.residual, self.jacobian, self.velocity = residual, jacobian, velocity
        self.velocity_names = list(speeds)
        self.programs = [x for x in (residual, jacobian, velocity) if x is not None]

    def solution_degree(self) -> int:
        """The degree of the computed values in the random ones, from those of the programs."""
        of = {id(program): max(1, _residue_program_degree(program)) for program in self.programs}
        J, V = of[id(self.jacobian)], of[id(self.velocity)]
        rows = self.jacobian.tape.outputs[0].shape[0]
        speeds = (min(rows, len(self.velocity_names)) + 1) * max(J, V)
        if self.residual is None:
            return speeds
        closures = self.residual.tape.outputs[0].size
        return speeds * (closures + 1) * of[id(self.residual)]

    def __call__(self, point: RandomResiduePoint) -> None:
        """Sets lengths, translations, time and velocities of the point."""
        if self.residual is not None:
            self._close_point_modulo_prime(point, self.residual)
        (J,) = self.jacobian.evaluate_residues_at(point)
        (V,) = self.velocity.evaluate_residues_at(point)
        width = len(self.velocity_names)
        rows = [J[k : k + width] for k in range(0, len(J), width)]
        steps = solve_modulo(rows, [-x for x in V], point.prime)
        if steps is None:
            raise BadPointError("no velocities that the constraints allow")
        for name, step in zip(self.velocity_names, steps, strict=True):
            point.fixed_inputs[name] = (point.symbol(name) + step) % point.prime

    def _close_point_modulo_prime(self, point: RandomResiduePoint, program: ResidueProgram) -> None:
        """Sets lengths, translations and time of the point such that the loops close."""
        angles = {
            program.input_names.get(leaf)
            for angle in program.degree_bounds.angle_combinations.values()
            for leaf in angle
        }
        names = dict.fromkeys(program.input_names.values())
        free = {
            name: point.symbol(name)
            for name in names
            if name not in angles and name not in point.fixed_inputs
        }

        def residual_modulo_prime(given: Mapping[str, int]) -> list[int]:
            before = dict(point.fixed_inputs)
            point.fixed_inputs |= given
            try:
                return program.evaluate_residues_at(point)[0]
            finally:
                point.fixed_inputs = before

        point.fixed_inputs |= close_modulo_prime(free, residual_modulo_prime, point.prime)


def _residue_program_degree(program: ResidueProgram) -> int:
    """The largest degree, numerator plus denominator, of the outputs of a program."""
    bounds = program.degree_bounds
    return max(
        (sum(bounds.total_degrees(int(k))) for result in program.tape.results for k in result),
        default=0,
    )
