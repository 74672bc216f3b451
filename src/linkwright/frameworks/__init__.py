"""Functions of a model for JAX and PyTorch, with derivatives."""

from .jax_functions import JaxFunctions, jax

__all__ = ["JaxFunctions", "jax"]
