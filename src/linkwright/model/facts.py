"""Numbers of a model that need a derivation, kept in the cache with its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NameNotFoundError, suggest_remedy

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


def compute_model_facts(equations: Equations, parameters: Sequence[str]) -> ModelFacts:
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
