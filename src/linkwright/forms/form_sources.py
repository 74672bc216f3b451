"""The quantities that have a closed form, as CasADi expressions with names and shapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TypeAlias

import casadi as ca

from ..algebra.linear_algebra import Array
from ..equations import Equations
from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest_remedy
from ..kinematics.body_forces import SpringLength
from ..ports import Port
from ..quantities import FRAME_SIGNATURES, quantity_entry_names, quantity_ports, quantity_signatures
from ..tape import Tape, record_tape
from ..types import SX
from ..written_equations import WrittenDualVector
from .known_conditions import decide_parameter_conditions
from .linear_systems import FormSystem

SHORT_QUANTITY_NAMES = {
    "M": "mass_matrix",
    "C": "coriolis_matrix",
    "g": "gravity",
    "f": "forces",
    "d": "transport",
    "a": "transport_momentum",
    "J": "constraint_jacobian",
    "T": "kinetic_energy",
    "V": "potential_energy",
    "H": "hamiltonian",
    "L": "lagrangian",
    "Y": "regressor",
    "B": "input_matrix",
    "p": "momenta",
    "c": "christoffel",
    "tau": "inverse_dynamics",
    "qdd": "forward_dynamics",
    "linearized": "inverse_dynamics_derivatives",
    "linearised": "inverse_dynamics_derivatives",  # the name until 0.2
    "gamma": "constraint_bias",
}
"""Short names of quantities, as in the equation of motion."""


def full_quantity_name(eqs: Equations, name: str) -> str:
    """The quantity that a short name stands for; `approximate` has a gamma of its own."""
    is_own = name == "gamma" and (not eqs.is_complete or name in eqs.parameters)
    return name if is_own else SHORT_QUANTITY_NAMES.get(name, name)


FormulationResult: TypeAlias = (
    "Array | Mapping[str, FormulationResult] | Sequence[FormulationResult]"
)
"""What only one formulation has: a matrix, or mappings, lists and records of matrices."""

MAX_INVERTED_DOF = 3
"""Up to this many degrees of freedom M⁻¹ is written out, as adjugate over determinant."""


@dataclass(frozen=True)
class FormSource:
    """The outputs of a quantity, entries row by row, and a sentence that describes it.

    `solved_output`: the outputs are M and a right-hand side b; wanted is x with M x = b. `springs`:
    springs between points whose forces are added to the first output. `is_self_contained`: the
    expression has no symbols of other lines of a set of equations. `systems`: linear systems for
    unknowns in the outputs; `names` are those of further symbols, by element hash, and `functions`
    the names among them that stand for functions of coordinates, `constants` those that do not
    change.
    """

    name: str
    what: str
    outputs: tuple[tuple[Port, SX], ...]
    solved_output: str = ""
    springs: tuple[SpringLength, ...] = ()
    is_self_contained: bool = False
    systems: tuple[FormSystem, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    functions: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SymbolSource:
    """A symbol of the checker: its expression, in equations that have its symbols, and the names of
    these by element hash."""

    equations: Equations
    expression: SX
    names: Mapping[int, str]

    def names_itself(self, name: str) -> bool:
        """Whether the expression is nothing but the symbol of this name."""
        is_symbol = self.expression.is_scalar() and self.expression.is_symbolic()
        return is_symbol and self.names.get(self.expression.element_hash()) == name


def find_form_source(eqs: Equations, name: str, *frame: str) -> FormSource:
    """The source of the quantity with this name, for a frame if it belongs to one."""
    name = full_quantity_name(eqs, name)
    if frame:
        return _frame_form_source(eqs, name, *frame)
    if name == "hamiltonian" and name in eqs.extras and eqs.nv <= MAX_INVERTED_DOF:
        return _hamiltonian_source(eqs)
    if name in eqs.extras and name not in _FORM_SOURCES:
        return FormSource(
            name, f"of the formulation '{eqs.by}'", _flatten_form_outputs(name, eqs.extra(name))
        )
    if name in _FORM_SOURCES:
        return _FORM_SOURCES[name](eqs)
    known = eqs.function_names()
    if name not in known:
        everything = [
            *known,
            *eqs.extras,
            *_FORM_SOURCES,
            *SHORT_QUANTITY_NAMES,
            *eqs.frame_builders,
        ]
        remedy = suggest_remedy(name, everything)
        if name in eqs.frame_builders:
            remedy = f'name a frame or body: closed_form("{name}", "{eqs.names.bodies[-1]}")'
        raise NameNotFoundError(f"unknown quantity '{name}'", remedy=remedy)
    _, outputs = quantity_ports(eqs.names, name, list(eqs.parameters))
    made = zip(outputs, eqs.expressions(name), strict=True)
    kept = tuple((port, expression) for port, expression in made if port.name != "pivot")
    return _separate_form_springs(
        eqs, FormSource(name, quantity_signatures(eqs.names)[name].description, kept)
    )


def own_line_source(eqs: Equations, name: str) -> FormSource | None:
    """The source of what the last line of that name in the formulation's own equations says, such
    as `du1`, or of all lines with entries of an array of that name, such as `Gc1` or `I*`, or
    with that name and numbers: `JT11` of `JT`."""
    own = eqs.own_equation_set() if eqs.own_equation_set is not None else None
    named = [line for line in own.lines() if isinstance(line.left, str)] if own is not None else []
    what = f"of the equations of the formulation '{eqs.by}'"
    lines = [line for line in named if line.left == name]
    if not lines:
        entries = [
            line for line in named if str(line.left).startswith(f"{name.removesuffix('*')}[")
        ]
        numbered = re.compile(rf"{re.escape(name)}\d+(\^\d+)?(\[.*\])?")
        entries = entries or [line for line in named if numbered.fullmatch(str(line.left))]
        rights = _with_shared_symbols([line.whole_right() for line in entries])
        outputs = tuple((Port(str(x.left), ()), y) for x, y in zip(entries, rights, strict=True))
        return FormSource(name, what, outputs) if entries else None
    assert own is not None
    right = own.insert_definitions(lines[-1].whole_right())
    known = _form_symbol_names(eqs)
    is_own = all(symbol.element_hash() in known for symbol in ca.symvar(ca.SX(right)))
    is_own |= isinstance(lines[-1].right, WrittenDualVector)
    return replace(_single_form_source(name, what, name, right), is_self_contained=is_own)


def _with_shared_symbols(values: Sequence[SX]) -> list[SX]:
    """The values with one symbol for each name: each dual vector has made its own eps and x_c2."""
    symbols = [x for value in values for x in ca.symvar(ca.SX(value))]
    first: dict[str, SX] = {}
    for x in symbols:
        first.setdefault(x.name(), x)
    old = {x.element_hash(): x for x in symbols if first[x.name()] is not x}.values()
    new = [first[x.name()] for x in old]
    return [ca.substitute(ca.SX(y), ca.vertcat(*old), ca.vertcat(*new)) for y in values]


def _separate_form_springs(eqs: Equations, made: FormSource) -> FormSource:
    """The source with springs between points separated, to be printed with named lengths."""
    if made.name not in ("forces", "passive") or not eqs.is_derived or eqs.passive_parts is None:
        return made
    springs, rest = eqs.passive_parts()
    if not springs:
        return made
    if made.name == "forces":
        rest += eqs.expressions("external")[0]
    return replace(made, outputs=((made.outputs[0][0], rest),), springs=springs)


def _frame_form_source(eqs: Equations, name: str, *frame: str) -> FormSource:
    """The source of a quantity of a frame."""
    if name == "constraint_jacobian" and "jacobian" in eqs.frame_builders:
        name = "jacobian"
    if name not in FRAME_SIGNATURES:
        raise NameNotFoundError(
            f"'{name}' is not a quantity of a frame",
            remedy=suggest_remedy(name, list(FRAME_SIGNATURES)),
        )
    _, outputs = quantity_ports(eqs.names, name, list(eqs.parameters))
    made = tuple(zip(outputs, eqs.expressions(name, *frame), strict=True))
    return FormSource(name, f"{FRAME_SIGNATURES[name].description}; {', '.join(frame)}", made)


# -- quantities that follow from others -----------------------------------------------------


def _single_form_source(name: str, what: str, symbol: str, expression: SX) -> FormSource:
    """The source of one expression with a symbol."""
    return FormSource(name, what, _flatten_form_outputs(symbol, expression))


def _require_rates_for_form(eqs: Equations, name: str) -> None:
    """Raise an error if velocities are not rates of coordinates."""
    if eqs.nq != eqs.nv:
        raise UnsupportedError(
            f"{name} needs velocities that are rates of coordinates",
            remedy='use rotation = "cardan"',
        )


def _christoffel_source(eqs: Equations) -> FormSource:
    """The source of the Christoffel symbols."""
    _require_rates_for_form(eqs, "christoffel")
    M, n = eqs.M, eqs.nv
    flat = ca.jacobian(ca.vec(M), eqs.symbols["q"])
    by = [ca.reshape(column, n, n) for column in ca.horzsplit(flat)]
    entries = [
        (by[i][k, j] + by[j][k, i] - by[k][i, j]) / 2
        for i in range(n)
        for j in range(n)
        for k in range(n)
    ]
    what = "c_ijk with C_kj = Σ_i c_ijk q̇_i"
    return FormSource("christoffel", what, ((Port("c", (n, n, n)), ca.vertcat(*entries)),))


def _momenta_source(eqs: Equations) -> FormSource:
    """The source of the generalized momenta."""
    p = eqs.M @ eqs.symbols["qd"]
    if not eqs.names.has_moving_coordinates:
        return _single_form_source("momenta", "M q̇", "p", p)
    (a,) = eqs.expressions("transport_momentum")
    return _single_form_source("momenta", "M q̇ + a", "p", p + a)


def _energy_source(eqs: Equations, sign: int, name: str, symbol: str, what: str) -> FormSource:
    """The source of T + sign · V."""
    T, V = eqs.expressions("kinetic_energy")[0], eqs.expressions("potential_energy")[0]
    return _single_form_source(name, what, symbol, T + sign * V)


def _hamiltonian_in_velocities_source(eqs: Equations) -> FormSource:
    """The source of Hamilton's function by velocities: T + V, or T₂ − T₀ + V."""
    if not eqs.names.has_moving_coordinates:
        return _energy_source(eqs, 1, "hamiltonian", "H", "T + V, in velocities")
    (h,) = eqs.expressions("jacobi_energy")
    return _single_form_source("hamiltonian", "T₂ − T₀ + V, in velocities", "H", h)


