"""Checks of identities, proved for all states and all values of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2

import casadi as ca

from ..errors import LinkwrightError, UnsupportedError
from ..types import SX
from .verification_report import (
    FAILED_VERDICT,
    PASSED_VERDICT,
    PROVED_VERDICT,
    SKIPPED_VERDICT,
    Check,
)
from .verified_equations import IdentityProof, VerifiedEquations

FUNCTIONS_COMPARED_ALWAYS = (
    "mass_matrix",
    "bias",
    "gravity",
    "constraint_jacobian",
    "constraint_bias",
)
"""Compared with every formulation; identities connect the other functions with these."""
FUNCTIONS_COMPARED_ONCE = (
    "coriolis_matrix",
    "inverse_dynamics",
    "forward_dynamics",
    "required_forces",
    "passive",
    "external",
    "input_matrix",
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "momentum",
)
"""Compared with the first other formulation only."""
FUNCTIONS_ON_CONSTRAINTS = ("inverse_dynamics", "forward_dynamics")
"""Under constraints these agree only where the constraints hold: `check_accelerations_agree`."""
MAX_ACCELERATION_DOF = 8
"""The most degrees of freedom for which accelerations are compared; they follow from M and bias."""
MAX_CONSTRAINED_COORDINATES = 12
"""The most coordinates for which accelerations under constraints are compared."""

NamedProofs = Sequence[tuple[str, IdentityProof]]


def judge_proofs(name: str, meaning: str, cite: str, proofs: NamedProofs) -> Check:
    """The verdict on several identities, each with the name of its subject."""
    if not proofs:
        return Check(name, SKIPPED_VERDICT, "does not apply", meaning, cite)
    failing = tuple(about for about, proof in proofs if not proof.holds)
    if failing:
        details = (f"{about} ({proof.text})" for about, proof in proofs if not proof.holds)
        return Check(
            name, FAILED_VERDICT, _shorten_check_text("; ".join(details)), meaning, cite, failing
        )
    weaker = [(about, proof) for about, proof in proofs if not proof.is_proved]
    if weaker:
        about, proof = weaker[0]
        return Check(name, PASSED_VERDICT, f"{about}: {proof.text}", meaning, cite)
    largest = max(proof.exponent for _, proof in proofs)
    chance = sum(proof.chance for _, proof in proofs)
    count = f"{len(proofs)} identit{'ies' if len(proofs) > 1 else 'y'}"
    figure = f"{count} modulo 2^{largest} − 1, chance of an error below 2^{log2(chance):.0f}"
    return Check(name, PROVED_VERDICT, figure, meaning, cite)


def _shorten_check_text(text: str, length: int = 300) -> str:
    """The text, cut after `length` characters."""
    return text if len(text) <= length else f"{text[:length]}…"


def check_formulations_agree(
    subject: VerifiedEquations, others: Sequence[VerifiedEquations]
) -> Check:
    """Check each function against other derivations of the same mechanism."""
    proofs: list[tuple[str, IdentityProof]] = []
    left_out: list[str] = []
    for k, other in enumerate(others):
        for function in (*FUNCTIONS_COMPARED_ALWAYS, *(FUNCTIONS_COMPARED_ONCE if k == 0 else ())):
            about = f"{function} by {other.eqs.by}"
            try:
                if _is_function_compared(function, subject) and other.has_functions(function):
                    same = subject.prove_same_tapes(
                        subject.function_tape(function), other.function_tape(function)
                    )
                    proofs.append((about, same))
            except LinkwrightError as error:
                left_out.append(f"{about} ({error})")
    check = judge_proofs(
        "formulations agree",
        "independent derivations give the same function; an error would have to be "
        "made in all of them",
        "The equations were derived independently by several formulations, and their identity was "
        "proved by evaluation modulo a Mersenne prime (Schwartz–Zippel).",
        proofs,
    )
    return _note_skipped_functions(left_out, check)


def _note_skipped_functions(left_out: Sequence[str], check: Check) -> Check:
    """The check with a note of the functions that could not be compared, and why."""
    if not left_out:
        return check
    note = _shorten_check_text(f"not compared: {'; '.join(left_out)}")
    return replace(
        check, figure=note if check.verdict == SKIPPED_VERDICT else f"{check.figure}; {note}"
    )


def check_accelerations_agree(
    subject: VerifiedEquations, others: Sequence[VerifiedEquations]
) -> Check:
    """Check that accelerations under constraints agree where the constraints hold."""
    name = "constrained accelerations"
    meaning = "multipliers, elimination and reduction lead to one motion, where constraints hold"
    cite = (
        "The accelerations under constraints were proved identical at points modulo a Mersenne "
        "prime that obey the constraints."
    )
    if not subject.names.constraints:
        return Check(name, SKIPPED_VERDICT, "the mechanism has no constraints", meaning)
    if subject.eqs.nv > MAX_CONSTRAINED_COORDINATES:
        most = MAX_CONSTRAINED_COORDINATES
        why = f"more than {most} coordinates: they follow from M, bias, J and γ"
        return Check(name, SKIPPED_VERDICT, why, meaning)
    function = "forward_dynamics"
    proofs, left_out = [], []
    for other in others:
        about = f"{function} by {other.eqs.by}"
        try:
            if subject.has_functions(function) and other.has_functions(function):
                proofs.append((about, subject.prove_same_on_constraints(other, function)))
        except LinkwrightError as error:
            left_out.append(f"{about} ({error})")
    return _note_skipped_functions(left_out, judge_proofs(name, meaning, cite, proofs))


def _is_function_compared(function: str, subject: VerifiedEquations) -> bool:
    """Whether a function exists, is not empty, and is within the limits of the comparison."""
    if not subject.has_functions(function):
        return False
    if subject.names.constraints and function in FUNCTIONS_ON_CONSTRAINTS:
        return False
    if function == "forward_dynamics" and subject.eqs.nv > MAX_ACCELERATION_DOF:
        return False
    return bool(subject.function_expression(function).numel())


def check_mass_matrix_symmetric(subject: VerifiedEquations) -> Check:
    """Prove M = Mᵀ."""
    M = subject.function_expression("mass_matrix")
    return judge_proofs(
        "M symmetric",
        "the kinetic energy is a quadratic form, and M its matrix",
        "The mass matrix is symmetric (proved).",
        [("mass_matrix", subject.prove_identity("M", M, M.T))],
    )


def check_kinetic_energy(subject: VerifiedEquations) -> Check:
    """Prove T = ½ q̇ᵀM q̇, or T = ½ q̇ᵀM q̇ + aᵀq̇ + T₀ in moving coordinates."""
    M, qd = subject.function_expression("mass_matrix"), subject.eqs.symbols["qd"]
    T, name = subject.function_expression("kinetic_energy"), "T = ½ q̇ᵀM q̇"
    if subject.names.has_moving_coordinates:
        linear = subject.function_expression("transport_momentum").T @ qd
        T, name = T - subject.expression_at_rest(T) - linear, f"{name} + aᵀq̇ + T₀"
    return judge_proofs(
        name,
        "the mass matrix is that of the kinetic energy",
        "Mass matrix and kinetic energy belong together (proved).",
        [("mass_matrix, kinetic_energy", subject.prove_identity("T", T, qd.T @ M @ qd / 2))],
    )


def check_coriolis_skew(subject: VerifiedEquations) -> Check:
    """Prove that Ṁ − 2C is skew-symmetric."""
    proofs: list[tuple[str, IdentityProof]] = []
    if subject.has_functions("coriolis_matrix"):
        s, M = subject.eqs.symbols, subject.function_expression("mass_matrix")
        rate = ca.jtimes(M, s["q"], subject.eqs.rate_matrix @ s["qd"])  # at fixed time
        N = rate - 2 * subject.function_expression("coriolis_matrix")
        proofs = [("coriolis_matrix", subject.prove_identity("N", N, -N.T))]
    return judge_proofs(
        "Ṁ − 2C skew",
        "Coriolis and centrifugal forces do no work; controllers rely on it",
        "Ṁ − 2C is skew-symmetric (proved).",
        proofs,
    )


def check_equation_of_motion(subject: VerifiedEquations) -> Check:
    """Prove that inverse dynamics, forward dynamics and bias are M q̈ + C q̇ + g − f = τ, with the
    transport forces d of moving coordinates."""
    s, eqs = subject.eqs.symbols, subject.eqs
    M, bias = subject.function_expression("mass_matrix"), subject.function_expression("bias")
    forces = subject.function_expression(subject.force_function)
    same = subject.prove_identity("forces", forces, M @ s["qdd"] + bias)
    proofs = [(f"{subject.force_function}, bias, mass_matrix", same)]
    if subject.has_functions("coriolis_matrix"):
        parts = (
            subject.function_expression("coriolis_matrix") @ s["qd"]
            + subject.function_expression("gravity")
            - eqs.f
        )
        if subject.names.has_moving_coordinates:
            parts += subject.function_expression("transport")
        proofs.append(("bias, coriolis_matrix, gravity", subject.prove_identity("b", bias, parts)))
    if not subject.names.constraints and eqs.nv <= MAX_ACCELERATION_DOF:
        qdd = subject.function_expression("forward_dynamics")
        proofs.append(
            ("forward_dynamics", subject.prove_identity("forces", M @ qdd + bias, s["tau"]))
        )
    return judge_proofs(
        "M q̈ + C q̇ + d + g − f = τ"
        if subject.names.has_moving_coordinates
        else "M q̈ + C q̇ + g − f = τ",
        "inverse and forward dynamics, bias and the matrices are one equation",
        "Inverse and forward dynamics are inverse to each other (proved).",
        proofs,
    )


def check_potential_gradient(subject: VerifiedEquations) -> Check:
    """Prove that g minus the springs' forces at rest is the gradient of the potential energy."""
    slope = subject.eqs.tangent_jacobian(subject.function_expression("potential_energy")).T
    passive = subject.function_expression("passive")
    if subject.names.has_moving_coordinates and ca.depends_on(passive, subject.eqs.symbols["qd"]):
        raise UnsupportedError("dampers move with the coordinates, even where q rests")
    springs = subject.expression_at_rest(passive)
    forces = subject.function_expression("gravity") - springs
    return judge_proofs(
        "g = ∂V/∂q",
        "weight and springs have a potential, and their forces are its gradient",
        "Gravity and spring forces are the gradient of the potential energy (proved).",
        [("gravity, passive, potential_energy", subject.prove_identity("g", forces, slope))],
    )


