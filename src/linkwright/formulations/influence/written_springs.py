"""Springs and dampers as they are printed: their deformations and coefficients keep names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import casadi as ca

from ...algebra.linear_algebra import Array
from ...written_equations import EquationLine, without_zero_entries
from .spring_influence import InfluenceSpring

if TYPE_CHECKING:
    from . import InfluenceFormulation


@dataclass(frozen=True)
class WrittenSprings:
    """All springs and dampers along the model's velocities, those between points with symbols for
    their deformation u, G and H, which `lines` define."""

    elements: tuple[InfluenceSpring, ...]
    lines: tuple[EquationLine, ...]
    n: int

    def effective_damping(self) -> Array:
        """C* in these symbols (18)."""
        return sum((x.effective_damping() for x in self.elements), ca.SX.zeros(self.n, self.n))

    def effective_loads(self) -> Array:
        """T_spring in these symbols (23)."""
        return sum((x.effective_load() for x in self.elements), ca.SX.zeros(self.n, 1))

    def effective_stiffness(self) -> Array:
        """K* in these symbols (25)."""
        return sum((x.effective_stiffness() for x in self.elements), ca.SX.zeros(self.n, self.n))


def written_springs(influence: InfluenceFormulation) -> WrittenSprings:
    """The springs and dampers of a mechanism with names for what those between points have."""
    taken = {*influence.tree.symbols, *influence.tree.names.q}
    elements: list[InfluenceSpring] = []
    lines: list[EquationLine] = []

    def named(stem: str, array: Array, *, is_symmetric: bool = False) -> Array:
        made = without_zero_entries(ca.SX(array))
        for m, n in product(*map(range, made.shape)):
            if is_symmetric and n < m:
                made[m, n] = made[n, m]
            elif not made[m, n].is_constant():
                places = [k for k, size in zip((m, n), made.shape, strict=True) if size > 1]
                name = stem + "".join(str(k + 1) for k in places)
                name = f"{name}_" if name in taken else name
                lines.append(EquationLine(name, made[m, n]))
                made[m, n] = ca.SX.sym(name)
        return made

    number = 0
    for spring in influence.springs.elements:
        G, H = influence.model_coefficients(spring.G, spring.H or [ca.SX(influence.n, influence.n)])
        u = spring.deformation
        if spring.name:
            number += 1
            plain, length = G, spring.length
            u, G = named(f"u{number}", u), named(f"Gs{number}", G)
            if length is not None:  # L H = (∂²L²/∂φ²)/2 − GᵀG, with names for L and G
                whole = H[0] * (length + spring.deformation) + plain.T @ plain
                H = [(whole - G.T @ G) / (length + u)]
            parts = [""] if len(H) == 1 else [str(p + 1) for p in range(len(H))]
            H = [
                named(f"Hs{number}{part}", plane, is_symmetric=True)
                for part, plane in zip(parts, H, strict=True)
            ]
        elements.append(InfluenceSpring(spring.name, spring.stiffness, spring.damping, u, G, H))
    return WrittenSprings(tuple(elements), tuple(lines), influence.tree.nv)
