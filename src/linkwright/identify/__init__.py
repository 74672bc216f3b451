"""Which inertial numbers of a mechanism its motion can tell, and regressors for them."""

from .base import BaseParameter, BaseParameters, base_parameters
from .named import NamedRegressor, regressor_of
from .reduced import derive_base

__all__ = [
    "BaseParameter", "BaseParameters", "NamedRegressor", "base_parameters", "derive_base",
    "regressor_of",
]  # fmt: skip
