"""The meaning of symbols in papers, as expressions of our own equations.

    K T, V P U, L, H, E         energies; K1, V1, … those of the bodies
    M11 D11 d11 H11, C11, c111  mass matrix, Coriolis matrix, Christoffel symbols c_ijk of row k
    g1 G1 phi1, p1, dp1         forces of weight, momenta and their rates
    tau1, Q1, lambda1           drives, generalized forces, multipliers
    x1 dx1 ddx1, v1, w1         centres of mass, their velocities, angular velocities (wx1, …;
                                w1 is about z)
    Jv1_11, Jx11, Jw11          Jacobians of centres of mass and angular velocities
    L_q1, L_dq1, dL_dq1, M11_q1 derivatives
    Fx_q1, Mz_q1                what a joint's parent does to its child, world axes
    J11, f1                     constraint Jacobian and residuals

`x1` is of the first body, `M12` of the first and second coordinate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING

import casadi as ca

from ..expressions import expression_to_float
from ..mechanism import quaternion_offsets
from ..types import SX

if TYPE_CHECKING:
    from .vocabulary import Vocabulary

_INDEXED_SYMBOL = re.compile(r"([A-Za-z]+?)_?(\d[\d_]*)")
DERIVATIVE_SYMBOL = re.compile(r"(d?)([A-Za-z]+)(\d*)_(\w+)")
_SINGLE_COORDINATE_INDICES = {"M": "11", "C": "11", "p": "1", "dp": "1"}
"""The symbols that are written without indices where there is one coordinate."""
_JACOBIAN_SYMBOL = re.compile(r"J([vw])(\d)_?([1-3])(\d)|J(w?[xyz]|w)(\d)(\d)")


class PaperSymbols:
    """The symbols of papers that a mechanism gives a meaning to."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.eqs, self.names = vocabulary.eqs, vocabulary.names
        self.symbols, self.body_symbols = vocabulary.symbols, vocabulary.body_symbols
        self.quantity_expression = vocabulary.quantity_expression

    def find_expression(self, name: str) -> SX | None:
        """The meaning of the symbol in papers, whatever the mechanism's own names are."""
        for spelling in dict.fromkeys((name, name.replace("_", ""))):
            if spelling in self.force_symbols:
                return self.force_symbols[spelling]
        if name in self.energy_symbols:
            return self.energy_symbols[name]()
        for search in (
            self._find_indexed_symbol,
            self._find_derivative_symbol,
            self._find_jacobian_symbol,
            self._find_reaction_symbol,
        ):
            found = search(name)
            if found is not None:
                return found
        if name == "g":
            return self._gravity_magnitude()
        if self.names.nv == 1 and name in _SINGLE_COORDINATE_INDICES:
            return self._find_indexed_symbol(name + _SINGLE_COORDINATE_INDICES[name])
        return None

    def _gravity_magnitude(self) -> SX | None:
        """g where the mechanism gives gravity by its components, one of them not zero."""
        gravity = ca.SX(self.body_symbols.gravity_acceleration)
        acting = [i for i in range(3) if not gravity[i].is_zero()]
        if len(acting) != 1:
            return None
        down = (
            expression_to_float(
                self.vocabulary.mechanism.gravity[acting[0]], self.vocabulary.mechanism.values
            )
            < 0
        )
        return -gravity[acting[0]] if down else gravity[acting[0]]

    @cached_property
    def force_symbols(self) -> dict[str, SX]:
        """Generalized forces, multipliers and the time, by number or by coordinate."""
        found: dict[str, SX] = {}
        columns = {key: ca.vertsplit(self.symbols[key]) for key in ("tau", "u", "lambda")}
        for i, name in enumerate(self.names.qd):
            found |= {f"tau_{name}": columns["tau"][i], f"Q_{name}": columns["tau"][i]}
        for i, drive in enumerate(columns["u" if self.names.actuators else "tau"], 1):
            found.setdefault(f"tau{i}", drive)
        for i, force in enumerate(columns["tau"], 1):
            found.setdefault(f"Q{i}", force)
        for i, force in enumerate(columns["lambda"], 1):
            found.setdefault(f"lambda{i}", force)
        if len(columns["u"]) == 1:
            found.setdefault("tau", found["tau1"])
        found.setdefault("t", self.symbols["t"])
        return add_flat_names(found)

    @cached_property
    def energy_symbols(self) -> dict[str, Callable[[], SX]]:
        potential, kinetic = (lambda: self.potential_energy), (lambda: self.kinetic_energy)
        return {
            "K": kinetic,
            "T": kinetic,
            "V": potential,
            "P": potential,
            "U": potential,
            "L": lambda: self.kinetic_energy - self.potential_energy,
            "E": lambda: self.kinetic_energy + self.potential_energy,
            "H": lambda: (
                ca.dot(self.generalized_momenta, self.symbols["qd"])
                - self.kinetic_energy
                + self.potential_energy
            ),
        }

    @cached_property
    def kinetic_energy(self) -> SX:
        return self.quantity_expression("kinetic_energy")

    @cached_property
    def potential_energy(self) -> SX:
        return self.quantity_expression("potential_energy")

    @cached_property
    def generalized_momenta(self) -> SX:
        return ca.gradient(self.kinetic_energy, self.symbols["qd"])

    @cached_property
    def momentum_rates(self) -> SX:
        """M q̈ + Ṁ q̇."""
        along = ca.jtimes(
            self.generalized_momenta, self.symbols["q"], self.eqs.rate_matrix @ self.symbols["qd"]
        )
        return self.quantity_expression("mass_matrix") @ self.symbols["qdd"] + along

    def christoffel_symbol(self, i: int, j: int, k: int) -> SX | None:
        """½(∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k), where velocities are rates of coordinates."""
        if self.names.q != self.names.qd:
            return None
        M, q = self.quantity_expression("mass_matrix"), self.symbols["q"]
        parts = (M[k, j], q[i]), (M[k, i], q[j]), (M[i, j], q[k])
        by_i, by_j, by_k = (ca.jacobian(entry, x) for entry, x in parts)
        return (by_i + by_j - by_k) / 2

    def _find_indexed_symbol(self, name: str) -> SX | None:
        match = _INDEXED_SYMBOL.fullmatch(name)
        if match is None:
            return None
        stem, n = match[1], self.names.nv
        tables: tuple[tuple[Mapping[str, Callable[..., SX | None]], tuple[int, ...]], ...] = (
            (self._matrix_symbols, (n, n)),
            (self._vector_symbols, (n,)),
            (self._center_symbols, (len(self.body_symbols),)),
            ({"c": self.christoffel_symbol, "Gamma": self.christoffel_symbol}, (n, n, n)),
        )
        for table, sizes in tables:
            if stem in table and (at := split_symbol_indices(match[2], sizes)):
                return table[stem](*(i - 1 for i in at))
        if self.names.constraints and stem in self._constraint_symbols:
            whole = ca.densify(self._constraint_symbols[stem]())
            sizes = whole.shape if stem == "J" else whole.shape[:1]
            if at := split_symbol_indices(match[2], sizes):
                return whole[tuple(i - 1 for i in at)] if len(at) > 1 else whole[at[0] - 1]
        return None

    @cached_property
    def _matrix_symbols(self) -> dict[str, Callable[[int, int], SX]]:
        mass = dict.fromkeys(
            ("M", "D", "d", "H", "m"), lambda i, j: self.quantity_expression("mass_matrix")[i, j]
        )
        return {**mass, "C": lambda i, j: self.quantity_expression("coriolis_matrix")[i, j]}

    @cached_property
    def _vector_symbols(self) -> dict[str, Callable[[int], SX]]:
        weight = dict.fromkeys(("g", "G", "phi"), lambda i: self.quantity_expression("gravity")[i])
        return {
            **weight,
            "p": lambda i: self.generalized_momenta[i],
            "dp": lambda i: self.momentum_rates[i],
            "bias": lambda i: self.quantity_expression("bias")[i],
        }

    @cached_property
    def _constraint_symbols(self) -> dict[str, Callable[[], SX]]:
        return {
            "f": lambda: self.quantity_expression("constraint_residual"),
            "J": lambda: self.quantity_expression("constraint_jacobian"),
        }

    @cached_property
    def _center_symbols(self) -> dict[str, Callable[[int], SX]]:
        own = self.body_symbols
        turning = partial(own.center_component, "frame_velocity", 2)
        found: dict[str, Callable[[int], SX]] = {
            "v": own.center_speed, "w": turning, "omega": turning,
            "K": own.kinetic_energy, "V": own.potential_energy, "P": own.potential_energy,
        }  # fmt: skip
        for i, axis in enumerate("xyz"):
            found[axis] = partial(own.center_component, "placement", i)
            found[f"d{axis}"] = partial(own.center_component, "frame_velocity", 3 + i)
            found[f"w{axis}"] = partial(own.center_component, "frame_velocity", i)
            found[f"dd{axis}"] = partial(own.center_component, "frame_acceleration", 3 + i)
        return found

    # -- derivatives, Jacobians, reactions --------------------------------------------------

    def _find_derivative_symbol(self, name: str) -> SX | None:
        """L_q1, L_dq1, dL_dq1, P_theta2, M12_q3."""
        match = DERIVATIVE_SYMBOL.fullmatch(name)
        variable = self.derivative_variable(match[4]) if match is not None else None
        if match is None or variable is None:
            return None
        rate, stem, digits, _ = match.groups()
        column, i = variable
        whole: SX | None
        if stem in self.energy_symbols and not digits:
            whole = self.energy_symbols[stem]()
        else:
            whole = self._find_indexed_symbol(stem + digits) if digits else None
        if whole is None:
            return None
        if rate:
            return self.momentum_rates[i] if stem in "LTK" and column == "qd" else None
        return ca.jacobian(whole, self.symbols[column][i])

    def derivative_variable(self, name: str) -> tuple[str, int] | None:
        """The column and index of a coordinate or speed that is derived by: one of the mechanism's
        own names; else q1 is the first coordinate, whatever its name."""
        own = self.names
        flat = name.replace("_", "")
        for key, words in (("q", own.q), ("qd", [f"d{word}" for word in own.qd])):
            for i, word in enumerate(words):
                if flat == word.replace("_", "") and not self._is_quaternion_entry(key, i):
                    return key, i
        match = re.fullmatch(r"(d?)q(\d+)", flat)
        if match is None or own.q != own.qd or not 1 <= int(match[2]) <= own.nv:
            return None
        return "qd" if match[1] else "q", int(match[2]) - 1

    def _is_quaternion_entry(self, column: str, i: int) -> bool:
        """Whether a coordinate cannot change alone."""
        return column == "q" and any(
            k <= i < k + 4 for k in quaternion_offsets(self.vocabulary.mechanism)
        )

    def _find_jacobian_symbol(self, name: str) -> SX | None:
        match = _JACOBIAN_SYMBOL.fullmatch(name) or _JACOBIAN_SYMBOL.fullmatch(
            name.replace("_", "")
        )
        if match is None:
            return None
        if match[1]:
            body, column = int(match[2]), int(match[4])
            row = int(match[3]) + (2 if match[1] == "v" else -1)
        else:
            axis = match[5]
            row = "xyz".index(axis.removeprefix("w") or "z") + (0 if axis.startswith("w") else 3)
            body, column = int(match[6]), int(match[7])
        if not (1 <= body <= len(self.body_symbols) and 1 <= column <= self.names.nv):
            return None
        return self.body_symbols.center_quantity("jacobian", body - 1)[row, column - 1]

    def _find_reaction_symbol(self, name: str) -> SX | None:
        letter, axis, joint = name[:1], name[1:2], name[3:]
        if letter not in "FM" or axis not in "xyz" or name[2:3] != "_":
            return None
        if joint not in self.names.joints or self.names.constraints:
            return None
        row = "xyz".index(axis) + (3 if letter == "F" else 0)
        return self.quantity_expression("reactions_of_motion")[self.names.joints.index(joint), row]

    def why_index_fails(self, name: str) -> str:
        """The reason why the indices of a name from papers fail; empty if it is not such a name."""
        match = _INDEXED_SYMBOL.fullmatch(name)
        tables = (
            self._matrix_symbols,
            self._vector_symbols,
            self._center_symbols,
            self._constraint_symbols,
        )
        known = {stem for table in tables for stem in table} | {"c", "Gamma", "tau", "lambda"}
        if match is None or match[1] not in known or self.find_expression(name) is not None:
            return ""
        stem, count = match[1], len(match[2].replace("_", ""))
        if stem == "f" and not self.names.position_row_count:
            return "the mechanism has no holonomic constraints, which f1, f2, … stand for"
        if stem in ("J", "lambda") and not self.names.constraints:
            return f"the mechanism has no constraints, which {stem} belongs to"
        if stem in ("c", "Gamma") and self.names.q != self.names.qd:
            return "Christoffel symbols need velocities that are rates of coordinates"
        wanted = 3 if stem in ("c", "Gamma") else 2 if stem in (*self._matrix_symbols, "J") else 1
        if count < wanted:
            example = f"{stem}{'111'[:wanted]}"
            return f"as an entry of {stem} it needs {wanted} indices, such as {example}"
        return "its indices are out of range"


