"""Checks that are identities, proved for all states and all values of the parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log2

import casadi as ca

from ..errors import LinkwrightError
from .report import FAILED, PASSED, PROVED, SKIPPED, Check
from .subject import Proof, Subject

EVERY = ("mass_matrix", "bias", "gravity", "constraint_jacobian", "constraint_bias")
"""Compared with every formulation; the rest of the equations is tied to these by identities."""
FIRST = (
    "coriolis_matrix", "inverse_dynamics", "forward_dynamics", "required_forces", "passive",
    "external", "input_matrix", "kinetic_energy", "potential_energy", "center_of_mass", "momentum",
)  # fmt: skip
"""Compared with the first one too."""
ON_CONSTRAINTS = ("inverse_dynamics", "forward_dynamics")
"""Of constrained mechanisms these agree where the constraints hold only (see `accelerations`)."""
MOST_FREEDOMS = 8
"""Beyond, accelerations are not compared themselves: they follow from M and bias."""
MOST_CONSTRAINED = 12
"""The same under constraints."""

Proofs = Sequence[tuple[str, Proof]]


def judged(name: str, meaning: str, cite: str, proofs: Proofs) -> Check:
    """One check of several identities, each with the name of what it is about."""
    if not proofs:
        return Check(name, SKIPPED, "does not apply", meaning, cite)
    failing = tuple(about for about, proof in proofs if not proof.holds)
    if failing:
        details = (f"{about} ({proof.text})" for about, proof in proofs if not proof.holds)
        return Check(name, FAILED, _shortened("; ".join(details)), meaning, cite, failing)
    weaker = [(about, proof) for about, proof in proofs if not proof.proved]
    if weaker:
        about, proof = weaker[0]
        return Check(name, PASSED, f"{about}: {proof.text}", meaning, cite)
    largest = max(proof.exponent for _, proof in proofs)
    chance = sum(proof.chance for _, proof in proofs)
    count = f"{len(proofs)} identit{'ies' if len(proofs) > 1 else 'y'}"
    figure = f"{count} modulo 2^{largest} − 1, chance of an error below 2^{log2(chance):.0f}"
    return Check(name, PROVED, figure, meaning, cite)


def _shortened(text: str, length: int = 300) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def formulations(subject: Subject, others: Sequence[Subject]) -> Check:
    """Function by function against other derivations of the same mechanism."""
    proofs: list[tuple[str, Proof]] = []
    left_out: list[str] = []
    for k, other in enumerate(others):
        for function in (*EVERY, *(FIRST if k == 0 else ())):
            about = f"{function} by {other.eqs.by}"
            try:
                if _compared(function, subject) and other.has(function):
                    same = subject.same(subject.tape(function), other.tape(function))
                    proofs.append((about, same))
            except LinkwrightError as error:
                left_out.append(f"{about} ({error})")
    return _noted(left_out, judged(
        "formulations agree",
        "derivations on different roads give one and the same function; an error would have to be "
        "made on all of them",
        "The equations were derived independently by several formulations, and their identity was "
        "proved by evaluation modulo a Mersenne prime (Schwartz–Zippel).",
        proofs,
    ))  # fmt: skip


def _noted(left_out: Sequence[str], check: Check) -> Check:
    """The check with a note of what could not be compared, and why."""
    if not left_out:
        return check
    note = _shortened(f"not compared: {'; '.join(left_out)}")
    return replace(check, figure=note if check.verdict == SKIPPED else f"{check.figure}; {note}")


def accelerations(subject: Subject, others: Sequence[Subject]) -> Check:
    """Under constraints, where these hold."""
    name = "constrained accelerations"
    meaning = "multipliers, elimination and reduction lead to one motion, where constraints hold"
    cite = (
        "The accelerations under constraints were proved identical at points modulo a Mersenne "
        "prime that obey the constraints."
    )
    if not subject.names.constraints:
        return Check(name, SKIPPED, "there are no constraints", meaning)
    if subject.eqs.nv > MOST_CONSTRAINED:
        why = f"more than {MOST_CONSTRAINED} coordinates: they follow from M, bias, J and γ"
        return Check(name, SKIPPED, why, meaning)
    function = "forward_dynamics"
    proofs, left_out = [], []
    for other in others:
        about = f"{function} by {other.eqs.by}"
        try:
            if subject.has(function) and other.has(function):
                proofs.append((about, subject.same_where_allowed(other, function)))
        except LinkwrightError as error:
            left_out.append(f"{about} ({error})")
    return _noted(left_out, judged(name, meaning, cite, proofs))


def _compared(function: str, subject: Subject) -> bool:
    if not subject.has(function):
        return False
    if subject.names.constraints and function in ON_CONSTRAINTS:
        return False
    if function == "forward_dynamics" and subject.eqs.nv > MOST_FREEDOMS:
        return False
    return bool(subject.of(function).numel())


def symmetric(subject: Subject) -> Check:
    M = subject.of("mass_matrix")
    return judged(
        "M symmetric",
        "the kinetic energy is a quadratic form, and M its matrix",
        "The mass matrix is symmetric (proved).",
        [("mass_matrix", subject.prove("M", M, M.T))],
    )


def kinetic(subject: Subject) -> Check:
    M, qd = subject.of("mass_matrix"), subject.eqs.symbols["qd"]
    T = subject.of("kinetic_energy")
    return judged(
        "T = ½ q̇ᵀM q̇",
        "the mass matrix is that of the kinetic energy",
        "Mass matrix and kinetic energy belong together (proved).",
        [("mass_matrix, kinetic_energy", subject.prove("T", T, qd.T @ M @ qd / 2))],
    )


def skew(subject: Subject) -> Check:
    proofs: list[tuple[str, Proof]] = []
    if subject.has("coriolis_matrix"):
        N = subject.rate(subject.of("mass_matrix")) - 2 * subject.of("coriolis_matrix")
        proofs = [("coriolis_matrix", subject.prove("N", N, -N.T))]
    return judged(
        "Ṁ − 2C skew",
        "Coriolis and centrifugal forces do no work; controllers rely on it",
        "Ṁ − 2C is skew-symmetric (proved).",
        proofs,
    )


def equation(subject: Subject) -> Check:
    """M q̈ + C q̇ + g − f, put together from its parts."""
    s, eqs = subject.eqs.symbols, subject.eqs
    proofs = []
    M, bias = subject.of("mass_matrix"), subject.of("bias")
    drives = subject.of(subject.drives)
    proofs.append((f"{subject.drives}, bias, mass_matrix",
                   subject.prove("forces", drives, M @ s["qdd"] + bias)))  # fmt: skip
    if subject.has("coriolis_matrix"):
        parts = subject.of("coriolis_matrix") @ s["qd"] + subject.of("gravity") - eqs.f
        proofs.append(("bias, coriolis_matrix, gravity", subject.prove("b", bias, parts)))
    if not subject.names.constraints and eqs.nv <= MOST_FREEDOMS:
        qdd = subject.of("forward_dynamics")
        proofs.append(("forward_dynamics", subject.prove("forces", M @ qdd + bias, s["tau"])))
    return judged(
        "M q̈ + C q̇ + g − f = τ",
        "inverse and forward dynamics, bias and the matrices are one equation",
        "Inverse and forward dynamics are inverse to each other (proved).",
        proofs,
    )


def gradient(subject: Subject) -> Check:
    """g less the springs' forces at rest, against the potential energy."""
    slope = subject.eqs.along_q(subject.of("potential_energy")).T
    forces = subject.of("gravity") - subject.at_rest(subject.of("passive"))
    return judged(
        "g = ∂V/∂q",
        "weight and springs have a potential, and their forces are its gradient",
        "Gravity and spring forces are the gradient of the potential energy (proved).",
        [("gravity, passive, potential_energy", subject.prove("g", forces, slope))],
    )


