"""The table of the quantities of a mechanism: functions with their inputs, outputs and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import NameNotFoundError, suggest_remedy
from .mechanism import MechanismNames
from .ports import Port


@dataclass(frozen=True)
class QuantitySignature:
    """The inputs, outputs with shapes, units and description of a function.

    Shapes consist of numbers and of sizes of the mechanism: nq, nv, bodies, joints. The input t
    exists only if the mechanism depends on time; the table writes (t) if it exists only where the
    chosen coordinates do (`is_timed_by_coordinates`).
    """

    inputs: tuple[str, ...]
    outputs: Mapping[str, str]
    units: str
    description: str
    is_timed_by_coordinates: bool = False


def _parse_signature_table(rows: str) -> dict[str, QuantitySignature]:
    """The signatures in rows `name | inputs | output:shape … | units | description`."""
    table = {}
    for row in rows.strip().splitlines():
        name, inputs, outputs, units, what = (cell.strip() for cell in row.split("|"))
        shapes = dict(output.split(":") for output in outputs.split())
        keys = tuple(inputs.replace("(t)", "t").split())
        table[name] = QuantitySignature(keys, shapes, units, what, "(t)" in inputs)
    return table


INPUT_SHAPES = {
    "q": "nq", "qd": "nv", "qdd": "nv", "tau": "nv", "v": "nv", "vd": "nv", "step": "nv",
    "q1": "nq", "wrenches": "bodies,6", "t": "", "lambda": "constraints",
}  # fmt: skip

INPUT_MEANINGS = {
    "q": ("generalized coordinates", "rad or m"),
    "qd": ("generalized velocities", "rad/s or m/s"),
    "qdd": ("generalized accelerations", "rad/s² or m/s²"),
    "tau": ("generalized forces", "N m or N"),
    "v": ("generalized velocities of the reference", "rad/s or m/s"),
    "vd": ("generalized accelerations of the reference", "rad/s² or m/s²"),
    "step": ("displacements along the velocities", "rad or m"),
    "q1": ("generalized coordinates at the end", "rad or m"),
    "wrenches": ("rows (moment, force) on the bodies, world axes", "N m, then N"),
    "t": ("time, only where the mechanism depends on it", "s"),
    "lambda": ("constraint multipliers", "N or N m"),
    "p": ("values of the parameters that the model keeps", "SI units"),
}
"""The meaning of each input, and its units."""

SIGNATURES = _parse_signature_table("""
inverse_dynamics | q qd qdd t | tau:nv | N m or N | forces for given accelerations: M q̈ + C q̇ + g − f
forward_dynamics | q qd tau t | qdd:nv | rad/s² or m/s² | accelerations under given forces
inverse_dynamics_with_wrenches | q qd qdd wrenches t | tau:nv | N m or N | inverse dynamics under wrenches on the bodies: rows (moment, force), world axes, at the bodies' origins
forward_dynamics_with_wrenches | q qd tau wrenches t | qdd:nv | rad/s² or m/s² | forward dynamics under wrenches on the bodies
mass_matrix | q (t) | M:nv,nv | kg m², kg m or kg | M, rotors included
mass_matrix_inverse | q (t) | M_inverse:nv,nv | unit of qdd per unit of tau | M⁻¹, of the tree also under constraints
coriolis_matrix | q qd (t) | C:nv,nv | kg m²/s, kg m/s or kg/s | C of the Christoffel symbols: Ṁ − 2C is skew
gravity | q (t) | g:nv | N m or N | gravity vector ∂V/∂q: the joint efforts that balance the weight
bias | q qd t | b:nv | N m or N | forces at zero acceleration: C q̇ + g − f
forces | q qd t | f:nv | N m or N | f = passive + external: all forces but τ, weight and constraint forces
passive | q qd (t) | f_passive:nv | N m or N | springs, dampers and friction, at the joints and between points
external | q qd t | f_external:nv | N m or N | loads that the mechanism declares: wrenches and joint forces
input_matrix | q (t) | B:nv,actuators | 1 or m | B with τ = B u of the actuators; the identity where there are none
kinetic_energy | q qd (t) | T: | J | kinetic energy of bodies and rotors
potential_energy | q (t) | V: | J | potential energy of weight and springs
center_of_mass | q (t) | c:3 | m | centre of mass of all moving bodies, world axes
center_of_mass_jacobian | q (t) | J:3,nv | m/s per unit of qd | ∂ċ/∂q̇ of the centre of mass, world axes
subtree_centers_of_mass | q (t) | c:bodies,3 | m | centre of mass of each body and all bodies beyond it, world axes; the body's origin where these have no mass
momentum | q qd (t) | h:6 | N m s, then N s | angular momentum about the centre of mass, then linear, world axes
centroidal_momentum_matrix | q (t) | A:6,nv | N m s, then N s, per unit of qd | A with A q̇ = momentum
centroidal_momentum_matrix_rate | q qd (t) | dA:6,nv | N m, then N, per unit of qd | Ȧ: the rate of momentum is A q̈ + Ȧ q̇
reactions | q qd tau t | r:joints,6 | N m, then N | what each joint's parent does to its child under the forces τ: rows (moment, force), world axes, about the joint's origin
body_reactions | q qd tau t | r:joints,6 | N m, then N | reactions in the axes of each joint's child: rows (moment, force), about the joint's origin
reactions_of_motion | q qd qdd t | r:joints,6 | N m, then N | reactions of the joints for given accelerations: rows (moment, force), world axes, about the joint's origin
regressor | q qd qdd (t) | Y:nv,parameters | N m or N per unit of π | Y with Y π = M q̈ + C q̇ + g without rotors
control_regressor | q qd v vd (t) | Phi:nv,parameters | N m or N per unit of π | Φ with Φ π = M v̇ + C v + g without rotors
kinetic_energy_regressor | q qd (t) | Y:parameters | J per unit of π | Y with Y π = kinetic energy without rotors
potential_energy_regressor | q (t) | Y:parameters | J per unit of π | Y with Y π = potential energy of weight, without springs
inverse_dynamics_derivatives | q qd qdd t | by_q:nv,nv by_qd:nv,nv by_qdd:nv,nv | N m or N per unit of q, qd and qdd | ∂τ/∂q, ∂τ/∂qd, ∂τ/∂qdd
forward_dynamics_derivatives | q qd tau t | by_q:nv,nv by_qd:nv,nv by_tau:nv,nv | rad/s² or m/s² per unit of q, qd and tau | ∂q̈/∂q, ∂q̈/∂qd, ∂q̈/∂τ
integrate | q step | q_out:nq | rad or m | q ⊕ step: the coordinates after the velocities `step` act for unit time
difference | q q1 | step:nv | rad or m | step with q ⊕ step = q1
""")

CONSTRAINED_SIGNATURES = _parse_signature_table("""
required_forces | q qd qdd t | h:nv | N m or N | M q̈ + C q̇ + g − f: what actuators and constraints exert together
inverse_dynamics | q qd qdd t | tau:nv pivot: | N m or N | actuator efforts of least norm, τ = B u, for a motion that the constraints allow
actuator_forces | q qd qdd t | u:actuators pivot: | N m or N | u of least norm for a motion that the constraints allow
forward_dynamics | q qd tau t | qdd:nv pivot: | rad/s² or m/s² | accelerations under forces and constraints
inverse_dynamics_with_wrenches | q qd qdd wrenches t | tau:nv pivot: | N m or N | inverse dynamics under wrenches on the bodies: rows (moment, force), world axes, at the bodies' origins
forward_dynamics_with_wrenches | q qd tau wrenches t | qdd:nv pivot: | rad/s² or m/s² | forward dynamics under wrenches on the bodies
inverse_dynamics_derivatives | q qd qdd t | by_q:nv,nv by_qd:nv,nv by_qdd:nv,nv pivot: | N m or N per unit of q, qd and qdd | ∂τ/∂q, ∂τ/∂qd, ∂τ/∂qdd
forward_dynamics_derivatives | q qd tau t | by_q:nv,nv by_qd:nv,nv by_tau:nv,nv pivot: | rad/s² or m/s² per unit of q, qd and tau | ∂q̈/∂q, ∂q̈/∂qd, ∂q̈/∂τ
multipliers | q qd tau t | lambda:constraints pivot: | N or N m | forces of the constraints, +Jᵀλ on the mechanism, in the order of `constraint_names` (file order); of least norm where redundant
constraint_residual | q t | Phi:positions | m or rad | Φ, zero where loops and constraints of positions hold, in file order
constraint_velocity | q qd t | V:constraints | m/s or rad/s | J q̇ − b, zero for velocities that the constraints allow
constraint_jacobian | q t | J:constraints,nv | m/s or rad/s per unit of qd | J of all constraints, rows in the order of `constraint_names` (file order)
constraint_bias | q qd t | gamma:constraints | m/s² or rad/s² | γ with J q̈ + γ = 0
constraint_velocity_derivative | q qd t | by_q:constraints,nv | m/s or rad/s per unit of q | ∂(J q̇ − b)/∂q along the tangent
independent_map | q t | G:nv,freedom k:nv pivot: | unit of qd per unit of a; rad/s or m/s | G and k with q̇ = G a + k, a the independent velocities
reactions | q qd tau t | r:joints_and_loops,6 pivot: | N m, then N | what each joint's parent does to its child under the forces τ, loops last: rows (moment, force), world axes, about the joint's origin; of least norm where redundant
body_reactions | q qd tau t | r:joints_and_loops,6 pivot: | N m, then N | reactions in the axes of each joint's child: rows (moment, force), about the joint's origin
reactions_of_motion | q qd qdd lambda t | r:joints_and_loops,6 | N m, then N | reactions of the joints for given accelerations and multipliers: rows (moment, force), world axes, about the joint's origin
""")
"""The functions of constrained mechanisms, in place of and beside those of trees.

