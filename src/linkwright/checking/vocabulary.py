"""What names mean: every symbol that papers use, as an expression of our own equations.

Coordinates, speeds, accelerations, drives and parameters carry the mechanism's names. Beside them:

    K T, V P U, L, H, E         energies; K1, V1, … those of the bodies
    M11 D11 d11 H11, C11, c111  mass matrix, Coriolis matrix, Christoffel symbols c_ijk of row k
    g1 G1 phi1, p1, dp1         forces of weight, momenta and their rates
    x1 dx1 ddx1, v1, w1         mass centres, their speeds, angular velocities (about z; wx1, …)
    Jv1_11, Jx11, Jw11          Jacobians of mass centres and angular velocities
    L_q1, L_dq1, dL_dq1, M11_q1 derivatives
    Fx_q1, Mz_q1                what a joint's parent does to its child, world axes
    J11, f1, lambda1            constraint Jacobian, residuals and multipliers

`x1` is of the first body, `M12` of the first and second coordinate. Names of the mechanism go before
these, everywhere: `L_q1` is the derivative by the coordinate q1 where there is one of that name, and
else by the first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import casadi as ca

from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError
from ..expressions import Exact, Expression, fold, parse, to_float
from ..formulations import derive
from ..identify.rank import quaternions_of
from ..kinematics.values import CasadiAlgebra
from ..mechanism import Mechanism
from ..mechanism.mechanism import replaced
from ..tape import Tape, record
from .body_quantities import BodyQuantities, center_frames
from .declarations import NOTHING, Declarations
from .motors import part_of

SX = Any
Lift = Callable[[Exact], Any]
Find = Callable[[str], str | Expression | None]
_INDEXED = re.compile(r"([A-Za-z]+?)_?(\d[\d_]*)")
_BY = re.compile(r"(d?)([A-Za-z]+)(\d*)_(\w+)")
_MEMBER = re.compile(r"([A-Za-z]\w*?)(\d+)")
_OF_ONE = {"M": "11", "C": "11", "p": "1", "dp": "1"}
"""What is written without indices where there is one coordinate."""
_JACOBIAN = re.compile(r"J([vw])(\d)_?([1-3])(\d)|J(w?[xyz]|w)(\d)(\d)")


def exact_float(value: Exact) -> float:
    """The number, where floating point has it."""
    if isinstance(value, Fraction) and Fraction(float(value)) == value:
        return float(value)
    raise UnsupportedError(
        f"{value} cannot stand here exactly", remedy="give it a name among the parameters"
    )


class Vocabulary:
    """The names that a mechanism gives a meaning to, and their expressions."""

    inputs: tuple[str, ...] = ("q", "qd", "qdd", "tau", "u", "lambda", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: Declarations = NOTHING) -> None:
        self.mechanism = mechanism
        self.declared = declared
        self.speeds: list[SX] = []
        centers = center_frames(mechanism)
        plain = replaced(mechanism, frames={**mechanism.frames, **declared.frames, **centers})
        self.eqs: Equations = derive(plain)
        self.names = self.eqs.names
        drives = len(self.names.actuators) or self.names.nv
        n_constraints = len(self.names.constraints)
        self.symbols = {key: self.eqs.symbols[key] for key in ("q", "qd", "qdd", "tau")}
        self.symbols["u"] = ca.SX.sym("u", drives)
        self.symbols["lambda"] = ca.SX.sym("lambda", n_constraints)
        self.symbols["t"] = self.eqs.symbols["t"] if self.names.in_time else ca.SX.sym("t")
        own = self.eqs.symbols["p"] if self.eqs.parameters else ca.SX.sym("p", 0)
        idle = [name for name in mechanism.parameters if name not in self.eqs.parameters]
        self.symbols["p"] = ca.vertcat(own, *(ca.SX.sym(name) for name in idle))
        self.parameters = [*self.eqs.parameters, *idle]
        self.bodies = BodyQuantities(self)
        self._found: dict[str, SX | None] = {}
        self._tapes: dict[str, Tape] = {}

    # -- finding ----------------------------------------------------------------------------

    def expression(self, name: str) -> SX | None:
        """The expression of a name, if it has one."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def known(self, name: str) -> SX:
        found = self.expression(name)
        assert found is not None, name
        return found

    def __contains__(self, name: str) -> bool:
        return self.expression(name) is not None

    def _find(self, name: str) -> SX | None:
        if name.startswith("lagrange@"):
            return self._motion_of_lagrange(int(name.partition("@")[2]))
        if "@" in name:
            return part_of(self, name)
        for spelling in dict.fromkeys((name, name.replace("_", ""))):
            if spelling in self.own:
                return self.own[spelling]
        return None if self.is_stray(name) else self.customary(name)

    def is_out_of_range(self, name: str) -> bool:
        """Whether a name is one of papers, but for indices that the mechanism does not have."""
        match = _INDEXED.fullmatch(name)
        tables = (self._matrices, self._vectors, self._of_bodies, self._of_constraints)
        known = {stem for table in tables for stem in table} | {"c", "Gamma", "tau", "lambda"}
        return match is not None and match[1] in known and name not in self

    def collision(self, name: str) -> str:
        """A sentence for a name of the mechanism that means something else in papers."""
        flat = name.replace("_", "")
        own = self.own.get(name, self.own.get(flat))
        if own is not None:
            other = self.customary(name)
            if other is None or ca.is_equal(ca.SX(own), ca.SX(other), 2):
                return ""
            return f"{name} is the mechanism's own {name}, not what papers call so."
        match = _BY.fullmatch(name)
        variable = self.variable(match[4]) if match is not None else None
        if match is None or variable is None or name not in self:
            return ""
        by, place = match[4].replace("_", ""), re.fullmatch(r"d?q(\d+)", match[4].replace("_", ""))
        if place is None or int(place[1]) == variable[1] + 1 or by.lstrip("d") not in self.own:
            return ""
        return f"{match[4]} in {name} is the coordinate of that name, not coordinate {place[1]}."

    def is_customary(self, name: str) -> bool:
        """Whether a name has its meaning from papers, not from the mechanism."""
        return name in self and name not in self.own and name.replace("_", "") not in self.own

    def family_of(self, name: str) -> list[str]:
        """The mechanism's names that differ from a name by their number alone."""
        match = _MEMBER.fullmatch(name)
        return self.families.get(match[1].rstrip("_"), []) if match else []

    def _motion_of_lagrange(self, k: int) -> SX:
        """d/dt ∂L/∂q̇ − ∂L/∂q of the k-th coordinate."""
        slope = ca.jacobian(self.T - self.V, self.symbols["q"][k])
        return self.momentum_rates[k] - slope

    @cached_property
    def own(self) -> dict[str, SX]:
        """The mechanism's names: parameters, motion, actuators, and their other spellings; what
        comes first stays."""
        found = {name: self.symbols["p"][i] for i, name in enumerate(self.parameters)}
        columns = {key: ca.vertsplit(self.symbols[key]) for key in ("q", "qd", "qdd", "u")}
        for i, name in enumerate(self.names.q):
            found.setdefault(name, columns["q"][i])
        for i, name in enumerate(self.names.actuators):
            found.setdefault(name, columns["u"][i])
        for i, name in enumerate(self.names.qd):
            for spelling in spellings(name):
                for key, word in zip(("qd", "qdd"), spelling, strict=True):
                    found.setdefault(word, columns[key][i])
        return with_flat_names(found)

    @cached_property
    def forces(self) -> dict[str, SX]:
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
        return with_flat_names(found)

    @property
    def given(self) -> dict[str, SX]:
        """Names that stand for one symbol each."""
        return {**self.forces, **self.own}

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The mechanism's names with a number at their end, by what stands before it."""
        found: dict[str, list[str]] = {}
        drives = [] if self.names.actuators else [f"tau{i + 1}" for i in range(self.names.nv)]
        for name in (*self.parameters, *self.names.q, *self.names.actuators, *drives):
            if name not in self.eqs.constants and (match := _MEMBER.fullmatch(name)):
                found.setdefault(match[1].rstrip("_"), []).append(name)
        return found

    def is_stray(self, name: str) -> bool:
        """Whether a name looks like one of a family of the mechanism's, but is not: m3 of two."""
        match = _MEMBER.fullmatch(name)
        if match is None or match[1].rstrip("_") not in self.families:
            return False
        stem = match[1].rstrip("_")
        known = {word.replace("_", "") for word in (*self.own, *self.forces)}
        if name.replace("_", "") in known:
            return False
        return len(match[2]) == 1 or stem in ("m", "d") or self.customary(name) is None

    def customary(self, name: str) -> SX | None:
        """What the symbol means in papers, whatever the mechanism's own names are."""
        for spelling in dict.fromkeys((name, name.replace("_", ""))):
            if spelling in self.forces:
                return self.forces[spelling]
        if name in self.energies:
            return self.energies[name]()
        for search in (self._indexed, self._by, self._jacobian, self._reaction):
            found = search(name)
            if found is not None:
                return found
        if name == "g":
            return self._size_of_gravity()
        if self.names.nv == 1 and name in _OF_ONE:
            return self._indexed(name + _OF_ONE[name])
        return None

    def _size_of_gravity(self) -> SX | None:
        """g where the mechanism gives gravity by its components, one of them not zero."""
        gravity = ca.SX(self.bodies.gravity)
        acting = [i for i in range(3) if not gravity[i].is_zero()]
        if len(acting) != 1:
            return None
        down = to_float(self.mechanism.gravity[acting[0]], self.mechanism.values) < 0
        return -gravity[acting[0]] if down else gravity[acting[0]]

    @cached_property
    def energies(self) -> dict[str, Callable[[], SX]]:
        potential, kinetic = (lambda: self.V), (lambda: self.T)
        return {
            "K": kinetic, "T": kinetic, "V": potential, "P": potential, "U": potential,
            "L": lambda: self.T - self.V, "E": lambda: self.T + self.V,
            "H": lambda: ca.dot(self.momenta, self.symbols["qd"]) - self.T + self.V,
        }  # fmt: skip

    # -- quantities -------------------------------------------------------------------------

    def one(self, function: str, *frame: str) -> SX:
        if frame and frame[0] in self.declared.composed:
            turning, moving = (self.one(function, x) for x in self.declared.composed[frame[0]])
            if function == "placement":
                return ca.vertcat(ca.horzcat(turning[:3, :3], moving[:3, 3]), turning[3, :])
            return ca.vertcat(turning[:3, :], moving[3:, :])
        return ca.SX(self.eqs.expressions(function, *frame)[0])

    @property
    def owners(self) -> list[str]:
        """What has axes and a velocity; V_q1 is a derivative where q1 is a coordinate too."""
        declared, own = self.declared, self.mechanism
        every = [*own.bodies, *own.frames, *declared.frames, *declared.composed]
        return [name for name in every if name not in self.names.q]

    def choose_speeds(self, speeds: Sequence[Expression], find: Find) -> None:
        """Generalized speeds, by which velocities have their parts."""
        self.speeds = [self.read(speed, find) for speed in speeds]
        self._found = {name: x for name, x in self._found.items() if "@" not in name}

    def read(self, expression: Expression, find: Find, lift: Lift = exact_float) -> SX:
        """An expression of their names as one of our symbols."""

        def value(name: str) -> SX:
            meaning = find(name)
            if meaning is None:
                raise NameNotFoundError(f"'{name}' has no meaning for {self.mechanism.name}")
            if isinstance(meaning, str):
                return self.known(meaning)
            return self.read(meaning, find, lift)

        found = fold(expression, CasadiAlgebra(lift), value)
        return ca.SX(lift(found) if isinstance(found, Fraction) else found)

    def mass_at(self, frame: str) -> SX | None:
        """Of a particle that the text declares there."""
        if frame not in self.declared.masses:
            return None
        expression = parse(self.declared.masses[frame])
        return self.read(expression, lambda name: name if name in self.parameters else None)

    @cached_property
    def T(self) -> SX:
        return self.one("kinetic_energy")

    @cached_property
    def V(self) -> SX:
        return self.one("potential_energy")

    @cached_property
    def momenta(self) -> SX:
        return ca.gradient(self.T, self.symbols["qd"])

    @cached_property
    def momentum_rates(self) -> SX:
        """M q̈ + Ṁ q̇."""
        along = ca.jtimes(self.momenta, self.symbols["q"], self.eqs.rates @ self.symbols["qd"])
        return self.one("mass_matrix") @ self.symbols["qdd"] + along

    def christoffel(self, i: int, j: int, k: int) -> SX | None:
        """½(∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k), where speeds are rates of coordinates."""
        if self.names.q != self.names.qd:
            return None
        M, q = self.one("mass_matrix"), self.symbols["q"]
        parts = (M[k, j], q[i]), (M[k, i], q[j]), (M[i, j], q[k])
        by_i, by_j, by_k = (ca.jacobian(entry, x) for entry, x in parts)
        return (by_i + by_j - by_k) / 2

    def _indexed(self, name: str) -> SX | None:
        match = _INDEXED.fullmatch(name)
        if match is None:
            return None
        stem, n = match[1], self.names.nv
        tables: tuple[tuple[Mapping[str, Callable[..., SX]], tuple[int, ...]], ...] = (
            (self._matrices, (n, n)),
            (self._vectors, (n,)),
            (self._of_bodies, (len(self.bodies),)),
            ({"c": self.christoffel, "Gamma": self.christoffel}, (n, n, n)),
        )
        for table, sizes in tables:
            if stem in table and (at := indices(match[2], sizes)):
                return table[stem](*(i - 1 for i in at))
        if self.names.constraints and stem in self._of_constraints:
            whole = ca.densify(self._of_constraints[stem]())
            sizes = whole.shape if stem == "J" else whole.shape[:1]
            if at := indices(match[2], sizes):
                return whole[tuple(i - 1 for i in at)] if len(at) > 1 else whole[at[0] - 1]
        return None

    @cached_property
    def _matrices(self) -> dict[str, Callable[[int, int], SX]]:
        mass = dict.fromkeys(("M", "D", "d", "H", "m"), lambda i, j: self.one("mass_matrix")[i, j])
        return {**mass, "C": lambda i, j: self.one("coriolis_matrix")[i, j]}

    @cached_property
    def _vectors(self) -> dict[str, Callable[[int], SX]]:
        weight = dict.fromkeys(("g", "G", "phi"), lambda i: self.one("gravity")[i])
        return {
            **weight, "p": lambda i: self.momenta[i], "dp": lambda i: self.momentum_rates[i],
            "bias": lambda i: self.one("bias")[i],
        }  # fmt: skip

    @cached_property
    def _of_constraints(self) -> dict[str, Callable[[], SX]]:
        return {
            "f": lambda: self.one("constraint_residual"),
            "J": lambda: self.one("constraint_jacobian"),
        }

    @cached_property
    def _of_bodies(self) -> dict[str, Callable[[int], SX]]:
        own = self.bodies
        turning = partial(own.coordinate, "frame_velocity", 2)
        found: dict[str, Callable[[int], SX]] = {
            "v": own.speed, "w": turning, "omega": turning,
            "K": own.kinetic_energy, "V": own.potential_energy, "P": own.potential_energy,
        }  # fmt: skip
        for i, axis in enumerate("xyz"):
            found[axis] = partial(own.coordinate, "placement", i)
            found[f"d{axis}"] = partial(own.coordinate, "frame_velocity", 3 + i)
            found[f"w{axis}"] = partial(own.coordinate, "frame_velocity", i)
            found[f"dd{axis}"] = partial(own.coordinate, "frame_acceleration", 3 + i)
        return found

    # -- derivatives, Jacobians, reactions --------------------------------------------------

    def _by(self, name: str) -> SX | None:
        """L_q1, L_dq1, dL_dq1, P_theta2, M12_q3."""
        match = _BY.fullmatch(name)
        variable = self.variable(match[4]) if match is not None else None
        if match is None or variable is None:
            return None
        rate, stem, digits, _ = match.groups()
        column, i = variable
        if stem in self.energies and not digits:
            whole = self.energies[stem]()
        else:
            whole = self._indexed(stem + digits) if digits else None
        if whole is None:
            return None
        if rate:
            return self.momentum_rates[i] if stem in "LTK" and column == "qd" else None
        return ca.jacobian(whole, self.symbols[column][i])

    def variable(self, name: str) -> tuple[str, int] | None:
        """The column and index of a coordinate or speed that is derived by: one of the mechanism's
        own names; else q1 is the first coordinate, whatever its name."""
        own = self.names
        flat = name.replace("_", "")
        for key, words in (("q", own.q), ("qd", [f"d{word}" for word in own.qd])):
            for i, word in enumerate(words):
                if flat == word.replace("_", "") and not self._is_of_quaternion(key, i):
                    return key, i
        match = re.fullmatch(r"(d?)q(\d+)", flat)
        if match is None or own.q != own.qd or not 1 <= int(match[2]) <= own.nv:
            return None
        return "qd" if match[1] else "q", int(match[2]) - 1

    def _is_of_quaternion(self, column: str, i: int) -> bool:
        """Whether a coordinate cannot change alone."""
        return column == "q" and any(k <= i < k + 4 for k in quaternions_of(self.eqs))

    def _jacobian(self, name: str) -> SX | None:
        match = _JACOBIAN.fullmatch(name)
        if match is None:
            return None
        if match[1]:
            body, column = int(match[2]), int(match[4])
            row = int(match[3]) + (2 if match[1] == "v" else -1)
        else:
            axis = match[5]
            row = "xyz".index(axis.removeprefix("w") or "z") + (0 if axis.startswith("w") else 3)
            body, column = int(match[6]), int(match[7])
        if not (1 <= body <= len(self.bodies) and 1 <= column <= self.names.nv):
            return None
        return self.bodies.at_center("jacobian", body - 1)[row, column - 1]

    def _reaction(self, name: str) -> SX | None:
        letter, axis, joint = name[:1], name[1:2], name[3:]
        if letter not in "FM" or axis not in "xyz" or name[2:3] != "_":
            return None
        if joint not in self.names.joints or self.names.constraints:
            return None
        row = "xyz".index(axis) + (3 if letter == "F" else 0)
        return self.one("reactions")[self.names.joints.index(joint), row]

    # -- tapes ------------------------------------------------------------------------------

    def function(self, name: str) -> Tape:
        """A function of the equations as a tape, recorded once."""
        if name not in self._tapes:
            whole = self.eqs.function(name)
            kept = [out for out in whole.name_out() if out != "pivot"]  # sizes have no meaning here
            self._tapes[name] = record(whole.factory(name, whole.name_in(), kept))
        return self._tapes[name]

    def tape(self, wanted: Sequence[str]) -> Tape:
        """All wanted names as functions of the motion, the drives, and the parameters."""
        inputs = [self.symbols[key] for key in self.inputs]
        columns = ca.vertcat(*(ca.SX(self.known(name)) for name in wanted))
        merged = ca.cse([ca.densify(columns)])
        return record(ca.Function("wanted", inputs, merged, list(self.inputs), ["wanted"]))


def indices(text: str, sizes: Sequence[int]) -> list[int]:
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


def with_flat_names(found: dict[str, SX]) -> dict[str, SX]:
    """The names, and beside them those without underscores; what comes first stays."""
    flat: dict[str, SX] = {}
    for name, value in found.items():
        flat.setdefault(name.replace("_", ""), value)
    return {**flat, **found}


def spellings(name: str) -> list[tuple[str, str]]:
    """How people write the speed and the acceleration of a coordinate."""
    stem = name.rstrip("0123456789")
    index = name[len(stem) :]
    found = [(f"d{name}", f"dd{name}")]
    for one, two in (("dot", "ddot"), ("d", "dd"), ("p", "pp")):
        found += [(f"{name}{one}", f"{name}{two}"), (f"{stem}{one}{index}", f"{stem}{two}{index}")]
    return found
