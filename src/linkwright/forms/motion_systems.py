"""The linear systems for accelerations and multipliers of a motion, as closed forms print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import casadi as ca

from ..equations import Equations
from ..formulations.formulation import Formulation
from ..formulations.kane_written_speeds import has_constant_determinant
from ..formulations.written_reduction import written_reduction
from ..kinematics.tree_builder import build_kinematic_tree
from ..ports import Port
from ..quantities import quantity_entry_names
from ..types import SX
from ..written_equations import vanishing_entries
from .form_sources import FormSource
from .linear_systems import MAX_SOLVED_UNKNOWNS, FormSystem


@dataclass(frozen=True)
class MotionSystems:
    """The systems for q̈ and λ as functions of q, q̇ and τ, in the order in which they are solved.

    `names` are those of the symbols that they introduce, by element hash; `functions` are the names
    of coefficients that depend on coordinates only, `constants` those of symbols that do not
    change. Multipliers among `zeros` are zero.
    """

    systems: tuple[FormSystem, ...]
    names: dict[int, str] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    zeros: SX = field(default_factory=lambda: ca.SX(0, 1))
    constants: frozenset[str] = frozenset()

    def source(self, name: str, what: str, outputs: Sequence[tuple[str, SX]]) -> FormSource:
        """The source of scalars with these labels, which contain q̈ and λ."""
        values = ca.substitute([ca.SX(x) for _, x in outputs], [self.zeros], [0 * self.zeros])
        made = tuple((Port(label, ()), x) for (label, _), x in zip(outputs, values, strict=True))
        return FormSource(
            name,
            what,
            made,
            systems=self.systems,
            names=self.names,
            functions=self.functions,
            constants=self.constants,
        )


def motion_systems(eqs: Equations, labels: Sequence[str] = ()) -> MotionSystems:
    """M q̈ = τ − bias; under constraints, the system of the independent accelerations if that is
    small, otherwise M q̈ = τ − bias + Jᵀλ with J q̈ = −γ. `labels` name the accelerations."""
    qdd, names = eqs.symbols["qdd"], quantity_entry_names(eqs.names)
    own = tuple(labels or names["qdd"])
    right = eqs.symbols["tau"] - bias_forces(eqs)
    named = {s.element_hash(): label for s, label in zip(ca.vertsplit(qdd), own, strict=True)}
    if not eqs.names.constraints:
        return MotionSystems((FormSystem(own, qdd, eqs.M, right),), named)
    found = ReducedMotion(eqs, own)
    if max(len(found.independent), len(found.dependent)) <= MAX_SOLVED_UNKNOWNS:
        made = found.systems(right)
        return replace(made, names=made.names | named)
    (gamma,) = eqs.expressions("constraint_bias")
    rows, multipliers = sorted(found.rows), eqs.symbols["lambda"]
    whole = FormSystem(
        (*own, *(names["lambda"][k] for k in rows)),
        ca.vertcat(qdd, multipliers[rows]),
        eqs.M,
        right,
        ("M", "b", "J", "c"),
        eqs.J[rows, :],
        -gamma[rows],
    )
    others = [k for k in range(len(eqs.names.constraints)) if k not in rows]
    return MotionSystems((whole,), named, zeros=ca.SX(multipliers[others]))


def bias_forces(eqs: Equations) -> SX:
    """The bias C q̇ + g − f. That of `hamilton` contains the elimination of q̇; it is formed from the
    same T here: Ṁ q̇ + ȧ − ∂T/∂q + g − f."""
    if eqs.by != "hamilton":
        return eqs.expressions("bias")[0]
    q, qd = eqs.symbols["q"], eqs.symbols["qd"]
    (T,) = eqs.expressions("kinetic_energy")
    momenta = ca.gradient(T, qd)
    along = ca.jtimes(momenta, q, qd) + ca.jacobian(momenta, eqs.symbols["t"])
    return along - ca.gradient(T, q) + eqs.g - eqs.f


class ReducedMotion:
    """Independent and dependent accelerations: q̈_s = Σ A_sr q̈_r + b_s."""

    def __init__(self, eqs: Equations, labels: Sequence[str]) -> None:
        self.eqs, self.labels = eqs, labels
        tree = build_kinematic_tree(eqs.mechanism, "symbolic")
        shared = Formulation(tree)
        own = written_reduction(shared)
        self.rows, self.independent, self.dependent = list(own.rows), list(own.a), sorted(own.p)
        made = [own.constraints.J[self.rows, :], own.constraints.bias[self.rows]]
        made += [ca.densify(ca.SX(own.G)), ca.densify(ca.SX(own.bias_accelerations))]
        self.has_constant_pivots = has_constant_determinant(shared, made[0][:, self.dependent])
        names, motion = list(eqs.parameters), tree.motion
        by_name = dict(zip(names, ca.vertsplit(eqs.symbols["p"]), strict=True)) if names else {}
        values = [by_name.get(key, float(tree.symbol_values[key])) for key in tree.symbols]
        old = [motion.q, motion.qd, motion.t, ca.vertcat(*tree.symbols.values())]
        new = [*(eqs.symbols[key] for key in ("q", "qd", "t")), ca.vertcat(*values)]
        self.J, self.bias, self.G, self.k = ca.substitute(made, old, new)

    def systems(self, right: SX) -> MotionSystems:
        """The systems of coefficients, of independent and dependent accelerations, and of
        multipliers; coefficients without denominators are inserted."""
        eqs, free, tied = self.eqs, self.independent, self.dependent
        qdd, G, k, found = eqs.symbols["qdd"], self.G, self.k, list[FormSystem]()
        names: dict[int, str] = {}
        if not self.has_constant_pivots:
            own = self.coefficient_system()
            found.append(own)
            symbols = ca.vertsplit(ca.vec(own.symbols.T))
            named = zip(symbols, own.names, strict=True)
            names = {symbol.element_hash(): name for symbol, name in named}
            is_zero = vanishing_entries(ca.horzcat(G, k)[tied, :])
            entries = ca.if_else(ca.DM(is_zero), 0, own.symbols)
            G, k = ca.SX(G), ca.SX(k)
            for s, i in enumerate(tied):
                G[i, :], k[i] = entries[s, : len(free)], entries[s, len(free)]
        if free:
            reduced = G.T @ eqs.M @ G, G.T @ (right - eqs.M @ k)
            labels = tuple(self.labels[i] for i in free)
            found.append(FormSystem(labels, qdd[free], *reduced, letters=("R", "r")))
        whole = (G @ qdd[free] if free else 0) + k
        found.append(FormSystem(tuple(self.labels[i] for i in tied), qdd[tied], None, whole[tied]))
        found += self.multiplier_systems(eqs.M @ qdd - right)
        others = [k for k in range(len(eqs.names.constraints)) if k not in self.rows]
        coefficients = frozenset(name for name in names.values() if name.startswith("A"))
        return MotionSystems(
            tuple(found), names, coefficients, ca.SX(eqs.symbols["lambda"][others])
        )

    def coefficient_system(self) -> FormSystem:
        """A and b of the dependent accelerations, in the rows of these."""
        free, tied = self.independent, self.dependent
        letters = {*self.eqs.parameters, *self.eqs.names.q}
        mark = "_" if any(re.fullmatch(r"[Ab]\d+", name) for name in letters) else ""
        names = [
            name
            for s in tied
            for name in (*(f"A{mark}{s + 1}{r + 1}" for r in range(len(free))), f"b{mark}{s + 1}")
        ]
        column = ca.vertcat(*(ca.SX.sym(name) for name in names))
        symbols = ca.reshape(column, len(free) + 1, len(tied)).T
        known = ca.horzcat(-self.J[:, free], -self.bias)
        return FormSystem(tuple(names), symbols, self.J[:, tied], known, ("J", "c"), lowest=True)

    def multiplier_systems(self, forces: SX) -> list[FormSystem]:
        """J_pᵀ λ = (M q̈ − τ + bias)_p, in the rows of dependent velocities."""
        eqs, names = self.eqs, quantity_entry_names(self.eqs.names)["lambda"]
        return [
            FormSystem(
                tuple(names[k] for k in self.rows),
                eqs.symbols["lambda"][self.rows],
                eqs.J[self.rows, :][:, self.dependent].T,
                forces[self.dependent],
                ("J", "c"),
            )
        ]
