"""Closed forms: the entries of a quantity as canonical polynomials, printed as in a textbook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import casadi as ca
import numpy as np

from ..algebra.exact.exact_angles import ExactAngle
from ..algebra.exact.polynomial_budget import ExactPolynomialBudget
from ..algebra.exact.quotients import Quotient
from ..algebra.exact.trig_polynomials import QuotientRingOutputs, evaluate_tape_in_quotient_ring
from ..conveniences import find_convenience
from ..equations import Equations
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError
from ..expressions import names_in_expression as names_in
from ..formulations import derive
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..ports import Port
from ..quantities import quantity_entry_names
from .angle_choice import form_angles, form_angles_as_written, form_quaternion_symbols
from .determinant_solutions import kinetic_energy_of_momenta, solve_by_determinants
from .form_equality import are_equal_forms
from .form_sources import (
    FormSource,
    SymbolSource,
    find_form_source,
    own_line_source,
    record_form_source_tape,
    symbol_form_source,
)
from .form_writing import (
    WrittenForm,
    form_entry_label,
    form_to_html,
    form_to_json,
    form_to_latex,
    form_to_sympy,
    write_closed_form,
    write_form_lines,
)
from .fraction_writing import decimals_among_values, decimals_in_formulas
from .linear_systems import (
    StatedSystem,
    needed_systems,
    solve_form_systems,
    system_outputs,
)
from .motion_forms import acceleration_source, find_motion_source, find_symbol_in_column
from .spring_terms import (
    SpringForm,
    expand_spring_forces,
    spring_form_from_output,
    spring_form_output,
)
from .sympy_output import SympyForm
from .term_collection import COLLECTION_WAYS
from .term_order import FormSymbolRoles
from .trig_terms import FormTermReader

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """A quantity in closed form; two are equal if all entries are the same functions.

    It is printed by `text`, `latex`, `html` (MathML), `sympy` and `json`. `by` says how terms are
    collected: "mass", "geometry", "auto" (whichever is shorter) or "none"; `groups` says whether
    repeated constants get names (None: where that shortens the form). Names are never among the
    `reserved_names`. Forces of `springs` between points are added to the reading's first output.
    Numbers are printed as fractions, except where the `decimals` that the user wrote occur.
    `stated` are linear systems for unknowns in the entries that are too large to be solved.
    `name` and `what` are the name and the meaning of the quantity. The other fields (`ports`,
    `reading`, `roles`, `symbol_order`, `written_angles`, `dotted_symbols`) are for internal use.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.derive(lw.gallery("elbow")).closed_form("g").text())
    g[1] = (m1*lc1 + m2*l1)*g*cos(q1) + m2*g*lc2*cos(q1 + q2)
    g[2] = m2*g*lc2*cos(q1 + q2)
    """

    name: str
    what: str
    ports: tuple[Port, ...]
    reading: QuotientRingOutputs
    roles: FormSymbolRoles
    symbol_order: tuple[str, ...]
    written_angles: tuple[ExactAngle, ...]
    dotted_symbols: Mapping[str, tuple[str, int]]
    reserved_names: frozenset[str] = frozenset()
    springs: tuple[SpringForm, ...] = ()
    decimals: frozenset[Fraction] = frozenset()
    stated: tuple[StatedSystem, ...] = ()

    @property
    def terms(self) -> int:
        """The number of terms of all entries, in numerators and denominators.

        Springs between points count with L² and L ∂L/∂q.
        """
        values = [*self.values, *(v for one in self.springs for v in one.printed_values)]
        below = {id(v.denominator): len(v.denominator) for v in values if v.denominator is not None}
        return sum(len(value.numerator) for value in values) + sum(below.values())

    @property
    def labels(self) -> list[str]:
        """The names of all entries, row by row, such as M[1,1] and M[1,2]."""
        return [
            form_entry_label(p.name, index) for p in self.ports for index in np.ndindex(*p.shape)
        ]

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of all symbols that the form may contain."""
        return self.reading.ring.symbols

    def collect_terms(self, by: str = "auto", groups: bool | None = None) -> WrittenForm:
        """Return the named `groups` and the entries, with terms collected as `by` says."""
        if by not in COLLECTION_WAYS:
            raise LinkwrightError(
                f"terms are not collected by '{by}'", remedy=f"use {COLLECTION_WAYS}"
            )
        return write_closed_form(self, by, groups)

    def text(self, by: str = "auto", groups: bool | None = None) -> str:
        """Return the form as text, a line for each entry; `by` and `groups`: see the class."""
        return "\n".join(write_form_lines(self.collect_terms(by, groups)))

    def latex(self, by: str = "auto", groups: bool | None = None) -> str:
        """Return the form as LaTeX (`aligned`); `by` and `groups`: see the class."""
        return form_to_latex(self.collect_terms(by, groups), self.ports, self.dotted_symbols)

    def html(self, by: str = "auto", groups: bool | None = None) -> str:
        """Return the form as a MathML table; `by` and `groups`: see the class."""
        return form_to_html(self.collect_terms(by, groups), self.dotted_symbols)

    def sympy(self, by: str = "auto") -> SympyForm:
        """Return an expression, matrix, nested array or dictionary of SymPy; `by`: see above."""
        return form_to_sympy(self.collect_terms(by, False), self.ports)

    def json(self, by: str = "auto", groups: bool | None = None) -> dict[str, object]:
        """Return the form as plain data; `by` and `groups`: see the class."""
        found = {"name": self.name, "what": self.what, "terms": self.terms}
        return found | form_to_json(self.collect_terms(by, groups))

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<ClosedForm {self.name}: {self.terms} terms>"

    def _repr_latex_(self) -> str:
        return f"$${self.latex()}$$"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClosedForm):
            return NotImplemented
        shapes = [port.shape for port in self.ports]
        if shapes != [port.shape for port in other.ports]:
            return False
        return are_equal_forms(
            self.term_reader, self.canonical_values, other.term_reader, other.canonical_values
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def term_reader(self) -> FormTermReader:
        """The reader that turns the ring's polynomials into printed terms."""
        return FormTermReader(self.reading.ring, self.symbol_order, self.written_angles)

    @property
    def values(self) -> list[Quotient]:
        """All entries, row by row, one output after the other."""
        return [value for port in self.ports for value in self.reading.outputs[port.name]]

    @cached_property
    def canonical_values(self) -> list[Quotient]:
        """All entries, with the forces of springs expanded."""
        if not self.springs:
            return self.values
        ring = self.reading.ring
        ring.budget = ExactPolynomialBudget()
        return [expand_spring_forces(ring, v, self.springs, k) for k, v in enumerate(self.values)]


# -- construction -------------------------------------------------------------------------------


def closed_form(
    eqs: Equations,
    name: str = "M",
    *frame: str,
    parameters: str | Sequence[str] = "symbolic",
    terms: int = 20_000,
    seconds: float = 10.0,
) -> ClosedForm:
    """A quantity of the equations, what a line of the formulation's own equations says (`dp1`,
    `V1`), or a symbol that the checker knows (`ddx2`, `L_dq1`), in closed form.

    Raises `BudgetError` if an intermediate polynomial exceeds `terms` or the time exceeds
    `seconds`.

    `parameters`: "numeric" inserts the exact values of all parameters, a list of names those of all
    others. Equations that were derived with numbers are derived again with symbols, so that no
    number passes through floating point; the numbers are inserted afterwards, exactly.
    """
    budget = ExactPolynomialBudget(terms, seconds)
    eqs, exact = equations_for_closed_form(eqs, parameters)
    motion = None if frame else find_motion_source(eqs, name)
    if motion is not None:
        return make_closed_form(*motion, exact, budget)
    try:
        return make_closed_form(eqs, find_form_source(eqs, name, *frame), exact, budget)
    except NameNotFoundError:
        if frame:
            raise
        own, find = own_line_source(eqs, name), find_convenience("ClosedForm.symbol_source")
        is_array = own is not None and own.outputs[0][0].name.endswith("]") and name[-1] != "]"
        if own is not None and (is_array or own.is_self_contained):
            return make_closed_form(eqs, own, exact, budget)
        symbol: SymbolSource | None = find(eqs, name)
        if symbol is None and own is not None:
            return make_closed_form(eqs, own, exact, budget)
        if symbol is None and (why := find_convenience("ClosedForm.absence")(eqs, name)):
            raise UnsupportedError(why) from None
        if symbol is None:
            raise
    source = symbol_form_source(name, symbol)
    place = find_symbol_in_column(symbol.expression, symbol.equations.symbols["qdd"])
    if place is not None and eqs.is_complete:
        source = acceleration_source(symbol.equations, name, place)
    elif symbol.names_itself(name):
        raise UnsupportedError(
            f"'{name}' is a symbol in which formulas are written, and has none itself",
            remedy='ask for a quantity, such as "M", "tau" or "qdd"',
        )
    return make_closed_form(symbol.equations, source, exact, budget, symbol.names)


def make_closed_form(
    eqs: Equations,
    made: FormSource,
    exact: Mapping[str, Fraction],
    budget: ExactPolynomialBudget,
    known: Mapping[int, str] | None = None,
) -> ClosedForm:
    """The closed form of expressions in the equations' symbols; `known` names other symbols."""
    outputs = tuple(spring_form_output(k, spring) for k, spring in enumerate(made.springs))
    systems, _ = needed_systems(made.systems, [value for _, value in made.outputs])
    whole = replace(made, outputs=(*made.outputs, *outputs, *system_outputs(systems)))
    tape, entries = record_form_source_tape(eqs, whole, {**(known or {}), **made.names})
    angles = _remember_form_data(eqs, "angles", form_angles)
    units = _remember_form_data(eqs, "quaternions", form_quaternion_symbols)
    reading = evaluate_tape_in_quotient_ring(
        tape, entries, angles, {**eqs.literals, **exact}, units, budget
    )
    springs = tuple(spring_form_from_output(reading.outputs[port.name]) for port, _ in outputs)
    ports = tuple(port for port, _ in made.outputs)
    if made.solved_output:
        reading, ports = _solve_form_by_determinants(reading, made, ports)
    stated: tuple[StatedSystem, ...] = ()
    if made.systems:
        taken = {*reading.ring.symbols, *eqs.parameters}
        reading, ports, stated = _solve_form_systems(reading, made, ports, taken)
    return ClosedForm(
        name=made.name,
        what=made.what,
        ports=ports,
        reading=reading,
        roles=_remember_form_data(eqs, "roles", lambda _: find_symbol_roles(eqs))
        .with_functions(made.functions)
        .with_constants(made.constants),
        symbol_order=_form_symbol_order(eqs),
        written_angles=tuple(_remember_form_data(eqs, "written", form_angles_as_written)),
        dotted_symbols={f"{'d' * k}{q}": (q, k) for q in eqs.names.qd for k in (1, 2)},
        reserved_names=frozenset(eqs.mechanism.parameters),
        decimals=_remember_form_data(eqs, "decimals", decimals_in_formulas)
        | decimals_among_values(exact.values()),
        springs=springs,
        stated=stated,
    )


def _form_symbol_order(eqs: Equations) -> tuple[str, ...]:
    """Symbols in the order in which books print them: accelerations before velocities."""
    entries = quantity_entry_names(eqs.names, list(eqs.parameters))
    keys = ("q", "qdd", "qd", "vd", "v", "tau", "t", "p")
    return tuple(name for key in keys for name in entries[key])


def _remember_form_data(eqs: Equations, key: str, make: Callable[[Mechanism], T]) -> T:
    """A value that belongs to the mechanism, made once for all forms of its equations."""
    if ("form", key) not in eqs._built:
        eqs._built["form", key] = make(eqs.mechanism)
    value: T = eqs._built["form", key]
    return value


def equations_for_closed_form(
    eqs: Equations, parameters: str | Sequence[str]
) -> tuple[Equations, dict[str, Fraction]]:
    """Equations with all parameters as symbols, and the exact values of those that do not stay
    symbols."""
    symbolic = eqs
    if eqs.is_derived:
        every = _remember_form_data(
            eqs, "symbols", lambda m: build_kinematic_tree(m, "symbolic").symbol_values
        )
        if set(every) != set(eqs.parameters):
            if ("form", "symbolic") not in eqs._built:
                eqs._built["form", "symbolic"] = derive(eqs.mechanism, by=eqs.by)
            symbolic = eqs._built["form", "symbolic"]
    kept = set(eqs.parameters if parameters == "symbolic" else ())
    kept |= set() if isinstance(parameters, str) else set(parameters)
    for name in kept - set(symbolic.parameters):
        raise LinkwrightError(f"'{name}' is not a parameter", remedy="see eqs.parameters")
    values = symbolic.parameters.items()
    return symbolic, {k: v for k, v in values if k not in kept and isinstance(v, Fraction)}


def has_named_line_or_symbol(eqs: Equations, name: str) -> bool:
    """Whether the formulation's own equations have a line of this name, or the checker knows it; or
    whether it is an acceleration or the rate of a state, u1'."""
    if find_motion_source(eqs, name) is not None:
        return True
    find = find_convenience("ClosedForm.symbol_source")
    return own_line_source(eqs, name) is not None or find(eqs, name) is not None


def find_symbol_roles(eqs: Equations) -> FormSymbolRoles:
    """Find the symbols that are masses and inertias, from the vector of inertial parameters."""
    pi = ca.SX(eqs.inertial_parameters)
    known = set(eqs.parameters)
    masses = {s.name() for k in range(0, pi.numel(), 10) for s in ca.symvar(pi[k])} & known
    inertias = set()
    for k in range(pi.numel()):
        if k % 10 < 4:
            continue
        for symbol in ca.symvar(pi[k]):
            slope = ca.jacobian(pi[k], symbol)
            if not ca.symvar(slope) and float(slope) != 0 and symbol.name() not in masses:
                inertias.add(symbol.name())
    inertias |= _rotor_inertia_form_roles(eqs.mechanism, known)
    constants = known - masses - inertias
    return FormSymbolRoles(
        frozenset(masses), frozenset(inertias), frozenset(constants), eqs.names.q
    )


def _rotor_inertia_form_roles(mechanism: Mechanism, known: set[str]) -> set[str]:
    """Names of the parameters in the rotor inertias of motors and the armature of lengths."""
    found = set()
    for name, joint in mechanism.joints.items():
        if joint.motor is not None:
            inertia = joint.motor.inertia
            each = inertia if isinstance(inertia, list | tuple) else [inertia]
            found |= {n for one in each for n in names_in(one)}
            found |= {f"J_{name}", *(f"J_{name}_{k}" for k in range(1, 7))} & known
    for name, length in mechanism.lengths.items():
        found |= {*names_in(length.armature), f"J_{name}"}
    return found & known


def _solve_form_by_determinants(
    reading: QuotientRingOutputs, made: FormSource, ports: tuple[Port, ...]
) -> tuple[QuotientRingOutputs, tuple[Port, ...]]:
    """x = adj(M) b / det M, with the determinant not expanded."""
    ring, b = reading.ring, reading.outputs["b"]
    x, det = solve_by_determinants(ring, reading.outputs["M"], b)
    if made.solved_output == "T":  # beside V
        found = {"T": [kinetic_energy_of_momenta(ring, b, x, det)], "V": reading.outputs["V"]}
        return QuotientRingOutputs(ring, found), (Port("T", ()), ports[2])
    port = replace(ports[1], name=made.solved_output)
    return QuotientRingOutputs(ring, {made.solved_output: x}), (port,)


def _solve_form_systems(
    reading: QuotientRingOutputs, made: FormSource, ports: tuple[Port, ...], taken: set[str]
) -> tuple[QuotientRingOutputs, tuple[Port, ...], tuple[StatedSystem, ...]]:
    """The solutions of the source's systems before its outputs; an output that is such a solution
    itself is not repeated."""
    systems, names = needed_systems(made.systems, [value for _, value in made.outputs])
    found = solve_form_systems(systems, reading, names, {*taken, *(p.name for p in ports)})
    outputs = {port.name: reading.outputs[port.name] for port in ports}
    outputs |= {port.name: values for port, values in found.outputs}
    wanted = {port.name for port in ports}
    before = [port for port, _ in found.outputs if port.name not in wanted]
    solved = {port.name for port, _ in found.outputs}
    rest = [port for port in ports if port.name in solved or port.name not in names]
    return QuotientRingOutputs(reading.ring, outputs), (*before, *rest), found.stated
