"""The symbols that the checker understands: pattern, meaning, value.

Each row has the spellings of a symbol with placeholders (`symbol_patterns` lists them), one
sentence that is also its documentation in docs/reference/checker.md, and the function of its value, whose
first argument is the vocabulary of the mechanism. A symbol means what the first row says that fits;
the mechanism's own names go before those of papers. To add a symbol, add a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..expressions import Expression
from ..types import SX
from .derivative_variables import function_of_coordinate_sum
from .dual_symbol_values import (
    DualSymbolValue,
    body_inertia_force_symbol,
    body_momentum_symbol,
    body_velocity_symbol,
    bound_axis_symbol,
    bound_partial_velocity_symbol,
    bound_velocity_symbol,
    frame_velocity_symbol,
    particle_inertia_force_symbol,
    particle_momentum_symbol,
)
from .printed_labels import FORMULATION_NAMES, PRINTED_QUANTITIES, PrintedName, PrintedQuantity
from .symbol_patterns import (
    CheckerMatrixSymbol,
    CheckerSymbolRow,
    RateSpelledName,
    SymbolRequirement,
)
from .symbol_values import momentum_of_velocity, momentum_rate_of_velocity

Row = CheckerSymbolRow[SX]
DualRow = CheckerSymbolRow[DualSymbolValue]
_ONE_COORDINATE = SymbolRequirement(lambda own: own.names.nv == 1)
_ONE_EFFORT = SymbolRequirement(lambda own: (len(own.names.actuators) or own.names.nv) == 1)
_RATES_OF_COORDINATES = SymbolRequirement(
    lambda own: own.names.q == own.names.qd,
    "Christoffel symbols need velocities that are rates of coordinates",
)

RATE_SPELLINGS = (
    ("d{rated}", "dd{rated}"),
    ("{rated}dot", "{rated}ddot"), ("{rated.stem}dot{rated.number}", "{rated.stem}ddot{rated.number}"),
    ("{rated}d", "{rated}dd"), ("{rated.stem}d{rated.number}", "{rated.stem}dd{rated.number}"),
    ("{rated}p", "{rated}pp"), ("{rated.stem}p{rated.number}", "{rated.stem}pp{rated.number}"),
)  # fmt: skip
"""The spellings of the velocity and the acceleration of a coordinate."""
_VELOCITIES, _ACCELERATIONS = (" ".join(column) for column in zip(*RATE_SPELLINGS, strict=True))

# fmt: off
MECHANISM_SYMBOLS = (
    Row("{parameter}", "a parameter of the mechanism", lambda own, k: own.symbols["p"][k]),
    Row("{coordinate}", "a generalized coordinate", lambda own, k: own.symbols["q"][k]),
    Row("{actuator}", "the effort of an actuator", lambda own, k: own.symbols["u"][k]),
    Row(_VELOCITIES, "the velocity of a coordinate", lambda own, k: own.symbols["qd"][k]),
    Row(_ACCELERATIONS, "the acceleration of a coordinate", lambda own, k: own.symbols["qdd"][k]),
    Row("{speed}", "a generalized velocity that is not the rate of a coordinate",
        lambda own, k: own.symbols["qd"][k]),
    Row("d{speed}", "the rate of such a velocity", lambda own, k: own.symbols["qdd"][k]),
)
"""The mechanism's own names, which go before all others."""

EFFORT = Row("tau{effort}", "effort of an actuator, or joint torque of a mechanism without actuators",
             lambda own, k: own.symbols["u" if own.names.actuators else "tau"][k])
MULTIPLIER = Row("lambda{constraint}", "multiplier of a constraint", lambda own, k: own.symbols["lambda"][k])

FORCE_SYMBOLS = (
    Row("tau_{velocity} Q_{velocity}", "generalized force on a coordinate, by the coordinate's name",
        lambda own, k: own.symbols["tau"][k]),
    EFFORT,
    Row("Q{i}", "generalized force", lambda own, k: own.symbols["tau"][k]),
    Row("lambda_{multiplier}", "multiplier of a constraint, by the name of the constraint in printed equations",
        lambda own, k: own.symbols["lambda"][k]),
    MULTIPLIER,
    Row("tau", "the effort where there is one only", lambda own: EFFORT.value(own, 0), _ONE_EFFORT),
    Row("t", "time", lambda own: own.symbols["t"]),
)
"""Symbols of papers that stand for one free symbol each."""

