"""`verify`: every check that applies to a mechanism, or to equations that somebody has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..formulations import FORMULATIONS, derive, formulation
from ..mechanism import Mechanism, names_of, require_mechanism
from .identities import accelerations, formulations, identities
from .known import known_motions
from .numbers import numbers
from .report import Check, Report
from .subject import Subject

MANY = 12
SHORT = ("recursive", "kane", "newton_euler")
"""Formulations whose equations do not explode with the number of freedoms."""


def verify(
    source: Mechanism | Equations,
    equations: Equations | None = None,
    by: Sequence[str] | None = None,
) -> Report:
    """Checks the equations of a mechanism: those given, or those by 'recursive'.

    They are proved identical to those of the formulations `by`; unless said, of all that can treat
    the mechanism, and beyond 12 freedoms of those that stay short.
    """
    begin = time.perf_counter()
    eqs = equations if equations is not None else source
    if isinstance(eqs, Mechanism):
        _check_moves(eqs)
        eqs = derive(eqs)
    if not isinstance(eqs, Equations):
        eqs = derive(require_mechanism(eqs))
    subject = Subject(eqs)
    found = tuple(_checks(subject, list(_others(subject, by))))
    return Report(eqs.mechanism.name, eqs.by, found, time.perf_counter() - begin)


def _check_moves(mechanism: Mechanism) -> None:
    if names_of(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no joint with a freedom",
            remedy="add one, or unlock one",
        )


def _others(subject: Subject, by: Sequence[str] | None) -> Iterator[Subject]:
    """The same mechanism by other formulations; a changed copy is compared with its own too."""
    eqs = subject.eqs
    parameters = "symbolic" if _is_symbolic(eqs) else list(eqs.parameters) or "numeric"
    for name in by or (FORMULATIONS if eqs.nv <= MANY else SHORT):
        own = name == eqs.by and eqs.is_derived
        if own or name == "approximate" or formulation(name).supports(eqs.mechanism) is not None:
            continue
        try:
            other = derive(eqs.mechanism, by=name, parameters=parameters)
        except LinkwrightError:
            if by:
                raise
            continue
        if list(other.parameters) == list(eqs.parameters):
            yield Subject(other)


def _is_symbolic(eqs: Equations) -> bool:
    return list(derive(eqs.mechanism).parameters) == list(eqs.parameters)


def _checks(subject: Subject, others: Sequence[Subject]) -> Iterator[Check]:
    yield formulations(subject, others)
    yield accelerations(subject, others)
    yield from identities(subject)
    yield from numbers(subject)
    yield from known_motions(subject)