def power(subject: Subject) -> Check:
    """d(T + V)/dt = q̇·(τ + what dampers, friction and given forces do)."""
    qd = subject.eqs.symbols["qd"]
    energy = subject.of("kinetic_energy") + subject.of("potential_energy")
    passive = subject.of("passive")
    given = subject.of(subject.drives) + passive - subject.at_rest(passive)
    given += subject.of("external")
    return judged(
        "power balance",
        "what drives and other forces put in is what the energy gains",
        "The power balance d(T + V)/dt = q̇·(τ + f) holds for all motions (proved).",
        [("inverse_dynamics, energies", subject.prove("P", subject.rate(energy), qd.T @ given))],
    )


def constraints(subject: Subject) -> Check:
    """J, γ and the residuals belong together."""
    return judged(
        "constraints differentiated",
        "Jacobian and bias are the derivatives of the constraints themselves",
        "Constraint Jacobian and acceleration bias are the exact derivatives of the constraint "
        "equations (proved).",
        list(_of_constraints(subject)) if subject.names.constraints else [],
    )


def _of_constraints(subject: Subject) -> Iterator[tuple[str, Proof]]:
    s = subject.eqs.symbols
    V, J = subject.of("constraint_velocity"), subject.of("constraint_jacobian")
    yield "constraint_jacobian", subject.prove("J", J, ca.jacobian(V, s["qd"]))
    acceleration = J @ s["qdd"] + subject.of("constraint_bias")
    yield "constraint_bias", subject.prove("gamma", acceleration, subject.rate(V))
    position_rows = list(subject.names.position_rows)
    if position_rows:
        residual = subject.rate(subject.of("constraint_residual"))
        yield "constraint_residual", subject.prove("V", V[position_rows], residual)


IDENTITIES = (symmetric, kinetic, skew, equation, gradient, power, constraints)
NEEDS = {
    symmetric: ("mass_matrix",), kinetic: ("mass_matrix", "kinetic_energy"),
    skew: ("mass_matrix",), equation: ("mass_matrix", "bias"),
    gradient: ("gravity", "passive", "potential_energy"),
    power: ("kinetic_energy", "potential_energy", "passive", "external"), constraints: (),
}  # fmt: skip


def identities(subject: Subject) -> Iterator[Check]:
    """All of them that the equations have functions for."""
    for check in IDENTITIES:
        needed = NEEDS[check] + ((subject.drives,) if check in (equation, power) else ())
        if not subject.has(*needed):
            continue
        try:
            yield check(subject)
        except LinkwrightError as error:
            yield Check(check.__name__, SKIPPED, str(error), "cannot be decided here")
