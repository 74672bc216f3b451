"""Base parameters: the fewest inertial parameters that determine the forces at the joints.

τ = Y π is linear in the ten parameters of every body. Columns of Y depend on each other: only as
many combinations of π as Y has rank can be identified from the forces, and these determine the
forces. Each is one parameter that is kept, plus multiples of those that are not:

    base_j = π_j + Σ k_ji π_i.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca

from ...algebra.linear_algebra import IDENTITY, ZERO3
from ...displays import NotebookDisplayed
from ...equations import Equations
from ...errors import UnsupportedError
from ...expressions import (
    ONE,
    ExactNumber,
    Expression,
    Name,
    Negation,
    Number,
    Product,
    Sum,
    expression_text,
    negate_expression,
)
from ...kinematics.kinematic_tree import KinematicTree, LinkFrame
from ...kinematics.tree_builder import build_kinematic_tree
from ...mechanism import Mechanism
from ...quantities import quantity_ports
from ...tape import Tape, record_tape
from .. import derive
from ..regressors import recursive_dynamics_regressor
from .absolute_values import resolve_base_parameter_signs
from .base_parameter_factors import BaseParameterAlgebra, BaseParameterFactor
from .column_relations import leftover_grouping_relations
from .exact_constants import exact_base_parameter_values
from .regressor_samples import sample_base_parameters
from .regrouping import (
    PARAMETER_LETTERS,
    BaseParameterRelation,
    base_parameter_relations,
    base_parameters_by_preference,
    base_relations_in_body_frames,
    record_base_parameter_placements,
)


@dataclass(frozen=True, repr=False)
class BaseParameter(NotebookDisplayed):
    """One base parameter: an inertial parameter that is kept plus multiples of others.

    Attributes
    ----------
    name : str
        Its symbol.
    kept : str
        The inertial parameter that it is named after.
    factors : mapping of str to expressions
        Factors of the parameters that are grouped into it.
    value : number
        SI units.

    Examples
    --------
    >>> import linkwright as lw
    >>> base = lw.identify.base_parameters(lw.gallery("elbow"))
    >>> print(next(iter(base.parameters.values())))
    BaseParameter MXR_link1 = 1.5
    """

    name: str
    kept: str
    factors: Mapping[str, Expression]
    value: ExactNumber

    def summary(self) -> str:
        """Return one line: the name and the value."""
        return f"BaseParameter {self.name} = {float(self.value):.6g}"

    @property
    def formula(self) -> Expression:
        """The sum of the kept parameter and the others, as an expression."""
        terms: list[Expression] = [Name(self.kept)]
        for name, factor in self.factors.items():
            terms.append(_base_parameter_term(factor, Name(name)))
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _base_parameter_term(factor: Expression, name: Name) -> Expression:
    """The product of a factor and a parameter, with the sign in front."""
    match factor:
        case Negation(operand):
            return negate_expression(_base_parameter_term(operand, name))
        case Number(value) if value < 0:
            return negate_expression(_base_parameter_term(Number(-value), name))
        case Product(factors):
            return Product((*factors, name))
        case _:
            return name if factor == ONE else Product((factor, name))


@dataclass(frozen=True, repr=False)
class BaseParameters(NotebookDisplayed):
    """The base parameters of a mechanism.

    The rank holds for almost all lengths and angles.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    parameters : mapping of str to BaseParameter
        The base parameters by name.
    grouped, without_effect : tuple of str
        Inertial parameters that occur only in groups of others, and those that do not occur.
    shared : mapping of str to expressions
        Formulas of k1, k2, …: factors that are too long to be multiplied out.
    rank_of_values : int
        The rank with the mechanism's own numbers; it is smaller where these are special, for
        instance where axes are parallel only by their numbers.

    Examples
    --------
    >>> import linkwright as lw
    >>> base = lw.identify.base_parameters(lw.gallery("elbow"))
    >>> base.rank, list(base.parameters)
    (6, ['MXR_link1', 'MY_link1', 'ZZR_link1', 'MX_link2', 'MY_link2', 'ZZ_link2'])
    """

    mechanism: Mechanism
    parameters: Mapping[str, BaseParameter]
    grouped: tuple[str, ...]
    without_effect: tuple[str, ...]
    shared: Mapping[str, Expression]
    rank_of_values: int

    def summary(self) -> str:
        """Return one line: how many base parameters there are."""
        return f"BaseParameters of {self.mechanism.name}: {len(self.parameters)}"

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return len(self.parameters)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The inertial parameters after which the base parameters are named."""
        return tuple(parameter.kept for parameter in self.parameters.values())

    def __len__(self) -> int:
        return len(self.parameters)

    def __str__(self) -> str:
        count = self.rank + len(self.grouped) + len(self.without_effect)
        lines = [f"{self.mechanism.name}: {self.rank} base parameters of {count}"]
        width = max(map(len, self.parameters), default=0)
        for name, parameter in self.parameters.items():
            shown = expression_text(parameter.formula)
            lines.append(f"  {name:{width}} = {shown} = {float(parameter.value):.10g}")
        lines += [f"  {name} = {expression_text(formula)}" for name, formula in self.shared.items()]
        if self.without_effect:
            lines.append(f"without effect: {', '.join(self.without_effect)}")
        if self.rank_of_values != self.rank:
            lines.append(
                f"with the mechanism's own numbers the rank is {self.rank_of_values}: "
                "they are special, and the formulas, though right, are not the fewest"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Return all of it as plain data.

        Returns
        -------
        dict
            Formulas are text, values are SI.
        """
        return {
            "mechanism": self.mechanism.name,
            "rank": self.rank,
            "rank_of_values": self.rank_of_values,
            "base_parameters": {
                name: {
                    "formula": expression_text(one.formula),
                    "kept": one.kept,
                    "factors": {other: expression_text(k) for other, k in one.factors.items()},
                    "value": float(one.value),
                }
                for name, one in self.parameters.items()
            },
            "grouped": list(self.grouped),
            "without_effect": list(self.without_effect),
            "shared": {name: expression_text(formula) for name, formula in self.shared.items()},
        }


def base_parameter_column_names(bodies: tuple[str, ...]) -> list[str]:
    """Names of the regressor's columns: M_link1, MX_link1, …, ZZ_link1, M_link2, …"""
    return [f"{letter}_{body}" for body in bodies for letter in PARAMETER_LETTERS]


def base_parameters(mechanism: Mechanism) -> BaseParameters:
    """Return the base parameters of a mechanism, with their formulas in closed form.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism without loops and constraints.

    Returns
    -------
    BaseParameters
        The combinations of inertial parameters that the motion determines.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.identify.base_parameters(lw.gallery("elbow")).rank
    6
    """
    if mechanism.loops or mechanism.constraints:
        raise UnsupportedError(
            f"{mechanism.name} has loops or constraints; base parameters are those of trees",
            remedy="leave them out",
        )
    eqs = derive(mechanism, parameters="symbolic")
    if not eqs.nv:
        raise UnsupportedError(
            f"{mechanism.name} has no degrees of freedom, so no motion determines any parameter"
        )
    tracer, rows, own = _find_base_parameter_relations(mechanism, eqs)
    return _group_base_parameters(mechanism, eqs, tracer, rows, own)


def _find_base_parameter_relations(
    mechanism: Mechanism, eqs: Equations
) -> tuple[BaseParameterAlgebra, list[BaseParameterRelation], int]:
    """The tracer, as many vanishing combinations of columns as the regressor's rank lacks, and the
    rank at the mechanism's own values.

    They are found in the frames of the links, where z is the joint's axis and most are simple.
    """
    tree = build_kinematic_tree(mechanism, "symbolic")
    if tree.transfer is not None and (
        tree.transfer.is_moving or tree.transfer.G.shape[0] > tree.nv
    ):
        raise UnsupportedError(
            "base parameters need as many coordinates as joint variables, without t",
            where=mechanism.name,
            remedy="remove [coordinates]",
        )
    tape, width = _base_parameter_regressor_tape(tree), 10 * len(eqs.names.bodies)
    placed = record_base_parameter_placements(tree)
    samples = (
        sample_base_parameters(tape, eqs, placed),
        sample_base_parameters(tape, eqs, placed, seed=2),
    )
    rank = samples[0].rank()
    tracer = BaseParameterAlgebra(samples[0].field, samples[0].numbers)
    rows = base_parameter_relations(tree, tracer)
    if rank < width - len(rows):
        given_up = {next(iter(row)) for row in rows}
        rest = [c for c in base_parameters_by_preference(width) if c not in given_up]
        rows += leftover_grouping_relations(tracer, tape, eqs, samples, rest)
    rows = base_relations_in_body_frames(tree, tracer, rows)
    if len(rows) != width - rank:
        raise UnsupportedError(f"the groupings of {mechanism.name} could not all be found")
    own = sample_base_parameters(tape, eqs, placed, eqs.parameters).rank()
    return tracer, rows, own


def _base_parameter_regressor_tape(tree: KinematicTree) -> Tape:
    """The tape of the regressor for parameters in the frames of the bodies' links and for the
    joints' own coordinates; a change to as many other coordinates keeps the rank."""
    tree = replace(tree, transfer=None)
    own, p = tree.motion, ca.vertcat(*tree.symbols.values())
    links = [LinkFrame(tree.bodies[name].link, IDENTITY, ZERO3) for name in tree.names.bodies]
    Y = ca.densify(ca.cse(recursive_dynamics_regressor(tree, own.q, own.qd, own.qdd, links)))
    inputs = {"q": own.q, "qd": own.qd, "qdd": own.qdd} | ({"p": p} if tree.symbols else {})
    function = ca.Function("regressor", list(inputs.values()), [Y], list(inputs), ["Y"])
    tape = record_tape(function, *quantity_ports(tree.names, "regressor", list(tree.symbols)))
    return resolve_base_parameter_signs(tape, [float(x) for x in tree.symbol_values.values()])


def _group_base_parameters(
    mechanism: Mechanism,
    eqs: Equations,
    tracer: BaseParameterAlgebra,
    rows: list[BaseParameterRelation],
    own: int,
) -> BaseParameters:
    """The base parameters with names, factors and values, from the relations between columns."""
    names = base_parameter_column_names(eqs.names.bodies)
    given_up = {next(iter(row)): row for row in sorted(rows, key=lambda row: next(iter(row)))}
    kept = [column for column in range(len(names)) if column not in given_up]
    factors = {
        (column, c): tracer.negate(row[column])
        for column in kept
        for c, row in given_up.items()
        if column in row
    }
    forms = tracer.factor_formulas(list(factors.values()))
    formulas = dict(zip(factors, forms.formulas, strict=True))
    values = _base_parameter_values(eqs, tracer, kept, factors)
    found = {}
    for column, value in zip(kept, values, strict=True):
        own_factors = {names[c]: form for (k, c), form in formulas.items() if k == column}
        called = _base_parameter_name(names[column], bool(own_factors), eqs)
        found[called] = BaseParameter(called, names[column], own_factors, value)
    silent = [names[c] for c, row in given_up.items() if len(row) == 1]
    grouped = [names[c] for c, row in given_up.items() if len(row) > 1]
    return BaseParameters(mechanism, found, tuple(grouped), tuple(silent), forms.common_parts, own)


def _base_parameter_values(
    eqs: Equations,
    tracer: BaseParameterAlgebra,
    kept: list[int],
    factors: Mapping[tuple[int, int], BaseParameterFactor],
) -> list[ExactNumber]:
    """The values of the base parameters, as exact as the parameters of the mechanism."""
    pi = ca.vertsplit(ca.SX(eqs.inertial_parameters))
    totals = {column: pi[column] for column in kept}
    own = [tracer.symbols[name] for name in eqs.parameters]
    symbols = ca.vertcat(*own) if own else ca.SX.zeros(0)
    scales = ca.vertcat(*(factor.expression for factor in factors.values()), 0)
    split = ca.vertsplit(ca.substitute(scales, symbols, eqs.symbols["p"]))
    for (column, c), scale in zip(factors, split, strict=False):
        totals[column] = totals[column] + scale * pi[c]
    lifted = [tracer.symbols[name] for name in tracer.lifted_rationals]
    return exact_base_parameter_values(
        eqs, ca.vertcat(*totals.values()), tracer.lifted_rationals, lifted
    )


def _base_parameter_name(name: str, grouped: bool, eqs: Equations) -> str:
    """Khalil's name, such as XXR for an XX that includes others; never the name of another
    parameter."""
    letter, body = name.split("_", 1)
    called = f"{letter}R_{body}" if grouped else name
    while called in eqs.parameters:
        called += "_base"
    return called