def loss_forces(subject: VerifiedEquations) -> SX:
    """The forces of dampers and friction: `passive` without its part at rest, the springs."""
    passive = subject.function_expression("passive")
    if not subject.names.has_moving_coordinates:
        return passive - subject.expression_at_rest(passive)
    V = subject.function_expression("potential_energy")  # dampers move while q rests
    return passive + subject.eqs.tangent_jacobian(V).T - subject.function_expression("gravity")


def balanced_energy(subject: VerifiedEquations) -> tuple[SX, SX]:
    """An energy and the power that changes it in addition to forces along q̇: T + V and 0; for
    moving coordinates h = T₂ − T₀ + V and −∂L/∂t."""
    T, V = (subject.function_expression(f"{kind}_energy") for kind in ("kinetic", "potential"))
    if not subject.names.has_moving_coordinates:
        return T + V, ca.SX(0)
    by_time = ca.jacobian(T - V, subject.eqs.symbols["t"])
    return subject.function_expression("jacobi_energy"), -by_time


def check_power_balance(subject: VerifiedEquations) -> Check:
    """Prove d(T + V)/dt = q̇·(τ + forces of dampers, friction and declared forces); in moving
    coordinates dh/dt = −∂L/∂t + q̇·(…)."""
    energy, power = balanced_energy(subject)
    given = subject.function_expression(subject.force_function) + loss_forces(subject)
    power += subject.eqs.symbols["qd"].T @ (given + subject.function_expression("external"))
    law = "d(T + V)/dt = q̇·(τ + f)"
    if subject.names.has_moving_coordinates:
        law = "dh/dt = −∂L/∂t + q̇·(τ + f), h = T₂ − T₀ + V,"
    return judge_proofs(
        "power balance",
        "the power of actuators and other forces is the rate of the energy",
        f"The power balance {law} holds for all motions (proved).",
        [
            (
                "inverse_dynamics, energies",
                subject.prove_identity("P", subject.time_derivative(energy), power),
            )
        ],
    )


