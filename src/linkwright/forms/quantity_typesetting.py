"""Functions of the equations as typeset rows: in closed form, or, if that is longer than a page, as
named variables in the order of computation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..expressions import Expression, expression_text
from ..expressions.tree import Sum
from ..expressions.typeset import (
    ExpressionTypesetter,
    LatexNotation,
    MathmlNotation,
    has_leading_minus,
)
from ..quantities import quantity_entry_names, quantity_ports, quantity_signatures
from ..readings.listing import read_tape_as_listing
from ..tape import Tape, count_tape_operations, record_tape
from ..written_equations import law_in_velocities
from .closed_forms import ClosedForm
from .equation_page import PAGE_CHARACTERS, readable_closed_form
from .form_writing import write_entry_lines
from .fraction_writing import FractionWriter
from .linear_systems import StatedSystem

_MAX_LINE_CHARACTERS = 88
"""The most characters of a line; longer sums are continued in the next one."""


def typesettable_functions(equations: Equations) -> list[str]:
    """Names of the functions that can be typeset."""
    return [*equations.function_names(), *(["state_rates"] if equations.state else [])]


@dataclass(frozen=True)
class TypesetQuantity:
    """A quantity as typeset rows: named `steps`, then `rows` of entries that share a value."""

    name: str
    what: str
    steps: Sequence[tuple[str, Expression]]
    rows: Sequence[tuple[tuple[str, ...], Expression]]
    size: str
    is_closed: bool
    operations: int | None
    dotted_symbols: Mapping[str, tuple[str, int]]
    stated: tuple[StatedSystem, ...] = ()

    def text(self) -> str:
        """The quantity as text: a heading, the steps, and the entries."""
        lines = [f"{self.name}: {self.what} ({self.size})"]
        lines += [f"  {line}" for system in self.stated for line in system.text()]
        lines += [f"    {step} = {expression_text(value)}" for step, value in self.steps]
        lines += [f"  {row}" for row in write_entry_lines(self.rows)]
        return "\n".join(lines)

    def latex(self) -> str:
        """The quantity as an `align*` environment of LaTeX."""
        setter = ExpressionTypesetter(LatexNotation(), self.dotted_symbols)
        rows = [line for system in self.stated for line in system.latex(self.dotted_symbols)]
        rows += [f"{setter.name(step)} &= {setter.typeset(value)}" for step, value in self.steps]
        for labels, value in self.rows:
            left = " = ".join(setter.entry(label) for label in labels)
            rows.append(f"{left} &= {setter.typeset(value)}")
        body = " \\\\\n  ".join(rows)
        return f"\\begin{{align*}}\n  {body}\n\\end{{align*}}"

    def mathml(self) -> str:
        """The quantity as a table in a <math> element; long sums take several rows."""
        setter = ExpressionTypesetter(MathmlNotation(), self.dotted_symbols)
        rows = [row for one in self.stated for row in one.mathml_rows(self.dotted_symbols)]
        for step, value in self.steps:
            rows += typeset_mathml_rows(setter, setter.name(step), value)
        for labels, value in self.rows:
            *before, last = split_form_labels([setter.entry(label) for label in labels])
            for some in before:
                equal = "<mo>=</mo>".join(some)
                rows.append(f"<mtr><mtd><mrow>{equal}<mo>=</mo></mrow></mtd></mtr>")
            left = "<mo>=</mo>".join(last)
            rows += typeset_mathml_rows(setter, f"<mrow>{left}</mrow>", value)
        return f'<math display="block"><mtable displaystyle="true">{"".join(rows)}</mtable></math>'


def split_form_labels(labels: list[str], size: int = 6) -> list[list[str]]:
    """The labels in rows of at most `size`."""
    return [labels[k : k + size] for k in range(0, len(labels), size)]


def typeset_quantity(
    equations: Equations, name: str, *, steps: bool = False, page: int = PAGE_CHARACTERS
) -> TypesetQuantity:
    """Typeset a function, another quantity, or a quantity of a frame (`jacobian:tool`), which has
    no steps."""
    if name in typesettable_functions(equations):
        return _typeset_function(equations, name, steps, page)
    quantity, _, frame = name.partition(":")
    if steps:
        raise UnsupportedError(f"{name} has no steps of its own", remedy="leave out --steps")
    form = readable_closed_form(equations, quantity, *([frame] if frame else []), page=page)
    if form is None:
        raise UnsupportedError(
            f"the closed form of {name} is longer than a page",
            remedy="in Python, equations.closed_form takes terms= and seconds=",
        )
    return _typeset_closed_form(equations, name, form, form.what, None)


def _typeset_function(equations: Equations, name: str, steps: bool, page: int) -> TypesetQuantity:
    """A function in closed form, or as steps if the closed form is longer than a page."""
    names, parameters = equations.names, list(equations.parameters)
    entries = quantity_entry_names(names, parameters)
    if name == "state_rates":
        tape, what = _typeset_state_rates_tape(equations), "rates of the formulation's own states x"
        assert equations.state is not None
        entries["x"] = list(equations.state.names)
        entries["near"] = [f"near_{names.q[k]}" for k in equations.state.ambiguous_coordinates]
    else:
        tape = record_tape(equations.function(name), *quantity_ports(names, name, parameters))
        what = law_in_velocities(names, quantity_signatures(names)[name].description)
    known = [entry for port in tape.inputs for entry in entries[port.name]]
    _check_typeset_symbols(known)
    operations = count_tape_operations(tape)
    form = None if steps else readable_closed_form(equations, name, page=page)
    if form is not None and (name == "state_rates" or set(form.symbols) <= {*known, *form.labels}):
        return _typeset_closed_form(equations, name, form, what, operations)
    found = read_tape_as_listing(tape, entries, equations.literals)
    write = FractionWriter.for_listing(equations).write_fractions
    longer = "" if steps else "steps, as the closed form is longer than a page; "
    return TypesetQuantity(
        name,
        what,
        [(step.name, write(step.value)) for step in found.steps],
        [((e.name,), write(e.value)) for part in found.results.values() for e in part],
        f"{longer}{operations} operations",
        False,
        operations,
        typeset_rate_symbols(equations),
    )


def _typeset_closed_form(
    equations: Equations, name: str, form: ClosedForm, what: str, operations: int | None
) -> TypesetQuantity:
    """A closed form as typeset rows."""
    made = form.collect_terms()
    size = f"{form.terms} term{'s' if form.terms != 1 else ''}"
    dotted = typeset_rate_symbols(equations)
    return TypesetQuantity(
        name, what, made.groups, made.rows, size, True, operations, dotted, made.stated
    )


def typeset_rate_symbols(equations: Equations) -> dict[str, tuple[str, int]]:
    """Names of velocities and accelerations, with the coordinate and its number of dots."""
    once = {f"d{name}": (name, 1) for name in equations.names.qd}
    return once | {f"dd{name}": (name, 2) for name in equations.names.qd}


def split_form_lines(value: Expression) -> list[Expression]:
    """The sum in pieces that each fit on a line."""
    if not isinstance(value, Sum) or len(expression_text(value)) <= _MAX_LINE_CHARACTERS:
        return [value]
    pieces: list[list[Expression]] = [[]]
    length = 0
    for term in value.terms:
        size = len(expression_text(term)) + 3
        if pieces[-1] and length + size > _MAX_LINE_CHARACTERS:
            pieces.append([])
            length = 0
        pieces[-1].append(term)
        length += size
    return [Sum(tuple(piece)) if len(piece) > 1 else piece[0] for piece in pieces]


def typeset_mathml_rows(setter: ExpressionTypesetter, left: str, value: Expression) -> list[str]:
    """Table rows for one equation, several if its right side is long."""
    first, *more = split_form_lines(value)
    cells = [(left, "<mo>=</mo>", setter.typeset(first))]
    cells += [("", "", _typeset_continuation(setter, piece)) for piece in more]
    return ["<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in cells]


def typeset_long_left_side(setter: ExpressionTypesetter, left: Sum, right: Expression) -> list[str]:
    """Table rows for one equation whose left side is long: its pieces, over all three columns."""
    first, *more = split_form_lines(left)
    rows = [setter.typeset(first)]
    rows += [f'<mspace width="2em"/>{_typeset_continuation(setter, piece)}' for piece in more]
    rows[-1] += f"<mo>=</mo>{setter.typeset(right)}"
    cell = '<mtd columnspan="3" style="text-align:left">'
    return [f"<mtr>{cell}<mrow>{row}</mrow></mtd></mtr>" for row in rows]


def _typeset_continuation(setter: ExpressionTypesetter, piece: Expression) -> str:
    """A further piece of a sum, with the sign before it."""
    leading = piece.terms[0] if isinstance(piece, Sum) else piece
    plus = "" if has_leading_minus(leading) else "<mo>+</mo>"
    return f"<mrow>{plus}{setter.typeset(piece)}</mrow>"


def _typeset_state_rates_tape(equations: Equations) -> Tape:
    """The tape of the rates of the formulation's own states."""
    import casadi as ca

    assert equations.state is not None
    inputs = {"x": equations.state.x, "tau": equations.symbols["tau"]}
    if equations.state.ambiguous_coordinates:
        inputs["near"] = equations.state.nearby_coordinates
    if equations.names.is_time_dependent:
        inputs["t"] = equations.symbols["t"]
    if equations.parameters:
        inputs["p"] = equations.symbols["p"]
    rates = ca.cse(equations.state.rates())
    return record_tape(ca.Function("rates", list(inputs.values()), [rates], list(inputs), ["rate"]))


def _check_typeset_symbols(names: Sequence[str]) -> None:
    """Raise an error if one name stands for two symbols."""
    for name, count in Counter(names).items():
        if count > 1:
            raise LinkwrightError(
                f"'{name}' names two symbols of the equations",
                remedy="rename a parameter or joint, or use --parameters numeric",
            )
