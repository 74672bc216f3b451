"""The formulations, one module each, with the same signature, result and sign conventions.

A formulation module has `derive(mechanism, parameters) -> Equations` and
`supports(mechanism) -> str | None`, the reason why it cannot treat a mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import import_module
from inspect import signature
from types import ModuleType

from ..algebra.operators import direct_casadi_operators
from ..equations import Equations
from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import trees_built_afresh
from ..mechanism import Mechanism, require_mechanism

FORMULATIONS = (
    "recursive",
    "lagrange",
    "hamilton",
    "newton_euler",
    "kane",
    "influence",
    "recurrent",
    "approximate",
    "multipliers",
)

MAX_KEPT_EQUATIONS = 32
"""How many of the most recent equations are cached."""

MAX_KEPT_LARGE_EQUATIONS, LARGE_JOINT_COUNT = 4, 16
"""Fewer equations are cached for mechanisms with many joints: with all functions, those of 30
joints take 40 MB."""


def formulation_module(name: str) -> ModuleType:
    """Return the module of a formulation by its name, such as "lagrange"."""
    if name not in FORMULATIONS:
        raise NameNotFoundError(
            f"unknown formulation {name!r}", remedy=suggest_remedy(name, list(FORMULATIONS))
        )
    return import_module(f"{__name__}.{name}")


def formulation_names(
    by: str | Sequence[str] | None, default: Sequence[str] = FORMULATIONS
) -> tuple[str, ...]:
    """Return the formulations that an argument `by` names: one name, a sequence of names, or the
    default; raise where one of them does not exist."""
    names = (by,) if isinstance(by, str) else tuple(by or default)
    for name in names:
        formulation_module(name)
    return names


def derive(
    mechanism: Mechanism,
    by: str = "recursive",
    parameters: ParameterSelection = "symbolic",
    **options: object,
) -> Equations:
    """Return the equations of motion of a mechanism by a named formulation.

    Equations do not change, so the most recent ones are cached: deriving the same again returns
    them at once, with all expressions that they have built. `derive_uncached` does not use the
    cache.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    by : str
        The formulation: "recursive", "lagrange", "kane", "newton_euler", …
    parameters : {"symbolic", "numeric", "base"} or sequence of str
        "symbolic" keeps all numbers as symbols but 0, right angles and ratios of ±1; "numeric"
        keeps none; a list keeps those that it names; "base" has the base parameters as symbols,
        for the quantities that depend on joint forces alone.
    **options
        Options of the formulation.

    Returns
    -------
    Equations
        Expressions and functions of the equations of motion.

    Raises
    ------
    NameNotFoundError
        If no formulation has this name.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.derive(lw.gallery("elbow"), by="lagrange").M.shape
    (2, 2)
    """
    require_mechanism(mechanism)
    kept = tuple(parameters) if isinstance(parameters, list) else parameters
    names = kept if isinstance(kept, tuple) else (kept,)
    if options or not all(isinstance(name, str) for name in (by, *names)):
        return _derive_equations(mechanism, by, parameters, **options)
    is_large = len(mechanism.joints) + len(mechanism.loops) >= LARGE_JOINT_COUNT
    derive_kept = _derive_large_once if is_large else _derive_once
    return derive_kept(_DerivationKey(mechanism.digest, mechanism.unused, mechanism), by, kept)


@trees_built_afresh()
def derive_uncached(
    mechanism: Mechanism,
    by: str = "recursive",
    parameters: ParameterSelection = "symbolic",
    **options: object,
) -> Equations:
    """Derive the equations again, without the caches of equations and of trees; timings use this
    one."""
    require_mechanism(mechanism)
    return _derive_equations(mechanism, by, parameters, **options)


@direct_casadi_operators()
def _derive_equations(
    mechanism: Mechanism, by: str, parameters: ParameterSelection, **options: object
) -> Equations:
    """Derive the equations by the named formulation, from a kept kinematic tree if there is one."""
    chosen = formulation_module(by)
    reason = chosen.supports(mechanism)
    if reason is not None:
        raise UnsupportedError(
            f"the formulation '{by}' cannot treat {mechanism.name}: {reason}",
            remedy="change that, or use another formulation",
        )
    known = list(signature(chosen.derive).parameters)[2:]
    for option in options:
        if option not in known:
            raise NameNotFoundError(
                f"the formulation '{by}' has no option '{option}'",
                remedy=_option_remedy(option, known),
            )
    if parameters == "base":
        from .base_inertial_parameters.base_equations import derive_base

        equations = derive_base(mechanism, by)
    else:
        equations = chosen.derive(mechanism, parameters, **options)
    return replace(equations, derived_by=partial(derive, mechanism, by, parameters, **options))


def _option_remedy(option: str, known: list[str]) -> str:
    """What to do about an option that a formulation does not have."""
    having = [
        repr(name)
        for name in FORMULATIONS
        if option in signature(formulation_module(name).derive).parameters
    ]
    if having:
        return f"leave it out, or use the formulation {' or '.join(having)}"
    return suggest_remedy(option, known) if known else "leave it out"


@dataclass(frozen=True)
class _DerivationKey:
    """The cache key of a mechanism: its digest, and the keys of its file that nothing uses."""

    digest: str
    unused: tuple[str, ...]
    mechanism: Mechanism = field(compare=False)


def _derive_by_key(subject: _DerivationKey, by: str, parameters: ParameterSelection) -> Equations:
    """Derive the equations of the mechanism behind a cache key."""
    return _derive_equations(subject.mechanism, by, parameters)


_derive_once = lru_cache(maxsize=MAX_KEPT_EQUATIONS)(_derive_by_key)
_derive_large_once = lru_cache(maxsize=MAX_KEPT_LARGE_EQUATIONS)(_derive_by_key)
