"""Labels of printed entries, M[1,2] or alpha1^2[x], and the quantities that they are entries of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import casadi as ca

from ..types import SX

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary

_LABEL = re.compile(r"(?P<letter>[A-Za-z]+)\[(?P<indices>\d{1,4}(?:,\d{1,4})*)\]")
AXIS_LABEL_WORD = re.compile(r"(?:alpha|beta|gamma)\d+")
"""Words before the axis of a printed vector's component: beta1[z]. Elsewhere [z] is a factor."""


@dataclass(frozen=True)
class PrintedQuantity:
    """A letter that printed entries have, the number of their indices, and the function of the
    equations that they are entries of."""

    letter: str
    index_count: int
    function: str
    meaning: str
    paper_letter: str = ""  # of the same entry in papers, M12 for M[1,2]

    @property
    def examples(self) -> list[str]:
        """A label, for the documentation."""
        return [f"{self.letter}[{','.join('12'[: self.index_count])}]"]


PRINTED_QUANTITIES = (
    PrintedQuantity("M", 2, "mass_matrix", "entry of the mass matrix", "M"),
    PrintedQuantity("C", 2, "coriolis_matrix", "entry of the Coriolis matrix", "C"),
    PrintedQuantity("d", 1, "transport", "entry of the forces of coordinates that depend on time"),
    PrintedQuantity("a", 1, "transport_momentum", "entry of the momenta at q̇ = 0"),
    PrintedQuantity("g", 1, "gravity", "entry of the gravity vector", "g"),
    PrintedQuantity("f", 1, "forces", "entry of all other forces: springs, dampers, loads"),
    PrintedQuantity("Phi", 1, "constraint_residual", "residual of a holonomic constraint", "f"),
    PrintedQuantity("J", 2, "constraint_jacobian", "entry of the constraint Jacobian", "J"),
    PrintedQuantity("gamma", 1, "constraint_bias", "entry of γ with J q̈ + γ = 0"),
    PrintedQuantity("B", 2, "input_matrix", "entry of B with τ = B u"),
)
"""Entries of the quantities of the general equation of motion, as `derive` prints them."""


@dataclass(frozen=True)
class PrintedName:
    """Names that a formulation prints, by examples, and their meaning."""

    names: str
    meaning: str

    @property
    def examples(self) -> list[str]:
        """The names one by one."""
        return self.names.split()


FORMULATION_NAMES = (
    PrintedName("Gc1[1,2] Gw1[1,2]", "influence: velocity and angular velocity of a body"),
    PrintedName("Hc1[1,1,2] Hw1[1,1,2]", "influence: second-order coefficients of a body"),
    PrintedName("I[1,2] P[1,1,2]", "influence: effective inertia, inertia power array"),
    PrintedName("K[1,2]", "influence: effective stiffness"),
    PrintedName("A1[1,2] Z1[1,2]", "recurrent: transition and inertia matrix of a member"),
    PrintedName("beta1[z] gamma1[z]", "recurrent: axis of a turn, direction of a slide"),
    PrintedName("alpha1^2[x]", "recurrent: velocity of a centre of mass per unit rate of a turn"),
    PrintedName("G21 H211", "under `[by influence]`: coefficients by the inputs"),
    PrintedName("Tu1 Tk1 C[1,2]", "under `[by influence]`: loads, of springs, effective damping"),
    PrintedName(
        "W12 Y1 V1", "under `[by recurrent]`: inertia matrix, forces of weights, all forces"
    ),
    PrintedName("A21 B2 b2", "under `[by kane]`: coefficients of dependent velocities"),
    PrintedName("V_c1 x_c1", "under `[by kane]`: dual velocity and axis at a centre of mass"),
    PrintedName("omega1_1 g1_1", "under `[by newton_euler]`: ω and gravity in the axes of a link"),
    PrintedName("alpha1_1 a1_1", "under `[by newton_euler]`: α and a of the centre of mass there"),
    PrintedName("T1", "under `[by newton_euler]`: force of a joint along its given motion"),
    PrintedName(
        "L_rope S_rope", "under `[by newton_euler]`: a spring's length, tension over length"
    ),
)
"""Names of single formulations, for the documentation; `WrittenLineValues` has their values."""


def is_printed_label(name: str) -> bool:
    """Whether a name is the label of a printed entry."""
    return name.endswith("]")


def name_of_printed_label(name: str) -> str:
    """The symbol of papers for the label of an entry, M1_2 for M[1,2]; other names as they are."""
    row, at = _printed_quantity(name)
    if row is None or not row.paper_letter:
        return name
    return row.paper_letter + "_".join(map(str, at))


def paper_name_of_label(label: str) -> str:
    """The same letter and indices as papers write them: JT1_12 for JT[1,12]."""
    found = _LABEL.fullmatch(label)
    return found["letter"] + found["indices"].replace(",", "_") if found else label


def printed_quantity_entry(own: CheckerVocabulary, name: str) -> SX | None:
    """The entry that a label names; None if the mechanism has no such entry."""
    row, at = _printed_quantity(name)
    if row is None or row.function not in own.eqs.function_names():
        return None
    whole = ca.densify(own.quantity_expression(row.function))
    is_inside = all(1 <= i <= size for i, size in zip(at, whole.shape, strict=False))
    return whole[at[0] - 1, at[1] - 1 if len(at) > 1 else 0] if is_inside else None


def _printed_quantity(name: str) -> tuple[PrintedQuantity | None, list[int]]:
    """The quantity and the indices of a label, counted from 1."""
    found = _LABEL.fullmatch(name)
    at = [int(i) for i in found["indices"].split(",")] if found else []
    rows = {(row.letter, row.index_count): row for row in PRINTED_QUANTITIES}
    return rows.get((found["letter"], len(at))) if found else None, at


def printed_quantity_labels(own: CheckerVocabulary) -> Iterator[str]:
    """The labels of all entries of the mechanism's quantities."""
    known = own.eqs.function_names()
    for row in PRINTED_QUANTITIES:
        if row.function in known:
            sizes = own.quantity_expression(row.function).shape[: row.index_count]
            for at in product(*(range(1, size + 1) for size in sizes)):
                yield f"{row.letter}[{','.join(map(str, at))}]"


def latex_name_of_label(label: str) -> str:
    """The name that printed LaTeX has for a label, alpha1x2 for alpha1^2[x]; other names as they
    are."""
    if not is_printed_label(label):
        return label
    head, _, indices = label.partition("[")
    word, _, above = head.partition("^")
    return f"{word}{indices.rstrip(']').replace(',', '')}{above}"
