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

`x1` is of the first body, `M12` of the first and second coordinate; a name of the mechanism goes
before these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import casadi as ca

from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError
from ..expressions import Exact, Expression, fold, parse
from ..formulations import derive
from ..kinematics.values import CasadiAlgebra
from ..mechanism import Mechanism
from ..mechanism.mechanism import replaced
from ..tape import Tape, record
from .declarations import NOTHING, Declarations
from .motors import part_of

SX = Any
Lift = Callable[[Exact], Any]
Find = Callable[[str], str | Expression | None]
_CENTER = "mass_center_of_body_{}"
_INDEXED = re.compile(r"([A-Za-z]+?)_?(\d[\d_]*)")
_BY = re.compile(r"(d?)([A-Za-z]+)(\d*)_(\w+)")
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
        centers = {
            _CENTER.format(k): {"body": name, "origin": body.center}
            for k, (name, body) in enumerate(mechanism.bodies.items(), 1)
        }
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

    def center(self, k: int) -> str:
        """The frame at the k-th body's mass centre."""
        return _CENTER.format(k + 1)

    def _find(self, name: str) -> SX | None:
        if "@" in name:
            return part_of(self, name)
        for spelling in dict.fromkeys((name, name.replace("_", ""))):
            if spelling in self.given:
                return self.given[spelling]
        if name in self.energies:
            return self.energies[name]()
        for search in (self._indexed, self._by, self._jacobian, self._reaction):
            found = search(name)
            if found is not None:
                return found
        of_one = [self._indexed(f"{name}{ones}") for ones in ("1", "11") if self.names.nv == 1]
        return next((found for found in of_one if found is not None), None)

    @cached_property
    def given(self) -> dict[str, SX]:
        """Parameters, motion, drives, and their other spellings; what comes first stays."""
        found = {name: self.symbols["p"][i] for i, name in enumerate(self.parameters)}
        columns = {key: ca.vertsplit(self.symbols[key]) for key in ("q", "qd", "qdd", "tau", "u")}
        for i, name in enumerate(self.names.q):
            found.setdefault(name, columns["q"][i])
        for i, name in enumerate(self.names.qd):
            for spelling in spellings(name):
                for key, word in zip(("qd", "qdd"), spelling, strict=True):
                    found.setdefault(word, columns[key][i])
            found.setdefault(f"tau_{name}", columns["tau"][i])
            found.setdefault(f"Q_{name}", columns["tau"][i])
        for i, name in enumerate(self.names.actuators):
            found.setdefault(name, columns["u"][i])
        for i, drive in enumerate(columns["u" if self.names.actuators else "tau"], 1):
            found.setdefault(f"tau{i}", drive)
        for i, force in enumerate(columns["tau"], 1):
            found.setdefault(f"Q{i}", force)
        for i, force in enumerate(ca.vertsplit(self.symbols["lambda"]), 1):
            found.setdefault(f"lambda{i}", force)
        if len(columns["u"]) == 1:
            found.setdefault("tau", found["tau1"])
        found.setdefault("t", self.symbols["t"])
        return {**{key.replace("_", ""): x for key, x in found.items()}, **found}

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
        """What has axes and a velocity."""
        declared = self.declared
        own = self.mechanism
        return [*own.bodies, *own.frames, *declared.frames, *declared.composed]

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

    def christoffel(self, i: int, j: int, k: int) -> SX:
        """½(∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k)."""
        M, q = self.one("mass_matrix"), self.symbols["q"]
        parts = (M[k, j], q[i]), (M[k, i], q[j]), (M[i, j], q[k])
        by_i, by_j, by_k = (ca.jacobian(entry, x) for entry, x in parts)
        return (by_i + by_j - by_k) / 2

    def _indexed(self, name: str) -> SX | None:
        match = _INDEXED.fullmatch(name)
        if match is None:
            return None
        stem, at = match[1], indices(match[2])
        tables: tuple[tuple[dict[str, Callable[..., SX]], int, int], ...] = (
            (self._matrices, 2, self.names.nv),
            (self._vectors, 1, self.names.nv),
            (self._of_bodies, 1, len(self.names.bodies)),
            (self._of_constraints, 1, len(self.names.constraints)),
        )
        for table, count, size in tables:
            if stem in table and len(at) == count and all(1 <= i <= size for i in at):
                return table[stem](*(i - 1 for i in at))
        if stem in ("c", "Gamma") and len(at) == 3 and all(1 <= i <= self.names.nv for i in at):
            return self.christoffel(*(i - 1 for i in at))
        if stem == "J" and len(at) == 2 and at[0] <= len(self.names.constraints):
            return self.one("constraint_jacobian")[at[0] - 1, at[1] - 1]
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
    def _of_constraints(self) -> dict[str, Callable[[int], SX]]:
        return {"f": lambda i: self.one("constraint_residual")[i]}

    @cached_property
    def _of_bodies(self) -> dict[str, Callable[[int], SX]]:
        def velocity(k: int) -> SX:
            return self.one("frame_velocity", _CENTER.format(k + 1))

        found: dict[str, Callable[[int], SX]] = {
            "v": lambda k: ca.sqrt(ca.sumsqr(velocity(k)[3:])),
            "w": lambda k: velocity(k)[2],
            "omega": lambda k: velocity(k)[2],
            "K": self.kinetic_energy_of, "V": self.weight_of, "P": self.weight_of,
        }  # fmt: skip
        for i, axis in enumerate("xyz"):
            found[axis] = partial(self._of_center, "placement", i)
            found[f"d{axis}"] = partial(self._of_center, "frame_velocity", 3 + i)
            found[f"w{axis}"] = partial(self._of_center, "frame_velocity", i)
            found[f"dd{axis}"] = partial(self._of_center, "frame_acceleration", 3 + i)
        return found

    def _of_center(self, function: str, row: int, k: int) -> SX:
        """A component of the place or motion of the k-th mass centre."""
        whole = self.one(function, _CENTER.format(k + 1))
        return whole[row, 3] if function == "placement" else whole[row]

    def kinetic_energy_of(self, k: int) -> SX:
        """½ m v² + v·(ω × mc) + ½ ωᵀIω in the body's axes."""
        body = self.names.bodies[k]
        m, h, inertia = self.inertial(k)
        R = self.one("placement", body)[:3, :3]
        V = self.one("frame_velocity", body)
        w, v = R.T @ V[:3], R.T @ V[3:]
        return m * ca.sumsqr(v) / 2 + ca.dot(v, ca.cross(w, h)) + ca.dot(w, inertia @ w) / 2

    def inertial(self, k: int) -> tuple[SX, SX, SX]:
        m, x, y, z, xx, xy, yy, xz, yz, zz = ca.vertsplit(
            self.eqs.inertial_parameters[10 * k : 10 * k + 10]
        )
        rows = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        return m, ca.vertcat(x, y, z), ca.vertcat(*(ca.horzcat(*row) for row in rows))

    def weight_of(self, k: int) -> SX:
        """Linear in the body's mass and moments: what is left of V without the other bodies'."""
        from ..kinematics.build import build_tree

        m, h, _ = self.inertial(k)
        T = self.one("placement", self.names.bodies[k])
        gravity = ca.SX(build_tree(self.mechanism, "symbolic").gravity)
        named = {str(x): x for x in ca.vertsplit(self.symbols["p"])}
        own = ca.symvar(gravity)
        gravity = ca.substitute(
            gravity, ca.vertcat(*own), ca.vertcat(*(named[str(x)] for x in own))
        )
        return -ca.dot(gravity, m * T[:3, 3] + T[:3, :3] @ h)

    # -- derivatives, Jacobians, reactions --------------------------------------------------

    def _by(self, name: str) -> SX | None:
        """L_q1, L_dq1, dL_dq1, P_theta2, M12_q3."""
        match = _BY.fullmatch(name)
        if match is None:
            return None
        rate, stem, digits, by = match.groups()
        column, i = self._variable(by)
        scalar = stem in self.energies and not digits
        whole = (
            self.energies[stem]() if scalar else self._indexed(stem + digits) if digits else None
        )
        if whole is None or column is None:
            return None
        if rate:
            return self.momentum_rates[i] if stem in "LTK" and column == "qd" else None
        return ca.jacobian(whole, self.symbols[column][i])

    def _variable(self, name: str) -> tuple[str | None, int]:
        """The column and index of a coordinate or speed; q1 is the first, whatever its name."""
        for key, prefix in (("qd", "d"), ("q", "")):
            for i, own in enumerate(self.names.qd):
                if name in (f"{prefix}{own}", f"{prefix}q{i + 1}"):
                    return key, i
        return None, 0

    def _jacobian(self, name: str) -> SX | None:
        match = _JACOBIAN.fullmatch(name)
        if match is None:
            return None
        if match[1]:
            body, row, column = (
                int(match[2]),
                int(match[3]) + (2 if match[1] == "v" else -1),
                match[4],
            )
        else:
            axis = match[5]
            turns = axis.startswith("w")
            row = "xyz".index(axis.removeprefix("w") or "z") + (0 if turns else 3)
            body, column = int(match[6]), match[7]
        if not (1 <= body <= len(self.names.bodies) and 1 <= int(column) <= self.names.nv):
            return None
        return self.one("jacobian", _CENTER.format(body))[row, int(column) - 1]

    def _reaction(self, name: str) -> SX | None:
        letter, axis, joint = name[:1], name[1:2], name[3:]
        if letter not in "FM" or axis not in "xyz" or name[2:3] != "_":
            return None
        if joint not in self.names.joints or self.names.constraints:
            return None
        row = "xyz".index(axis) + (3 if letter == "F" else 0)
        return self.one("reactions_of_motion")[self.names.joints.index(joint), row]

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


def indices(text: str) -> list[int]:
    """12 is 1 and 2; with _ between them, indices may have several digits."""
    parts = text.strip("_").split("_")
    return [int(d) for d in parts[0]] if len(parts) == 1 else [int(d[:4] or 0) for d in parts]


def spellings(name: str) -> list[tuple[str, str]]:
    """How people write the speed and the acceleration of a coordinate."""
    stem = name.rstrip("0123456789")
    index = name[len(stem) :]
    found = [(f"d{name}", f"dd{name}")]
    for one, two in (("dot", "ddot"), ("d", "dd"), ("p", "pp")):
        found += [(f"{name}{one}", f"{name}{two}"), (f"{stem}{one}{index}", f"{stem}{two}{index}")]
    return found