`pivot` is the smallest pivot of an elimination, as a share of its size where that was chosen.
"""

MOVING_SIGNATURES = _parse_signature_table("""
transport | q qd t | d:nv | N m or N | transport forces of coordinates that depend on time: M q̈ + C q̇ + d + g − f = τ; terms linear in q̇, and terms without q̇
transport_momentum | q t | a:nv | N m s or N s | momenta at q̇ = 0, a = ∂T/∂q̇: generalized momenta are p = M q̇ + a, and T = ½ q̇ᵀM q̇ + aᵀq̇ + T₀
jacobi_energy | q qd t | h: | J | Jacobi energy h = q̇ᵀ∂L/∂q̇ − L = T₂ − T₀ + V, the Hamiltonian as a function of q and q̇: constant where L does not depend on t and no other force does work
""")
"""The functions of mechanisms whose chosen coordinates depend on time."""

ACTUATED_SIGNATURES = _parse_signature_table("""
actuator_lengths | q (t) | l:actuators | rad or m | what the actuators drive, as lengths or angles l: their efforts have the power u · l̇
""")
"""The functions of mechanisms with actuators."""

QUANTITY_NAMES = (
    SIGNATURES.keys()
    | CONSTRAINED_SIGNATURES.keys()
    | MOVING_SIGNATURES.keys()
    | ACTUATED_SIGNATURES.keys()
)
"""The names of all functions, of trees and of constrained mechanisms, without those of frames."""

GUARDED_QUANTITIES = tuple(
    name for name, one in CONSTRAINED_SIGNATURES.items() if "pivot" in one.outputs
)
"""Functions that fail where a pivot vanishes; models solve such states in another way."""

FRAME_SIGNATURES = _parse_signature_table("""
placement | q (t) | T:4,4 | rotation without unit, position in m | placement of the frame in the world
jacobian | q (t) | J:6,nv | rad/s, then m/s, per unit of qd | rows ω, then v of the frame's origin, world axes
frame_velocity | q qd (t) | V:6 | rad/s, then m/s | (ω, v) of the frame, world axes
frame_acceleration | q qd qdd (t) | A:6 | rad/s², then m/s² | (ω̇, v̇) of the frame, world axes: the rate of frame_velocity
frame_bias_acceleration | q qd (t) | A:6 | rad/s², then m/s² | J̇ q̇: frame_acceleration at q̈ = 0
jacobian_rate | q qd (t) | dJ:6,nv | rad/s², then m/s², per unit of qd | J̇, the rate of jacobian along q̇
frame_velocity_derivatives | q qd (t) | by_q:6,nv by_qd:6,nv | rad/s, then m/s, per unit of q and qd | ∂V/∂q and ∂V/∂qd of frame_velocity
frame_acceleration_derivatives | q qd qdd (t) | by_q:6,nv by_qd:6,nv by_qdd:6,nv | rad/s², then m/s², per unit of q, qd and qdd | ∂A/∂q, ∂A/∂qd and ∂A/∂qdd of frame_acceleration
operational_inertia | q (t) | Lambda:6,6 | N m, then N, per rad/s² and m/s² | Λ = (J M⁻¹ Jᵀ)⁻¹ of a frame that moves in all six directions
inverse_operational_inertia | q (t) | X:6,6 | rad/s², then m/s², per N m and N | Λ⁻¹ = J M⁻¹ Jᵀ
manipulability | q (t) | w: w_rotation: w_translation: | product of the singular values of J | Yoshikawa's √det(J Jᵀ) of all six rows, of ω and of v; √det(JᵀJ) where J has more rows than columns
""")


def quantity_signatures(names: MechanismNames) -> dict[str, QuantitySignature]:
    """The functions of a mechanism: those of trees, and those that constraints, moving coordinates
    and actuators add."""
    constrained = CONSTRAINED_SIGNATURES if names.constraints else {}
    moving = MOVING_SIGNATURES if names.has_moving_coordinates else {}
    actuated = ACTUATED_SIGNATURES if names.actuators else {}
    more = constrained | moving | actuated
    return SIGNATURES | more if more else SIGNATURES


def quantity_inputs(signature: QuantitySignature, names: MechanismNames) -> list[str]:
    """The names of the inputs of a function; t only if the mechanism depends on time."""
    by_coordinates = signature.is_timed_by_coordinates
    timed = names.has_moving_coordinates if by_coordinates else names.is_time_dependent
    return [key for key in signature.inputs if key != "t" or timed]


def quantity_ports(
    names: MechanismNames, function: str, parameters: Sequence[str] = ()
) -> tuple[list[Port], list[Port]]:
    """The input and output ports of a function of a mechanism, with their shapes."""
    sizes = {
        "nq": names.nq,
        "nv": names.nv,
        "bodies": len(names.bodies),
        "joints": len(names.joints),
        "parameters": 10 * len(names.bodies),
        "actuators": len(names.actuators) or names.nv,
        "constraints": len(names.constraints),
        "positions": names.position_row_count,
        "freedom": len(names.independent),
        "joints_and_loops": len(names.joints) + len(names.loops),
    }

    def port(key: str, shape: str) -> Port:
        return Port(
            key,
            tuple(sizes[word] if word in sizes else int(word) for word in shape.split(",") if word),
        )

    signature = (quantity_signatures(names) | FRAME_SIGNATURES)[function]
    inputs = [port(key, INPUT_SHAPES[key]) for key in quantity_inputs(signature, names)]
    if parameters:
        inputs.append(Port("p", (len(parameters),)))
    return inputs, [port(key, shape) for key, shape in signature.outputs.items()]


def function_error(
    name: str, by: str, names: MechanismNames, known: Sequence[str]
) -> NameNotFoundError:
    """The error for a function that the equations of a formulation do not have."""
    if name in FRAME_SIGNATURES:
        return NameNotFoundError(
            f"{name} is a function of a frame, and none is given",
            remedy=f"name a frame or body, in lists of quantities as {name}:FRAME",
        )
    if name in quantity_signatures(names):
        return NameNotFoundError(
            f"the formulation '{by}' has no {name}", remedy="derive it by 'recursive'"
        )
    return NameNotFoundError(f"unknown function '{name}'", remedy=suggest_remedy(name, known))


def _number_multipliers(owners: Sequence[str]) -> list[str]:
    """The names lambda_pin_1, lambda_pin_2, … of the multipliers of all loops and constraints."""
    return [f"lambda_{owner}_{owners[: k + 1].count(owner)}" for k, owner in enumerate(owners)]


def quantity_entry_names(
    names: MechanismNames, parameters: Sequence[str] = ()
) -> dict[str, list[str]]:
    """The names of the entries of inputs and outputs: q1, dq1, ddq1, tau_q1, …; a velocity that is
    not the rate of a coordinate has its own name, ball.wx, and its rate is dball.wx."""

    def rates(prefix: str) -> list[str]:
        return [f"{prefix}{name}" for name in names.qd]

    wrench = ("mx", "my", "mz", "fx", "fy", "fz")
    return {
        "q": list(names.q),
        "qd": names.velocity_symbols,
        "qdd": [f"d{name}" for name in names.velocity_symbols],
        "tau": rates("tau_"),
        "v": rates("v_"),
        "vd": rates("vd_"),
        "step": rates("step_"),
        "q1": [f"{name}_1" for name in names.q],
        "wrenches": [f"{c}_{body}" for body in names.bodies for c in wrench],
        "t": ["t"],
        "lambda": _number_multipliers(names.constraints),
        "p": list(parameters),
    }
