"""Equality of closed forms whose values belong to different rings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra.exact.quotient_ring import QuotientRing
from ..algebra.exact.quotients import Quotient, are_equal_quotients
from .trig_terms import FormTermReader

if TYPE_CHECKING:
    import flint


def are_equal_forms(
    one: FormTermReader,
    values: Sequence[Quotient],
    other: FormTermReader,
    others: Sequence[Quotient],
) -> bool:
    """Whether two closed forms are equal, by their canonical terms; quotients by
    cross-multiplication in a common ring."""
    one, other = _reader_without_names(one), _reader_without_names(other)
    mine, theirs = _form_generator_labels(one), _form_generator_labels(other)
    for a, b in zip(values, others, strict=True):
        if a.denominator is None and b.denominator is None:
            if _labelled_form_terms(a.numerator, mine) != _labelled_form_terms(b.numerator, theirs):
                return False
        elif not _are_equal_form_entries(one, a, other, b):
            return False
    return True


def _reader_without_names(reader: FormTermReader) -> FormTermReader:
    """A reader that writes all functions out."""
    return FormTermReader(reader.ring, reader.symbol_ranks, reader.written, naming=False)


def _form_generator_labels(reader: FormTermReader) -> list[object]:
    """The meanings of a ring's generators, in their order."""
    ring = reader.ring
    labels: list[object] = [None] * (ring.function_capacity - len(ring.opaque_functions))
    labels += [reader.function_expression(k) for k in reversed(range(len(ring.opaque_functions)))]
    labels += [("sin", form) for form in ring.angles] + [("cos", form) for form in ring.angles]
    return [*labels, *ring.symbols]


def _labelled_form_terms(poly: flint.fmpq_mpoly, labels: Sequence[object]) -> frozenset[object]:
    """The terms of a polynomial, by the meanings of its generators."""
    return frozenset(
        (
            frozenset((label, int(e)) for label, e in zip(labels, exponents, strict=False) if e),
            str(coefficient),
        )
        for exponents, coefficient in poly.terms()
    )


def _are_equal_form_entries(
    one: FormTermReader, a: Quotient, other: FormTermReader, b: Quotient
) -> bool:
    """Whether quotients of two rings are equal, compared in a common ring."""
    ring = QuotientRing(
        list(dict.fromkeys((*one.ring.symbols, *other.ring.symbols))),
        list(dict.fromkeys((*one.ring.angles, *other.ring.angles))),
        {},
    )
    x, y = _form_entry_in_ring(one, a, ring), _form_entry_in_ring(other, b, ring)
    return x is not None and y is not None and are_equal_quotients(ring, x, y)


def _form_entry_in_ring(
    reader: FormTermReader, value: Quotient, ring: QuotientRing
) -> Quotient | None:
    """The value in another ring that has all its symbols and angles; None if it contains other
    functions."""
    places = {label: k for k, label in enumerate(_form_generator_labels(FormTermReader(ring, ())))}
    labels = _form_generator_labels(reader)
    every = sum(1 << (ring.first_sine + k) for k in range(len(ring.angles)))

    def form_polynomial_in_ring(poly: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        made = {}
        for exponents, coefficient in poly.terms():
            powers = [0] * ring.context.nvars()
            for label, e in zip(labels, exponents, strict=False):
                if e:
                    powers[places[label]] = int(e)
            made[tuple(powers)] = coefficient
        return ring.context.from_dict(made)

    if reader.ring.opaque_functions:
        return None
    below = None if value.denominator is None else form_polynomial_in_ring(value.denominator)
    return Quotient(form_polynomial_in_ring(value.numerator), every, below)
