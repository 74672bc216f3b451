"""Which inertial numbers of a mechanism its motion can tell, and regressors for them."""

from .base import BaseParameter, BaseParameters, base_parameters

__all__ = ["BaseParameter", "BaseParameters", "base_parameters"]
