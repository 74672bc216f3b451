"""Motions at random points, modulo a prime or real, and the values of names there.

Without constraints q, q̇, q̈ are free and the drives follow; where drives are said to be absent,
or are fewer than freedoms, the drives are free and q̈ follows. With constraints, speeds are those
that they allow, and drives are free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ..algebra.exact.algebra import add_all, evaluate_expression, read
from ..algebra.exact.constrained_points import closed
from ..algebra.exact.elimination import solve_square
from ..algebra.exact.modular import UnluckyError
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residue_values import PRIME, Value, combined_marks
from ..errors import UnsupportedError
from ..expressions import Exact, Expression, PiMultiple
from ..mechanism import quaternion_starts
from ..tape import Op, Tape
from .vocabulary import Vocabulary


@dataclass(frozen=True)
class Setting:
    """What is assumed: parameters with these values, drives that are zero. Where `is_free`, the
    motion obeys neither the equations of motion nor the constraints."""

    bound: Mapping[str, Expression | Exact] = field(default_factory=dict)
    silent: frozenset[str] = frozenset()
    is_free: bool = False

    def __str__(self) -> str:
        from ..expressions import to_text
        from ..expressions.tree import Name, Number, Product

        def text(value: object) -> str:
            if isinstance(value, PiMultiple):
                return to_text(Product((Number(value.coefficient), Name("pi"))))
            return to_text(Number(value) if isinstance(value, Fraction) else value)  # type: ignore[arg-type]

        parts = [f"{name} = {text(value)}" for name, value in self.bound.items()]
        parts += [f"{name} = 0" for name in sorted(self.silent)]
        return ", ".join(parts)


class Ground:
    """Values of the wanted names on random motions."""

    def __init__(self, vocabulary: Vocabulary, wanted: Sequence[str], setting: Setting) -> None:
        self.vocabulary = vocabulary
        self.wanted = list(wanted)
        self.setting = setting
        self.motion_number = 0  # which of the motions with the same parameters
        self.driven = True  # whether drives are asked for
        self.open_because = ""  # why loops need not be closed at the points
        self.pushed: int | None = None  # the acceleration that is changed, all else being equal

    def __call__(self, field: PrimeField) -> dict[str, Value]:
        columns = self.motion(field)
        if self.pushed is not None:
            columns["qdd"] = list(columns["qdd"])
            columns["qdd"][self.pushed] = field.symbol("pushed")
        (found,) = read(self._tape, field, [columns[key] for key in self.vocabulary.inputs])
        return dict(zip(self.wanted, found, strict=True)) if self.wanted else {}

    @cached_property
    def _tape(self) -> Tape:
        return self.vocabulary.tape(self.wanted)

    def parameters(
        self, field: PrimeField, given: Mapping[str, Value] | None = None
    ) -> list[Value]:
        def value(name: str) -> Value:
            if given and name in given:
                return given[name]
            bound = self.setting.bound.get(name, self.vocabulary.eqs.constants.get(name))
            if bound is None:
                return self.free_parameter(field, name)
            if isinstance(bound, PiMultiple):
                return field.apply(Op.MUL, (field.constant(bound.coefficient), field.pi()))
            if isinstance(bound, Fraction | float):
                return field.constant(Fraction(bound))
            return evaluate_expression(bound, field, value)

        return [value(name) for name in self.vocabulary.parameters]

    def free_parameter(self, field: PrimeField, name: str) -> Value:
        """The random value of a parameter that nothing is assumed of."""
        return field.symbol(name)

    def coordinates(self, field: PrimeField) -> list[Value]:
        """Random coordinates; quaternions are of length 1."""
        words = [self._motion_name(f"q {word}") for word in self.vocabulary.names.q]
        found = [field.symbol(word) for word in words]
        for k in quaternion_starts(self.vocabulary.mechanism):
            found[k : k + 4] = field.on_sphere(words[k : k + 4])
        return found

    def _motion_name(self, name: str) -> str:
        """The name of a random number that belongs to the motion."""
        return f"{name} {self.motion_number}" if self.motion_number else name

    def motion(self, field: PrimeField) -> dict[str, list[Value]]:
        """One motion that obeys the mechanism's equations."""
        field.reckoned = 1
        own, zero = self.vocabulary.names, field.constant(Fraction(0))

        def free(prefix: str, words: Sequence[str]) -> list[Value]:
            return [field.symbol(self._motion_name(f"{prefix} {word}")) for word in words]

        found = {
            "q": self.coordinates(field), "qd": free("qd", own.qd), "qdd": free("qdd", own.qd),
            "p": self.parameters(field), "t": free("", ["time"]),
            "lambda": free("lambda", [str(i) for i in range(len(own.constraints))]),
        }  # fmt: skip
        drives = own.actuators or [f"tau{i + 1}" for i in range(own.nv)]
        found["u"] = [
            zero if word in self.setting.silent else x
            for word, x in zip(drives, free("u", drives), strict=True)
        ]
        if "x" in self.vocabulary.inputs:  # points that keep no constraint
            count = int(self.vocabulary.symbols["x"].shape[0])
            places = [str(i) for i in range(count)]
            found |= {"x": free("x", places), "xd": free("xd", places)}
            B = self._read("input_matrix", found, field)
            return found | {"tau": _applied(field, B, found["u"])}
        is_undriven = not (self.driven or self.setting.silent or own.constraints)
        if is_undriven or self.setting.is_free:
            return found | {"tau": found["qdd"]}
        if own.constraints:
            return self._allowed(field, found)
        B = self._read("input_matrix", found, field)
        if self.setting.silent or len(drives) < own.nv:
            found["tau"] = _applied(field, B, found["u"])
            found["qdd"] = self._read("forward_dynamics", found, field)
            return found
        found["tau"] = self._read("inverse_dynamics", found, field)
        found["u"] = self._drives(field, B, found["tau"]) if own.actuators else found["tau"]
        return found

    def _drives(self, field: PrimeField, B: Sequence[Value], tau: Sequence[Value]) -> list[Value]:
        """u with B u = τ; nothing, where B cannot be inverted."""
        try:
            return solve_square(field, B, tau)
        except UnluckyError as error:
            return [field.nothing(str(error))] * len(tau)

    def _allowed(self, field: PrimeField, found: dict[str, list[Value]]) -> dict[str, list[Value]]:
        """Speeds q̇ = G a + k; accelerations and multipliers that follow from the drives."""
        own = self.vocabulary.names
        n = len(own.independent)
        if own.positions:
            self._close(field, found)
        G, k = self._read_all("independent_map", found, field)[:2]
        a = [field.symbol(self._motion_name(f"a {i}")) for i in range(n)]
        driven = _applied(field, G, a) if n else [field.constant(Fraction(0))] * own.nv
        speeds = [field.apply(Op.ADD, pair) for pair in zip(driven, k, strict=True)]
        found["qd"] = field.as_symbols(speeds)
        found["tau"] = _applied(field, self._read("input_matrix", found, field), found["u"])
        found["qdd"] = self._read("forward_dynamics", found, field)
        if self.has_multipliers:
            found["lambda"] = self._read("multipliers", found, field)
        return found

    @cached_property
    def has_multipliers(self) -> bool:
        return any(name.startswith("lambda") for name in self.wanted)

    def _close(self, field: PrimeField, found: dict[str, list[Value]]) -> None:
        """Lengths, slides and time such that the loops close at these angles."""
        own, words = self.vocabulary.names, self.vocabulary.parameters
        bound = {*self.setting.bound, *self.vocabulary.hidden}
        free = {name: field.symbol(name) for name in words if name not in bound}
        places = {f"q {name}": i for i, name in enumerate(own.q)}
        free |= {name: found["q"][i] for name, i in places.items()} | {"t": found["t"][0]}

        def moved(given: Mapping[str, Value]) -> dict[str, list[Value]]:
            q = [given.get(name, found["q"][i]) for name, i in places.items()]
            time = [given.get("t", found["t"][0])]
            return {**found, "q": q, "t": time, "p": self.parameters(field, given)}

        def residual(given: Mapping[str, int]) -> list[int]:
            changed = moved({name: Value(number) for name, number in given.items()})
            return [x.number for x in self._read("constraint_residual", changed, field)]

        if self.open_because:
            return
        numbers = {name: value.number for name, value in free.items()}
        try:
            chosen = closed(numbers, residual, PRIME)
        except UnsupportedError as error:
            self.open_because = error.what
            return
        start = self._read("constraint_residual", found, field)
        degree = (len(chosen) + 1) * max(x.numerator + x.denominator for x in start)
        field.reckoned *= degree  # quotients of determinants, one denominator for all
        marks = combined_marks(*start)
        found |= moved({name: Value(x, numerator=1, marks=marks) for name, x in chosen.items()})

    def _read(self, name: str, found: Mapping[str, list[Value]], field: PrimeField) -> list[Value]:
        return self._read_all(name, found, field)[0]

    def _read_all(
        self, name: str, found: Mapping[str, list[Value]], field: PrimeField
    ) -> list[list[Value]]:
        tape = self.vocabulary.function(name)
        return read(tape, field, [found[port.name] for port in tape.inputs])


def _applied(field: PrimeField, matrix: Sequence[Value], x: Sequence[Value]) -> list[Value]:
    n = len(x)
    return [
        add_all(
            field, [field.apply(Op.MUL, pair) for pair in zip(matrix[i : i + n], x, strict=True)]
        )
        for i in range(0, len(matrix), n)
    ]