KINETIC_ENERGY = Row("K T", "kinetic energy", lambda own: own.values.kinetic_energy)
POTENTIAL_ENERGY = Row("V P U", "potential energy of weight and springs",
                       lambda own: own.values.potential_energy)
LAGRANGIAN = Row("L", "Lagrangian, kinetic minus potential energy", lambda own: own.values.lagrangian)
TOTAL_ENERGY = Row("E", "total energy", lambda own: own.values.total_energy)
HAMILTONIAN = Row("H", "Hamiltonian p·q̇ − L", lambda own: own.values.hamiltonian)
ENERGIES = (KINETIC_ENERGY, POTENTIAL_ENERGY, LAGRANGIAN, TOTAL_ENERGY, HAMILTONIAN)

MASS_MATRIX_ENTRY = Row("M{i}{j} D{i}{j} d{i}{j} H{i}{j} m{i}{j}", "entry of the mass matrix",
                        lambda own, i, j: own.quantity_expression("mass_matrix")[i, j])
CORIOLIS_MATRIX_ENTRY = Row("C{i}{j}", "entry of the Coriolis matrix with Christoffel symbols",
                            lambda own, i, j: own.quantity_expression("coriolis_matrix")[i, j])
GRAVITY_ENTRY = Row("g{i} G{i} phi{i}", "entry of the gravity vector ∂V/∂q of the weight",
                    lambda own, i: own.quantity_expression("gravity")[i])
BODY_POTENTIAL_ENERGY = Row("V{body} P{body}", "potential energy of the weight of a body",
                            lambda own, body: own.body_values.potential_energy(body))
CONSTRAINT_RESIDUAL = Row("f{holonomic}", "residual of a holonomic constraint",
                          lambda own, row: own.values.constraint_residual(row))
CONSTRAINT_JACOBIAN_ENTRY = Row("J{constraint}{i}", "entry of the constraint Jacobian",
                                lambda own, row, i: own.values.constraint_jacobian_entry(row, i))

ENTRIES = (
    MASS_MATRIX_ENTRY,
    Row("dM{i}{j}", "rate of an entry of the mass matrix",
        lambda own, i, j: own.values.derived_symbol(f"rate@M{i + 1}{j + 1}")),
    CORIOLIS_MATRIX_ENTRY,
    GRAVITY_ENTRY,
    Row("p{i}", "generalized momentum ∂K/∂q̇", lambda own, i: own.values.generalized_momenta[i]),
    Row("dp{i}", "rate of a generalized momentum", lambda own, i: own.values.momentum_rates[i]),
    Row("bias{i}", "entry of the bias, the forces at zero acceleration",
        lambda own, i: own.quantity_expression("bias")[i]),
    Row("v{body}", "speed of a body's centre of mass", lambda own, body: own.body_values.center_speed(body)),
    Row("w{body} omega{body}", "angular velocity of a body about the world's z axis",
        lambda own, body: own.body_values.angular_velocity(2, body)),
    Row("K{body}", "kinetic energy of a body", lambda own, body: own.body_values.kinetic_energy(body)),
    BODY_POTENTIAL_ENERGY,
    Row("{axis}{body}", "coordinate of a body's centre of mass, world axes",
        lambda own, axis, body: own.body_values.center_position(axis, body)),
    Row("d{axis}{body}", "velocity of a body's centre of mass",
        lambda own, axis, body: own.body_values.center_velocity(axis, body)),
    Row("w{axis}{body}", "angular velocity of a body",
        lambda own, axis, body: own.body_values.angular_velocity(axis, body)),
    Row("dd{axis}{body}", "acceleration of a body's centre of mass",
        lambda own, axis, body: own.body_values.center_acceleration(axis, body)),
    Row("c{i}{j}{k} Gamma{i}{j}{k}", "Christoffel symbol c_ijk of row k",
        lambda own, i, j, k: own.values.christoffel_symbol(i, j, k), _RATES_OF_COORDINATES),
    CONSTRAINT_RESIDUAL,
    CONSTRAINT_JACOBIAN_ENTRY,
)
"""Symbols with indices: entries of matrices and vectors, quantities of single bodies."""

