"""Inertial parameters that the motion of a mechanism determines, and regressors for them."""

from ..formulations.base_inertial_parameters.base_equations import derive_base
from ..formulations.base_inertial_parameters.parameter_groups import (
    BaseParameter,
    BaseParameters,
    base_parameters,
)
from .named_regressor import NamedRegressor, regressor_of

__all__ = [
    "BaseParameter",
    "BaseParameters",
    "NamedRegressor",
    "base_parameters",
    "derive_base",
    "regressor_of",
]
