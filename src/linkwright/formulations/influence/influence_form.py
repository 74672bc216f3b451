"""The equations of kinematic influence coefficients as Freeman and Tesar write them, (1)–(25)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import casadi as ca

from ...algebra.linear_algebra import Array
from ...kinematics.tree_coordinates import gather_forces
from ...written_equations import (
    EquationCounts,
    EquationLine,
    EquationSection,
    EquationSet,
    numbered_lines,
    without_zero_lines,
)
from ..written_reduction import written_reduction
from .loop_influence import LoopInfluence
from .written_inputs import NamedArrays, WrittenInputs
from .written_springs import WrittenSprings, written_springs

if TYPE_CHECKING:
    from . import InfluenceFormulation


def influence_equation_set(influence: InfluenceFormulation) -> EquationSet:
    """Coefficients of all bodies, effective inertia, power, damping and stiffness, loads, and the
    equations of motion; for loops in terms of the inputs."""
    names = influence.tree.names
    sections = [*_coefficient_sections(influence), *_inertia_sections(influence)]
    springs = written_springs(influence)
    sections += _spring_sections(influence, springs)
    sections = [x if x.lines == springs.lines else without_zero_lines(x) for x in sections]
    others = external_loads(influence) - springs.effective_loads()
    others -= springs.effective_damping() @ influence.qd
    free, functions = names.nv, frozenset[str]()
    if influence.constraints is None:
        tau = influence.effective_inertia() @ influence.qdd + _power_loads(influence) - others
        lines = (EquationLine(f"tau_{name}", tau[k]) for k, name in enumerate(names.qd))
        law = "T = I* φ̈ + φ̇ᵀ P* φ̇ + C* φ̇ + T_k − T_u"
        latex = (
            r"T = I^* \ddot{\varphi} + \dot{\varphi}^T P^* \dot{\varphi} + C^* \dot{\varphi}"
            r" + T_k - T_u"
        )
        sections.append(EquationSection("Equations of motion", tuple(lines), law, latex, "(17)"))
    else:
        inertia, power = influence.effective_inertia(), influence.inertia_power()
        loops = LoopInfluence(influence, inertia, power, written_reduction(influence))
        named = NamedArrays(influence, sections)
        written = WrittenInputs(influence, loops)
        sections += written.sections(others, named)
        functions = written.coefficient_names | named.coefficient_names
        free = len(loops.names)
    bodies = {str(k): body.name for k, body in enumerate(influence.world.bodies, 1)}
    return EquationSet(
        "Kinematic influence coefficients, numbered as in Freeman and Tesar (1988)",
        tuple(section for section in sections if section.lines),
        EquationCounts(free, free, 2 * free, {"I*": (free, free)}),
        symbols={f"Gc{k}, Hc{k}, Gw{k}, Hw{k}": f"of {name}" for k, name in bodies.items()},
        functions=functions,
    )


def _coefficient_sections(influence: InfluenceFormulation) -> Iterator[EquationSection]:
    """G and H of the centre of mass and of the rotation of every body, without zeros."""
    first: list[EquationLine] = []
    second: list[EquationLine] = []
    for k, body in enumerate(influence.world.bodies, 1):
        for letter, own in (
            ("c", influence.point_coefficients(body.link, body.r)),
            ("w", influence.rotation_coefficients(body.link)),
        ):
            G, H = influence.model_coefficients(own.G, own.H)
            first += array_lines(f"G{letter}{k}", G)
            for p, plane in enumerate(H):
                second += array_lines(f"H{letter}{k}", plane, p, is_symmetric=letter == "c")
    moving = influence.tree.names.has_moving_coordinates
    moved = " What the motion of the coordinates adds is in T_u." if moving else ""
    note = f"Coefficients that are not listed are zero.{moved}"
    law, latex = (
        "v_c = G_c φ̇,  ω = G_w φ̇",
        r"v_c = G_c \dot{\varphi},\quad \omega = G_w \dot{\varphi}",
    )
    yield EquationSection(
        "First-order coefficients of centres of mass and rotations",
        tuple(first),
        law,
        latex,
        "(1)",
        note,
    )
    yield EquationSection(
        "Second-order coefficients",
        tuple(second),
        "a_c = G_c φ̈ + φ̇ᵀ H_c φ̇,  α = G_w φ̈ + φ̇ᵀ H_w φ̇",
        r"\ddot{u} = G \ddot{\varphi} + \dot{\varphi}^T H \dot{\varphi}",
        "(5)–(7)",
        "H_c is symmetric in the last two indices. Other coefficients that are not listed are "
        f"zero.{moved}",
    )


def array_lines(
    name: str, array: Array, *before: int, is_symmetric: bool = False
) -> Iterator[EquationLine]:
    """A line for each entry of a matrix that is not zero, those above the diagonal alone if it is
    symmetric; the indices `before` name the plane."""
    array = ca.sparsify(array)
    for m, n in sorted(zip(*array.sparsity().get_triplet(), strict=True)):
        if not (is_symmetric and m > n):
            index = ",".join(str(i + 1) for i in (*before, m, n))
            yield EquationLine(f"{name}[{index}]", array[m, n])


def _inertia_sections(influence: InfluenceFormulation) -> Iterator[EquationSection]:
    """I* and the symmetric part of P*."""
    yield EquationSection(
        "Effective inertia",
        tuple(array_lines("I", influence.effective_inertia(), is_symmetric=True)),
        "I* = Σ m G_cᵀ G_c + G_wᵀ Π G_w",
        r"I^* = \sum m\, G_c^T G_c + G_w^T \Pi G_w",
        "(15)",
        "I* is symmetric.",
    )
    lines: list[EquationLine] = []
    for k, plane in enumerate(influence.inertia_power()):
        lines += array_lines("P", (plane + plane.T) / 2, k, is_symmetric=True)
    yield EquationSection(
        "Inertia power array",
        tuple(lines),
        "P* = Σ m (G_cᵀ • H_c) + (G_wᵀ Π) • H_w + G_wᵀ (G_wᵀ • P) G_w",
        r"P^* = \sum m\, (G_c^T \bullet H_c) + (G_w^T \Pi) \bullet H_w"
        r" + G_w^T (G_w^T \bullet P) G_w",
        "(16)",
        "Only the part that is symmetric in the last two indices; the other has no effect.",
    )


def _power_loads(influence: InfluenceFormulation) -> Array:
    """φ̇ᵀ P* φ̇, for each coordinate."""
    qd = influence.qd
    return ca.vertcat(*(qd.T @ plane @ qd for plane in influence.inertia_power()))


def _spring_sections(
    influence: InfluenceFormulation, springs: WrittenSprings
) -> Iterator[EquationSection]:
    """Deformations and coefficients of springs, C* of dampers, loads and K* of springs."""
    yield EquationSection(
        "Deformations and coefficients of springs and dampers between points",
        springs.lines,
        "u̇ = G_s φ̇,  ü = G_s φ̈ + φ̇ᵀ H_s φ̇",
        r"\dot{u} = G_s \dot{\varphi},\quad"
        r" \ddot{u} = G_s \ddot{\varphi} + \dot{\varphi}^T H_s \dot{\varphi}",
        "(1), (5)",
    )
    yield EquationSection(
        "Effective damping",
        tuple(array_lines("C", springs.effective_damping(), is_symmetric=True)),
        "C* = Σ c G_sᵀ G_s",
        r"C^* = \sum c\, G_s^T G_s",
        "(18)",
        "C* is symmetric.",
    )
    yield EquationSection(
        "Loads of springs",
        numbered_lines("Tk", springs.effective_loads()),
        "T_k = Σ G_sᵀ k u",
        r"T_k = \sum G_s^T k\, u",
        "(23), (24)",
    )
    yield EquationSection(
        "Effective stiffness",
        tuple(array_lines("K", springs.effective_stiffness(), is_symmetric=True)),
        "K* = Σ k G_sᵀ G_s + k uᵀ • H_s",
        r"K^* = \sum k\, G_s^T G_s + k\, u^T \bullet H_s",
        "(22), (25)",
        "K* is symmetric.",
    )
    loads = ca.SX(ca.densify(external_loads(influence)))
    moving = ", and of moving coordinates" if influence.tree.names.has_moving_coordinates else ""
    yield EquationSection(
        "External loads",
        numbered_lines("Tu", loads),
        f"T_u = Σ Gᵀ T of weight, forces, friction and contacts{moving}",
        r"T_u = \sum G^T T",
        "(17)",
    )


def external_loads(influence: InfluenceFormulation) -> Array:
    """The loads of the weight, of forces, friction and contacts: all but joint forces, springs
    between points and joint springs and dampers."""
    springs, n = influence.springs, influence.tree.nv
    loads = gather_forces(influence.tree, springs.tree_loads)
    damping = springs.effective_damping() if springs.elements else ca.SX(n, n)
    return influence.loads() - influence.tau + loads + damping @ influence.qd
