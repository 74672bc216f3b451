"""Whether values of two rings are the same functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..algebra.exact.quotient_ring import QuotientRing, same
from ..algebra.exact.quotients import Quotient
from .terms import Reader

if TYPE_CHECKING:
    import flint


def equal(
    one: Reader, values: Sequence[Quotient], other: Reader, others: Sequence[Quotient]
) -> bool:
    """Comparison of canonical forms; of quotients, by cross-multiplication in a common ring."""
    one, other = _plain(one), _plain(other)
    mine, theirs = _labels(one), _labels(other)
    for a, b in zip(values, others, strict=True):
        if a.denominator is None and b.denominator is None:
            if _named(a.numerator, mine) != _named(b.numerator, theirs):
                return False
        elif not _same_quotient(one, a, other, b):
            return False
    return True


def _plain(reader: Reader) -> Reader:
    """A reader that writes functions out."""
    return Reader(reader.ring, reader.rank, reader.written, naming=False)


def _labels(reader: Reader) -> list[object]:
    """What the generators of a ring stand for, in their order."""
    ring = reader.ring
    labels: list[object] = [None] * (ring.spare - len(ring.opaque))
    labels += [reader.call(k) for k in reversed(range(len(ring.opaque)))]
    labels += [("sin", form) for form in ring.angles] + [("cos", form) for form in ring.angles]
    return [*labels, *ring.symbols]


def _named(poly: Any, labels: Sequence[object]) -> frozenset[Any]:
    """The terms, by what the generators stand for."""
    return frozenset(
        (
            frozenset((label, int(e)) for label, e in zip(labels, exponents, strict=False) if e),
            str(coefficient),
        )
        for exponents, coefficient in poly.terms()
    )


def _same_quotient(one: Reader, a: Quotient, other: Reader, b: Quotient) -> bool:
    ring = QuotientRing(
        list(dict.fromkeys((*one.ring.symbols, *other.ring.symbols))),
        list(dict.fromkeys((*one.ring.angles, *other.ring.angles))),
        {},
    )
    x, y = _moved(one, a, ring), _moved(other, b, ring)
    return x is not None and y is not None and same(ring, x, y)


def _moved(reader: Reader, value: Quotient, ring: QuotientRing) -> Quotient | None:
    """The value in another ring that has all its symbols and angles, but no functions."""
    places = {label: k for k, label in enumerate(_labels(Reader(ring, ())))}
    labels = _labels(reader)
    every = sum(1 << (ring.first_sine + k) for k in range(len(ring.angles)))

    def moved(poly: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        made = {}
        for exponents, coefficient in poly.terms():
            powers = [0] * ring.context.nvars()
            for label, e in zip(labels, exponents, strict=False):
                if e:
                    powers[places[label]] = int(e)
            made[tuple(powers)] = coefficient
        return ring.context.from_dict(made)

    if reader.ring.opaque:
        return None
    below = None if value.denominator is None else moved(value.denominator)
    return Quotient(moved(value.numerator), every, below)