def _hamiltonian_source(eqs: Equations) -> FormSource:
    """The source of T₂(q, p) and the rest of H(q, p)."""
    assert eqs.state is not None
    p, n = eqs.state.x[eqs.nq :], eqs.nv
    (V,) = eqs.expressions("potential_energy")
    what = "H(q, p) = T + V, in momenta"
    if eqs.names.has_moving_coordinates:
        p = p - eqs.expressions("transport_momentum")[0]
        rest = ca.SX.zeros(n)
        V = ca.substitute(eqs.expressions("jacobi_energy")[0], eqs.symbols["qd"], rest)
        what = "H(q, p, t) = T₂ − T₀ + V, in momenta"
    outputs = ((Port("M", (n, n)), eqs.M), (_form_output_port("b", p), p), (Port("V", ()), V))
    return FormSource("hamiltonian", what, outputs, solved_output="T")


def linear_solution_source(eqs: Equations, name: str, what: str, symbol: str, b: SX) -> FormSource:
    """The source of x with M x = b, for few degrees of freedom."""
    n = eqs.nv
    if n > MAX_INVERTED_DOF:
        raise UnsupportedError(
            f"{name} of {n} degrees of freedom is too long to read",
            remedy=f"up to {MAX_INVERTED_DOF} degrees of freedom are written out",
        )
    outputs = ((Port("M", (n, n)), eqs.M), (_form_output_port("b", b), b))
    return FormSource(name, what, outputs, solved_output=symbol)