NAMED_MOMENTA = (
    Row("p_{velocity} momentum_{velocity}", "generalized momentum, by the coordinate's name",
        momentum_of_velocity),
    Row("dp_{velocity} dmomentum_{velocity}", "rate of a generalized momentum, by the coordinate's name",
        momentum_rate_of_velocity),
)
"""Momenta where p1, p2, … are names of the mechanism; here the underscore counts."""

COORDINATE_RATES = (
    Row("d{turning}", "rate of a coordinate whose velocity has another name, as of a quaternion",
        lambda own, name: own.values.coordinate_rate(name)),
)

DERIVATIVES = (
    Row("{energy}_{variable}", "derivative of an energy by a coordinate; L_dq1 by a velocity",
        lambda own, x, by: own.values.partial_derivative(own.expression_in_rows(ENERGIES, x), by)),
    Row("{entry}_{variable}", "derivative of another symbol with indices",
        lambda own, x, by: own.values.partial_derivative(own.expression_in_rows(ENTRIES, x), by)),
    Row("dL_{rate} dT_{rate} dK_{rate}", "rate of a derivative by a velocity, d/dt ∂L/∂q̇1",
        lambda own, by: own.values.rate_of_momentum(by)),
)

JACOBIANS = (
    Row("Jv{body}_{row}{i}", "entry of the Jacobian of a body's centre of mass, by body, row and column",
        lambda own, body, axis, i: own.body_values.center_jacobian_entry(axis, body, i), ignores_underscores=True),
    Row("Jw{body}_{row}{i}", "entry of the Jacobian of a body's angular velocity",
        lambda own, body, axis, i: own.body_values.angular_jacobian_entry(axis, body, i), ignores_underscores=True),
    Row("J{axis}{body}{i}", "one row of the Jacobian of a body's centre of mass, by axis, body and column",
        lambda own, axis, body, i: own.body_values.center_jacobian_entry(axis, body, i), ignores_underscores=True),
    Row("Jw{axis}{body}{i}", "one row of the Jacobian of a body's angular velocity",
        lambda own, axis, body, i: own.body_values.angular_jacobian_entry(axis, body, i), ignores_underscores=True),
    Row("Jw{body}{i}", "the same about the z axis",
        lambda own, body, i: own.body_values.angular_jacobian_entry(2, body, i), ignores_underscores=True),
)

REACTIONS = (
    Row("F{axis}_{joint}", "force that a joint's parent exerts on its child, world axes",
        lambda own, axis, joint: own.reaction_values.joint_force(axis, joint)),
    Row("M{axis}_{joint}", "moment that a joint's parent exerts on its child, world axes",
        lambda own, axis, joint: own.reaction_values.joint_moment(axis, joint)),
    Row("F{digit}_{joint}", "the same force along an axis of the link behind the joint; axis 3 is the joint's",
        lambda own, axis, joint: own.reaction_values.joint_force_in_link(axis, joint)),
    Row("M{digit}_{joint}", "the same moment along an axis of the link behind the joint",
        lambda own, axis, joint: own.reaction_values.joint_moment_in_link(axis, joint)),
)

SYMBOLS_WITHOUT_INDEX = (
    Row("g", "magnitude of gravity where the mechanism gives it as a vector",
        lambda own: own.values.gravity_magnitude()),
    Row("M", "mass matrix of a single coordinate", lambda own: MASS_MATRIX_ENTRY.value(own, 0, 0), _ONE_COORDINATE),
    Row("C", "Coriolis matrix of a single coordinate",
        lambda own: CORIOLIS_MATRIX_ENTRY.value(own, 0, 0), _ONE_COORDINATE),
    Row("p", "momentum of a single coordinate", lambda own: own.values.generalized_momenta[0], _ONE_COORDINATE),
    Row("dp", "rate of the momentum of a single coordinate",
        lambda own: own.values.momentum_rates[0], _ONE_COORDINATE),
)

PAPER_SYMBOLS = (
    *ENERGIES, *ENTRIES, *NAMED_MOMENTA, *DERIVATIVES, *JACOBIANS, *REACTIONS, *SYMBOLS_WITHOUT_INDEX,
    *COORDINATE_RATES,
)
"""Symbols of papers that are expressions, in the order in which they are tried."""

DUAL_UNIT_NAME = "eps"
"""The dual unit: eps² = 0."""

