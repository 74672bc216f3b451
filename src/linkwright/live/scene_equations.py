"""Equations beside a live picture: formulas whose symbols light up bodies and get values."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import casadi as ca
from pydantic import BaseModel

from ..equations import Equations
from ..expressions import expression_text, names_in_expression
from ..expressions.typeset import ExpressionTypesetter, MathmlNotation
from ..forms.quantity_typesetting import TypesetQuantity, typeset_quantity
from ..formulations import derive
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.parts import part_numbers


@dataclass(frozen=True)
class LiveEquation:
    """A formula for a live page.

    `title` says what it is; `mathml` is a `<math>` element as text, whose symbols are marked by
    `data-symbol` (`forms` writes them so); it is never taken from a file as it is.

    Examples
    --------
    >>> import linkwright as lw
    >>> equation = lw.live.equations_of(lw.gallery("elbow"))[0]
    >>> equation.title, equation.mathml.startswith("<math")
    ('Mass matrix M', True)
    """

    title: str
    mathml: str

    def data(self) -> dict[str, str]:
        """Return the equation as plain data."""
        return {"title": self.title, "mathml": self.mathml}


MAX_EQUATION_SPEEDS, MAX_EQUATION_TEXT = 3, 1_500
"""Velocities of a mechanism whose equations stand beside its picture, and characters of each."""
_SHOWN_QUANTITIES = {
    "mass_matrix": "Mass matrix M",
    "coriolis_matrix": "Coriolis matrix C",
    "gravity": "Gravity g",
}


class SymbolTypesetter(ExpressionTypesetter):
    """Typesets names as elements that say which symbol they are, so that a page can light it up."""

    def name(self, name: str, exponent: str = "") -> str:
        """Return a name as a symbol with its mark."""
        plain = self.dotted[name][0] if name in self.dotted else name
        return f'<mrow data-symbol="{escape(plain)}">{super().name(name, exponent)}</mrow>'


def equations_of(mechanism: Mechanism) -> tuple[LiveEquation, ...]:
    """Return the functions of a small mechanism's equation of motion as formulas for a page.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism; nothing is returned if it has many velocities, or formulas that are too long
        to stand beside a picture.

    Returns
    -------
    tuple of LiveEquation
        Formulas whose symbols are marked.

    Examples
    --------
    >>> import linkwright as lw
    >>> [one.title for one in lw.live.equations_of(lw.gallery("elbow"))]
    ['Mass matrix M', 'Coriolis matrix C', 'Gravity g']
    """
    if mechanism_names(mechanism).nv > MAX_EQUATION_SPEEDS:
        return ()
    equations = derive(mechanism)
    found = []
    for name, title in _SHOWN_QUANTITIES.items():
        sheet = _typeset_short(equations, name)
        if sheet is not None:
            found.append(LiveEquation(title, _formula_markup(sheet)))
    return tuple(found)


def _typeset_short(equations: Equations, name: str) -> TypesetQuantity | None:
    """A quantity in closed form, if it is short."""
    sheet = typeset_quantity(equations, name, page=MAX_EQUATION_TEXT)
    short = sum(len(expression_text(value)) for _, value in sheet.rows) <= MAX_EQUATION_TEXT
    return sheet if sheet.is_closed and short else None


def _formula_markup(sheet: TypesetQuantity) -> str:
    """The entries of a quantity, one below the other."""
    setter = SymbolTypesetter(MathmlNotation(), sheet.dotted_symbols)
    rows = []
    for labels, value in sheet.rows:
        names = "<mo>=</mo>".join(setter.entry(label) for label in labels)
        rows.append(f"<mtr><mtd>{names}</mtd><mtd><mo>=</mo>{setter.typeset(value)}</mtd></mtr>")
    return f'<math display="block"><mtable columnalign="right left">{"".join(rows)}</mtable></math>'


def scene_symbols(mechanism: Mechanism, tree: KinematicTree) -> dict[str, dict[str, object]]:
    """Return for each symbol the links that light up, and what the symbol is.

    A coordinate belongs to the link that it moves, a parameter to every body, joint or frame whose
    numbers contain it.
    """
    found: dict[str, dict[str, object]] = {}
    for name in mechanism.parameters:
        found[name] = {"kind": "parameter", "links": _links_with_parameter(mechanism, tree, name)}
    moved = _links_of_coordinates(tree)
    for k, name in enumerate(tree.names.q):
        found[name] = {"kind": "coordinate", "links": moved[k]}
    return found


def _links_of_coordinates(tree: KinematicTree) -> list[list[int]]:
    """For each coordinate the first link that it moves, or the links of its joint."""
    q = tree.motion.q
    poses = WorldKinematics(tree, q).link_poses
    found: list[list[int]] = []
    for k, name in enumerate(tree.names.q):
        joint = [s for s in tree.joints if name == s.name or name.startswith(f"{s.name}.")]
        moved = [
            link
            for link, pose in enumerate(poses)
            if ca.depends_on(ca.vertcat(ca.vec(ca.SX(pose.R)), ca.SX(pose.p)), q[k])
        ]
        found.append(list(joint[0].links) if joint else moved[:1])
    return found


def _links_with_parameter(mechanism: Mechanism, tree: KinematicTree, name: str) -> list[int]:
    """The links whose bodies, joints or frames contain a parameter, also through others."""
    users = {name} | {
        other
        for other, written in mechanism.parameters.items()
        if name in names_in_expression(written)
    }
    spans = {span.name: span for span in tree.joints}
    places: list[tuple[BaseModel, int]] = [
        *((part, tree.masses[name].link) for name, part in mechanism.bodies.items()),
        *((part, spans[name].frame.link) for name, part in mechanism.joints.items()),
        *((part, tree.frames[name].link) for name, part in mechanism.frames.items()),
    ]
    links = dict.fromkeys(
        link
        for part, link in places
        if any(users & set(names_in_expression(number)) for _, number, _ in part_numbers(part))
    )
    return [link for link in links if link != GROUND]
