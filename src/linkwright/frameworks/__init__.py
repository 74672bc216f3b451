"""Functions of a model for JAX and PyTorch, with derivatives."""

from .jax_functions import JaxFunctions, jax
from .torch_functions import TorchFunctions, torch

__all__ = ["JaxFunctions", "TorchFunctions", "jax", "torch"]