def split_symbol_indices(text: str, sizes: Sequence[int]) -> list[int]:
    """12 is 1 and 2, or 12 where one index is wanted; with _ between them, indices may have several
    digits. Empty if they are not as many as the sizes, or out of range."""
    parts = text.strip("_").split("_")
    if len(parts) == 1 and len(sizes) > 1:
        width = len(text) // len(sizes)
        parts = [text[k : k + width] for k in range(0, len(text), width or 1)]
    if len(parts) != len(sizes) or any(not part or len(part) > 4 for part in parts):
        return []
    at = [int(part) for part in parts]
    return at if all(1 <= i <= size for i, size in zip(at, sizes, strict=True)) else []


def add_flat_names(found: dict[str, SX]) -> dict[str, SX]:
    """The names, and beside them those without underscores; what comes first stays."""
    flat: dict[str, SX] = {}
    for name, value in found.items():
        flat.setdefault(name.replace("_", ""), value)
    return {**flat, **found}


@lru_cache(maxsize=1024)
def rate_spellings(name: str) -> tuple[tuple[str, str], ...]:
    """The spellings of a coordinate's velocity and acceleration."""
    stem = name.rstrip("0123456789")
    index = name[len(stem) :]
    found = [(f"d{name}", f"dd{name}")]
    for one, two in (("dot", "ddot"), ("d", "dd"), ("p", "pp")):
        found += [(f"{name}{one}", f"{name}{two}"), (f"{stem}{one}{index}", f"{stem}{two}{index}")]
    return tuple(found)
