"""Closed forms on paper: named groups, entries, and the formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.exact.quotients import Quotient
from ..expressions import (
    ZERO,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    names,
    negate,
    to_text,
)
from ..expressions.tree import Call, Measured, children
from ..expressions.typeset import LatexSetter, MathmlSetter, Typesetter
from ..ports import Port
from .collect import Collector
from .springs import SpringWriter
from .terms import Reader

if TYPE_CHECKING:
    from .closed import ClosedForm

WORTH_NAMING = 500
"""Characters of a form below which constants that repeat get no names."""
FEW_ZEROS = 6
"""Entries that are zero and are still listed one by one."""
_SHRINKS_TO = 0.85
_WIDE = 90
"""Characters of a row beyond which a matrix is set entry by entry."""


@dataclass(frozen=True)
class Written:
    """Names of groups with their values, then entries; those that are equal share a value."""

    groups: tuple[tuple[str, Expression], ...]
    rows: tuple[tuple[tuple[str, ...], Expression], ...]

    def entries(self) -> dict[str, Expression]:
        return {name: value for names, value in self.rows for name in names}


def write(form: ClosedForm, by: str, groups: bool | None) -> Written:
    """Every entry collected; constants and denominators that repeat named."""
    reader = Reader(form.reading.ring, form.order, form.written_angles)
    collector = Collector(reader, form.roles)
    below: dict[str, tuple[str, Expression]] = {}
    taken = reader.taken
    taken |= form.reserved

    def express(value: Quotient) -> Expression:
        return _entry(collector, value, by, below, taken)

    springs = SpringWriter(form.springs, express, lambda: _free_name("L", taken, numbered=True))
    rows: dict[Expression, list[str]] = {}
    for port in form.ports:
        values = form.reading.outputs[port.name]
        for k, (index, value) in enumerate(zip(np.ndindex(*port.shape), values, strict=True)):
            expression = springs.entry(express(value), k)
            rows.setdefault(expression, []).append(entry_name(port.name, index))
    zeros = rows.pop(ZERO, None)
    made = tuple((tuple(names), value) for value, names in rows.items())
    made += ((tuple(zeros), ZERO),) if zeros else ()
    functions = [(name, value) for name, (value, _) in reader.definitions.items()]
    written = Written((*functions, *below.values(), *springs.groups), made)
    if groups is False:
        return written
    named = _grouped(written, form.roles.constants | form.roles.masses | form.roles.inertias, taken)
    size = _size(written)
    shorter = size > WORTH_NAMING and _size(named) < _SHRINKS_TO * size
    return named if groups or shorter else written


def entry_name(name: str, index: tuple[int, ...]) -> str:
    """Entries are counted from 1, as in books."""
    return f"{name}[{','.join(str(i + 1) for i in index)}]" if index else name


def _entry(
    collector: Collector,
    value: Quotient,
    by: str,
    below: dict[str, tuple[str, Expression]],
    taken: set[str],
) -> Expression:
    top = collector.collected(collector.reader.terms(value.numerator), by)
    if value.denominator is None:
        return top
    key = str(value.denominator)
    if key not in below:
        bottom = collector.collected(collector.reader.terms(value.denominator), by)
        below[key] = _free_name("D", taken), bottom
    divisor = Reciprocal(Name(below[key][0]))
    if isinstance(top, Sum) and all(isinstance(term, Negation) for term in top.terms):
        top = Negation(Sum(tuple(negate(term) for term in top.terms)))
    if isinstance(top, Negation):
        return Negation(_divided(top.operand, divisor))
    return _divided(top, divisor)


def _divided(top: Expression, divisor: Reciprocal) -> Expression:
    factors = top.factors if isinstance(top, Product) else (top,)
    return Product((*factors, divisor))


def _free_name(stem: str, taken: set[str], numbered: bool = False) -> str:
    name, k = (f"{stem}1" if numbered else stem), 1
    while name in taken:
        k += 1
        name = f"{stem}{k}"
    taken.add(name)
    return name


def _size(written: Written) -> int:
    groups = sum(len(name) + len(to_text(value)) + 4 for name, value in written.groups)
    return groups + sum(len(to_text(value)) + 10 for _, value in written.rows)


# -- named groups ---------------------------------------------------------------------------


def _grouped(written: Written, constant: frozenset[str], taken: set[str]) -> Written:
    """Sums and products of constants that repeat, as a1, a2, …"""
    counts: Counter[Expression] = Counter()
    for _, value in (*written.groups, *written.rows):
        counts.update(_constant_parts(value, constant))
    chosen: dict[Expression, Expression] = {}
    definitions = []
    stem = next(s for s in ("a", "b", "k", "n", "a_") if f"{s}1" not in taken)
    for part, count in counts.items():
        length = len(to_text(part))
        if count > 1 and (count - 1) * (length - 3) > length + 8:
            name = _free_name(stem, taken, numbered=True)
            chosen[part] = Name(name)
            definitions.append((name, part))
    groups = [(name, _replaced(value, chosen, constant)) for name, value in written.groups]
    rows = tuple((names, _replaced(value, chosen, constant)) for names, value in written.rows)
    return Written((*definitions, *groups), rows)


def _constant_parts(expression: Expression, constant: frozenset[str]) -> Iterator[Expression]:
    """The constant part of every product, and sums of constants."""
    part = _constant_part(expression, constant)
    if part is not None:
        yield part
        if not isinstance(expression, Product):
            return
    for child in children(expression):
        if part is None or not _is_constant(child, constant):
            yield from _constant_parts(child, constant)


def _constant_part(expression: Expression, constant: frozenset[str]) -> Expression | None:
    if isinstance(expression, Product):
        kept = [
            f for f in expression.factors
            if _is_constant(f, constant) and not isinstance(f, Number | Reciprocal)
        ]  # fmt: skip
        if len(kept) < 2:
            return kept[0] if kept and isinstance(kept[0], Sum) else None
        return Product(tuple(kept))
    is_sum = isinstance(expression, Sum) and _is_constant(expression, constant)
    return expression if is_sum else None


def _is_constant(expression: Expression, constant: frozenset[str]) -> bool:
    return names(expression) <= constant


def _replaced(
    expression: Expression, chosen: Mapping[Expression, Expression], constant: frozenset[str]
) -> Expression:
    part = _constant_part(expression, constant)
    if part is not None and part in chosen:
        if part == expression or not isinstance(expression, Product):
            return chosen[part]
        inside = part.factors if isinstance(part, Product) else (part,)
        rest = [f for f in expression.factors if f not in inside]
        number = [f for f in rest if isinstance(f, Number)]
        others = [_replaced(f, chosen, constant) for f in rest if not isinstance(f, Number)]
        factors = (*number, chosen[part], *others)
        return factors[0] if len(factors) == 1 else Product(factors)
    return _rebuilt(expression, lambda child: _replaced(child, chosen, constant))


def _rebuilt(expression: Expression, change: Any) -> Expression:
    match expression:
        case Negation(operand):
            return Negation(change(operand))
        case Reciprocal(operand):
            return Reciprocal(change(operand))
        case Sum(terms):
            return Sum(tuple(change(t) for t in terms))
        case Product(factors):
            return Product(tuple(change(f) for f in factors))
        case Power(base, exponent):
            return Power(change(base), exponent)
        case Call(function, arguments):
            return Call(function, tuple(change(a) for a in arguments))
        case Measured() | Number() | Name():
            return expression


# -- formats ----------------------------------------------------------------------------------


def to_lines(written: Written) -> list[str]:
    lines = [f"{name} = {to_text(value)}" for name, value in written.groups]
    for labels, value in written.rows:
        many = value == ZERO and len(labels) > FEW_ZEROS and len(written.rows) > 1
        left = "all others" if many else " = ".join(labels)
        lines.append(f"{left} = {to_text(value)}")
    return lines


def as_json(written: Written) -> dict[str, object]:
    return {
        "groups": {name: to_text(value) for name, value in written.groups},
        "entries": {name: to_text(value) for name, value in written.entries().items()},
    }


def to_latex(written: Written, ports: Sequence[Port], dotted: Mapping[str, tuple[str, int]]) -> str:
    """Matrices as such where their rows are short, otherwise entry by entry."""
    setter = Typesetter(LatexSetter(), dotted)
    entries = written.entries()
    lines = [f"{setter.name(name)} &= {setter.set(value)}" for name, value in written.groups]
    narrow = all(_is_narrow(port, entries) for port in ports)
    if narrow:
        lines += [f"{setter.name(p.name)} &= {_latex_matrix(setter, p, entries)}" for p in ports]
    else:
        for labels, value in written.rows:
            left = " = ".join(setter.entry(label) for label in labels)
            lines.append(f"{left} &= {setter.set(value)}")
    body = " \\\\\n  ".join(lines)
    return f"\\begin{{aligned}}\n  {body}\n\\end{{aligned}}"


def _is_narrow(port: Port, entries: Mapping[str, Expression]) -> bool:
    if len(port.shape) > 2:
        return False
    columns = port.shape[1] if len(port.shape) == 2 else 1
    texts = [len(to_text(entries[entry_name(port.name, i)])) for i in np.ndindex(*port.shape)]
    rows = [sum(texts[k : k + columns]) for k in range(0, len(texts), columns)]
    return max(rows, default=0) <= _WIDE


def _latex_matrix(setter: Typesetter, port: Port, entries: Mapping[str, Expression]) -> str:
    set_ = [setter.set(entries[entry_name(port.name, i)]) for i in np.ndindex(*port.shape)]
    if not port.shape:
        return set_[0]
    columns = port.shape[1] if len(port.shape) == 2 else 1
    rows = [" & ".join(set_[k : k + columns]) for k in range(0, len(set_), columns)]
    return "\\begin{bmatrix} " + " \\\\ ".join(rows) + " \\end{bmatrix}"


def to_html(written: Written, dotted: Mapping[str, tuple[str, int]]) -> str:
    setter = Typesetter(MathmlSetter(), dotted)

    def row(left: str, value: Expression) -> str:
        right = setter.set(value)
        return f"<mtr><mtd>{left}</mtd><mtd><mo>=</mo></mtd><mtd>{right}</mtd></mtr>"

    rows = [row(setter.name(name), value) for name, value in written.groups]
    for labels, value in written.rows:
        left = "<mo>=</mo>".join(setter.entry(label) for label in labels)
        rows.append(row(f"<mrow>{left}</mrow>", value))
    return f'<math display="block"><mtable>{"".join(rows)}</mtable></math>'


def to_sympy(written: Written, ports: Sequence[Port]) -> Any:
    from .symbolic import as_sympy

    known: dict[Any, Any] = {}
    for name, value in written.groups:
        known[as_sympy(Name(name))] = as_sympy(value).subs(known)
    entries = {name: as_sympy(value).subs(known) for name, value in written.entries().items()}
    found = {port.name: _arranged(port, entries) for port in ports}
    return found if len(found) > 1 else next(iter(found.values()))


def _arranged(port: Port, entries: Mapping[str, Any]) -> Any:
    import sympy

    flat = [entries[entry_name(port.name, index)] for index in np.ndindex(*port.shape)]
    if not port.shape:
        return flat[0]
    if len(port.shape) > 2:
        return sympy.ImmutableDenseNDimArray(flat, port.shape)
    columns = port.shape[1] if len(port.shape) == 2 else 1
    return sympy.ImmutableMatrix(port.shape[0], columns, flat)