_FORM_SOURCES: dict[str, Callable[[Equations], FormSource]] = {
    "christoffel": _christoffel_source,
    "momenta": _momenta_source,
    "hamiltonian": _hamiltonian_in_velocities_source,
    "lagrangian": lambda e: _energy_source(e, -1, "lagrangian", "L", "T − V"),
    "energy": lambda e: _energy_source(e, 1, "energy", "E", "T + V"),
    "inverse_mass_matrix": lambda e: linear_solution_source(
        e, "inverse_mass_matrix", "M⁻¹, adjugate over determinant", "Minv", ca.SX.eye(e.nv)
    ),
}


def closed_form_quantities(eqs: Equations) -> list[str]:
    """Names of quantities that are not functions of the equations but have a closed form."""
    return [*_FORM_SOURCES, *(name for name in eqs.extras if name not in _FORM_SOURCES)]


def symbol_form_source(name: str, symbol: SymbolSource) -> FormSource:
    """The source of a symbol of the checker; under `approximate`, beta and gamma do not change."""
    letters = {"beta", "gamma", "beta_s", "gamma_s"} - set(symbol.equations.names.q)
    constants = frozenset(letters if symbol.equations.by == "approximate" else ())
    made = _single_form_source(name, "a symbol of the checker", name, symbol.expression)
    return replace(made, constants=constants)


