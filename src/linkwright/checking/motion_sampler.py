"""Motions at random points, modulo a prime or real, and the values of names there.

Without constraints q, q̇, q̈ are free and the drives follow; where drives are said to be absent,
or are fewer than degrees of freedom, the drives are free and q̈ follows. With constraints,
velocities are those that they allow, and drives are free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import casadi as ca

from ..algebra.exact.constrained_points import close_modulo_prime
from ..algebra.exact.elimination import solve_exact_system
from ..algebra.exact.modular_arithmetic import BadPointError
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residues import FIELD_PRIME, Residue, combine_residue_marks
from ..algebra.exact.tape_algebra import (
    add_algebra_values,
    evaluate_expression_in_algebra,
    evaluate_tape_in_algebra,
)
from ..errors import UnsupportedError
from ..expressions import ZERO, ExactNumber, Expression, PiMultiple
from ..forms.known_conditions import decide_parameter_conditions
from ..mechanism import quaternion_coordinate_offsets
from ..tape import Op, Tape
from .angle_closing import AngleClosing
from .vocabulary import CheckerVocabulary

OPEN_LOOPS_REASON = (
    "its loops could not be closed exactly at random points, which a proof needs: neither lengths, "
    "slides and the time nor pairs of angles follow from the rest"
)
"""As for a Stewart platform, whose legs have a length and two angles each: twelve roots."""


@dataclass(frozen=True)
class CheckAssumptions:
    """Assumed values of parameters, and actuator efforts that are zero. Where `is_free`, the
    motion obeys neither the equations of motion nor the constraints; where `leaves_loops_open`, it
    obeys the equations of motion with any multipliers."""

    parameter_values: Mapping[str, Expression | ExactNumber] = field(default_factory=dict)
    absent_efforts: frozenset[str] = frozenset()
    is_free: bool = False
    leaves_loops_open: bool = False

    def __str__(self) -> str:
        from ..expressions import expression_text
        from ..expressions.tree import Name, Number, Product

        def text(value: object) -> str:
            if isinstance(value, PiMultiple):
                return expression_text(Product((Number(value.coefficient), Name("pi"))))
            return expression_text(Number(value) if isinstance(value, Fraction) else value)  # type: ignore[arg-type]

        parts = [f"{name} = {text(value)}" for name, value in self.parameter_values.items()]
        parts += [f"{name} = 0" for name in sorted(self.absent_efforts)]
        return ", ".join(parts)


class ProofMotionSampler:
    """Values of the wanted names on random motions."""

    def __init__(
        self, vocabulary: CheckerVocabulary, wanted: Sequence[str], setting: CheckAssumptions
    ) -> None:
        self.vocabulary = vocabulary
        self.needed_names = list(wanted)
        self.assumptions = setting
        self.motion_number = 0  # which of the motions with the same parameters
        self.needs_efforts = True  # whether drives are asked for
        self.open_loop_reason = ""  # why loops need not be closed at the points
        self.angle_closing: AngleClosing | None = None  # where no lengths close the loops
        self._quantity_tapes: dict[str, Tape] = {}
        self.perturbed_acceleration: int | None = (
            None  # the acceleration that is changed, all else being equal
        )

    def __call__(self, field: PrimeField) -> dict[str, Residue]:
        columns = self.sample_motion(field)
        if self.perturbed_acceleration is not None:
            columns["qdd"] = list(columns["qdd"])
            columns["qdd"][self.perturbed_acceleration] = field.symbol("pushed")
        (found,) = evaluate_tape_in_algebra(
            self._tape, field, [columns[key] for key in self.vocabulary.inputs]
        )
        return dict(zip(self.needed_names, found, strict=True)) if self.needed_names else {}

    @cached_property
    def _tape(self) -> Tape:
        return self._decide_conditions(self.vocabulary.record_names(self.needed_names))

    def _decide_conditions(self, tape: Tape) -> Tape:
        """The tape without choices by parameters that may be zero: a smoothing velocity."""
        zero = {name: value == 0 for name, value in self.vocabulary.eqs.parameters.items()}
        bound = self.assumptions.parameter_values
        zero |= {name: bound[name] in (0, ZERO) for name in zero.keys() & bound.keys()}
        return decide_parameter_conditions(tape, {"p": self.vocabulary.parameters}, zero)

    def sample_parameters(
        self, field: PrimeField, given: Mapping[str, Residue] | None = None
    ) -> list[Residue]:
        """Residues of all parameters: given, assumed, or random."""

        def value(name: str) -> Residue:
            if given and name in given:
                return given[name]
            bound = self.assumptions.parameter_values.get(
                name, self.vocabulary.eqs.constants.get(name)
            )
            if bound is None:
                return self.sample_free_parameter(field, name)
            if isinstance(bound, PiMultiple):
                return field.apply(Op.MUL, (field.constant(bound.coefficient), field.pi()))
            if isinstance(bound, Fraction | float):
                return field.constant(Fraction(bound))
            return evaluate_expression_in_algebra(bound, field, value)

        return [value(name) for name in self.vocabulary.parameters]

    def sample_free_parameter(self, field: PrimeField, name: str) -> Residue:
        """The random value of a parameter that nothing is assumed of."""
        return field.symbol(name)

    def sample_coordinates(self, field: PrimeField) -> list[Residue]:
        """Random coordinates; quaternions are of length 1."""
        words = [self._random_motion_name(f"q {word}") for word in self.vocabulary.names.q]
        found = [field.symbol(word) for word in words]
        for k in quaternion_coordinate_offsets(self.vocabulary.mechanism):
            found[k : k + 4] = field.unit_quaternion_residues(words[k : k + 4])
        return found

    def _random_motion_name(self, name: str) -> str:
        """The name of a random number that belongs to the motion."""
        return f"{name} {self.motion_number}" if self.motion_number else name

    def sample_motion(self, field: PrimeField) -> dict[str, list[Residue]]:
        """One motion that obeys the mechanism's equations."""
        field.symbol_degree = 1
        own, zero = self.vocabulary.names, field.constant(Fraction(0))

        def free(prefix: str, words: Sequence[str]) -> list[Residue]:
            return [field.symbol(self._random_motion_name(f"{prefix} {word}")) for word in words]

        found = {
            "q": self.sample_coordinates(field),
            "qd": free("qd", own.qd),
            "qdd": free("qdd", own.qd),
            "p": self.sample_parameters(field),
            "t": free("", ["time"]),
            "lambda": free("lambda", [str(i) for i in range(len(own.constraints))]),
        }
        drives = own.actuators or [f"tau{i + 1}" for i in range(own.nv)]
        found["u"] = [
            zero if word in self.assumptions.absent_efforts else x
            for word, x in zip(drives, free("u", drives), strict=True)
        ]
        if "x" in self.vocabulary.inputs:  # points that keep no constraint
            count = int(self.vocabulary.symbols["x"].shape[0])
            places = [str(i) for i in range(count)]
            found |= {"x": free("x", places), "xd": free("xd", places)}
            B = self._evaluate_quantity("input_matrix", found, field)
            return found | {"tau": _residue_matrix_vector_product(field, B, found["u"])}
        is_undriven = not (self.needs_efforts or self.assumptions.absent_efforts or own.constraints)
        if is_undriven or self.assumptions.is_free:
            return found | {"tau": found["qdd"]}
        if self.assumptions.leaves_loops_open:
            return self._sample_open_motion(field, found)
        if own.constraints:
            return self._sample_constrained_motion(field, found)
        B = self._evaluate_quantity("input_matrix", found, field)
        if self.assumptions.absent_efforts or len(drives) < own.nv:
            found["tau"] = _residue_matrix_vector_product(field, B, found["u"])
            found["qdd"] = self._evaluate_quantity("forward_dynamics", found, field)
            return found
        found["tau"] = self._evaluate_quantity("inverse_dynamics", found, field)
        found["u"] = (
            self._solve_actuator_efforts(field, B, found["tau"]) if own.actuators else found["tau"]
        )
        return found

    def _solve_actuator_efforts(
        self, field: PrimeField, B: Sequence[Residue], tau: Sequence[Residue]
    ) -> list[Residue]:
        """The efforts u with B u = τ; values that do not exist if B cannot be inverted."""
        try:
            return solve_exact_system(field, B, tau)
        except BadPointError as error:
            return [field.missing_residue(str(error))] * len(tau)

    def _sample_constrained_motion(
        self, field: PrimeField, found: dict[str, list[Residue]]
    ) -> dict[str, list[Residue]]:
        """Velocities q̇ = G a + k, and the accelerations and multipliers that follow from the
        efforts."""
        own = self.vocabulary.names
        n = len(own.independent)
        if own.position_row_count:
            self._close_loops(field, found)
        G, k = self._evaluate_outputs("independent_map", found, field)[:2]
        a = [field.symbol(self._random_motion_name(f"a {i}")) for i in range(n)]
        driven = (
            _residue_matrix_vector_product(field, G, a)
            if n
            else [field.constant(Fraction(0))] * own.nv
        )
        speeds = [field.apply(Op.ADD, pair) for pair in zip(driven, k, strict=True)]
        found["qd"] = field.take_as_symbols(speeds)
        found["tau"] = _residue_matrix_vector_product(
            field, self._evaluate_quantity("input_matrix", found, field), found["u"]
        )
        found["qdd"] = self._evaluate_quantity("forward_dynamics", found, field)
        if self.needs_multipliers:
            found["lambda"] = self._evaluate_quantity("multipliers", found, field)
        return found

    def _sample_open_motion(
        self, field: PrimeField, found: dict[str, list[Residue]]
    ) -> dict[str, list[Residue]]:
        """Free multipliers and velocities, and the accelerations that M q̈ = τ + Jᵀλ − h gives,
        whatever the constraints say."""
        M, h, J, B = (
            self._evaluate_quantity(name, found, field)
            for name in ("mass_matrix", "bias", "constraint_jacobian", "input_matrix")
        )
        columns = [x for k in range(len(h)) for x in J[k :: len(h)]]
        found["tau"] = _residue_matrix_vector_product(field, B, found["u"])
        forces = _residue_matrix_vector_product(field, columns, found["lambda"])
        right = [
            field.apply(Op.SUB, (field.apply(Op.ADD, (tau, force)), bias))
            for tau, force, bias in zip(found["tau"], forces, h, strict=True)
        ]
        found["qdd"] = solve_exact_system(field, M, right)
        return found

    @cached_property
    def needs_multipliers(self) -> bool:
        """Whether an equation depends on the multipliers of the constraints."""
        own = self.vocabulary
        values = ca.vertcat(*(ca.SX(own.require_expression(name)) for name in self.needed_names))
        return bool(ca.depends_on(values, own.symbols["lambda"]))

    def _close_loops(self, field: PrimeField, found: dict[str, list[Residue]]) -> None:
        """Choose lengths, slides and time such that the loops close at the given angles."""
        own, words = self.vocabulary.names, self.vocabulary.parameters
        bound = {*self.assumptions.parameter_values, *self.vocabulary.hidden_parameters}
        free = {name: field.symbol(name) for name in words if name not in bound}
        places = {f"q {name}": i for i, name in enumerate(own.q)}
        free |= {name: found["q"][i] for name, i in places.items()} | {"t": found["t"][0]}

        def moved(given: Mapping[str, Residue]) -> dict[str, list[Residue]]:
            q = [given.get(name, found["q"][i]) for name, i in places.items()]
            time = [given.get("t", found["t"][0])]
            return {**found, "q": q, "t": time, "p": self.sample_parameters(field, given)}

        def residual(given: Mapping[str, int]) -> list[int]:
            changed = moved({name: Residue(number) for name, number in given.items()})
            return [
                x.number for x in self._evaluate_quantity("constraint_residual", changed, field)
            ]

        if self.open_loop_reason:
            return
        if self.angle_closing is not None:
            self._close_loops_with_angles(field, found)
            return
        numbers = {name: value.number for name, value in free.items()}
        try:
            chosen = close_modulo_prime(numbers, residual, FIELD_PRIME)
        except UnsupportedError:
            self.angle_closing = AngleClosing(self.vocabulary)
            self.open_loop_reason = OPEN_LOOPS_REASON
            if self.angle_closing.find_steps(field, found):
                self.open_loop_reason = ""
                self._close_loops_with_angles(field, found)
            return
        start = self._evaluate_quantity("constraint_residual", found, field)
        degree = (len(chosen) + 1) * max(x.numerator_degree + x.denominator_degree for x in start)
        field.symbol_degree *= degree  # quotients of determinants, one denominator for all
        marks = combine_residue_marks(*start)
        found |= moved(
            {name: Residue(x, numerator_degree=1, marks=marks) for name, x in chosen.items()}
        )

    def _close_loops_with_angles(self, field: PrimeField, found: dict[str, list[Residue]]) -> None:
        """Compute angles that close the loops; leave the loops open where that is not possible."""
        assert self.angle_closing is not None
        try:
            self.angle_closing.close(field, found)
        except UnsupportedError as error:
            self.open_loop_reason = error.what

    @property
    def unsure_failure_reason(self) -> str:
        """Why an equation that fails at a point need not be wrong; real states tell it. Computed
        angles are points of the circle: q2 = q1 fails where the sines and cosines are equal."""
        computed = "angles were computed from loops" if self.angle_closing is not None else ""
        return self.open_loop_reason or computed

    def _evaluate_quantity(
        self, name: str, found: Mapping[str, list[Residue]], field: PrimeField
    ) -> list[Residue]:
        return self._evaluate_outputs(name, found, field)[0]

    def _evaluate_outputs(
        self, name: str, found: Mapping[str, list[Residue]], field: PrimeField
    ) -> list[list[Residue]]:
        if name not in self._quantity_tapes:
            recorded = self.vocabulary.quantity_tape(name)
            self._quantity_tapes[name] = self._decide_conditions(recorded)
        tape = self._quantity_tapes[name]
        return evaluate_tape_in_algebra(tape, field, [found[port.name] for port in tape.inputs])


def _residue_matrix_vector_product(
    field: PrimeField, matrix: Sequence[Residue], x: Sequence[Residue]
) -> list[Residue]:
    n = len(x)
    return [
        add_algebra_values(
            field, [field.apply(Op.MUL, pair) for pair in zip(matrix[i : i + n], x, strict=True)]
        )
        for i in range(0, len(matrix), n)
    ]
