"""Lagrange's equations derived step by step, as a lecture writes them on the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...kinematics.body_forces import point_spring_energy
from ...kinematics.rotor_inertias import doubled_rotor_energy
from ...kinematics.tree_coordinates import spread_velocities
from ...kinematics.tree_totals import joint_spring_energy, tree_weight_energy
from ...kinematics.world_kinematics import WorldBody
from ...types import SX
from ...written_equations import EquationCounts, EquationLine, EquationSection, EquationSet

if TYPE_CHECKING:
    from . import LagrangeFormulation

_AXES = "xyz"


def lagrange_derivation(own: LagrangeFormulation) -> EquationSet:
    """Positions and velocities of the centres of mass, T, V, L, its derivatives, and the equations
    of motion; all lines are numbered."""
    board = _Blackboard(own)
    n = own.tree.nv
    rows = 0 if own.constraints is None else len(own.reduction.choice.rows)
    return EquationSet(
        "Lagrange's equations, step by step",
        tuple(_number_sections(board.sections())),
        EquationCounts(n + rows, n + rows, 2 * n, {"M": (n, n)}),
        symbols=board.meanings(),
        rates=board.rates(),
    )


def _number_sections(sections: Sequence[EquationSection]) -> Iterator[EquationSection]:
    """The sections with their lines numbered from (1) on."""
    numbers = count(1)
    for section in sections:
        lines = (replace(line, number=str(next(numbers))) for line in section.lines)
        yield replace(section, lines=tuple(lines))


@dataclass(frozen=True)
class _MovingBody:
    """A body with its index in symbols, its velocity, and its angular velocity in its own axes."""

    index: str
    body: WorldBody
    velocity: Array
    spin: Array
    inertia: Array


class _Blackboard:
    """The lines of one mechanism's derivation, section by section."""

    def __init__(self, own: LagrangeFormulation) -> None:
        self.own, self.tree = own, own.tree
        self.q, self.qd, self.qdd, self.t = own.q, own.qd, own.qdd, own.tree.motion.t
        self.T = ca.SX(own.kinetic_energy())
        self.springs = ca.SX(
            joint_spring_energy(own.tree, own.q) + point_spring_energy(own.tree, own.q)
        )
        self.V = ca.SX(tree_weight_energy(own.tree, own.q)) + self.springs
        self.momenta = ca.gradient(self.T, self.qd)
        taken = {*self.tree.names.q, *self.tree.symbols}
        places = {f"{axis}{k + 1}" for axis in _AXES for k in range(len(self.tree.masses))}
        self.stem = "C" if taken & places else ""
        self.bodies = [self._moving_body(body) for body in own.world.bodies if _has_mass(body)]

    def _moving_body(self, body: WorldBody) -> _MovingBody:
        """A body with its velocities; bodies that are fixed together go by their names."""
        names, tree = self.tree.names.bodies, self.tree
        alone = sum(mass.link == body.link for mass in tree.masses.values()) == 1
        index = str(names.index(body.name) + 1) if alone else f"_{body.name}"
        _, J_w = self.own.world.point_jacobians(body.link, body.r)
        spin = body.R.T @ (J_w @ spread_velocities(tree, self.qd))
        return _MovingBody(
            f"{self.stem}{index}", body, self.rate(body.r), spin, tree.masses[body.name].I
        )

    def rate(self, x: Array) -> SX:
        """The time derivative of functions of q, q̇ and t."""
        rates = ca.jtimes(x, self.q, self.qd) + ca.jtimes(x, self.qd, self.qdd)
        return ca.SX(rates + ca.jacobian(x, self.t))

    def sections(self) -> list[EquationSection]:
        """All steps of the derivation."""
        names = self.tree.names.qd
        by_velocity = [f"∂L/∂d{name}" for name in names]
        by_coordinate = [f"∂L/∂{name}" for name in names]
        slope = ca.gradient(self.T - self.V, self.q)
        rates = self.rate(self.momenta)
        positions = [
            EquationLine(f"{axis}{one.index}", one.body.r[k])
            for one in self.bodies
            for k, axis in enumerate(_AXES)
            if not _is_zero(one.body.r[k])
        ]
        found = [
            EquationSection("Positions of the centres of mass", tuple(positions)),
            EquationSection("Velocities", tuple(self.velocity_lines())),
            EquationSection("Kinetic energy", self.kinetic_energy_lines()),
            EquationSection("Potential energy", tuple(self.potential_energy_lines())),
            EquationSection("Lagrangian", (EquationLine("L", self.T - self.V),), law="L = T − V"),
            EquationSection(
                "Derivatives with respect to the velocities", _lines(by_velocity, self.momenta)
            ),
            EquationSection(
                "Time derivatives of these", _lines([f"d/dt {name}" for name in by_velocity], rates)
            ),
            EquationSection(
                "Derivatives with respect to the coordinates", _lines(by_coordinate, slope)
            ),
        ]
        return [*found, *self.motion_sections(rates - slope)]

    def velocity_lines(self) -> Iterator[EquationLine]:
        """ẋ1, … and the components of the angular velocities that are not zero."""
        for one in self.bodies:
            for k, axis in enumerate(_AXES):
                if not _is_zero(one.velocity[k]):
                    yield EquationLine(f"d{axis}{one.index}", one.velocity[k])
            for name, value, inertia in self.spins(one):
                if not _is_zero(inertia):
                    yield EquationLine(name, value)

    def spins(self, one: _MovingBody) -> Iterator[tuple[str, SX, SX]]:
        """Names and values of a body's angular velocities, and the column of inertia of each; one
        about z has no axis in its name."""
        about = [k for k in range(3) if not _is_zero(one.spin[k])]
        for k in about:
            axis = "" if about == [2] else f"_{_AXES[k]}"
            yield f"omega{axis}{one.index}", one.spin[k], ca.SX(one.inertia[:, k])

    def kinetic_energy_lines(self) -> tuple[EquationLine, ...]:
        """T by the velocities of bodies and rotors, then in coordinates."""
        T: Scalar = ca.SX(0)
        for one in self.bodies:
            v, w = ca.SX.zeros(3), ca.SX.zeros(3)
            for k, axis in enumerate(_AXES):
                v[k] = 0 if _is_zero(one.velocity[k]) else ca.SX.sym(f"d{axis}{one.index}")
            for name, value, _ in self.spins(one):
                place = next(k for k in range(3) if ca.is_equal(one.spin[k], value, 9))
                w[place] = ca.SX.sym(name)
            T += ca.SX(one.body.m) * dot(v, v) / 2 + dot(w, one.inertia @ w) / 2
        joints = spread_velocities(self.tree, self.qd)
        T += doubled_rotor_energy(self.tree, joints) / 2
        return EquationLine("T", T), EquationLine("T", self.T)

    def potential_energy_lines(self) -> Iterator[EquationLine]:
        """V by the heights of the centres of mass and the springs, then in coordinates."""
        V: Scalar = ca.SX(0)
        for one in self.bodies:
            for k, axis in enumerate(_AXES):
                height = one.body.r[k]
                place = 0 if _is_zero(height) else ca.SX.sym(f"{axis}{one.index}")
                V -= ca.SX(one.body.m) * self.tree.gravity[k] * place
        if not _is_zero(self.springs):
            yield EquationLine("V_springs", self.springs)
            V += ca.SX.sym("V_springs")
        yield EquationLine("V", V)
        yield EquationLine("V", self.V)

    def motion_sections(self, left: SX) -> Iterator[EquationSection]:
        """The equations of motion with generalized forces and multipliers, then the constraints."""
        own, names = self.own, self.tree.names
        law, latex, note = "d/dt ∂L/∂q̇ − ∂L/∂q = τ", r"\tau", ""
        forces = own.element_forces()
        right = own.tau + forces + ca.gradient(self.springs, self.q)
        if not _is_zero(forces):
            law, latex = f"{law} + Q", f"{latex} + Q"
            note = "Q are the forces of dampers, friction and declared loads, which are not in V."
        if own.constraints is not None:
            right += own.constraints.J.T @ own.symbols["lambda"]
            law, latex = f"{law} + Jᵀλ", rf"{latex} + J^T \lambda"
        yield EquationSection(
            "Equations of motion",
            tuple(EquationLine(left[k], right[k]) for k in range(self.tree.nv)),
            law=law,
            law_latex=r"\frac{d}{dt} \frac{\partial L}{\partial \dot{q}}"
            rf" - \frac{{\partial L}}{{\partial q}} = {latex}",
            note=note,
        )
        if own.constraints is not None:
            known = ("constraint_residual",) if names.position_row_count else ()
            yield EquationSection(
                "Constraints",
                law="J(q) q̇ + ∂Φ/∂t = 0",
                law_latex=r"J(q)\,\dot{q} + \partial\Phi/\partial t = 0",
                quantities=(*known, "constraint_jacobian"),
            )

    def meanings(self) -> dict[str, str]:
        """The meanings of the symbols that the derivation introduces."""
        found = {}
        for one in self.bodies:
            known = [a for k, a in enumerate(_AXES) if not _is_zero(one.body.r[k])]
            if known:
                places = ", ".join(f"{axis}{one.index}" for axis in known)
                found[places] = f"centre of mass of {one.body.name}, world axes"
            spins = [name for name, _, inertia in self.spins(one) if not _is_zero(inertia)]
            if spins:
                found[", ".join(spins)] = f"angular velocity of {one.body.name}, axes of its link"
        return found

    def rates(self) -> dict[str, tuple[str, int]]:
        """The velocities of the centres of mass as rates of their positions."""
        names = [f"{axis}{one.index}" for one in self.bodies for axis in _AXES]
        return {f"d{name}": (name, 1) for name in names}


def _lines(names: Sequence[str], column: SX) -> tuple[EquationLine, ...]:
    """A line for each entry of a column."""
    return tuple(EquationLine(name, column[k]) for k, name in enumerate(names))


def _is_zero(entry: Array) -> bool:
    """Whether all entries are zero, whatever the motion."""
    return bool(ca.SX(ca.cse(ca.simplify(ca.SX(entry)))).is_zero())


def _has_mass(body: WorldBody) -> bool:
    """Whether a body has mass or inertia."""
    return not (_is_zero(body.m) and _is_zero(body.I))
