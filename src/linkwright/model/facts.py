"""Numbers of a model that need a derivation, kept in the cache with its code."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NameNotFoundError, suggest_remedy
from ..readings.llvm import code_cache

if TYPE_CHECKING:
    from ..equations import Equations


@dataclass(frozen=True)
class ModelFacts:
    """Nominal numbers, and where loops close; `unclosed` says why they do not."""

    neutral: list[float]
    nominal: list[float]
    inertial: list[float]
    home: list[float]
    independent: list[str]
    unclosed: str
    leeway: float


def load_model_facts(
    identity: tuple[object, ...] | None,
    derived: Callable[[], Equations],
    parameters: Sequence[str],
) -> ModelFacts:
    """The facts of a model from the cache, or from its equations, which refuse a bad mechanism at
    once; a model without an identity is not in the cache."""
    if identity is None:
        return _compute_model_facts(derived(), parameters)
    key = code_cache.code_cache_key("facts", identity)
    content = code_cache.read_code_cache_entry(key)
    if content is not None:
        return ModelFacts(**json.loads(content))
    facts = _compute_model_facts(derived(), parameters)
    code_cache.write_code_cache_entry(key, json.dumps(asdict(facts)).encode())
    return facts


def _compute_model_facts(equations: Equations, parameters: Sequence[str]) -> ModelFacts:
    """The facts of a model that keeps some parameters."""
    import casadi as ca

    for name in parameters:
        if name not in equations.parameters:
            raise NameNotFoundError(
                f"'{name}' is not a symbol of these equations",
                remedy=suggest_remedy(name, list(equations.parameters)),
            )
    values = {name: float(value) for name, value in equations.parameters.items()}
    function = ca.Function("pi", [equations.symbols["p"]], [equations.inertial_parameters])
    inertial = np.asarray(function(list(values.values())), dtype=float).ravel()
    nominal = [values[name] for name in parameters]
    independent = list(equations.names.independent)
    neutral, home = list(equations.neutral), list(equations.home)
    return ModelFacts(
        neutral,
        nominal,
        inertial.tolist(),
        home,
        independent,
        equations.assembly_failure,
        equations.closure_leeway,
    )