def check_constraint_identities(subject: VerifiedEquations) -> Check:
    """Prove that J and γ are the derivatives of the constraint residuals."""
    return judge_proofs(
        "constraint derivatives",
        "Jacobian and bias are the derivatives of the constraints themselves",
        "Constraint Jacobian and acceleration bias are the exact derivatives of the constraint "
        "equations (proved).",
        list(_constraint_proofs(subject)) if subject.names.constraints else [],
    )


def _constraint_proofs(subject: VerifiedEquations) -> Iterator[tuple[str, IdentityProof]]:
    """The proofs about J, γ and the residuals, each with the name of its subject."""
    s = subject.eqs.symbols
    V, J = (
        subject.function_expression("constraint_velocity"),
        subject.function_expression("constraint_jacobian"),
    )
    yield "constraint_jacobian", subject.prove_identity("J", J, ca.jacobian(V, s["qd"]))
    acceleration = J @ s["qdd"] + subject.function_expression("constraint_bias")
    yield (
        "constraint_bias",
        subject.prove_identity("gamma", acceleration, subject.time_derivative(V)),
    )
    position_rows = list(subject.names.position_rows)
    if position_rows:
        residual = subject.time_derivative(subject.function_expression("constraint_residual"))
        yield "constraint_residual", subject.prove_identity("V", V[position_rows], residual)


IDENTITY_CHECKS = (
    check_mass_matrix_symmetric,
    check_kinetic_energy,
    check_coriolis_skew,
    check_equation_of_motion,
    check_potential_gradient,
    check_power_balance,
    check_constraint_identities,
)
REQUIRED_FUNCTIONS = {
    check_mass_matrix_symmetric: ("mass_matrix",),
    check_kinetic_energy: ("mass_matrix", "kinetic_energy"),
    check_coriolis_skew: ("mass_matrix",),
    check_equation_of_motion: ("mass_matrix", "bias"),
    check_potential_gradient: ("gravity", "passive", "potential_energy"),
    check_power_balance: ("kinetic_energy", "potential_energy", "passive", "external"),
    check_constraint_identities: (),
}


def check_identities(subject: VerifiedEquations) -> Iterator[Check]:
    """Results of all identity checks for which the equations have the functions."""
    for check in IDENTITY_CHECKS:
        needed = REQUIRED_FUNCTIONS[check] + (
            (subject.force_function,)
            if check in (check_equation_of_motion, check_power_balance)
            else ()
        )
        if not subject.has_functions(*needed):
            continue
        try:
            yield check(subject)
        except LinkwrightError as error:
            yield Check(check.__name__, SKIPPED_VERDICT, str(error), "cannot be decided here")
