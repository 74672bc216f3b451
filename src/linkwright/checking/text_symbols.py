"""The names of the mechanism and of the text that a reader of equations must know.

Which names are the mechanism's, which are vectors, and which letters are functions: `M(q)` is M,
and `m(q)` a product.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..mechanism import Mechanism
from ..mechanism.coordinates import mechanism_names
from .symbol_table import (
    CORIOLIS_MATRIX,
    ENERGY_LETTERS,
    FUNCTION_SYMBOLS,
    MASS_MATRIX,
    RARE_MASS_MATRIX,
    VELOCITY_DEPENDENT_ENERGIES,
    WHOLE_SYMBOLS,
)

_DOTTED_LATEX_LETTER = re.compile(
    r"\\d?dot\s*\{?\s*(?:\\(?:mathbf|boldsymbol|bm|vec)\s*\{?\s*)?\\?([A-Za-z]+)"
)
_DOTTED_TEXT_LETTER = re.compile(r"\bdd?([A-Za-z]+?)_?\d*\b")
_BARE_CAPITAL = re.compile(r"(?<![A-Za-z\\])[A-Z](?![A-Za-z_])")
_MATRIX_LETTERS, _RARE_MASS_MATRIX_LETTERS, _VECTOR_LETTERS = (
    tuple(letter for row in rows for letter in row.examples)
    for rows in (
        (MASS_MATRIX, CORIOLIS_MATRIX),
        (RARE_MASS_MATRIX,),
        [row for row in WHOLE_SYMBOLS if len(row.indices) == 1],
    )
)


def drop_symbol_underscores(name: str) -> str:
    """The name without its underscores, which do not count."""
    return name.replace("_", "")


@dataclass(frozen=True)
class StatementSymbols:
    """Names of the mechanism, and what the text shows about its own.

    `dotted` are letters that the text writes with dots, `letters` its bare capitals. What is found
    while reading: `function_heads` are heads of left sides such as `h(q)`, `matrix_shapes` those of
    matrices that the text writes out, `scalar_names` left sides that are numbers, `dual_names`
    names with a hat.
    """

    parameter_names: frozenset[str] = frozenset()
    coordinate_names: tuple[str, ...] = ()
    velocity_names: tuple[str, ...] = ()
    actuator_names: tuple[str, ...] = ()
    constraint_count: int = 0
    dotted_letters: frozenset[str] = frozenset()
    capital_letters: frozenset[str] = frozenset()
    function_heads: set[str] = field(default_factory=set)
    matrix_shapes: dict[str, tuple[int, int]] = field(default_factory=dict)
    scalar_names: set[str] = field(default_factory=set)
    dual_names: set[str] = field(default_factory=set)

    @property
    def velocity_count(self) -> int:
        """The number of generalized velocities."""
        return len(self.velocity_names)

    def is_parameter_name(self, name: str) -> bool:
        """Whether the name is a parameter of the mechanism, underscores aside."""
        return drop_symbol_underscores(name) in self.parameter_names

    def is_mechanism_name(self, name: str) -> bool:
        """Whether the mechanism itself uses the name, or its rate."""
        flat = drop_symbol_underscores(name)
        own = {
            drop_symbol_underscores(x)
            for x in (*self.coordinate_names, *self.velocity_names, *self.actuator_names)
        }
        return flat in self.parameter_names or any(
            flat.removeprefix(dots) in own for dots in ("dd", "d", "") if flat.startswith(dots)
        )

    # -- vectors ----------------------------------------------------------------------------

    def motion_vector_entries(self, name: str) -> tuple[str, ...] | None:
        """The entries of q, q̇ or q̈ if the name is one of these vectors."""
        if self.velocity_count < 2 or self.is_mechanism_name(name) or name in self.matrix_shapes:
            return None
        for dots in ("", "d", "dd"):
            if name.startswith(dots) and name[len(dots) :] in self._coordinate_letters():
                own = self.velocity_names if dots else self.coordinate_names
                return tuple(f"{dots}{x}" for x in own)
        return None

    def _coordinate_letters(self) -> set[str]:
        stems = {x.rstrip("0123456789").rstrip("_") for x in self.coordinate_names}
        own = stems if len(stems) == 1 and len(self.coordinate_names) > 1 else set()
        return {"q"} | own | ({"theta", "Theta"} & self.dotted_letters)

    def matrix_shape(self, name: str) -> tuple[int, int] | None:
        """The shape of the matrix that a name stands for where it multiplies a vector."""
        if name in self.matrix_shapes:
            return self.matrix_shapes[name]
        if self.is_mechanism_name(name) or name in self.scalar_names:
            return None
        if self.is_matrix_rate_name(name):
            return self.velocity_count, self.velocity_count
        if self.velocity_count > 1 and (
            name in self._mass_coriolis_letters or self.is_diagonal_matrix_name(name)
        ):
            return self.velocity_count, self.velocity_count
        if name == "J" and self.constraint_count and self.velocity_count > 1:
            return self.constraint_count, self.velocity_count
        return None

    def is_matrix_rate_name(self, name: str) -> bool:
        """Whether it is dM, the rate of the mass matrix, and not a matrix of the text."""
        letters = set(self._mass_coriolis_letters) - {"C"}
        is_rate = name[:1] == "d" and name[1:] in letters and name not in self.matrix_shapes
        return is_rate and self.velocity_count > 1 and not self.is_mechanism_name(name)

    @property
    def _mass_coriolis_letters(self) -> tuple[str, ...]:
        """The letters of the mass and Coriolis matrix; beside M, another D is not the mass
        matrix."""
        if "M" in self.capital_letters:
            return ("M", "C")
        return (
            _MATRIX_LETTERS
            if {"D", "H"} & self.capital_letters
            else (*_MATRIX_LETTERS, *_RARE_MASS_MATRIX_LETTERS)
        )

    def is_diagonal_matrix_name(self, name: str) -> bool:
        """Whether D has parameters D1, D2, …, one for each coordinate, on its diagonal."""
        own = (f"{name}{i}" for i in range(1, self.velocity_count + 1))
        return len(name) == 1 and name.isupper() and all(x in self.parameter_names for x in own)

    def is_coriolis_vector(self, head: str, arguments: Sequence[str]) -> bool:
        """Whether V(q, q̇) or c(q, q̇) is the vector C q̇."""
        vectors = [x for x in arguments if self.motion_vector_entries(x) is not None]
        is_rate = any(x.startswith("d") for x in vectors)
        return head in ("V", "c") and len(vectors) == len(arguments) == 2 and is_rate

    def can_be_vector_name(self, name: str) -> bool:
        """Whether a name beside vectors stands for one: not a parameter, an energy, an entry."""
        if name in _VECTOR_LETTERS or name in self.matrix_shapes or name in self.dual_names:
            return True
        is_energy = name in ENERGY_LETTERS and name not in _MATRIX_LETTERS
        return not (self.is_mechanism_name(name) or is_energy or name[-1:].isdigit())

    def is_vector_name(self, name: str) -> bool:
        """Whether behind a matrix a name is a vector: tau, g, p."""
        return self.velocity_count > 1 and name in _VECTOR_LETTERS

    def is_vector_entry_name(self, name: str) -> bool:
        """Whether it is one entry of a vector: tau1, q2, a parameter."""
        stem = drop_symbol_underscores(name).rstrip("0123456789")
        known = stem in _VECTOR_LETTERS or stem in self._coordinate_letters()
        return name[-1:].isdigit() and (known or self.is_mechanism_name(name))

    def has_transposed_row(self, name: str) -> bool:
        """Whether name^T is the row of name1, name2, …, one for each coordinate."""
        return (
            self.velocity_count > 1 and name in _VECTOR_LETTERS and not self.is_mechanism_name(name)
        )

    def entry_name(self, name: str, i: int, j: int, shape: tuple[int, int]) -> str:
        """The name of an entry: M12, tau1, V1x."""
        if name in self.dual_names and max(shape) == 3:
            return f"{drop_symbol_underscores(name)}{'xyz'[max(i, j) - 1]}"
        if (
            name in _RARE_MASS_MATRIX_LETTERS
            and name not in self.matrix_shapes
            and shape[0] == shape[1]
        ):
            name = "M"
        if name == "tau" and self.actuator_names and len(self.actuator_names) != max(shape):
            name = "Q"
        if 1 in shape:
            return f"{name}{max(i, j)}"
        return f"{name}{i}{j}" if max(shape) < 10 else f"{name}{i}_{j}"

    # -- functions --------------------------------------------------------------------------

    def is_motion_name(self, name: str) -> bool:
        """Whether it is a coordinate, its rate, or a vector of these: what others depend on."""
        if self.motion_vector_entries(name) is not None:
            return True
        for dots in ("", "d", "dd"):
            base = name.removeprefix(dots)
            stem = drop_symbol_underscores(base).rstrip("0123456789")
            if base in self.coordinate_names or (
                stem in self.dotted_letters | {"q"} and not self.is_parameter_name(base)
            ):
                return True
        return False

    def is_rate_name(self, name: str) -> bool:
        """Whether it is the rate of a coordinate."""
        return (
            name.startswith("d")
            and not self.is_parameter_name(name)
            and self.is_motion_name(name[1:])
        )

    def is_function_application(
        self, head: str, arguments: Sequence[str], has_power: bool, ends: bool
    ) -> bool:
        """Whether head(arguments) says what head depends on, rather than a product.

        `ends`: it is the whole left side of an equation. What may be a product is one, unless the
        head is a function of ours and not a name of the mechanism.
        """
        moving = [x == "t" or self.is_motion_name(x) for x in arguments]
        if len(arguments) > 1:
            return all(moving) or (any(moving) and _is_function_symbol(head))
        if not all(moving):
            return False
        (argument,) = arguments
        is_time = argument == "t" and not self.is_mechanism_name("t")
        if has_power and not is_time:
            return False
        if self.is_parameter_name(head):
            return self.motion_vector_entries(argument) is not None and not argument.startswith("d")
        if is_time:
            return True
        if self.is_mechanism_name(head):
            return False
        if argument not in self.coordinate_names and argument.startswith("d"):
            is_named = ends and self.matrix_shape(head) is None
            return is_named or head in VELOCITY_DEPENDENT_ENERGIES  # M(ddx) is a product
        if self.motion_vector_entries(argument) is not None:
            return True
        return ends or head in self.function_heads or _is_function_symbol(head)

    def may_be_parameter_function(self, head: str, arguments: Sequence[str]) -> bool:
        """Whether a parameter, such as g, is written as our function of that name: g(theta)."""
        is_position = not any(x.startswith("d") or x == "t" for x in arguments)
        return (
            self.is_parameter_name(head)
            and _is_function_symbol(head)
            and len(arguments) == 1
            and is_position
            and self.is_motion_name(arguments[0])
        )


def _is_function_symbol(name: str) -> bool:
    """Whether papers write a symbol with what it depends on: M(q)."""
    return any(row.has_form(name) for row in FUNCTION_SYMBOLS)


def collect_text_symbols(mechanism: Mechanism | None, text: str) -> StatementSymbols:
    """Collect the symbols that are known before the text is read."""
    letters = frozenset(_BARE_CAPITAL.findall(text))
    dotted = frozenset(_DOTTED_LATEX_LETTER.findall(text)) | frozenset(
        _DOTTED_TEXT_LETTER.findall(text)
    )
    if mechanism is None:
        return StatementSymbols(dotted_letters=dotted, capital_letters=letters)
    own = mechanism_names(mechanism)
    return StatementSymbols(
        parameter_names=frozenset(map(drop_symbol_underscores, mechanism.parameters)),
        coordinate_names=own.q,
        velocity_names=own.qd,
        actuator_names=own.actuators,
        constraint_count=len(own.constraints),
        dotted_letters=dotted,
        capital_letters=letters,
    )
