"""Which inertial numbers of a mechanism its motion can tell, and regressors for them."""

from ..formulations.base.base_parameters import BaseParameter, BaseParameters, base_parameters
from ..formulations.base.reduced import derive_base
from .named import NamedRegressor, regressor_of

__all__ = [
    "BaseParameter", "BaseParameters", "NamedRegressor", "base_parameters", "derive_base",
    "regressor_of",
]  # fmt: skip