def _form_output_port(name: str, expression: SX) -> Port:
    """The port of an expression: scalar, vector or matrix."""
    rows, columns = ca.SX(expression).shape
    return Port(name, () if rows == columns == 1 else (rows,) if columns == 1 else (rows, columns))


def _flatten_form_outputs(name: str, value: FormulationResult) -> tuple[tuple[Port, SX], ...]:
    """The outputs in a formulation's result: a matrix, or lists, dictionaries and records of
    matrices."""
    if isinstance(value, Mapping):
        parts = [(f"{name}_{key}", part) for key, part in value.items()]
    elif is_dataclass(value):
        parts = [(f"{name}_{f.name}", getattr(value, f.name)) for f in fields(value)]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        parts = [(f"{name}_{k + 1}", part) for k, part in enumerate(value)]
    elif isinstance(value, str):
        return ()
    else:
        expression = ca.SX(value)
        return ((_form_output_port(name, expression), expression),)
    return tuple(made for label, part in parts for made in _flatten_form_outputs(label, part))


# -- the tape ---------------------------------------------------------------------------------


def record_form_source_tape(
    eqs: Equations, what: FormSource, others: Mapping[int, str] | None = None
) -> tuple[Tape, dict[str, list[str]]]:
    """The tape of all outputs, whose one input port has all symbols, and the names of its
    entries."""
    rows = [_form_entry_column(expression) for _, expression in what.outputs]
    symbols = ca.symvar(ca.vertcat(*rows))
    x = ca.vertcat(*symbols) if symbols else ca.SX.sym("x")
    merged = ca.cse([ca.densify(row) for row in rows])
    labels = [f"o{k}" for k in range(len(rows))]
    function = ca.Function("form", [x], merged, ["x"], labels)
    tape = record_tape(function, [Port("x", (x.numel(),))], [port for port, _ in what.outputs])
    known = {**_form_symbol_names(eqs), **(others or {})}
    names = [known.get(s.element_hash(), s.name()) for s in symbols] or ["x"]
    for name in names:
        if names.count(name) > 1:
            raise LinkwrightError(
                f"'{name}' names two symbols of the equations",
                remedy="rename a parameter or joint",
            )
    zero = {name: value == 0 for name, value in eqs.parameters.items()}
    return decide_parameter_conditions(tape, {"x": names}, zero), {"x": names}


def _form_entry_column(expression: SX) -> SX:
    """The entries of a matrix as a column, row by row."""
    return ca.vec(ca.densify(ca.SX(expression)).T)


def _form_symbol_names(eqs: Equations) -> dict[int, str]:
    """Names of the equations' CasADi symbols, by element hash."""
    found: dict[int, str] = {}
    for key, names in quantity_entry_names(eqs.names, list(eqs.parameters)).items():
        symbols: list[SX] = ca.vertsplit(_form_entry_column(eqs.symbols[key])) if names else []
        for symbol, name in zip(symbols, names, strict=False):
            found[symbol.element_hash()] = name
    if eqs.state is not None:
        for symbol, name in zip(ca.vertsplit(eqs.state.x), eqs.state.names, strict=True):
            found.setdefault(symbol.element_hash(), name)
    return found
