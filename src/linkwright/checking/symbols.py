"""What a reader of equations must know of the mechanism and of the text.

Which names are the mechanism's, which are vectors, and which letters are functions: `M(q)` is M,
and `m(q)` a product.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..mechanism import Mechanism
from ..mechanism.coordinates import names_of

_DOTTED_LATEX = re.compile(
    r"\\d?dot\s*\{?\s*(?:\\(?:mathbf|boldsymbol|bm|vec)\s*\{?\s*)?\\?([A-Za-z]+)"
)
_DOTTED_TEXT = re.compile(r"\bdd?([A-Za-z]+?)_?\d*\b")
_CAPITAL = re.compile(r"(?<![A-Za-z\\])[A-Z](?![A-Za-z_])")
_FUNCTION = re.compile(
    r"[KTVPULHEMDCGgJ]|phi|tau"  # energies, matrices, vectors
    r"|[MDdHhmC]_?\d_?\d|[ch]_?\d{3}|Gamma_?\d{3}|J\w*"  # their entries
    r"|(?:[gGKVPTUfpxyzvwQ]|phi|tau|omega)_?\d+"
)
_MATRICES = ("M", "D", "H", "C")
_OTHERS = ("B", "W")  # of the mass matrix, where no M, D or H is written
_VECTORS = ("tau", "Q", "u", "g", "G", "phi", "p", "dp", "bias", "lambda", "f")
_KINETIC = ("K", "T", "L", "H", "E")
_ENERGIES = ("K", "T", "V", "P", "U", "L", "E")


def flatten(name: str) -> str:
    """The name without its underscores, which do not count."""
    return name.replace("_", "")


@dataclass(frozen=True)
class Symbols:
    """Names of the mechanism, and what the text shows about its own.

    `dotted` are letters that the text writes with dots, `letters` its bare capitals. What is found
    while reading: `functions` are heads of left sides such as `h(q)`, `shapes` those of matrices
    that the text writes out, `scalars` left sides that are numbers, `duals` names with a hat.
    """

    parameters: frozenset[str] = frozenset()
    coordinates: tuple[str, ...] = ()
    speeds: tuple[str, ...] = ()
    drives: tuple[str, ...] = ()
    constraints: int = 0
    dotted: frozenset[str] = frozenset()
    letters: frozenset[str] = frozenset()
    functions: set[str] = field(default_factory=set)
    shapes: dict[str, tuple[int, int]] = field(default_factory=dict)
    scalars: set[str] = field(default_factory=set)
    duals: set[str] = field(default_factory=set)

    @property
    def size(self) -> int:
        return len(self.speeds)

    def is_parameter(self, name: str) -> bool:
        return flatten(name) in self.parameters

    def is_own(self, name: str) -> bool:
        """Whether the mechanism itself uses the name, or its rate."""
        flat = flatten(name)
        own = {flatten(x) for x in (*self.coordinates, *self.speeds, *self.drives)}
        return flat in self.parameters or any(
            flat.removeprefix(dots) in own for dots in ("dd", "d", "") if flat.startswith(dots)
        )

    # -- vectors ----------------------------------------------------------------------------

    def motion(self, name: str) -> tuple[str, ...] | None:
        """The entries of q, q̇ or q̈ if the name is one of these vectors."""
        if self.size < 2 or self.is_own(name) or name in self.shapes:
            return None
        for dots in ("", "d", "dd"):
            if name.startswith(dots) and name[len(dots) :] in self._coordinate_letters():
                own = self.speeds if dots else self.coordinates
                return tuple(f"{dots}{x}" for x in own)
        return None

    def _coordinate_letters(self) -> set[str]:
        stems = {x.rstrip("0123456789").rstrip("_") for x in self.coordinates}
        own = stems if len(stems) == 1 and len(self.coordinates) > 1 else set()
        return {"q"} | own | ({"theta", "Theta"} & self.dotted)

    def matrix_shape(self, name: str) -> tuple[int, int] | None:
        """The shape of the matrix that a name stands for where it multiplies a vector."""
        if name in self.shapes:
            return self.shapes[name]
        if self.is_own(name) or name in self.scalars:
            return None
        if name[:1] == "d" and name[1:] in set(self._mass_and_coriolis) - {"C"} and self.size > 1:
            return self.size, self.size
        if self.size > 1 and (name in self._mass_and_coriolis or self.is_diagonal(name)):
            return self.size, self.size
        if name == "J" and self.constraints and self.size > 1:
            return self.constraints, self.size
        return None

    @property
    def _mass_and_coriolis(self) -> tuple[str, ...]:
        """Letters of these matrices; beside M, another D is not the mass matrix."""
        if "M" in self.letters:
            return ("M", "C")
        return _MATRICES if {"D", "H"} & self.letters else (*_MATRICES, *_OTHERS)

    def is_diagonal(self, name: str) -> bool:
        """Whether D has parameters D1, D2, …, one for each coordinate, on its diagonal."""
        own = (f"{name}{i}" for i in range(1, self.size + 1))
        return len(name) == 1 and name.isupper() and all(x in self.parameters for x in own)

    def is_velocity_force(self, head: str, arguments: Sequence[str]) -> bool:
        """Whether V(q, q̇) or c(q, q̇) is the vector C q̇."""
        vectors = [x for x in arguments if self.motion(x) is not None]
        is_rate = any(x.startswith("d") for x in vectors)
        return head in ("V", "c") and len(vectors) == len(arguments) == 2 and is_rate

    def can_be_vector(self, name: str) -> bool:
        """Whether a name beside vectors stands for one: not a parameter, an energy, an entry."""
        if name in _VECTORS or name in self.shapes or name in self.duals:
            return True
        return not (self.is_own(name) or name in _ENERGIES or name[-1:].isdigit())

    def is_vector_name(self, name: str) -> bool:
        """Whether behind a matrix a name is a vector: tau, g, p."""
        return self.size > 1 and name in _VECTORS

    def is_entry(self, name: str) -> bool:
        """Whether it is one entry of a vector: tau1, q2, a parameter."""
        stem = flatten(name).rstrip("0123456789")
        known = stem in _VECTORS or stem in self._coordinate_letters()
        return name[-1:].isdigit() and (known or self.is_own(name))

    def has_row(self, name: str) -> bool:
        """Whether name^T is the row of name1, name2, …, one for each coordinate."""
        return self.size > 1 and name in _VECTORS and not self.is_own(name)

    def entry(self, name: str, i: int, j: int, shape: tuple[int, int]) -> str:
        """The name of an entry: M12, tau1, V1x."""
        if name in self.duals and max(shape) == 3:
            return f"{flatten(name)}{'xyz'[max(i, j) - 1]}"
        if name in _OTHERS and name not in self.shapes and shape[0] == shape[1]:
            name = "M"
        if name == "tau" and self.drives and len(self.drives) != max(shape):
            name = "Q"
        if 1 in shape:
            return f"{name}{max(i, j)}"
        return f"{name}{i}{j}" if max(shape) < 10 else f"{name}{i}_{j}"

    # -- functions --------------------------------------------------------------------------

    def is_motion(self, name: str) -> bool:
        """Whether it is a coordinate, its rate, or a vector of these: what others depend on."""
        if self.motion(name) is not None:
            return True
        for dots in ("", "d", "dd"):
            base = name.removeprefix(dots)
            stem = flatten(base).rstrip("0123456789")
            if base in self.coordinates or (
                stem in self.dotted | {"q"} and not self.is_parameter(base)
            ):
                return True
        return False

    def is_rate(self, name: str) -> bool:
        """Whether it is the rate of a coordinate."""
        return name.startswith("d") and not self.is_parameter(name) and self.is_motion(name[1:])

    def is_function(self, head: str, arguments: Sequence[str], has_power: bool, ends: bool) -> bool:
        """Whether head(arguments) says what head depends on, rather than a product.

        `ends`: it is the whole left side of an equation. What may be a product is one, unless the
        head is a function of ours and not a name of the mechanism.
        """
        moving = [x == "t" or self.is_motion(x) for x in arguments]
        if len(arguments) > 1:
            return all(moving) or (any(moving) and _FUNCTION.fullmatch(head) is not None)
        if not all(moving):
            return False
        (argument,) = arguments
        is_time = argument == "t" and not self.is_own("t")
        if has_power and not is_time:
            return False
        if self.is_parameter(head):
            return self.motion(argument) is not None and not argument.startswith("d")
        if is_time:
            return True
        if self.is_own(head):
            return False
        if argument not in self.coordinates and argument.startswith("d"):
            is_named = ends and self.matrix_shape(head) is None
            return is_named or head in _KINETIC  # M(ddx) is a product
        if self.motion(argument) is not None:
            return True
        return ends or head in self.functions or _FUNCTION.fullmatch(head) is not None

    def may_be_function(self, head: str, arguments: Sequence[str]) -> bool:
        """Whether a parameter, such as g, is written as our function of that name: g(theta)."""
        is_position = not any(x.startswith("d") or x == "t" for x in arguments)
        return (
            self.is_parameter(head)
            and _FUNCTION.fullmatch(head) is not None
            and len(arguments) == 1
            and is_position
            and self.is_motion(arguments[0])
        )


def symbols_of(mechanism: Mechanism | None, text: str) -> Symbols:
    """What is known before the text is read."""
    letters = frozenset(_CAPITAL.findall(text))
    dotted = frozenset(_DOTTED_LATEX.findall(text)) | frozenset(_DOTTED_TEXT.findall(text))
    if mechanism is None:
        return Symbols(dotted=dotted, letters=letters)
    own = names_of(mechanism)
    return Symbols(
        parameters=frozenset(map(flatten, mechanism.parameters)),
        coordinates=own.q,
        speeds=own.qd,
        drives=own.actuators,
        constraints=len(own.constraints),
        dotted=dotted,
        letters=letters,
    )
