"""`verify`: all checks that apply to a mechanism, or to equations that a user has changed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..formulations import FORMULATIONS, derive, formulation_module, formulation_names
from ..formulations.approximate_penalties import mechanism_with_penalties
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from .approximate_check import check_approximate_limit
from .identities import check_accelerations_agree, check_formulations_agree, check_identities
from .known_motions import check_known_motions
from .numeric_checks import check_in_numbers
from .verification_report import Check, VerificationReport
from .verified_equations import VerifiedEquations

MAX_DOF_ALL_FORMULATIONS = 12
SHORT_FORMULATIONS = ("recursive", "kane", "newton_euler")
"""Formulations whose expressions stay short for many degrees of freedom."""


def verify(
    source: Mechanism | Equations,
    equations: Equations | None = None,
    by: str | Sequence[str] | None = None,
    *,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> VerificationReport:
    """Check the equations of a mechanism, and prove them equal to those of other formulations.

    Parameters
    ----------
    source : Mechanism or Equations
        A mechanism, or the equations to check.
    equations : Equations, optional
        Equations of the mechanism to check (default: those by "recursive").
    by : str or sequence of str, optional
        Formulations to compare with (default: all that can treat the mechanism; above 12 degrees
        of freedom those whose expressions stay short).
    beta, gamma, iterations : float, float, int, optional
        Options of approximate dynamics (N/m, s, a number), as in `simulate`, if `source` is a
        mechanism.

    Returns
    -------
    VerificationReport
        The checks and their results; printed as text.

    Examples
    --------
    >>> import linkwright as lw
    >>> report = lw.verify(lw.gallery("elbow"), by=["lagrange"])
    >>> report.passed, len(report.failed)
    (True, 0)
    """
    begin = time.perf_counter()
    chosen = formulation_names(by, ())
    eqs = equations if equations is not None else source
    if isinstance(eqs, Mechanism):
        _require_verifiable_motion(eqs)
        penalized = chosen or FORMULATIONS
        eqs = derive(mechanism_with_penalties(eqs, penalized, beta, gamma, iterations))
    if not isinstance(eqs, Equations):
        eqs = derive(require_mechanism(eqs))
    subject = VerifiedEquations(eqs)
    others = list(_derive_for_agreement(subject, chosen))
    found = (
        *_run_verification_checks(subject, others),
        check_approximate_limit(subject, chosen or _default_formulations(eqs)),
    )
    return VerificationReport(eqs.mechanism.name, eqs.by, found, time.perf_counter() - begin)


def _require_verifiable_motion(mechanism: Mechanism) -> None:
    """Raise an error if the mechanism has no degrees of freedom."""
    if mechanism_names(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no degrees of freedom",
            remedy="add a joint, or unlock one",
        )


def _derive_for_agreement(
    subject: VerifiedEquations, by: Sequence[str]
) -> Iterator[VerifiedEquations]:
    """The same mechanism by other formulations; equations that were changed are compared with their
    own formulation too."""
    eqs = subject.eqs
    parameters = "symbolic" if _is_verified_symbolically(eqs) else list(eqs.parameters) or "numeric"
    for name in by or _default_formulations(eqs):
        own = name == eqs.by and eqs.is_derived
        if (
            own
            or name == "approximate"
            or formulation_module(name).supports(eqs.mechanism) is not None
        ):
            continue
        try:
            other = derive(eqs.mechanism, by=name, parameters=parameters)
        except LinkwrightError:
            if by:
                raise
            continue
        if list(other.parameters) == list(eqs.parameters):
            yield VerifiedEquations(other)


def _default_formulations(eqs: Equations) -> Sequence[str]:
    """The formulations that equations are compared with by default."""
    return FORMULATIONS if eqs.nv <= MAX_DOF_ALL_FORMULATIONS else SHORT_FORMULATIONS


def _is_verified_symbolically(eqs: Equations) -> bool:
    """Whether the equations have all parameters as symbols."""
    return list(derive(eqs.mechanism).parameters) == list(eqs.parameters)


def _run_verification_checks(
    subject: VerifiedEquations, others: Sequence[VerifiedEquations]
) -> Iterator[Check]:
    """The results of all checks, one after the other."""
    yield check_formulations_agree(subject, others)
    yield check_accelerations_agree(subject, others)
    yield from check_identities(subject)
    yield from check_in_numbers(subject)
    yield from check_known_motions(subject)