DUAL_COMPONENTS = (
    DualRow("V{digit}{axis}", "component of a body's dual velocity (ω, v), along its axes at its centre of mass",
            lambda own, body, _: body_velocity_symbol(own, body)),
    DualRow("H{digit}{axis}", "component of a body's dual momentum (m v, I ω)",
            lambda own, body, _: body_momentum_symbol(own, body)),
    DualRow("F{digit}{axis}", "component of a body's dual inertia force (m a, I α + ω × I ω)",
            lambda own, body, _: body_inertia_force_symbol(own, body)),
    DualRow("V{frame}{axis}", "component of a frame's dual velocity, along its axes at its origin",
            lambda own, frame, _: frame_velocity_symbol(own, frame)),
    DualRow("H{frame}{axis}", "component of the momentum of the particle at a frame",
            lambda own, frame, _: particle_momentum_symbol(own, frame)),
    DualRow("F{frame}{axis}", "component of the inertia force of the particle at a frame",
            lambda own, frame, _: particle_inertia_force_symbol(own, frame)),
)
DUAL_VECTORS = (
    DualRow("V_{frame}", "dual velocity of a body or frame as a bound vector", bound_velocity_symbol),
    DualRow("v{digit}_{frame}", "its part by one generalized speed: u1, u2, … where the text defines such, else q̇",
            bound_partial_velocity_symbol),
    DualRow("{axis}_{frame} e{axis}_{frame}", "bound unit vector along an axis of a frame", bound_axis_symbol),
)
"""Dual vectors and their components; the values are (real part, dual part)."""

APPROXIMATE_MECHANISM_SYMBOLS = (
    Row("{parameter}", "a parameter of the mechanism; beta and gamma are stiffness and damping of the constraints",
        lambda own, k: own.symbols["p"][k]),
    Row("{coordinate}", "a coordinate, also of a centre of mass: x2", lambda own, k: own.spring_equations.z[k]),
    Row(_VELOCITIES, "its velocity", lambda own, k: own.spring_equations.zd[k]),
    Row(_ACCELERATIONS, "its acceleration", lambda own, k: own.spring_accelerations[k]),
    Row("{actuator}", "the effort of an actuator", lambda own, k: own.symbols["u"][k]),
    Row("tau{effort}", "the same by its number", lambda own, k: own.symbols["u"][k]),
    Row("tau_{velocity}", "generalized force on a coordinate, by the coordinate's name", lambda own, k: own.symbols["tau"][k]),
    Row("t", "time", lambda own: own.symbols["t"]),
)
APPROXIMATE_SYMBOLS = (
    Row("f{spring}", "error of a constraint", lambda own, k: own.spring_equations.f[k]),
    Row("e{spring}", "error and rate of the error of a constraint, f + γ ḟ",
        lambda own, k: own.spring_errors[k]),
    Row("df{spring}", "rate of the error of a constraint", lambda own, k: own.spring_equations.f_rate[k]),
    Row("Q{moving}", "external force, in the order of the coordinates",
        lambda own, k: own.spring_equations.generalized_forces[k]),
    Row("P{moving}", "force of the constraints", lambda own, k: own.spring_forces[k]),
    Row("J{spring}{moving}", "entry of the Jacobian of the constraints", lambda own, i, j: own.spring_jacobian[i, j]),
    Row("JT{moving}{spring}", "entry of its transpose", lambda own, i, j: own.spring_jacobian[j, i]),
)
"""Under the heading [approximate]: centres of mass are coordinates too, and springs hold them."""

TRIG_SHORTHANDS = {
    "sin": CheckerSymbolRow[Expression]("s{digits} S{digits}", "sine of a sum of coordinates: s12 = sin(q1 + q2)",
                                 lambda own, digits: function_of_coordinate_sum(own, "sin", digits)),
    "cos": CheckerSymbolRow[Expression]("c{digits} C{digits}", "cosine of a sum of coordinates",
                                 lambda own, digits: function_of_coordinate_sum(own, "cos", digits)),
}
"""Shorthands of papers; a text's `C12` is one only where it writes sines so too."""

