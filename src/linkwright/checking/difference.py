"""left − right in closed form: in the ring of our own forms, and printed by the same rules."""

from __future__ import annotations

from fractions import Fraction

import casadi as ca

from ..algebra.exact.quotient_ring import Budget
from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..expressions import PI, Exact, Expression, Name, PiMultiple, Sum, to_text
from ..expressions.tree import children
from ..forms import ClosedForm, Source, form_of
from ..ports import Port
from ..types import SX
from .meaning import Meanings
from .points import Setting
from .vocabulary import Vocabulary

MOST_TERMS, SECONDS = 2000, 0.5
MOST_NODES = 20_000
SHOWN = 8
LONGEST = 240
"""Characters of a difference that is collected as a book would; a longer one is a sum, and cut."""


class Difference:
    """What an equation lacks or has too much."""

    def __init__(self, form: ClosedForm) -> None:
        self.form = form

    def sum(self) -> list[Expression]:
        """Its terms, nothing taken out; none where it is a quotient."""
        written = self.form.written("none", groups=False)
        (_, expression), *_ = written.rows
        if written.groups:
            return []
        return list(expression.terms) if isinstance(expression, Sum) else [expression]

    def text(self) -> str:
        written = self.form.written("auto", groups=False)
        (_, expression), *_ = written.rows
        said = [f"{name} = {to_text(value)}" for name, value in written.groups]
        text = ", ".join([to_text(expression), *said])
        terms = self.sum()
        if len(text) <= LONGEST or len(terms) <= SHOWN:
            return text
        return f"{to_text(Sum(tuple(terms[:SHOWN])))} + … ({len(terms) - SHOWN} more terms)"


def difference(
    meanings: Meanings, pair: tuple[Expression, Expression], setting: Setting
) -> Difference | None:
    """None where it is too long, or constraints or missing drives decide the motion."""
    vocabulary = meanings.vocabulary
    if vocabulary.names.constraints or setting.silent or _is_too_long(meanings, pair):
        return None
    numbers = Numbers(vocabulary.eqs)
    try:
        left, right = (vocabulary.read(side, meanings.find, numbers) for side in pair)
        residual = _bound(vocabulary, _driven(vocabulary, left - right), setting, numbers)
        made = Source("difference", "left - right", ((Port("d", ()), residual),))
        known = _names(vocabulary)
        budget = Budget(MOST_TERMS, SECONDS)
        return Difference(form_of(vocabulary.eqs, made, numbers.exact, budget, known))
    except LinkwrightError:
        return None


def _is_too_long(meanings: Meanings, pair: tuple[Expression, Expression]) -> bool:
    """Whether an equation has more nodes than can be expanded, its definitions written out."""
    sizes: dict[str, int] = {}

    def size(node: Expression) -> int:
        if not isinstance(node, Name):
            return 1 + sum(map(size, children(node)))
        if node.name not in sizes:
            sizes[node.name] = MOST_NODES  # of one that is defined by itself
            inner = meanings.find(node.name)
            sizes[node.name] = size(inner) if isinstance(inner, Expression) else 1
        return sizes[node.name]

    return sum(map(size, pair)) >= MOST_NODES


class Numbers:
    """Numbers become symbols with a value, so that none passes through floating point."""

    def __init__(self, eqs: Equations) -> None:
        self.exact: dict[str, Fraction] = {}
        self.symbols: dict[str, SX] = {}
        if PI in eqs.parameters:
            self.symbols[PI] = eqs.symbols["p"][list(eqs.parameters).index(PI)]

    def __call__(self, value: Exact) -> SX:
        if isinstance(value, PiMultiple):
            return self(value.coefficient) * self.symbol(PI)
        name = f"number {value}"
        self.exact[name] = Fraction(value)
        return self.symbol(name)

    def symbol(self, name: str) -> SX:
        return self.symbols.setdefault(name, ca.SX.sym(name))


def _driven(vocabulary: Vocabulary, residual: SX) -> SX:
    """Drives as what the motion demands."""
    symbols, eqs = vocabulary.symbols, vocabulary.eqs
    if not (ca.depends_on(residual, symbols["u"]) or ca.depends_on(residual, symbols["tau"])):
        return residual
    (tau,) = eqs.expressions("inverse_dynamics")
    u = tau
    if vocabulary.names.actuators:
        if len(vocabulary.names.actuators) != vocabulary.names.nv:
            raise UnsupportedError("actuators do not determine all accelerations")
        u = ca.solve(eqs.expressions("input_matrix")[0], tau)
    return ca.substitute(residual, ca.vertcat(symbols["u"], symbols["tau"]), ca.vertcat(u, tau))


def _bound(vocabulary: Vocabulary, residual: SX, setting: Setting, numbers: Numbers) -> SX:
    """With values in the place of parameters that have some."""
    symbols = dict(zip(vocabulary.parameters, ca.vertsplit(vocabulary.symbols["p"]), strict=True))
    for name, value in setting.bound.items():
        if isinstance(value, Fraction | float):
            numbers.exact[name] = Fraction(value)
            continue
        made = numbers(value) if isinstance(value, PiMultiple) else None
        if made is None:
            made = vocabulary.read(value, _itself, numbers)  # type: ignore[arg-type]
        residual = ca.substitute(residual, symbols[name], made)
    return residual


def _itself(name: str) -> str:
    return name


def _names(vocabulary: Vocabulary) -> dict[int, str]:
    """The mechanism's names of CasADi's symbols, by what identifies them."""
    own, given = vocabulary.names, vocabulary.given
    motion = [f"{dots}{name}" for dots in ("d", "dd") for name in own.qd]
    proper = [*vocabulary.parameters, *own.q, *motion, *own.actuators]
    found: dict[int, str] = {}
    for name in dict.fromkeys([*(x for x in proper if x in given), *given]):
        symbol = given[name]
        if ca.SX(symbol).is_symbolic() and symbol.name() not in vocabulary.hidden:
            found.setdefault(symbol.element_hash(), name)
    return found