MASS_MATRIX = CheckerMatrixSymbol("M D H", ("i", "j"), "mass matrix")
RARE_MASS_MATRIX = CheckerMatrixSymbol("B W", ("i", "j"), "mass matrix, where none of M, D and H is written")
CORIOLIS_MATRIX = CheckerMatrixSymbol("C", ("i", "j"), "Coriolis matrix")
WHOLE_SYMBOLS = (
    MASS_MATRIX,
    RARE_MASS_MATRIX,
    CORIOLIS_MATRIX,
    CheckerMatrixSymbol("J", ("constraint", "i"), "constraint Jacobian"),
    CheckerMatrixSymbol("tau Q u", ("i",), "generalized forces"),
    CheckerMatrixSymbol("g G phi", ("i",), "gravity vector"),
    CheckerMatrixSymbol("p", ("i",), "generalized momenta"),
    CheckerMatrixSymbol("dp", ("i",), "rates of the momenta"),
    CheckerMatrixSymbol("bias", ("i",), "bias, the forces at zero acceleration"),
    CheckerMatrixSymbol("lambda", ("constraint",), "multipliers"),
    CheckerMatrixSymbol("f", ("holonomic",), "residuals of the constraints"),
)
"""Letters of whole matrices and vectors beside q, q̇ and q̈, where there are several coordinates."""
# fmt: on

SYMBOL_GROUPS: dict[
    str, Sequence[CheckerSymbolRow[Any] | CheckerMatrixSymbol | PrintedQuantity | PrintedName]
] = {
    "The mechanism's own names": MECHANISM_SYMBOLS,
    "Forces, multipliers, time": FORCE_SYMBOLS,
    "Energies": ENERGIES,
    "Symbols with indices": ENTRIES,
    "Momenta by name": NAMED_MOMENTA,
    "Derivatives": DERIVATIVES,
    "Jacobians of bodies": JACOBIANS,
    "Joint reactions": REACTIONS,
    "Symbols without an index": SYMBOLS_WITHOUT_INDEX,
    "Rates of coordinates": COORDINATE_RATES,
    "Matrices and vectors, with several coordinates": WHOLE_SYMBOLS,
    "Entries as they are printed": (*PRINTED_QUANTITIES, *FORMULATION_NAMES),
    "Shorthands": tuple(TRIG_SHORTHANDS.values()),
    "Dual vectors": (*DUAL_COMPONENTS, *DUAL_VECTORS),
    "Under the heading `[approximate]`": (*APPROXIMATE_MECHANISM_SYMBOLS, *APPROXIMATE_SYMBOLS),
}
"""All rows, as docs/reference/checker.md lists them (tools/write_symbol_tables.py)."""

FUNCTION_SYMBOLS = tuple(
    CheckerSymbolRow[object](patterns, "a function of the motion", lambda *_: None)
    for patterns in (
        "K T V P U L H E M D C G g J phi tau",
        "M{i}{j} D{i}{j} d{i}{j} H{i}{j} h{i}{j} m{i}{j} C{i}{j}",
        "c{i}{j}{k} h{i}{j}{k} Gamma{i}{j}{k}",
        "g{i} G{i} phi{i} tau{i} Q{i} p{i} f{i}",
        "K{i} V{i} P{i} T{i} U{i} x{i} y{i} z{i} v{i} w{i} omega{i}",
        "J{word}",
    )
)
"""Symbols that papers write with what they depend on: M(q) is M, but m(q) a product."""

COORDINATE_LETTERS = (
    "q", "theta", "phi", "psi", "alpha", "beta", "gamma", "x", "y", "z", "s", "d", "r",
)  # fmt: skip
"""Letters that may be coordinates of a text, the likeliest first."""

ENERGY_LETTERS = tuple(letter for row in ENERGIES for letter in row.spellings)
VELOCITY_DEPENDENT_ENERGIES = tuple(
    x for x in ENERGY_LETTERS if x not in POTENTIAL_ENERGY.spellings
)
ENERGIES_UP_TO_CONSTANT = (
    POTENTIAL_ENERGY, LAGRANGIAN, TOTAL_ENERGY, HAMILTONIAN, BODY_POTENTIAL_ENERGY,
)  # fmt: skip
"""Energies whose zero is a matter of choice."""


@lru_cache(maxsize=1024)
def spellings_of_rate(name: str) -> tuple[tuple[str, str], ...]:
    """The spellings of a coordinate's velocity and acceleration."""
    rated = RateSpelledName(name)
    return tuple((one.format(rated=rated), two.format(rated=rated)) for one, two in RATE_SPELLINGS)
